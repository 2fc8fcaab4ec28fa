//! More methods of text: patterns, lines, numbers, formats, encodings.

use crate::classes::{codec, format, regex};
use crate::decimal::Decimal;
use crate::error::{Eval, number_format_error, throw};
use crate::value::Value;
use crate::vm::{Vm, double_of_text};
use std::rc::Rc;

pub(super) fn call(
    vm: &mut Vm,
    text: &Rc<str>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    if let Some(result) = patterns(vm, text, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = lines(vm, text, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = numbers(vm, text, name, arguments)? {
        return Ok(Some(result));
    }
    codes(vm, text, name, arguments)
}

fn patterns(vm: &mut Vm, text: &Rc<str>, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("matches", [pattern]) => regex::full_match(vm, &Value::Str(Rc::clone(text)), pattern)?,
        ("replaceAll", [pattern, Value::Closure(closure)]) => {
            regex::replace_each(vm, text, pattern, &Value::Closure(Rc::clone(closure)), usize::MAX)?
        }
        ("replaceFirst", [pattern, Value::Closure(closure)]) => {
            regex::replace_each(vm, text, pattern, &Value::Closure(Rc::clone(closure)), 1)?
        }
        ("replaceAll", [pattern, with]) => {
            let with = vm.text(with)?;
            regex::replace_all(vm, text, pattern, &with)?
        }
        ("replaceFirst", [pattern, with]) => {
            let with = vm.text(with)?;
            regex::replace_first(vm, text, pattern, &with)?
        }
        ("split", []) => {
            let words: Vec<Value> = text.split_whitespace().map(Value::str).collect();
            vm.alloc(text.len() + words.len() * 40)?;
            Value::array(words)
        }
        ("split", [pattern]) => regex::split(vm, text, pattern, 0)?,
        ("split", [pattern, limit]) => {
            let limit = vm.to_long(limit)?;
            regex::split(vm, text, pattern, limit)?
        }
        ("find", [pattern]) if !matches!(pattern, Value::Closure(_)) => {
            let matcher = regex::find(vm, &Value::Str(Rc::clone(text)), pattern)?;
            let is_match = vm.call_method(&matcher, "find", &[])?;
            if vm.truth(&is_match)? { vm.call_method(&matcher, "group", &[])? } else { Value::Null }
        }
        ("find", [pattern, closure @ Value::Closure(_)]) => {
            let matcher = regex::find(vm, &Value::Str(Rc::clone(text)), pattern)?;
            let first = vm.items(&matcher)?.into_iter().next();
            first.map_or(Ok(Value::Null), |first| vm.call_closure(closure, &[first]))?
        }
        ("findAll", [pattern]) if !matches!(pattern, Value::Closure(_)) => {
            let matcher = regex::find(vm, &Value::Str(Rc::clone(text)), pattern)?;
            let items = vm.items(&matcher)?;
            let mut matches = Vec::new();
            for item in items {
                matches.push(if let Value::List(_) = item {
                    vm.index(&item, &Value::Int(0))?
                } else {
                    item
                });
            }
            vm.new_list(matches)?
        }
        ("eachMatch", [pattern, closure]) => {
            let matcher = regex::find(vm, &Value::Str(Rc::clone(text)), pattern)?;
            vm.call_method(&matcher, "each", std::slice::from_ref(closure))?;
            Value::Str(Rc::clone(text))
        }
        ("bitwiseNegate", []) => regex::pattern(vm, text, 0)?,
        _ => return Ok(None),
    }))
}

