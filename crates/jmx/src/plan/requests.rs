//! HTTP requests: URL, header fields, body and reply policy, from a sampler and what is in its scope.

use super::patterns::translated;
use super::texts::{self, wrong_at};
use super::{Reader, Scope};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::property::Properties;
use crate::support::ElementKind;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::reply_policy::{
    Checks, Cookies, Credentials, Elements, PageCache, RedirectRules, Redirects, StatusRange,
};
use brunt_model::scenario::Scope as Over;
use brunt_model::{Body, ReplyPolicy, Request};
use brunt_script::body::{FORM, FilePart, Multipart};
use brunt_script::functions::request_url;
use brunt_script::template::{self, call_of};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// JMeter follows no more redirects of a request.
const MOST_REDIRECTS: u32 = 20;
/// What JMeter calls itself.
const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.13)";

/// What is made of a reply where nothing says otherwise: 200 to 399 is good.
pub fn default_policy() -> ReplyPolicy {
    ReplyPolicy {
        checks: Checks { status: vec![StatusRange { least: 200, most: 399 }], ..Checks::default() },
        status_fails: true,
        ..ReplyPolicy::default()
    }
}

/// One parameter of a request.
struct Argument {
    name: String,
    value: String,
    /// It is encoded; otherwise it is already.
    encoded: bool,
    /// An equals sign stands behind the name even where the value is empty.
    equals: bool,
}

/// A property of the sampler, or of the defaults in its scope.
struct Sampler<'s, 'd> {
    element: TestElement<'d>,
    scope: &'s Scope<'d>,
}

impl<'d> Sampler<'_, 'd> {
    /// The properties that have this one, the sampler's own first, then the innermost defaults.
    fn all(&self, name: &str) -> impl Iterator<Item = Properties<'d>> {
        let defaults = self.scope.defaults.iter().rev();
        let own = std::iter::once(&self.element).chain(defaults).map(TestElement::properties);
        own.filter(|properties| properties.get(name).is_some()).collect::<Vec<_>>().into_iter()
    }

    /// The properties whose text of this name holds.
    fn properties(&self, name: &str) -> Properties<'d> {
        let found = self.all(name).find(|properties| properties.text(name).is_some());
        found.unwrap_or_else(|| self.element.properties())
    }
}

/// A host that leads nowhere.
pub(super) enum WrongHost {
    /// It has a slash.
    Slash,
    /// There is none.
    None {
        /// The URL without it.
        url: String,
    },
}

/// A file that goes with a request.
struct Upload {
    part: FilePart,
    /// The name of its field.
    field: String,
    /// Its content where that is known while the plan runs alone.
    expression: Option<String>,
}

