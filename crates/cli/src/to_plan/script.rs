//! What is asked: one URL, or a file of them.

use crate::args::RunArgs;
use crate::args::request::RequestArgs;
use crate::args::values::Data;
use crate::args::values::secrets::filled;
use crate::defaults;
use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::plan::Script;
use brunt_model::{Body, Request};
use brunt_script::{Feeds, Place, Template, body, template};
use brunt_spec::words::target;
use brunt_spec::words::target::Target;
use brunt_spec::words::urls::{self, Action};
use std::io::Read;
use std::path::Path;

/// The script part of the plan.
pub fn script(run: &RunArgs) -> Result<Script> {
    let args = &run.request;
    let pattern = Pattern::new(args)?;
    let requests = match (&run.url, &args.urls) {
        (Some(url), None) => vec![pattern.request(target::parse(&filled(url)?)?, None)?],
        (base, Some(file)) => listed(&pattern, file, base.as_deref())?,
        (None, None) => bail!("there is nothing to ask; write a URL such as http://127.0.0.1:8080/, or --urls FILE"),
    };
    check_placeholders(&requests)?;
    Ok(Script { order: args.order, follow: args.follow, ..Script::list(requests) })
}

fn listed(pattern: &Pattern, file: &Path, base: Option<&str>) -> Result<Vec<Request>> {
    let base = base.map(|base| target::parse(&filled(base)?)).transpose()?;
    let entries = urls::read(file, base.as_ref().map(|b| b.url.as_str()))?;
    let request = |e: urls::Entry| {
        let place = format!("{}:{}", file.display(), e.line);
        let basic = e.basic.or_else(|| base.as_ref()?.basic.clone());
        let request = pattern.request(Target { url: e.url, basic }, e.action).context(place)?;
        Ok(Request { weight: e.weight, ..request })
    };
    entries.into_iter().map(request).collect()
}

/// Whatever all requests have in common.
struct Pattern {
    headers: Vec<(String, String)>,
    action: Action,
}

impl Pattern {
    fn new(args: &RequestArgs) -> Result<Self> {
        let (body, content_type) = body_of(args)?;
        let usual = if body == Body::None { defaults::METHOD } else { defaults::METHOD_WITH_BODY };
        let method = args.method.clone().unwrap_or_else(|| usual.to_owned());
        Ok(Self { headers: headers(args)?, action: Action { method, body, content_type } })
    }

    /// The request to a target; `action` is what the line of a file says to do there.
    fn request(&self, target: Target, action: Option<Action>) -> Result<Request> {
        let mut headers = self.headers.clone();
        if let Some(basic) = &target.basic {
            add(&mut headers, "Authorization", basic_value(basic), "a name and password in the URL")?;
        }
        let label = match &action {
            Some(a) if a.method != defaults::METHOD => format!("{} {}", a.method, target.url),
            _ => target.url.clone(),
        };
        let Action { method, body, content_type } = action.unwrap_or_else(|| self.action.clone());
        if let Some(content_type) = content_type.filter(|_| !has(&headers, "Content-Type")) {
            headers.push(("Content-Type".into(), content_type.into()));
        }
        Ok(Request { label, method, url: target.url, headers, body, weight: 1, verbatim: None })
    }
}

/// Headers that options speak of: those of `-H` first, in their order.
fn headers(args: &RequestArgs) -> Result<Vec<(String, String)>> {
    let mut headers = [args.headers.concat(), args.header_files.concat()].concat();
    match &args.user_agent {
        Some(name) => add(&mut headers, "User-Agent", name.clone(), "--user-agent")?,
        None if !has(&headers, "User-Agent") => headers.push(("User-Agent".into(), defaults::USER_AGENT.into())),
        None => {}
    }
    if args.compressed {
        add(&mut headers, "Accept-Encoding", defaults::ACCEPT_ENCODING.into(), "--compressed")?;
    }
    if let Some(basic) = &args.basic {
        let changing = template::has_placeholders(&basic.0) || template::has_placeholders(&basic.1);
        ensure!(
            !changing,
            "--basic takes no placeholders; write -H 'Authorization: Basic {{csv:FILE:column}}' with values in base64"
        );
        add(&mut headers, "Authorization", basic_value(basic), "--basic")?;
    }
    if let Some(token) = &args.bearer {
        add(&mut headers, "Authorization", format!("Bearer {token}"), "--bearer")?;
    }
    if !args.cookies.is_empty() {
        add(&mut headers, "Cookie", args.cookies.join("; "), "--cookie")?;
    }
    Ok(headers)
}

/// Adds a header that must not be there yet.
fn add(headers: &mut Vec<(String, String)>, name: &str, value: String, option: &str) -> Result<()> {
    ensure!(!has(headers, name), "{option} and another option both set the header {name}; write one of them");
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

fn body_of(args: &RequestArgs) -> Result<(Body, Option<&'static str>)> {
    let body = match &args.data {
        Some(data) => body_from(data)?,
        None if args.form.is_empty() => return Ok((Body::None, None)),
        None => Body::Text(form(&args.form)?),
    };
    Ok((body, Some(body::FORM)))
}

/// The body that `--data` speaks of.
pub fn body_from(data: &Data) -> Result<Body> {
    Ok(match data {
        Data::Text(text) => Body::Text(text.clone()),
        Data::File(file) => {
            let bytes = std::fs::read(file);
            body::from_bytes(bytes.with_context(|| format!("--data: cannot read {}", file.display()))?)
        }
        Data::Stdin => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).context("--data: cannot read standard input")?;
            body::from_bytes(bytes)
        }
    })
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
            Template::compile(value, Place::Header, &mut feeds).with_context(|| format!("header {name}"))?;
        }
        template::compile_body(&request.body, &request.headers, &mut feeds).context("body")?;
    }
    Ok(())
}
