//! Parsers of values that have no module: header fields, methods, addresses, files.

pub mod secrets;

use super::named::{self, NamedValue, Suggestion, value_named};
use super::{duration, target};
use brunt_model::plan::{HttpVersion, Resolve, ResolveAll, TlsVersion};
use brunt_model::request::PieceInterval;
use brunt_script::WordError;
use brunt_wire::tls;
use brunt_wire::tls::files::{self, BadTlsFile};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A variable of the environment, by its name.
pub type EnvironmentVariable = fn(&str) -> Option<String>;

/// A report and its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Name of the format.
    pub format: String,
    /// File of the report; None for standard output.
    pub file: Option<PathBuf>,
}

/// Source of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// A text of the command line.
    Text(String),
    /// The content of this file.
    File(PathBuf),
    /// The content of standard input.
    Stdin,
}

/// Parses `FORMAT` or `FORMAT=FILE`; the file `-` is standard output.
pub fn output(word: &str) -> Result<Output, WordError> {
    let (format, file) =
        word.split_once('=').map_or((word, None), |(format, file)| (format, Some(file)));
    if format.is_empty() || file == Some("") {
        return Err(WordError::new(
            word,
            "the format or the file is missing",
            "text, json or json=run.json",
        ));
    }
    Ok(Output { format: format.to_owned(), file: file.filter(|f| *f != "-").map(PathBuf::from) })
}

/// Parses `TEXT`, `@FILE`, or `@-` for standard input.
///
/// # Errors
///
/// [`WordError`] if an environment variable is not set.
pub fn data(word: &str, environment: EnvironmentVariable) -> Result<Data, WordError> {
    Ok(match word.strip_prefix('@') {
        None => Data::Text(secrets::filled(word, environment)?),
        Some("-") => Data::Stdin,
        Some("") => {
            return Err(WordError::new(
                word,
                "a file is missing",
                "@body.json, or @- for standard input",
            ));
        }
        Some(file) => Data::File(file.into()),
    })
}

/// Parses a method in capitals. Methods are case-sensitive (RFC 9110 section 9.1), and the standard
/// ones are in capitals.
pub fn method(word: &str) -> Result<String, WordError> {
    method_name(word)?;
    if word.bytes().any(|b| b.is_ascii_lowercase()) {
        return Err(WordError::new(
            word,
            "methods are written in capitals",
            word.to_ascii_uppercase(),
        ));
    }
    Ok(word.to_owned())
}

/// Checks the name of a method, in any case of letters.
///
/// # Errors
///
/// [`WordError`] if it cannot be the method of a request.
pub fn method_name(word: &str) -> Result<(), WordError> {
    if word.is_empty() || !word.bytes().all(is_token) {
        return Err(WordError::new(word, "not a method", "one such as GET, POST or DELETE"));
    }
    // The reply to CONNECT has no end: the connection becomes a tunnel (RFC 9110 section 9.3.6).
    if word == "CONNECT" {
        return Err(WordError::new(
            word,
            "CONNECT opens a tunnel and gets no reply",
            "another method, or --proxy URL",
        ));
    }
    Ok(())
}

/// Versions of HTTP, with their ALPN names and the names of other tools.
const HTTP_VERSIONS: [NamedValue<HttpVersion>; 4] = [
    NamedValue { names: &["1.0"], about: "HTTP/1.0", value: HttpVersion::V1_0 },
    NamedValue { names: &["1.1", "1"], about: "HTTP/1.1", value: HttpVersion::V1_1 },
    NamedValue { names: &["2", "2.0", "h2", "h2c"], about: "HTTP/2", value: HttpVersion::V2 },
    NamedValue { names: &["3", "3.0", "h3"], about: "HTTP/3", value: HttpVersion::V3 },
];

/// Versions of TLS.
const TLS_VERSIONS: [NamedValue<TlsVersion>; 2] = [
    NamedValue { names: &["1.2"], about: "TLS 1.2", value: TlsVersion::V12 },
    NamedValue { names: &["1.3"], about: "TLS 1.3", value: TlsVersion::V13 },
];

/// Usual methods of requests.
const METHODS: [(&str, &str); 6] = [
    ("GET", "read"),
    ("POST", "create, or submit a form"),
    ("PUT", "replace"),
    ("PATCH", "change"),
    ("DELETE", "remove"),
    ("HEAD", "read the header only"),
];

/// Returns the methods that shells propose.
pub fn suggested_methods() -> Vec<Suggestion> {
    named::of_list(&METHODS)
}

const HEADER_EXAMPLE: &str = "'Name: value', such as 'Accept: text/html'";

