//! Exports requests as HTTP samplers.

use super::xml::{Item, Prop};
use super::{Place, PlanWriter};
use brunt_model::scenario::{Scenario, TextRules};
use brunt_model::{Body, ReplyPolicy, Request};
use brunt_script::body::is_form;
use brunt_script::decoded::{self, basic};
use brunt_script::expression::{self, TextPart};
use brunt_script::template::expression_text;

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

fn text(name: &str, text: impl Into<String>) -> Prop {
    Prop::Text(name.to_owned(), text.into())
}

fn argument(name: &str, value: String, encode: bool) -> Prop {
    let mut properties = vec![
        Prop::Flag("HTTPArgument.always_encode".into(), encode),
        text("Argument.value", value),
        text("Argument.metadata", "="),
    ];
    if !name.is_empty() {
        properties.push(Prop::Flag("HTTPArgument.use_equals".into(), true));
        properties.push(text("Argument.name", name));
    }
    Prop::Element(name.to_owned(), "HTTPArgument", "", properties)
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
        let mut sampler = Item::new("HTTPSamplerProxy", "HttpTestSampleGui", &label);
        let (raw, list) = self.body(request, &label);
        let class = "Arguments";
        let arguments = Prop::List("Arguments.arguments".into(), list);
        sampler = sampler
            .flag("HTTPSampler.postBodyRaw", raw)
            .with(Prop::Element(
                "HTTPsampler.Arguments".into(),
                class,
                "HTTPArgumentsPanel",
                vec![arguments],
            ))
            .text("HTTPSampler.domain", host)
            .text("HTTPSampler.port", port)
            .text("HTTPSampler.protocol", scheme)
            .text("HTTPSampler.path", path)
            .text("HTTPSampler.method", &request.method)
            .flag("HTTPSampler.follow_redirects", follows)
            .flag("HTTPSampler.auto_redirects", false)
            .flag("HTTPSampler.use_keepalive", !closes);
        // An imported plan without a time limit has one of an hour.
        if let Some(timeout) = policy
            .timeout
            .or(Some(self.plan.connection.timeout))
            .filter(|time| time.as_secs() < 3600)
        {
            sampler = sampler.text("HTTPSampler.response_timeout", timeout.as_millis().to_string());
        }
        if self.plan.connection.connect_timeout.as_secs() < 3600 {
            let millis = self.plan.connection.connect_timeout.as_millis();
            sampler = sampler.text("HTTPSampler.connect_timeout", millis.to_string());
        }
        if policy.elements.is_some() {
            sampler = sampler
                .flag("HTTPSampler.image_parser", true)
                .flag("HTTPSampler.concurrentDwn", true);
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
    fn body(&mut self, request: &Request, label: &str) -> (bool, Vec<Prop>) {
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
                    argument(&name, value, true)
                });
                (false, fields.collect())
            }
            Body::Text(body) => (true, vec![argument("", self.text(body, Place::Request), false)]),
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
        let headers = headers.iter().map(|(name, value)| {
            let value = self.text(value, Place::Request);
            Prop::Element(
                name.clone(),
                "Header",
                "",
                vec![text("Header.name", name), text("Header.value", value)],
            )
        });
        let headers = headers.collect();
        Item::new("HeaderManager", "HeaderPanel", "HTTP Header Manager")
            .with(Prop::List("HeaderManager.headers".into(), headers))
    }

    fn authorization(&mut self, request: &Request, policy: &ReplyPolicy) -> Option<Item> {
        let header =
            request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let digest = policy.credentials.first();
        let (pair, mechanism) = match (header.and_then(|(_, value)| basic(value)), digest) {
            (Some(pair), _) => (pair, "BASIC"),
            (None, Some(digest)) => (format!("{}:{}", digest.user, digest.password), "DIGEST"),
            (None, None) => return None,
        };
        let (user, password) = pair.split_once(':').unwrap_or((&pair, ""));
        let url_prefix = match parts(&request.url) {
            Some([scheme, host, port, _]) if port.is_empty() => format!("{scheme}://{host}"),
            Some([scheme, host, port, _]) => format!("{scheme}://{host}:{port}"),
            None => String::new(),
        };
        let entry = vec![
            text("Authorization.url", self.text(&url_prefix, Place::Request)),
            text("Authorization.username", self.text(user, Place::Text)),
            text("Authorization.password", self.text(password, Place::Text)),
            text("Authorization.domain", ""),
            text(
                "Authorization.realm",
                digest.and_then(|digest| digest.realm.clone()).unwrap_or_default(),
            ),
            text("Authorization.mechanism", mechanism),
        ];
        let list = vec![Prop::Element(String::new(), "Authorization", "", entry)];
        Some(
            Item::new("AuthManager", "AuthPanel", "HTTP Authorization Manager")
                .with(Prop::List("AuthManager.auth_list".into(), list))
                .flag("AuthManager.controlledByThreadGroup", false),
        )
    }
}
