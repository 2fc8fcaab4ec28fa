//! Finds the messages of texts that logs keep in English, for readers of another language.
//!
//! A log keeps texts, not messages, so it can be read without the catalog of the brunt that wrote
//! it. A part of a text without a message, such as an error of the system, stays in English.

use super::catalog::MESSAGES;
use super::{Language, Message, Text, Value};
use crate::text;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;
use regex::Regex;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The messages in English: texts of logs, and names of failures.
const SOURCE: &str =
    concat!(include_str!("../../texts/en/log.ftl"), include_str!("../../texts/en/failures.ftl"));

/// Length in bytes from which a text stays in English, which limits the time to find its message.
const TOO_LONG: usize = 2_000;

/// Kind of a text that logs keep. The ids of its messages begin with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedText {
    /// A warning of a run or an experiment.
    Warning,
    /// The cause of a protocol error.
    Cause,
    /// The condition of a check.
    Condition,
    /// The value that did not meet a condition. Only a missing value has a message; others are parts of a reply.
    Found,
}

impl LoggedText {
    /// Translates an English text.
    pub fn in_language(self, english: &str, language: Language) -> Cow<'_, str> {
        match language {
            Language::English => Cow::Borrowed(english),
            Language::Chinese => Cow::Owned(self.text(english).in_language(language).into_owned()),
        }
    }

    /// Returns the message with this English text. A text without a message is the same in all
    /// languages.
    pub fn text(self, english: &str) -> Text {
        let message = match self {
            _ if english.len() >= TOO_LONG => None,
            Self::Warning => warning(english),
            Self::Cause => text_of("cause", english),
            Self::Condition => text_of("condition", english),
            Self::Found => text_of("condition-found", english),
        };
        message.unwrap_or_else(|| english.into())
    }
}

fn warning(english: &str) -> Option<Text> {
    whole_warning(english).or_else(|| {
        // The name of a run or of a failure, and a sentence about it.
        let (subject, sentence) = english.split_once(": ")?;
        let failure = text_of("failure", subject);
        let warning = whole_warning(sentence);
        (failure.is_some() || warning.is_some()).then(|| {
            let run = failure.unwrap_or_else(|| subject.into());
            text!("of-run", run, sentence = warning.unwrap_or_else(|| sentence.into()))
        })
    })
}

fn whole_warning(english: &str) -> Option<Text> {
    text_of("warning", english).or_else(|| text_of("cause", english))
}

/// Returns the text of the first message of a kind, or of the first form of an argument, that fits.
fn text_of(group: &str, english: &str) -> Option<Text> {
    static LOGGED: OnceLock<Vec<LoggedMessage>> = OnceLock::new();
    let all = LOGGED.get_or_init(messages);
    all.iter().filter(|message| message.group == group).find_map(|message| message.text(english))
}

/// A message that can be found by its English text.
struct LoggedMessage {
    /// Kind of the text, such as `warning`. For a form of an argument, the kind and the argument:
    /// `warning-part`.
    group: &'static str,
    id: Cow<'static, str>,
    /// Fits the whole text. Each group is an argument.
    pattern: Regex,
    arguments: Vec<&'static str>,
}

impl LoggedMessage {
    fn new(
        group: &'static str,
        id: Cow<'static, str>,
        english: &Pattern<&'static str>,
    ) -> Option<Self> {
        let mut pattern = String::from(r"(?s)\A");
        let mut arguments = Vec::new();
        for element in &english.elements {
            match element {
                PatternElement::TextElement { value } => pattern += &regex::escape(value),
                PatternElement::Placeable {
                    expression: Expression::Inline(InlineExpression::VariableReference { id }),
                } => {
                    pattern += "(.+)";
                    arguments.push(id.name);
                }
                // Plurals are not needed in logs.
                PatternElement::Placeable { .. } => return None,
            }
        }
        let pattern = Regex::new(&(pattern + r"\z")).ok()?;
        Some(Self { group, id, pattern, arguments })
    }

    fn text(&self, english: &str) -> Option<Text> {
        let captures = self.pattern.captures(english)?;
        let values = captures.iter().skip(1).flatten().map(|value| value.as_str());
        let arguments = self.arguments.iter().zip(values);
        let arguments =
            arguments.map(|(name, value)| (*name, Value::from(self.argument(name, value))));
        let message =
            Message { catalog: &MESSAGES, id: self.id.clone(), arguments: arguments.collect() };
        Some(Text { english: english.to_owned(), message: Some(Box::new(message)) })
    }

