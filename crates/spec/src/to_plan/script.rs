//! The requests of a run: one URL, or a file of them.

use crate::System;
use crate::defaults;
use crate::error::{Result, SpecError, require};
use crate::grpc;
use crate::settings::{EnvironmentVariable, RunSettings, SettingNames, SettingSources};
use crate::words::target::{self, TargetUrl};
use crate::words::urls::{self, Action};
use crate::words::values::Data;
use crate::words::values::secrets::filled;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::request::JsonMessage;
use brunt_model::scenario::{ListOrder, Scenario};
use brunt_model::{Body, Request};
use brunt_script::grpc::{MessageRules, MessageSource, Services};
use brunt_script::{Feeds, Template, TextPosition, body, template};
use std::path::Path;

/// Creates the scenario of each user: one request, or those of a file of URLs.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn scenario(run: &RunSettings, system: &System) -> Result<Scenario> {
    let args = &run.request;
    let pattern = Pattern::new(run, system)?;
    let url = run
        .url
        .as_deref()
        .map(|url| read_target(url, system.environment, &run.sources))
        .transpose()?;
    let requests = match (url, &args.urls) {
        (Some(url), None) => vec![pattern.request(url, None)?],
        (base, Some(file)) => requests_of_file(&pattern, file, base.as_ref())?,
        (None, None) => {
            return Err(run.sources.refuse(|names| {
                let urls = names.name_of("urls");
                format!("no URL; write one such as http://127.0.0.1:8080/, or {urls} FILE")
            }));
        }
    };
    check_placeholders(&requests)?;
    let order = args.order.unwrap_or(ListOrder::Sequence);
    Ok(Scenario { services: pattern.services, ..Scenario::list(requests, order) })
}

fn read_target(
    url: &str,
    environment: EnvironmentVariable,
    sources: &SettingSources,
) -> Result<TargetUrl> {
    filled(url, environment)
        .and_then(|url| target::unknown_placeholder(&url).map_or_else(|| target::parse(&url), Err))
        .map_err(|error| sources.refuse_url(&error))
}

fn requests_of_file(
    pattern: &Pattern<'_>,
    file: &Path,
    base: Option<&TargetUrl>,
) -> Result<Vec<Request>> {
    let mut requests = Vec::new();
    for entry in urls::read(file, base.map(|b| b.url.as_str()))? {
        let place = format!("{}:{}", file.display(), entry.line);
        // A URL of the file without credentials belongs to the server of the command line.
        let basic = entry.basic.or_else(|| base?.basic.clone());
        let request = pattern.request(TargetUrl { url: entry.url, basic }, entry.action);
        requests.push(Request {
            weight: entry.weight,
            ..request.map_err(|error| error.about(&place))?
        });
    }
    Ok(requests)
}

/// The common parts of all requests.
struct Pattern<'a> {
    sources: &'a SettingSources,
    headers: Vec<(String, String)>,
    action: Action,
    /// Path of the method of gRPC, in place of the path of URLs.
    path: Option<String>,
    /// Descriptors of the service of gRPC, as a `FileDescriptorSet`.
    services: Vec<u8>,
}

impl<'a> Pattern<'a> {
    fn new(run: &'a RunSettings, system: &System) -> Result<Self> {
        let args = &run.request;
        if let Some(method) = &args.grpc.method {
            return Self::grpc(run, method, system);
        }
        let describes = !args.grpc.protos.is_empty() || args.grpc.descriptor_set.is_some();
        require!(run.sources, !describes, |names| {
            format!(
                "descriptors of a service, and no method is called: add {} package.Service/Method",
                names.name_of("grpc")
            )
        });
        let stream = args.grpc.stream;
        let stream_setting = [
            stream.interval.map(|_| "message-interval"),
            stream.count.map(|_| "message-count"),
            stream.duration.map(|_| "stream-duration"),
        ];
        let stream_setting = stream_setting.into_iter().flatten().next();
        require!(run.sources, stream_setting.is_none(), |names| {
            let setting = names.name_of(stream_setting.unwrap_or_default());
            format!(
                "{setting} is for calls of gRPC; add {} package.Service/Method",
                names.name_of("grpc")
            )
        });
        require!(run.sources, args.grpc.binary.is_none(), |names| {
            let binary = names.name_of("binary-file");
            format!(
                "{binary} is for calls of gRPC; add {} package.Service/Method, or write {} @FILE",
                names.name_of("grpc"),
                names.name_of("data")
            )
        });
        let (body, content_type) = body_of(run, system)?;
        let default =
            if body == Body::None { defaults::METHOD } else { defaults::METHOD_WITH_BODY };
        let method = args.method.clone().unwrap_or_else(|| default.to_owned());
        let action = Action { method, body, content_type };
        Ok(Self {
            sources: &run.sources,
            headers: headers(run)?,
            action,
            path: None,
            services: Vec::new(),
        })
    }

