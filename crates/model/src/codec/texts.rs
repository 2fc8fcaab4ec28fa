//! Converts texts: each has its English sentence, so a reader without its message can show it.
//!
//! `#[serde(with = "texts")]` stores a list of texts with their messages as JSON. Elsewhere, JSON has only the sentence.

use super::wire::{Argument, ArgumentValue, Text as TextMessage, Texts};
use crate::Text;
use crate::text::{MESSAGES, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum depth of texts within texts; deeper ones stay English. A message may show an argument twice, so the length
/// could double at each level.
const MAX_DEPTH: usize = 8;

/// Writes texts with their messages.
///
/// # Errors
///
/// The serializer fails.
pub fn serialize<S: Serializer>(texts: &[Text], serializer: S) -> Result<S::Ok, S::Error> {
    messages(texts).serialize(serializer)
}

/// Reads texts with their messages.
///
/// # Errors
///
/// The deserializer fails, or its value is no list of texts.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    Ok(Vec::<TextMessage>::deserialize(deserializer)?.into_iter().map(Into::into).collect())
}

impl From<&Text> for TextMessage {
    fn from(text: &Text) -> Self {
        let (id, arguments) = text.message().unzip();
        let arguments = arguments.into_iter().flatten().map(|(name, value)| Argument {
            name: name.clone().into_owned(),
            argument_value: Some(value.into()),
        });
        Self {
            english: text.to_string(),
            id: id.unwrap_or_default().to_owned(),
            arguments: arguments.collect(),
        }
    }
}

impl From<&Value> for ArgumentValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Count(number) => Self::Count(*number),
            Value::Text(text) => Self::Text(text.into()),
            Value::List(parts) => Self::List(parts.into()),
            Value::Alternatives(parts) => Self::Alternatives(parts.into()),
            Value::Clauses(parts) => Self::Clauses(parts.into()),
            Value::Words(parts) => Self::Words(parts.into()),
            Value::Series(parts) => Self::Series(parts.into()),
        }
    }
}

impl From<&Vec<Text>> for Texts {
    fn from(texts: &Vec<Text>) -> Self {
        Self { texts: messages(texts) }
    }
}

impl From<TextMessage> for Text {
    fn from(message: TextMessage) -> Self {
        text(message, MAX_DEPTH)
    }
}

fn messages(texts: &[Text]) -> Vec<TextMessage> {
    texts.iter().map(Into::into).collect()
}

fn text(message: TextMessage, depth: usize) -> Text {
    let TextMessage { english, id, arguments } = message;
    if id.is_empty() || depth == 0 {
        return english.into();
    }
    // An argument of a later version has a value of an unknown kind. Without it, the text is English.
    let arguments = arguments
        .into_iter()
        .filter_map(|one| Some((one.name.into(), value(one.argument_value?, depth - 1))));
    Text::of_stored(&MESSAGES, english, id, arguments.collect())
}

fn value(value: ArgumentValue, depth: usize) -> Value {
    match value {
        ArgumentValue::Count(number) => Value::Count(number),
        ArgumentValue::Text(part) => Value::Text(text(part, depth)),
        ArgumentValue::List(parts) => Value::List(texts(parts, depth)),
        ArgumentValue::Alternatives(parts) => Value::Alternatives(texts(parts, depth)),
        ArgumentValue::Clauses(parts) => Value::Clauses(texts(parts, depth)),
        ArgumentValue::Words(parts) => Value::Words(texts(parts, depth)),
        ArgumentValue::Series(parts) => Value::Series(texts(parts, depth)),
    }
}

