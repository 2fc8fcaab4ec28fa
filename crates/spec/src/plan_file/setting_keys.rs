//! Converts keys of a plan file to settings of a run or a search, by the table of settings. Errors
//! name line and column.

use crate::error::{Result, SourcePosition, SpecError};
use crate::plan::{KeyedValue, PlanNode, PlanValue, json};
use crate::settings::{
    ArgumentContent, RunSettings, SettingKey, SettingRow, SettingSources, SettingTable, ValueForm,
};
use crate::system::System;
use crate::words::target;
use std::path::Path;

/// Keys that are no settings: the server of relative URLs, and the label and weight of
/// a request among several.
pub const NON_SETTING_KEYS: [&str; 3] =
    ["script.base", "script.request.label", "script.request.weight"];

/// Key of the URL, which is an argument on the command line and not an option.
const URL: &str = "script.request.url";

/// Keys of a plan file that determine the settings of one run.
#[derive(Debug, Clone)]
pub struct Keys(Vec<KeyedValue>);

impl Keys {
    /// Creates a set of keys.
    pub fn new(keys: Vec<KeyedValue>) -> Self {
        Self(keys)
    }

    /// Reads the settings of a run. `folder` is the folder of the plan.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a value is invalid, or does not go with another one.
    pub fn settings(&self, folder: &Path, system: &System) -> Result<RunSettings> {
        self.check_load()?;
        let mut settings = default_settings::<RunSettings>();
        for key_value in self.0.iter().filter(|key_value| {
            key_value.key != URL && !NON_SETTING_KEYS.contains(&key_value.key.as_str())
        }) {
            let key = put_value(key_value, &mut settings, folder, system)?;
            // The option `--json` does this; in plan files, headers may follow the body.
            if key.value_form == ValueForm::Json && !self.has_header("content-type") {
                settings.request.headers.push(("Content-Type".into(), "application/json".into()));
            }
        }
        check_together(&settings)?;
        if let Some(url) = find(&self.0, URL) {
            // The URL has no option, so no row records its place.
            settings.sources.url(URL, &url.node.at);
        }
        settings.url = self.url()?;
        Ok(settings)
    }

    /// Checks the keys of the load: the setting for the users of a closed loop is also the maximum
    /// number of connections of a rate.
    fn check_load(&self) -> Result<()> {
        let rate = find(&self.0, "load.rate");
        let users = find(&self.0, "load.users");
        let connections = find(&self.0, "load.connections");
        match (rate, users, connections) {
            (Some(_), Some(users), _) => {
                let wrong = "load.rate defines the load already; write one of them (`null` takes the other away again)";
                Err(SpecError::new(&users.node.at, "load.users", wrong))
            }
            (None, users, Some(connections)) => {
                let instead = if users.is_some() {
                    "leave it out"
                } else {
                    "write load.users, or add load.rate"
                };
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
        // `target::join` refuses it, too, but its remedy is the command line.
        if base.is_none() && text.starts_with(['/', '?']) {
            let wrong = format!(
                "`{text}`: the server is not specified; write http://HOST{text}, or add script.base"
            );
            return Err(SpecError::new(&url.node.at, "script.request", wrong));
        }
        target::join(text, base.and_then(|base| base.node.text()))
            .map(Some)
            .map_err(|error| SpecError::new(&url.node.at, "script.request", error.to_string()))
    }

    fn has_header(&self, name: &str) -> bool {
        let headers = find(&self.0, "script.request.headers");
        headers.is_some_and(|headers| {
            headers.node.entries().iter().any(|entry| entry.key.eq_ignore_ascii_case(name))
        })
    }
}

/// Finds a key; None if the plan does not have it.
pub fn find<'a>(keys: &'a [KeyedValue], key: &str) -> Option<&'a KeyedValue> {
    keys.iter().find(|key_value| key_value.key == key)
}

/// The defaults of settings, with sources that name keys of a plan file in errors.
pub fn default_settings<S: SettingTable>() -> S {
    let mut settings = S::with_defaults();
    *settings.sources_mut() = SettingSources::in_plan_file();
    settings
}

/// Reads the values of keys; the other settings have their defaults.
pub fn put_all<'k, S: SettingTable>(
    keys: impl IntoIterator<Item = &'k KeyedValue>,
    folder: &Path,
    system: &System,
) -> Result<S> {
    let mut settings = default_settings::<S>();
    keys.into_iter()
        .try_for_each(|key_value| put_value(key_value, &mut settings, folder, system).map(drop))?;
    Ok(settings)
}

