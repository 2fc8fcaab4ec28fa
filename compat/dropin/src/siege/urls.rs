//! Parses siege's URLs, with a method and data after them, and files of URLs.

use super::rc::expand;
use super::settings::SiegeSettings;
use crate::caller::Caller;
use brunt_spec::settings::EnvironmentVariable;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

/// Methods that may follow a URL.
const METHODS: [&str; 5] = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Extensions of text files. Their content is sent without surrounding blanks.
const TEXT_EXTENSIONS: [&str; 10] =
    ["txt", "html", "htm", "json", "xml", "csv", "js", "css", "yml", "yaml"];

/// User name and password for a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub password: String,
    /// None means any realm.
    pub realm: Option<String>,
}

impl Login {
    /// Parses `user:password` or `user:password:realm`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':').map(|part| part.trim().to_owned());
        let user = parts.next()?;
        let password = parts.next().unwrap_or_default();
        let realm =
            parts.next().filter(|realm| !realm.is_empty() && realm != "any" && realm != "all");
        (!user.is_empty()).then_some(Self { user, password, realm })
    }
}

/// A URL with its method and data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlEntry {
    pub method: String,
    pub scheme: String,
    /// Host and optional port.
    pub authority: String,
    /// Path and query as sent.
    pub path: String,
    /// Body of the request.
    pub body: Option<Vec<u8>>,
    /// Login of the URL.
    pub login: Option<Login>,
    /// Error while reading the file with the data.
    pub trouble: Option<String>,
}

impl UrlEntry {
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path)
    }

    /// Parses a URL with method and data. The error explains the defect of an invalid URL.
    pub fn parse(text: &str, escaping: bool) -> Result<Self, String> {
        let text = text.trim();
        let (url, method, data) = split_method(text);
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(format!("{text}: brunt speaks http and https only; write http://…"));
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (login, authority) = match authority.rsplit_once('@') {
            Some((login, authority)) => (Login::parse(login), authority),
            None => (None, authority),
        };
        if authority.is_empty() || authority.contains(char::is_whitespace) {
            return Err(format!(
                "{text}: no host in it; write one such as http://127.0.0.1:8080/path"
            ));
        }
        // A fragment is not sent.
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        let path = if escaping && method.is_none() { escape(path) } else { path.to_owned() };
        let (body, trouble) = match data.map(body) {
            Some((body, trouble)) => (Some(body), trouble),
            None => (method.map(|_| Vec::new()), None),
        };
        Ok(Self {
            method: method.unwrap_or("GET").to_owned(),
            scheme,
            authority: authority.to_owned(),
            path: format!("{slash}{path}"),
            body,
            trouble,
            login,
        })
    }
}

/// Splits a line into the URL, the first method after it, and the data after that.
fn split_method(text: &str) -> (&str, Option<&'static str>, Option<&str>) {
    let mut start = 0;
    while let Some(space) = text[start..].find(' ').map(|offset| start + offset) {
        let tail = &text[space + 1..];
        for method in METHODS {
            if let Some(data) =
                tail.strip_prefix(method).filter(|data| data.is_empty() || data.starts_with(' '))
            {
                return (
                    text[..space].trim_end(),
                    Some(method),
                    Some(data.trim()).filter(|data| !data.is_empty()),
                );
            }
        }
        start = space + 1;
    }
    (text, None, None)
}

/// The data after a method: the text itself, or after `<` the content of a file.
///
/// Data of an unreadable file is empty, with an error message.
fn body(data: &str) -> (Vec<u8>, Option<String>) {
    let Some(path) = data.strip_prefix('<').map(str::trim) else {
        return (data.as_bytes().to_vec(), None);
    };
    let read = match fs::read(path) {
        Ok(read) => read,
        Err(error) => {
            let trouble =
                format!("{path} cannot be read: {error}; write the name of a file after the <");
            return (Vec::new(), Some(trouble));
        }
    };
    let is_text = Path::new(path)
        .extension()
        .and_then(|e| e.to_str())
        .is_some_and(|e| TEXT_EXTENSIONS.contains(&e));
    // Only text is trimmed: in binary data, such bytes may have a meaning.
    (if is_text { read.trim_ascii().to_vec() } else { read }, None)
}

