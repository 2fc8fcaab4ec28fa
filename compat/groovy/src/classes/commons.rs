//! Classes of commons-lang: `StringUtils`, `RandomStringUtils`, `StringEscapeUtils`.

use super::{Class, text_at};
use crate::error::{Eval, illegal};
use crate::value::Value;
use crate::vm::Vm;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("org.apache.commons.lang3.StringUtils", strings),
    Class::with_static("org.apache.commons.lang.StringUtils", strings),
    Class::with_static("org.apache.commons.lang3.RandomStringUtils", random_strings),
    Class::with_static("org.apache.commons.lang.RandomStringUtils", random_strings),
    Class::with_static("org.apache.commons.lang3.RandomUtils", random_numbers),
    Class::with_static("org.apache.commons.lang3.StringEscapeUtils", escapes),
    Class::with_static("org.apache.commons.lang.StringEscapeUtils", escapes),
    Class::with_static("org.apache.commons.text.StringEscapeUtils", escapes),
    Class::with_static("org.apache.commons.lang3.math.NumberUtils", numbers),
    Class::with_static("org.apache.commons.lang.math.NumberUtils", numbers),
    Class::with_static("java.text.MessageFormat", message_format),
];

fn strings(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let first = arguments.first().cloned().unwrap_or_default();
    // `StringUtils` accepts null where methods of `String` throw.
    let text = if first.is_null() { "".into() } else { vm.text(&first)? };
    let second = match arguments.get(1) {
        Some(value) if !value.is_null() => vm.text(value)?,
        _ => "".into(),
    };
    Ok(Some(match (name, arguments) {
        ("isEmpty" | "isNotEmpty", [_]) => Value::Bool(text.is_empty() == (name == "isEmpty")),
        ("isBlank" | "isNotBlank", [_]) => {
            Value::Bool(text.trim().is_empty() == (name == "isBlank"))
        }
        ("isNumeric" | "isAlpha" | "isAlphanumeric", [_]) => Value::Bool(
            !text.is_empty()
                && text.chars().all(|letter| match name {
                    "isNumeric" => letter.is_numeric(),
                    "isAlpha" => letter.is_alphabetic(),
                    _ => letter.is_alphanumeric(),
                }),
        ),
        ("defaultString" | "defaultIfEmpty" | "defaultIfBlank", _) => {
            if text.is_empty() {
                Value::Str(second)
            } else {
                Value::Str(text)
            }
        }
        ("substringBetween", [_, _, rest @ ..]) => {
            let close = match rest.first() {
                Some(close) => vm.text(close)?,
                None => second.clone(),
            };
            let inner = text.split_once(&*second).and_then(|(_, rest)| rest.split_once(&*close));
            Value::optional(inner.map(|(inner, _)| inner))
        }
        ("substringsBetween", [_, _, close]) => {
            let close = vm.text(close)?;
            let parts = text
                .split(&*second)
                .skip(1)
                .filter_map(|part| part.split_once(&*close))
                .map(|(inner, _)| Value::str(inner));
            Value::array(parts.collect())
        }
        ("substringAfter", [_, _]) => {
            Value::str(text.split_once(&*second).map_or("", |(_, after)| after))
        }
        ("substringAfterLast", [_, _]) => {
            Value::str(text.rsplit_once(&*second).map_or("", |(_, after)| after))
        }
        ("substringBefore", [_, _]) => {
            Value::str(text.split_once(&*second).map_or(&*text, |(before, _)| before))
        }
        ("substringBeforeLast", [_, _]) => {
            Value::str(text.rsplit_once(&*second).map_or(&*text, |(before, _)| before))
        }
        ("leftPad" | "rightPad" | "center", [_, rest @ ..]) => {
            let method = match name {
                "leftPad" => "padLeft",
                "rightPad" => "padRight",
                _ => "center",
            };
            vm.call_method(&Value::Str(text), method, rest)?
        }
        ("left", [_, count]) => {
            vm.call_method(&Value::Str(text), "take", std::slice::from_ref(count))?
        }
        ("right", [_, count]) => {
            vm.call_method(&Value::Str(text), "takeRight", std::slice::from_ref(count))?
        }
        ("countMatches", [_, _]) => {
            Value::count(if second.is_empty() { 0 } else { text.matches(&*second).count() })
        }
        ("equals", [_, other]) => Value::Bool(vm.equals(&first, other)?),
        ("join", [_, ..]) => vm.call_method(&first, "join", &[Value::Str(second)])?,
        ("remove", [_, _]) => vm.string(text.replace(&*second, ""))?,
        ("deleteWhitespace", [_]) => vm.string(text.split_whitespace().collect::<String>())?,
        ("normalizeSpace", [_]) => {
            vm.string(text.split_whitespace().collect::<Vec<_>>().join(" "))?
        }
        ("split", [_]) => vm.call_method(&Value::Str(text), "split", &[])?,
        // Unlike `String.split`, this takes a set of characters and drops empty parts.
        ("split", [_, separators]) => {
            vm.call_method(&Value::Str(text), "tokenize", std::slice::from_ref(separators))?
        }
        ("upperCase" | "lowerCase", [_]) => {
            vm.string(if name == "upperCase" { text.to_uppercase() } else { text.to_lowercase() })?
        }
        ("trimToEmpty" | "trimToNull" | "strip" | "stripToEmpty", [_]) => {
            let trimmed = text.trim();
            if trimmed.is_empty() && name == "trimToNull" {
                Value::Null
            } else {
                Value::str(trimmed)
            }
        }
        // Other methods have the names of methods of `String`.
        (_, [_, rest @ ..]) => {
            if first.is_null() {
                return Ok(Some(Value::Null));
            }
            if let Some(result) = parts(vm, name, arguments, Rc::clone(&text), &second)? {
                return Ok(Some(result));
            }
            return crate::methods::call(vm, &Value::Str(text), name, rest);
        }
        _ => return Ok(None),
    }))
}

