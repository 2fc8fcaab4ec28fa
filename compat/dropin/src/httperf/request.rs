//! Builds the bytes of httperf's requests.

use super::args::HttperfArgs;
use brunt_model::{Body, Request};

const USER_AGENT: &str = "httperf/0.9.0";

/// The parts of a request that differ between calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestContent {
    /// Method; None means that of `--method`.
    pub method: Option<String>,
    pub uri: String,
    pub body: Option<String>,
}

/// Builds a request with its exact bytes.
pub fn request(args: &HttperfArgs, content: &RequestContent) -> Request {
    let method = content.method.as_deref().unwrap_or(&args.method);
    Request {
        base: None,
        label: url(args, &args.uri),
        method: method.to_owned(),
        // Only the origin matters to the engine. The request target is in the bytes.
        url: url(args, "/"),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        verbatim: Some(bytes(args, method, content)),
        reply_policy: 0,
    }
}

fn url(args: &HttperfArgs, path: &str) -> String {
    let scheme = if args.ssl { "https" } else { "http" };
    let host =
        if args.server.contains(':') { format!("[{}]", args.server) } else { args.server.clone() };
    format!("{scheme}://{host}:{}{path}", args.port())
}

fn bytes(args: &HttperfArgs, method: &str, content: &RequestContent) -> Vec<u8> {
    let version = if args.is_http10() { "1.0" } else { "1.1" };
    let mut head =
        format!("{method} {} HTTP/{version}\r\nUser-Agent: {USER_AGENT}\r\n", content.uri);
    if args.is_http10() {
        head += "Connection: keep-alive\r\n";
    }
    if !args.no_host_hdr {
        head = head + "Host: " + args.server_name.as_ref().unwrap_or(&args.server) + "\r\n";
    }
    let mut bytes = head.into_bytes();
    bytes.extend(args.add_header.as_deref().map(unescape).unwrap_or_default());
    // The file's lines are sent unchanged.
    bytes.extend(args.header_file.bytes());
    let body = content.body.as_deref().unwrap_or_default();
    if content.body.is_some() {
        bytes.extend(format!("Content-length: {}\r\n", body.len()).bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body.bytes());
    bytes
}

/// Replaces the escapes of `--add-header`: `\n` by CR LF, `\a` by LF, `\r` by CR, `\\` by a
/// backslash, and a backslash with three octal digits by a byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let octal: Vec<u8> =
            rest.iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).copied().collect();
        if !octal.is_empty() {
            rest = &rest[octal.len()..];
            out.push(octal.iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0')) as u8);
            continue;
        }
        let Some((letter, tail)) = rest.split_first() else { break };
        rest = tail;
        match letter {
            b'n' => out.extend(b"\r\n"),
            b'r' => out.push(b'\r'),
            b'a' => out.push(b'\n'),
            other => out.push(*other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_converted_to_bytes() {
        assert_eq!(unescape(r"X:y\nZ:\\\r\101\a"), b"X:y\r\nZ:\\\rA\n");
        assert_eq!(unescape(r"a\12b\"), b"a\nb");
    }
}
