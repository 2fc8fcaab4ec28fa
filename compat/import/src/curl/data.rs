//! Bodies of `-d` and similar options, and the parts of `-F`.

use super::words::Input;
use crate::ImportOptions;
use crate::urls::in_folder;
use brunt_har::body::{self, FORM};
use brunt_har::plan::{BodyPiece, FileContent, ImportedBody, MultipartPart};
use brunt_har::text;
use brunt_script::template::form_encoded;

/// Error message, and advice what to write instead.
type Problem = (String, String);

/// Value of an option such as `-d`.
#[derive(Debug, Clone)]
pub(super) struct CurlData {
    /// Precedes the data if they follow other data.
    separator: &'static str,
    /// Precedes the file or value, unchanged.
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
    pub(super) fn read(
        option: &str,
        value: &str,
        separator: &'static str,
        input: &Input,
        folder: &ImportOptions,
    ) -> Result<Self, Problem> {
        let mut prefix = String::new();
        let content = match (option, value.strip_prefix('@')) {
            ("data-urlencode", _) => {
                // Like curl: `@` separates only in a value without `=`.
                let separator = value.find('=').or_else(|| value.find('@')).unwrap_or(0);
                let name = &value[..separator];
                if !name.is_empty() {
                    prefix = format!("{name}=");
                }
                match value[separator..].chars().next() {
                    Some('@') => {
                        Content::File(value[separator + 1..].to_owned(), FileContent::Encoded)
                    }
                    Some('=') => Content::Value(value[separator + 1..].to_owned()),
                    _ => Content::Value(value.to_owned()),
                }
            }
            ("data-raw", _) | (_, None) => Content::Text(value.to_owned()),
            ("data-binary" | "json", Some(file)) => {
                Content::File(file.to_owned(), FileContent::Unchanged)
            }
            (_, Some(file)) => Content::File(file.to_owned(), FileContent::WithoutLineBreaks),
        };
        let content = match content {
            Content::File(file, content) if file == "-" => stdin_data(input, content, folder)?,
            Content::File(file, content) => Content::File(in_folder(&file, folder), content),
            other => other,
        };
        Ok(Self { separator, prefix, content })
    }

    /// Reads the value of `--url-query`: like `--data-urlencode`, or unchanged after a plus sign.
    pub(super) fn read_query(
        value: &str,
        input: &Input,
        folder: &ImportOptions,
    ) -> Result<Self, Problem> {
        match value.strip_prefix('+') {
            Some(encoded) => Self::read("data-raw", encoded, "&", input, folder),
            None => Self::read("data-urlencode", value, "&", input, folder),
        }
    }
}

/// Reads the data that a command takes from standard input.
fn stdin_data(
    input: &Input,
    content: FileContent,
    folder: &ImportOptions,
) -> Result<Content, Problem> {
    match (input, content) {
        (Input::Inherited | Input::Pipe, _) => {
            let instead = "write the body, or the name of a file after @";
            Err(("standard input is the body".to_owned(), instead.to_owned()))
        }
        (Input::File(file), content) => Ok(Content::File(in_folder(file, folder), content)),
        (Input::Text(text), FileContent::Unchanged) => Ok(Content::Text(text.clone())),
        (Input::Text(text), FileContent::WithoutLineBreaks) => {
            Ok(Content::Text(text.replace(['\r', '\n'], "")))
        }
        (Input::Text(text), FileContent::Encoded) => Ok(Content::Value(text.clone())),
    }
}

/// Joins the data to one text, for `-G`.
pub(super) fn as_text(all: &[CurlData]) -> Result<String, Problem> {
    let mut out = String::new();
    for (number, data) in all.iter().enumerate() {
        let text = match &data.content {
            Content::Text(text) => text.clone(),
            // Like curl, which replaces `%20` by a plus sign.
            Content::Value(value) if !text::has_variable(value) => {
                percent_encode(value).replace("%20", "+")
            }
            Content::Value(_) => {
                let wrong = "`--data-urlencode` encodes a variable of the shell";
                return Err((
                    wrong.to_owned(),
                    "write its value, or a variable whose value is encoded with -d".to_owned(),
                ));
            }
            Content::File(file, _) => {
                return Err((
                    format!("the file {file} is a part of the query"),
                    "write its content".to_owned(),
                ));
            }
        };
        out.push_str(if number > 0 { data.separator } else { "" });
        out.push_str(&data.prefix);
        out.push_str(&text);
    }
    Ok(out)
}

