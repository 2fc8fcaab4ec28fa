//! A file of URLs, one a line, in the form that siege reads.
//!
//! ```text
//! # a comment
//! HOST=http://127.0.0.1:8080
//! $(HOST)/                                    a GET, or what the command line says
//! [3] ${HOST}/search?q={random:1..9}          three times as often as the others
//! $(HOST)/login POST user=a&pass=b            a form
//! $(HOST)/item PUT <item.json                 the bytes of a file; its type by its name
//! $(HOST)/item/7 DELETE
//! /about                                      of the server named on the command line
//! ```
//!
//! * A line begins with a URL; its first space ends it (write `%20` for a space within). Behind it may stand a method in
//!   capitals, and behind that the data: text to the end of the line, or `<` and the name of a file.
//! * `NAME=value` defines a variable for the lines below. An unknown one is an error. `\$` is a plain `$`.
//! * `[3]` before the URL is its weight.
//! * Quotes, `"…"` or `'…'`, around a whole line or value are taken off. Comments have lines of their own.

use super::{target, values};
use brunt_model::Body;
use brunt_script::{ScriptError, WordError, body, read_text};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// One line that asks something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands, from 1.
    pub line: u64,
    /// How often it is asked, against the others.
    pub weight: u32,
    /// The URL, as [`target::Target`] has it.
    pub url: String,
    /// The name and password that stood in the URL.
    pub basic: Option<(String, String)>,
    /// What to do there, where the line tells.
    pub action: Option<Action>,
}

/// A method and what is sent with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// GET, POST, …
    pub method: String,
    /// What is sent.
    pub body: Body,
    /// Its type, where there is a body.
    pub content_type: Option<&'static str>,
}

/// Reads a file of URLs; lines that begin with `/` or `?` are of the server of `base`.
///
/// # Errors
///
/// [`ScriptError`] with its line if the file cannot be read, or an entry makes no sense.
pub fn read(file: &Path, base: Option<&str>) -> Result<Vec<Entry>, ScriptError> {
    parse(&read_text(file)?, file, base)
}

/// Reads the text of a file of URLs. `file` is named in errors; files of data are read from where the command runs.
///
/// # Errors
///
/// [`ScriptError`] with its line if an entry makes no sense.
pub fn parse(text: &str, file: &Path, base: Option<&str>) -> Result<Vec<Entry>, ScriptError> {
    let mut variables = HashMap::new();
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = unquoted(line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |e: ScriptError| if let ScriptError::Word(wrong) = e { wrong.at(file, number) } else { e };
        let expanded = expand(definition(line).map_or(line, |d| d.1), &variables).map_err(|e| at(e.into()))?;
        match definition(line) {
            Some((name, _)) => drop(variables.insert(name, expanded)),
            None => entries.push(entry(&expanded, number, base).map_err(at)?),
        }
    }
    if entries.is_empty() {
        let name = file.display().to_string();
        return Err(WordError::new(&name, "no URL in this file", "one a line, such as http://127.0.0.1/a").into());
    }
    Ok(entries)
}

/// `NAME=value`, as far as a line is that.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    word.then(|| (name, unquoted(value.trim())))
}

/// Puts values in the place of `$(NAME)` and `${NAME}`.
fn expand(text: &str, variables: &HashMap<&str, String>) -> Result<String, WordError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        rest = behind;
        if let Some(before) = before.strip_suffix('\\') {
            out.extend([before, "$"]);
            continue;
        }
        out.push_str(before);
        match reference(behind) {
            Some((name, after)) => {
                out.push_str(variables.get(name).ok_or_else(|| unknown(name))?);
                rest = after;
            }
            None => out.push('$'),
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The name in `(NAME)…` or `{NAME}…`, and what comes behind.
fn reference(text: &str) -> Option<(&str, &str)> {
    let close = match text.as_bytes().first()? {
        b'(' => ')',
        b'{' => '}',
        _ => return None,
    };
    text[1..].split_once(close)
}

fn unknown(name: &str) -> WordError {
    let instead = format!("{name}=… on a line above, or \\$ for a plain dollar");
    WordError::new(&format!("$({name})"), "this variable has no value here", instead)
}

fn unquoted(text: &str) -> &str {
    let inner = |q: char| text.strip_prefix(q)?.strip_suffix(q).filter(|inner| !inner.contains(q));
    inner('"').or_else(|| inner('\'')).map_or(text, str::trim)
}

fn entry(text: &str, line: u64, base: Option<&str>) -> Result<Entry, ScriptError> {
    let (weight, text) = weight(text)?;
    let (url, behind) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let action = match behind.trim_start() {
        "" => None,
        behind => Some(action(behind)?),
    };
    let target = target::relative(url, base)?;
    Ok(Entry { line, weight, url: target.url, basic: target.basic, action })
}

/// `[3] URL`. An IPv6 address in brackets is no weight.
fn weight(text: &str) -> Result<(u32, &str), WordError> {
    let weighted = text.strip_prefix('[').and_then(|t| t.split_once(']')).filter(|(w, _)| !w.contains(':'));
    let Some((digits, rest)) = weighted else { return Ok((1, text)) };
    let weight = super::number::count(digits.trim(), "a weight", "[3] http://127.0.0.1/a")?;
    Ok((weight, rest.trim_start()))
}

fn action(text: &str) -> Result<Action, ScriptError> {
    let (method, data) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = Some(method).filter(|method| method.starts_with(|c: char| c.is_ascii_uppercase()));
    let method = name.and_then(|name| values::method(name).ok()).ok_or_else(|| {
        let instead = "one such as GET, POST or PURGE, or %20 for a space in the URL";
        WordError::new(method, "a method is expected after the URL", instead)
    })?;
    let (body, content_type) = data_of(&method, data.trim())?;
    Ok(Action { method, body, content_type })
}

fn data_of(method: &str, data: &str) -> Result<(Body, Option<&'static str>), ScriptError> {
    if let Some(file) = data.strip_prefix('<') {
        let file = Path::new(unquoted(file.trim()));
        let bytes = fs::read(file).map_err(|source| ScriptError::Read { file: file.to_owned(), source })?;
        return Ok((body::from_bytes(bytes), Some(body::content_type(file))));
    }
    let sends = ["POST", "PUT", "PATCH"].contains(&method); // with nothing to say they still say how much: 0 bytes
    Ok(match data {
        "" if sends => (Body::Text(String::new()), None),
        "" => (Body::None, None),
        data => (Body::Text(data.to_owned()), Some(body::FORM)),
    })
}

#[cfg(test)]
mod tests;