    /// Creates the pattern of calls of a gRPC method.
    fn grpc(run: &'a RunSettings, method: &str, system: &System) -> Result<Self> {
        let args = &run.request.grpc;
        let (body, _) = body_of(run, system)?;
        let services = grpc::descriptors(run, method, system).map_err(SpecError::unplaced)?;
        let mut headers = headers(run)?;
        if run.request.compressed {
            grpc::compress(&mut headers);
        }
        let stream = args.stream;
        let is_compressed = grpc::is_compressed(&headers).map_err(SpecError::unplaced)?;
        let binary = args
            .binary
            .as_ref()
            .map(|data| bytes_of(data, system, &run.sources, "binary-file"))
            .transpose()?;
        let rules = MessageRules { stream, is_compressed };
        let body = Services::decode(&services).and_then(|all| match (&binary, body) {
            (Some(bytes), _) => all.body(method, MessageSource::Binary(bytes), rules),
            // With placeholders, each call has another message, so it is encoded when it is sent.
            (None, Body::Text(json)) if template::has_placeholders(&json) => {
                let method = method.to_owned();
                let json = (*json).clone();
                grpc::message(&all, JsonMessage { method, json, stream, compressed: is_compressed })
            }
            (None, body) => {
                all.body(method, MessageSource::Json(body.bytes().unwrap_or_default()), rules)
            }
        });
        // `--json` sets them for HTTP; `add_headers` sets those of gRPC.
        headers.retain(|(name, _)| {
            !["content-type", "accept"].contains(&name.to_ascii_lowercase().as_str())
        });
        if let Some(authority) = &run.http.authority {
            add_for(&mut headers, "Host", authority.clone(), &run.sources, "authority")?;
        }
        grpc::add_headers(&mut headers, grpc::deadline(run));
        // The gRPC protocol allows POST only.
        let action = Action {
            method: "POST".into(),
            body: body.map_err(SpecError::unplaced)?,
            content_type: None,
        };
        Ok(Self {
            sources: &run.sources,
            headers,
            action,
            path: Some(format!("/{method}")),
            services,
        })
    }

    /// Creates the request to a target. `action` is that of a line of a file, and replaces
    /// that of the pattern.
    fn request(&self, mut target: TargetUrl, action: Option<Action>) -> Result<Request> {
        if let Some(path) = &self.path {
            // The method of gRPC replaces the path and the query of the URL.
            let scheme_end = target.url.find("://").map_or(0, |position| position + 3);
            let authority = target.url[scheme_end..].find(['/', '?', '#']);
            let end = authority.map_or(target.url.len(), |length| scheme_end + length);
            target.url = format!("{}{path}", &target.url[..end]);
        }
        let mut headers = self.headers.clone();
        if let Some(basic) = &target.basic {
            add(
                &mut headers,
                "Authorization",
                basic_value(&basic.0, &basic.1),
                self.sources,
                |_| "a name and password in the URL".to_owned(),
            )?;
        }
        let label = match &action {
            // Equal URLs with other methods would otherwise have one label.
            Some(a) if a.method != defaults::METHOD => format!("{} {}", a.method, target.url),
            _ => target.url.clone(),
        };
        let Action { mut method, body, mut content_type } =
            action.unwrap_or_else(|| self.action.clone());
        if target.url.starts_with("ws:") || target.url.starts_with("wss:") {
            // A message of a WebSocket has no method of HTTP and no media type.
            method = websocket_action(&method, &body)
                .map_err(|why| {
                    self.sources.refuse(|names| format!("{}: {why}", names.name_of("method")))
                })?
                .to_owned();
            content_type = None;
        }
        if let Some(content_type) = content_type.filter(|_| !has(&headers, "Content-Type")) {
            headers.push(("Content-Type".into(), content_type.into()));
        }
        Ok(Request {
            label,
            method,
            url: target.url,
            headers,
            body,
            weight: 1,
            base: None,
            verbatim: None,
            reply_policy: 0,
        })
    }
}

