//! Converts samplers of the two common WebSocket plugins: Peter
//! Doornbosch's (`eu.luminis.jmeter.wssampler`) and Maciej
//! Zaleski's (`JMeter.plugins.functional.samplers.websocket`).
//!
//! A sampler with an existing connection has no server. It uses the server of the last preceding
//! sampler that opens a connection. JMeter closes a connection when a sampler opens the next one.
//! In brunt, the message before that sampler closes it (`Connection: close`).

use super::failing::PlanScript;
use super::patterns::translated;
use super::texts::error_at;
use super::{ElementScope, PlanReader};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::property::Properties;
use crate::support::ElementKind;
use crate::support::kinds::Variables;
use brunt_model::extract::ReplyPart;
use brunt_model::outcome::CLOSE_STATUS;
use brunt_model::reply_policy::{
    Assertion, AssertionTest, EventFormat, Events, ReplyChecks, StatusRange, TextAssertion,
    TextMatch,
};
use brunt_model::scenario::ScenarioStep;
use brunt_model::{Body, ReplyPolicy, Request};
use brunt_script::template::call_of;
use std::time::Duration;

/// Status of a received message: the switch of protocols.
const SWITCHED: u16 = 101;
/// Status of a close frame with the code 1000.
const CLOSED: u16 = CLOSE_STATUS + 1000;
/// Default timeout of a message in Doornbosch's plugin, in milliseconds.
const READ_TIMEOUT: f64 = 6_000.0;
/// Default timeout of a message in Zaleski's plugin, in milliseconds.
const RESPONSE_TIMEOUT: f64 = 20_000.0;

/// Operation of a sampler on a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Open,
    /// Sends a message and waits for one.
    Exchange,
    Read,
    Write,
    Ping,
    Close,
}

/// The WebSocket samplers of a thread group in the order of the plan.
#[derive(Debug, Clone, Default)]
pub struct WebSocketSamplers {
    places: Vec<ConnectionUse>,
    /// Index of the next sampler to convert.
    next: usize,
}

/// Properties of a sampler that select the connection of other samplers.
#[derive(Debug, Clone, PartialEq)]
struct ConnectionUse {
    /// Number of the connection in the plan; empty for the only connection of the thread.
    connection: String,
    opens: bool,
    url: String,
}

/// The connection of a sampler.
struct Connection {
    url: String,
    /// True if the next sampler opens another connection.
    closes: bool,
}

