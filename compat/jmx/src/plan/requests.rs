//! Converts a sampler and the elements in its scope to an HTTP request: URL, headers,
//! body and reply policy.

use super::patterns::translated;
use super::texts::error_at;
use super::{ElementScope, PlanReader};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::fields::whole_number;
use crate::support::ElementKind;
use crate::support::kinds::{
    AuthManager, Authorization, CacheManager, Cookie, CookieManager, Header, HeaderManager,
    HttpSampler, Parameter, SampleTimeout, Upload,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::reply_policy::{
    Cookies, Credentials, Elements, PageCache, RedirectRules, Redirects, ReplyChecks, StatusRange,
};
use brunt_model::scenario::EndScope;
use brunt_model::{Body, ReplyPolicy, Request};
use brunt_script::body::{FORM, FilePart, Multipart};
use brunt_script::functions::request_url;
use brunt_script::template::{self, call_of};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// JMeter's maximum number of redirects per request.
const MOST_REDIRECTS: u32 = 20;
/// Default `User-Agent` of JMeter's HTTP client.
// JMeter 5.6.3 contains HttpClient 4.5.14.
const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.13)";

/// Default policy: statuses 200 to 399 pass.
pub fn default_policy() -> ReplyPolicy {
    ReplyPolicy {
        checks: ReplyChecks {
            status: vec![StatusRange { least: 200, most: 399 }],
            ..ReplyChecks::default()
        },
        status_fails: true,
        ..ReplyPolicy::default()
    }
}

/// Reason for an invalid host.
pub(super) enum InvalidHost {
    /// It contains a slash.
    Slash,
    /// The host is empty.
    None {
        /// URL without the host.
        url: String,
    },
}

/// A file to upload.
struct FileUpload {
    part: FilePart,
    /// Name of its form field.
    field: String,
    /// Its content as an expression, if known only during the run.
    expression: Option<String>,
}

