//! A row of the table of settings: names of a setting, its value, and its parser.

use crate::words::named::Suggestion;
use crate::words::number::without_signs;
use crate::words::values::EnvironmentVariable;
use std::fmt;
use std::sync::Arc;

/// A parsed value, ready to be put into the settings.
pub struct Change<S>(Arc<dyn Fn(&mut S) + Send + Sync>);

/// Reads the argument of a setting. The error has the cause and the remedy.
pub type ReadArgument<S> = fn(&str, EnvironmentVariable) -> Result<Change<S>, String>;

/// A setting: an option of the command line, a key of the plan file, or both.
pub struct SettingRow<S: 'static> {
    /// The option, without its dashes.
    pub option: &'static str,
    /// Other accepted names, which the help does not list: earlier names, and those of curl and
    /// wrk. A single character is a short option.
    pub aliases: &'static [&'static str],
    /// Character of the short option.
    pub short: Option<char>,
    /// Visibility of the setting in the help.
    pub visibility: Visibility,
    /// Placeholder for the value in the help.
    pub value_name: &'static str,
    /// Heading in the help.
    pub heading: &'static str,
    /// Description of the setting.
    pub help: Help,
    /// Number of values, and of occurrences.
    pub kind: Occurrence,
    /// Kind of argument that the value is.
    pub content: ArgumentContent,
    /// Default value, as an argument.
    pub default: Option<&'static str>,
    /// Description of a default that depends on other settings, or of a missing limit.
    pub otherwise: Option<Help>,
    /// Options that cannot be used together with it.
    pub excludes: &'static [&'static str],
    /// Option that must be used together with it.
    pub needs: Option<&'static str>,
    /// Its keys in a plan file.
    pub keys: &'static [SettingKey],
    /// Values that shells propose; None if any text is valid, or [`ArgumentContent::Choice`] lists them.
    pub suggestions: Option<fn() -> Vec<Suggestion>>,
    /// Parser of the value.
    pub read: ReadArgument<S>,
}

/// The help of a setting.
pub enum Help {
    /// A text that is written in the table.
    Plain(&'static str),
    /// A text generated from other tables.
    Generated(fn() -> String),
}

/// Number of values of a setting, and of occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// Once, without a value.
    Switch,
    /// Once, with a value.
    Value,
    /// Any number of times, with a value each.
    Repeated,
    /// Any number of times, with values between commas.
    List,
}

/// Visibility of a setting in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// The help lists it.
    Yes,
    /// The help does not list it, since it is another tool's spelling for a setting
    /// with its own row.
    No,
}

/// Kind of argument that a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentContent {
    /// Any text without further meaning.
    Word,
    /// A number. The parser accepts a minus and a digit, to refuse them with a better message.
    // clap would take `-5` for an option.
    Number,
    /// The name of a file.
    Path,
    /// One of a fixed set of words.
    Choice(&'static [&'static str]),
}

/// A key of the plan file, with the conversion of its value to arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingKey {
    /// Name of the key, such as `load.rate`.
    pub key: &'static str,
    /// Conversion of the value to arguments.
    pub value_form: ValueForm,
    /// Description, where the help of the option does not describe the key, too.
    pub about: Option<&'static str>,
    /// Description of its default, where that is another than the option's.
    pub default: Option<&'static str>,
}

/// Conversion of the value of a key to arguments of the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// The value is the argument.
    Value,
    /// The name of a file, from the folder of the plan.
    File,
    /// A text, or `@` and the name of a file.
    Data,
    /// One argument for each value of a list.
    Each,
    /// The same, and commas separate values, too.
    Commas,
    /// A list becomes a sweep.
    Loads,
    /// The switch is set if the value is true.
    IfTrue,
    /// The switch is set if the value is false.
    IfFalse,
    /// One argument for each name and value, with this separator.
    Pairs(&'static str),
    /// The value is sent as JSON.
    Json,
}

impl SettingKey {
    /// Creates a key of the plan file.
    pub const fn new(key: &'static str, value_form: ValueForm) -> Self {
        Self { key, value_form, about: None, default: None }
    }

    /// Sets the description of the key.
    #[must_use]
    pub const fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    /// Sets the default of the key.
    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Notation in a plan file that corresponds to the option.
    pub fn shown(&self) -> String {
        match self.value_form {
            ValueForm::IfTrue => format!("{}: true", self.key),
            ValueForm::IfFalse => format!("{}: false", self.key),
            _ => self.key.to_owned(),
        }
    }
}

impl Help {
    /// Text of the help.
    pub fn text(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Generated(make) => make(),
        }
    }
}

