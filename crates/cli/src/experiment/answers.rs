//! Whether contenders answer alike: one request each, before anything is measured.
//!
//! What it is **not**: a measurement. What is compared of runs is `judge`'s; here is what must be known before them: that all
//! answer at all, and that they answer the same.

use crate::check::facts::{Answered, Facts};
use crate::check::look;
use anyhow::{Result, bail};
use brunt_model::{Contender, Experiment};
use brunt_report::figures::plural;

/// A figure of an answer, in words.
type Row = (&'static str, fn(&Facts, &Answered) -> String);

/// What is held against each other.
const ROWS: [Row; 8] = [
    ("status", |_, a| a.status.to_string()),
    ("protocol", |_, a| a.protocol.clone()),
    ("server", |_, a| a.server.clone().unwrap_or_else(|| "not named".into())),
    ("body", |_, a| plural(a.body_bytes, "byte")),
    ("compression", |_, a| a.content_encoding.clone().unwrap_or_else(|| "none".into())),
    ("keep-alive", |_, a| if a.keep_alive == Some(false) { "no".into() } else { "yes".into() }),
    ("TLS", |f, _| f.tls.as_ref().map_or("none".into(), agreed)),
    ("place", |f, _| if f.same_host() { "this machine".into() } else { "another machine".into() }),
];

fn agreed(tls: &crate::check::facts::Secured) -> String {
    let parts = [tls.version.as_deref(), tls.cipher.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// How contenders answer otherwise than the first, each a sentence. Those whose servers brunt is to start are not there yet,
/// and left out. One that does not answer is an error.
pub fn differences(experiment: &Experiment) -> Result<Vec<String>> {
    let there = experiment.contenders.iter().filter(|contender| contender.server.is_none());
    let answers = there.map(|contender| Ok((contender, asked(contender)?))).collect::<Result<Vec<_>>>()?;
    let Some(((first, ours), others)) = answers.split_first() else { return Ok(Vec::new()) };
    let of = |(other, theirs): &(&Contender, Facts)| beside((&first.name, ours), (&other.name, theirs));
    Ok(others.iter().flat_map(of).collect())
}

fn asked(contender: &Contender) -> Result<Facts> {
    let mut facts = Facts::default();
    let Some(step) = contender.steps.first() else { return Ok(facts) };
    look::once(&step.plan, &mut facts)?;
    if let Some(failed) = facts.failure {
        let detail = if failed.detail.is_empty() { String::new() } else { format!(": {}", failed.detail) };
        bail!("{} ({}) does not answer: {}{detail}; nothing was measured", contender.name, facts.url, failed.meaning);
    }
    Ok(facts)
}

fn beside((first, ours): (&str, &Facts), (other, theirs): (&str, &Facts)) -> Vec<String> {
    let (Some(our), Some(their)) = (&ours.reply, &theirs.reply) else { return Vec::new() };
    let row = |(what, of): &Row| {
        let (a, b) = (of(ours, our), of(theirs, their));
        (a != b).then(|| format!("{what}: {first} {a}, {other} {b}"))
    };
    ROWS.iter().filter_map(row).collect()
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
        assert_eq!(beside(("A", &ours), ("B", &ours)), Vec::<String>::new());
        assert_eq!(
            beside(("A", &ours), ("B", &theirs)),
            ["status: A 200, B 404", "body: A 4,096 bytes, B 812 bytes", "compression: A none, B gzip"]
        );
    }
}