impl PlanReader<'_> {
    /// Collects the WebSocket samplers of a thread group.
    pub(super) fn find_websockets(&mut self, group: TestElement<'_>) {
        let mut places = Vec::new();
        let mut rest: Vec<TestElement<'_>> = group.enabled_children().collect();
        // `pop` takes the last element first.
        rest.reverse();
        while let Some(element) = rest.pop() {
            if element.kind() == Some(ElementKind::WebSocketSampler) {
                places.push(self.place(element));
            }
            let mut children: Vec<TestElement<'_>> = element.enabled_children().collect();
            children.reverse();
            rest.extend(children);
        }
        self.group.websockets = WebSocketSamplers { places, next: 0 };
    }

    fn trimmed(&self, element: TestElement<'_>, name: &str) -> String {
        self.text(element, name).trim().to_owned()
    }

    fn place(&self, element: TestElement<'_>) -> ConnectionUse {
        if is_zaleski(element) {
            let opens = !self.flag(element, "streamingConnection", false);
            return ConnectionUse {
                connection: self.trimmed(element, "connectionId"),
                opens,
                url: self.zaleski_url(element),
            };
        }
        let opens = match action(element) {
            Action::Open => true,
            Action::Exchange | Action::Read | Action::Write => {
                self.flag(element, "createNewConnection", false)
            }
            Action::Ping | Action::Close => false,
        };
        let scheme = if self.flag(element, "TLS", false) { "wss" } else { "ws" };
        let url = url(
            scheme,
            &self.trimmed(element, "server"),
            &self.trimmed(element, "port"),
            &self.trimmed(element, "path"),
        );
        ConnectionUse { connection: self.trimmed(element, "connectionId"), opens, url }
    }

    fn zaleski_url(&self, element: TestElement<'_>) -> String {
        let path = self.trimmed(element, "contextPath");
        if path.starts_with("ws://") || path.starts_with("wss://") {
            return path;
        }
        let protocol = self.trimmed(element, "protocol");
        let scheme = if protocol.is_empty() { "ws" } else { protocol.as_str() };
        let pairs = element.properties().element("queryStringParameters");
        let pairs: Vec<String> = pairs.iter().flat_map(|list| self.query_pairs(list)).collect();
        let url = url(
            scheme,
            &self.trimmed(element, "serverAddress"),
            &self.trimmed(element, "serverPort"),
            &path,
        );
        if pairs.is_empty() {
            url
        } else {
            format!("{url}{}{}", if url.contains('?') { '&' } else { '?' }, pairs.join("&"))
        }
    }

    fn query_pairs(&self, list: &Properties<'_>) -> Vec<String> {
        let encode = brunt_script::template::encode_form_expressions;
        let pairs = Variables::pairs(list.items("Arguments.arguments"));
        pairs
            .map(|(name, value)| {
                format!("{}={}", encode(&name), encode(&self.before.folded(&value)))
            })
            .collect()
    }

    /// Connection of the current sampler; None if no preceding sampler opens one.
    fn websocket_of(&mut self, element: TestElement<'_>) -> Option<Connection> {
        let current = self.place(element);
        let websockets = &mut self.group.websockets;
        // A sampler that a Module Controller runs is in another part of the plan; only its
        // own settings are known.
        let place = (websockets.next..websockets.places.len())
            .find(|position| websockets.places[*position] == current);
        websockets.next = place.map_or(websockets.next, |position| position + 1);
        let (before, after) = websockets.places.split_at(place.unwrap_or(websockets.places.len()));
        // The next sampler may precede this one, because a thread group is a loop.
        let mut next = after.iter().skip(1).chain(before).chain(after.first());
        let closes = next
            .find(|place| place.connection == current.connection)
            .is_some_and(|place| place.opens);
        if current.opens || is_zaleski(element) {
            return Some(Connection { url: current.url, closes });
        }
        let mut openers = before.iter().rev().chain(after.iter().rev());
        let opener = openers.find(|place| place.opens && place.connection == current.connection)?;
        Some(Connection { url: opener.url.clone(), closes })
    }

    /// Converts a WebSocket sampler to steps.
    ///
    /// # Errors
    ///
    /// Fails on an unsupported setting, or if a binary message is invalid.
    pub(super) fn websocket(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let Some(connection) = self.websocket_of(element) else {
            self.notice(format!(
                "{}: fails each time, as in JMeter: no sampler before it opens a WebSocket",
                element.place()
            ));
            let exception = "java.lang.RuntimeException: Sampler configured for using existing connection, but there is no \
                             connection";
            let failure = PlanScript::Failing { exception: exception.to_owned() };
            return Ok(vec![self.sample(element, scope, failure.into())?]);
        };
        if self.flag(element, "optional", false) {
            let message = "an optional read is not supported: a read without a message fails, and ends the connection; leave \
                         Optional out";
            return self.omit_if_lenient(element, message);
        }
        let action = action(element);
        let body = match action {
            Action::Exchange | Action::Write => self.message(element)?,
            Action::Open | Action::Read | Action::Ping | Action::Close => Body::None,
        };
        let method = match action {
            Action::Open => "OPEN",
            Action::Exchange | Action::Write if body != Body::None => "SEND",
            Action::Exchange | Action::Write | Action::Read => "AWAIT",
            Action::Ping => "PING",
            Action::Close => "CLOSE",
        };
        self.notice_differences(element);
        let mut headers = self.headers(scope)?;
        // In brunt, this field closes the WebSocket after the message.
        headers.retain(|header| !header.0.eq_ignore_ascii_case("connection"));
        if connection.closes && !matches!(action, Action::Open | Action::Close) {
            headers.push(("Connection".into(), "close".into()));
        }
        let (until, timeout) = self.expected_message(element, scope);
        let statuses = [
            StatusRange { least: SWITCHED, most: SWITCHED },
            StatusRange { least: CLOSED, most: CLOSED },
        ];
        let status =
            if action == Action::Close { statuses.to_vec() } else { statuses[..1].to_vec() };
        // A write waits for no message.
        let events = Events { format: EventFormat::Messages, most: Some(0), longest: None };
        let mut policy = ReplyPolicy {
            checks: ReplyChecks { status, ..ReplyChecks::default() },
            timeout: Some(Duration::from_secs_f64(timeout / 1e3)),
            until: if matches!(action, Action::Exchange | Action::Read) {
                until
            } else {
                Vec::new()
            },
            events: (action == Action::Write).then_some(events),
            ..self.policy_in_scope(element, scope)?
        };
        self.plan_cookies(scope, &connection.url, &mut headers, &mut policy)?;
        let policy = self.reactions(scope, policy)?;
        let reply_policy = self.policy(policy);
        let label = self.before.folded(&element.name());
        let method = method.to_owned();
        let request = Request {
            base: None,
            label,
            method,
            url: connection.url,
            headers,
            body,
            weight: 1,
            verbatim: None,
            reply_policy,
        };
        Ok(vec![ScenarioStep::Request(self.group.add(request))])
    }

    /// Omits an element with a notice in lenient mode; otherwise fails.
    fn omit_if_lenient(
        &mut self,
        element: TestElement<'_>,
        message: &str,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        if !self.context.lenient {
            let option = self.context.folder.option("lenient");
            return Err(error_at(
                element,
                &format!("{message}, or run the plan without it by {option}"),
            ));
        }
        self.notice(format!("{}: left out, {message}", element.place()));
        Ok(Vec::new())
    }

    /// Message of a sampler.
    fn message(&mut self, element: TestElement<'_>) -> Result<Body, JmxError> {
        if is_zaleski(element) {
            let text = self.text(element, "requestPayload");
            return Ok(if text.is_empty() { Body::None } else { Body::from_text(text) });
        }
        let is_binary = self.flag(element, "binaryPayload", false)
            || self.value(element, "payloadType").eq_ignore_ascii_case("binary");
        if self.flag(element, "loadDataFromFile", false) {
            let file = self.value(element, "dataFile");
            self.notice_replacement(element, file.trim());
            let read = self.context.folder.read(file.trim());
            let bytes = read.map_err(|error| {
                error_at(element, &format!("{file}: {error}; name an existing file"))
            })?;
            return Ok(match String::from_utf8(bytes) {
                Ok(text) if !is_binary => Body::from_text(text),
                Ok(text) => Body::from_bytes(text.into_bytes()),
                Err(error) => Body::from_bytes(error.into_bytes()),
            });
        }
        if !is_binary {
            return Ok(Body::from_text(self.text(element, "requestData")));
        }
        let digits = self.value(element, "requestData");
        let bytes = digits.split_whitespace().map(|word| {
            let word = word.strip_prefix("0x").unwrap_or(word);
            u8::from_str_radix(word, 16).ok()
        });
        bytes.collect::<Option<Vec<u8>>>().map(Body::from_bytes).ok_or_else(|| {
            let message = format!(
                "the binary message `{digits}` is no list of bytes; write such as 0x01 0xff"
            );
            error_at(element, &message)
        })
    }

    /// Conditions of the expected message, and its timeout in milliseconds.
    fn expected_message(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> (Vec<Assertion>, f64) {
        let (name, default) = if is_zaleski(element) {
            ("responseTimeout", RESPONSE_TIMEOUT)
        } else {
            ("readTimeout", READ_TIMEOUT)
        };
        let timeout = self.time_limit(element, name, &self.text(element, name));
        let timeout = if timeout > 0.0 { timeout } else { default };
        let connect = if is_zaleski(element) { "connectionTimeout" } else { "connectTimeout" };
        let connect = self.time_limit(element, connect, &self.text(element, connect));
        self.limit_connect(connect);
        if is_zaleski(element) {
            let pattern = self.text(element, "responsePattern");
            let pattern = (!pattern.is_empty())
                .then(|| text(TextMatch::Contains, translated(&pattern), false));
            return (pattern.into_iter().collect(), timeout);
        }
        let filters: Vec<TestElement<'_>> = scope.frame_filters.clone();
        (filters.into_iter().filter_map(|filter| self.filter_condition(filter)).collect(), timeout)
    }

    /// Condition of the messages that pass a filter. A filter drops messages that match it.
    fn filter_condition(&mut self, filter: TestElement<'_>) -> Option<Assertion> {
        let comparison = self.value(filter, "comparisonType");
        let value = self.text(filter, "matchValue");
        let (comparison, is_inverted) = match comparison.trim().strip_prefix("Not") {
            Some(rest) => (rest, true),
            None => (comparison.trim(), false),
        };
        let literal = call_of("escapeOroRegexpChars", &[&value]).unwrap_or_default();
        let (is, pattern) = match comparison {
            "Contains" => (TextMatch::Substring, value),
            "Equals" => (TextMatch::Equals, value),
            "StartsWith" => (TextMatch::Contains, format!(r"\A{literal}")),
            "EndsWith" => (TextMatch::Contains, format!(r"{literal}\z")),
            "ContainsRegex" => (TextMatch::Contains, translated(&value)),
            "EqualsRegex" => (TextMatch::Matches, translated(&value)),
            _ => {
                let message = "it drops all text messages, and brunt does not distinguish text from binary messages";
                self.notice(format!("{}: left out, {message}", filter.place()));
                return None;
            }
        };
        Some(text(is, pattern, !is_inverted))
    }

    /// Adds notices of settings without effect.
    fn notice_differences(&mut self, element: TestElement<'_>) {
        // The plugin spells the property like this.
        if !self.trimmed(element, "closeConncectionPattern").is_empty() {
            self.notice(format!(
                "{}: the pattern of messages that close the connection has no effect",
                element.place()
            ));
        }
        if !self.trimmed(element, "proxyAddress").is_empty() {
            self.notice(format!(
                "{}: the proxy is not asked; the connection goes to the server",
                element.place()
            ));
        }
        let code = self.value(element, "statusCode");
        if action(element) == Action::Close && !matches!(code.trim(), "" | "1000") {
            self.notice(format!(
                "{}: the close frame has the code 1000, not {}",
                element.place(),
                code.trim()
            ));
        }
    }
}

fn text(is: TextMatch, pattern: String, not: bool) -> Assertion {
    let test = AssertionTest::Text(TextAssertion {
        part: ReplyPart::Body,
        patterns: vec![pattern],
        is,
        not,
        any: false,
        ignore_status: false,
        message: String::new(),
    });
    Assertion { name: "until".into(), test }
}

fn is_zaleski(element: TestElement<'_>) -> bool {
    element.class_name() == "WebSocketSampler"
}

fn action(element: TestElement<'_>) -> Action {
    match element.class_name().as_str() {
        "OpenWebSocketSampler" => Action::Open,
        "SingleReadWebSocketSampler" => Action::Read,
        "SingleWriteWebSocketSampler" => Action::Write,
        "PingPongSampler" => Action::Ping,
        "CloseWebSocketSampler" => Action::Close,
        _ => Action::Exchange,
    }
}

/// URL of a server, with the scheme's default port if none is given.
fn url(scheme: &str, server: &str, port: &str, path: &str) -> String {
    let default = if scheme.eq_ignore_ascii_case("wss") { "443" } else { "80" };
    let port = if matches!(port, "" | "0") || port == default {
        String::new()
    } else {
        format!(":{port}")
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{server}{port}{slash}{path}")
}