impl<S> SettingRow<S> {
    /// Creates a setting with a value.
    // All constructors are const, so that the tables are statics without initialization.
    pub const fn value(
        option: &'static str,
        value_name: &'static str,
        help: &'static str,
        read: ReadArgument<S>,
    ) -> Self {
        Self {
            option,
            aliases: &[],
            short: None,
            visibility: Visibility::Yes,
            value_name,
            heading: "",
            help: Help::Plain(help),
            kind: Occurrence::Value,
            content: ArgumentContent::Word,
            default: None,
            otherwise: None,
            excludes: &[],
            needs: None,
            keys: &[],
            suggestions: None,
            read,
        }
    }

    /// Creates a setting that may be repeated.
    pub const fn repeated(
        option: &'static str,
        value_name: &'static str,
        help: &'static str,
        read: ReadArgument<S>,
    ) -> Self {
        Self { kind: Occurrence::Repeated, ..Self::value(option, value_name, help, read) }
    }

    /// Creates a setting without a value.
    pub const fn switch(option: &'static str, help: &'static str, read: ReadArgument<S>) -> Self {
        Self { kind: Occurrence::Switch, ..Self::value(option, "", help, read) }
    }

    /// Sets the heading in the help.
    #[must_use]
    pub const fn under(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    /// Sets the short option.
    #[must_use]
    pub const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    /// Adds names that the help does not list.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Hides the setting in the help.
    #[must_use]
    pub const fn unlisted(self) -> Self {
        Self { visibility: Visibility::No, ..self }
    }

    /// Sets a help that is generated from other tables.
    #[must_use]
    pub const fn help(self, make: fn() -> String) -> Self {
        Self { help: Help::Generated(make), ..self }
    }

    /// Sets the default value.
    #[must_use]
    pub const fn default(self, word: &'static str) -> Self {
        Self { default: Some(word), ..self }
    }

    /// Sets the description of the default.
    #[must_use]
    pub const fn otherwise(self, default: &'static str) -> Self {
        Self { otherwise: Some(Help::Plain(default)), ..self }
    }

    /// Sets a description of the default that is generated from the table of defaults.
    #[must_use]
    pub const fn otherwise_generated(self, make: fn() -> String) -> Self {
        Self { otherwise: Some(Help::Generated(make)), ..self }
    }

    /// Sets the kind of argument.
    #[must_use]
    pub const fn content(self, content: ArgumentContent) -> Self {
        Self { content, ..self }
    }

    /// Sets the keys of the plan file.
    #[must_use]
    pub const fn keys(self, keys: &'static [SettingKey]) -> Self {
        Self { keys, ..self }
    }

    /// Sets the values that shells propose.
    #[must_use]
    pub const fn suggestions(self, suggestions: fn() -> Vec<Suggestion>) -> Self {
        Self { suggestions: Some(suggestions), ..self }
    }

    /// Help of the option. clap adds the default if it is a single value.
    pub fn option_help(&self) -> String {
        let repeatable = if self.kind == Occurrence::Repeated { "; repeatable" } else { "" };
        let default =
            self.otherwise.as_ref().map(|default| format!(" [default: {}]", default.text()));
        format!("{}{repeatable}{}", self.help.text(), default.unwrap_or_default())
    }

    /// The default, or its description.
    pub fn default_text(&self) -> Option<String> {
        self.otherwise.as_ref().map(Help::text).or_else(|| self.default.map(str::to_owned))
    }

    /// Puts the default value into the settings.
    pub fn put_default(&self, settings: &mut S) {
        // Defaults contain no `${env:…}`, so no environment is needed.
        let change = self.default.map(|word| (self.read)(word, |_| None));
        if let Some(Ok(change)) = change {
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

/// Creates a change from a parsed value, and the function that puts it into the settings.
pub(super) fn set<S, T, E>(read: Result<T, E>, put: fn(&mut S, T)) -> Result<Change<S>, String>
where
    S: 'static,
    T: Clone + Send + Sync + 'static,
    E: fmt::Display,
{
    // Rows have parsers with several error types; a table needs one.
    let value = read.map_err(|error| error.to_string())?;
    Ok(Change(Arc::new(move |settings: &mut S| put(settings, value.clone()))))
}

/// Creates the change of a switch, which has no value to parse.
pub(super) fn on<S: 'static>(put: fn(&mut S)) -> Change<S> {
    Change(Arc::new(move |settings: &mut S| put(settings)))
}

/// Parses a whole number within bounds.
pub(super) fn whole<T: TryFrom<u64>>(word: &str, least: u64, most: u64) -> Result<T, String> {
    // 18446744073709551615 would explain nothing to a user.
    let range =
        if most == u64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    // A negative number is a whole number; it is refused because it is out of range.
    let is_whole =
        !word.is_empty() && word.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if !is_whole {
        let instead = without_signs(word).unwrap_or(range);
        return Err(format!("`{word}` is not a whole number; write {instead}"));
    }
    let number = word.parse().ok().filter(|number| (least..=most).contains(number));
    number
        .and_then(|number: u64| T::try_from(number).ok())
        .ok_or_else(|| format!("`{word}` is out of range; write {range}"))
}