/// Builds the body of data.
pub(super) fn body(all: &[CurlData], kind: &str) -> Result<ImportedBody, Problem> {
    if let Some(fields) = fields_with_variables(all).filter(|_| kind.starts_with(FORM)) {
        return Ok(ImportedBody::Form(fields, None));
    }
    if !kind.is_empty() && !all.iter().any(|data| matches!(data.content, Content::File(..))) {
        let text = as_text(all)?;
        return Ok(match body::of(kind, &text) {
            // curl sends a body even if it is empty.
            ImportedBody::None => ImportedBody::Text(String::new()),
            // Parts of a plan end with CR LF, even the last one.
            ImportedBody::Multipart(_) if !text.ends_with("--\r\n") => ImportedBody::Text(text),
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
            Some(BodyPiece::Text(last)) => last.push_str(&text),
            _ if text.is_empty() => {}
            _ => pieces.push(BodyPiece::Text(text)),
        }
        if let Content::File(file, content) = &data.content {
            pieces.push(BodyPiece::File { file: file.clone(), content: *content });
        }
    }
    Ok(ImportedBody::Pieces(pieces))
}

/// The fields of a form in which `--data-urlencode` encodes variables.
///
/// None without such fields, or with other data that a form would change.
fn fields_with_variables(all: &[CurlData]) -> Option<Vec<(String, String)>> {
    all.iter()
        .find(|data| matches!(&data.content, Content::Value(value) if text::has_variable(value)))?;
    let mut fields = Vec::new();
    for data in all {
        match &data.content {
            Content::Value(value) => {
                let name = data.prefix.strip_suffix('=')?;
                fields.push((name.to_owned(), value.clone()));
            }
            Content::Text(text) => match body::form(text) {
                ImportedBody::Form(others, _) if body::encoded(&others) == *text => {
                    fields.extend(others);
                }
                _ => return None,
            },
            Content::File(..) => return None,
        }
    }
    fields.iter().all(|(name, _)| form_encoded(name) == *name).then_some(fields)
}

/// Percent-encodes all characters but the unreserved ones of RFC 3986. Variables stay.
pub(super) fn percent_encode(text: &str) -> String {
    const RESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let pieces = text::pieces(text).into_iter();
    pieces
        .map(|piece| match piece {
            text::TextPiece::Literal(text) => {
                percent_encoding::utf8_percent_encode(text, RESERVED).to_string()
            }
            text::TextPiece::Variable(name) => text::variable(name),
        })
        .collect()
}

/// A part of a form.
pub(super) struct CurlPart {
    pub(super) name: String,
    pub(super) part: MultipartPart,
    /// A comment on a possible difference from curl.
    pub(super) note: Option<String>,
}

/// Reads the part of a form that `-F NAME=CONTENT` describes, like curl.
pub(super) fn form_part(value: &str, folder: &ImportOptions) -> Result<CurlPart, Problem> {
    let Some((name, content)) = value.split_once('=') else {
        return Err((
            format!("`{value}` is no part of a form"),
            "write one such as -F NAME=VALUE".to_owned(),
        ));
    };
    if name.is_empty() {
        return Err(part_problem(value, "no name"));
    }
    let source = content.chars().next().filter(|first| ['@', '<', '('].contains(first));
    if source == Some('(') {
        return Err(part_problem(value, "parts within a part"));
    }
    let content = if source.is_some() { &content[1..] } else { content };
    let (word, parameters) = first_word(content);
    let mut kind = None;
    let mut filename = None;
    for (key, parameter) in parameters {
        match key.as_str() {
            "type" => kind = Some(parameter),
            "filename" => filename = Some(parameter),
            other => return Err(part_problem(value, &format!("the parameter `{other}`"))),
        }
    }
    let name_for_type = filename.as_ref().filter(|_| source == Some('@')).unwrap_or(&word);
    let is_guess = source.is_some()
        && kind.is_none()
        && matches!(text::pieces(name_for_type).last(), Some(text::TextPiece::Variable(_)));
    let note = is_guess.then(|| {
        format!("the type of the part `{name}` is a guess: curl derives it from the value of {name_for_type}")
    });
    let part = match (source, kind) {
        (None, _) if filename.is_some() => {
            return Err(part_problem(value, "a file name beside a text"));
        }
        (None, None) => MultipartPart::Text(word),
        (None, Some(kind)) => MultipartPart::TypedText { text: word, kind },
        (Some(_), _) if word == "-" => {
            return Err(part_problem(value, "the content of standard input"));
        }
        (Some('<'), kind) => {
            // curl omits the default type of a part without a file name.
            let guess =
                Some(media_type(&word)).filter(|kind| !["text/plain", OCTETS].contains(kind));
            let kind = kind.or(guess.map(str::to_owned));
            MultipartPart::File {
                file: in_folder(&word, folder),
                kind,
                filename: Some(String::new()),
            }
        }
        (Some(_), _) if word.contains(',') => return Err(part_problem(value, "several files")),
        (Some(_), kind) => {
            let sent = filename.as_ref().unwrap_or(&word);
            let kind = kind.unwrap_or_else(|| media_type(sent).to_owned());
            MultipartPart::File { file: in_folder(&word, folder), kind: Some(kind), filename }
        }
    };
    Ok(CurlPart { name: name.to_owned(), part, note })
}

fn part_problem(value: &str, feature: &str) -> Problem {
    let wrong = format!("`-F {value}` has {feature}, which plans do not have");
    (wrong, "write parts such as NAME=VALUE or NAME=@FILE;type=TYPE;filename=NAME".to_owned())
}

/// Splits the content of `-F` into its first word (quoted, or up to a semicolon) and its
/// parameters. Like curl, it skips unknown parameters.
fn first_word(content: &str) -> (String, Vec<(String, String)>) {
    const KEYS: [&str; 4] = ["type=", "filename=", "headers=", "encoder="];
    let content = content.trim_start_matches([' ', '\t']);
    let (word, rest) = quoted(content).unwrap_or_else(|| {
        let (word, rest) = content.split_at(next_semicolon(content));
        (word.trim_ascii_end().to_owned(), rest)
    });
    let mut rest = &rest[next_semicolon(rest)..];
    let mut parameters = Vec::new();
    while let Some(parameter) = rest.strip_prefix(';') {
        let parameter = parameter.trim_start();
        let Some(key) = KEYS.iter().find(|key| parameter.starts_with(**key)) else {
            let tail = quoted(parameter).map_or(parameter, |(_, tail)| tail);
            rest = &tail[next_semicolon(tail)..];
            continue;
        };
        let content_after_key = &parameter[key.len()..];
        let (value, tail) = quoted(content_after_key).unwrap_or_else(|| {
            // A semicolon in a media type, such as `type=text/plain; charset=utf-8`,
            // does not end the parameter.
            let mut ends = content_after_key.match_indices(';').map(|(index, _)| index);
            let is_end = |index: &usize| {
                *key != "type="
                    || KEYS
                        .iter()
                        .any(|key| content_after_key[index + 1..].trim_start().starts_with(key))
            };
            let (value, tail) =
                content_after_key.split_at(ends.find(is_end).unwrap_or(content_after_key.len()));
            (value.to_owned(), tail)
        });
        parameters.push((key.trim_end_matches('=').to_owned(), value));
        rest = &tail[next_semicolon(tail)..];
    }
    (word, parameters)
}

/// Index of the first semicolon, or the length.
fn next_semicolon(text: &str) -> usize {
    text.find(';').unwrap_or(text.len())
}

/// Reads a text in double quotes, with escaped quotes and backslashes; returns it and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut word = String::new();
    let mut characters = inner.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some((word, &inner[index + 1..])),
            '\\' => match characters.next()? {
                (_, escaped @ ('"' | '\\')) => word.push(escaped),
                (_, other) => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    None
}

/// Media type of a file with an unknown extension.
const OCTETS: &str = "application/octet-stream";

/// Media type that curl derives from a file's extension.
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