/// Action on a WebSocket for a method and a body.
///
/// # Errors
///
/// A message: the method is not an action, or does not go with the body.
fn websocket_action<'m>(method: &'m str, body: &Body) -> Result<&'m str, String> {
    let has_message = *body != Body::None;
    match (method, has_message) {
        ("OPEN" | "PING" | "CLOSE", false) => Ok(method),
        (defaults::METHOD | "AWAIT", false) => Ok("AWAIT"),
        // The default methods of HTTP are also accepted, because the user did not write them.
        (defaults::METHOD | defaults::METHOD_WITH_BODY | "SEND", true) => Ok("SEND"),
        ("SEND", false) => {
            Err("`SEND` sends a message, and there is none; add one, or write AWAIT".to_owned())
        }
        ("OPEN" | "PING" | "CLOSE" | "AWAIT", true) => {
            Err(format!("`{method}` sends no message; leave the message out, or write SEND"))
        }
        _ => Err(format!("a WebSocket has no `{method}`; write OPEN, SEND, AWAIT, PING or CLOSE")),
    }
}

/// Header fields of the settings: those that are written as such first, in their order.
fn headers(run: &RunSettings) -> Result<Vec<(String, String)>> {
    let args = &run.request;
    let mut headers = [&args.headers[..], &args.header_files].concat();
    let sources = &run.sources;
    match &args.user_agent {
        Some(name) => add_for(&mut headers, "User-Agent", name.clone(), sources, "user-agent")?,
        // The default gives way to a User-Agent among the header fields.
        None => {
            _ = add_for(
                &mut headers,
                "User-Agent",
                defaults::USER_AGENT.into(),
                sources,
                "user-agent",
            );
        }
    }
    if args.compressed {
        add_for(
            &mut headers,
            "Accept-Encoding",
            defaults::ACCEPT_ENCODING.into(),
            sources,
            "compressed",
        )?;
    }
    if let Some(basic) = &args.basic {
        let has_placeholders =
            template::has_placeholders(&basic.0) || template::has_placeholders(&basic.1);
        // The value is encoded here once, but placeholders differ for each request.
        require!(run.sources, !has_placeholders, |names| format!(
            "{} takes no placeholders; write -H 'Authorization: Basic {{csv:FILE:column}}' with values in base64",
            names.name_of("basic")
        ));
        add_for(&mut headers, "Authorization", basic_value(&basic.0, &basic.1), sources, "basic")?;
    }
    if let Some(token) = &args.bearer {
        add_for(&mut headers, "Authorization", format!("Bearer {token}"), sources, "bearer")?;
    }
    if !args.cookies.is_empty() {
        // HTTP/1.1 allows a single Cookie header field (RFC 6265 section 5.4).
        add_for(&mut headers, "Cookie", args.cookies.join("; "), sources, "cookie")?;
    }
    Ok(headers)
}

/// Adds the header field of an option.
fn add_for(
    headers: &mut Vec<(String, String)>,
    name: &str,
    value: String,
    sources: &SettingSources,
    option: &'static str,
) -> Result<()> {
    add(headers, name, value, sources, |names| names.name_of(option))
}

/// Adds a header field that must not exist yet. `by` names the setting that adds it.
fn add(
    headers: &mut Vec<(String, String)>,
    name: &str,
    value: String,
    sources: &SettingSources,
    by: impl Fn(&SettingNames<'_>) -> String,
) -> Result<()> {
    require!(sources, !has(headers, name), |names| {
        format!("{} and another option both set the header {name}; write one of them", by(names))
    });
    headers.push((name.to_owned(), value));
    Ok(())
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|h| h.0.eq_ignore_ascii_case(name))
}

