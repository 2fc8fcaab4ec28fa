//! Converts requests to steps.

use super::Writer;
use brunt_har::body::MULTIPART;
use brunt_har::text::Braces;
use brunt_har::write::{Keys, is_content_type, is_map, plan_time, push};
use brunt_jmx::plan::UPLOAD;
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::EndScope;
use brunt_model::{Body, ReplyPolicy, Request};
use brunt_script::body::is_form;
use brunt_script::decoded;
use brunt_script::expression::{self, TextPart};
use brunt_script::template::expression_text;
use brunt_spec::defaults;
use brunt_spec::plan::Yaml;
use brunt_spec::plan::scenario::steps;
use brunt_spec::words::duration;
use brunt_spec::words::values::method_name;
use std::time::Duration;

/// Prefix of the User-Agent that JMeter's client sends by default.
const JMETER_AGENT: &str = "Apache-HttpClient/";

/// The header fields to write: without those that JMeter's client sends by default.
pub(super) fn headers(request: &Request) -> Vec<(String, String)> {
    let fields = request.headers.iter().filter(|(name, value)| {
        let is_default_connection =
            name.eq_ignore_ascii_case("connection") && value == "keep-alive";
        let is_default_agent =
            name.eq_ignore_ascii_case("user-agent") && value.starts_with(JMETER_AGENT);
        !is_default_connection && !is_default_agent
    });
    fields.cloned().collect()
}

