//! The servers of a command line: `URL`, or `NAME=URL` of several. What it is not: their loads, which whoever asks knows.

use crate::args::RunArgs;
use anyhow::{Result, ensure};
use brunt_model::Contender;
use brunt_model::experiment::{ContenderHooks, Step};

/// Steps, and notes that the user should be told.
type Steps = (Vec<Step>, Vec<String>);

/// The servers that a command line speaks of, each with the steps that `steps` makes of its own command line; and notes that
/// the user should be told, each once.
pub fn contenders(
    run: &RunArgs,
    more: &[String],
    steps: impl Fn(&RunArgs) -> Result<Steps>,
) -> Result<(Vec<Contender>, Vec<String>)> {
    ensure!(run.output.events.is_none(), "--events keeps one run; an experiment has many: leave it out");
    ensure!(run.plan.sets.is_empty(), "--set changes a plan file: `brunt run PLAN.yaml --set …`; leave it out");
    ensure!(run.url.is_some() || run.request.urls.is_some(), "no URL is given; write one, such as http://127.0.0.1/");
    let words = run.url.iter().chain(more).map(|word| Some(word.as_str()));
    let words: Vec<Option<&str>> = if run.url.is_none() { vec![None] } else { words.collect() };
    let (mut contenders, mut notes) = (Vec::<Contender>::new(), Vec::<String>::new());
    for word in words {
        let (contender, told) = contender(word, run, &steps)?;
        let name = &contender.name;
        ensure!(
            contenders.iter().all(|c| c.name != *name),
            "two servers would be called {name}; write NAME=URL for each"
        );
        contenders.push(contender);
        notes.extend(told.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    }
    Ok((contenders, notes))
}

fn contender(
    word: Option<&str>,
    run: &RunArgs,
    steps: &impl Fn(&RunArgs) -> Result<Steps>,
) -> Result<(Contender, Vec<String>)> {
    let (name, url) = word.map_or((None, None), |word| {
        let (name, url) = named(word);
        (Some(name.unwrap_or_else(|| bare(url))), Some(url.to_owned()))
    });
    let (steps, notes) = steps(&RunArgs { url, ..run.clone() })?;
    let contender = Contender {
        name: name.unwrap_or("URLs").to_owned(),
        factors: Vec::new(),
        steps,
        server: None,
        hooks: ContenderHooks::default(),
        probes: run.probes.probes.clone(),
    };
    Ok((contender, notes))
}

/// `NAME=URL` or `URL`; a URL may hold `=`, but not before `/`, `:` or `?`.
fn named(word: &str) -> (Option<&str>, &str) {
    match word.split_once('=') {
        Some((name, url)) if !name.is_empty() && !name.contains(['/', ':', '?', '{']) => (Some(name), url),
        _ => (None, word),
    }
}

/// A URL without its scheme, which most have in common, and without the `/` at its end.
fn bare(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/')
}
