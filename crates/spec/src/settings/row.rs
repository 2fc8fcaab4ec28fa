//! A row of the table of settings: how one setting is called, what it holds, and how its value is read.

use crate::words::values::Environment;
use std::fmt;
use std::sync::Arc;

/// A value that was read, ready to be put into the settings.
pub struct Change<S>(Arc<dyn Fn(&mut S) + Send + Sync>);

/// Reads the word of a setting; the error says what is wrong and what to write instead.
pub type Read<S> = fn(&str, Environment) -> Result<Change<S>, String>;

/// A setting: an option of the command line, a key of the plan file, or both.
pub struct SettingRow<S: 'static> {
    /// The option, without its dashes.
    pub option: &'static str,
    /// Other names that it answers to, without being shown: earlier ones, and those of curl and wrk. One character is a letter.
    pub aliases: &'static [&'static str],
    /// Its letter.
    pub short: Option<char>,
    /// Whether the help lists it.
    pub listed: Listed,
    /// What stands for its value in the help.
    pub value_name: &'static str,
    /// Under which heading the help lists it.
    pub heading: &'static str,
    /// What it is.
    pub help: Help,
    /// How often it may be said, and with what.
    pub kind: Kind,
    /// What kind of word its value is.
    pub content: Content,
    /// The word that is meant where nobody says one.
    pub usual: Option<&'static str>,
    /// Description of a default that depends on other settings, or of a missing limit.
    pub otherwise: Option<Help>,
    /// Options that may not be said with it.
    pub excludes: &'static [&'static str],
    /// The option that must be said with it.
    pub needs: Option<&'static str>,
    /// Its keys in a plan file.
    pub keys: &'static [Key],
    /// How its value is read.
    pub read: Read<S>,
}

/// The help of a setting.
pub enum Help {
    /// As it stands.
    Plain(&'static str),
    /// Made of other tables.
    Made(fn() -> String),
}

/// How often a setting may be said, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Once, without a value.
    Switch,
    /// Once, with a value.
    Value,
    /// Any number of times, with a value each.
    Repeated,
    /// Any number of times, with values between commas.
    List,
}

/// Whether the help lists a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// It does.
    Yes,
    /// It does not: another setting says the same, and this is another tool's spelling.
    No,
}

/// What kind of word a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Any.
    Word,
    /// One that may begin with a minus and a digit, to be refused with a better message.
    Number,
    /// The name of a file.
    Path,
    /// One of these.
    Choice(&'static [&'static str]),
}

/// A key of the plan file, as [`crate::plan::Keyed`] has it, and what becomes of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub key: &'static str,
    /// What becomes of its value.
    pub takes: Takes,
    /// Description, where the help of the option does not describe the key, too.
    pub about: Option<&'static str>,
    /// Description of its default, where that is another than the option's.
    pub default: Option<&'static str>,
}

/// What becomes of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It is the setting's value.
    Value,
    /// The name of a file, from the folder of the plan.
    File,
    /// A text, or `@` and the name of a file.
    Data,
    /// The setting is said for each value of a list.
    Each,
    /// The same, and values may stand between commas.
    Commas,
    /// Lists are sweeps.
    Loads,
    /// The setting is said where it is true.
    IfTrue,
    /// The setting is said where it is false.
    IfFalse,
    /// The setting is said for each name and value, with this between them.
    Pairs(&'static str),
    /// It is sent as JSON.
    Json,
}

impl Key {
    /// A key of the plan file.
    pub const fn new(key: &'static str, takes: Takes) -> Self {
        Self { key, takes, about: None, default: None }
    }

    /// The same key with this description.
    #[must_use]
    pub const fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    /// The same key with this default.
    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// How a plan file says what the option says.
    pub fn shown(&self) -> String {
        match self.takes {
            Takes::IfTrue => format!("{}: true", self.key),
            Takes::IfFalse => format!("{}: false", self.key),
            _ => self.key.to_owned(),
        }
    }
}

impl Help {
    /// The text.
    pub fn text(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Made(make) => make(),
        }
    }
}

impl<S> SettingRow<S> {
    /// A setting with a value.
    pub const fn value(option: &'static str, value_name: &'static str, help: &'static str, read: Read<S>) -> Self {
        Self {
            option,
            aliases: &[],
            short: None,
            listed: Listed::Yes,
            value_name,
            heading: "",
            help: Help::Plain(help),
            kind: Kind::Value,
            content: Content::Word,
            usual: None,
            otherwise: None,
            excludes: &[],
            needs: None,
            keys: &[],
            read,
        }
    }

