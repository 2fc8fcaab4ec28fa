//! Formats messages of a catalog in Fluent's syntax, with a source for each language.

use super::{Argument, Text, Value};
use crate::language::Language;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use intl_memoizer::concurrent::IntlLangMemoizer;
use std::fmt;
use std::sync::OnceLock;
use unic_langid::LanguageIdentifier;

/// Separator between the id of a message and its attribute: `too-short.remedy`.
const ATTRIBUTE: char = '.';

/// Messages in all languages.
pub struct Catalog {
    english: Messages,
    chinese: Messages,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Catalog")
    }
}

/// Messages of a language, parsed at their first use.
struct Messages {
    source: &'static str,
    bundle: OnceLock<FluentBundle<FluentResource>>,
}

impl Catalog {
    /// Creates a catalog of the sources in Fluent's syntax.
    pub const fn new(english: &'static str, chinese: &'static str) -> Self {
        Self { english: Messages::new(english), chinese: Messages::new(chinese) }
    }

    /// Formats a message, or an attribute of it. None if it is unknown, or has other arguments.
    pub fn format(&self, language: Language, id: &str, arguments: &[Argument]) -> Option<String> {
        let mut values = FluentArgs::with_capacity(arguments.len());
        for (name, value) in arguments {
            values.set(&**name, fluent_value(value, language));
        }
        let messages = match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        };
        messages.format(language, id, &values)
    }
}

impl Messages {
    const fn new(source: &'static str) -> Self {
        Self { source, bundle: OnceLock::new() }
    }

    fn format(&self, language: Language, id: &str, values: &FluentArgs) -> Option<String> {
        let bundle = self.bundle.get_or_init(|| parse(self.source, language));
        let (message_id, attribute) = match id.split_once(ATTRIBUTE) {
            Some((message_id, attribute)) => (message_id, Some(attribute)),
            None => (id, None),
        };
        let message = bundle.get_message(message_id)?;
        let pattern = match attribute {
            Some(attribute) => message.get_attribute(attribute)?.value(),
            None => message.value()?,
        };
        let mut errors = Vec::new();
        let formatted = bundle.format_pattern(pattern, Some(values), &mut errors).into_owned();
        errors.is_empty().then_some(formatted)
    }
}

fn parse(source: &str, language: Language) -> FluentBundle<FluentResource> {
    let tag: LanguageIdentifier = language.tag().parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![tag]);
    // Isolation marks around arguments are for texts from right to left; terminals show them as garbage.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(format_number));
    let resource =
        FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, errors)| {
            debug_assert!(errors.is_empty(), "{errors:?}");
            resource
        });
    bundle.add_resource_overriding(resource);
    bundle
}

/// Formats numbers as elsewhere in reports: `12,345`.
fn format_number(value: &FluentValue, _: &IntlLangMemoizer) -> Option<String> {
    match value {
        FluentValue::Number(number) => Some(count(number.value as u64)),
        _ => None,
    }
}

fn fluent_value(value: &Value, language: Language) -> FluentValue<'static> {
    match value {
        Value::Count(number) => FluentValue::from(*number),
        Value::Text(text) => FluentValue::from(text.in_language(language).into_owned()),
        Value::List(parts) => {
            FluentValue::from(enumeration(parts, language, separators(language).conjunction))
        }
        Value::Alternatives(parts) => {
            FluentValue::from(enumeration(parts, language, separators(language).disjunction))
        }
        Value::Clauses(parts) => FluentValue::from(match language {
            Language::English => enumeration(parts, language, separators(language).conjunction),
            Language::Chinese => joined(parts, language, "，"),
        }),
        Value::Words(parts) => {
            FluentValue::from(joined(parts, language, separators(language).words))
        }
        Value::Series(parts) => {
            FluentValue::from(joined(parts, language, separators(language).clauses))
        }
    }
}

/// Texts between the parts of a list.
struct Separators {
    words: &'static str,
    /// Before the last part of an enumeration.
    conjunction: &'static str,
    disjunction: &'static str,
    clauses: &'static str,
}

fn separators(language: Language) -> Separators {
    match language {
        Language::English => {
            Separators { words: ", ", conjunction: " and ", disjunction: " or ", clauses: "; " }
        }
        Language::Chinese => {
            Separators { words: "、", conjunction: " 和 ", disjunction: " 或 ", clauses: "；" }
        }
    }
}

fn joined(parts: &[Text], language: Language, separator: &str) -> String {
    parts.iter().map(|part| part.in_language(language)).collect::<Vec<_>>().join(separator)
}

/// Joins the parts of an enumeration: `a, b and c`.
fn enumeration(parts: &[Text], language: Language, conjunction: &str) -> String {
    let words = separators(language).words;
    match parts {
        [all @ .., last] if !all.is_empty() => {
            joined(all, language, words) + conjunction + &last.in_language(language)
        }
        _ => joined(parts, language, words),
    }
}

/// Formats an integer: `154,463`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