/// Parses a header field `Name: value`.
pub fn header(word: &str) -> Result<(String, String), WordError> {
    let (name, value) = word
        .split_once(':')
        .ok_or_else(|| WordError::new(word, "its colon is missing", HEADER_EXAMPLE))?;
    header_field(name, value)
}

/// Checks the name and the value of a header field.
///
/// # Errors
///
/// [`WordError`] if the name is invalid, or the value contains a control character.
pub fn header_field(name: &str, value: &str) -> Result<(String, String), WordError> {
    header_name(name)?;
    Ok((name.to_owned(), text(value)?))
}

/// Checks the name of a header field (RFC 9110 section 5.1).
///
/// # Errors
///
/// [`WordError`] if it is not a name.
pub fn header_name(name: &str) -> Result<(), WordError> {
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(WordError::new(name, "not a header name", HEADER_EXAMPLE));
    }
    Ok(())
}

/// Parses the value of a header field, without line breaks and other control characters. Space
/// around it is removed.
pub fn text(word: &str) -> Result<String, WordError> {
    // White space around a value is not part of it (RFC 9110 section 5.5).
    let word = word.trim_matches([' ', '\t']);
    // A line break would begin another header field.
    if word.chars().any(|c| c.is_control() && c != '\t') {
        return Err(WordError::new(
            word,
            "it holds a line break or control character",
            "it without, on one line",
        ));
    }
    Ok(word.to_owned())
}