    /// A setting that may be repeated.
    pub const fn repeated(option: &'static str, value_name: &'static str, help: &'static str, read: Read<S>) -> Self {
        Self { kind: Kind::Repeated, ..Self::value(option, value_name, help, read) }
    }

    /// A setting without a value.
    pub const fn switch(option: &'static str, help: &'static str, read: Read<S>) -> Self {
        Self { kind: Kind::Switch, ..Self::value(option, "", help, read) }
    }

    /// The same under this heading.
    #[must_use]
    pub const fn under(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    /// The same with a letter.
    #[must_use]
    pub const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    /// The same with names that are not shown.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// The same, not listed in the help.
    #[must_use]
    pub const fn unlisted(self) -> Self {
        Self { listed: Listed::No, ..self }
    }

    /// The same with a help that is made of other tables.
    #[must_use]
    pub const fn help(self, make: fn() -> String) -> Self {
        Self { help: Help::Made(make), ..self }
    }

    /// The same with the word that is meant where nobody says one.
    #[must_use]
    pub const fn usual(self, word: &'static str) -> Self {
        Self { usual: Some(word), ..self }
    }

    /// The same with a description of its default.
    #[must_use]
    pub const fn otherwise(self, default: &'static str) -> Self {
        Self { otherwise: Some(Help::Plain(default)), ..self }
    }

    /// The same with a description that is made of the table of defaults.
    #[must_use]
    pub const fn otherwise_made(self, make: fn() -> String) -> Self {
        Self { otherwise: Some(Help::Made(make)), ..self }
    }

    /// The same with this kind of word.
    #[must_use]
    pub const fn content(self, content: Content) -> Self {
        Self { content, ..self }
    }

    /// The same with keys of the plan file.
    #[must_use]
    pub const fn keys(self, keys: &'static [Key]) -> Self {
        Self { keys, ..self }
    }

    /// The help of the option. clap adds the default where that is a word.
    pub fn option_help(&self) -> String {
        let repeatable = if self.kind == Kind::Repeated { "; repeatable" } else { "" };
        let default = self.otherwise.as_ref().map(|default| format!(" [default: {}]", default.text()));
        format!("{}{repeatable}{}", self.help.text(), default.unwrap_or_default())
    }

    /// The default, or its description.
    pub fn default_text(&self) -> Option<String> {
        self.otherwise.as_ref().map(Help::text).or_else(|| self.usual.map(str::to_owned))
    }

    /// Puts the value that is meant where nobody says one into the settings.
    pub fn put_usual(&self, settings: &mut S) {
        let usual = self.usual.map(|word| (self.read)(word, |_| None));
        if let Some(Ok(change)) = usual {
            change.put_into(settings);
        }
    }
}

impl<S> Change<S> {
    /// Puts the value into the settings.
    pub fn put_into(&self, settings: &mut S) {
        (self.0)(settings);
    }
}

impl<S> Clone for Change<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> fmt::Debug for Change<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}

/// What was read, and where it goes.
pub(super) fn set<S, T, E>(read: Result<T, E>, put: fn(&mut S, T)) -> Result<Change<S>, String>
where
    S: 'static,
    T: Clone + Send + Sync + 'static,
    E: fmt::Display,
{
    let value = read.map_err(|error| error.to_string())?;
    Ok(Change(Arc::new(move |settings: &mut S| put(settings, value.clone()))))
}

/// A switch, which has nothing to read.
pub(super) fn on<S: 'static>(put: fn(&mut S)) -> Change<S> {
    Change(Arc::new(move |settings: &mut S| put(settings)))
}

/// A whole number within the bounds.
pub(super) fn whole<T: TryFrom<u64>>(word: &str, least: u64, most: u64) -> Result<T, String> {
    let range = if most == u64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    let is_whole = !word.is_empty() && word.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if !is_whole {
        return Err(format!("`{word}` is not a whole number; write {range}"));
    }
    let number = word.parse().ok().filter(|number| (least..=most).contains(number));
    number
        .and_then(|number: u64| T::try_from(number).ok())
        .ok_or_else(|| format!("`{word}` is out of range; write {range}"))
}
