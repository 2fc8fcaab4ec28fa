//! Reads command lines of curl, both copied from browsers and handwritten.

mod data;
mod glob;
mod options;
mod send;
mod substitution;
mod words;

use crate::ImportOptions;
use crate::urls::in_folder;
use brunt_har::error::ImportError;
use brunt_har::plan::{Constant, ImportedPlan, ImportedRequest, MultipartPart, Variable};
use brunt_har::secrets::Names;
use brunt_har::text::{self, TextPiece};
use brunt_har::{request, server};
use brunt_model::secret::is_secret_field;
use data::{CurlData, form_part};
use options::{CurlOption, Meaning};
use std::collections::HashSet;
use std::time::Duration;
use words::{Command, Expansion, Input, Word};

/// Prompts, keywords of the shell, and programs that run another program.
const PREFIX_WORDS: [&str; 18] = [
    "$", ">", "%", "if", "elif", "then", "else", "while", "until", "do", "!", "{", "time", "sudo",
    "exec", "export", "readonly", "local",
];

/// Maximum number of redirects that curl follows with `-L`.
const MAX_REDIRECTS: u32 = 50;

/// Reads command lines of curl; each URL becomes a request.
///
/// # Errors
///
/// [`ImportError`] with its line if an option is unknown, or a value is malformed.
pub fn read(text: &str, options: &ImportOptions) -> Result<ImportedPlan, ImportError> {
    let words::Commands { mut commands, mut variables } = words::commands(text, &options.file)?;
    let outputs = substitution::expand(&mut commands, &mut variables, &options.file);
    fill_settings_in(&mut commands, &mut variables);
    variables.retain(|name| outputs.iter().flatten().all(|output| output.variable != *name));
    let mut names = Names::default();
    let mut plan = ImportedPlan {
        about: format!("Imported from the command lines of curl in {}.", options.file),
        ..ImportedPlan::default()
    };
    for name in variables {
        let comment = format!("a variable of the shell; export {name}=…");
        names.take(&name);
        plan.vars.push(Variable {
            name: name.clone(),
            value: Constant::Environment(name),
            comment,
        });
    }
    let mut follow = Vec::new();
    let mut others = Vec::new();
    let mut repeats_method = false;
    for (command, output) in commands.iter().zip(outputs) {
        let arguments = match Program::of(command) {
            Program::Curl(arguments) => arguments,
            // A program that reads the reply, such as jq, sends no request.
            Program::Other(_) if command.input == Input::Pipe => continue,
            Program::Other(word) => {
                others.push(word);
                continue;
            }
            Program::None => continue,
        };
        if let Some((expansion, line)) = command.expansion {
            return Err(expansion_error(expansion, &options.file, line));
        }
        let mut output = output;
        for words in split_at_next(arguments) {
            let read = Reader::read(&words, &command.input, options)?;
            follow.push(read.follow);
            repeats_method |= read.repeats_method;
            read.connection
                .into_iter()
                .for_each(|(key, values)| set_connection(&mut plan, key, values));
            for (comments, mut request) in read.requests {
                request.extract.extend(output.take());
                plan.steps.push(plan.requests.add(comments, request));
            }
        }
    }
    leave_out(&others, &follow, &mut plan, &options.file)?;
    let most = follow.iter().copied().max().unwrap_or(0);
    plan.follow = Some(most);
    if repeats_method {
        let note = "Redirects: after 301, 302 and 303 this plan sends GET without a body where browsers do. curl sends the method of -X \
                    and the fields of -H again.";
        plan.notes.push(note.to_owned());
    }
    if follow.iter().any(|one| *one != most) {
        plan.notes.push(
            "Redirects: some commands have -L and others have not; all requests follow them here."
                .to_owned(),
        );
    }
    request::finish(&mut plan, &mut names, options.base.as_deref());
    Ok(plan)
}

/// Sets a key of `connection`, which applies to all requests.
fn set_connection(plan: &mut ImportedPlan, key: &'static str, values: Vec<String>) {
    match plan.connection.iter_mut().find(|(known, _)| *known == key) {
        // Each `--resolve` may name another host.
        Some((_, known)) if key == "resolve" => {
            known.extend(values);
            known.dedup();
        }
        Some((_, known)) if *known != values => {
            let shown = if is_secret_field(key) { String::new() } else { values.join(" ") + ": " };
            plan.left_out.push(format!("{shown}a second `{key}`, which holds for all requests"));
        }
        Some(_) => {}
        None => plan.connection.push((key, values)),
    }
}