/// Methods of `StringUtils` that take a part of a text, or add to it.
fn parts(
    vm: &mut Vm,
    name: &str,
    arguments: &[Value],
    text: Rc<str>,
    second: &str,
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("abbreviate", [_, most]) => {
            // Three dots and one character need a width of 4; Java refuses less.
            let most = usize::try_from(vm.to_long(most)?).unwrap_or(0).max(4);
            let length = text.chars().count();
            let prefix: String = text.chars().take(most - 3).collect();
            if length > most { vm.string(format!("{prefix}..."))? } else { Value::Str(text) }
        }
        ("mid", [_, begin, count]) => {
            let begin = vm.to_long(begin)?.max(0) as usize;
            let count = vm.to_long(count)?.max(0) as usize;
            vm.string(text.chars().skip(begin).take(count).collect::<String>())?
        }
        ("truncate", [_, most]) => {
            let most = vm.to_long(most)?.max(0) as usize;
            vm.string(text.chars().take(most).collect::<String>())?
        }
        ("difference", [_, _]) => {
            let same = text.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();
            vm.string(second.chars().skip(same).collect::<String>())?
        }
        ("stripEnd" | "stripStart" | "strip", [_, _]) => {
            let chars: Vec<char> = second.chars().collect();
            let start =
                if name == "stripEnd" { &text } else { text.trim_start_matches(&chars[..]) };
            Value::str(if name == "stripStart" {
                start
            } else {
                start.trim_end_matches(&chars[..])
            })
        }
        ("chomp", [_]) => {
            Value::str(text.strip_suffix('\n').map_or(&*text, |text| text.trim_end_matches('\r')))
        }
        ("chop", [_]) => vm.string(
            text.chars().take(text.chars().count().saturating_sub(1)).collect::<String>(),
        )?,
        ("removeStart", [_, _]) => Value::str(text.strip_prefix(second).unwrap_or(&text)),
        ("removeEnd", [_, _]) => Value::str(text.strip_suffix(second).unwrap_or(&text)),
        ("appendIfMissing", [_, _]) if text.ends_with(second) => Value::Str(text),
        ("appendIfMissing", [_, _]) => vm.string(format!("{text}{second}"))?,
        ("prependIfMissing", [_, _]) if text.starts_with(second) => Value::Str(text),
        ("prependIfMissing", [_, _]) => vm.string(format!("{second}{text}"))?,
        ("getDigits", [_]) => {
            vm.string(text.chars().filter(char::is_ascii_digit).collect::<String>())?
        }
        ("containsAny" | "equalsAny", [_, rest @ ..]) => {
            let mut is_any = false;
            for other in rest {
                let other = vm.text(other)?;
                is_any |=
                    if name == "equalsAny" { *text == *other } else { text.contains(&*other) };
            }
            Value::Bool(is_any)
        }
        ("swapCase", [_]) => vm.string(text.chars().map(swap_case).collect::<String>())?,
        _ => return Ok(None),
    }))
}

fn swap_case(letter: char) -> char {
    let other = if letter.is_lowercase() {
        letter.to_uppercase().next()
    } else {
        letter.to_lowercase().next()
    };
    other.unwrap_or(letter)
}

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

/// Random text of a length, from the given letters.
pub(super) fn random_text(vm: &mut Vm, count: i64, letters: &str) -> Eval<Value> {
    let count = usize::try_from(count)
        .map_err(|_| illegal(format!("Requested random string length {count} is less than 0.")))?;
    let letters: Vec<char> = letters.chars().collect();
    if letters.is_empty() {
        return Err(illegal("The chars array must not be empty"));
    }
    vm.tick(count)?;
    vm.alloc(count)?;
    let text: String =
        (0..count).map(|_| letters[vm.host.random() as usize % letters.len()]).collect();
    vm.string(text)
}

