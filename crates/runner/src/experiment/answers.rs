//! Whether contenders answer alike: one request each, before anything is measured.
//!
//! Out of scope: a measurement. What is compared of runs is `judge`'s; here is what must be known before them: that all
//! answer at all, and that they answer the same.

use super::Refusal;
use crate::check::facts::{Answered, Facts, Secured};
use crate::check::look;
use brunt_judge::compare::{self, Side};
use brunt_model::numbers::plural;
use brunt_model::{Contender, Experiment};

/// What is held against each other, in words.
type Row = (&'static str, Kept, fn(&Facts, &Answered) -> String);

/// Whether the report tells it too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The runs show it as well, and are believed.
    ByRuns,
    /// Only this one answer shows it.
    Here,
}

const ROWS: [Row; 8] = [
    ("status", Kept::ByRuns, |_, a| a.status.to_string()),
    ("protocol", Kept::Here, |_, a| a.protocol.clone()),
    ("server", Kept::ByRuns, |_, a| a.server.clone().unwrap_or_else(|| "no name".into())),
    ("body of the reply", Kept::Here, |_, a| plural(a.body_bytes, "byte")),
    ("compression of the reply", Kept::Here, |_, a| a.content_encoding.clone().unwrap_or_else(|| "none".into())),
    ("keep-alive", Kept::Here, |_, a| if a.keep_alive == Some(false) { "none".into() } else { "it".into() }),
    ("TLS", Kept::Here, |f, _| f.tls.as_ref().map_or("none".into(), agreed)),
    ("place", Kept::ByRuns, |f, _| if f.same_host() { "this machine".into() } else { "another machine".into() }),
];

/// How contenders answer otherwise than the first, each a sentence.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Different {
    /// All of it.
    pub all: Vec<String>,
    /// What the runs will not show.
    pub beside_runs: Vec<String>,
}

fn agreed(tls: &Secured) -> String {
    let parts = [tls.version.as_deref(), tls.cipher.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Asks each contender once. Those whose servers brunt is to start are not there yet, and left out. One that does not answer
/// is an error.
pub fn differences(experiment: &Experiment) -> Result<Different, Refusal> {
    let mut answers = Vec::new();
    for contender in experiment.contenders.iter().filter(|contender| contender.server.is_none()) {
        answers.push((&*contender.name, reply_of(contender)?));
    }
    Ok(different(&answers))
}

fn different(answers: &[(&str, Facts)]) -> Different {
    let sides = |wanted: &[Kept]| answers.iter().map(|(name, facts)| side(name, facts, wanted)).collect::<Vec<_>>();
    Different {
        all: compare::differences::all(&sides(&[Kept::ByRuns, Kept::Here])),
        beside_runs: compare::differences::all(&sides(&[Kept::Here])),
    }
}

fn side(name: &str, facts: &Facts, wanted: &[Kept]) -> Side {
    let rows = ROWS.iter().filter(|(_, kept, _)| wanted.contains(kept));
    let Some(reply) = &facts.reply else { return Side::new(name) };
    rows.fold(Side::new(name), |side, (what, _, of)| side.with(what, of(facts, reply)))
}

fn reply_of(contender: &Contender) -> Result<Facts, Refusal> {
    let mut facts = Facts::default();
    let Some(step) = contender.steps.first() else { return Ok(facts) };
    look::once(&step.plan, &mut facts)
        .map_err(|source| Refusal::Plan { contender: contender.name.clone(), source: Box::new(source) })?;
    match facts.failure {
        None => Ok(facts),
        Some(failed) => {
            let detail = if failed.detail.is_empty() { String::new() } else { format!(": {}", failed.detail) };
            let why = format!("{}{detail}", failed.meaning);
            Err(Refusal::NoReply { contender: contender.name.clone(), url: facts.url, why })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_and_nothing_else() {
        let answer = |status, body_bytes, content_encoding: Option<&str>| {
            let content_encoding = content_encoding.map(str::to_owned);
            let reply = Answered { status, body_bytes, content_encoding, ..Answered::default() };
            Facts { reply: Some(reply), ..Facts::default() }
        };
        let (ours, theirs) = (answer(200, 4096, None), answer(404, 812, Some("gzip")));
        let told = different(&[("A", ours), ("B", theirs)]);
        assert_eq!(
            told.all,
            [
                "status: A has 200, B has 404.",
                "body of the reply: A has 4,096 bytes, B has 812 bytes.",
                "compression of the reply: A has none, B has gzip.",
            ]
        );
        assert_eq!(told.beside_runs, told.all[1..]);
        assert_eq!(different(&[("A", answer(200, 1, None)), ("B", answer(200, 1, None))]), Different::default());
    }
}
