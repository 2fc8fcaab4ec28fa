//! Requests by HTTP, and steps of a WebSocket.

use super::bodies::BodyKeys;
use super::{StepForm, StepNode};
use crate::error::{Result, SpecError};
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::replies::ReplyKeys;
use crate::plan::scenario::{ScenarioReader, header_fields, texts};
use crate::plan::words::{Nested, Scalar, ScalarList};
use crate::plan::{PlanNode, Yaml, read};
use crate::words::target::{self, TargetUrl};
use crate::words::values;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::scenario::ScenarioStep;
use brunt_model::{Body, Request};
use brunt_script::{WordError, template};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Keys of requests that name their method.
const METHOD_STEPS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

/// Keys of the steps of a WebSocket.
const WEBSOCKET_STEPS: [&str; 5] = ["open", "send", "await", "ping", "close"];

/// A request by HTTP, or a step of a WebSocket.
#[derive(Deserialize, JsonSchema)]
pub struct RequestStep {
    /// A request with this method, to this URL.
    get: Option<Scalar>,
    /// A request with this method, to this URL.
    post: Option<Scalar>,
    /// A request with this method, to this URL.
    put: Option<Scalar>,
    /// A request with this method, to this URL.
    patch: Option<Scalar>,
    /// A request with this method, to this URL.
    delete: Option<Scalar>,
    /// A request with this method, to this URL.
    head: Option<Scalar>,
    /// A request with this method, to this URL.
    options: Option<Scalar>,
    /// A request with the method of `method`, to this URL.
    request: Option<Scalar>,
    /// Of `request`: its method, such as `PURGE`.
    method: Option<Scalar>,
    /// Opens the WebSocket of this URL if it is not open.
    open: Option<Scalar>,
    /// Sends `data` over the WebSocket of this URL, if there is any, and awaits a message.
    send: Option<Scalar>,
    /// Awaits a message of the WebSocket of this URL, and sends none.
    r#await: Option<Scalar>,
    /// Sends a ping over the WebSocket of this URL, and awaits its pong.
    ping: Option<Scalar>,
    /// Closes the WebSocket of this URL, and awaits that the server does.
    close: Option<Scalar>,
    /// Moves the user's connection of HTTP/3 to the server of this URL to another local port (RFC 9000 section 9).
    migrate: Option<Scalar>,
    /// The name under which it is summed. Default: method and URL as they are written here.
    name: Option<Scalar>,
    /// Header fields, by name. A list of values is a field for each.
    headers: Option<Nested<BTreeMap<String, ScalarList>>>,
    /// Parts of its query, by name, encoded.
    query: Option<Nested<BTreeMap<String, Scalar>>>,
    /// Name and password, `name:password`, sent with it (Basic).
    basic: Option<Scalar>,
    /// A token, sent with it.
    bearer: Option<Scalar>,
}