fn texts(parts: Texts, depth: usize) -> Vec<Text> {
    parts.texts.into_iter().map(|part| text(part, depth)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Decoded, decode, encode};
    use crate::{CheckFailure, Event, Finish, Language, Tick, Warning, text};

    /// Texts of users with words of messages, or with the syntax of the catalogs.
    fn texts_of_users() -> Vec<String> {
        let mut texts: Vec<String> = [
            "the answer is 42",
            "x is missing, or null",
            "nothing",
            "no match",
            "the body is not JSON",
            "setup: a and b or `c` contains \"d\"",
            "{ $values } {braces} {\"{\"} -term = { $x -> *[other] y }",
            "变量 是 包含\u{2068}\0\n",
        ]
        .map(str::to_owned)
        .into();
        texts.push("is ".repeat(1000));
        texts
    }

    /// Returns the texts of events after a log.
    fn logged(text: &Text) -> Vec<Text> {
        let at = Tick(1);
        let events = [
            Event::Warning(Warning { at, text: text.clone() }),
            Event::Finished(Finish { at, interrupted: false, error: Some(text.clone()) }),
            Event::CheckFailures(vec![CheckFailure::new("check", text.clone(), text.clone())]),
        ];
        let mut texts = Vec::new();
        for event in events {
            match decode(&encode(&event).unwrap()) {
                Some(Decoded::Known(Event::Warning(warning))) => texts.push(warning.text),
                Some(Decoded::Known(Event::Finished(finish))) => texts.extend(finish.error),
                Some(Decoded::Known(Event::CheckFailures(failures))) => texts
                    .extend(failures.into_iter().flat_map(|check| [check.expected, check.found])),
                other => panic!("{other:?}"),
            }
        }
        let json = serialize(std::slice::from_ref(text), serde_json::value::Serializer).unwrap();
        texts.extend(deserialize(json).unwrap());
        texts
    }

    #[test]
    fn texts_of_users_are_the_same_in_all_languages() {
        for user in texts_of_users() {
            let part = text!("condition-part.variable", name = &*user);
            let values = Value::Alternatives(vec![user.as_str().into(), "b".into()]);
            let condition = text!("condition-contains", part, values);
            let warning = text!("warning-stage-setup", warning = condition.clone());
            for (text, english, chinese) in [
                (Text::from(user.as_str()), user.clone(), user.clone()),
                (
                    condition,
                    format!("variable {user} contains {user} or b"),
                    format!("变量 {user} 包含 {user} 或 b"),
                ),
                (
                    warning,
                    format!("setup: variable {user} contains {user} or b"),
                    format!("准备阶段：变量 {user} 包含 {user} 或 b"),
                ),
            ] {
                let texts = logged(&text);
                assert_eq!(texts.len(), 5);
                for text in texts {
                    assert_eq!(text, english);
                    assert_eq!(text.in_language(Language::Chinese), chinese);
                }
            }
        }
    }

    #[test]
    fn all_kinds_of_arguments_are_kept() {
        let parts = ["a", "b", "c"].map(Text::from).to_vec();
        for (value, chinese) in [
            (Value::Count(1234), "1,234"),
            (Value::List(parts.clone()), "a、b 和 c"),
            (Value::Alternatives(parts.clone()), "a、b 或 c"),
            (Value::Clauses(parts.clone()), "a，b，c"),
            (Value::Words(parts.clone()), "a、b、c"),
            (Value::Series(parts.clone()), "a；b；c"),
        ] {
            let text = text!("words", words = value);
            for text in logged(&text) {
                assert_eq!(text.in_language(Language::Chinese), chinese);
            }
        }
    }

    #[test]
    fn a_message_of_a_later_version_is_english() {
        let known = Some(ArgumentValue::Text(TextMessage::default()));
        for (id, argument_value, chinese) in [
            ("warning-stage-setup", known.clone(), "准备阶段："),
            ("warning-stage-setup", None, "in English"),
            ("warning-stage-later", known, "in English"),
        ] {
            let text = Text::from(TextMessage {
                english: "in English".into(),
                id: id.into(),
                arguments: vec![Argument { name: "warning".into(), argument_value }],
            });
            assert_eq!(text.in_language(Language::Chinese), chinese);
        }
    }

    #[test]
    fn deep_texts_are_english() {
        let mut text = Text::from("a");
        for _ in 0..20 {
            text = text!("warning-stage-setup", warning = text);
        }
        for text in logged(&text) {
            let chinese = text.in_language(Language::Chinese);
            assert_eq!(chinese.matches("准备阶段：").count(), MAX_DEPTH);
            assert_eq!(chinese.matches("setup: ").count(), 20 - MAX_DEPTH);
        }
    }
}
