//! Tables of values with names. The parser of an option and the completion of shells read the same
//! rows.

/// A value with its names.
pub struct NamedValue<T: 'static> {
    /// The name, and other accepted spellings.
    pub names: &'static [&'static str],
    /// Meaning, in a few words.
    pub about: &'static str,
    /// The value.
    pub value: T,
}

/// A value that a shell proposes, with its meaning. One that ends in `=` or `:` is the begin of a
/// value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Text to insert.
    pub text: String,
    /// Meaning, in a few words.
    pub about: String,
}

impl Suggestion {
    /// Creates a suggestion.
    pub fn new(text: impl Into<String>, about: impl Into<String>) -> Self {
        Self { text: text.into(), about: about.into() }
    }

    /// True if the user has to continue the text.
    pub fn is_prefix(&self) -> bool {
        self.text.ends_with(['=', ':'])
    }
}

/// Returns the value with this name.
pub fn value_named<T: Clone>(table: &[NamedValue<T>], name: &str) -> Option<T> {
    table.iter().find(|row| row.names.contains(&name)).map(|row| row.value.clone())
}

/// Returns the suggestions of a table: its names, without other spellings.
pub fn suggestions<T>(table: &[NamedValue<T>]) -> Vec<Suggestion> {
    table.iter().map(|row| Suggestion::new(row.names[0], row.about)).collect()
}

/// Returns the suggestions of a list of texts with their meanings.
pub fn of_list(list: &[(&str, &str)]) -> Vec<Suggestion> {
    list.iter().map(|(text, about)| Suggestion::new(*text, *about)).collect()
}
