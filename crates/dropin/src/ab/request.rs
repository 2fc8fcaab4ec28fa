//! The bytes of ab's one request: an HTTP/1.0 head in ab's order and capitals, and the body.

use super::args::Args;

/// How ab calls itself. Programs look for the number.
const USER_AGENT: &str = "ApacheBench/2.3";

/// The head with its blank line, and all bytes with the body.
pub fn bytes(args: &Args) -> (String, Vec<u8>) {
    let head = head(args);
    let bytes = [head.as_bytes(), args.body.as_deref().unwrap_or_default()].concat();
    (head, bytes)
}

/// The word of the request line.
pub fn method(args: &Args) -> &str {
    args.method.as_deref().unwrap_or("GET")
}

fn head(args: &Args) -> String {
    let target = &args.target;
    let asked = if args.proxy.is_some() { &target.typed } else { &target.path };
    let mut lines = vec![format!("{} {asked} HTTP/1.0", method(args))];
    lines.extend(args.keep_alive.then(|| "Connection: Keep-Alive".to_owned()));
    lines.extend(args.cookies.iter().map(|cookie| format!("Cookie: {cookie}")));
    lines.extend(args.credentials.iter().cloned());
    if let Some(body) = &args.body {
        lines.push(format!("Content-length: {}", body.len()));
        lines.push(format!("Content-type: {}", args.content_type));
    }
    lines.extend(args.headers.iter().cloned());
    let usual = [("Host:", &*target.host_field), ("User-Agent:", USER_AGENT), ("Accept:", "*/*")];
    let unsaid = usual.iter().filter(|(name, _)| !args.headers.iter().any(|line| begins(line, name)));
    lines.extend(unsaid.map(|(name, value)| format!("{name} {value}")));
    lines.join("\r\n") + "\r\n\r\n"
}

/// Whether a header line is one of that name.
pub fn begins(line: &str, name: &str) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}
