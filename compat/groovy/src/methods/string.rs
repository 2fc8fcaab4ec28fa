//! Methods of text. As in Java, indices count UTF-16 units.

use crate::error::{Eval, illegal, no_text_index, throw};
use crate::value::Value;
use crate::vm::Vm;
use std::rc::Rc;

/// Length of a text in UTF-16 units.
pub(crate) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Part of a text between two valid indices.
fn part(text: &str, begin: usize, end: usize) -> String {
    if text.is_ascii() {
        return text[begin..end].to_owned();
    }
    let units: Vec<u16> = text.encode_utf16().skip(begin).take(end - begin).collect();
    String::from_utf16_lossy(&units)
}

/// Implements the method `substring`.
pub(crate) fn substring(vm: &mut Vm, text: &str, begin: i64, end: Option<i64>) -> Eval<Value> {
    let length = length(text);
    vm.tick(length / 32)?;
    let end = end.unwrap_or(length as i64);
    if begin < 0 || end > length as i64 || begin > end {
        return Err(no_text_index(begin, end, length));
    }
    let part = part(text, begin as usize, end as usize);
    vm.string(part)
}

/// Implements the expression `text[index]`.
pub(crate) fn letter_at(vm: &mut Vm, text: &str, index: i64) -> Eval<Value> {
    let length = length(text);
    vm.tick(length / 32)?;
    let position = if index < 0 { index + length as i64 } else { index };
    if position < 0 || position >= length as i64 {
        return Err(throw(
            "java.lang.StringIndexOutOfBoundsException",
            format!("String index out of range: {index}"),
        ));
    }
    let part = part(text, position as usize, position as usize + 1);
    vm.string(part)
}

/// Implements the expression `text[from..to]`.
pub(crate) fn slice(vm: &mut Vm, text: &str, from: i64, to: i64, empty: bool) -> Eval<Value> {
    if empty {
        return Ok(Value::str(""));
    }
    let length = length(text) as i64;
    let from = absolute_index(from, length);
    let to = absolute_index(to, length);
    let Value::Str(part) = substring(vm, text, from.min(to), Some(from.max(to).saturating_add(1)))?
    else {
        return Ok(Value::Null);
    };
    Ok(if from > to {
        Value::from(part.chars().rev().collect::<String>())
    } else {
        Value::Str(part)
    })
}

/// Converts a negative index, which counts from the end.
pub(crate) fn absolute_index(index: i64, length: i64) -> i64 {
    if index < 0 { index + length } else { index }
}

/// Converts a byte position to an index in UTF-16 units.
pub(crate) fn unit_index(text: &str, byte: usize) -> i64 {
    length(&text[..byte]) as i64
}

/// Converts an index in UTF-16 units to a byte position, limited to the text.
pub(crate) fn byte_index(text: &str, unit: i64) -> usize {
    if unit <= 0 {
        return 0;
    }
    let mut units = 0_i64;
    for (byte, letter) in text.char_indices() {
        if units >= unit {
            return byte;
        }
        units += letter.len_utf16() as i64;
    }
    text.len()
}

