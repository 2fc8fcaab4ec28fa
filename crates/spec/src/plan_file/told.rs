//! Keys of a plan file → settings of a run or a search, by the table of settings. What is wrong is told at its line and column.

use crate::error::{Position, Result, SpecError};
use crate::plan::{Keyed, Node, Value, json};
use crate::settings::{Content, Key, RunSettings, SettingRow, SettingSources, Settings, Takes};
use crate::system::System;
use crate::words::{WordError, target};
use std::path::Path;

/// Keys that are no settings: what relative URLs are of, and what tells the requests of a mix apart.
pub const BESIDE: [&str; 3] = ["script.base", "script.request.label", "script.request.weight"];

/// The URL, which is an argument and no option.
const URL: &str = "script.request.url";

/// Keys of a plan file that together are what one run is told.
#[derive(Debug, Clone)]
pub struct Keys(Vec<Keyed>);

impl Keys {
    /// Of these keys.
    pub fn new(keys: Vec<Keyed>) -> Self {
        Self(keys)
    }

    /// The settings that they come to. `folder` is that of the plan.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a value is invalid, or does not go with another one.
    pub fn settings(&self, folder: &Path, system: &System) -> Result<RunSettings> {
        self.check_load()?;
        let mut settings = usual::<RunSettings>();
        for keyed in self.0.iter().filter(|keyed| keyed.key != URL && !BESIDE.contains(&keyed.key.as_str())) {
            let key = put(keyed, &mut settings, folder, system)?;
            if key.takes == Takes::Json && !self.has_header("content-type") {
                settings.request.headers.push(("Content-Type".into(), "application/json".into()));
            }
        }
        check_together(&settings)?;
        if let Some(url) = find(&self.0, URL) {
            settings.said.url(URL, &url.node.at);
        }
        settings.url = self.url()?;
        Ok(settings)
    }

    /// The keys for virtual users and for the most connections of a rate are one setting.
    fn check_load(&self) -> Result<()> {
        let has = |key| find(&self.0, key);
        match (has("load.rate"), has("load.users"), has("load.connections")) {
            (Some(_), Some(users), _) => {
                let wrong = "load.rate defines the load already; write one of them (`null` takes the other away again)";
                Err(SpecError::new(&users.node.at, "load.users", wrong))
            }
            (None, users, Some(connections)) => {
                let instead = if users.is_some() { "leave it out" } else { "write load.users, or add load.rate" };
                let wrong = format!("this number is the maximum of load.rate; {instead}");
                Err(SpecError::new(&connections.node.at, "load.connections", wrong))
            }
            _ => Ok(()),
        }
    }

    fn url(&self) -> Result<Option<String>> {
        let base = find(&self.0, "script.base");
        let Some(url) = find(&self.0, URL) else {
            return Ok(base.and_then(|base| base.node.text()).map(str::to_owned));
        };
        let text = url.node.text().unwrap_or_default();
        if base.is_none() && text.starts_with(['/', '?']) {
            let wrong = format!("`{text}`: the server is not specified; write http://HOST{text}, or add script.base");
            return Err(SpecError::new(&url.node.at, "script.request", wrong));
        }
        let wrong = |error: WordError| SpecError::new(&url.node.at, "script.request", error.to_string());
        target::join(text, base.and_then(|base| base.node.text())).map(Some).map_err(wrong)
    }

    fn has_header(&self, name: &str) -> bool {
        let headers = find(&self.0, "script.request.headers");
        headers.is_some_and(|headers| headers.node.entries().iter().any(|entry| entry.key.eq_ignore_ascii_case(name)))
    }
}

/// The key, where the plan has it.
pub fn find<'a>(keys: &'a [Keyed], key: &str) -> Option<&'a Keyed> {
    keys.iter().find(|keyed| keyed.key == key)
}

/// What is meant where a plan file says nothing.
pub fn usual<S: Settings>() -> S {
    let mut settings = S::usual();
    *settings.said_mut() = SettingSources::in_plan_file();
    settings
}

/// Reads the values of keys; the other settings have their defaults.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid.
pub fn put_all<'k, S: Settings>(
    keys: impl IntoIterator<Item = &'k Keyed>,
    folder: &Path,
    system: &System,
) -> Result<S> {
    let mut settings = usual::<S>();
    keys.into_iter().try_for_each(|keyed| put(keyed, &mut settings, folder, system).map(drop))?;
    Ok(settings)
}

