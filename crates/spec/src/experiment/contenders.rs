//! Contenders of a command line, which have the same settings except for the
//! server; and their experiment.
//!
//! Out of scope: the question of the experiment and the loads, which `sweep`,
//! `find` and `compare` determine.

use crate::error::{Result, SpecError, require};
use crate::settings::RunSettings;
use crate::to_plan::check_objectives;
use brunt_model::experiment::{HookCommands, LoadStep, TrialOrder};
use brunt_model::plan::HttpVersion;
use brunt_model::{Contender, Experiment, Question};
use std::time::Duration;

/// Arrangement of the runs of an experiment.
pub struct TrialArrangement {
    /// Name of the experiment.
    pub name: String,
    /// Maximum number of repetitions of each load of each contender.
    pub repetitions: u32,
    /// Order of the trials.
    pub order: TrialOrder,
    /// Pause before each trial but the first.
    pub cooldown: Duration,
    /// The question that the experiment answers.
    pub question: Question,
}

/// Steps, and notes for the user.
type Steps = (Vec<LoadStep>, Vec<String>);

/// Creates a contender for each server of a command line, and for each version of HTTP.
///
/// A server is a URL or NAME=URL. `steps` creates the steps of one contender from its
/// settings. Without a URL, the URLs of `--urls` are one contender. Also returns the notes for
/// the user, without duplicates.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn contenders(
    run: &RunSettings,
    more: &[String],
    steps: impl Fn(&RunSettings) -> Result<Steps>,
) -> Result<(Vec<Contender>, Vec<String>)> {
    require!(run.sources, run.output.events.is_none(), |names| {
        format!("{} stores one run; an experiment has many: leave it out", names.name_of("events"))
    });
    require!(run.sources, run.output.jtl.is_none(), |names| {
        format!(
            "{} lists the samples of one run; an experiment has many: leave it out",
            names.name_of("jtl")
        )
    });
    require!(run.sources, !run.output.trace, |names| {
        format!(
            "{} shows the samples of one run: write brunt run; an experiment has many",
            names.name_of("trace")
        )
    });
    if run.url.is_none() && run.request.urls.is_none() {
        return Err(SpecError::unplaced("no URL is given; write one, such as http://127.0.0.1/"));
    }
    let words = run.url.iter().chain(more).map(|word| Some(word.as_str()));
    // A file of URLs is one contender without a URL.
    let words: Vec<Option<&str>> = if run.url.is_none() { vec![None] } else { words.collect() };
    let versions: Vec<Option<HttpVersion>> = match &*run.http.versions {
        [] | [_] => vec![None],
        several => several.iter().copied().map(Some).collect(),
    };
    let mut contenders = Vec::<Contender>::new();
    let mut notes = Vec::<String>::new();
    let is_one_server = words.len() == 1;
    for (word, version) in
        words.iter().flat_map(|word| versions.iter().map(move |version| (*word, *version)))
    {
        let mut run = run.clone();
        run.http.versions = version.map_or(run.http.versions, |version| vec![version]);
        let (mut contender, new_notes) = contender(word, &run, &steps)?;
        contender
            .steps
            .iter()
            .try_for_each(|step| check_objectives(&step.plan.objectives, &[&step.plan]))?;
        if let Some(version) = version {
            // The version alone distinguishes the contenders of one server.
            contender.name = if is_one_server {
                version.to_string()
            } else {
                format!("{} {version}", contender.name)
            };
        }
        add(&mut contenders, contender)?;
        notes
            .extend(new_notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    }
    Ok((contenders, notes))
}

/// Adds a contender. Its name must be unique.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn add(contenders: &mut Vec<Contender>, contender: Contender) -> Result<()> {
    let name = &contender.name;
    if contenders.iter().any(|other| other.name == *name) {
        return Err(SpecError::unplaced(format!(
            "two servers have the name {name}; write NAME=URL for each"
        )));
    }
    contenders.push(contender);
    Ok(())
}

/// Creates an experiment of these contenders, without hooks.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn experiment(
    contenders: Vec<Contender>,
    arrangement: TrialArrangement,
    seed: u64,
    command: &str,
) -> Result<Experiment> {
    Ok(Experiment {
        name: arrangement.name,
        about: String::new(),
        contenders,
        repetitions: arrangement.repetitions,
        order: arrangement.order,
        cooldown: arrangement.cooldown,
        hooks: HookCommands::default(),
        seed,
        directory: std::env::current_dir()?,
        scratch: None,
        question: arrangement.question,
        source: command.to_owned(),
    })
}

fn contender(
    word: Option<&str>,
    run: &RunSettings,
    steps: &impl Fn(&RunSettings) -> Result<Steps>,
) -> Result<(Contender, Vec<String>)> {
    let (name, url) = word.map_or((None, None), |word| {
        let (name, url) = named(word);
        (Some(name.unwrap_or_else(|| short_url(url))), Some(url.to_owned()))
    });
    let (steps, notes) = steps(&RunSettings { url, ..run.clone() })?;
    let bare = Contender::bare(name.unwrap_or("URLs").to_owned(), steps);
    Ok((Contender { probes: run.probes.clone(), ..bare }, notes))
}

/// Splits `NAME=URL`; without a name, all is the URL. A URL may contain `=`, but not before
/// `/`, `:` or `?`.
pub fn named(word: &str) -> (Option<&str>, &str) {
    match word.split_once('=') {
        // A URL also contains `=`, in its query.
        Some((name, url)) if !name.is_empty() && !name.contains(['/', ':', '?', '{']) => {
            (Some(name), url)
        }
        _ => (None, word),
    }
}

/// A URL as a short name: without scheme, user and password, and without the `/` at its end.
fn short_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/');
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // Names of contenders are stored and shown, and the URL may contain a password.
    rest[..authority_end].rfind('@').map_or(rest, |position| &rest[position + 1..])
}
