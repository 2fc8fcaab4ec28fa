//! Exports requests as HTTP samplers.

use super::xml::Item;
use super::{Place, PlanWriter};
use crate::support::ElementKind;
use crate::support::kinds::{
    AuthManager, Authorization, Header, HeaderManager, HttpSampler, Parameter,
};
use brunt_model::reply_policy::RedirectRules;
use brunt_model::scenario::{Scenario, TextRules};
use brunt_model::{Body, ReplyPolicy, Request};
use brunt_script::body::is_form;
use brunt_script::decoded::{self, basic};
use brunt_script::expression::{self, TextPart};
use brunt_script::template::expression_text;
use std::time::Duration;

/// Start of brunt's default `User-Agent`.
const OWN_AGENT: &str = "brunt/";

/// Header fields for JMeter's header manager: all except those that JMeter sends by itself.
fn headers(request: &Request) -> Vec<(String, String)> {
    let headers = request.headers.iter();
    headers.filter(|(name, value)| needs_manager_entry(request, name, value)).cloned().collect()
}

fn needs_manager_entry(request: &Request, name: &str, value: &str) -> bool {
    match name.to_ascii_lowercase().as_str() {
        // The keep-alive setting of the sampler replaces it.
        "connection" => false,
        "user-agent" => !value.starts_with(OWN_AGENT),
        // The Authorization Manager of the sampler sends it.
        "authorization" => basic(value).is_none(),
        // JMeter adds the type of a form by itself.
        "content-type" => !is_form(value) || form(&request.body).is_none(),
        _ => true,
    }
}

/// Header fields that all requests share.
pub(super) fn shared_headers(scenario: &Scenario) -> Vec<(String, String)> {
    let mut all = scenario.requests.iter().map(headers);
    let Some(first) = all.next() else { return Vec::new() };
    let rest: Vec<Vec<(String, String)>> = all.collect();
    let shared = first.into_iter().filter(|header| {
        !rest.is_empty()
            && !header.0.eq_ignore_ascii_case("content-type")
            && rest.iter().all(|other| other.contains(header))
    });
    shared.collect()
}

/// Fields of a form-encoded body; None for other bodies.
fn form(body: &Body) -> Option<Vec<(String, String)>> {
    let Body::Text(text) = body else { return None };
    decoded::form(text)
}

/// Splits a URL into scheme, host, port and path.
fn parts(url: &str) -> Option<[String; 4]> {
    let (scheme, rest) =
        url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
    let mut depth = 0_u32;
    let mut end = rest.len();
    let mut colon = None;
    for (position, next) in rest.char_indices() {
        match next {
            // A separator in a placeholder or in an IPv6 address does not end the host.
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '/' | '?' if depth == 0 => {
                end = position;
                break;
            }
            ':' if depth == 0 => colon = Some(position),
            _ => {}
        }
    }
    let (host, port) =
        colon.map_or((&rest[..end], ""), |colon| (&rest[..colon], &rest[colon + 1..end]));
    // JMeter's fields have no place for a user in the URL.
    if host.contains('@') {
        return None;
    }
    let path = if rest[end..].starts_with('?') {
        format!("/{}", &rest[end..])
    } else {
        rest[end..].to_owned()
    };
    Some([scheme.to_owned(), host.to_owned(), port.to_owned(), path])
}

