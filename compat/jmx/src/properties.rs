//! Reads files of `java.util.Properties`, and merges JMeter's sources of properties.

use crate::cli_options::{CliOptions, PropertyArgument};
use crate::error::JmxError;
use std::collections::BTreeMap;

/// JMeter properties and their values, by name.
pub type PropertyMap = BTreeMap<String, String>;

/// The properties of a run, from all sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunProperties {
    /// JMeter's properties, which `${__P(name)}` reads.
    pub jmeter: PropertyMap,
    /// System properties of Java (`-D`, `-S`, `system.properties`).
    pub system: PropertyMap,
    /// Properties for remote servers (`-G`).
    pub global: PropertyMap,
}

impl RunProperties {
    /// Loads the sources in JMeter's order; later ones override earlier ones. First `-p` (else
    /// `jmeter.properties`), then the files that `user.properties` and `system.properties` name,
    /// then `-q -S -J -G -D` in command-line order.
    ///
    /// `read` returns the content of a file, or None if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails if a file of an option is missing, or a file is malformed.
    pub fn load(
        options: &CliOptions,
        mut read: impl FnMut(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, JmxError> {
        let mut all = Self::default();
        match &options.property_file {
            Some(file) => all.jmeter.extend(required(file, "-p", &mut read)?),
            None => all.jmeter.extend(optional("jmeter.properties", &mut read)?),
        }
        let user_file = file_name(&all.jmeter, "user.properties");
        all.jmeter.extend(optional(&user_file, &mut read)?);
        let system_file = file_name(&all.jmeter, "system.properties");
        all.system.extend(optional(&system_file, &mut read)?);
        for argument in &options.properties {
            match argument {
                PropertyArgument::File(file) => all.jmeter.extend(required(file, "-q", &mut read)?),
                PropertyArgument::SystemFile(file) => {
                    all.system.extend(required(file, "-S", &mut read)?);
                }
                PropertyArgument::GlobalFile(file) => {
                    all.global.extend(required(file, "-G", &mut read)?);
                }
                PropertyArgument::Jmeter(name, value) => set(&mut all.jmeter, name, value),
                PropertyArgument::System(name, value) => set(&mut all.system, name, value),
                PropertyArgument::Global(name, value) => set(&mut all.global, name, value),
            }
        }
        Ok(all)
    }
}

/// File name in a property; the name of the property if it is absent.
fn file_name(jmeter: &PropertyMap, key: &str) -> String {
    jmeter.get(key).map_or(key, String::as_str).to_owned()
}

/// Sets a property; an empty value removes it.
fn set(map: &mut PropertyMap, name: &str, value: &str) {
    if value.is_empty() {
        map.remove(name);
    } else {
        map.insert(name.to_owned(), value.to_owned());
    }
}

fn required(
    file: &str,
    option: &str,
    read: &mut impl FnMut(&str) -> Option<Vec<u8>>,
) -> Result<Vec<(String, String)>, JmxError> {
    let bytes = read(file)
        .ok_or_else(|| JmxError::new(format!("`{option} {file}`: the file cannot be read")))?;
    parse_file(file, &bytes)
}

fn optional(
    file: &str,
    read: &mut impl FnMut(&str) -> Option<Vec<u8>>,
) -> Result<Vec<(String, String)>, JmxError> {
    read(file).map_or(Ok(Vec::new()), |bytes| parse_file(file, &bytes))
}

fn parse_file(file: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, JmxError> {
    parse(&decode(bytes)).map_err(|error| JmxError::new(format!("{file}: {error}")))
}

/// Decodes a properties file: UTF-8 if valid, else ISO-8859-1, which Java assumes.
pub fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Names and values of a properties file, in order. If a name occurs twice, the last one applies.
///
/// # Errors
///
/// Fails on `\u` without four hexadecimal digits, with its line.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, JmxError> {
    let mut properties = Vec::new();
    for (line, logical) in logical_lines(text) {
        let (key, value) = split(&logical);
        let name = unescape(key).map_err(|message| JmxError::on_line(line, message))?;
        let value = unescape(value).map_err(|message| JmxError::on_line(line, message))?;
        properties.push((name, value));
    }
    Ok(properties)
}

/// Lines with joined continuations, without comments and blank lines, each with the number
/// of its first line.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut joined: Vec<(u32, String)> = Vec::new();
    let mut continues = false;
    for (number, line) in (1..).zip(text.split('\n')) {
        let line = line.trim_start_matches(is_space);
        if !continues {
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            joined.push((number, String::new()));
        }
        let slashes = line.len() - line.trim_end_matches('\\').len();
        // Two backslashes are one escaped backslash, and no continuation.
        continues = slashes % 2 == 1;
        let content = if continues { &line[..line.len() - 1] } else { line };
        if let Some((_, logical)) = joined.last_mut() {
            logical.push_str(content);
        }
    }
    joined
}

fn is_space(one: char) -> bool {
    matches!(one, ' ' | '\t' | '\u{C}')
}

/// Splits a line into its unprocessed key and value.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|one| {
        let ends = !escaped && (is_space(one) || one == '=' || one == ':');
        escaped = one == '\\' && !escaped;
        ends
    });
    let (key, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_start_matches(is_space);
    let value =
        rest.strip_prefix(['=', ':']).map_or(rest, |value| value.trim_start_matches(is_space));
    (key, value)
}

fn unescape(text: &str) -> Result<String, String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(one) = characters.next() {
        let plain = if one == '\\' { characters.next().unwrap_or('\\') } else { one };
        let unit = match plain {
            _ if one != '\\' => plain,
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{C}',
            'u' => {
                let digits: String = characters.by_ref().take(4).collect();
                let code = Some(&digits).filter(|all| {
                    all.len() == 4 && all.bytes().all(|byte| byte.is_ascii_hexdigit())
                });
                let code = code.and_then(|digits| u16::from_str_radix(digits, 16).ok());
                units.push(code.ok_or_else(|| {
                    format!(
                        "`\\u{digits}` needs four hexadecimal digits; write `\\\\u` for a backslash"
                    )
                })?);
                continue;
            }
            other => other,
        };
        units.extend_from_slice(unit.encode_utf16(&mut [0; 2]));
    }
    // Java writes a character above U+FFFF as two escapes, one per UTF-16 unit.
    Ok(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests;
