//! Which settings were said, and where: on the command line, or at a line of a plan file. Messages name each as it was said.

use super::row::Key;
use super::rows;
use crate::error::{Position, SpecError};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Which settings were said, by their options.
#[derive(Debug, Clone, Default)]
pub struct SettingSources {
    places: BTreeMap<&'static str, Place>,
    /// What is not said would have been said by a key.
    by_keys: bool,
    url: Option<(String, Position)>,
}

#[derive(Debug, Clone)]
enum Place {
    /// On the command line, by this name without its dashes.
    Option(String),
    Key(&'static Key, Position),
}

/// Names settings in a message, and remembers which it names.
pub struct Names<'a> {
    said: &'a SettingSources,
    named: RefCell<Vec<&'static str>>,
}

impl SettingSources {
    /// Nothing so far, of a plan file.
    pub fn in_plan_file() -> Self {
        Self { by_keys: true, ..Self::default() }
    }

    /// These sources, and those of `other` for settings that have none here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut places = other.places;
        places.extend(self.places);
        Self { places, by_keys: self.by_keys, url: self.url.or(other.url) }
    }

    /// An option was given by this name, which may be one of its aliases.
    pub fn option(&mut self, option: &'static str, typed: &str) {
        self.places.insert(option, Place::Option(typed.to_owned()));
    }

    /// A key was said.
    pub fn key(&mut self, option: &'static str, key: &'static Key, at: &Position) {
        self.places.insert(option, Place::Key(key, at.clone()));
    }

    /// The URL was said at a key.
    pub fn url(&mut self, key: &str, at: &Position) {
        self.url = Some((key.to_owned(), at.clone()));
    }

    /// Whether a setting was said.
    pub fn is_said(&self, option: &str) -> bool {
        self.places.contains_key(option)
    }

    /// The options that were said.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        self.places.keys().copied()
    }

    /// A message with the names of settings in it.
    pub fn text(&self, text: impl FnOnce(&Names<'_>) -> String) -> String {
        text(&Names { said: self, named: RefCell::default() })
    }

    /// An error about settings: its place is that of the first that it names.
    pub fn refuse(&self, text: impl FnOnce(&Names<'_>) -> String) -> SpecError {
        let names = Names { said: self, named: RefCell::default() };
        let wrong = text(&names);
        let named = names.named.into_inner();
        let place = named.iter().find_map(|option| match self.places.get(option)? {
            Place::Key(key, at) => Some((*key, at)),
            Place::Option(_) => None,
        });
        match place {
            Some((key, at)) => SpecError::new(at, key.key, without_name(&wrong, key.key)),
            None => SpecError::told(wrong),
        }
    }

    /// An error about the URL.
    pub fn refuse_url(&self, wrong: &dyn std::fmt::Display) -> SpecError {
        match &self.url {
            Some((key, at)) => SpecError::new(at, key, wrong.to_string()),
            None => SpecError::told(wrong.to_string()),
        }
    }
}

/// A message without the key that it begins with, where a value or a colon follows it.
fn without_name<'w>(wrong: &'w str, key: &str) -> &'w str {
    let Some(rest) = wrong.strip_prefix(key) else { return wrong };
    let value = rest.strip_prefix(' ').filter(|value| value.starts_with(|c: char| c.is_ascii_digit()));
    rest.strip_prefix(": ").or(value).unwrap_or(wrong)
}

impl Names<'_> {
    /// An option that is no row of the table, or the key that says the same in a plan file.
    pub fn either(&self, option: &str, key: &str) -> String {
        if self.said.by_keys { key.to_owned() } else { option.to_owned() }
    }

    /// What a setting is called where it is, or would be, said.
    pub fn of(&self, option: &'static str) -> String {
        self.named.borrow_mut().push(option);
        let key = match self.said.places.get(option) {
            Some(Place::Key(key, _)) => Some(*key),
            Some(Place::Option(typed)) => return format!("--{typed}"),
            None => rows::key_of(option).filter(|_| self.said.by_keys),
        };
        key.map_or_else(|| format!("--{option}"), Key::shown)
    }
}
