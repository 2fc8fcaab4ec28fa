//! Parses the file of `--wsesslog`: sessions, their bursts, and the content of each call.
//!
//! A line that begins with `#` is a comment. An empty line ends a session. Each other line is a URI
//! with optional `method=`, `think=` and `contents=`. An indented line belongs to the burst of the
//! previous line. A backslash at the end of a line joins it with the next line.

use super::request::RequestContent;
use std::time::Duration;

const METHODS: [&str; 9] =
    ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "TRACE", "PROPFIND", "REPORT"];

/// Calls (httperf's word for requests) that are sent as one burst, and the think time after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burst {
    pub calls: Vec<RequestContent>,
    /// Think time after the burst.
    pub think: Duration,
}

/// Parses the sessions. `think` is the default think time of a burst; the last `think=` of its
/// lines replaces it.
pub fn parse(text: &str, think: Duration) -> Result<Vec<Vec<Burst>>, String> {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut sessions: Vec<Vec<Burst>> = Vec::new();
    let mut is_in_session = false;
    for line in joined.lines().filter(|line| !line.starts_with('#')) {
        if line.trim().is_empty() {
            is_in_session = false;
            continue;
        }
        if !std::mem::replace(&mut is_in_session, true) {
            sessions.push(Vec::new());
        }
        let (content, think_of_line) = parse_call(line)?;
        let Some(session) = sessions.last_mut() else { continue };
        match session.last_mut().filter(|_| line.starts_with([' ', '\t'])) {
            Some(burst) => {
                burst.calls.push(content);
                burst.think = think_of_line.unwrap_or(burst.think);
            }
            None => {
                session.push(Burst { calls: vec![content], think: think_of_line.unwrap_or(think) });
            }
        }
    }
    if sessions.is_empty() {
        Err("no sessions in the file of --wsesslog; write a URI on each line".into())
    } else {
        Ok(sessions)
    }
}

/// Parses a line: a call, and its think time if given.
fn parse_call(line: &str) -> Result<(RequestContent, Option<Duration>), String> {
    let line = line.trim_start();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let mut content = RequestContent { uri: line[..end].to_owned(), ..RequestContent::default() };
    let mut think = None;
    let mut rest = line[end..].trim_start();
    while !rest.is_empty() {
        if let Some(text) = rest.strip_prefix("contents=") {
            let (body, tail) = text_value(text);
            content.body = Some(body);
            rest = tail.trim_start();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = rest[end..].trim_start();
        match word.split_once('=') {
            Some(("method", name)) if METHODS.contains(&name) => {
                content.method = Some(name.to_owned());
            }
            Some(("think", text)) => think = Some(seconds(text, line)?),
            _ => return Err(format!("did not recognize arg '{word}' in '{line}'")),
        }
    }
    Ok((content, think))
}

/// Parses a think time in seconds; `line` appears in the error.
fn seconds(text: &str, line: &str) -> Result<Duration, String> {
    let seconds =
        text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("think={text} in '{line}': write seconds, such as think=0.5"))
}

/// Parses a text within quotes, or one up to white space, with backslash escapes. Returns it and
/// the rest. Without a closing quote, the text is the whole rest.
fn text_value(text: &str) -> (String, &str) {
    let quote = text.chars().next().filter(|c| *c == '"' || *c == '\'');
    let inner = if quote.is_some() { &text[1..] } else { text };
    let mut out = String::new();
    let mut chars = inner.char_indices();
    while let Some((position, c)) = chars.next() {
        if quote.map_or(c.is_whitespace(), |quote| c == quote) {
            return (out, &inner[position + quote.map_or(0, char::len_utf8)..]);
        }
        match (c, chars.clone().next()) {
            ('\\', Some((_, escaped))) => {
                chars.next();
                out.push(match escaped {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                });
            }
            _ => out.push(c),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_bursts_and_calls_are_parsed() {
        let text = "# c\n/a method=POST contents=\"x\\ny\" think=0.3\n\t/b\n /c method=HEAD\n/d\n\n\n/e contents='q r' \\\n  method=PUT\n";
        let sessions = parse(text, Duration::from_secs(2)).unwrap();
        let told: Vec<Vec<String>> = sessions
            .iter()
            .map(|session| {
                let one = |burst: &Burst| {
                    let calls: Vec<_> = burst
                        .calls
                        .iter()
                        .map(|a| {
                            format!(
                                "{}{}{:?}",
                                a.method.as_deref().unwrap_or(""),
                                a.uri,
                                a.body.as_deref().unwrap_or("")
                            )
                        })
                        .collect();
                    format!("{} {:?}", calls.join(" "), burst.think)
                };
                session.iter().map(one).collect()
            })
            .collect();
        assert_eq!(told[0], ["POST/a\"x\\ny\" /b\"\" HEAD/c\"\" 300ms", "/d\"\" 2s"]);
        assert_eq!(told[1], ["PUT/e\"q r\" 2s"]);
        assert!(parse("/a think=x", Duration::ZERO).unwrap_err().contains("write seconds"));
        assert!(parse("/a foo=1", Duration::ZERO).unwrap_err().contains("did not recognize"));
    }

    #[test]
    fn any_file_is_parsed_or_refused() {
        let seeds = brunt_tests::inputs::corpus("httperf-sessions");
        brunt_tests::inputs::survives("httperf-sessions", seeds, 3000, |bytes| {
            let _ = parse(&String::from_utf8_lossy(bytes), Duration::from_secs(1));
        });
    }
}
