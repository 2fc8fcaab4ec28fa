//! The settings of a plan file → the arguments of `brunt run`, by its own parser; and what parser and rules say of an
//! option, said of the key.

use super::keys::{KEYS, Key, find};
use crate::args::RunArgs;
use anyhow::Error;
use brunt_spec::plan::{Node, PlanError, Setting, Value};
use brunt_spec::words::target;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, FromArgMatches};
use std::path::Path;

/// Settings that together are one command line.
#[derive(Debug, Clone)]
pub struct Options {
    settings: Vec<Setting>,
}

impl Options {
    /// Of these settings.
    pub fn new(settings: Vec<Setting>) -> Self {
        Self { settings }
    }

    /// The arguments that a command line with these options would come to. `folder` is that of the plan.
    pub fn arguments(&self, folder: &Path) -> Result<RunArgs, PlanError> {
        self.load()?;
        let mut words = Vec::new();
        for setting in &self.settings {
            if let Some(key) = Key::of(&setting.key) {
                words.extend(key.words(&setting.node, folder));
                if key.is_json() && !self.has_header("content-type") {
                    words.push("--header=Content-Type: application/json".into());
                }
            } else if !super::keys::BESIDE.contains(&setting.key.as_str()) {
                let wrong = "this version has no option for it; leave it out";
                return Err(PlanError::new(&setting.node.at, &setting.key, wrong));
            }
        }
        words.extend(self.url()?.into_iter().flat_map(|url| ["--".to_owned(), url]));
        // What is wrong with a value is told without repeating secrets.
        crate::redact::current().words(&words);
        let command = RunArgs::augment_args(clap::Command::new("brunt").no_binary_name(true).disable_help_flag(true));
        let matches = command.try_get_matches_from(words).map_err(|e| self.refused(&e))?;
        RunArgs::from_arg_matches(&matches).map_err(|e| self.refused(&e))
    }

    /// What a rule between options says, of the keys.
    pub fn against(&self, error: &Error) -> PlanError {
        self.told(&format!("{error:#}"))
    }

    /// The words for virtual users and for the most connections of a rate are one option.
    fn load(&self) -> Result<(), PlanError> {
        let has = |key| find(&self.settings, key);
        match (has("load.rate"), has("load.users"), has("load.connections")) {
            (Some(_), Some(users), _) => {
                let wrong =
                    "load.rate says already how much is asked; write one of them (`null` takes the other away again)";
                Err(PlanError::new(&users.node.at, "load.users", wrong))
            }
            (None, users, Some(connections)) => {
                let instead = if users.is_some() { "leave it out" } else { "write load.users, or add load.rate" };
                let wrong = format!("that many connections at most is said of a load.rate; {instead}");
                Err(PlanError::new(&connections.node.at, "load.connections", wrong))
            }
            _ => Ok(()),
        }
    }

    fn url(&self) -> Result<Option<String>, PlanError> {
        let base = find(&self.settings, "script.base");
        let Some(url) = find(&self.settings, "script.request.url") else {
            return Ok(base.and_then(|base| base.node.text()).map(str::to_owned));
        };
        let text = url.node.text().unwrap_or_default();
        if base.is_none() && text.starts_with(['/', '?']) {
            let wrong = format!(
                "`{text}`: it is not known on which server this is; write http://HOST{text}, or add script.base"
            );
            return Err(PlanError::new(&url.node.at, "script.request", wrong));
        }
        let wrong = |e: brunt_spec::words::WordError| PlanError::new(&url.node.at, "script.request", e.to_string());
        target::join(text, base.and_then(|base| base.node.text())).map(Some).map_err(wrong)
    }

    fn has_header(&self, name: &str) -> bool {
        let headers = find(&self.settings, "script.request.headers");
        headers.is_some_and(|headers| headers.node.entries().iter().any(|entry| entry.key.eq_ignore_ascii_case(name)))
    }