fn lines(vm: &mut Vm, text: &Rc<str>, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("tokenize", rest) => {
            let separators = match rest.first() {
                Some(separators) => vm.text(separators)?,
                None => " \t\n\r\u{c}".into(),
            };
            vm.alloc(text.len() * 2)?;
            let parts =
                text.split(|letter| separators.contains(letter)).filter(|part| !part.is_empty());
            let parts: Vec<Value> = parts.map(Value::str).collect();
            vm.new_list(parts)?
        }
        ("readLines" | "lines", []) => {
            vm.alloc(text.len())?;
            let lines: Vec<Value> = text.lines().map(Value::str).collect();
            vm.new_list(lines)?
        }
        ("eachLine" | "splitEachLine", [rest @ .., closure]) => {
            let mut last = Value::Null;
            // Groovy numbers the lines of a text from 0 by default, those of a file from 1.
            let first_line = match rest {
                [first_line] if name == "eachLine" => vm.to_long(first_line)?,
                _ => 0,
            };
            let takes_line_number = Vm::arity(closure) > 1 && name == "eachLine";
            for (index, line) in text.lines().enumerate() {
                let line = vm.string(line)?;
                last = if name == "splitEachLine" {
                    let parts = vm.call_method(&line, "split", rest)?;
                    let parts = vm.items(&parts)?;
                    vm.call_closure(closure, &[Value::list(parts)])?
                } else if takes_line_number {
                    vm.call_closure(
                        closure,
                        &[line, Value::integer(first_line.saturating_add(index as i64))],
                    )?
                } else {
                    vm.call_closure(closure, &[line])?
                };
            }
            last
        }
        ("stripIndent" | "stripMargin", [] | [_]) => {
            let margin = match arguments {
                [margin] if name == "stripMargin" => Some(vm.text(margin)?),
                [] if name == "stripMargin" => Some("|".into()),
                _ => None,
            };
            let indent = match arguments {
                [indent] if name == "stripIndent" => {
                    usize::try_from(vm.to_long(indent)?).unwrap_or(0)
                }
                _ => text
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .map(|line| line.len() - line.trim_start().len())
                    .min()
                    .unwrap_or(0),
            };
            let lines = text.split('\n').map(|line| match &margin {
                Some(margin) => line.trim_start().strip_prefix(&**margin).unwrap_or(line),
                None => line.get(indent..).unwrap_or(""),
            });
            let lines: Vec<&str> = lines.collect();
            vm.string(lines.join("\n"))?
        }
        // The line separator of the system, to which `denormalize` converts, is `\n`.
        ("denormalize" | "normalize", []) => {
            vm.string(text.replace("\r\n", "\n").replace('\r', "\n"))?
        }
        ("padLeft" | "padRight" | "center", [width, rest @ ..]) => {
            let width = usize::try_from(vm.to_long(width)?).unwrap_or(0);
            let fill = match rest.first() {
                Some(fill) => vm.text(fill)?,
                None => " ".into(),
            };
            let missing = width.saturating_sub(super::string::length(text));
            vm.alloc(text.len() + missing.saturating_mul(fill.len()))?;
            let left_count = match name {
                "padLeft" => missing,
                "padRight" => 0,
                _ => missing / 2,
            };
            let left_fill: String = fill.chars().cycle().take(left_count).collect();
            let right_fill: String = fill.chars().cycle().take(missing - left_count).collect();
            vm.string(format!("{left_fill}{text}{right_fill}"))?
        }
        ("take" | "drop" | "takeRight" | "dropRight", [count]) => {
            let length = super::string::length(text) as i64;
            let count = vm.to_long(count)?.clamp(0, length);
            let (begin, end) = match name {
                "take" => (0, count),
                "drop" => (count, length),
                "takeRight" => (length - count, length),
                _ => (0, length - count),
            };
            super::string::substring(vm, text, begin, Some(end))?
        }
        ("next" | "previous", []) => {
            let mut letters: Vec<char> = text.chars().collect();
            if let Some(last) = letters.last_mut() {
                let step = if name == "next" { 1 } else { -1 };
                *last = char::from_u32((*last as u32).wrapping_add_signed(step)).unwrap_or(*last);
            }
            vm.string(letters.into_iter().collect::<String>())?
        }
        _ => return Ok(None),
    }))
}

