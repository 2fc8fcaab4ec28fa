//! The bodies of `-d` and its relatives, and the parts of `-F`.

use crate::Options;
use crate::body::{self, FORM};
use crate::plan::{Body, FileContent, Part, Piece};
use crate::text;
use crate::urls::in_folder;
use brunt_script::template::form_encoded;

/// What is wrong, and what to write instead.
type Wrong = (String, String);

/// The value of an option such as `-d`.
#[derive(Debug, Clone)]
pub(super) struct CurlData {
    /// Stands before it, where other data precede it.
    separator: &'static str,
    /// Stands before the file or value, as it is.
    prefix: String,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Text(String),
    /// A value that `--data-urlencode` encodes.
    Value(String),
    File(String, FileContent),
}

impl CurlData {
    /// Reads the value of an option.
    pub(super) fn read(option: &str, value: &str, separator: &'static str, folder: &Options) -> Result<Self, Wrong> {
        let mut prefix = String::new();
        let content = match (option, value.strip_prefix('@')) {
            ("data-urlencode", _) => {
                let at = value.find(['=', '@']).unwrap_or(0);
                let name = &value[..at];
                if !name.is_empty() {
                    prefix = format!("{name}=");
                }
                match value[at..].chars().next() {
                    Some('@') => Content::File(value[at + 1..].to_owned(), FileContent::Encoded),
                    Some('=') => Content::Value(value[at + 1..].to_owned()),
                    _ => Content::Value(value.to_owned()),
                }
            }
            ("data-raw", _) | (_, None) => Content::Text(value.to_owned()),
            ("data-binary" | "json", Some(file)) => Content::File(file.to_owned(), FileContent::Unchanged),
            (_, Some(file)) => Content::File(file.to_owned(), FileContent::WithoutLineBreaks),
        };
        let content = match content {
            Content::File(file, _) if file == "-" => {
                let instead = "write the body, or the name of a file behind @";
                return Err(("standard input is the body".to_owned(), instead.to_owned()));
            }
            Content::File(file, how) => Content::File(in_folder(&file, folder), how),
            other => other,
        };
        Ok(Self { separator, prefix, content })
    }
}

/// The data as one text: that of `-G`.
pub(super) fn as_text(all: &[CurlData]) -> Result<String, Wrong> {
    let mut out = String::new();
    for (number, data) in all.iter().enumerate() {
        let text = match &data.content {
            Content::Text(text) => text.clone(),
            Content::Value(value) if !text::has_variable(value) => escaped(value).replace("%20", "+"),
            Content::Value(_) => {
                let wrong = "`--data-urlencode` encodes a variable of the shell";
                return Err((
                    wrong.to_owned(),
                    "write its value, or a variable whose value is encoded with -d".to_owned(),
                ));
            }
            Content::File(file, _) => {
                return Err((format!("the file {file} is a part of the query"), "write its content".to_owned()));
            }
        };
        out.push_str(if number > 0 { data.separator } else { "" });
        out.push_str(&data.prefix);
        out.push_str(&text);
    }
    Ok(out)
}

/// The body of data.
pub(super) fn body(all: &[CurlData], kind: &str) -> Result<Body, Wrong> {
    if let Some(fields) = fields_with_variables(all).filter(|_| kind.starts_with(FORM)) {
        return Ok(Body::Form(fields, None));
    }
    if !kind.is_empty() && !all.iter().any(|data| matches!(data.content, Content::File(..))) {
        return Ok(body::of(kind, &as_text(all)?)).map(|body| match body {
            // curl sends an empty body, too.
            Body::None => Body::Text(String::new()),
            body => body,
        });
    }
    let mut pieces = Vec::new();
    for (number, data) in all.iter().enumerate() {
        let separator = if number > 0 { data.separator } else { "" };
        let text = match &data.content {
            Content::File(..) => format!("{separator}{}", data.prefix),
            _ => format!("{separator}{}", as_text(std::slice::from_ref(data))?),
        };
        match pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(&text),
            _ if text.is_empty() => {}
            _ => pieces.push(Piece::Text(text)),
        }
        if let Content::File(file, content) = &data.content {
            pieces.push(Piece::File { file: file.clone(), content: *content });
        }
    }
    Ok(Body::Pieces(pieces))
}

/// The fields of a form in which `--data-urlencode` encodes variables; None where there are no such, or other data that a form
/// would change.
fn fields_with_variables(all: &[CurlData]) -> Option<Vec<(String, String)>> {
    all.iter().find(|data| matches!(&data.content, Content::Value(value) if text::has_variable(value)))?;
    let mut fields = Vec::new();
    for data in all {
        match &data.content {
            Content::Value(value) => {
                let name = data.prefix.strip_suffix('=')?;
                fields.push((name.to_owned(), value.clone()));
            }
            Content::Text(text) => match body::form(text) {
                Body::Form(more, _) if body::encoded(&more) == *text => fields.extend(more),
                _ => return None,
            },
            Content::File(..) => return None,
        }
    }
    fields.iter().all(|(name, _)| form_encoded(name) == *name).then_some(fields)
}