impl Reader<'_> {
    /// The request of a sampler.
    ///
    /// # Errors
    ///
    /// It names a file that cannot be read.
    pub(super) fn request(&mut self, element: TestElement<'_>, scope: &Scope<'_>) -> Result<Request, JmxError> {
        let sampler = Sampler { element, scope };
        let text = |reader: &Self, name: &str| reader.text_in(&sampler.properties(name), name);
        let method = match text(self, "HTTPSampler.method").trim() {
            "" => "GET".to_owned(),
            method => self.before.text(method).trim().to_ascii_uppercase(),
        };
        let arguments = self.arguments(&sampler);
        let is_raw = self.flag_in(&sampler.properties("HTTPSampler.postBodyRaw"), "HTTPSampler.postBodyRaw", false)
            || !arguments.is_empty() && arguments.iter().all(|argument| argument.name.is_empty());
        let in_query = matches!(method.as_str(), "GET" | "DELETE" | "OPTIONS" | "HEAD" | "TRACE") && !is_raw;
        let mut url = self.url(&sampler);
        let files = if in_query { Vec::new() } else { self.files(&sampler)? };
        let multipart =
            self.flag_in(&sampler.properties("HTTPSampler.DO_MULTIPART_POST"), "HTTPSampler.DO_MULTIPART_POST", false);
        let (body, media_type) = if in_query {
            let query = query(&arguments);
            if !query.is_empty() {
                url = format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' });
            }
            // JMeter sends the parameters of a DELETE in both places.
            if method == "DELETE" { request_body(&arguments, files, (is_raw, multipart)) } else { (Body::None, None) }
        } else {
            request_body(&arguments, files, (is_raw, multipart))
        };
        let mut headers = self.headers(scope);
        let has = |headers: &[(String, String)], name: &str| headers.iter().any(|h| h.0.eq_ignore_ascii_case(name));
        if let Some(media_type) = media_type {
            let is_multipart = media_type.starts_with("multipart/");
            if is_multipart {
                headers.retain(|header| !header.0.eq_ignore_ascii_case("content-type"));
            }
            if !has(&headers, "content-type") {
                headers.push(("Content-Type".into(), media_type));
            }
        }
        for (_, host) in headers.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case("host")) {
            *host = with_port(host, &url);
        }
        if !has(&headers, "connection") {
            let keep =
                self.flag_in(&sampler.properties("HTTPSampler.use_keepalive"), "HTTPSampler.use_keepalive", false);
            headers.push(("Connection".into(), if keep { "keep-alive" } else { "close" }.into()));
        }
        if !has(&headers, "user-agent") {
            headers.push(("User-Agent".into(), USER_AGENT.into()));
        }
        let mut policy = self.request_policy(&sampler, &method);
        self.authorize(&sampler, &url, &mut headers, &mut policy);
        policy.replaces_cookies = has(&headers, "cookie");
        self.plan_cookies(scope, &url, &mut headers, &mut policy);
        let policy = self.reactions(scope, policy)?;
        let label = self.before.folded(&element.name());
        let reply_policy = self.policy(policy);
        Ok(Request { label, method, url, headers, body, weight: 1, verbatim: None, reply_policy })
    }

    /// The number of a policy among those of the plan.
    pub(super) fn policy(&mut self, policy: ReplyPolicy) -> u32 {
        let policy = ReplyPolicy { failure_ends: self.failure_ends(policy.failure_ends), ..policy };
        let known = self.policies.iter().position(|other| *other == policy);
        known.unwrap_or_else(|| {
            self.policies.push(policy);
            self.policies.len() - 1
        }) as u32
    }

    fn failure_ends(&self, own: Over) -> Over {
        if own == Over::Nothing { self.group.failure_ends } else { own }
    }

    fn url(&mut self, sampler: &Sampler<'_, '_>) -> String {
        let text = |name: &str| self.text_in(&sampler.properties(name), name).trim().to_owned();
        let protocol = text("HTTPSampler.protocol");
        let host = self.text_in(&sampler.properties("HTTPSampler.domain"), "HTTPSampler.domain");
        let (port, path) = (text("HTTPSampler.port"), text("HTTPSampler.path"));
        if path.starts_with("http://") || path.starts_with("https://") {
            return path;
        }
        let host = match &self.surroundings.resolve_all {
            Some(all) if host.trim().is_empty() => all.address.ip().to_string(),
            _ => host,
        };
        if Self::is_constant(&port) && !port.is_empty() && texts::whole_number(&port).is_none() {
            let why = format!("port is `{port}`, which is no number; the port of the protocol is taken, as in JMeter");
            self.notice(format!("{}: {why}; write a number", sampler.element.place()));
        }
        let is_known = Self::is_constant(&protocol) && Self::is_constant(&port) && !path.starts_with("${");
        if !is_known && let Some(call) = call_of("requestUrl", &[&protocol, &host, &port, &path]) {
            return call;
        }
        request_url(&protocol, &host, &port, &path)
    }

    fn arguments(&self, sampler: &Sampler<'_, '_>) -> Vec<Argument> {
        let all = sampler.all("HTTPsampler.Arguments").filter_map(|own| own.element("HTTPsampler.Arguments"));
        let mut arguments = Vec::new();
        for list in all {
            for item in list.items("Arguments.arguments") {
                let properties = item.properties();
                let value = self.text_in(&properties, "Argument.value");
                arguments.push(Argument {
                    name: self.text_in(&properties, "Argument.name"),
                    equals: !value.is_empty() || self.flag_in(&properties, "HTTPArgument.use_equals", true),
                    encoded: self.flag_in(&properties, "HTTPArgument.always_encode", false),
                    value,
                });
            }
        }
        arguments
    }

    /// Why the host of a sampler leads nowhere: it is none, or has a slash, which Java takes for no URL.
    pub(super) fn wrong_host(&self, element: TestElement<'_>, scope: &Scope<'_>) -> Option<WrongHost> {
        let sampler = Sampler { element, scope };
        let text = |name: &str| self.text_in(&sampler.properties(name), name);
        let (host, path) = (text("HTTPSampler.domain"), text("HTTPSampler.path"));
        let is_whole = ["http://", "https://", "${"].iter().any(|begin| path.trim().starts_with(begin));
        if is_whole || !Self::is_constant(&host) {
            return None;
        }
        if host.contains('/') {
            return Some(WrongHost::Slash);
        }
        let is_none = host.trim().is_empty() && self.surroundings.resolve_all.is_none();
        let url = || request_url(&text("HTTPSampler.protocol"), "", &text("HTTPSampler.port"), &path);
        is_none.then(|| WrongHost::None {
            url: url().replacen(":///", ":/", 1).replacen("://", ":/", usize::from(path.is_empty())),
        })
    }

    /// The first file that a sampler would send and that is not there: JMeter's sample fails.
    pub(super) fn missing_upload(&self, element: TestElement<'_>, scope: &Scope<'_>) -> Option<PathBuf> {
        let sampler = Sampler { element, scope };
        let method = self.filled_in(&sampler.properties("HTTPSampler.method"), "HTTPSampler.method");
        let sends = !matches!(
            method.trim().to_ascii_uppercase().as_str(),
            "" | "GET" | "DELETE" | "OPTIONS" | "HEAD" | "TRACE"
        );
        if self.surroundings.lenient || !sends {
            return None;
        }
        let files = self.uploads(&sampler).into_iter().map(|(file, _)| file).filter(|file| !file.contains("${"));
        files.into_iter().find_map(|file| self.surroundings.folder.missing_upload(&file))
    }

    /// The files that go with a request: path, and the properties of each.
    fn uploads<'d>(&self, sampler: &Sampler<'d, '_>) -> Vec<(String, Properties<'d>)> {
        let lists = sampler.all("HTTPsampler.Files").filter_map(|own| own.element("HTTPsampler.Files"));
        let items =
            lists.flat_map(|list| list.items("HTTPFileArgs.files").map(|item| item.properties()).collect::<Vec<_>>());
        let named = items.map(|item| (self.filled_in(&item, "File.path").trim().to_owned(), item));
        named.filter(|(file, _)| !file.is_empty()).collect()
    }

    /// Files that go with the request.
    fn files(&mut self, sampler: &Sampler<'_, '_>) -> Result<Vec<Upload>, JmxError> {
        let mut files = Vec::new();
        for (file, properties) in self.uploads(sampler) {
            let element = sampler.element;
            let expression = self.upload_while_running(element, &file);
            self.notice_instead(element, &file);
            let bytes = match self.surroundings.folder.upload(&file) {
                _ if expression.is_some() => Vec::new(),
                Ok(bytes) => bytes,
                Err(error) if self.surroundings.lenient => {
                    self.notice(format!("{}: sent without {file}: {error}", element.place()));
                    continue;
                }
                Err(error) => return Err(wrong_at(element, &format!("{file}: {error}; name a file that is there"))),
            };
            let name = Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let media_type = self.text_in(&properties, "File.mimetype");
            let part = FilePart { name, bytes, media_type };
            files.push(Upload { part, field: self.text_in(&properties, "File.paramname"), expression });
        }
        Ok(files)
    }

    /// The content of a file whose name users fill in, as an expression; None: the name is known.
    fn upload_while_running(&mut self, element: TestElement<'_>, file: &str) -> Option<String> {
        let expression = file.contains("${").then(|| call_of("FileToString", &[file])).flatten()?;
        self.notice(format!("{}: {file} is read while the plan runs, as text in UTF-8", element.place()));
        Some(expression)
    }

    /// Header fields: those of all managers in scope, the inner before the outer and in their place.
    pub(super) fn headers(&mut self, scope: &Scope<'_>) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        for manager in scope.headers.iter().rev() {
            let inner = headers.len();
            for item in manager.properties().items("HeaderManager.headers") {
                let properties = item.properties();
                let name = self.filled_in(&properties, "Header.name").trim().to_owned();
                let value = self.text_in(&properties, "Header.value").trim().to_owned();
                if name.is_empty() || name.eq_ignore_ascii_case("content-length") {
                    continue;
                }
                match headers.iter().position(|header| header.0.eq_ignore_ascii_case(&name)) {
                    Some(at) if at >= inner => headers[at] = (name, value),
                    Some(_) => {}
                    None => headers.push((name, value)),
                }
            }
        }
        headers
    }

    /// Which elements of a page are asked for, and how.
    fn elements(&mut self, sampler: &Sampler<'_, '_>) -> Elements {
        /// JMeter downloads so many at the same time where nothing else is said.
        const POOL: f64 = 6.0;
        let filter = |reader: &mut Self, name: &str| {
            let written = reader.filled_in(&sampler.properties(name), name);
            let pattern = Some(translated(&written)).filter(|_| !written.trim().is_empty())?;
            match brunt_script::check::pattern(&pattern) {
                Ok(()) => Some(pattern),
                Err(why) => {
                    // JMeter writes it to its log, and takes all.
                    reader.notice(format!("{}: {name} has no effect, {why}", sampler.element.place()));
                    None
                }
            }
        };
        let only = filter(self, "HTTPSampler.embedded_url_re");
        let never = filter(self, "HTTPSampler.embedded_url_exclude_re");
        let name = "HTTPSampler.concurrentPool";
        let pool = match self.filled_in(&sampler.properties(name), name) {
            absent if absent.is_empty() => POOL,
            written => self.whole_of(sampler.element, name, &written),
        };
        let name = "HTTPSampler.concurrentDwn";
        let is_parallel = self.flag_in(&sampler.properties(name), name, false);
        let at_once = if is_parallel { pool.clamp(1.0, f64::from(u16::MAX)) as u32 } else { 0 };
        Elements { only, never, at_once, ..Elements::default() }
    }

    /// Milliseconds; 0: no limit. One that users set while they run is none.
    pub(super) fn time_limit(&mut self, element: TestElement<'_>, name: &str, text: &str) -> f64 {
        let filled = self.before.text(text);
        if filled.contains("${") {
            self.notice(format!(
                "{}: {name} is `{filled}`, which is known in the run alone; there is no limit",
                element.place()
            ));
            return 0.0;
        }
        self.whole_of(element, name, &filled)
    }

    /// The policy of a sampler of another protocol: cookies and time limits of its scope.
    pub(super) fn policy_in_scope(&mut self, element: TestElement<'_>, scope: &Scope<'_>) -> ReplyPolicy {
        let policy = self.request_policy(&Sampler { element, scope }, "GET");
        ReplyPolicy { cache: None, ..policy }
    }

    fn request_policy(&mut self, sampler: &Sampler<'_, '_>, method: &str) -> ReplyPolicy {
        let flag = |name: &str| self.flag_in(&sampler.properties(name), name, false);
        let follows_by_sampler = flag("HTTPSampler.follow_redirects");
        // JMeter's HTTP client follows redirects of these methods; of others its sampler does, where it may.
        let is_followed = matches!(method, "GET" | "HEAD" | "POST" | "DELETE") || !follows_by_sampler;
        let by_itself = is_followed && flag("HTTPSampler.auto_redirects");
        let follows = by_itself || follows_by_sampler;
        let rules = if by_itself { RedirectRules::JmeterAuto } else { RedirectRules::Jmeter };
        let embedded = flag("HTTPSampler.image_parser");
        let timeout = self.text_in(&sampler.properties("HTTPSampler.response_timeout"), "HTTPSampler.response_timeout");
        let millis = self.time_limit(sampler.element, "response_timeout", &timeout);
        let limits = sampler.scope.before.iter().filter(|one| one.kind() == Some(ElementKind::SampleTimeout));
        let limits: Vec<f64> = limits.map(|limit| self.whole(*limit, "InterruptTimer.timeout", 0.0)).collect();
        let millis = limits
            .into_iter()
            .chain([millis])
            .filter(|limit| *limit > 0.0)
            .fold(0.0, |least: f64, limit| if least > 0.0 { least.min(limit) } else { limit });
        let connect = self.text_in(&sampler.properties("HTTPSampler.connect_timeout"), "HTTPSampler.connect_timeout");
        let connect = self.time_limit(sampler.element, "connect_timeout", &connect);
        self.limit_connect(connect);
        let manager = sampler.scope.cookies.filter(|manager| self.keeps_cookies(*manager));
        let clears = |manager| {
            let by_group = self.flag(manager, "CookieManager.controlledByThreadGroup", false);
            if by_group {
                self.group.is_new_user_each_iteration
            } else {
                self.flag(manager, "CookieManager.clearEachIteration", false)
            }
        };
        let cookies = match manager {
            None => Cookies::Ignored,
            Some(manager) if clears(manager) => Cookies::KeptForAnIteration,
            Some(_) => Cookies::Kept,
        };
        ReplyPolicy {
            redirects: Redirects { most: if follows { MOST_REDIRECTS } else { 0 }, rules },
            cookies,
            elements: if embedded { Some(self.elements(sampler)) } else { None },
            cache: sampler.scope.cache.map(|manager| PageCache {
                reuses_fresh: self.flag(manager, "useExpires", false),
                per_iteration: self.flag(manager, "clearEachIteration", false) || self.group.is_new_user_each_iteration,
            }),
            timeout: (millis > 0.0).then(|| Duration::from_secs_f64(millis / 1e3)),
            ..default_policy()
        }
    }

    /// Who the user is where the URL begins as the manager says.
    fn authorize(
        &mut self,
        sampler: &Sampler<'_, '_>,
        url: &str,
        headers: &mut Vec<(String, String)>,
        policy: &mut ReplyPolicy,
    ) {
        let Some(manager) = sampler.scope.authorization else { return };
        let now = self.before.text(url);
        let entries: Vec<_> = manager.properties().items("AuthManager.auth_list").collect();
        for entry in entries {
            let properties = entry.properties();
            let begins = self.filled_in(&properties, "Authorization.url");
            let begins = begins.trim();
            if !begins.is_empty() && !now.starts_with(begins) && !is_same_origin(&now, begins) {
                continue;
            }
            let user = self.text_in(&properties, "Authorization.username");
            let password = self.text_in(&properties, "Authorization.password");
            let mechanism = self.filled_in(&properties, "Authorization.mechanism");
            let mechanism = mechanism.trim();
            match mechanism {
                "" | "BASIC" | "BASIC_DIGEST" => {
                    let both = format!("{user}:{password}");
                    let value = match call_of("base64", &[&both]) {
                        Some(call) if !Self::is_constant(&both) => call,
                        _ => STANDARD.encode(both),
                    };
                    headers.retain(|header| !header.0.eq_ignore_ascii_case("authorization"));
                    headers.push(("Authorization".into(), format!("Basic {value}")));
                }
                "DIGEST" => {}
                other => {
                    let notice = format!("{}: {other} is left out; only BASIC and DIGEST are known", manager.place());
                    self.notice(notice);
                    return;
                }
            }
            // Whatever was sent, a challenge is answered.
            let realm = self.filled_in(&properties, "Authorization.realm");
            policy.credentials.push(Credentials {
                realm: (!realm.trim().is_empty()).then_some(realm),
                user: self.before.text(&user),
                password: self.before.text(&password),
            });
            policy.repeats_unauthorized = 1;
            return;
        }
    }

    /// Whether a Cookie Manager keeps cookies, and sends those of the plan.
    fn keeps_cookies(&self, manager: TestElement<'_>) -> bool {
        self.filled(manager, "CookieManager.policy").trim() != "ignoreCookies"
    }

    /// Cookies that the plan itself sets.
    pub(super) fn plan_cookies(
        &mut self,
        scope: &Scope<'_>,
        url: &str,
        headers: &mut Vec<(String, String)>,
        policy: &mut ReplyPolicy,
    ) {
        let Some(manager) = scope.cookies.filter(|manager| self.keeps_cookies(*manager)) else { return };
        let now = self.before.text(url);
        let host = now.split("://").nth(1).and_then(|rest| rest.split(['/', ':', '?']).next()).unwrap_or_default();
        let mut pairs: Vec<(usize, String)> = Vec::new();
        for cookie in manager.properties().items("CookieManager.cookies") {
            let properties = cookie.properties();
            let domain = self.filled_in(&properties, "Cookie.domain");
            let domain = domain.trim().trim_start_matches('.');
            let path = self.filled_in(&properties, "Cookie.path");
            let own = domain.is_empty() || host == domain || host.ends_with(&format!(".{domain}"));
            let belongs = own && is_below(&now, path.trim());
            if belongs {
                let value = self.text_in(&properties, "Cookie.value");
                pairs.push((path.trim().len(), format!("{}={value}", self.before.text(&cookie.name()))));
            }
        }
        // The longest path first (RFC 6265, section 5.4).
        pairs.sort_by_key(|(path_length, _)| std::cmp::Reverse(*path_length));
        if !pairs.is_empty() {
            headers.retain(|header| !header.0.eq_ignore_ascii_case("cookie"));
            let pairs: Vec<String> = pairs.into_iter().map(|(_, pair)| pair).collect();
            headers.push(("Cookie".into(), pairs.join("; ")));
            policy.replaces_cookies = false;
        }
    }

    /// The statuses and what follows a failure, as actions of a policy say.
    pub(super) fn failure_of(&self, action: TestElement<'_>) -> Result<Over, JmxError> {
        Ok(match self.number(action, "OnError.action", 0.0)? as i64 {
            1 => Over::User,
            2 | 3 => Over::Run,
            4 => Over::Iteration,
            5 => Over::Round,
            6 => Over::Loop,
            _ => Over::Nothing,
        })
    }
}