/// Percent-encodes characters that are not allowed in a path.
fn escape(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    for (index, byte) in bytes.iter().enumerate() {
        let is_allowed = match byte {
            // The path may be encoded already.
            b'%' => is_hex_digit(bytes, index + 1) && is_hex_digit(bytes, index + 2),
            byte => byte.is_ascii_graphic() && !b"\"<>\\^`{|}~".contains(byte),
        };
        if is_allowed {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn is_hex_digit(bytes: &[u8], index: usize) -> bool {
    bytes.get(index).is_some_and(u8::is_ascii_hexdigit)
}

/// Returns the given URL, or those of the file. The error is None if there is no URL, or
/// the error of the file.
pub fn all(settings: &SiegeSettings, caller: &Caller) -> Result<Vec<UrlEntry>, Option<io::Error>> {
    let lines = match &settings.url {
        Some(url) => vec![url.clone()],
        None => read_file(
            &fs::read(&settings.file).map_err(Some)?,
            &settings.variables,
            caller.environment,
        ),
    };
    let entries =
        lines.iter().filter_map(|line| match UrlEntry::parse(line, settings.url_escaping) {
            Ok(entry) => {
                entry.trouble.iter().for_each(|why| caller.err_redacted(&format!("brunt: {why}")));
                Some(entry)
            }
            Err(why) => {
                caller.err_redacted(&format!("brunt: {why}"));
                None
            }
        });
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() { Err(None) } else { Ok(entries) }
}

/// The URLs of a file, without comments and with variables expanded.
fn read_file(
    bytes: &[u8],
    initial: &HashMap<String, String>,
    environment: EnvironmentVariable,
) -> Vec<String> {
    let mut variables = initial.clone();
    let mut urls = Vec::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once('=').filter(|(name, _)| is_variable_name(name.trim())) {
            Some((name, value)) => {
                let value = expand(value.trim(), &variables, environment);
                variables.insert(name.trim().to_owned(), value);
            }
            None => urls.push(expand(line, &variables, environment)),
        }
    }
    urls
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let asked = UrlEntry::parse(text, true).unwrap();
        let body = asked.body.as_ref().map(|body| format!(" [{}]", String::from_utf8_lossy(body)));
        format!("{} {}{}", asked.method, asked.url(), body.unwrap_or_default())
    }

    #[test]
    fn urls_are_parsed_like_siege() {
        for (text, expected) in [
            ("h", "GET http://h/"),
            ("h:81/a?b=c#d", "GET http://h:81/a?b=c"),
            ("HTTPS://h/a b?q=ä", "GET https://h/a%20b?q=%C3%A4"),
            ("http://h/%20%zz~{n}", "GET http://h/%20%25zz%7E%7Bn%7D"),
            ("http://h/../b/./c", "GET http://h/../b/./c"),
            ("http://u:p@h/x", "GET http://h/x"),
            ("h?x=1", "GET http://h/?x=1"),
            ("h/a b POST x=1&y= POST 2", "POST http://h/a b [x=1&y= POST 2]"),
            ("h/a DELETE", "DELETE http://h/a []"),
            ("h/a POSTED x", "GET http://h/a%20POSTED%20x"),
            ("h/a post x", "GET http://h/a%20post%20x"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let login = UrlEntry::parse("http://u:p@h/x", true).unwrap().login.unwrap();
        assert_eq!((login.user.as_str(), login.password.as_str(), login.realm), ("u", "p", None));
        assert!(UrlEntry::parse("ftp://h/x", true).unwrap_err().contains("write http://"));
        assert!(UrlEntry::parse("http:///x", true).unwrap_err().contains("no host"));
    }

    #[test]
    fn files_have_comments_and_variables() {
        let file = "# c\nH=host:81\nX = hello\n\n  http://$(H)/1  \n${H}/2 POST a=$(X)&b=$(NO_SUCH_NAME)\nhttp://h/?a=b\n";
        assert_eq!(
            read_file(file.as_bytes(), &HashMap::new(), |_| None),
            ["http://host:81/1", "host:81/2 POST a=hello&b=", "http://h/?a=b"]
        );
    }

    #[test]
    fn logins_may_name_a_realm() {
        let realm = |text: &str| Login::parse(text).map(|login| login.realm);
        assert_eq!(realm("a:b:zone one"), Some(Some("zone one".into())));
        assert_eq!((realm("a:b:all"), realm("a:b"), realm("")), (Some(None), Some(None), None));
    }

    #[test]
    fn any_file_is_accepted() {
        let seeds = brunt_tests::inputs::corpus("siege-urls");
        brunt_tests::inputs::survives("siege-urls", seeds, 2000, |bytes| {
            let lines = read_file(bytes, &HashMap::new(), |_| None);
            // Files with data are not read: a random name could be that of a device.
            for line in lines.iter().filter(|line| !line.contains('<')) {
                let _ = UrlEntry::parse(line, true);
            }
        });
    }
}