impl PlanReader<'_> {
    /// Reads a sampler with the defaults in its scope.
    pub(super) fn http_sampler(
        &self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<HttpSampler, JmxError> {
        self.fields_with(element, &scope.defaults)
    }

    /// Converts a sampler to a request.
    pub(super) fn request(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
        sampler: &HttpSampler,
    ) -> Result<Request, JmxError> {
        let method = method(sampler);
        let arguments = &sampler.arguments;
        // JMeter sends the values as one body if no argument has a name.
        let is_raw = sampler.is_raw
            || !arguments.is_empty() && arguments.iter().all(|argument| argument.name.is_empty());
        let in_query =
            matches!(method.as_str(), "GET" | "DELETE" | "OPTIONS" | "HEAD" | "TRACE") && !is_raw;
        let mut url = self.url(element, sampler);
        let files = if in_query { Vec::new() } else { self.files(element, sampler)? };
        let is_multipart = sampler.is_multipart;
        let (body, media_type) = if in_query {
            let query = query(arguments);
            if !query.is_empty() {
                url = format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' });
            }
            // JMeter sends the parameters of a DELETE both in the query and in the body.
            if method == "DELETE" {
                request_body(arguments, files, is_raw, is_multipart)
            } else {
                (Body::None, None)
            }
        } else {
            request_body(arguments, files, is_raw, is_multipart)
        };
        let mut headers = self.headers(scope)?;
        if let Some(media_type) = media_type {
            let is_multipart = media_type.starts_with("multipart/");
            if is_multipart {
                // Only the generated header has the boundary of the body.
                headers.retain(|header| !header.0.eq_ignore_ascii_case("content-type"));
            }
            if !has_header(&headers, "content-type") {
                headers.push(("Content-Type".into(), media_type));
            }
        }
        for (_, host) in headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case("host")) {
            *host = with_port(host, &url);
        }
        if !has_header(&headers, "connection") {
            headers.push((
                "Connection".into(),
                if sampler.keeps_alive { "keep-alive" } else { "close" }.into(),
            ));
        }
        if !has_header(&headers, "user-agent") {
            headers.push(("User-Agent".into(), USER_AGENT.into()));
        }
        let mut policy = self.request_policy(element, scope, sampler)?;
        self.authorize(scope, &url, &mut headers, &mut policy)?;
        policy.replaces_cookies = has_header(&headers, "cookie");
        self.plan_cookies(scope, &url, &mut headers, &mut policy)?;
        let policy = self.reactions(scope, policy)?;
        let label = self.before.folded(&element.name());
        let reply_policy = self.policy(policy);
        Ok(Request {
            base: None,
            label,
            method,
            url,
            headers,
            body,
            weight: 1,
            verbatim: None,
            reply_policy,
        })
    }

    /// Number of a policy in the plan's list; adds it if it is new.
    pub(super) fn policy(&mut self, policy: ReplyPolicy) -> u32 {
        let policy = ReplyPolicy { failure_ends: self.failure_ends(policy.failure_ends), ..policy };
        let index = self.policies.iter().position(|other| *other == policy);
        index.unwrap_or_else(|| {
            self.policies.push(policy);
            self.policies.len() - 1
        }) as u32
    }

    /// Scope that a failure ends: the larger of the policy's and the group's.
    fn failure_ends(&self, policy_scope: EndScope) -> EndScope {
        let group_scope = self.group.failure_ends;
        if extent(policy_scope) >= extent(group_scope) { policy_scope } else { group_scope }
    }

    fn url(&mut self, element: TestElement<'_>, sampler: &HttpSampler) -> String {
        let protocol = sampler.protocol.trim();
        let host = sampler.host.clone();
        let port = sampler.port.trim();
        let path = sampler.path.trim();
        if path.starts_with("http://") || path.starts_with("https://") {
            return path.to_owned();
        }
        let host = match &self.context.resolve_all {
            // All connections go to one address, so the plan needs no host.
            Some(all) if host.trim().is_empty() => all.address.ip().to_string(),
            _ => host,
        };
        if Self::is_constant(port) && !port.is_empty() && whole_number(port).is_none() {
            let reason = format!(
                "port is `{port}`, which is no number; the port of the protocol is taken, as in JMeter"
            );
            self.notice(format!("{}: {reason}; write a number", element.place()));
        }
        let is_known =
            Self::is_constant(protocol) && Self::is_constant(port) && !path.starts_with("${");
        if !is_known && let Some(call) = call_of("requestUrl", &[protocol, &host, port, path]) {
            return call;
        }
        request_url(protocol, &host, port, path)
    }

    /// Reason why the host of a sampler is invalid: it is empty, or has a slash, which
    /// Java rejects in URLs.
    pub(super) fn invalid_host(&self, sampler: &HttpSampler) -> Option<InvalidHost> {
        let HttpSampler { protocol, host, port, path, .. } = sampler;
        let is_whole =
            ["http://", "https://", "${"].iter().any(|begin| path.trim().starts_with(begin));
        if is_whole || !Self::is_constant(host) {
            return None;
        }
        if host.contains('/') {
            return Some(InvalidHost::Slash);
        }
        let is_none = host.trim().is_empty() && self.context.resolve_all.is_none();
        is_none.then(|| {
            let url = request_url(protocol, "", port, path);
            // Java prints a URL without a host with a single slash.
            InvalidHost::None {
                url: url.replacen(":///", ":/", 1).replacen(
                    "://",
                    ":/",
                    usize::from(path.is_empty()),
                ),
            }
        })
    }

    /// The first missing file of a sampler; in JMeter its sample fails.
    pub(super) fn missing_upload(&self, sampler: &HttpSampler) -> Option<PathBuf> {
        let sends = !matches!(&*method(sampler), "GET" | "DELETE" | "OPTIONS" | "HEAD" | "TRACE");
        if self.context.lenient || !sends {
            return None;
        }
        let files = sampler.files.iter().map(|file| file.path.trim());
        let mut files = files.filter(|file| !file.is_empty() && !file.contains("${"));
        files.find_map(|file| self.context.folder.missing_upload(file))
    }

    /// Reads the files to upload.
    fn files(
        &mut self,
        element: TestElement<'_>,
        sampler: &HttpSampler,
    ) -> Result<Vec<FileUpload>, JmxError> {
        let mut files = Vec::new();
        for Upload { path, field, media_type } in &sampler.files {
            let file = path.trim();
            if file.is_empty() {
                continue;
            }
            let expression = self.runtime_upload(element, file);
            self.notice_replacement(element, file);
            let bytes = match self.context.folder.upload(file) {
                _ if expression.is_some() => Vec::new(),
                Ok(bytes) => bytes,
                Err(error) if self.context.lenient => {
                    self.notice(format!("{}: sent without {file}: {error}", element.place()));
                    continue;
                }
                Err(error) => {
                    return Err(error_at(
                        element,
                        &format!("{file}: {error}; name an existing file"),
                    ));
                }
            };
            let name = Path::new(file)
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let part = FilePart { name, bytes, media_type: media_type.clone() };
            files.push(FileUpload { part, field: field.clone(), expression });
        }
        Ok(files)
    }

    /// Content of a file as an expression, if its name contains variables; None
    /// for a constant name.
    fn runtime_upload(&mut self, element: TestElement<'_>, file: &str) -> Option<String> {
        let expression = file.contains("${").then(|| call_of("FileToString", &[file])).flatten()?;
        self.notice(format!(
            "{}: {file} is read while the plan runs, as text in UTF-8",
            element.place()
        ));
        Some(expression)
    }

    /// Header fields of all managers in scope. A field of an inner manager replaces that
    /// of an outer one.
    pub(super) fn headers(
        &mut self,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<(String, String)>, JmxError> {
        let mut headers: Vec<(String, String)> = Vec::new();
        for manager in scope.headers.iter().rev() {
            let inner = headers.len();
            let HeaderManager { headers: fields } = self.fields(*manager)?;
            for Header { name, value } in fields {
                let name = name.trim().to_owned();
                let value = value.trim().to_owned();
                // JMeter does not let a Header Manager override Content-Length.
                if name.is_empty() || name.eq_ignore_ascii_case("content-length") {
                    continue;
                }
                match headers.iter().position(|header| header.0.eq_ignore_ascii_case(&name)) {
                    Some(position) if position >= inner => headers[position] = (name, value),
                    Some(_) => {}
                    None => headers.push((name, value)),
                }
            }
        }
        Ok(headers)
    }

    /// Selection of page elements to download.
    fn elements(&mut self, element: TestElement<'_>, sampler: &HttpSampler) -> Elements {
        /// JMeter's default number of parallel downloads.
        const POOL: f64 = 6.0;
        let only = self.element_filter(element, "embedded_url_re", &sampler.only);
        let never = self.element_filter(element, "embedded_url_exclude_re", &sampler.never);
        let pool = match &*sampler.pool {
            "" => POOL,
            value => self.whole_number_of(element, "concurrentPool", value),
        };
        let at_once =
            if sampler.is_parallel { pool.clamp(1.0, f64::from(u16::MAX)) as u32 } else { 0 };
        Elements { only, never, at_once, ..Elements::default() }
    }

    /// Pattern of URLs in a property; None if it is empty or invalid.
    fn element_filter(
        &mut self,
        element: TestElement<'_>,
        name: &str,
        value: &str,
    ) -> Option<String> {
        let pattern = Some(translated(value)).filter(|_| !value.trim().is_empty())?;
        match brunt_script::check::pattern(&pattern) {
            Ok(()) => Some(pattern),
            Err(error) => {
                // JMeter logs the error and downloads all elements.
                self.notice(format!("{}: {name} has no effect, {error}", element.place()));
                None
            }
        }
    }

    /// A timeout in milliseconds; 0 for none. A variable set during the run also means none.
    pub(super) fn time_limit(&mut self, element: TestElement<'_>, name: &str, text: &str) -> f64 {
        let value = self.before.text(text);
        if value.contains("${") {
            self.notice(format!(
                "{}: {name} is `{value}`, which is known in the run alone; there is no limit",
                element.place()
            ));
            return 0.0;
        }
        self.whole_number_of(element, name, &value)
    }

    /// Policy of a sampler of another protocol: cookies and timeouts in scope.
    pub(super) fn policy_in_scope(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<ReplyPolicy, JmxError> {
        let sampler = self.http_sampler(element, scope)?;
        let policy = self.request_policy(element, scope, &sampler)?;
        Ok(ReplyPolicy { cache: None, ..policy })
    }

    fn request_policy(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
        sampler: &HttpSampler,
    ) -> Result<ReplyPolicy, JmxError> {
        let follows_by_sampler = sampler.follows;
        // JMeter's HTTP client follows redirects of these methods; for others its
        // sampler does, if enabled.
        let is_followed =
            matches!(&*method(sampler), "GET" | "HEAD" | "POST" | "DELETE") || !follows_by_sampler;
        let by_client = is_followed && sampler.follows_automatically;
        let follows = by_client || follows_by_sampler;
        let rules = if by_client { RedirectRules::JmeterAuto } else { RedirectRules::Jmeter };
        let millis = self.time_limit(element, "response_timeout", &sampler.response_timeout);
        let mut limits = Vec::new();
        for limit in &scope.pre_processors {
            if limit.kind() == Some(ElementKind::SampleTimeout) {
                let SampleTimeout { timeout } = self.fields(*limit)?;
                limits.push(self.whole_number_of(*limit, "timeout", &timeout));
            }
        }
        let millis = limits
            .into_iter()
            .chain([millis])
            // In JMeter, 0 is no limit.
            .filter(|limit| *limit > 0.0)
            .fold(0.0, |least: f64, limit| if least > 0.0 { least.min(limit) } else { limit });
        let connect = self.time_limit(element, "connect_timeout", &sampler.connect_timeout);
        self.limit_connect(connect);
        let cookies = match scope.cookies.map(|manager| self.fields(manager)).transpose()? {
            Some(manager) if keeps_cookies(&manager) => {
                let is_cleared = self.clears(manager.is_by_group, manager.clears);
                if is_cleared { Cookies::KeptForAnIteration } else { Cookies::Kept }
            }
            _ => Cookies::Ignored,
        };
        let cache = match scope.cache {
            None => None,
            Some(manager) => {
                let CacheManager { clears, uses_expires, is_by_group } = self.fields(manager)?;
                let per_iteration = self.clears(is_by_group, clears);
                Some(PageCache { reuses_fresh: uses_expires, per_iteration })
            }
        };
        Ok(ReplyPolicy {
            redirects: Redirects { most: if follows { MOST_REDIRECTS } else { 0 }, rules },
            cookies,
            elements: if sampler.has_elements {
                Some(self.elements(element, sampler))
            } else {
                None
            },
            cache,
            timeout: (millis > 0.0).then(|| Duration::from_secs_f64(millis / 1e3)),
            ..default_policy()
        })
    }

    /// True if a manager with this setting forgets its content in each iteration.
    fn clears(&self, is_by_group: bool, clears_each_iteration: bool) -> bool {
        if is_by_group { self.group.is_new_user_each_iteration } else { clears_each_iteration }
    }

    /// Adds credentials of the manager's first entry that matches the URL.
    fn authorize(
        &mut self,
        scope: &ElementScope<'_>,
        url: &str,
        headers: &mut Vec<(String, String)>,
        policy: &mut ReplyPolicy,
    ) -> Result<(), JmxError> {
        let Some(manager) = scope.authorization else { return Ok(()) };
        let evaluated_url = self.before.text(url);
        let AuthManager { entries } = self.fields(manager)?;
        for Authorization { url: url_prefix, user, password, realm, mechanism } in entries {
            let url_prefix = url_prefix.trim();
            // An entry may have the default port, which the URL omits.
            if !url_prefix.is_empty()
                && !evaluated_url.starts_with(url_prefix)
                && !is_same_origin(&evaluated_url, url_prefix)
            {
                continue;
            }
            let mechanism = mechanism.trim();
            match mechanism {
                // A field of a Header Manager takes precedence.
                "" | "BASIC" | "BASIC_DIGEST" if has_header(headers, "authorization") => {}
                "" | "BASIC" | "BASIC_DIGEST" => {
                    let user_and_password = format!("{user}:{password}");
                    let value = match call_of("base64", &[&user_and_password]) {
                        Some(call) if !Self::is_constant(&user_and_password) => call,
                        _ => STANDARD.encode(user_and_password),
                    };
                    headers.push(("Authorization".into(), format!("Basic {value}")));
                }
                "DIGEST" => {}
                other => {
                    let notice = format!(
                        "{}: {other} is left out; only BASIC and DIGEST are known",
                        manager.place()
                    );
                    self.notice(notice);
                    return Ok(());
                }
            }
            // Whichever header was sent, a challenge is answered.
            policy.credentials.push(Credentials {
                realm: (!realm.trim().is_empty()).then_some(realm),
                user: self.before.text(&user),
                password: self.before.text(&password),
            });
            policy.repeats_unauthorized = 1;
            return Ok(());
        }
        Ok(())
    }

    /// Adds cookies that the plan defines.
    pub(super) fn plan_cookies(
        &mut self,
        scope: &ElementScope<'_>,
        url: &str,
        headers: &mut Vec<(String, String)>,
        policy: &mut ReplyPolicy,
    ) -> Result<(), JmxError> {
        let Some(manager) = scope.cookies else { return Ok(()) };
        let manager = self.fields(manager)?;
        if !keeps_cookies(&manager) {
            return Ok(());
        }
        let evaluated_url = self.before.text(url);
        let host = evaluated_url
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split(['/', ':', '?']).next())
            .unwrap_or_default();
        let mut pairs: Vec<(usize, String)> = Vec::new();
        for Cookie { name, value, domain, path } in manager.cookies {
            // RFC 6265, section 5.2.3: a leading dot of a domain is ignored.
            let domain = domain.trim().trim_start_matches('.');
            let domain_matches =
                domain.is_empty() || host == domain || host.ends_with(&format!(".{domain}"));
            if domain_matches && is_below(&evaluated_url, path.trim()) {
                pairs.push((path.trim().len(), format!("{name}={value}")));
            }
        }
        // Longest path first (RFC 6265, section 5.4).
        pairs.sort_by_key(|(path_length, _)| std::cmp::Reverse(*path_length));
        if !pairs.is_empty() {
            headers.retain(|header| !header.0.eq_ignore_ascii_case("cookie"));
            let pairs: Vec<String> = pairs.into_iter().map(|(_, pair)| pair).collect();
            headers.push(("Cookie".into(), pairs.join("; ")));
            policy.replaces_cookies = false;
        }
        Ok(())
    }
}

