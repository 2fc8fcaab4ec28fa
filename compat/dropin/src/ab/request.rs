//! Builds the bytes of ab's request: an HTTP/1.0 head with ab's order
//! and capitalization, and the body.

use super::args::AbArgs;

/// ab's user agent. Some programs look for the version number.
const USER_AGENT: &str = "ApacheBench/2.3";

/// Returns the head with its blank line, and all bytes including the body.
pub fn bytes(args: &AbArgs) -> (String, Vec<u8>) {
    let head = head(args);
    let bytes = [head.as_bytes(), args.body.as_deref().unwrap_or_default()].concat();
    (head, bytes)
}

/// Method of the request line.
pub fn method(args: &AbArgs) -> &str {
    args.method.as_deref().unwrap_or("GET")
}

fn head(args: &AbArgs) -> String {
    let target = &args.target;
    // A proxy needs the whole URL.
    let request_target = if args.proxy.is_some() { &target.typed } else { &target.path };
    let mut lines = vec![format!("{} {request_target} HTTP/1.0", method(args))];
    lines.extend(args.keep_alive.then(|| "Connection: Keep-Alive".to_owned()));
    lines.extend(args.cookies.iter().map(|cookie| format!("Cookie: {cookie}")));
    lines.extend(args.credentials.iter().cloned());
    if let Some(body) = &args.body {
        lines.push(format!("Content-length: {}", body.len()));
        lines.push(format!("Content-type: {}", args.content_type));
    }
    lines.extend(args.headers.iter().cloned());
    let defaults =
        [("Host:", &*target.host_field), ("User-Agent:", USER_AGENT), ("Accept:", "*/*")];
    // A header option replaces the default field of the same name.
    let missing = defaults
        .iter()
        .filter(|(name, _)| !args.headers.iter().any(|line| starts_with_name(line, name)));
    lines.extend(missing.map(|(name, value)| format!("{name} {value}")));
    lines.join("\r\n") + "\r\n\r\n"
}

/// True if a header line has this name. `name` includes the colon; case is ignored.
pub fn starts_with_name(line: &str, name: &str) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}
