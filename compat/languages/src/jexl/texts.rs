//! Methods of strings and lists.

use super::{Value, matches};
use brunt_script::pattern::Pattern;

/// Names of the supported methods.
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
    // A method of a thread group. Its value here is the name of the group.
    "getName",
];

/// Calls a method of a value.
///
/// # Errors
///
/// The value or an argument has the wrong type.
pub fn call(subject: &Value, name: &str, arguments: &[Value]) -> Result<Value, String> {
    if *subject == Value::Null {
        return Err(format!("`{name}` is called of null"));
    }
    if let (Value::List(items), "contains", [item]) = (subject, name, arguments) {
        return Ok(Value::Bool(items.contains(item)));
    }
    let text = subject.text();
    let first = arguments.first().map_or_else(String::new, Value::text);
    Ok(match (name, arguments.len()) {
        ("length" | "size", 0) => Value::Int(subject.size()),
        ("isEmpty", 0) => Value::Bool(subject.is_empty()),
        ("contains", 1) => Value::Bool(text.contains(&first)),
        ("startsWith", 1) => Value::Bool(text.starts_with(&first)),
        ("endsWith", 1) => Value::Bool(text.ends_with(&first)),
        ("equals", 1) => Value::Bool(subject == &arguments[0]),
        ("equalsIgnoreCase", 1) => Value::Bool(text.to_lowercase() == first.to_lowercase()),
        ("indexOf", 1) => index(&text, text.find(&first)),
        ("lastIndexOf", 1) => index(&text, text.rfind(&first)),
        ("substring", 1) => part(&text, arguments[0].int()?, subject.size())?,
        ("substring", 2) => part(&text, arguments[0].int()?, arguments[1].int()?)?,
        ("charAt", 1) => {
            let index = arguments[0].int()?;
            part(&text, index, index + 1)?
        }
        ("toLowerCase", 0) => Value::Text(text.to_lowercase()),
        ("toUpperCase", 0) => Value::Text(text.to_uppercase()),
        ("trim" | "strip", 0) => Value::Text(text.trim().to_owned()),
        ("concat", 1) => Value::Text(text + &first),
        ("replace", 2) => Value::Text(text.replace(&first, &arguments[1].text())),
        ("replaceAll", 2) => replace(&text, &first, &arguments[1].text(), true)?,
        ("replaceFirst", 2) => replace(&text, &first, &arguments[1].text(), false)?,
        ("matches", 1) => Value::Bool(matches(&text, &first)?),
        ("toString" | "getName", 0) => Value::Text(text),
        ("compareTo", 1) => Value::Int(text.cmp(&first) as i64),
        (name, count) => return Err(format!("`{name}` does not take {count} arguments")),
    })
}

/// Converts an index in bytes to an index in UTF-16 units, which Java uses.
fn index(text: &str, offset: Option<usize>) -> Value {
    Value::Int(offset.map_or(-1, |offset| text[..offset].encode_utf16().count() as i64))
}

fn part(text: &str, from: i64, to: i64) -> Result<Value, String> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let ends = (usize::try_from(from).ok(), usize::try_from(to).ok());
    let (Some(from), Some(to)) = ends else { return Err(format!("index {from} is below 0")) };
    let part = units
        .get(from..to)
        .ok_or_else(|| format!("{from} to {to} is not within {} characters", units.len()))?;
    Ok(Value::Text(String::from_utf16_lossy(part)))
}

fn replace(text: &str, pattern: &str, replacement: &str, all: bool) -> Result<Value, String> {
    Pattern::new(pattern).map(|pattern| Value::Text(pattern.replace(text, replacement, all)))
}