/// Splits a URL after scheme, host and port.
pub(super) fn server(url: &str) -> Option<(&str, &str)> {
    let host = ["http://", "https://"].iter().find(|scheme| url.starts_with(**scheme))?.len();
    // Expressions such as `${__P(host,a/b)}` may contain a slash.
    let mut depth = 0_u32;
    let end = url[host..].char_indices().find(|(_, next)| {
        match next {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(next, '/' | '?')
    });
    Some(url.split_at(end.map_or(url.len(), |(position, _)| host + position)))
}

impl Writer<'_> {
    /// Converts a request to a step.
    pub(super) fn request(&mut self, request: &Request, policy: &ReplyPolicy) -> Yaml {
        let place = self.sampler_place(&request.label);
        let url = self.url(&request.url);
        let mut method = request.method.as_str();
        if method_name(method).is_err() {
            self.notice(format!(
                "{place}: the method {method} became GET; a plan file does not have it"
            ));
            method = "GET";
        }
        let mut keys = steps::method_and_url(method, request.is_websocket(), url);
        let label = self.plain(&request.label);
        push(&mut keys, "name", Yaml::Text(label));
        let shared = self.shared_headers.clone();
        let mut own_headers = headers(request);
        own_headers.retain(|header| !shared.contains(header));
        let body = self.body(&request.body, &mut own_headers, &place);
        self.authorization(&mut own_headers, policy, &mut keys);
        let fields = self.fields(&own_headers, &place);
        if !fields.is_empty() {
            push(&mut keys, "headers", Yaml::Map(fields));
        }
        keys.extend(body);
        self.await_keys(policy, &place, &mut keys);
        if request.is_websocket() && matches!(request.body, Body::Bytes(_)) {
            self.notice(format!("{place}: its binary message is sent as text"));
        }
        self.reactions(policy, &place, &mut keys);
        if policy.redirects.most != self.follow {
            push(&mut keys, "follow", Yaml::text(policy.redirects.most.to_string()));
        }
        if policy.elements.is_some() {
            push(&mut keys, "resources", Yaml::text("true"));
        }
        if policy.failure_ends != self.failure_ends {
            match on_failure(policy.failure_ends) {
                Some(word) => push(&mut keys, "on_failure", Yaml::text(word)),
                None => self.notice(format!(
                    "{place}: a failure ends no loop, because plan files cannot express that"
                )),
            }
        }
        if let Some(timeout) =
            policy.timeout.filter(|timeout| !is_default(*timeout, defaults::TIMEOUT))
        {
            push(&mut keys, "timeout", Yaml::Text(plan_time(timeout)));
        }
        Yaml::Map(keys)
    }

    fn url(&mut self, url: &str) -> String {
        let url = self.readable(url);
        let (server, rest) = match server(&url) {
            Some((server, rest)) if Some(server) == self.base.as_deref() => ("", rest.to_owned()),
            Some((server, rest)) => (server, rest.to_owned()),
            None => return self.text(&url, Braces::Placeholders),
        };
        let (path, query) =
            rest.split_once('?').map_or((rest.as_str(), None), |(path, query)| (path, Some(query)));
        let path = if path.is_empty() { "/" } else { path };
        let query = query.map(|query| {
            let fields: Vec<String> =
                query.split('&').map(|field| self.query_field(field)).collect();
            format!("?{}", fields.join("&"))
        });
        let whole = format!("{server}{path}{}", query.unwrap_or_default());
        self.text(&whole, Braces::Placeholders)
    }

    /// Replaces the value of a field of a query, if it is a secret.
    fn query_field(&mut self, field: &str) -> String {
        let Some((name, value)) = field.split_once('=') else { return field.to_owned() };
        let decoded = percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned();
        let value = self
            .secret(name, &decoded)
            .map_or(value.to_owned(), |hidden| format!("${{urlencode({hidden})}}"));
        format!("{name}={value}")
    }

    /// Rewrites a URL with constant parts, without the function that builds it at run time.
    pub(super) fn readable(&self, url: &str) -> String {
        let stretches = expression::parse(url);
        let [TextPart::Call { name, arguments, .. }, rest @ ..] = &stretches[..] else {
            return url.to_owned();
        };
        let [protocol, host, port, path] = &arguments[..] else { return url.to_owned() };
        if name != "requestUrl" {
            return url.to_owned();
        }
        let scheme = self.url_part(protocol);
        let port = self.url_part(port);
        let path = self.url_part(path);
        let host = expression_text(host);
        if !scheme.is_constant
            || !port.is_constant
            || host.is_empty()
            || path.value.starts_with("http")
            || path.value.starts_with("${")
        {
            return url.to_owned();
        }
        let scheme = if scheme.value.trim().is_empty() {
            "http".to_owned()
        } else {
            scheme.text.trim().to_owned()
        };
        let port_value = port.value.trim();
        let port = if port_value.is_empty() || port_value == "0" {
            String::new()
        } else {
            format!(":{}", port.text.trim())
        };
        let slash = if path.value.starts_with('/') || path.value.is_empty() { "" } else { "/" };
        // URLs are parsed before users exist, so a variable cannot be the scheme.
        let is_scheme = scheme == "http" || scheme == "https";
        let scheme = if is_scheme {
            scheme
        } else {
            self.unevaluated.before.text(&scheme).trim().to_ascii_lowercase()
        };
        format!("{scheme}://{host}{port}{slash}{}{}", path.text, expression_text(rest))
    }

    fn url_part(&self, stretches: &[TextPart]) -> UrlPart {
        let text = expression_text(stretches);
        let is_constant = stretches.iter().all(|stretch| match stretch {
            TextPart::Literal(_) => true,
            TextPart::Variable { name, .. } => self.plan_vars.contains(name),
            TextPart::Call { .. } => false,
        });
        UrlPart { value: self.unevaluated.before.text(&text), text, is_constant }
    }

    /// Writes header fields without secrets.
    pub(super) fn fields(&mut self, headers: &[(String, String)], place: &str) -> Keys {
        let mut keys = Keys::new();
        for (name, value) in headers {
            if keys.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                self.notice(format!("{place}: a second header field {name} is left out"));
                continue;
            }
            let bearer =
                value.split_once(' ').filter(|_| name.eq_ignore_ascii_case("authorization"));
            let hidden = match bearer {
                Some((scheme, token)) => {
                    self.hide("token", token).map(|token| format!("{scheme} {token}"))
                }
                None => self.secret(name.trim_start_matches("X-").trim_start_matches("x-"), value),
            };
            let value = self.text(&hidden.unwrap_or_else(|| value.clone()), Braces::Placeholders);
            keys.push((name.clone(), Yaml::Text(value)));
        }
        keys
    }

    fn authorization(
        &mut self,
        own: &mut Vec<(String, String)>,
        policy: &ReplyPolicy,
        keys: &mut Keys,
    ) {
        let basic = own.iter().enumerate().find_map(|(index, (name, value))| {
            let credentials = if name.eq_ignore_ascii_case("authorization") {
                decoded::basic(value)
            } else {
                None
            };
            Some((index, credentials?))
        });
        if let Some((index, pair)) = basic {
            own.remove(index);
            let pair = self.pair(&pair);
            push(keys, "basic", Yaml::Text(pair));
        }
        if let Some(credentials) = policy.credentials.first() {
            let pair = self.pair(&format!("{}:{}", credentials.user, credentials.password));
            push(keys, "digest", Yaml::Text(pair));
        }
    }

    /// Writes name and password, with a variable for the password.
    fn pair(&mut self, pair: &str) -> String {
        let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
        let password = self.hide("password", password).unwrap_or_else(|| password.to_owned());
        self.plain(&format!("{user}:{password}"))
    }

    fn body(&mut self, body: &Body, headers: &mut Vec<(String, String)>, place: &str) -> Keys {
        let media_type = headers
            .iter()
            .find(|header| is_content_type(header))
            .map(|header| header.1.clone())
            .unwrap_or_default();
        let Some(bytes) = body.bytes() else { return Keys::new() };
        let Ok(text) = String::from_utf8(bytes.to_vec()) else {
            self.notice(format!("{place}: its body is left out; it is no text"));
            return Keys::new();
        };
        // The reader of .jmx files builds multipart bodies with this boundary.
        if media_type.starts_with(MULTIPART) && media_type.contains("boundary=brunt-") {
            headers.retain(|header| !is_content_type(header));
            let parts = self.multipart(&text, &media_type, place);
            return single_key("multipart", Yaml::Map(parts));
        }
        if let Some(file) = self.upload(&text) {
            return single_key("file", Yaml::Text(self.file(file)));
        }
        // The key `form` implies the media type.
        if is_form(&media_type)
            && let Some(fields) = form(&text)
        {
            headers.retain(|header| !is_content_type(header));
            let fields = fields.into_iter().map(|(name, value)| {
                let value = self.secret(&name, &value).unwrap_or(value);
                (name, Yaml::Text(self.plain(&value)))
            });
            return single_key("form", Yaml::Map(fields.collect()));
        }
        let text = self.without_secrets(&text);
        let text = self.text(&text, Braces::Placeholders);
        single_key("data", Yaml::Text(text))
    }

    fn multipart(&mut self, text: &str, media_type: &str, place: &str) -> Keys {
        let boundary = media_type.split("boundary=").nth(1).unwrap_or_default();
        let mut keys = Keys::new();
        for part in text.split(&format!("--{boundary}")).skip(1) {
            let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
            let content = content.strip_suffix("\r\n").unwrap_or(content);
            // An expression in another part makes a backslash an escape in this one.
            let is_escaped = text.contains("${") && !content.contains("${");
            let content =
                if is_escaped { content.replace(r"\\", r"\") } else { content.to_owned() };
            let name = head
                .split("name=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .unwrap_or_default();
            let name = name.replace("%22", "\"");
            if keys.iter().any(|(other, _)| *other == name) {
                self.notice(format!("{place}: a second part `{name}` is left out"));
                continue;
            }
            let value = if let Some(file) = self.upload(&content) {
                let mut keys = vec![("file".to_owned(), Yaml::Text(self.file(file)))];
                let kind = head
                    .split("Content-Type: ")
                    .nth(1)
                    .map(str::trim)
                    .filter(|kind| !kind.is_empty());
                keys.extend(kind.map(|kind| ("type".to_owned(), Yaml::text(kind))));
                Yaml::Map(keys)
            } else {
                let value = self.secret(&name, &content).unwrap_or(content);
                Yaml::Text(self.text(&value, Braces::Placeholders))
            };
            keys.push((name, value));
        }
        keys
    }

    /// The name of an uploaded file, if the text is a placeholder of its content.
    fn upload<'t>(&self, text: &'t str) -> Option<&'t str> {
        let file = text.strip_prefix(UPLOAD[0])?.strip_suffix(UPLOAD[1])?;
        self.folder.find(file).is_ok().then_some(file)
    }

    /// Path of a file, relative to the plan file's folder.
    pub(super) fn file(&self, file: &str) -> String {
        let path = std::path::Path::new(file);
        let relative = path.strip_prefix(&self.options.directory).unwrap_or(path);
        if relative.is_absolute() {
            relative.to_path_buf()
        } else {
            self.options.files.join(relative)
        }
        .display()
        .to_string()
    }
}