impl PlanWriter<'_> {
    /// Exports the sampler of a request; `before` has timers.
    pub(super) fn request(
        &mut self,
        request: &Request,
        shared: &[(String, String)],
        before: Vec<Item>,
    ) -> Item {
        let policy = self.policy(request.reply_policy);
        let label = self.text(&request.label, Place::Text);
        let [scheme, host, port, path] = self.url(&request.url);
        let closes = request
            .headers
            .iter()
            .any(|(name, value)| name.eq_ignore_ascii_case("connection") && value == "close");
        let follows = policy.redirects.most > 0;
        let (is_raw, arguments) = self.body(request, &label);
        let connect_timeout = self.plan.connection.connect_timeout;
        // An imported plan without a time limit has one of an hour.
        let response_timeout = policy.timeout.unwrap_or(self.plan.connection.timeout);
        let fields = HttpSampler {
            protocol: scheme,
            host,
            port,
            method: request.method.clone(),
            path,
            arguments,
            files: Vec::new(),
            is_raw,
            follows,
            follows_automatically: follows && policy.redirects.rules == RedirectRules::JmeterAuto,
            keeps_alive: !closes,
            is_multipart: false,
            connect_timeout: limit(connect_timeout),
            response_timeout: limit(response_timeout),
            has_elements: policy.elements.is_some(),
            is_parallel: policy.elements.is_some(),
            pool: String::new(),
            only: String::new(),
            never: String::new(),
        };
        let sampler = self.item(ElementKind::HttpSampler, &label, fields);
        let sends_cookies =
            request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        if sends_cookies && policy.cookies.are_kept() && !policy.replaces_cookies {
            self.notice(format!(
                "request \"{label}\": its cookies replace those of the server in JMeter"
            ));
        }
        let mut children = Vec::new();
        let own_headers: Vec<(String, String)> =
            headers(request).into_iter().filter(|header| !shared.contains(header)).collect();
        if !own_headers.is_empty() {
            children.push(self.header_manager(&own_headers));
        }
        children.extend(self.authorization(request, &policy));
        children.extend(before);
        children.extend(self.reactions(&policy, &label));
        sampler.over(children)
    }

    /// Scheme, host, port and path in JMeter's syntax.
    fn url(&mut self, url: &str) -> [String; 4] {
        if self.rules == TextRules::Expressions
            && let [TextPart::Call { name, arguments, .. }, rest @ ..] = &expression::parse(url)[..]
            && let ("requestUrl", [scheme, host, port, path]) = (name.as_str(), &arguments[..])
        {
            let path: Vec<TextPart> = path.iter().chain(rest).cloned().collect();
            return [scheme, host, port, &path]
                .map(|part| self.text(&expression_text(part), Place::Request));
        }
        match parts(url) {
            Some(parts) => parts.map(|part| self.text(&part, Place::Request)),
            // JMeter takes a path that is a complete URL in place of the other fields.
            None => [String::new(), String::new(), String::new(), self.text(url, Place::Request)],
        }
    }

    /// True for a raw body, and the arguments of the sampler.
    fn body(&mut self, request: &Request, label: &str) -> (bool, Vec<Parameter>) {
        let sends_form = request
            .headers
            .iter()
            .any(|(name, value)| name.eq_ignore_ascii_case("content-type") && is_form(value));
        // With these methods JMeter puts parameters into the query.
        let has_form =
            sends_form && !matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS" | "HEAD");
        match &request.body {
            Body::None => (false, Vec::new()),
            body if has_form && let Some(fields) = form(body) => {
                let fields = fields.iter().map(|(name, value)| {
                    let name = self.text(name, Place::Request);
                    let value = self.text(value, Place::Request);
                    Parameter { name, value, needs_encoding: true, has_equals: true }
                });
                (false, fields.collect())
            }
            Body::Text(body) => {
                let name = String::new();
                let value = self.text(body, Place::Request);
                (true, vec![Parameter { name, value, needs_encoding: false, has_equals: true }])
            }
            Body::Bytes(_)
            | Body::Mixed(_)
            | Body::Pieces(_)
            | Body::Message(_)
            | Body::Omitted(_) => {
                self.notice(format!(
                    "request \"{label}\": its body is left out, it is no text; name its file in the sampler"
                ));
                (false, Vec::new())
            }
        }
    }

    /// Exports a header manager.
    pub(super) fn header_manager(&mut self, headers: &[(String, String)]) -> Item {
        let headers = headers.iter().map(|(name, value)| Header {
            name: name.clone(),
            value: self.text(value, Place::Request),
        });
        let headers = headers.collect();
        self.unnamed(ElementKind::HeaderManager, HeaderManager { headers })
    }

    fn authorization(&mut self, request: &Request, policy: &ReplyPolicy) -> Option<Item> {
        let header =
            request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let digest = policy.credentials.first();
        let basic_pair = header.and_then(|(_, value)| basic(value));
        let mechanism = if basic_pair.is_some() { "BASIC" } else { "DIGEST" };
        let (user, password) = match (&basic_pair, digest) {
            // A user's name may have a colon, so the pair has not the answer.
            (_, Some(digest)) => (digest.user.clone(), digest.password.clone()),
            (Some(pair), None) => {
                let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
                (user.to_owned(), password.to_owned())
            }
            (None, None) => return None,
        };
        let url_prefix = match parts(&request.url) {
            Some([scheme, host, port, _]) if port.is_empty() => format!("{scheme}://{host}"),
            Some([scheme, host, port, _]) => format!("{scheme}://{host}:{port}"),
            None => String::new(),
        };
        let realm = digest.and_then(|digest| digest.realm.clone());
        let entry = Authorization {
            url: self.text(&url_prefix, Place::Request),
            user,
            password,
            realm: realm.unwrap_or_default(),
            mechanism: mechanism.to_owned(),
        };
        Some(self.unnamed(ElementKind::AuthManager, AuthManager { entries: vec![entry] }))
    }
}

/// Milliseconds of a time limit; empty without one.
fn limit(time: Duration) -> String {
    if time.as_secs() < 3600 { time.as_millis().to_string() } else { String::new() }
}