impl StepForm for RequestStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(
        &[
            "get", "post", "put", "patch", "delete", "head", "options", "request", "open", "send",
            "await", "ping", "close", "migrate",
        ],
        "{kind}: /",
    )
    .with(&[BodyKeys::json_schema, ReplyKeys::json_schema]);

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        // The label is the URL as it was written, so that requests with other values have one
        // label.
        let written_url = self.url();
        let mut headers =
            with_defaults(&reader.headers, step_headers(self.headers.as_ref(), step.node)?);
        let (mut url, basic) = reader.url(written_url, step)?;
        if let Some(query) = self.query.as_ref().and(step.node.child("query")) {
            let query = pairs(&texts(query, "query")?);
            url = format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' });
        }
        let (body, media_type) = read::<BodyKeys>(step.node)?.read(reader, step.node)?;
        // The scheme may come from the base, so the kind is checked after joining.
        check_kind(step, &url, &body)?;
        // A message of a WebSocket has no media type.
        if let Some(media_type) = media_type.filter(|_| !step.is_websocket()) {
            add(&mut headers, "Content-Type", media_type);
        }
        // The key replaces the credentials of the URL.
        let basic = match &self.basic {
            Some(basic) => Some(
                checked_basic(&basic.0)
                    .map_err(|error| SpecError::from(error).within("basic", &step.node.at))?,
            ),
            None => basic,
        };
        if let Some(basic) = basic {
            // Only a run knows the value of an expression, so the run encodes it.
            let value = if basic.contains("${") {
                format!("${{base64({basic})}}")
            } else {
                STANDARD.encode(basic)
            };
            add(&mut headers, "Authorization", format!("Basic {value}"));
        }
        if let Some(token) = &self.bearer {
            let token = values::text(&token.0)
                .map_err(|error| SpecError::from(error).within("bearer", &step.node.at))?;
            add(&mut headers, "Authorization", format!("Bearer {token}"));
        }
        // After all others, because `add` keeps a header field that exists.
        add(&mut headers, "User-Agent", crate::defaults::USER_AGENT.to_owned());
        let method = method(step, self.method.as_ref())?;
        let label = match (&self.name, method.as_str()) {
            (Some(name), _) => name.0.clone(),
            (None, "GET") => template::plain(written_url),
            (None, method) => format!("{method} {}", template::plain(written_url)),
        };
        let reply_policy = read::<ReplyKeys>(step.node)?.read(reader, step.node, &step.key.key)?;
        // A variable may be a link of a reply. An expression in the base is one of users, who may have others.
        let base = reader.base.clone().filter(|base| url.starts_with("${") && !base.contains("${"));
        let request = Request {
            label,
            method,
            url,
            base,
            headers,
            body,
            weight: 1,
            verbatim: None,
            reply_policy,
        };
        Ok(vec![ScenarioStep::Request(reader.add(request, &step.key.at))])
    }
}

impl RequestStep {
    fn url(&self) -> &str {
        let urls = [
            &self.get,
            &self.post,
            &self.put,
            &self.patch,
            &self.delete,
            &self.head,
            &self.options,
            &self.request,
            &self.open,
            &self.send,
            &self.r#await,
            &self.ping,
            &self.close,
            &self.migrate,
        ];
        urls.into_iter().flatten().next().map_or("", |url| &url.0)
    }
}

impl StepNode<'_> {
    fn is_websocket(&self) -> bool {
        WEBSOCKET_STEPS.contains(&self.key.key.as_str())
    }
}

/// Writes the keys with the method and the URL of a request. `url` is a text of the plan file.
pub fn method_and_url(
    request_method: &str,
    is_websocket: bool,
    url: String,
) -> Vec<(String, Yaml)> {
    let key = request_method.to_ascii_lowercase();
    let steps = if is_websocket { &WEBSOCKET_STEPS[..] } else { &METHOD_STEPS };
    // Methods are case-sensitive (RFC 9110 section 9.1), and the keys stand for capital letters.
    if key != request_method && steps.contains(&key.as_str()) {
        return vec![(key, Yaml::Text(url))];
    }
    vec![("request".to_owned(), Yaml::Text(url)), ("method".to_owned(), Yaml::text(request_method))]
}

/// Header fields of a step.
pub(super) fn step_headers(
    headers: Option<&Nested<BTreeMap<String, ScalarList>>>,
    step: &PlanNode,
) -> Result<Vec<(String, String)>> {
    let fields = headers.and(step.child("headers")).map(|node| header_fields(node, "headers"));
    Ok(fields.transpose()?.unwrap_or_default())
}

