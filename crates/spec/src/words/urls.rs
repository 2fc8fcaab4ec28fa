//! A file of URLs, one on each line, in the format of siege.
//!
//! ```text
//! # a comment
//! HOST=http://127.0.0.1:8080
//! $(HOST)/                                    a GET, or method and body of the command line
//! [3] ${HOST}/search?q={random:1..9}          three times as often as the others
//! $(HOST)/login POST user=a&pass=b            a form
//! $(HOST)/item PUT <item.json                 the bytes of a file; its type by its name
//! $(HOST)/item/7 DELETE
//! /about                                      a path on the server of the command line
//! ```
//!
//! * A line begins with a URL, which ends at the first space (write `%20` for a space within). A
//!   method in capitals may follow, and after it the data: text to the end of the line, or `<` and
//!   the name of a file.
//! * `NAME=value` defines a variable for the lines below. An unknown one is an error.
//! * `\$` is a plain `$`.
//! * `[3]` before the URL is its weight.
//! * Quotes, `"…"` or `'…'`, around a whole line or value are removed. A comment has
//!   a line to itself.

use super::{target, values};
use brunt_model::Body;
use brunt_script::{ScriptError, WordError, body, read_text};
use std::collections::HashMap;
use std::path::Path;

/// A request, from one line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRequest {
    /// Number of the line, from 1.
    pub line: u64,
    /// Frequency relative to the other requests.
    pub weight: u32,
    /// URL in the form of [`target::TargetUrl`].
    pub url: String,
    /// Name and password of the URL.
    pub basic: Option<(String, String)>,
    /// Method and data of the line; None if it has only a URL.
    pub action: Option<Action>,
}

/// A method and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Method such as GET or POST.
    pub method: String,
    /// Body of the request.
    pub body: Body,
    /// Media type of the body; None without a body.
    pub content_type: Option<&'static str>,
}

/// Reads a file of URLs; lines that begin with `/` or `?` belong to the server of `base`.
///
/// # Errors
///
/// [`ScriptError`] with its line if the file cannot be read, or an entry is invalid.
pub fn read(file: &Path, base: Option<&str>) -> Result<Vec<UrlRequest>, ScriptError> {
    parse(&read_text(file)?, file, base)
}

/// Reads the text of a file of URLs. `file` is its name in errors; files of data are relative
/// to the current folder.
///
/// # Errors
///
/// [`ScriptError`] with its line if an entry is invalid.
pub fn parse(text: &str, file: &Path, base: Option<&str>) -> Result<Vec<UrlRequest>, ScriptError> {
    let mut variables = HashMap::new();
    let mut entries = Vec::new();
    // Editors on Windows begin a file with a byte order mark.
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = unquoted(line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let expanded = expand(definition(line).map_or(line, |d| d.1), &variables)
            .map_err(|error| at_line(error.into(), file, number))?;
        match definition(line) {
            Some((name, _)) => drop(variables.insert(name, expanded)),
            None => {
                entries.push(
                    entry(&expanded, number, base).map_err(|error| at_line(error, file, number))?,
                );
            }
        }
    }
    if entries.is_empty() {
        let name = file.display().to_string();
        return Err(WordError::new(
            &name,
            "no URL in this file",
            "one a line, such as http://127.0.0.1/a",
        )
        .into());
    }
    Ok(entries)
}

/// Adds the line to an error of a value.
fn at_line(error: ScriptError, file: &Path, line: u64) -> ScriptError {
    match error {
        ScriptError::Word(wrong) => wrong.at_line(file, line),
        other => other,
    }
}

/// Splits `NAME=value`; None if a line is no definition.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    // A URL also contains `=`, but `/` or `:` before it.
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| (name, unquoted(value.trim())))
}

/// Replaces `$(NAME)` and `${NAME}` by their values.
fn expand(text: &str, variables: &HashMap<&str, String>) -> Result<String, WordError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let before = &rest[..dollar];
        let tail = &rest[dollar + 1..];
        rest = tail;
        if let Some(before) = before.strip_suffix('\\') {
            out.extend([before, "$"]);
            continue;
        }
        out.push_str(before);
        match reference(tail) {
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

/// The name in `(NAME)…` or `{NAME}…`, and the rest of the text.
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
    within(text, '"').or_else(|| within(text, '\'')).map_or(text, str::trim)
}

/// The text within a pair of quotes; None if there are no quotes, or more than two.
fn within(text: &str, quote: char) -> Option<&str> {
    // `"a" "b"` is no quoted text, although it begins and ends with quotes.
    text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote))
}

fn entry(text: &str, line: u64, base: Option<&str>) -> Result<UrlRequest, ScriptError> {
    let (weight, text) = weight(text)?;
    let (url, tail) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let action = match tail.trim_start() {
        "" => None,
        tail => Some(action(tail)?),
    };
    if let Some(error) = target::unknown_placeholder(url) {
        return Err(error.into());
    }
    let target = target::relative(url, base)?;
    Ok(UrlRequest { line, weight, url: target.url, basic: target.basic, action })
}

/// Parses `[3] URL`. An IPv6 address in brackets is not a weight.
fn weight(text: &str) -> Result<(u32, &str), WordError> {
    // An IPv6 address contains colons, a weight does not.
    let bracketed =
        text.strip_prefix('[').and_then(|t| t.split_once(']')).filter(|(w, _)| !w.contains(':'));
    let Some((digits, rest)) = bracketed else { return Ok((1, text)) };
    let weight = super::number::count(digits.trim(), "a weight", "[3] http://127.0.0.1/a")?;
    Ok((weight, rest.trim_start()))
}

fn action(text: &str) -> Result<Action, ScriptError> {
    let (method, data) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    // A word in lower case is more likely a part of the URL after an unencoded space.
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
        let bytes = brunt_files::read(file)
            .map_err(|source| ScriptError::Read { file: file.to_owned(), source })?;
        return Ok((body::from_bytes(bytes), Some(body::content_type(file))));
    }
    // Without data, these methods still send a Content-Length, of 0 bytes.
    let has_length = ["POST", "PUT", "PATCH"].contains(&method);
    Ok(match data {
        "" if has_length => (Body::Text("".into()), None),
        "" => (Body::None, None),
        // siege sends the data of a line as a form.
        data => (Body::Text(data.into()), Some(body::FORM)),
    })
}

#[cfg(test)]
mod tests;
