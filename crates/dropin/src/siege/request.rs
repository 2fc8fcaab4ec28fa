//! siege's requests: its header lines in its order, as fields and as bytes.

use super::settings::Settings;
use super::urls::UrlEntry;
use brunt_model::{Body, Request};

/// What a body is where nobody says.
const FORM: &str = "application/x-www-form-urlencoded";

/// The request for what is asked.
pub fn request(asked: &UrlEntry, settings: &Settings) -> Request {
    let headers = headers(asked, settings);
    let url = asked.url();
    let label = if asked.method == "GET" { url.clone() } else { format!("{} {url}", asked.method) };
    let body = asked.body.clone().map_or(Body::None, Body::Bytes);
    let verbatim = Some(bytes(asked, settings, &headers));
    Request { label, method: asked.method.clone(), url, headers, body, weight: 1, verbatim, reply_policy: 0 }
}

fn headers(asked: &UrlEntry, settings: &Settings) -> Vec<(String, String)> {
    let own: Vec<(String, String)> = settings.headers.iter().filter_map(|line| split(line)).collect();
    // An Accept counts only where it is the first that is said.
    let accepts = own.first().is_some_and(|(field, _)| field.eq_ignore_ascii_case("accept"));
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut all = Vec::new();
    if !own.iter().any(|(field, _)| field.eq_ignore_ascii_case("host")) {
        all.push(field("Host", host(asked)));
    }
    if !accepts {
        all.push(field("Accept", "*/*"));
    }
    all.push(field("Accept-Encoding", &settings.accept_encoding));
    all.push(field("User-Agent", &settings.user_agent));
    all.extend(own.iter().cloned());
    // These go out beside those that were said.
    all.push(field("Connection", if settings.keep_alive { "keep-alive" } else { "close" }));
    if let Some(body) = &asked.body {
        all.push(field("Content-Type", settings.content_type.as_deref().unwrap_or(FORM)));
        all.push(field("Content-Length", &body.len().to_string()));
    }
    all
}

/// The host, and the port where it is not the scheme's own.
fn host(asked: &UrlEntry) -> &str {
    let own = if asked.scheme == "https" { ":443" } else { ":80" };
    asked.authority.strip_suffix(own).unwrap_or(&asked.authority)
}

fn split(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

fn bytes(asked: &UrlEntry, settings: &Settings, headers: &[(String, String)]) -> Vec<u8> {
    let through = settings.proxy_host.is_some() && asked.scheme == "http";
    let target = if through { asked.url() } else { asked.path.clone() };
    let version = if settings.http10 { "1.0" } else { "1.1" };
    let mut out = format!("{} {target} HTTP/{version}\r\n", asked.method);
    for (name, value) in headers {
        // What was typed is sent as it was typed.
        let typed =
            settings.headers.iter().find(|line| split(line).is_some_and(|own| (&own.0, &own.1) == (name, value)));
        match typed {
            Some(line) => out += line,
            None => out.extend([name, ": ", value]),
        }
        out += "\r\n";
    }
    out += "\r\n";
    let mut out = out.into_bytes();
    out.extend_from_slice(asked.body.as_deref().unwrap_or_default());
    out
}
