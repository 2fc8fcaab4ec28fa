//! Compares the replies of contenders to one request each, before the measurement.
//!
//! Out of scope: runs, which the crate `judge` compares. This module only checks that all
//! contenders reply, and that the replies are the same.

use super::ExperimentRefusal;
use brunt_check::facts::{CheckFacts, ReplyFacts, TlsFacts};
use brunt_check::look;
use brunt_judge::compare::{self, ContenderFacts};
use brunt_model::numbers::plural;
use brunt_model::outcome::status_text;
use brunt_model::{Contender, Experiment, Text};
use brunt_script::Languages;

/// A property to compare: its name, where else it is visible, and its value as text.
type Row = (&'static str, Visibility, fn(&CheckFacts, &ReplyFacts) -> String);

/// Visibility of a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visibility {
    /// The runs show it as well, and have precedence.
    InRuns,
    /// Only the reply to this request shows it.
    ReplyOnly,
}

const ROWS: [Row; 8] = [
    ("status", Visibility::InRuns, |_, a| status_text(a.status)),
    ("protocol", Visibility::ReplyOnly, |_, a| a.protocol.clone()),
    ("server", Visibility::InRuns, |_, a| a.server.clone().unwrap_or_else(|| "no name".into())),
    ("body of the reply", Visibility::ReplyOnly, |_, a| plural(a.body_bytes, "byte")),
    ("compression of the reply", Visibility::ReplyOnly, |_, a| {
        a.content_encoding.clone().unwrap_or_else(|| "none".into())
    }),
    ("keep-alive", Visibility::ReplyOnly, |_, a| {
        if a.keep_alive == Some(false) { "none".into() } else { "it".into() }
    }),
    ("TLS", Visibility::ReplyOnly, |f, _| f.tls.as_ref().map_or("none".into(), tls_name)),
    ("place", Visibility::InRuns, |f, _| {
        if f.same_host() { "this machine".into() } else { "another machine".into() }
    }),
];

/// Differences between the replies of contenders and that of the first, each as a sentence.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReplyDifferences {
    /// All differences between the replies.
    pub all: Vec<Text>,
    /// Differences that the runs do not show.
    pub not_in_runs: Vec<Text>,
}

/// Removes the cipher suites, if that of a contender is unknown: the QUIC library does not report
/// it, so a difference from HTTP/3 would be none of the servers.
fn without_unknown_ciphers<'a>(answers: &[(&'a str, CheckFacts)]) -> Vec<(&'a str, CheckFacts)> {
    let is_unknown =
        |facts: &CheckFacts| facts.tls.as_ref().is_some_and(|tls| tls.cipher.is_none());
    let has_unknown = answers.iter().any(|(_, facts)| is_unknown(facts));
    let mut answers = answers.to_vec();
    for tls in answers.iter_mut().filter_map(|(_, facts)| facts.tls.as_mut()) {
        tls.cipher = tls.cipher.take().filter(|_| !has_unknown);
    }
    answers
}

fn tls_name(tls: &TlsFacts) -> String {
    let parts = [tls.version.as_deref(), tls.cipher.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Sends one request to each contender, except those with a server that brunt starts later. A
/// contender that does not reply is an error.
pub fn differences(
    experiment: &Experiment,
    languages: Languages,
) -> Result<ReplyDifferences, ExperimentRefusal> {
    let mut answers = Vec::new();
    for contender in experiment.contenders.iter().filter(|contender| contender.server.is_none()) {
        answers.push((&*contender.name, facts_of_reply(contender, languages)?));
    }
    Ok(reply_differences(&answers))
}

fn reply_differences(answers: &[(&str, CheckFacts)]) -> ReplyDifferences {
    let answers = &without_unknown_ciphers(answers);
    ReplyDifferences {
        all: compare::differences::all(&sides(
            answers,
            &[Visibility::InRuns, Visibility::ReplyOnly],
        )),
        not_in_runs: compare::differences::all(&sides(answers, &[Visibility::ReplyOnly])),
    }
}

fn sides(answers: &[(&str, CheckFacts)], visibilities: &[Visibility]) -> Vec<ContenderFacts> {
    answers.iter().map(|(name, facts)| side(name, facts, visibilities)).collect()
}

fn side(name: &str, facts: &CheckFacts, visibilities: &[Visibility]) -> ContenderFacts {
    let rows = ROWS.iter().filter(|(_, visibility, _)| visibilities.contains(visibility));
    let Some(reply) = &facts.reply else { return ContenderFacts::new(name) };
    rows.fold(ContenderFacts::new(name), |side, (property, _, value)| {
        side.with(compare::Subject::Server, *property, value(facts, reply))
    })
}

fn facts_of_reply(
    contender: &Contender,
    languages: Languages,
) -> Result<CheckFacts, ExperimentRefusal> {
    let mut facts = CheckFacts::default();
    let Some(step) = contender.steps.first() else { return Ok(facts) };
    look::check_once(&step.plan, languages, &mut facts).map_err(|source| {
        ExperimentRefusal::Plan {
            contender: contender.name.clone(),
            source: Box::new(source.into()),
        }
    })?;
    match facts.failure {
        None => Ok(facts),
        Some(failure) => {
            let detail = if failure.detail.is_empty() {
                String::new()
            } else {
                format!(": {}", failure.detail)
            };
            let reason = format!("{}{detail}", failure.meaning);
            Err(ExperimentRefusal::NoReply {
                contender: contender.name.clone(),
                url: facts.url,
                why: reason,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_between_replies_are_reported() {
        let answer = |status, body_bytes, content_encoding: Option<&str>| {
            let content_encoding = content_encoding.map(str::to_owned);
            let reply =
                ReplyFacts { status, body_bytes, content_encoding, ..ReplyFacts::default() };
            CheckFacts { reply: Some(reply), ..CheckFacts::default() }
        };
        let (ours, theirs) = (answer(200, 4096, None), answer(404, 812, Some("gzip")));
        let differences = reply_differences(&[("A", ours), ("B", theirs)]);
        assert_eq!(
            differences.all,
            [
                "status: A has 200, B has 404.",
                "body of the reply: A has 4,096 bytes, B has 812 bytes.",
                "compression of the reply: A has none, B has gzip.",
            ]
        );
        assert_eq!(differences.not_in_runs, differences.all[1..]);
        assert_eq!(
            reply_differences(&[("A", answer(200, 1, None)), ("B", answer(200, 1, None))]),
            ReplyDifferences::default()
        );
    }
}
