//! Command lines of curl, as browsers copy them and as people write them.

mod options;
mod words;

use crate::body::{self, FORM, JSON};
use crate::error::ImportError;
use crate::plan::{Body, Constant, ImportedPlan, Part, Request, Step, StepKind, Variable};
use crate::secrets::Names;
use crate::text;
use crate::urls::in_folder;
use crate::{Options, request, server};
use options::{Known, Meaning};
use std::time::Duration;
use words::Word;

/// The redirects that curl follows with `-L`.
const FOLLOWED: u32 = 50;

/// Reads command lines of curl: one request for each URL.
///
/// # Errors
///
/// [`ImportError`] with its line if an option is unknown, or a value is malformed.
pub fn read(text: &str, options: &Options) -> Result<ImportedPlan, ImportError> {
    let words::Commands { commands, variables } = words::commands(text, &options.file)?;
    let mut names = Names::default();
    let mut plan = ImportedPlan {
        about: format!("Imported from the command lines of curl in {}.", options.file),
        ..ImportedPlan::default()
    };
    for name in variables {
        let comment = format!("a variable of the shell; export {name}=…");
        names.take(&name);
        plan.vars.push(Variable { name: name.clone(), value: Constant::Environment(name), comment });
    }
    let mut follow = Vec::new();
    for words in commands {
        for command in split(&command(words, &options.file)?) {
            let read = Reader::read(&command, options)?;
            follow.push(read.follow);
            read.connection.into_iter().for_each(|(key, values)| connect(&mut plan, key, values));
            plan.steps.extend(read.steps);
        }
    }
    let most = follow.iter().copied().max().unwrap_or(0);
    plan.follow = Some(most);
    if follow.iter().any(|one| *one != most) {
        plan.notes
            .push("Redirects: some commands have -L and others have not; all requests follow them here.".to_owned());
    }
    request::finish(&mut plan, &mut names, options);
    Ok(plan)
}

/// Sets a key of `connection`, which holds for all requests.
fn connect(plan: &mut ImportedPlan, key: &'static str, values: Vec<String>) {
    match plan.connection.iter_mut().find(|(known, _)| *known == key) {
        Some((_, known)) if key == "resolve" => {
            known.extend(values);
            known.dedup();
        }
        Some((_, known)) if *known != values => {
            plan.notes.push(format!("Left out: a second `{key}`, {}; it holds for all requests.", values.join(" ")));
        }
        Some(_) => {}
        None => plan.connection.push((key, values)),
    }
}

/// The arguments of a command line of curl.
fn command(words: Vec<Word>, file: &str) -> Result<Vec<Word>, ImportError> {
    let is_setting = |word: &Word| {
        word.text
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
    };
    let is_prompt = |word: &Word| ["$", ">", "%"].contains(&word.text.as_str());
    let mut words = words.into_iter().skip_while(|word| is_setting(word) || is_prompt(word));
    match words.next() {
        Some(program) if is_curl(&program.text) => Ok(words.collect()),
        Some(program) => {
            let shown: String = program.text.chars().take(40).collect();
            Err(ImportError::at_line(
                file,
                program.line,
                format!("`{shown}` is not curl"),
                "write a command line that begins with curl",
            ))
        }
        None => Ok(Vec::new()),
    }
}

fn is_curl(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    ["curl", "curl.exe"].contains(&name)
}

/// The parts between `--next`.
fn split(words: &[Word]) -> Vec<Vec<Word>> {
    let parts = words.split(|word| word.text == "--next" || word.text == "-:");
    parts.map(<[Word]>::to_vec).filter(|part| !part.is_empty()).collect()
}

/// What `-d` and its relatives give.
enum Data {
    /// A part of the body as it is sent.
    Text(String),
    /// A part that `--data-urlencode` encodes: its name, if it has one, and its value.
    Encoded(String, String),
    /// A file.
    File(String),
}

/// One command line, as far as it is read.
#[derive(Default)]
struct Reader<'a> {
    file: &'a str,
    folder: Options,
    line: usize,
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    data: Vec<Data>,
    is_json: bool,
    parts: Vec<(String, Part)>,
    upload: Option<String>,
    as_query: bool,
    only_head: bool,
    basic: Option<String>,
    timeout: Option<Duration>,
    follow: u32,
    most_redirects: Option<u32>,
    connection: Vec<(&'static str, Vec<String>)>,
    comments: Vec<String>,
    steps: Vec<Step>,
}