/// Method of a sampler.
fn method(sampler: &HttpSampler) -> String {
    match sampler.method.trim() {
        "" => "GET".to_owned(),
        method => method.to_ascii_uppercase(),
    }
}

/// True if a Cookie Manager stores cookies and sends those of the plan.
fn keeps_cookies(manager: &CookieManager) -> bool {
    manager.policy.trim() != "ignoreCookies"
}

/// Rank of what a failure ends, from the smallest.
fn extent(scope: EndScope) -> u8 {
    match scope {
        EndScope::Nothing => 0,
        EndScope::Turn => 1,
        EndScope::Round => 2,
        EndScope::Loop => 3,
        EndScope::Iteration => 4,
        EndScope::User => 5,
        EndScope::Run => 6,
    }
}

/// Body and media type; None if no `Content-Type` is added.
fn request_body(
    arguments: &[Parameter],
    mut files: Vec<FileUpload>,
    is_raw: bool,
    is_multipart: bool,
) -> (Body, Option<String>) {
    // JMeter sends a single file without a field name as the whole body.
    let is_only_file = files.len() == 1
        && files[0].field.is_empty()
        && arguments.iter().all(|a| a.value.is_empty());
    if is_only_file && !is_multipart {
        let FileUpload { part, expression, .. } = files.remove(0);
        let media_type = (!part.media_type.is_empty()).then_some(part.media_type);
        return (expression.map_or(Body::from_bytes(part.bytes), Body::from_text), media_type);
    }
    if is_multipart || !files.is_empty() {
        let mut parts = Multipart::default();
        for argument in arguments.iter().filter(|argument| !argument.name.is_empty()) {
            parts.text(&argument.name, &argument.value, "");
        }
        for FileUpload { part, field, expression } in &files {
            match expression {
                Some(expression) => parts.file_expression(field, part, expression),
                None => parts.file(field, part),
            }
        }
        let media_type = parts.media_type();
        return (parts.finish(), Some(media_type));
    }
    if is_raw {
        let text: String = arguments.iter().map(|argument| argument.value.as_str()).collect();
        let body = if text.is_empty() { Body::None } else { Body::from_text(text) };
        return (body, Some("text/plain; charset=UTF-8".into()));
    }
    let pairs: Vec<String> = arguments
        .iter()
        .filter(|argument| !argument.name.is_empty())
        .map(|Parameter { name, value, needs_encoding, has_equals: _ }| {
            format!("{}={}", form_text(name, *needs_encoding), form_text(value, *needs_encoding))
        })
        .collect();
    (Body::from_text(pairs.join("&")), Some(format!("{FORM}; charset=UTF-8")))
}

