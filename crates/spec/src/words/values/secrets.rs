//! Values that may come from a file or from the environment, since every user of a machine can read
//! command lines. Callers pass the environment.

use super::{EnvironmentVariable, header, pair, text};
use brunt_script::WordError;
use std::path::Path;

/// Parses `Name: value`, or `@FILE` with one on each line.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form, or its file or variable cannot be read.
pub fn headers(
    word: &str,
    environment: EnvironmentVariable,
) -> Result<Vec<(String, String)>, WordError> {
    match word.strip_prefix('@') {
        Some(file) => header_file(file, environment),
        None => header(&filled(word, environment)?).map(|header| vec![header]),
    }
}

/// Parses a file of header fields, one on each line. Empty lines, and lines that begin
/// with `#`, are skipped.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form, or its file or variable cannot be read.
pub fn header_file(
    file: &str,
    environment: EnvironmentVariable,
) -> Result<Vec<(String, String)>, WordError> {
    let content = content(file)?;
    let lines =
        content.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .enumerate()
        .map(|(number, line)| {
            let place = format!("{file}, header {}", number + 1);
            // The error does not repeat the line, which may be secret.
            header(&filled(line, environment)?).map_err(|_| {
                WordError::new(&place, "not a header", "one `Name: value` on each line")
            })
        })
        .collect()
}

/// Parses `USER:PASS`, or `@FILE` with it.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form, or its file or variable cannot be read.
pub fn basic(word: &str, environment: EnvironmentVariable) -> Result<(String, String), WordError> {
    super::basic(&content_of(word, environment)?)
}

/// Parses a token, or `@FILE` with it.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form, or its file or variable cannot be read.
pub fn bearer(word: &str, environment: EnvironmentVariable) -> Result<String, WordError> {
    text(&content_of(word, environment)?)
}

/// Parses `NAME=VALUE`, or `@FILE` with one on each line.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form, or its file or variable cannot be read.
pub fn cookie(word: &str, environment: EnvironmentVariable) -> Result<String, WordError> {
    if !word.starts_with('@') {
        return super::cookie(&filled(word, environment)?);
    }
    let content = content_of(word, environment)?;
    let lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    // A request has one Cookie header field, with `; ` between cookies (RFC 6265 section 4.2.1).
    Ok(lines.map(super::cookie).collect::<Result<Vec<_>, _>>()?.join("; "))
}

/// Parses `NAME=VALUE`; the value may contain environment variables.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form, or its file or variable cannot be read.
pub fn field(word: &str, environment: EnvironmentVariable) -> Result<(String, String), WordError> {
    pair(&filled(word, environment)?)
}

/// Replaces `${env:NAME}` by the values of environment variables.
///
/// # Errors
///
/// [`WordError`] if a variable is not set.
pub fn filled(word: &str, environment: EnvironmentVariable) -> Result<String, WordError> {
    const BEGIN: &str = "${env:";
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, tail)) = rest.split_once(BEGIN) {
        let Some((name, after)) = tail.split_once('}') else {
            // The error does not repeat the text after the mark, which may be secret.
            return Err(WordError::new(BEGIN, "its `}` is missing", "${env:NAME}"));
        };
        // An empty secret would only fail at the server, where the cause is harder to find.
        let value = environment(name).ok_or_else(|| {
            let shown = format!("{BEGIN}{name}}}");
            WordError::new(
                &shown,
                format!("the environment variable {name} is not set"),
                format!("{name}=VALUE brunt …"),
            )
        })?;
        out.push_str(before);
        out.push_str(&value);
        rest = after;
    }
    Ok(out + rest)
}

/// The word itself, or the content of the file that it names.
fn content_of(word: &str, environment: EnvironmentVariable) -> Result<String, WordError> {
    match word.strip_prefix('@') {
        // Editors end a file with a line break, which is not part of a secret.
        Some(file) => filled(content(file)?.trim(), environment),
        None => filled(word, environment),
    }
}

fn content(file: &str) -> Result<String, WordError> {
    brunt_files::read_text(Path::new(file)).map_err(|error| {
        WordError::new(file, format!("cannot be read: {error}"), "the name of a text file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    #[test]
    fn secrets_are_read_from_files_and_the_environment() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            format!("@{}", path.display())
        };
        let pair = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
        let two = headers(&file("h", "# ours\nX-Api-Key: a\n\nCookie: b=c\r\n"), variable).unwrap();
        assert_eq!(two, [pair(("X-Api-Key", "a")), pair(("Cookie", "b=c"))]);
        assert_eq!(basic(&file("b", "anna:x\n"), variable).unwrap(), pair(("anna", "x")));
        assert_eq!(bearer(&file("t", "token\n"), variable).unwrap(), "token");
        assert_eq!(cookie(&file("c", "a=1\nb=2\n"), variable).unwrap(), "a=1; b=2");
        let home = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        assert_eq!(bearer("x${env:CARGO_MANIFEST_DIR}y", variable).unwrap(), format!("x{home}y"));
        assert_eq!(filled("nothing $ {of} it", variable).unwrap(), "nothing $ {of} it");
    }

    #[test]
    fn errors_do_not_contain_the_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h");
        std::fs::write(&path, "X-Api-Key Zq7Canary\n").unwrap();
        let message = headers(&format!("@{}", path.display()), variable).unwrap_err().to_string();
        assert!(message.contains("header 1") && !message.contains("Canary"), "{message}");
        assert!(
            filled("${env:BRUNT_NOT_SET}", variable)
                .unwrap_err()
                .to_string()
                .contains("BRUNT_NOT_SET is not set")
        );
        assert!(
            headers("@/not/there", variable).unwrap_err().to_string().contains("cannot be read")
        );
    }
}