impl<'a> Reader<'a> {
    fn read(words: &[Word], options: &'a Options) -> Result<Self, ImportError> {
        let line = words.first().map_or(1, |word| word.line);
        let folder = Options { folder: options.folder.clone(), ..Options::default() };
        let mut reader = Self { file: &options.file, folder, line, ..Self::default() };
        let mut words = words.iter();
        let mut only_urls = false;
        while let Some(word) = words.next() {
            reader.line = word.line;
            let text = word.text.as_str();
            if only_urls || !text.starts_with('-') || text == "-" {
                reader.urls.push(text.to_owned());
            } else if text == "--" {
                only_urls = true;
            } else if let Some(name) = text.strip_prefix("--") {
                let known = options::long(name)
                    .or_else(|| options::long(name.strip_prefix("no-")?).filter(|known| !known.has_value));
                let known = known.ok_or_else(|| reader.unknown(text))?;
                let value = if known.has_value { reader.value(text, words.next())? } else { String::new() };
                if !name.starts_with("no-") || known.name.starts_with("no-") {
                    reader.option(known, &value)?;
                }
            } else {
                for (at, letter) in text[1..].char_indices() {
                    let known = options::short(letter).ok_or_else(|| reader.unknown(&format!("-{letter}")))?;
                    if known.has_value {
                        let rest = &text[1 + at + letter.len_utf8()..];
                        let value = if rest.is_empty() { reader.value(text, words.next())? } else { rest.to_owned() };
                        reader.option(known, &value)?;
                        break;
                    }
                    reader.option(known, "")?;
                }
            }
        }
        reader.requests()?;
        Ok(reader)
    }

    fn error(&self, wrong: impl Into<String>, instead: impl Into<String>) -> ImportError {
        ImportError::at_line(self.file, self.line, wrong, instead)
    }

    fn unknown(&self, option: &str) -> ImportError {
        self.error(format!("curl's option `{option}` is unknown here"), "leave it out")
    }

    fn value(&self, option: &str, word: Option<&Word>) -> Result<String, ImportError> {
        word.map(|word| word.text.clone())
            .ok_or_else(|| self.error(format!("`{option}` has no value"), "write one behind it"))
    }

    fn option(&mut self, known: &Known, value: &str) -> Result<(), ImportError> {
        match known.meaning {
            Meaning::Ignored => return Ok(()),
            Meaning::Missing => {
                self.comments.push(format!("left out: --{}, which a plan cannot say", known.name));
                return Ok(());
            }
            Meaning::Used => {}
        }
        let text = value.to_owned();
        match known.name {
            "request" => self.method = Some(text.to_ascii_uppercase()),
            "header" => self.header(value)?,
            "data" | "data-ascii" | "data-binary" => self.data(value)?,
            "data-raw" => self.data.push(Data::Text(text)),
            "data-urlencode" => self.encoded(value)?,
            "json" => {
                self.is_json = true;
                self.data(value)?;
            }
            "form" => self.form(value)?,
            "form-string" => {
                let (name, value) = self.pair(value)?;
                self.parts.push((name, Part::Text(value)));
            }
            "upload-file" => self.upload = Some(in_folder(value, &self.folder)),
            "get" => self.as_query = true,
            "head" => self.only_head = true,
            "user" => self.basic = Some(if value.contains(':') { text } else { format!("{value}:") }),
            "oauth2-bearer" => self.headers.push(("Authorization".to_owned(), format!("Bearer {value}"))),
            "cookie" if value.contains('=') => self.headers.push(("Cookie".to_owned(), text)),
            "cookie" => self.comments.push(format!("left out: -b {value}, a file of cookies; each user keeps its own")),
            "user-agent" => self.headers.push(("User-Agent".to_owned(), text)),
            "referer" => self.headers.push(("Referer".to_owned(), value.trim_end_matches(";auto").to_owned())),
            "range" => self.headers.push(("Range".to_owned(), format!("bytes={value}"))),
            "location" | "location-trusted" => self.follow = FOLLOWED,
            "max-redirs" => self.most_redirects = value.parse().ok(),
            "max-time" => self.timeout = Some(self.seconds(value)?),
            "compressed" => self.headers.push(("Accept-Encoding".to_owned(), "gzip, deflate".to_owned())),
            "insecure" => self.connection.push(("insecure", vec!["true".to_owned()])),
            "http1.0" => self.connection.push(("http1.0", vec!["true".to_owned()])),
            "proxy" => self.proxy(value),
            "connect-timeout" => {
                let millis = self.seconds(value)?.as_millis();
                self.connection.push(("connect_timeout", vec![format!("{millis}ms")]));
            }
            "resolve" => self.connection.push(("resolve", vec![text])),
            "cacert" => self.connection.push(("cacert", vec![in_folder(value, &self.folder)])),
            "cert" => self.connection.push(("cert", vec![in_folder(value, &self.folder)])),
            "key" => self.connection.push(("key", vec![in_folder(value, &self.folder)])),
            "unix-socket" => self.connection.push(("unix_socket", vec![in_folder(value, &self.folder)])),
            _ => self.urls.push(text),
        }
        Ok(())
    }

