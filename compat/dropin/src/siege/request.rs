//! Builds siege's requests: header lines in siege's order, both as fields and as bytes.

use super::settings::SiegeSettings;
use super::urls::UrlEntry;
use brunt_model::{Body, Request};

/// Default Content-Type of a body.
const DEFAULT_CONTENT_TYPE: &str = "application/x-www-form-urlencoded";

/// Builds the request for a URL.
pub fn request(entry: &UrlEntry, settings: &SiegeSettings) -> Request {
    let headers = headers(entry, settings);
    let url = entry.url();
    let label = if entry.method == "GET" { url.clone() } else { format!("{} {url}", entry.method) };
    let body = entry.body.clone().map_or(Body::None, Body::from_bytes);
    let verbatim = Some(bytes(entry, settings, &headers));
    Request {
        base: None,
        label,
        method: entry.method.clone(),
        url,
        headers,
        body,
        weight: 1,
        verbatim,
        reply_policy: 0,
    }
}

fn headers(entry: &UrlEntry, settings: &SiegeSettings) -> Vec<(String, String)> {
    let user_fields: Vec<(String, String)> =
        settings.headers.iter().filter_map(|line| split_field(line)).collect();
    // siege replaces its Accept only by one that is the first header option.
    let replaces_accept =
        user_fields.first().is_some_and(|(field, _)| field.eq_ignore_ascii_case("accept"));

    let mut all = Vec::new();
    if !user_fields.iter().any(|(field, _)| field.eq_ignore_ascii_case("host")) {
        all.push(field("Host", host(entry)));
    }
    if !replaces_accept {
        all.push(field("Accept", "*/*"));
    }
    all.push(field("Accept-Encoding", &settings.accept_encoding));
    all.push(field("User-Agent", &settings.user_agent));
    all.extend(user_fields.iter().cloned());
    // siege adds these even if a header option sets them.
    all.push(field("Connection", if settings.keep_alive { "keep-alive" } else { "close" }));
    if let Some(body) = &entry.body {
        all.push(field(
            "Content-Type",
            settings.content_type.as_deref().unwrap_or(DEFAULT_CONTENT_TYPE),
        ));
        all.push(field("Content-Length", &body.len().to_string()));
    }
    all
}

fn field(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The host, with the port unless it is the scheme's default.
fn host(entry: &UrlEntry) -> &str {
    let default_port = if entry.scheme == "https" { ":443" } else { ":80" };
    entry.authority.strip_suffix(default_port).unwrap_or(&entry.authority)
}

fn split_field(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

fn bytes(entry: &UrlEntry, settings: &SiegeSettings, headers: &[(String, String)]) -> Vec<u8> {
    let uses_proxy = settings.proxy_host.is_some() && entry.scheme == "http";
    let target = if uses_proxy { entry.url() } else { entry.path.clone() };
    let version = if settings.http10 { "1.0" } else { "1.1" };
    let mut out = format!("{} {target} HTTP/{version}\r\n", entry.method);
    for (name, value) in headers {
        // Header options are sent exactly as typed.
        let typed = settings.headers.iter().find(|line| {
            split_field(line).is_some_and(|field| (&field.0, &field.1) == (name, value))
        });
        match typed {
            Some(line) => out += line,
            None => out.extend([name, ": ", value]),
        }
        out += "\r\n";
    }
    out += "\r\n";
    let mut out = out.into_bytes();
    out.extend_from_slice(entry.body.as_deref().unwrap_or_default());
    out
}