/// Value of a header field with name and password (RFC 7617).
fn basic_value(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

fn body_of(run: &RunSettings, system: &System) -> Result<(Body, Option<&'static str>)> {
    let args = &run.request;
    let body = match &args.data {
        Some(data) => body_from(data, system, &run.sources)?,
        None if args.form.is_empty() => return Ok((Body::None, None)),
        None => Body::from_text(form(&args.form)?),
    };
    // The descriptors check a gRPC message, which may consist of several JSON values.
    if args.data_is_json && args.grpc.method.is_none() {
        let checked =
            body.bytes().map_or(Ok(()), |bytes| body::check_json(&String::from_utf8_lossy(bytes)));
        checked.map_err(|why| {
            run.sources.refuse(|names| {
                let instead = format!("{} and {} 'Content-Type: application/json'", names.name_of("data"), names.name_of("header"));
                format!(
                    "{}: the body is not JSON: {why}; write JSON such as '{{\"name\": \"Ann\"}}', or send it unchanged with {instead}",
                    names.name_of("json")
                )
            })
        })?;
    }
    Ok((body, Some(body::FORM)))
}

/// Reads the body of `--data`.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn body_from(data: &Data, system: &System, sources: &SettingSources) -> Result<Body> {
    match data {
        Data::Text(text) => Ok(Body::from_text(text.clone())),
        Data::File(_) | Data::Stdin => {
            bytes_of(data, system, sources, "data").map(body::from_bytes)
        }
    }
}

/// Reads the content that the value of an option names.
fn bytes_of(
    data: &Data,
    system: &System,
    sources: &SettingSources,
    option: &'static str,
) -> Result<Vec<u8>> {
    let read = match data {
        Data::Text(text) => return Ok(text.clone().into_bytes()),
        Data::File(file) => {
            brunt_files::read(file).map_err(|error| (file.display().to_string(), error))
        }
        Data::Stdin => (system.stdin)().map_err(|error| ("standard input".to_owned(), error)),
    };
    read.map_err(|(origin, error)| {
        sources.refuse(|names| format!("{}: cannot read {origin}: {error}", names.name_of(option)))
    })
}

fn form(fields: &[(String, String)]) -> Result<String> {
    let mut pairs = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        pairs.push(format!("{}={}", template::encode_form(name)?, template::encode_form(value)?));
    }
    Ok(pairs.join("&"))
}

/// Returns a note about a placeholder that could be meant as a field of a GraphQL query.
pub(super) fn replaced_field_note(requests: &[Request]) -> Option<String> {
    let placeholder = requests.iter().find_map(|request| match &request.body {
        // Parsing a long body takes as much memory again, so only those with placeholders are parsed.
        Body::Text(text) if template::has_placeholders(text) => match serde_json::from_str(text) {
            Ok(json) => field_in_json(&json),
            // JSON with a placeholder in place of a number is no JSON yet.
            Err(_) if looks_like_json(text) => None,
            Err(_) => template::nested_placeholder(text),
        },
        _ => None,
    })?;
    Some(format!(
        "{placeholder} in the body is replaced in each request; if it is a field of a GraphQL query, write \\{placeholder}"
    ))
}

fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start();
    let within = text.strip_prefix('{').map(str::trim_start);
    text.starts_with('[') || within.is_some_and(|within| within.starts_with('"'))
}

fn field_in_json(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => template::nested_placeholder(text),
        serde_json::Value::Array(items) => items.iter().find_map(field_in_json),
        serde_json::Value::Object(entries) => entries.values().find_map(field_in_json),
        _ => None,
    }
}

/// Finds errors in placeholders, and in the files that they name, before the run.
fn check_placeholders(requests: &[Request]) -> Result<()> {
    let mut feeds = Feeds::default();
    for request in requests {
        Template::compile(&request.url, TextPosition::Url, &mut feeds)?;
        for (name, value) in &request.headers {
            Template::compile(value, TextPosition::Header, &mut feeds)
                .map_err(|error| SpecError::from(error).about(&format!("header {name}")))?;
        }
        template::compile_body(&request.body, &request.headers, &mut feeds)
            .map_err(|error| SpecError::from(error).about("body"))?;
    }
    Ok(())
}