/// The program that a command runs.
enum Program<'a> {
    /// curl with these arguments.
    Curl(&'a [Word]),
    /// Another program, by its name.
    Other(&'a Word),
    /// No program: the command sets variables.
    None,
}

impl<'a> Program<'a> {
    fn of(command: &'a Command) -> Self {
        let words = &command.words;
        match words
            .iter()
            .position(|word| !is_setting(&word.text) && !PREFIX_WORDS.contains(&word.text.as_str()))
        {
            Some(position) if is_curl(&words[position].text) => Self::Curl(&words[position + 1..]),
            Some(position) => Self::Other(&words[position]),
            // `NAME=$(curl …)` may send a request.
            None => words
                .first()
                .filter(|_| command.expansion.is_some())
                .map_or(Self::None, Self::Other),
        }
    }
}

/// Lists the commands that are not curl in the plan. Fails if there is no curl command.
fn leave_out(
    others: &[&Word],
    follow: &[u32],
    plan: &mut ImportedPlan,
    file: &str,
) -> Result<(), ImportError> {
    let Some(first) = others.first() else { return Ok(()) };
    if follow.is_empty() {
        let wrong = format!("`{}` is not curl", program_name(first));
        return Err(ImportError::at_line(
            file,
            first.line,
            wrong,
            "write a command line that begins with curl",
        ));
    }
    let names: Vec<String> = others
        .iter()
        .take(12)
        .map(|word| format!("`{}` (line {})", program_name(word), word.line))
        .collect();
    let more = if others.len() > names.len() { ", …" } else { "" };
    plan.left_out.push(format!("commands that are not curl: {}{more}", names.join(", ")));
    Ok(())
}

/// Fills in variables of the shell that earlier commands set, such as `BASE=http://127.0.0.1`, and removes
/// them from the names of variables. Those with the name of a secret stay.
fn fill_settings_in(commands: &mut [Command], variables: &mut Vec<String>) {
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut used: HashSet<String> = HashSet::new();
    for command in commands {
        let input = match &mut command.input {
            Input::Text(text) => Some(text),
            Input::Inherited | Input::Pipe | Input::File(_) => None,
        };
        for text in command.words.iter_mut().map(|word| &mut word.text).chain(input) {
            for (name, value) in &settings {
                *text = text.replace(&text::variable(name), value);
            }
            used.extend(text::pieces(text).into_iter().filter_map(|piece| match piece {
                TextPiece::Variable(name) => Some(name.to_owned()),
                TextPiece::Literal(_) => None,
            }));
        }
        // A setting in front of a program holds for the program, not for its arguments.
        let words = command.words.iter().map(|word| word.text.as_str());
        let words = words.skip_while(|word| PREFIX_WORDS.contains(word));
        if !words.clone().all(is_setting) {
            continue;
        }
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            settings.retain(|(known, _)| known != name);
            if command.expansion.is_none() && !is_secret_field(name) {
                settings.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    variables.retain(|name| used.contains(name));
}

/// True if a word sets a variable of the shell, `NAME=VALUE`.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Name of a program, or of a variable without its value, which may be a secret.
fn program_name(word: &Word) -> String {
    word.text.split_inclusive('=').next().unwrap_or_default().chars().take(40).collect()
}

/// Error for a part of a command that only the shell can expand.
fn expansion_error(expansion: Expansion, file: &str, line: usize) -> ImportError {
    let wrong = match expansion {
        Expansion::Output => "it contains the output of another command",
        Expansion::Argument => "it contains an argument of a script, such as $1",
        Expansion::Parameter => "it contains an expansion of the shell, such as ${NAME:-default}",
    };
    ImportError::at_line(file, line, wrong, "write its value, or a variable such as $TOKEN")
}

fn is_curl(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    ["curl", "curl.exe"].contains(&name)
}

/// Splits a command line at `--next`.
fn split_at_next(words: &[Word]) -> Vec<Vec<Word>> {
    let parts = words.split(|word| word.text == "--next" || word.text == "-:");
    parts.map(<[Word]>::to_vec).filter(|part| !part.is_empty()).collect()
}

/// State of reading one command line.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // switches of curl, each independent of the others
struct Reader<'a> {
    file: &'a str,
    folder: ImportOptions,
    input: Input,
    line: usize,
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Names of default header fields that `-H NAME:` removes.
    removed: Vec<String>,
    cookies: Vec<String>,
    user_agent: Option<String>,
    referer: Option<String>,
    range: Option<String>,
    bearer: Option<String>,
    is_compressed: bool,
    data: Vec<CurlData>,
    /// Values of `--url-query`.
    queries: Vec<CurlData>,
    is_json: bool,
    parts: Vec<(String, MultipartPart)>,
    uploads: Vec<String>,
    as_query: bool,
    only_head: bool,
    is_path_kept: bool,
    has_globs: bool,
    user: Option<String>,
    schemes: Vec<&'static str>,
    proxy_user: bool,
    timeout: Option<Duration>,
    follow: u32,
    /// True if curl repeats the method or body after a redirect that changes the method to GET.
    repeats_method: bool,
    max_redirects: Option<u32>,
    connection: Vec<(&'static str, Vec<String>)>,
    /// True if HTTP/2 is preferred (`--http2`).
    prefers_http2: bool,
    comments: Vec<String>,
    /// Requests of the command line, with their comments.
    requests: Vec<(Vec<String>, ImportedRequest)>,
}

impl<'a> Reader<'a> {
    fn read(
        words: &[Word],
        input: &Input,
        options: &'a ImportOptions,
    ) -> Result<Self, ImportError> {
        let line = words.first().map_or(1, |word| word.line);
        let folder = ImportOptions { folder: options.folder.clone(), ..ImportOptions::default() };
        let input = input.clone();
        let mut reader =
            Self { file: &options.file, folder, input, line, has_globs: true, ..Self::default() };
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
                let option = options::long(name).or_else(|| {
                    options::long(name.strip_prefix("no-")?).filter(|option| !option.has_value)
                });
                let option = option.ok_or_else(|| reader.unknown_option(text))?;
                let value = if option.has_value {
                    reader.value(text, words.next())?
                } else {
                    String::new()
                };
                // `--no-X` switches option X off. The names of some options begin with `no-`.
                if !name.starts_with("no-") || option.name.starts_with("no-") {
                    reader.apply_option(option, &value)?;
                }
            } else {
                for (index, letter) in text[1..].char_indices() {
                    let option = options::short(letter)
                        .ok_or_else(|| reader.unknown_option(&format!("-{letter}")))?;
                    if option.has_value {
                        let rest = &text[1 + index + letter.len_utf8()..];
                        let value = if rest.is_empty() {
                            reader.value(text, words.next())?
                        } else {
                            rest.to_owned()
                        };
                        reader.apply_option(option, &value)?;
                        break;
                    }
                    reader.apply_option(option, "")?;
                }
            }
        }
        reader.add_requests()?;
        Ok(reader)
    }

    fn error(&self, wrong: impl Into<String>, instead: impl Into<String>) -> ImportError {
        ImportError::at_line(self.file, self.line, wrong, instead)
    }

    fn unknown_option(&self, option: &str) -> ImportError {
        self.error(format!("curl's option `{option}` is unknown here"), "leave it out")
    }

    fn value(&self, option: &str, word: Option<&Word>) -> Result<String, ImportError> {
        word.map(|word| word.text.clone())
            .ok_or_else(|| self.error(format!("`{option}` has no value"), "write one after it"))
    }

    fn apply_option(&mut self, option: &CurlOption, value: &str) -> Result<(), ImportError> {
        match option.meaning {
            Meaning::Ignored => Ok(()),
            Meaning::Missing => {
                self.comments
                    .push(format!("left out: --{}, which a plan cannot express", option.name));
                Ok(())
            }
            Meaning::Refused => Err(self.error(
                format!("`--{}` sends the request another way than a plan can", option.name),
                "leave it out, if the requests are to be sent without it",
            )),
            Meaning::Connection => self.connection_option(option.name, value),
            Meaning::Used => self.request_option(option.name, value),
        }
    }

    /// Applies an option of the request.
    fn request_option(&mut self, name: &'static str, value: &str) -> Result<(), ImportError> {
        let text = value.to_owned();
        match name {
            "request" => {
                self.refuse_variable("-X", value, "the method", "write the method")?;
                self.method = Some(text);
            }
            "header" => self.header(value)?,
            "data" | "data-ascii" | "data-binary" | "data-raw" | "data-urlencode" | "json" => {
                self.is_json |= name == "json";
                // curl joins several `--json` without a separator, and other data by `&`.
                let separator = if name == "json" { "" } else { "&" };
                let data = CurlData::read(name, value, separator, &self.input, &self.folder);
                self.data.push(data.map_err(|(wrong, instead)| self.error(wrong, instead))?);
            }
            "url-query" => {
                let query = CurlData::read_query(value, &self.input, &self.folder);
                self.queries.push(query.map_err(|(wrong, instead)| self.error(wrong, instead))?);
            }
            "form" => {
                let part = form_part(value, &self.folder)
                    .map_err(|(wrong, instead)| self.error(wrong, instead))?;
                self.parts.push((part.name, part.part));
                self.comments.extend(part.note);
            }
            "form-string" => {
                let (name, value) = value.split_once('=').ok_or_else(|| {
                    self.error(
                        format!("`{value}` is no part of a form"),
                        "write one such as --form-string NAME=VALUE",
                    )
                })?;
                self.parts.push((name.to_owned(), MultipartPart::Text(value.to_owned())));
            }
            "upload-file" => self.uploads.push(text),
            "get" => self.as_query = true,
            "head" => self.only_head = true,
            "path-as-is" => self.is_path_kept = true,
            "globoff" => self.has_globs = false,
            "user" => self.credentials_option(value)?,
            "basic" | "digest" | "ntlm" | "negotiate" | "anyauth" => self.schemes.push(name),
            "oauth2-bearer" => self.bearer = Some(text),
            "cookie" => self.cookie(value)?,
            "user-agent" => self.user_agent = Some(text),
            "referer" => self.referer_option(value),
            // curl appends a dash to a range without one.
            "range" if value.contains('-') => self.range = Some(format!("bytes={value}")),
            "range" => self.range = Some(format!("bytes={value}-")),
            "location" | "location-trusted" => self.follow = MAX_REDIRECTS,
            // `-1` (no limit) is no `u32`: then curl's default limit remains.
            "max-redirs" => self.max_redirects = value.parse().ok(),
            "max-time" => self.timeout = self.seconds(value)?,
            "compressed" => self.is_compressed = true,
            // `--url`.
            _ => self.urls.push(text),
        }
        Ok(())
    }

    fn refuse_variable(
        &self,
        option: &str,
        value: &str,
        kind: &str,
        instead: &str,
    ) -> Result<(), ImportError> {
        if text::has_variable(value) {
            return Err(
                self.error(format!("a variable replaces {kind} in `{option} {value}`"), instead)
            );
        }
        Ok(())
    }

    /// Handles `-u`. A value without a colon must not be a variable, which
    /// may hold the password too.
    fn credentials_option(&mut self, value: &str) -> Result<(), ImportError> {
        if !value.contains(':') {
            self.refuse_variable(
                "-u",
                value,
                "name and password",
                "write both, such as -u \"$NAME:$PASSWORD\"",
            )?;
        }
        self.user = Some(if value.contains(':') { value.to_owned() } else { format!("{value}:") });
        Ok(())
    }

    fn cookie(&mut self, value: &str) -> Result<(), ImportError> {
        // curl reads a value without an equals sign as the name of a file.
        if value.contains('=') {
            self.cookies.push(value.to_owned());
        } else if !value.is_empty() {
            let instead = format!("write -H \"Cookie: {value}\" if it holds cookies");
            self.refuse_variable("-b", value, "cookies or a file of them", &instead)?;
            self.comments
                .push(format!("left out: -b {value}, a file of cookies; each user keeps its own"));
        }
        Ok(())
    }

    fn referer_option(&mut self, value: &str) {
        let page = value.strip_suffix(";auto");
        if page.is_some() {
            self.comments
                .push("left out: ;auto of -e: a followed redirect keeps the Referer".to_owned());
        }
        self.referer = Some(page.unwrap_or(value).to_owned());
    }

    /// Applies an option of the connection.
    fn connection_option(&mut self, name: &'static str, value: &str) -> Result<(), ImportError> {
        let (key, value) = match name {
            "insecure" | "http1.0" => (name, "true".to_owned()),
            "http1.1" => ("http", "1.1".to_owned()),
            "http2-prior-knowledge" => ("http", "2".to_owned()),
            "http3" => ("http", "3".to_owned()),
            "http2" => {
                // The choice depends on the schemes of all URLs.
                self.prefers_http2 = true;
                return Ok(());
            }
            "proxy" => return self.proxy(value),
            "proxy-user" => {
                // `-x` may follow.
                self.proxy_user = true;
                return Ok(());
            }
            "connect-timeout" => match self.seconds(value)? {
                Some(time) => ("connect_timeout", format!("{}ms", time.as_millis())),
                None => return Ok(()),
            },
            "interface" if value.parse::<std::net::IpAddr>().is_ok() => {
                ("source", value.to_owned())
            }
            "interface" => {
                let wrong = format!(
                    "`--interface {value}` is no address, and a plan names none by its interface"
                );
                return Err(self.error(wrong, "write the address, such as --interface 127.0.0.2"));
            }
            "unix-socket" => ("unix_socket", in_folder(value, &self.folder)),
            "cacert" | "key" => (name, in_folder(value, &self.folder)),
            "cert" => return self.certificate(value),
            "pass" => ("key_password", value.to_owned()),
            // brunt recognizes the format by the content.
            "cert-type" | "key-type"
                if ["PEM", "DER", "P12"].iter().any(|known| value.eq_ignore_ascii_case(known)) =>
            {
                return Ok(());
            }
            "cert-type" | "key-type" => {
                let wrong = format!("`--{name} {value}`: brunt reads only files");
                return Err(self.error(wrong, "write a file in PEM, DER or PKCS #12"));
            }
            "tls-max" if ["1.2", "1.3"].contains(&value) => ("tls_max", value.to_owned()),
            "tls-max" if value == "default" => return Ok(()),
            "tls-max" => {
                self.comments
                    .push(format!("left out: --tls-max {value}: brunt has TLS 1.2 and 1.3"));
                return Ok(());
            }
            "tlsv1.2" | "tlsv1.3" => ("tls_min", name.trim_start_matches("tlsv").to_owned()),
            other => (other, value.to_owned()),
        };
        self.connection.push((key, vec![value]));
        Ok(())
    }

    /// Handles `-E FILE` and `-E FILE:PASSWORD`.
    fn certificate(&mut self, value: &str) -> Result<(), ImportError> {
        if value.starts_with("pkcs11:") {
            return Err(self.error(
                "`-E pkcs11:…` names a certificate of a token, which brunt does not read",
                "write a file in PEM, DER or PKCS #12",
            ));
        }
        // A backslash precedes a colon of the name.
        let mut colons = value.match_indices(':').map(|(position, _)| position);
        let end = colons.find(|&position| !value[..position].ends_with('\\'));
        let file = value[..end.unwrap_or(value.len())].replace("\\:", ":");
        self.connection.push(("cert", vec![in_folder(&file, &self.folder)]));
        if let Some(end) = end {
            self.connection.push(("key_password", vec![value[end + 1..].to_owned()]));
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
        let name = value.split([':', ';']).next().unwrap_or_default();
        if text::has_variable(name) {
            return Err(self.error(
                format!("`-H {name}` has a variable in the name of the field"),
                "write the name, such as -H 'X-Token: $TOKEN'",
            ));
        }
        match value.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                let name = name.trim().to_owned();
                if !name.is_empty() {
                    self.headers.push((name, value.trim().to_owned()));
                }
            }
            Some((name, _)) => {
                // A plan always sends these fields.
                if ["host", "content-length"].iter().any(|known| name.eq_ignore_ascii_case(known)) {
                    self.comments.push(format!("left out: -H {name}: that the field is not sent"));
                }
                self.removed.push(name.to_ascii_lowercase());
            }
            // `-H 'NAME;'` sends a field without a value.
            None => match value.strip_suffix(';') {
                Some(name) => self.headers.push((name.to_owned(), String::new())),
                None => {
                    self.comments.push(format!(
                        "left out: -H {value}: it has no colon, so that curl does not send it"
                    ));
                }
            },
        }
        Ok(())
    }

    fn proxy(&mut self, value: &str) -> Result<(), ImportError> {
        if value.is_empty() {
            return Ok(());
        }
        let address = server::parse(value).ok().filter(|address| address.basic.is_none());
        let Some(address) = address.filter(|address| !address.server.starts_with("https")) else {
            let scheme = value.split_once("://").map_or("http", |(scheme, _)| scheme);
            let wrong = format!(
                "the proxy of `-x {scheme}://…` needs a password, or another protocol than HTTP"
            );
            return Err(
                self.error(wrong, "write a proxy such as -x http://HOST:PORT, or leave it out")
            );
        };
        let authority =
            value.split_once("://").map_or(value, |(_, rest)| rest).trim_end_matches('/');
        let has_port =
            authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let has_default_port = !has_port && !text::has_variable(value);
        // curl's default port for a proxy is 1080.
        let proxy =
            if has_default_port { format!("{}:1080", address.server) } else { value.to_owned() };
        self.connection.push(("proxy", vec![proxy]));
        Ok(())
    }

    /// Parses a time in seconds; None for 0, which means no limit.
    fn seconds(&self, value: &str) -> Result<Option<Duration>, ImportError> {
        let seconds =
            value.parse().ok().and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok());
        let seconds = seconds.ok_or_else(|| {
            self.error(format!("`{value}` is no time"), "write seconds, such as 2.5")
        })?;
        Ok((!seconds.is_zero()).then_some(seconds))
    }
}