    /// What the parser of the command line says of an option.
    fn refused(&self, error: &clap::Error) -> PlanError {
        let context = |kind| {
            error
                .get(kind)
                .and_then(|value| if let ContextValue::String(text) = value { Some(text.as_str()) } else { None })
        };
        let option = context(ContextKind::InvalidArg).map(|arg| arg.split([' ', '=', '[']).next().unwrap_or_default());
        let setting = option.and_then(|option| self.setting(option));
        let value = context(ContextKind::InvalidValue).unwrap_or_default();
        let Some((key, setting)) =
            setting.filter(|_| [ErrorKind::ValueValidation, ErrorKind::InvalidValue].contains(&error.kind()))
        else {
            let text = error.to_string();
            let text = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
            return self.told(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        };
        let wrong = match (std::error::Error::source(error), error.get(ContextKind::ValidValue)) {
            (Some(source), _) if source.to_string().starts_with('`') => source.to_string(),
            (Some(source), _) => format!("`{value}`: {source}"),
            (None, Some(ContextValue::Strings(valid))) => {
                format!("invalid value `{value}`; write {}", valid.join(" or "))
            }
            (None, _) => "a value is missing".to_owned(),
        };
        PlanError::new(&place(&setting.node, value).at, key.key, wrong)
    }

    /// A text about options, about keys, at the place of the first of them that the plan has.
    fn told(&self, text: &str) -> PlanError {
        let mut mentioned: Vec<(usize, &Setting)> = Vec::new();
        for setting in &self.settings {
            let option = Key::of(&setting.key).map(|key| key.option).filter(|option| !option.is_empty());
            mentioned.extend(option.and_then(|option| whole_word(text, option)).map(|at| (at, setting)));
        }
        let url = find(&self.settings, "script.request.url");
        let url = url.filter(|url| url.node.text().is_some_and(|url| !url.is_empty() && text.contains(url)));
        let first = mentioned.into_iter().min_by_key(|(at, _)| *at).map_or(url, |(_, setting)| Some(setting));
        let wrong = self.in_keys(text);
        let Some(setting) = first else { return PlanError { at: None, path: String::new(), wrong } };
        let wrong = wrong.strip_prefix(&format!("{}: ", setting.key)).unwrap_or(&wrong).to_owned();
        PlanError::new(&setting.node.at, &setting.key, wrong)
    }

    /// A text with the keys in the place of options.
    fn in_keys(&self, text: &str) -> String {
        let mut options: Vec<&str> = KEYS.iter().map(|key| key.option).filter(|option| !option.is_empty()).collect();
        options.sort_by_key(|option| std::cmp::Reverse(option.len()));
        options.dedup();
        let mut text = text.to_owned();
        for option in options {
            let row = self.setting(option).map(|(key, _)| key).or_else(|| KEYS.iter().find(|key| key.option == option));
            let Some(key) = row else { continue };
            for _ in 0..9 {
                let Some(at) = whole_word(&text, option) else { break };
                let behind = &text[at + option.len()..];
                let placeholder = behind.strip_prefix(" <").and_then(|rest| rest.find('>')).map_or(0, |end| end + 3);
                text.replace_range(at..at + option.len() + placeholder, &key.shown());
            }
        }
        text
    }

    /// The setting that an option came from.
    fn setting(&self, option: &str) -> Option<(&'static Key, &Setting)> {
        let option = if option.starts_with('-') { option } else { "" };
        self.settings
            .iter()
            .find_map(|setting| Some((Key::of(&setting.key).filter(|key| key.option == option)?, setting)))
    }
}

/// Where an option stands in a text, as a word of its own.
fn whole_word(text: &str, option: &str) -> Option<usize> {
    let ends = |at: &usize| !text[at + option.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    let begins = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
    text.match_indices(option).map(|(at, _)| at).find(|at| ends(at) && begins(at))
}

/// The value of a list or map that was refused; else all of it.
fn place<'a>(node: &'a Node, value: &str) -> &'a Node {
    let inner: Vec<&Node> = match &node.value {
        Value::List(nodes) => nodes.iter().collect(),
        Value::Map(entries) => entries.iter().map(|entry| &entry.node).collect(),
        _ => Vec::new(),
    };
    let refused = |inner: &&&Node| inner.text().is_some_and(|text| !text.is_empty() && value.ends_with(text));
    inner.iter().find(refused).copied().unwrap_or(node)
}