/// Java's `Character.isWhitespace`, which excludes the no-break spaces.
fn is_java_space(letter: char) -> bool {
    matches!(letter, '\u{1c}'..='\u{1f}')
        || letter.is_whitespace()
            && !matches!(letter, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

/// An argument as text. Fails if it is null.
fn text_of(vm: &mut Vm, value: &Value) -> Eval<Rc<str>> {
    if value.is_null() {
        return Err(throw(
            "java.lang.NullPointerException",
            "a text is expected, and the argument is null",
        ));
    }
    vm.text(value)
}

pub(super) fn call(
    vm: &mut Vm,
    text: &Rc<str>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    vm.tick(text.len() / 64)?;
    if let Some(result) = plain(vm, text, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = search_method(vm, text, name, arguments)? {
        return Ok(Some(result));
    }
    super::string_more::call(vm, text, name, arguments)
}

/// Methods that only read or convert the text.
fn plain(vm: &mut Vm, text: &Rc<str>, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("length" | "size", []) => Value::count(length(text)),
        (
            "toString" | "intern" | "toGString" | "strip" | "trim" | "stripLeading"
            | "stripTrailing",
            [],
        ) => match name {
            // Java's `trim` removes all control characters, but no white space beyond ASCII.
            "trim" => vm.string(text.trim_matches(|letter: char| letter <= ' '))?,
            "strip" => vm.string(text.trim_matches(is_java_space))?,
            "stripLeading" => vm.string(text.trim_start_matches(is_java_space))?,
            "stripTrailing" => vm.string(text.trim_end_matches(is_java_space))?,
            _ => Value::Str(Rc::clone(text)),
        },
        ("isEmpty", []) => Value::Bool(text.is_empty()),
        ("isBlank" | "isAllWhitespace", []) => Value::Bool(text.chars().all(is_java_space)),
        ("toUpperCase", _) => vm.string(text.to_uppercase())?,
        ("toLowerCase", _) => vm.string(text.to_lowercase())?,
        ("capitalize" | "uncapitalize", []) => {
            let mut letters = text.chars();
            let first: String = match letters.next() {
                Some(first) if name == "capitalize" => first.to_uppercase().collect(),
                Some(first) => first.to_lowercase().collect(),
                None => String::new(),
            };
            vm.string(format!("{first}{}", letters.as_str()))?
        }
        ("reverse", []) => vm.string(text.chars().rev().collect::<String>())?,
        ("charAt", [index]) => {
            let index = vm.to_index(index)?;
            if index < 0 {
                return Err(no_text_index(index, index, length(text)));
            }
            match letter_at(vm, text, index)? {
                Value::Str(letter) => Value::Char(letter.chars().next().unwrap_or('\0')),
                other => other,
            }
        }
        ("codePointAt", [index]) => {
            let index = vm.to_index(index)?;
            let letter = text[byte_index(text, index)..].chars().next();
            Value::Int(letter.map_or(0, |letter| letter as i32))
        }
        ("getAt", [index]) => vm.index(&Value::Str(Rc::clone(text)), index)?,
        ("toCharArray" | "getChars", []) => {
            vm.alloc(text.len() * 24)?;
            Value::array(text.chars().map(Value::Char).collect())
        }
        ("toList" | "collect", []) => {
            let items = vm.items(&Value::Str(Rc::clone(text)))?;
            vm.new_list(items)?
        }
        ("chars" | "codePoints", []) => {
            vm.alloc(text.len() * 24)?;
            Value::list(text.chars().map(|letter| Value::Int(letter as i32)).collect())
        }
        ("getBytes", _) => {
            vm.alloc(text.len() * 4)?;
            let charset = crate::classes::charset::Charset::of_optional(vm, arguments.first())?;
            Value::bytes(charset.encode(text))
        }
        ("substring" | "subSequence", [begin]) => {
            let begin = vm.to_index(begin)?;
            substring(vm, text, begin, None)?
        }
        ("substring" | "subSequence", [begin, end]) => {
            let begin = vm.to_index(begin)?;
            let end = vm.to_index(end)?;
            substring(vm, text, begin, Some(end))?
        }
        ("concat", [other]) => {
            let other = text_of(vm, other)?;
            vm.string(format!("{text}{other}"))?
        }
        ("plus", [other]) => {
            let other = vm.text(other)?;
            vm.string(format!("{text}{other}"))?
        }
        // In Groovy, `text << other` is a `StringBuffer`.
        ("leftShift", [other]) => {
            let other = vm.text(other)?;
            crate::classes::builder::make(
                vm,
                "java.lang.StringBuffer",
                &[Value::from(format!("{text}{other}"))],
            )?
        }
        ("multiply" | "repeat", [count]) => {
            let count = vm.to_long(count)?;
            let count = usize::try_from(count).map_err(|_| match name {
                "repeat" => illegal(format!("count is negative: {count}")),
                _ => illegal(format!(
                    "multiply() should be called with a number of 0 or greater not: {count}"
                )),
            })?;
            vm.alloc(text.len().saturating_mul(count))?;
            Value::from(text.repeat(count))
        }
        ("equals" | "contentEquals", [other]) => match other {
            Value::Str(other) => Value::Bool(text == other),
            Value::Native(_) if name == "contentEquals" => Value::Bool(*vm.text(other)? == **text),
            _ => Value::Bool(false),
        },
        ("equalsIgnoreCase", [other]) => {
            let is_equal = !other.is_null() && fold_case(&vm.text(other)?) == fold_case(text);
            Value::Bool(is_equal)
        }
        ("compareTo" | "compareToIgnoreCase", [other]) => {
            let other = text_of(vm, other)?;
            let mut a = text.to_string();
            let mut b = other.to_string();
            if name == "compareToIgnoreCase" {
                a = fold_case(&a);
                b = fold_case(&b);
            }
            Value::Int(java_compare(&a, &b))
        }
        _ => return Ok(None),
    }))
}

/// Converts a text for a comparison without case. Like Java, it converts each character by itself,
/// so that `ß` differs from `ss`.
pub(crate) fn fold_case(text: &str) -> String {
    text.chars()
        .map(|letter| {
            let upper = only(letter.to_uppercase()).unwrap_or(letter);
            only(upper.to_lowercase()).unwrap_or(upper)
        })
        .collect()
}

/// The only character of a sequence; `None` if there are several.
fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

/// Java's `compareTo`: the difference of the first units that differ, or of the lengths.
fn java_compare(left: &str, right: &str) -> i32 {
    let a: Vec<u16> = left.encode_utf16().collect();
    let b: Vec<u16> = right.encode_utf16().collect();
    for (a, b) in a.iter().zip(&b) {
        if a != b {
            return i32::from(*a) - i32::from(*b);
        }
    }
    a.len() as i32 - b.len() as i32
}

