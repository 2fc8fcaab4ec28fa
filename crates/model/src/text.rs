//! Texts for people, in each language: messages of a catalog, with arguments.
//!
//! [`text!`](crate::text!) makes a [`Text`] of a message of `texts/en` and `texts/zh`. A text reads as its English form;
//! [`Text::in_language`] returns the same text in another language. Texts without a message, such as names and
//! figures, are the same in all languages.

pub mod catalog;
mod logged;

use catalog::{Catalog, MESSAGES};
pub use logged::LoggedText;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;

/// Creates a [`Text`] of a message, by its id and arguments: `text!("too-short", time = seconds(t), replies)`.
#[macro_export]
macro_rules! text {
    (@value $name:ident) => { $crate::text::Value::from($name) };
    (@value $name:ident $value:expr) => { $crate::text::Value::from($value) };
    ($id:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::text::Text::of_message(
            $id,
            vec![$((stringify!($name), $crate::text!(@value $name $($value)?))),*],
        )
    };
}

/// A language of the texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English, the language of terminals, files and errors.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Tag of the language, as in `lang="en"` (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Name of the language in itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// Returns the language of a tag, such as `zh-Hans-CN`.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}

/// A text for people.
#[derive(Debug, Clone, Default)]
pub struct Text {
    english: String,
    /// None if the text is the same in all languages.
    message: Option<Box<Message>>,
}

/// A message of a catalog with its arguments.
#[derive(Debug, Clone)]
struct Message {
    catalog: &'static Catalog,
    id: Cow<'static, str>,
    arguments: Vec<(&'static str, Value)>,
}

/// An argument of a message.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number of things, which decides between singular and plural.
    Count(u64),
    /// A part of the text.
    Text(Text),
    /// An enumeration, such as `a, b and c`.
    List(Vec<Text>),
    /// An enumeration of clauses, such as `a, b and c`. Chinese separates them by `，`, without a conjunction.
    Clauses(Vec<Text>),
    /// Words of one kind, such as `a, b, c`.
    Words(Vec<Text>),
    /// A series of clauses, such as `a; b; c`.
    Series(Vec<Text>),
}

impl Text {
    /// Creates a text of a message; [`text!`](crate::text!) is shorter.
    pub fn of_message(id: &'static str, arguments: Vec<(&'static str, Value)>) -> Self {
        Self::of_catalog(&MESSAGES, id, arguments)
    }

    /// Creates a text of a message of another catalog.
    pub fn of_catalog(
        catalog: &'static Catalog,
        id: &'static str,
        arguments: Vec<(&'static str, Value)>,
    ) -> Self {
        let message = Message { catalog, id: id.into(), arguments };
        Self { english: message.format(Language::English), message: Some(Box::new(message)) }
    }

    /// Creates a text of a message without arguments, for tables of ids.
    pub fn label(id: &'static str) -> Self {
        Self::of_message(id, Vec::new())
    }

    /// Returns the text in English.
    pub fn as_str(&self) -> &str {
        self
    }

    /// Joins clauses to one text: `a; b; c`.
    pub fn series(mut clauses: Vec<Self>) -> Self {
        if clauses.len() == 1 {
            clauses.remove(0)
        } else {
            text!("series", clauses = Value::Series(clauses))
        }
    }

    /// Returns the text in a language.
    pub fn in_language(&self, language: Language) -> Cow<'_, str> {
        match (&self.message, language) {
            (None, _) | (_, Language::English) => Cow::Borrowed(&self.english),
            (Some(message), _) => Cow::Owned(message.format(language)),
        }
    }

    /// Replaces the text by its form in a language.
    pub fn translate(&mut self, language: Language) {
        if let Cow::Owned(translated) = self.in_language(language) {
            *self = Self::from(translated);
        }
    }
}

impl Message {
    fn format(&self, language: Language) -> String {
        self.catalog.format(language, &self.id, &self.arguments)
    }
}

impl From<String> for Text {
    fn from(english: String) -> Self {
        Self { english, message: None }
    }
}

impl From<&str> for Text {
    fn from(english: &str) -> Self {
        Self::from(english.to_owned())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.english
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.english
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.english == other.english
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.english == other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.english == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.english == *other
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Vec<Text>> for Value {
    fn from(parts: Vec<Text>) -> Self {
        Self::List(parts)
    }
}

impl FromIterator<Text> for Value {
    fn from_iter<I: IntoIterator<Item = Text>>(parts: I) -> Self {
        Self::List(parts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_as_english_and_keeps_its_message() {
        let changes = ["p50", "p99", "p99.9"].map(Text::from).to_vec();
        let text = text!("words", words = changes);
        assert_eq!(text, "p50, p99 and p99.9");
        assert_eq!(text.in_language(Language::Chinese), "p50、p99 和 p99.9");
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"p50, p99 and p99.9\"");
    }

    #[test]
    fn counts_have_separators_and_decide_the_plural() {
        for (number, english, chinese) in
            [(1_u64, "1 request", "1 个请求"), (12_345, "12,345 requests", "12,345 个请求")]
        {
            let text = text!("requests", count = number);
            assert_eq!((&*text, &*text.in_language(Language::Chinese)), (english, chinese));
        }
    }

    #[test]
    fn a_language_has_tags_with_regions() {
        assert_eq!(Language::from_tag("zh-Hans-CN"), Some(Language::Chinese));
        assert_eq!(Language::from_tag("EN-gb"), Some(Language::English));
        assert_eq!(Language::from_tag("de"), None);
    }
}
