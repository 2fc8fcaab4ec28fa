//! Sources of settings: an option of the command line, or a line of a plan file. Messages name each
//! setting as the user wrote it.

use super::row::SettingKey;
use super::rows;
use crate::error::{SourcePosition, SpecError};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Sources of the settings that the user gave, by option.
#[derive(Debug, Clone, Default)]
pub struct SettingSources {
    places: BTreeMap<&'static str, Place>,
    /// True if messages name the keys of settings that were not given; false for their options.
    by_keys: bool,
    url: Option<(String, SourcePosition)>,
}

#[derive(Debug, Clone)]
enum Place {
    /// Name of the option on the command line, without dashes.
    Option(String),
    Key(&'static SettingKey, SourcePosition),
}

/// Names settings in a message, and records the names, since the first one determines the
/// place of an error.
pub struct SettingNames<'a> {
    sources: &'a SettingSources,
    // A message is a closure over a shared reference, so recording a name needs a cell.
    names: RefCell<Vec<&'static str>>,
}

impl SettingSources {
    /// Creates an empty set of sources of a plan file.
    pub fn in_plan_file() -> Self {
        Self { by_keys: true, ..Self::default() }
    }

    /// Adds the sources of `other` for settings that have none here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        // The later `extend` overwrites, so the settings of `self` take precedence.
        let mut places = other.places;
        places.extend(self.places);
        Self { places, by_keys: self.by_keys, url: self.url.or(other.url) }
    }

    /// Records an option of the command line, by the name that was used, which may be an alias.
    pub fn option(&mut self, option: &'static str, typed: &str) {
        self.places.insert(option, Place::Option(typed.to_owned()));
    }

    /// Records a key of a plan file.
    pub fn key(&mut self, option: &'static str, key: &'static SettingKey, at: &SourcePosition) {
        self.places.insert(option, Place::Key(key, at.clone()));
    }

    /// Records the key of the URL.
    pub fn url(&mut self, key: &str, at: &SourcePosition) {
        self.url = Some((key.to_owned(), at.clone()));
    }

    /// True if the user gave a setting.
    pub fn is_given(&self, option: &str) -> bool {
        self.places.contains_key(option)
    }

    /// The options that the user gave.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        self.places.keys().copied()
    }

    /// Creates a message that contains names of settings.
    pub fn text(&self, text: impl FnOnce(&SettingNames<'_>) -> String) -> String {
        text(&SettingNames { sources: self, names: RefCell::default() })
    }

    /// Creates an error about settings. Its place is that of the first setting that it names.
    pub fn refuse(&self, text: impl FnOnce(&SettingNames<'_>) -> String) -> SpecError {
        let names = SettingNames { sources: self, names: RefCell::default() };
        let wrong = text(&names);
        let options = names.names.into_inner();
        let place = options.iter().find_map(|option| match self.places.get(option)? {
            Place::Key(key, at) => Some((*key, at)),
            Place::Option(_) => None,
        });
        match place {
            // The error shows the key before its message, so the message must not repeat it.
            Some((key, at)) => SpecError::new(at, key.key, without_name(&wrong, key.key)),
            None => SpecError::unplaced(wrong),
        }
    }

    /// Creates an error about the URL.
    pub fn refuse_url(&self, wrong: &dyn std::fmt::Display) -> SpecError {
        match &self.url {
            Some((key, at)) => SpecError::new(at, key, wrong.to_string()),
            None => SpecError::unplaced(wrong.to_string()),
        }
    }
}

/// Removes the key from the start of a message, if a value or a colon follows it.
fn without_name<'w>(wrong: &'w str, key: &str) -> &'w str {
    let Some(rest) = wrong.strip_prefix(key) else { return wrong };
    // `load.rate 5: …` becomes `5: …`, but a sentence keeps its first word.
    let value =
        rest.strip_prefix(' ').filter(|value| value.starts_with(|c: char| c.is_ascii_digit()));
    rest.strip_prefix(": ").or(value).unwrap_or(wrong)
}

impl SettingNames<'_> {
    /// Names an option that is not in the table, or the equivalent key of a plan file.
    pub fn either(&self, option: &str, key: &str) -> String {
        if self.sources.by_keys { key.to_owned() } else { option.to_owned() }
    }

    /// Names a setting as the user gave it, or would give it.
    pub fn name_of(&self, option: &'static str) -> String {
        self.names.borrow_mut().push(option);
        let key = match self.sources.places.get(option) {
            Some(Place::Key(key, _)) => Some(*key),
            Some(Place::Option(typed)) => return format!("--{typed}"),
            // A remedy names an option that the user did not give, so the source decides its
            // spelling.
            None => rows::key_of(option).filter(|_| self.sources.by_keys),
        };
        key.map_or_else(|| format!("--{option}"), SettingKey::shown)
    }
}