/// The body, and its media type where no header field says it.
fn request_body(
    arguments: &[Argument],
    mut files: Vec<Upload>,
    (is_raw, multipart): (bool, bool),
) -> (Body, Option<String>) {
    let only_file = files.len() == 1 && files[0].field.is_empty() && arguments.iter().all(|a| a.value.is_empty());
    if only_file && !multipart {
        let Upload { part, expression, .. } = files.remove(0);
        let media_type = (!part.media_type.is_empty()).then_some(part.media_type);
        return (expression.map_or(Body::Bytes(part.bytes), Body::Text), media_type);
    }
    if multipart || !files.is_empty() {
        let mut parts = Multipart::default();
        for argument in arguments.iter().filter(|argument| !argument.name.is_empty()) {
            parts.text(&argument.name, &argument.value, "");
        }
        for Upload { part, field, expression } in &files {
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
        let body = if text.is_empty() { Body::None } else { Body::Text(text) };
        return (body, Some("text/plain; charset=UTF-8".into()));
    }
    let pairs: Vec<String> = arguments
        .iter()
        .filter(|argument| !argument.name.is_empty())
        .map(|Argument { name, value, encoded, .. }| {
            // What is encoded already is not encoded once more.
            let encode = |text: &str| {
                if *encoded { template::encode_form_expressions(text) } else { encoded_once(text) }
            };
            format!("{}={}", encode(name), encode(value))
        })
        .collect();
    (Body::Text(pairs.join("&")), Some(format!("{FORM}; charset=UTF-8")))
}

/// Parameters in the query of a URL; those without a name have no place there.
fn query(arguments: &[Argument]) -> String {
    let named = arguments.iter().filter(|argument| !argument.name.is_empty());
    let pairs = named.map(|Argument { name, value, encoded, equals }| {
        let encode = |text: &str| if *encoded { template::encode_form_expressions(text) } else { text.to_owned() };
        if *equals { format!("{}={}", encode(name), encode(value)) } else { encode(name) }
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// A text of a form that may be encoded already: decoded, then encoded.
fn encoded_once(text: &str) -> String {
    if !text.contains("${") {
        let decoded = percent_encoding::percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        return template::encode_form_expressions(&template::plain(&decoded));
    }
    let decoded = call_of("urldecode", &[text]).and_then(|call| call_of("urlencode", &[&call]));
    decoded.unwrap_or_else(|| template::encode_form_expressions(text))
}

/// A Host header with the port of the URL, where that is not the one of the protocol and the header says none.
fn with_port(host: &str, url: &str) -> String {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?']).next().unwrap_or_default());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| is_number(port));
    let has_own = host.rsplit_once(':').is_some_and(|(_, port)| is_number(port));
    match port {
        Some(port) if !has_own && !host.contains("${") => format!("{host}:{port}"),
        _ => host.to_owned(),
    }
}

/// Whether the path of a URL is this one or below it (RFC 6265, section 5.1.4).
fn is_below(url: &str, path: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let own = rest.find('/').map_or("/", |at| &rest[at..]).split('?').next().unwrap_or("/");
    let behind = own.strip_prefix(path.trim_end_matches('/'));
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('/'))
}

/// Whether a URL begins with the scheme and host of another, whose port may be left out.
fn is_same_origin(url: &str, begins: &str) -> bool {
    let (Some((scheme, rest)), Some((other, prefix))) = (url.split_once("://"), begins.split_once("://")) else {
        return false;
    };
    let default = if scheme == "https" { ":443" } else { ":80" };
    scheme == other && rest.starts_with(&prefix.replacen(default, "", 1))
}
