//! What is asked: one URL, or a file of them.

use crate::System;
use crate::defaults;
use crate::error::{Result, SpecError, require};
use crate::grpc;
use crate::settings::{Environment, Names, RunSettings, SettingSources};
use crate::words::target::{self, Target};
use crate::words::urls::{self, Action};
use crate::words::values::Data;
use crate::words::values::secrets::filled;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::request::JsonMessage;
use brunt_model::scenario::{Order, Scenario};
use brunt_model::{Body, Request};
use brunt_script::grpc::{MessageRules, Services};
use brunt_script::{Feeds, Place, Template, body, template};
use std::path::Path;

/// What users do.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn scenario(run: &RunSettings, system: &System) -> Result<Scenario> {
    let args = &run.request;
    let pattern = Pattern::new(run, system)?;
    let url = run.url.as_deref().map(|url| asked(url, system.environment, &run.said)).transpose()?;
    let requests = match (url, &args.urls) {
        (Some(url), None) => vec![pattern.request(url, None)?],
        (base, Some(file)) => listed(&pattern, file, base.as_ref())?,
        (None, None) => {
            return Err(run.said.refuse(|names| {
                let urls = names.of("urls");
                format!("no URL; write one such as http://127.0.0.1:8080/, or {urls} FILE")
            }));
        }
    };
    check_placeholders(&requests)?;
    let order = args.order.unwrap_or(Order::Sequence);
    Ok(Scenario { services: pattern.services, ..Scenario::list(requests, order) })
}

fn asked(url: &str, environment: Environment, said: &SettingSources) -> Result<Target> {
    let read = |url: String| target::unknown_placeholder(&url).map_or_else(|| target::parse(&url), Err);
    filled(url, environment).and_then(read).map_err(|error| said.refuse_url(&error))
}

fn listed(pattern: &Pattern<'_>, file: &Path, base: Option<&Target>) -> Result<Vec<Request>> {
    let entries = urls::read(file, base.map(|b| b.url.as_str()))?;
    let request = |e: urls::Entry| {
        let place = format!("{}:{}", file.display(), e.line);
        let basic = e.basic.or_else(|| base?.basic.clone());
        let request = pattern.request(Target { url: e.url, basic }, e.action).map_err(|error| error.of(&place))?;
        Ok(Request { weight: e.weight, ..request })
    };
    entries.into_iter().map(request).collect()
}

/// Whatever all requests have in common.
struct Pattern<'a> {
    said: &'a SettingSources,
    headers: Vec<(String, String)>,
    action: Action,
    /// In place of the path of URLs: the method of gRPC.
    path: Option<String>,
    /// The descriptors of its service.
    services: Vec<u8>,
}

impl<'a> Pattern<'a> {
    fn new(run: &'a RunSettings, system: &System) -> Result<Self> {
        let args = &run.request;
        if let Some(method) = &args.grpc.method {
            return Self::grpc(run, method, system);
        }
        let describes = !args.grpc.protos.is_empty() || args.grpc.descriptor_set.is_some();
        require!(run.said, !describes, |names| {
            format!(
                "descriptors of a service, and no method is called: add {} package.Service/Method",
                names.of("grpc")
            )
        });
        require!(run.said, args.grpc.message_interval.is_none(), |names| {
            let interval = names.of("message-interval");
            format!("{interval} is for calls of gRPC; add {} package.Service/Method", names.of("grpc"))
        });
        let (body, content_type) = body_of(run, system)?;
        let usual = if body == Body::None { defaults::METHOD } else { defaults::METHOD_WITH_BODY };
        let method = args.method.clone().unwrap_or_else(|| usual.to_owned());
        let action = Action { method, body, content_type };
        Ok(Self { said: &run.said, headers: headers(run)?, action, path: None, services: Vec::new() })
    }