/// Methods that search or replace a literal text.
fn search_method(
    vm: &mut Vm,
    text: &Rc<str>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("contains", [other]) => {
            let other = text_of(vm, other)?;
            Value::Bool(text.contains(&*other))
        }
        ("containsIgnoreCase" | "startsWithIgnoreCase" | "endsWithIgnoreCase", [other]) => {
            if other.is_null() {
                return Ok(Some(Value::Bool(false)));
            }
            let other = fold_case(&vm.text(other)?);
            let text = fold_case(text);
            Value::Bool(match name {
                // In Groovy, no text contains an empty one.
                _ if other.is_empty() => false,
                "containsIgnoreCase" => text.contains(&other),
                "startsWithIgnoreCase" => text.starts_with(&other),
                _ => text.ends_with(&other),
            })
        }
        ("startsWith", [other]) => {
            let other = text_of(vm, other)?;
            Value::Bool(text.starts_with(&*other))
        }
        ("startsWith", [other, from]) => {
            let other = text_of(vm, other)?;
            let from = vm.to_index(from)?;
            Value::Bool(text[byte_index(text, from)..].starts_with(&*other))
        }
        ("endsWith", [other]) => {
            let other = text_of(vm, other)?;
            Value::Bool(text.ends_with(&*other))
        }
        ("startsWithAny" | "endsWithAny", affixes) => {
            let affixes = match affixes {
                [array @ Value::List(_)] => vm.items(array)?,
                affixes => affixes.to_vec(),
            };
            for affix in affixes {
                let affix = text_of(vm, &affix)?;
                if if name == "startsWithAny" {
                    text.starts_with(&*affix)
                } else {
                    text.ends_with(&*affix)
                } {
                    return Ok(Some(Value::Bool(true)));
                }
            }
            Value::Bool(false)
        }
        ("indexOf", [other, rest @ ..]) => {
            let other = needle(vm, other)?;
            let from = match rest.first() {
                Some(from) => vm.to_index(from)?,
                None => 0,
            };
            let begin = byte_index(text, from);
            let index =
                text[begin..].find(&*other).map(|position| unit_index(text, begin + position));
            Value::Int(index.unwrap_or(-1) as i32)
        }
        ("lastIndexOf", [other, rest @ ..]) => {
            let other = needle(vm, other)?;
            let end = match rest.first() {
                Some(from) => {
                    let from = vm.to_index(from)?;
                    let end =
                        byte_index(text, from.saturating_add(1)) + other.len().saturating_sub(1);
                    let mut end = end.min(text.len());
                    // The end must not split a character.
                    while !text.is_char_boundary(end) {
                        end += 1;
                    }
                    end
                }
                None => text.len(),
            };
            let index = text[..end].rfind(&*other).map(|position| unit_index(text, position));
            Value::Int(index.unwrap_or(-1) as i32)
        }
        ("count", [other]) if !matches!(other, Value::Closure(_)) => {
            let other = text_of(vm, other)?;
            // Groovy counts matches that overlap, and an empty text at each index.
            let starts = text
                .char_indices()
                .filter(|(position, _)| text[*position..].starts_with(&*other))
                .count();
            Value::count(if other.is_empty() { length(text) + 1 } else { starts })
        }
        ("minus", [other]) => {
            if let Value::Native(_) = other {
                return Ok(Some(crate::classes::regex::replace_first(vm, text, other, "")?));
            }
            let other = vm.text(other)?;
            vm.string(text.replacen(&*other, "", 1))?
        }
        ("replace", [from, to]) => {
            let from = text_of(vm, from)?;
            let to = text_of(vm, to)?;
            // Counted before the replacement, because the result may be very long.
            let count = if from.is_empty() { text.len() + 1 } else { text.matches(&*from).count() };
            vm.alloc(text.len() + count.saturating_mul(to.len()))?;
            vm.string(text.replace(&*from, &to))?
        }
        ("replace", [Value::Map(map)]) => {
            let mut result = text.to_string();
            for (from, to) in map.pairs() {
                let from = vm.text(&from)?;
                let to = vm.text(&to)?;
                vm.alloc(result.len().saturating_mul(to.len() + 1))?;
                result = result.replace(&*from, &to);
            }
            vm.string(result)?
        }
        _ => return Ok(None),
    }))
}

/// Search argument: a text, or the code of a character.
fn needle(vm: &mut Vm, value: &Value) -> Eval<Rc<str>> {
    match value {
        Value::Int(code) => {
            Ok(char::from_u32(*code as u32).unwrap_or('\u{fffd}').to_string().into())
        }
        other => text_of(vm, other),
    }
}