/// Parses `NAME=VALUE` into name and value.
pub fn pair(word: &str) -> Result<(String, String), WordError> {
    let pair = word.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) =
        pair.ok_or_else(|| WordError::new(word, "not a pair", "NAME=VALUE, such as user=anna"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Checks `NAME=VALUE`, for a Cookie header field.
pub fn cookie(word: &str) -> Result<String, WordError> {
    pair(word)?;
    text(word)
}

/// Parses `USER:PASS` into name and password.
pub fn basic(word: &str) -> Result<(String, String), WordError> {
    // A name cannot contain a colon, but a password can (RFC 7617 section 2).
    let pair = word.split_once(':').filter(|(user, _)| !user.is_empty());
    let (user, pass) =
        pair.ok_or_else(|| WordError::new(word, "name or colon is missing", "USER:PASS"))?;
    Ok((user.to_owned(), pass.to_owned()))
}

/// Checks that a file contains certificates.
///
/// # Errors
///
/// [`WordError`] if the file cannot be read, or contains none.
pub fn certificates(word: &str) -> Result<PathBuf, WordError> {
    files::certificates(Path::new(word)).map_err(|wrong| file_error(word, &wrong))?;
    Ok(word.into())
}

/// Checks a file with a client's certificate, or that there is a folder of them. A file of PKCS #12
/// needs its password, which the caller checks.
///
/// # Errors
///
/// [`WordError`] if it is neither.
pub fn certificate_or_folder(word: &str) -> Result<PathBuf, WordError> {
    if !Path::new(word).is_dir() {
        files::check_certificate(Path::new(word)).map_err(|wrong| file_error(word, &wrong))?;
    }
    Ok(word.into())
}

/// Checks that a file contains a private key. An encrypted one needs its password, which the caller
/// checks.
///
/// # Errors
///
/// [`WordError`] if the file cannot be read, or contains none.
pub fn private_key(word: &str) -> Result<PathBuf, WordError> {
    files::check_key(Path::new(word)).map_err(|wrong| file_error(word, &wrong))?;
    Ok(word.into())
}

fn file_error(word: &str, wrong: &BadTlsFile) -> WordError {
    WordError::new(word, &wrong.problem, wrong.instead.clone())
}

/// Parses the address of all connections: `127.0.0.1:8080` or `[::1]:8443,tls`.
///
/// # Errors
///
/// [`WordError`] if it is not an address and port.
pub fn resolve_all(word: &str) -> Result<ResolveAll, WordError> {
    let (address, tls) = match word.split_once(',') {
        None => (word, false),
        Some((address, "tls")) => (address, true),
        Some(_) => {
            return Err(WordError::new(
                word,
                "after the comma, only `tls` is allowed",
                "127.0.0.1:8443,tls",
            ));
        }
    };
    let address = address.trim().parse();
    let address = address
        .map_err(|_| WordError::new(word, "this is no address and port", "127.0.0.1:8080"))?;
    Ok(ResolveAll { address, tls })
}

/// Parses a version of HTTP.
///
/// # Errors
///
/// [`WordError`] if there is no such version.
pub fn http_version(word: &str) -> Result<HttpVersion, WordError> {
    value_named(&HTTP_VERSIONS, word).ok_or_else(|| {
        WordError::new(
            word,
            "this is no version of HTTP that brunt speaks: 1.0, 1.1, 2, 3 or auto",
            "2",
        )
    })
}

/// Returns the versions of HTTP that shells propose.
pub fn suggested_http_versions() -> Vec<Suggestion> {
    named::suggestions(&HTTP_VERSIONS)
}

/// Parses a method of gRPC: `package.Service/Method`.
pub fn grpc_method(word: &str) -> Result<String, WordError> {
    // The path of a call, `/package.Service/Method`, is often copied from logs.
    let word = word.trim_start_matches('/');
    match word.split_once('/') {
        Some((service, method))
            if !service.is_empty() && !method.is_empty() && !method.contains('/') =>
        {
            Ok(word.to_owned())
        }
        _ => Err(WordError::new(word, "this is no method of gRPC", "package.Service/Method")),
    }
}

/// Parses the number of messages of a stream.
///
/// # Errors
///
/// [`WordError`] if the value is no whole number above 0.
pub fn message_count(word: &str) -> Result<u64, WordError> {
    let count = word.parse::<u32>().ok().filter(|count| *count > 0);
    count.map(u64::from).ok_or_else(|| {
        WordError::new(word, "this is no number of messages", "a number such as 100")
    })
}

/// Parses the duration of a stream.
///
/// # Errors
///
/// [`WordError`] if the value is no time above 0.
pub fn stream_duration(word: &str) -> Result<Duration, WordError> {
    let time = duration::parse(word)?;
    if time.is_zero() {
        return Err(WordError::new(word, "a stream cannot last 0 s", "a time such as 10s"));
    }
    Ok(time)
}

/// Parses the source of encoded messages: a file, or `-` for standard input.
///
/// # Errors
///
/// [`WordError`] if the value is empty.
pub fn binary_file(word: &str) -> Result<Data, WordError> {
    match word {
        "" => Err(WordError::new(word, "the name of the file is empty", "a file such as item.bin")),
        "-" => Ok(Data::Stdin),
        file => Ok(Data::File(file.into())),
    }
}

/// Parses the name of a server in gRPC calls: a host, or a host and a port.
///
/// # Errors
///
/// [`WordError`] if the value is something else, such as a URL.
pub fn authority(word: &str) -> Result<String, WordError> {
    let url = url::Url::parse(&format!("http://{word}/")).ok();
    let is_authority = url.is_some_and(|url| {
        url.path() == "/" && url.username().is_empty() && url.query().or(url.fragment()).is_none()
    });
    // The parser of URLs removes line breaks, and reads `\` as `/`.
    let is_plain = !word.contains(|c: char| c.is_whitespace() || "@/\\?#".contains(c));
    if is_authority && is_plain {
        return Ok(word.to_owned());
    }
    Err(WordError::new(
        word,
        "this is no host, or host and port, of a server",
        "shop.example or shop.example:443",
    ))
}

/// Parses the times at which the messages of a stream are sent: at an interval, or
/// each after a reply.
///
/// # Errors
///
/// [`WordError`] if the value is neither a time above 0 nor `reply`.
pub fn message_interval(word: &str) -> Result<PieceInterval, WordError> {
    if word == "reply" {
        return Ok(PieceInterval::Reply);
    }
    match duration::parse(word) {
        Ok(time) if !time.is_zero() => Ok(PieceInterval::Time(time)),
        Ok(_) => Err(WordError::new(
            word,
            "messages cannot be 0 s apart",
            "a time such as 1ms, or leave the option out",
        )),
        Err(_) => Err(WordError::new(
            word,
            "this is no interval of messages",
            "a time such as 100ms, or reply",
        )),
    }
}

/// Parses a version of TLS.
///
/// # Errors
///
/// [`WordError`] if brunt does not speak it.
pub fn tls_version(word: &str) -> Result<TlsVersion, WordError> {
    // curl, nginx and OpenSSL write the prefix in different ways.
    let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let number = number.trim_start_matches(['v', '_', ' ']).replace('_', ".");
    if let Some(version) = value_named(&TLS_VERSIONS, &number) {
        return Ok(version);
    }
    match number.as_str() {
        "1" | "1.0" | "1.1" | "2" | "3" => Err(WordError::new(
            word,
            "brunt's TLS library (rustls) has TLS 1.2 and 1.3 only",
            "1.2 or 1.3",
        )),
        _ => Err(WordError::new(word, "this is no version of TLS", "1.2 or 1.3")),
    }
}

/// Returns the versions of TLS that shells propose.
pub fn suggested_tls_versions() -> Vec<Suggestion> {
    named::suggestions(&TLS_VERSIONS)
}

/// Returns the cipher suites that shells propose.
pub fn suggested_ciphers() -> Vec<Suggestion> {
    tls::suites().into_iter().map(|name| Suggestion::new(name, "")).collect()
}

/// Parses a list of cipher suites of TLS, such as `TLS_AES_128_GCM_SHA256`, with the names of IANA
/// or OpenSSL.
///
/// # Errors
///
/// [`WordError`] if there is no such suite.
pub fn tls_ciphers(word: &str) -> Result<Vec<String>, WordError> {
    let names = word.split([',', ':']).map(str::trim);
    names
        .map(|name| {
            tls::suite_named(name).map(str::to_owned).ok_or_else(|| {
                WordError::new(
                    name,
                    "brunt's TLS library (rustls) has no such cipher suite",
                    format!("some of {}", tls::suites().join(",")),
                )
            })
        })
        .collect()
}

/// Parses a list of key exchange groups of TLS, such as `X25519,secp256r1`.
pub fn tls_groups(word: &str) -> Result<Vec<String>, WordError> {
    let groups: Vec<String> = word.split(',').map(|name| name.trim().to_owned()).collect();
    if groups.iter().any(String::is_empty) {
        return Err(WordError::new(
            word,
            "a group has no name",
            "names with commas between them, such as X25519,secp256r1",
        ));
    }
    Ok(groups)
}

/// Parses `HOST:PORT:ADDR`; IPv6 addresses may have brackets.
pub fn resolve(word: &str) -> Result<Resolve, WordError> {
    let instead = "HOST:PORT:ADDR, such as example.org:443:127.0.0.1 or example.org:443:[::1]";
    host_port_address(word)
        .ok_or_else(|| WordError::new(word, "not a host, port and address", instead))
}

fn host_port_address(word: &str) -> Option<Resolve> {
    // The address may be IPv6, so the fields are split from the left.
    let (host, rest) = match word.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once("]:")?,
        None => word.split_once(':')?,
    };
    let (port, address) = rest.split_once(':')?;
    let bare = address.strip_prefix('[').and_then(|a| a.strip_suffix(']')).unwrap_or(address);
    // Hosts are not case-sensitive (RFC 3986 section 3.2.2).
    let resolve = Resolve {
        host: host.to_ascii_lowercase(),
        port: port.parse().ok()?,
        address: bare.parse().ok()?,
    };
    (!host.is_empty()).then_some(resolve)
}

/// Parses the URL of an HTTP proxy, to `http://HOST:PORT/`.
pub fn proxy(word: &str, environment: EnvironmentVariable) -> Result<String, WordError> {
    let url = secrets::filled(word, environment)?;
    if url.to_ascii_lowercase().starts_with("socks") {
        return Err(proxy_error(word, "brunt speaks to HTTP proxies only, not to those of SOCKS"));
    }
    let target = target::parse(&url)?;
    if !target.url.starts_with("http:") {
        return Err(proxy_error(word, "connections to a proxy are plain HTTP, for https URLs too"));
    }
    if target.basic.is_some() {
        return Err(proxy_error(word, "a name and password for the proxy are not supported yet"));
    }
    // Two slashes of `http://` and one at the end.
    if target.url.matches('/').count() != 3 || !target.url.ends_with('/') {
        return Err(proxy_error(word, "a proxy has no path"));
    }
    Ok(target.url)
}

fn proxy_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, "http://HOST:PORT, such as http://127.0.0.1:3128")
}