impl ScenarioReader<'_> {
    /// Returns the absolute URL of a request, and the name and password in it.
    fn url(&self, written: &str, step: &StepNode<'_>) -> Result<(String, Option<String>)> {
        let url = match &self.base {
            _ if written.starts_with("${") || template::is_absolute_url(written) => {
                written.to_owned()
            }
            Some(base) => join_url(base, written),
            None => {
                let wrong = format!(
                    "`{written}` is no URL; write http://… before it, or the server below scenario.base"
                );
                return Err(step.error(SpecError::unplaced(wrong)));
            }
        };
        if let Some(error) = target::unknown_placeholder(&url) {
            return Err(step.error(error));
        }
        if url.contains("${") {
            // Only a run evaluates the expression, but the scheme before it may be wrong already.
            if url.split_once("://").is_some_and(|(scheme, _)| !scheme.contains("${")) {
                target::scheme(&url).map_err(|error| step.error(error))?;
            }
            return Ok((url, None));
        }
        let TargetUrl { url, basic } = target::parse(&url).map_err(|error| step.error(error))?;
        Ok((url, basic.map(|(name, password)| format!("{name}:{password}"))))
    }
}

/// Method of a request.
fn method(step: &StepNode<'_>, method: Option<&Scalar>) -> Result<String> {
    match (step.key.key.as_str(), step.node.child("method"), method) {
        ("request", Some(at), Some(method)) => {
            values::method_name(&method.0)
                .map_err(|error| SpecError::from(error).within("method", &at.at))?;
            Ok(method.0.clone())
        }
        ("request", ..) => Err(SpecError::new(
            &step.key.at,
            "request",
            "the method is missing; write it below as `method: PURGE`, or a step such as get",
        )),
        (other, Some(at), _) => {
            let wrong =
                format!("`{other}` names the method already; write `request: URL` in its place");
            Err(SpecError::new(&at.at, "method", wrong))
        }
        // The keys are the methods in small letters; the WebSocket actions are named like methods.
        (other, ..) => Ok(other.to_ascii_uppercase()),
    }
}

/// Appends a path or query to `base`. Slashes at the end of `base` are removed; the path is not
/// changed.
fn join_url(base: &str, relative: &str) -> String {
    let folder = base.trim_end_matches('/');
    match relative.chars().next() {
        // A query belongs to the path of the base, so no slash is inserted.
        None | Some('?' | '#') => format!("{base}{relative}"),
        Some('/') => format!("{folder}{relative}"),
        Some(_) => format!("{folder}/{relative}"),
    }
}

/// Checks a pair `name:password`, unless it has an expression, which only a run evaluates.
fn checked_basic(text: &str) -> Result<String, WordError> {
    // The name and the password of an expression are known only in the run.
    if !text.contains("${") {
        values::basic(text)?;
    }
    Ok(text.to_owned())
}

/// Refuses a URL or a body that does not go with the kind of the step.
fn check_kind(step: &StepNode<'_>, url: &str, body: &Body) -> Result<()> {
    let key = step.key.key.as_str();
    let is_http = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    let wrong = if step.is_websocket() && is_http {
        format!(
            "`{key}` is for a WebSocket, but the URL is `{url}`; write a URL of ws:// or wss://, or another step such as get"
        )
    } else if step.is_websocket() && key != "send" && *body != Body::None {
        format!("`{key}` sends no message; leave the body out, or write send")
    // Only QUIC connections can migrate (RFC 9000 section 9).
    } else if key == "migrate" && (*body != Body::None || url.starts_with("ws")) {
        "`migrate` moves a connection of HTTP/3 to another local port; write a URL of https:// and no body"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(SpecError::new(&step.key.node.at, key, wrong))
}

/// Header fields of a request, and those of the scenario that it does not replace.
pub(super) fn with_defaults(
    all: &[(String, String)],
    fields: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let mut headers = fields;
    // A field of the step replaces that of the scenario.
    let others: Vec<_> = all
        .iter()
        .filter(|(name, _)| !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)))
        .cloned()
        .collect();
    headers.extend(others);
    headers
}

/// Adds a header field unless there is one of this name.
pub(super) fn add(headers: &mut Vec<(String, String)>, name: &str, value: String) {
    if !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)) {
        headers.push((name.to_owned(), value));
    }
}

pub(super) fn pairs(fields: &[(String, String)]) -> String {
    let encode = template::encode_form_expressions;
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}
