//! Texts for people: messages with arguments, and their form in each language.

pub mod catalog;

use crate::language::Language;
use catalog::Catalog;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A text for people.
#[derive(Debug, Clone, Default)]
pub struct Text {
    english: String,
    /// None if the text is the same in all languages.
    // Shared: a text may be cloned for each reply that fails a check.
    message: Option<Arc<Message>>,
}

/// A message of a catalog with its arguments.
#[derive(Debug)]
struct Message {
    catalog: &'static Catalog,
    id: Cow<'static, str>,
    arguments: Vec<Argument>,
}

/// Name and value of an argument of a message.
pub type Argument = (Cow<'static, str>, Value);

/// An argument of a message.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number of things, which decides between singular and plural.
    Count(u64),
    /// A part of the text.
    Text(Text),
    /// An enumeration, such as `a, b and c`.
    List(Vec<Text>),
    /// An enumeration of alternatives, such as `a, b or c`.
    Alternatives(Vec<Text>),
    /// An enumeration of clauses, such as `a, b and c`. Chinese separates them by `，`, without a conjunction.
    Clauses(Vec<Text>),
    /// Words of one kind, such as `a, b, c`.
    Words(Vec<Text>),
    /// A series of clauses, such as `a; b; c`.
    Series(Vec<Text>),
}

impl Text {
    /// Creates a text of a message; [`text!`](crate::text!) is shorter.
    pub fn of_catalog(
        catalog: &'static Catalog,
        id: &'static str,
        arguments: Vec<Argument>,
    ) -> Self {
        let message = Message { catalog, id: id.into(), arguments };
        let english = message.format(Language::English);
        // A test compares the ids and arguments of the source with the catalog.
        debug_assert!(english.is_some(), "unknown message {id}, or other arguments");
        Self { english: english.unwrap_or_else(|| id.into()), message: Some(Arc::new(message)) }
    }

    /// Creates a text of a stored message. A catalog without it, or with other arguments, leaves the text in English.
    pub fn of_stored(
        catalog: &'static Catalog,
        english: String,
        id: String,
        arguments: Vec<Argument>,
    ) -> Self {
        let message = Message { catalog, id: id.into(), arguments };
        Self { english, message: Some(Arc::new(message)) }
    }

    /// Returns the text in English.
    pub fn as_str(&self) -> &str {
        self
    }

    /// Returns the id and the arguments of its message; None if it has none.
    pub fn message(&self) -> Option<(&str, &[Argument])> {
        self.message.as_deref().map(|message| (&*message.id, &*message.arguments))
    }

    /// Returns the text in a language.
    pub fn in_language(&self, language: Language) -> Cow<'_, str> {
        let message = self.message.as_ref().filter(|_| language != Language::English);
        message
            .and_then(|message| message.format(language))
            .map_or(Cow::Borrowed(&self.english), Cow::Owned)
    }

    /// Replaces the text by its form in a language.
    pub fn translate(&mut self, language: Language) {
        if let Cow::Owned(translated) = self.in_language(language) {
            *self = Self::from(translated);
        }
    }

    /// Returns the text with a change in each argument, such as the removal of secrets.
    #[must_use]
    pub fn map(&self, change: &dyn Fn(&str) -> String) -> Self {
        let english = change(&self.english);
        let message = self.message.as_deref().map(|message| message.map(change));
        // A secret may be visible as such only in its sentence. Then other languages must not show the arguments.
        let message = message
            .filter(|message| message.format(Language::English).as_deref() == Some(&*english));
        Self { english, message: message.map(Arc::new) }
    }
}

impl Message {
    fn format(&self, language: Language) -> Option<String> {
        self.catalog.format(language, &self.id, &self.arguments)
    }

    fn map(&self, change: &dyn Fn(&str) -> String) -> Self {
        let arguments =
            self.arguments.iter().map(|(name, value)| (name.clone(), value.map(change)));
        Self { catalog: self.catalog, id: self.id.clone(), arguments: arguments.collect() }
    }
}

impl Value {
    fn map(&self, change: &dyn Fn(&str) -> String) -> Self {
        match self {
            Self::Count(number) => Self::Count(*number),
            Self::Text(text) => Self::Text(text.map(change)),
            Self::List(parts) => Self::List(map_all(parts, change)),
            Self::Alternatives(parts) => Self::Alternatives(map_all(parts, change)),
            Self::Clauses(parts) => Self::Clauses(map_all(parts, change)),
            Self::Words(parts) => Self::Words(map_all(parts, change)),
            Self::Series(parts) => Self::Series(map_all(parts, change)),
        }
    }
}

fn map_all(parts: &[Text], change: &dyn Fn(&str) -> String) -> Vec<Text> {
    parts.iter().map(|part| part.map(change)).collect()
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

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // As in `Eq`, and as the hash of its `Borrow<str>`.
        self.english.hash(state);
    }
}

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
    use crate::text;

    static CATALOG: Catalog = Catalog::new(
        "words = { $words }\n\
         agent = agent { $name }\n\
         part =\n    .of = part of { $whole }\n\
         requests = { $count ->\n    [one] { $count } request\n   *[other] { $count } requests\n}\n",
        "words = { $words }\n\
         agent = 代理 { $name }\n\
         part =\n    .of = { $whole }的一部分\n\
         requests = { $count } 个请求\n",
    );

    #[test]
    fn a_text_reads_as_english_and_keeps_its_message() {
        let changes = ["p50", "p99", "p99.9"].map(Text::from).to_vec();
        let text = text!(in CATALOG, "words", words = changes);
        assert_eq!(text, "p50, p99 and p99.9");
        assert_eq!(text.in_language(Language::Chinese), "p50、p99 和 p99.9");
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"p50, p99 and p99.9\"");
    }

    #[test]
    fn counts_have_separators_and_decide_the_plural() {
        for (number, english, chinese) in
            [(1_u64, "1 request", "1 个请求"), (12_345, "12,345 requests", "12,345 个请求")]
        {
            let text = text!(in CATALOG, "requests", count = number);
            assert_eq!((&*text, &*text.in_language(Language::Chinese)), (english, chinese));
        }
    }

    #[test]
    fn an_unknown_message_or_other_arguments_are_english() {
        for (id, arguments) in [
            ("later", vec![]),
            ("agent", vec![]),
            ("agent", vec![("other".into(), Value::from("x"))]),
            ("part", vec![]),
            ("", vec![]),
        ] {
            let text = Text::of_stored(&CATALOG, "in English".into(), id.to_owned(), arguments);
            assert_eq!(text.in_language(Language::Chinese), "in English");
        }
    }

    #[test]
    fn a_change_is_in_all_languages() {
        let agent = text!(in CATALOG, "agent", name = "/?key=secret");
        let text = text!(in CATALOG, "part.of", whole = agent);
        let changed = text.map(&|text| text.replace("secret", "***"));
        assert_eq!(changed, "part of agent /?key=***");
        assert_eq!(changed.in_language(Language::Chinese), "代理 /?key=***的一部分");
        // A secret that is visible only within its sentence stays out of other languages.
        let changed = text.map(&|text| text.replace("part of agent /?key=secret", "***"));
        assert_eq!((changed.as_str(), &*changed.in_language(Language::Chinese)), ("***", "***"));
    }
}