    fn header(&mut self, value: &str) -> Result<(), ImportError> {
        if value.starts_with('@') {
            return Err(self.error(
                format!("`-H {value}` names a file of header fields"),
                "write each field with -H 'NAME: VALUE'",
            ));
        }
        match value.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                let name = name.trim().to_owned();
                if !name.starts_with(':') && !name.is_empty() {
                    self.headers.push((name, value.trim().to_owned()));
                }
            }
            // A field that curl would not send.
            Some(_) => {}
            None => match value.strip_suffix(';') {
                Some(name) => self.headers.push((name.to_owned(), String::new())),
                None => {
                    return Err(
                        self.error(format!("`-H {value}` is no header field"), "write one such as -H 'NAME: VALUE'")
                    );
                }
            },
        }
        Ok(())
    }

    fn data(&mut self, value: &str) -> Result<(), ImportError> {
        match value.strip_prefix('@') {
            Some("-") => {
                return Err(self.error("standard input is the body", "write the body, or the name of a file behind @"));
            }
            Some(file) => self.data.push(Data::File(in_folder(file, &self.folder))),
            None => self.data.push(Data::Text(value.to_owned())),
        }
        Ok(())
    }

    fn encoded(&mut self, value: &str) -> Result<(), ImportError> {
        let (name, content) = match value.split_once('=') {
            Some((name, content)) => (name, content),
            None if value.contains('@') => {
                return Err(
                    self.error(format!("`--data-urlencode {value}` names a file"), "write its content behind NAME=")
                );
            }
            None => ("", value),
        };
        self.data.push(Data::Encoded(name.to_owned(), content.to_owned()));
        Ok(())
    }

    fn pair(&self, value: &str) -> Result<(String, String), ImportError> {
        let pair = value.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| self.error(format!("`{value}` is no part of a form"), "write one such as -F NAME=VALUE"))
    }

    fn form(&mut self, value: &str) -> Result<(), ImportError> {
        let (name, content) = self.pair(value)?;
        let mut words = content.split(';');
        let first = words.next().unwrap_or_default();
        let part = match first.strip_prefix(['@', '<']) {
            Some(file) => {
                let kind = words.find_map(|word| word.trim().strip_prefix("type=").map(str::to_owned));
                Part::File { file: in_folder(file.trim_matches('"'), &self.folder), kind }
            }
            None => Part::Text(content.split(";type=").next().unwrap_or_default().to_owned()),
        };
        self.parts.push((name, part));
        Ok(())
    }

    fn proxy(&mut self, value: &str) {
        match server::parse(value) {
            Ok(address) if address.basic.is_none() && !text::has_variable(value) => {
                self.connection.push(("proxy", vec![value.to_owned()]));
            }
            _ => self.comments.push("left out: --proxy with a password; write it below connection.proxy".to_owned()),
        }
    }

    fn seconds(&self, value: &str) -> Result<Duration, ImportError> {
        let seconds = value.parse().ok().and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
        seconds
            .filter(|time| !time.is_zero())
            .ok_or_else(|| self.error(format!("`{value}` is no time"), "write seconds, such as 2.5"))
    }

    fn requests(&mut self) -> Result<(), ImportError> {
        if self.urls.is_empty() {
            return Err(self.error("the command has no URL", "write one such as http://127.0.0.1:8080/"));
        }
        self.follow = self.most_redirects.filter(|_| self.follow > 0).unwrap_or(self.follow);
        for url in self.urls.clone() {
            let request = self.request(&url)?;
            let mut comments = self.comments.clone();
            if !["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].contains(&request.method.as_str()) {
                comments.push(format!("left out: {} {url}: a plan has no such method", request.method));
                self.steps.push(Step { comments, kind: None });
                continue;
            }
            self.steps.push(Step { comments, kind: Some(StepKind::Request(Box::new(request))) });
        }
        Ok(())
    }

    fn request(&self, url: &str) -> Result<Request, ImportError> {
        let address =
            server::parse(url).map_err(|wrong| self.error(wrong, "write a URL such as http://127.0.0.1:8080/path"))?;
        if address.server.is_empty() {
            return Err(self.error(format!("`{url}` has no server"), format!("write http://HOST{url}")));
        }
        let mut request = Request {
            server: address.server,
            path: address.path,
            query: address.query.as_deref().map(body::pairs).unwrap_or_default(),
            raw_query: address.query,
            headers: self.headers.clone(),
            basic: self.basic.clone().or(address.basic),
            timeout: self.timeout,
            ..Request::default()
        };
        if self.as_query {
            request.query.extend(self.data.iter().flat_map(|data| match data {
                Data::Text(text) => body::pairs(text),
                Data::Encoded(name, value) => vec![(name.clone(), value.clone())],
                Data::File(_) => Vec::new(),
            }));
            request.raw_query = None;
        } else {
            self.body(&mut request)?;
        }
        let default = match (&request.body, self.only_head) {
            (_, true) => "HEAD",
            (Body::None, _) => "GET",
            _ if self.upload.is_some() => "PUT",
            _ => "POST",
        };
        request.method = self.method.clone().unwrap_or_else(|| default.to_owned());
        Ok(request)
    }

    fn body(&self, request: &mut Request) -> Result<(), ImportError> {
        if let Some(file) = &self.upload {
            request.body = Body::File(file.clone());
        } else if !self.parts.is_empty() {
            request.body = Body::Multipart(self.parts.clone());
        } else if !self.data.is_empty() {
            let mut add = |name: &str, value: &str| {
                if !request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    request.headers.push((name.to_owned(), value.to_owned()));
                }
            };
            if self.is_json {
                add("Content-Type", JSON);
                add("Accept", JSON);
            }
            add("Content-Type", FORM);
            let kind = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            let kind = kind.map(|(_, value)| value.clone()).unwrap_or_default();
            request.body = self.sent(&kind)?;
        }
        Ok(())
    }

    /// What the data make together.
    fn sent(&self, kind: &str) -> Result<Body, ImportError> {
        if let [Data::File(file)] = &self.data[..] {
            return Ok(Body::File(file.clone()));
        }
        let mut texts = Vec::new();
        let mut fields = Some(Vec::new());
        for data in &self.data {
            match data {
                Data::File(file) => {
                    let wrong = format!("the file {file} stands beside other data");
                    return Err(self.error(wrong, "write its content in place of @FILE"));
                }
                Data::Text(text) => {
                    texts.push(text.clone());
                    match (body::form(text), &mut fields) {
                        (Body::Form(more), Some(fields)) => fields.extend(more),
                        _ => fields = None,
                    }
                }
                Data::Encoded(name, value) => {
                    texts.push(text::encode_part(&if name.is_empty() {
                        value.clone()
                    } else {
                        format!("{name}={value}")
                    }));
                    match &mut fields {
                        Some(fields) if !name.is_empty() => fields.push((name.clone(), value.clone())),
                        _ => fields = None,
                    }
                }
            }
        }
        let is_form = kind.starts_with(FORM);
        match fields {
            Some(fields) if is_form => Ok(Body::Form(fields)),
            _ => Ok(body::of(kind, &texts.join(if self.is_json { "" } else { "&" }))),
        }
    }
}
