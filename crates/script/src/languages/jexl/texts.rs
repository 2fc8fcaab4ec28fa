//! Methods of strings and lists.

use super::{Value, matches};
use crate::texts::pattern::Pattern;

/// The methods that are known.
pub const METHODS: [&str; 24] = [
    "length",
    "size",
    "isEmpty",
    "contains",
    "startsWith",
    "endsWith",
    "equals",
    "equalsIgnoreCase",
    "indexOf",
    "lastIndexOf",
    "substring",
    "charAt",
    "toLowerCase",
    "toUpperCase",
    "trim",
    "strip",
    "concat",
    "replace",
    "replaceAll",
    "replaceFirst",
    "matches",
    "toString",
    "compareTo",
    // Of a thread group, which is its name.
    "getName",
];

/// The value of a method.
///
/// # Errors
///
/// The value or an argument is of the wrong kind.
pub fn call(subject: &Value, name: &str, arguments: &[Value]) -> Result<Value, String> {
    if *subject == Value::Null {
        return Err(format!("`{name}` is called of null"));
    }
    if let (Value::List(items), "contains", [item]) = (subject, name, arguments) {
        return Ok(Value::Bool(items.contains(item)));
    }
    let text = subject.text();
    let one = || arguments.first().map_or_else(String::new, Value::text);
    Ok(match (name, arguments.len()) {
        ("length" | "size", 0) => Value::Int(subject.size()),
        ("isEmpty", 0) => Value::Bool(subject.is_empty()),
        ("contains", 1) => Value::Bool(text.contains(&one())),
        ("startsWith", 1) => Value::Bool(text.starts_with(&one())),
        ("endsWith", 1) => Value::Bool(text.ends_with(&one())),
        ("equals", 1) => Value::Bool(subject == &arguments[0]),
        ("equalsIgnoreCase", 1) => Value::Bool(text.to_lowercase() == one().to_lowercase()),
        ("indexOf", 1) => index(&text, text.find(&one())),
        ("lastIndexOf", 1) => index(&text, text.rfind(&one())),
        ("substring", 1) => part(&text, arguments[0].int()?, subject.size())?,
        ("substring", 2) => part(&text, arguments[0].int()?, arguments[1].int()?)?,
        ("charAt", 1) => {
            let at = arguments[0].int()?;
            part(&text, at, at + 1)?
        }
        ("toLowerCase", 0) => Value::Text(text.to_lowercase()),
        ("toUpperCase", 0) => Value::Text(text.to_uppercase()),
        ("trim" | "strip", 0) => Value::Text(text.trim().to_owned()),
        ("concat", 1) => Value::Text(text + &one()),
        ("replace", 2) => Value::Text(text.replace(&one(), &arguments[1].text())),
        ("replaceAll", 2) => replaced(&text, &one(), &arguments[1].text(), true)?,
        ("replaceFirst", 2) => replaced(&text, &one(), &arguments[1].text(), false)?,
        ("matches", 1) => Value::Bool(matches(&text, &one())?),
        ("toString" | "getName", 0) => Value::Text(text),
        ("compareTo", 1) => Value::Int(text.cmp(&one()) as i64),
        (name, count) => return Err(format!("`{name}` does not take {count} arguments")),
    })
}

/// A place in bytes as one in characters of Java.
fn index(text: &str, found: Option<usize>) -> Value {
    Value::Int(found.map_or(-1, |at| text[..at].encode_utf16().count() as i64))
}

fn part(text: &str, from: i64, to: i64) -> Result<Value, String> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let ends = (usize::try_from(from).ok(), usize::try_from(to).ok());
    let (Some(from), Some(to)) = ends else { return Err(format!("index {from} is below 0")) };
    let part = units.get(from..to).ok_or_else(|| format!("{from} to {to} is not within {} characters", units.len()))?;
    Ok(Value::Text(String::from_utf16_lossy(part)))
}

fn replaced(text: &str, pattern: &str, by: &str, all: bool) -> Result<Value, String> {
    Pattern::new(pattern).map(|pattern| Value::Text(pattern.replace(text, by, all)))
}