    /// Calls of a method of gRPC.
    fn grpc(run: &'a RunSettings, method: &str, system: &System) -> Result<Self> {
        let args = &run.request.grpc;
        let (body, _) = body_of(run, system)?;
        let services = grpc::descriptors(run, method, system).map_err(SpecError::told)?;
        let mut headers = headers(run)?;
        if run.request.compressed {
            grpc::compress(&mut headers);
        }
        let (interval, is_compressed) =
            (args.message_interval, grpc::is_compressed(&headers).map_err(SpecError::told)?);
        let body = Services::decode(&services).and_then(|all| match body {
            Body::Text(json) if template::has_placeholders(&json) => {
                let method = method.to_owned();
                grpc::message(&all, JsonMessage { method, json, interval, compressed: is_compressed })
            }
            body => all.body(method, body.bytes().unwrap_or_default(), MessageRules { interval, is_compressed }),
        });
        headers.retain(|(name, _)| !["content-type", "accept"].contains(&name.to_ascii_lowercase().as_str()));
        grpc::add_headers(&mut headers, grpc::deadline(run));
        let action = Action { method: "POST".into(), body: body.map_err(SpecError::told)?, content_type: None };
        Ok(Self { said: &run.said, headers, action, path: Some(format!("/{method}")), services })
    }

    /// The request to a target; `action` is what the line of a file says to do there.
    fn request(&self, mut target: Target, action: Option<Action>) -> Result<Request> {
        if let Some(path) = &self.path {
            let end = target.url.find("://").map_or(0, |at| at + 3);
            let end = target.url[end..].find(['/', '?', '#']).map_or(target.url.len(), |at| end + at);
            target.url = format!("{}{path}", &target.url[..end]);
        }
        let mut headers = self.headers.clone();
        if let Some(basic) = &target.basic {
            let from_url = |_: &Names<'_>| "a name and password in the URL".to_owned();
            add(&mut headers, "Authorization", basic_value(basic), self.said, from_url)?;
        }
        let label = match &action {
            Some(a) if a.method != defaults::METHOD => format!("{} {}", a.method, target.url),
            _ => target.url.clone(),
        };
        let Action { mut method, body, mut content_type } = action.unwrap_or_else(|| self.action.clone());
        if target.url.starts_with("ws:") || target.url.starts_with("wss:") {
            method = websocket_action(&method, &body)
                .map_err(|why| self.said.refuse(|names| format!("{}: {why}", names.of("method"))))?
                .to_owned();
            content_type = None;
        }
        if let Some(content_type) = content_type.filter(|_| !has(&headers, "Content-Type")) {
            headers.push(("Content-Type".into(), content_type.into()));
        }
        Ok(Request { label, method, url: target.url, headers, body, weight: 1, verbatim: None, reply_policy: 0 })
    }
}

/// What is done on a WebSocket.
///
/// # Errors
///
/// The method is none of its actions, or does not go with the message.
fn websocket_action<'m>(method: &'m str, body: &Body) -> Result<&'m str, String> {
    let has_message = *body != Body::None;
    match (method, has_message) {
        ("OPEN" | "PING" | "CLOSE", false) => Ok(method),
        (defaults::METHOD | "AWAIT", false) => Ok("AWAIT"),
        (defaults::METHOD | defaults::METHOD_WITH_BODY | "SEND", true) => Ok("SEND"),
        ("SEND", false) => Err("`SEND` sends a message, and there is none; add one, or write AWAIT".to_owned()),
        ("OPEN" | "PING" | "CLOSE" | "AWAIT", true) => {
            Err(format!("`{method}` sends no message; leave the message out, or write SEND"))
        }
        _ => Err(format!("a WebSocket has no `{method}`; write OPEN, SEND, AWAIT, PING or CLOSE")),
    }
}