/// Parses a local IP address.
pub fn address(word: &str) -> Result<IpAddr, WordError> {
    let instead = "addresses of this machine, such as 127.0.0.2,127.0.0.3";
    word.trim().parse().map_err(|_| WordError::new(word, "not an IP address", instead))
}

/// Checks a regular expression.
pub fn regex(word: &str) -> Result<String, WordError> {
    match regex::bytes::Regex::new(word) {
        Ok(_) => Ok(word.to_owned()),
        Err(error) => {
            let text = error.to_string();
            // The error of the crate `regex` draws the expression in the lines before.
            let last_line = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let instead = "a regular expression such as '\"ok\":\\s*true'; \\( is a plain (";
            Err(WordError::new(word, last_line, instead))
        }
    }
}

/// Parses the time between snapshots: from a millisecond to an hour.
pub fn interval(word: &str) -> Result<Duration, WordError> {
    let interval = duration::parse(word)?;
    if !(Duration::from_millis(1)..=Duration::from_hours(1)).contains(&interval) {
        return Err(WordError::new(
            word,
            "that is too short or too long",
            "1ms to 1h, such as 100ms",
        ));
    }
    Ok(interval)
}

/// True for a byte of a token (RFC 9110 section 5.6.2).
fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

#[cfg(test)]
mod tests;