/// Query of a URL. Parameters without a name are omitted.
fn query(arguments: &[Parameter]) -> String {
    let named = arguments.iter().filter(|argument| !argument.name.is_empty());
    let pairs = named.map(|Parameter { name, value, needs_encoding, has_equals }| {
        let name = query_text(name, *needs_encoding);
        if *has_equals || !value.is_empty() {
            format!("{name}={}", query_text(value, *needs_encoding))
        } else {
            name
        }
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn has_header(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
}

fn form_text(text: &str, needs_encoding: bool) -> String {
    if needs_encoding { template::encode_form_expressions(text) } else { reencoded(text) }
}

fn query_text(text: &str, needs_encoding: bool) -> String {
    if needs_encoding { template::encode_form_expressions(text) } else { text.to_owned() }
}

/// Encodes a form text that may already be encoded: decodes it first.
fn reencoded(text: &str) -> String {
    if !text.contains("${") {
        let decoded = percent_encoding::percent_decode_str(&text.replace('+', " "))
            .decode_utf8_lossy()
            .into_owned();
        return template::encode_form_expressions(&template::plain(&decoded));
    }
    let decoded = call_of("urldecode", &[text]).and_then(|call| call_of("urlencode", &[&call]));
    decoded.unwrap_or_else(|| template::encode_form_expressions(text))
}

/// Adds the URL's port to a Host header, unless it is the protocol's default or the
/// header has a port.
fn with_port(host: &str, url: &str) -> String {
    let authority = url
        .split_once("://")
        .map_or("", |(_, rest)| rest.split(['/', '?']).next().unwrap_or_default());
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| is_port(port));
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| is_port(port));
    match port {
        Some(port) if !has_port && !host.contains("${") => format!("{host}:{port}"),
        _ => host.to_owned(),
    }
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if the path of a URL is the given one or below it (RFC 6265, section 5.1.4).
fn is_below(url: &str, path: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let url_path =
        rest.find('/').map_or("/", |position| &rest[position..]).split('?').next().unwrap_or("/");
    let after = url_path.strip_prefix(path.trim_end_matches('/'));
    after.is_some_and(|after| after.is_empty() || after.starts_with('/'))
}

/// True if a URL has the scheme and host of another, and its port or the default port.
fn is_same_origin(url: &str, prefix_url: &str) -> bool {
    let (Some((scheme, rest)), Some((other, prefix))) =
        (url.split_once("://"), prefix_url.split_once("://"))
    else {
        return false;
    };
    let default = if scheme == "https" { ":443" } else { ":80" };
    scheme == other && rest.starts_with(&prefix.replacen(default, "", 1))
}