/// Reads the value of a key and puts it into the settings.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn put<S: Settings>(keyed: &Keyed, settings: &mut S, folder: &Path, system: &System) -> Result<&'static Key> {
    let Some((row, key)) = row_of::<S>(&keyed.key) else {
        let wrong = "this version has no option for it; leave it out";
        return Err(SpecError::new(&keyed.node.at, &keyed.key, wrong));
    };
    for (word, at) in words(key, &keyed.node, folder) {
        // What is wrong with a value is told without repeating secrets.
        (system.heard)(&[format!("--{}={word}", row.option)]);
        let change = (row.read)(&word, system.environment);
        change.map_err(|wrong| SpecError::new(at, key.key, refusal(row, &word, wrong)))?.put_into(settings);
        settings.said_mut().key(row.option, key, at);
    }
    Ok(key)
}

fn row_of<S: Settings>(name: &str) -> Option<(&'static SettingRow<S>, &'static Key)> {
    S::rows().find_map(|row| Some((row, row.keys.iter().find(|key| key.key == name)?)))
}

/// What is wrong with a value. Words say it with the word, numbers and choices without.
fn refusal<S>(row: &SettingRow<S>, word: &str, wrong: String) -> String {
    match row.content {
        Content::Choice(choices) => {
            let (last, others) = choices.split_last().unwrap_or((&"", &[]));
            format!("invalid value `{word}`; write {} or {last}", others.join(", "))
        }
        _ if wrong.starts_with('`') => wrong,
        _ => format!("`{word}`: {wrong}"),
    }
}

/// Settings that may not, or must, be said together.
fn check_together(settings: &RunSettings) -> Result<()> {
    let said = &settings.said;
    for row in RunSettings::rows().filter(|row| said.is_said(row.option)) {
        if let Some(other) = row.excludes.iter().find(|other| said.is_said(other)) {
            return Err(said.refuse(|names| {
                let (one, other) = (names.of(row.option), names.of(other));
                format!("{one} cannot be used with {other}; leave out one of them")
            }));
        }
        if let Some(needed) = row.needs.filter(|needed| !said.is_said(needed)) {
            return Err(said.refuse(|names| {
                let (one, needed) = (names.of(row.option), names.of(needed));
                format!("{one} needs {needed}; add it, or leave {one} out")
            }));
        }
    }
    Ok(())
}

/// The words that a value stands for, each with its place. `folder` is that of the plan.
fn words<'a>(key: &Key, node: &'a Node, folder: &Path) -> Vec<(String, &'a Position)> {
    let text = node.text().unwrap_or_default();
    let file = |name: &str| folder.join(name).display().to_string();
    let one = |word: String| vec![(word, &node.at)];
    let switch = |wanted: &str| if text == wanted { one(String::new()) } else { Vec::new() };
    match key.takes {
        Takes::File => one(file(text)),
        Takes::Data => match text.strip_prefix('@') {
            Some(name) if name != "-" && !name.is_empty() => one(format!("@{}", file(name))),
            _ => one(text.to_owned()),
        },
        Takes::Each => each(node).map(|(text, at)| (text.to_owned(), at)).collect(),
        Takes::Commas => {
            each(node).flat_map(|(text, at)| text.split(',').map(move |word| (word.to_owned(), at))).collect()
        }
        Takes::Loads if matches!(node.value, Value::List(_)) => {
            one(format!("[{}]", each(node).map(|value| value.0).collect::<Vec<_>>().join(",")))
        }
        Takes::Value | Takes::Loads => one(text.to_owned()),
        Takes::IfTrue => switch("true"),
        Takes::IfFalse => switch("false"),
        Takes::Pairs(between) => {
            let pair =
                |name: &str, node: &'a Node| (format!("{name}{between}{}", node.text().unwrap_or_default()), &node.at);
            node.entries().iter().map(|entry| pair(&entry.key, &entry.node)).collect()
        }
        Takes::Json => one(json(node).to_string()),
    }
}

/// A single value as a list of one.
fn each(node: &Node) -> impl Iterator<Item = (&str, &Position)> {
    let nodes = match &node.value {
        Value::List(nodes) => &nodes[..],
        _ => std::slice::from_ref(node),
    };
    nodes.iter().filter_map(|node| Some((node.text()?, &node.at)))
}