/// A text with all but the unreserved characters of RFC 3986 percent-encoded; variables are left in it.
pub(super) fn escaped(text: &str) -> String {
    const RESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let one = |piece: text::Piece<'_>| match piece {
        text::Piece::Literal(text) => percent_encoding::utf8_percent_encode(text, RESERVED).to_string(),
        text::Piece::Variable(name) => text::variable(name),
    };
    text::pieces(text).into_iter().map(one).collect()
}

/// The part of a form that `-F NAME=CONTENT` describes, as curl reads it.
pub(super) fn form_part(value: &str, folder: &Options) -> Result<(String, Part), Wrong> {
    let Some((name, content)) = value.split_once('=') else {
        return Err((format!("`{value}` is no part of a form"), "write one such as -F NAME=VALUE".to_owned()));
    };
    let refuse = |what: &str| {
        let wrong = format!("`-F {value}` has {what}, which plans do not have");
        (wrong, "write parts such as NAME=VALUE or NAME=@FILE;type=TYPE;filename=NAME".to_owned())
    };
    if name.is_empty() {
        return Err(refuse("no name"));
    }
    let source = content.chars().next().filter(|first| ['@', '<', '('].contains(first));
    if source == Some('(') {
        return Err(refuse("parts within a part"));
    }
    let content = if source.is_some() { &content[1..] } else { content };
    let (word, parameters) = first_word(content, source == Some('@'));
    let (mut kind, mut filename) = (None, None);
    for (key, parameter) in parameters {
        match key.as_str() {
            "type" => kind = Some(parameter),
            "filename" => filename = Some(parameter),
            other => return Err(refuse(&format!("the parameter `{other}`"))),
        }
    }
    let part = match (source, kind) {
        (None, _) if filename.is_some() => return Err(refuse("a file name beside a text")),
        (None, None) => Part::Text(word),
        (None, Some(kind)) => Part::TypedText { text: word, kind },
        (Some(_), _) if word == "-" => return Err(refuse("the content of standard input")),
        (Some('<'), kind) => {
            // Of a part without a file name, curl leaves out the default type.
            let guess = Some(media_type(&word)).filter(|kind| !["text/plain", OCTETS].contains(kind));
            let kind = kind.or(guess.map(str::to_owned));
            Part::File { file: in_folder(&word, folder), kind, filename: Some(String::new()) }
        }
        (Some(_), _) if word.contains(',') => return Err(refuse("several files")),
        (Some(_), kind) => {
            let sent = filename.as_ref().unwrap_or(&word);
            let kind = kind.unwrap_or_else(|| media_type(sent).to_owned());
            Part::File { file: in_folder(&word, folder), kind: Some(kind), filename }
        }
    };
    Ok((name.to_owned(), part))
}

/// A word of `-F`, within quotes or up to a semicolon, and the parameters behind it. A semicolon that no parameter follows is
/// a part of a text.
fn first_word(content: &str, is_file: bool) -> (String, Vec<(String, String)>) {
    const KEYS: [&str; 4] = ["type=", "filename=", "headers=", "encoder="];
    let begins_parameter = |rest: &str| KEYS.iter().any(|key| rest.trim_start().starts_with(key));
    let content = content.trim_start_matches([' ', '\t']);
    let (word, mut rest) = quoted(content).unwrap_or_else(|| {
        let mut ends = content.match_indices(';').map(|(at, _)| at);
        let end = ends.find(|at| is_file || begins_parameter(&content[at + 1..])).unwrap_or(content.len());
        (content[..end].trim_ascii_end().to_owned(), &content[end..])
    });
    let mut parameters = Vec::new();
    while let Some((key, behind)) = rest.trim_start_matches([';', ' ']).split_once('=') {
        let (value, after) = quoted(behind).unwrap_or_else(|| {
            // Parameters of a media type, such as `type=text/plain; charset=utf-8`, belong to it.
            let mut ends = behind.match_indices(';').map(|(at, _)| at);
            let end = ends.find(|at| begins_parameter(&behind[at + 1..])).unwrap_or(behind.len());
            (behind[..end].to_owned(), &behind[end..])
        });
        parameters.push((key.trim().to_owned(), value));
        rest = after;
    }
    (word, parameters)
}

/// A text within double quotes, with backslashes before quotes and backslashes, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut word = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((word, &inner[at + 1..])),
            '\\' => match characters.next()? {
                (_, escaped @ ('"' | '\\')) => word.push(escaped),
                (_, other) => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    None
}

/// The media type of a file whose name says nothing.
const OCTETS: &str = "application/octet-stream";

/// The media type that curl derives from the end of a file's name.
fn media_type(file: &str) -> &'static str {
    const TYPES: [(&str, &str); 10] = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let lower = file.to_ascii_lowercase();
    TYPES.iter().find(|(end, _)| lower.ends_with(end)).map_or(OCTETS, |(_, kind)| kind)
}