/// Reads the value of a key and puts it into the settings.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn put_value<S: SettingTable>(
    key_value: &KeyedValue,
    settings: &mut S,
    folder: &Path,
    system: &System,
) -> Result<&'static SettingKey> {
    let Some((row, key)) = row_of::<S>(&key_value.key) else {
        let wrong = "this version has no option for it; leave it out";
        return Err(SpecError::new(&key_value.node.at, &key_value.key, wrong));
    };
    for (word, at) in words(key, &key_value.node, folder) {
        // The caller learns the option before an error may repeat its value, which may be secret.
        (system.on_options)(&[format!("--{}={word}", row.option)]);
        let change = (row.read)(&word, system.environment);
        change
            .map_err(|wrong| SpecError::new(at, key.key, refusal(row, &word, wrong)))?
            .put_into(settings);
        settings.sources_mut().key(row.option, key, at);
    }
    Ok(key)
}

fn row_of<S: SettingTable>(name: &str) -> Option<(&'static SettingRow<S>, &'static SettingKey)> {
    S::rows().find_map(|row| Some((row, row.keys.iter().find(|key| key.key == name)?)))
}

/// Message for an invalid value. Some messages repeat the value already; it is added to the others.
fn refusal<S>(row: &SettingRow<S>, word: &str, wrong: String) -> String {
    match row.content {
        ArgumentContent::Choice(choices) => {
            let (last, others) = choices.split_last().unwrap_or((&"", &[]));
            format!("invalid value `{word}`; write {} or {last}", others.join(", "))
        }
        // Most errors begin with the value already.
        _ if wrong.starts_with('`') => wrong,
        _ => format!("`{word}`: {wrong}"),
    }
}

/// Checks the settings that exclude or need others.
fn check_together(settings: &RunSettings) -> Result<()> {
    let sources = &settings.sources;
    // The command line's parser applies these rules to options, so only keys need them here.
    for row in RunSettings::rows().filter(|row| sources.is_given(row.option)) {
        if let Some(other) = row.excludes.iter().find(|other| sources.is_given(other)) {
            return Err(sources.refuse(|names| {
                let one = names.name_of(row.option);
                let other = names.name_of(other);
                format!("{one} cannot be used with {other}; leave out one of them")
            }));
        }
        if let Some(needed) = row.needs.filter(|needed| !sources.is_given(needed)) {
            return Err(sources.refuse(|names| {
                let one = names.name_of(row.option);
                let needed = names.name_of(needed);
                format!("{one} needs {needed}; add it, or leave {one} out")
            }));
        }
    }
    Ok(())
}

/// Converts a value to arguments of the option, each with its place. `folder` is the
/// folder of the plan.
fn words<'a>(
    key: &SettingKey,
    node: &'a PlanNode,
    folder: &Path,
) -> Vec<(String, &'a SourcePosition)> {
    let text = node.text().unwrap_or_default();
    let at = &node.at;
    match key.value_form {
        ValueForm::File => vec![(path_below(folder, text), at)],
        ValueForm::Data => match text.strip_prefix('@') {
            // `@-` is standard input, not a file.
            Some(name) if name != "-" && !name.is_empty() => {
                vec![(format!("@{}", path_below(folder, name)), at)]
            }
            _ => vec![(text.to_owned(), at)],
        },
        ValueForm::Each => single_values(node).map(|(text, at)| (text.to_owned(), at)).collect(),
        ValueForm::Commas => single_values(node)
            .flat_map(|(text, at)| text.split(',').map(move |word| (word.to_owned(), at)))
            .collect(),
        // The syntax of a sweep by a list: `[5,10,50]`.
        ValueForm::Loads if matches!(node.value, PlanValue::List(_)) => {
            let loads: Vec<&str> = single_values(node).map(|value| value.0).collect();
            vec![(format!("[{}]", loads.join(",")), at)]
        }
        ValueForm::Value | ValueForm::Loads => vec![(text.to_owned(), at)],
        ValueForm::IfTrue if text == "true" => vec![(String::new(), at)],
        ValueForm::IfFalse if text == "false" => vec![(String::new(), at)],
        ValueForm::IfTrue | ValueForm::IfFalse => Vec::new(),
        ValueForm::Pairs(separator) => {
            let pairs = node.entries().iter().map(|entry| {
                let value = entry.node.text().unwrap_or_default();
                (format!("{}{separator}{value}", entry.key), &entry.node.at)
            });
            pairs.collect()
        }
        ValueForm::Json => vec![(json(node).to_string(), at)],
    }
}

fn path_below(folder: &Path, name: &str) -> String {
    // `join` leaves an absolute name as it is.
    folder.join(name).display().to_string()
}

/// Single values of a list; a single value is a list of one.
fn single_values(node: &PlanNode) -> impl Iterator<Item = (&str, &SourcePosition)> {
    let nodes = match &node.value {
        PlanValue::List(nodes) => &nodes[..],
        _ => std::slice::from_ref(node),
    };
    nodes.iter().filter_map(|node| Some((node.text()?, &node.at)))
}