    /// Returns the value of an argument. The argument `condition` of a condition is another condition.
    fn argument(&self, name: &str, value: &str) -> Text {
        let kind = kind_of(self.group);
        let group =
            if name == kind { Cow::Borrowed(kind) } else { format!("{kind}-{name}").into() };
        text_of(&group, value).unwrap_or_else(|| value.into())
    }
}

/// Returns the kind of a text from the id of a message.
fn kind_of(id: &'static str) -> &'static str {
    id.split_once('-').map_or(id, |(kind, _)| kind)
}

fn messages() -> Vec<LoggedMessage> {
    // A test checks the syntax of the catalogs.
    let resource = parser::parse(SOURCE).unwrap_or_else(|(resource, _)| resource);
    let messages = resource.body.into_iter().filter_map(|entry| match entry {
        Entry::Message(message) => Some(message),
        _ => None,
    });
    let mut all = Vec::new();
    for message in messages {
        let id = message.id.name;
        match &message.value {
            Some(value) => all.extend(LoggedMessage::new(kind_of(id), id.into(), value)),
            None => all.extend(message.attributes.iter().filter_map(|form| {
                LoggedMessage::new(id, format!("{id}.{}", form.id.name).into(), &form.value)
            })),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::MalformedReply;
    use crate::tally::sums::kinds;

    fn chinese(kind: LoggedText, english: &str) -> String {
        let text = kind.text(english);
        assert_eq!(text, english);
        text.in_language(Language::Chinese).into_owned()
    }

    #[test]
    fn each_cause_of_a_protocol_error_has_a_message() {
        let causes = (1..).map_while(kinds::MalformedReply::from_number);
        let causes: Vec<MalformedReply> = causes.collect();
        assert!(causes.len() > 80);
        for cause in causes {
            let english = cause.to_string();
            assert_ne!(chinese(LoggedText::Cause, &english), english);
        }
    }

    #[test]
    fn a_warning_is_found_with_its_arguments() {
        for (english, expected) in [
            (
                "process 2 of 3 ended before its time (killed by signal 9): from 1.5 s on its share of the load is missing, and its requests in flight count as cut",
                "进程 2（共 3 个）提前结束（killed by signal 9）：从第 1.5 秒起缺少其负载份额，其未完成的请求计为中断",
            ),
            ("setup: probe nginx=/status answers again", "准备阶段：探针 nginx=/status 恢复应答"),
            ("fast: probe a answers again", "fast：探针 a 恢复应答"),
            (
                "TLS handshake failed: the certificate has expired",
                "TLS 握手失败：the certificate has expired",
            ),
            (
                "`/a`: the extractor of `id` (json $.a) matched nothing in 20 samples; --trace shows the searched text",
                "`/a`：`id` 的提取器（json $.a）没有找到匹配（20 个样本）；--trace 显示被搜索的文本",
            ),
            ("a text: of a script", "a text: of a script"),
            ("", ""),
        ] {
            assert_eq!(chinese(LoggedText::Warning, english), expected);
        }
        let long = "setup: ".repeat(10_000);
        assert_eq!(chinese(LoggedText::Warning, &long), long);
    }

    #[test]
    fn only_a_missing_value_of_a_reply_is_translated() {
        for (english, expected) in [
            ("no match", "没有匹配"),
            ("nothing", "无"),
            ("the body is not JSON", "响应体不是 JSON"),
            ("status is `200`", "status is `200`"),
        ] {
            assert_eq!(chinese(LoggedText::Found, english), expected);
        }
    }

    #[test]
    fn texts_of_users_within_a_condition_stay() {
        for (english, expected) in [
            ("body contains `not here`", "响应体 包含 `not here`"),
            ("variable status does not match `a` or `b`", "变量 status 不匹配 `a` 或 `b`"),
            ("not json $.a is null", "不满足 json $.a 为 null"),
            ("status below 400", "状态为 400 以下"),
            ("status 200 to 299, 304", "状态为 200 至 299, 304"),
            ("size of the status text ≤ 9 bytes", "状态文本的大小 ≤ 9 字节"),
            ("total is 3", "total 是 3"),
        ] {
            assert_eq!(chinese(LoggedText::Condition, english), expected);
        }
    }
}