fn single_key(name: &str, value: Yaml) -> Keys {
    vec![(name.to_owned(), value)]
}

/// A part of a URL that a function builds at run time.
struct UrlPart {
    /// Value with constants filled in.
    value: String,
    /// Text as written in the plan.
    text: String,
    is_constant: bool,
}

/// True if a time equals a default of plan files.
pub(super) fn is_default(time: Duration, default: &str) -> bool {
    duration::parse(default).is_ok_and(|default| default == time)
}

/// The word of a plan file for a scope; None if there is none.
pub(super) fn on_failure(ends: EndScope) -> Option<&'static str> {
    match ends {
        EndScope::Nothing => Some("continue"),
        EndScope::Iteration => Some("iteration"),
        EndScope::User => Some("user"),
        EndScope::Run => Some("run"),
        EndScope::Turn | EndScope::Round | EndScope::Loop => None,
    }
}

/// The word of a plan file for a cookie rule.
pub(super) fn cookies(cookies: Cookies) -> &'static str {
    match cookies {
        Cookies::Ignored => "false",
        Cookies::KeptForAnIteration => "iteration",
        _ => "true",
    }
}

/// Decodes an encoded form; None if a map cannot represent it.
fn form(text: &str) -> Option<Vec<(String, String)>> {
    decoded::form(text).filter(|fields| is_map(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_decoded_if_a_map_is_equivalent() {
        let pairs = |text: &str| {
            form(text)
                .map(|all| all.into_iter().map(|(a, b)| format!("{a}={b}")).collect::<Vec<_>>())
        };
        assert_eq!(
            pairs("a=b+c&d=%26${urlencode(${x})}"),
            Some(vec!["a=b c".into(), "d=&${x}".into()])
        );
        assert_eq!(pairs("a=1&a=2"), None);
        assert_eq!(pairs("a=${x}"), None);
        assert_eq!(pairs("a==b&c"), Some(vec!["a==b".into(), "c=".into()]));
    }

    #[test]
    fn servers_and_paths_are_separated() {
        assert_eq!(server("https://${host}:81/a?b"), Some(("https://${host}:81", "/a?b")));
        assert_eq!(server("http://h"), Some(("http://h", "")));
        assert_eq!(server("${url}/a"), None);
    }
}