/// Headers that settings speak of: those that are written as such first, in their order.
fn headers(run: &RunSettings) -> Result<Vec<(String, String)>> {
    let args = &run.request;
    let mut headers = [&args.headers[..], &args.header_files].concat();
    let mut add = |name, value, option| add(&mut headers, name, value, &run.said, |names| names.of(option));
    match &args.user_agent {
        Some(name) => add("User-Agent", name.clone(), "user-agent")?,
        None => _ = add("User-Agent", defaults::USER_AGENT.into(), "user-agent"),
    }
    if args.compressed {
        add("Accept-Encoding", defaults::ACCEPT_ENCODING.into(), "compressed")?;
    }
    if let Some(basic) = &args.basic {
        let changing = template::has_placeholders(&basic.0) || template::has_placeholders(&basic.1);
        require!(run.said, !changing, |names| format!(
            "{} takes no placeholders; write -H 'Authorization: Basic {{csv:FILE:column}}' with values in base64",
            names.of("basic")
        ));
        add("Authorization", basic_value(basic), "basic")?;
    }
    if let Some(token) = &args.bearer {
        add("Authorization", format!("Bearer {token}"), "bearer")?;
    }
    if !args.cookies.is_empty() {
        add("Cookie", args.cookies.join("; "), "cookie")?;
    }
    Ok(headers)
}

/// Adds a header that must not be there yet. `by` says which setting does.
fn add(
    headers: &mut Vec<(String, String)>,
    name: &str,
    value: String,
    said: &SettingSources,
    by: impl Fn(&Names<'_>) -> String,
) -> Result<()> {
    require!(said, !has(headers, name), |names| {
        format!("{} and another option both set the header {name}; write one of them", by(names))
    });
    headers.push((name.to_owned(), value));
    Ok(())
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|h| h.0.eq_ignore_ascii_case(name))
}

/// RFC 7617.
fn basic_value((user, password): &(String, String)) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

fn body_of(run: &RunSettings, system: &System) -> Result<(Body, Option<&'static str>)> {
    let args = &run.request;
    let body = match &args.data {
        Some(data) => body_from(data, system, &run.said)?,
        None if args.form.is_empty() => return Ok((Body::None, None)),
        None => Body::Text(form(&args.form)?),
    };
    // A message of gRPC is read by its descriptors, and may be several values.
    if args.data_is_json && args.grpc.method.is_none() {
        let checked = body.bytes().map_or(Ok(()), |bytes| body::check_json(&String::from_utf8_lossy(bytes)));
        checked.map_err(|why| {
            run.said.refuse(|names| {
                let instead = format!("{} and {} 'Content-Type: application/json'", names.of("data"), names.of("header"));
                format!(
                    "{}: the body is not JSON: {why}; write JSON such as '{{\"name\": \"Ann\"}}', or send it unchanged with {instead}",
                    names.of("json")
                )
            })
        })?;
    }
    Ok((body, Some(body::FORM)))
}

/// The body that `--data` speaks of.
///
/// # Errors
///
/// [`SpecError`] with its place if a value is invalid, or does not go with another one.
pub fn body_from(data: &Data, system: &System, said: &SettingSources) -> Result<Body> {
    let read = |bytes: std::io::Result<Vec<u8>>, from: String| {
        let wrong = |error| said.refuse(|names| format!("{}: cannot read {from}: {error}", names.of("data")));
        bytes.map(body::from_bytes).map_err(wrong)
    };
    match data {
        Data::Text(text) => Ok(Body::Text(text.clone())),
        Data::File(file) => read(std::fs::read(file), file.display().to_string()),
        Data::Stdin => read((system.stdin)(), "standard input".into()),
    }
}

fn form(fields: &[(String, String)]) -> Result<String> {
    let field = |(name, value): &(String, String)| {
        Ok(format!("{}={}", template::encode_form(name)?, template::encode_form(value)?))
    };
    Ok(fields.iter().map(field).collect::<Result<Vec<_>>>()?.join("&"))
}

/// Errors in placeholders, and in the files that they name, are found before anything is asked.
fn check_placeholders(requests: &[Request]) -> Result<()> {
    let mut feeds = Feeds::default();
    for request in requests {
        Template::compile(&request.url, Place::Url, &mut feeds)?;
        for (name, value) in &request.headers {
            Template::compile(value, Place::Header, &mut feeds)
                .map_err(|error| SpecError::from(error).of(&format!("header {name}")))?;
        }
        template::compile_body(&request.body, &request.headers, &mut feeds)
            .map_err(|error| SpecError::from(error).of("body"))?;
    }
    Ok(())
}