fn numbers(vm: &mut Vm, text: &Rc<str>, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let digits = text.trim();
    Ok(Some(match (name, arguments) {
        ("toShort", []) => {
            Value::Int(digits.parse::<i16>().map(i32::from).map_err(|_| number_format_error(text))?)
        }
        ("toInteger" | "intValue" | "asInteger", []) => {
            Value::Int(digits.parse().map_err(|_| number_format_error(text))?)
        }
        ("toLong" | "asLong" | "longValue", []) => {
            Value::Long(digits.parse().map_err(|_| number_format_error(text))?)
        }
        ("toDouble" | "asDouble" | "doubleValue", []) => {
            Value::Double(double_of_text(text).ok_or_else(|| number_format_error(text))?)
        }
        // Parsed as `float`, because a conversion from `double` would round twice.
        ("toFloat", []) => {
            double_of_text(text).ok_or_else(|| number_format_error(text))?;
            let digits = digits.trim_end_matches(['d', 'D', 'f', 'F']);
            Value::Float(digits.parse().map_err(|_| number_format_error(text))?)
        }
        ("toBigDecimal" | "asBigDecimal", []) => {
            Decimal::parse(digits).map(Value::decimal).ok_or_else(|| number_format_error(text))?
        }
        ("toBigInteger", []) => vm.to_big(&Value::str(digits)).map(Value::big)?,
        // Groovy's words for true.
        ("toBoolean", []) => Value::Bool(matches!(&*digits.to_lowercase(), "true" | "y" | "1")),
        ("isDouble" | "isFloat", []) => Value::Bool(double_of_text(text).is_some()),
        ("isNumber" | "isBigDecimal", []) => Value::Bool(Decimal::parse(digits).is_some()),
        ("isInteger", []) => Value::Bool(digits.parse::<i32>().is_ok()),
        ("isLong", []) => Value::Bool(digits.parse::<i64>().is_ok()),
        ("isBigInteger", []) => Value::Bool(vm.to_big(&Value::str(digits)).is_ok()),
        ("format" | "formatted", _) => {
            let formatted = format::format(vm, text, arguments)?;
            vm.string(formatted)?
        }
        ("isNumeric", []) => Value::Bool(!text.is_empty() && text.chars().all(char::is_numeric)),
        _ => return Ok(None),
    }))
}

fn codes(vm: &mut Vm, text: &Rc<str>, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    vm.tick(1)?;
    Ok(Some(match (name, arguments) {
        ("md5", []) => vm.string(codec::hex(&codec::digest("MD5", text.as_bytes())?))?,
        ("sha1", []) => vm.string(codec::hex(&codec::digest("SHA-1", text.as_bytes())?))?,
        ("sha256", []) => vm.string(codec::hex(&codec::digest("SHA-256", text.as_bytes())?))?,
        ("digest", [algorithm]) => {
            let algorithm = vm.text(algorithm)?;
            vm.string(codec::hex(&codec::digest(&algorithm, text.as_bytes())?))?
        }
        ("encodeBase64" | "encodeBase64Url", []) => {
            codec::groovy_base64(text.as_bytes(), name, false)
        }
        ("decodeBase64" | "decodeBase64Url", []) => {
            Value::bytes(codec::groovy_base64_decode(text, name)?)
        }
        ("decodeHex", []) => Value::bytes(codec::unhex(text)?),
        ("encodeHex", []) => vm.string(codec::hex(text.as_bytes()))?,
        ("execute", _) => execute(vm, &[text.to_string()])?,
        ("toURL" | "toURI", []) => {
            crate::classes::net::make_url(vm, "java.net.URL", &[Value::Str(Rc::clone(text))])?
        }
        ("asBoolean", []) => Value::Bool(!text.is_empty()),
        // A character set is represented by its name.
        ("name" | "displayName", []) => Value::Str(Rc::clone(text)),
        ("codePointCount", _) => Value::count(text.chars().count()),
        ("isSurrogate", _) => Value::Bool(false),
        _ => return Ok(None),
    }))
}

/// Runs a process, if the host allows it.
pub(crate) fn execute(vm: &mut Vm, command: &[String]) -> Eval<Value> {
    match vm.host.exec(command) {
        Ok(output) => Ok(crate::classes::io::process(output)),
        Err(message) => Err(throw("java.lang.SecurityException", message)),
    }
}