fn random_strings(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(count) = arguments.first() else { return Ok(None) };
    let mut count = vm.to_long(count)?;
    let letters = match (name, arguments) {
        ("random", [_, Value::Bool(with_letters), Value::Bool(with_digits)]) => {
            format!(
                "{}{}",
                if *with_letters { LETTERS } else { "" },
                if *with_digits { DIGITS } else { "" }
            )
        }
        ("random", [_, letters @ (Value::Str(_) | Value::List(_))]) => match letters {
            Value::Str(letters) => letters.to_string(),
            other => {
                let joined = vm.call_method(other, "join", &[])?;
                vm.text(&joined)?.to_string()
            }
        },
        ("randomAlphabetic", _) => LETTERS.to_owned(),
        ("randomNumeric", _) => DIGITS.to_owned(),
        ("randomAlphanumeric", _) => format!("{LETTERS}{DIGITS}"),
        ("random" | "randomAscii" | "randomPrint" | "randomGraph", _) => (' '..='~').collect(),
        _ => return Ok(None),
    };
    if let [_, most] = arguments
        && name != "random"
    {
        let most = vm.to_long(most)?;
        // `randomAlphabetic(least, most)` excludes the upper bound.
        let span = u64::try_from(most.saturating_sub(count)).unwrap_or(0).max(1);
        count = count.saturating_add((vm.host.random() % span) as i64);
    }
    random_text(vm, count, &letters).map(Some)
}

fn random_numbers(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let random = super::random(vm)?;
    Ok(match (name, arguments) {
        ("nextInt" | "nextLong" | "nextDouble" | "nextBoolean" | "nextFloat", _) => {
            Some(vm.call_method(&random, name, arguments)?)
        }
        _ => None,
    })
}

/// Characters and their entities in XML and HTML.
const MARKS: [(&str, &str); 5] =
    [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")];

fn escapes(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let text = text_at(vm, arguments, 0)?;
    let result = match name {
        "escapeJson" | "escapeJava" | "escapeEcmaScript" | "escapeJavaScript" => {
            let mut quoted = String::new();
            super::json::quote(&text, &mut quoted);
            quoted[1..quoted.len() - 1].to_owned()
        }
        "unescapeJson" | "unescapeJava" => {
            let value = super::json::parse(vm, &format!("\"{}\"", text.replace('\n', "\\n")))?;
            vm.text(&value)?.to_string()
        }
        _ if name.starts_with("escapeXml") || name.starts_with("escapeHtml") => {
            MARKS.iter().fold(text.to_string(), |text, (mark, entity)| text.replace(mark, entity))
        }
        _ if name.starts_with("unescapeXml") || name.starts_with("unescapeHtml") => {
            let text = text.replace("&apos;", "'").replace("&nbsp;", "\u{a0}");
            // `&amp;` is last, so that `&amp;lt;` becomes `&lt;` and not `<`.
            MARKS.iter().rev().fold(text, |text, (mark, entity)| text.replace(entity, mark))
        }
        "escapeCsv" if text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        "escapeCsv" | "unescapeCsv" => text.to_string(),
        _ => return Ok(None),
    };
    vm.string(result).map(Some)
}

/// Fills in placeholders such as `{0}`.
fn message_format(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let ("format", [pattern, values @ ..]) = (name, arguments) else { return Ok(None) };
    // Two quotes are one literal quote. Other quotes only enclose text.
    let mut text = vm.text(pattern)?.replace("''", "\u{0}");
    for (index, value) in values.iter().enumerate() {
        let shown = vm.text(value)?;
        text = text.replace(&format!("{{{index}}}"), &shown);
        vm.alloc(text.len())?;
    }
    vm.string(text.replace('\'', "").replace('\u{0}', "'")).map(Some)
}

fn numbers(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let text = arguments.first().map_or(Ok("".into()), |value| vm.text(value))?;
    let default = arguments.get(1).cloned();
    Ok(Some(match name {
        "toInt" => text.trim().parse().map_or(default.unwrap_or(Value::Int(0)), Value::Int),
        "toLong" => text.trim().parse().map_or(default.unwrap_or(Value::Long(0)), Value::Long),
        "toDouble" => {
            text.trim().parse().map_or(default.unwrap_or(Value::Double(0.0)), Value::Double)
        }
        "isNumber" | "isCreatable" | "isParsable" => Value::Bool(text.parse::<f64>().is_ok()),
        "isDigits" => {
            Value::Bool(!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        }
        _ => return Ok(None),
    }))
}
