//! The virtual user as its script sees it: requests, pauses, groups, checks, metrics and its place in the run.

use crate::exchange::{Exchange, RequestSpec};
use crate::host::{Host, milliseconds};
use crate::link::{Link, RequestInFlight};
use crate::modules::thrown;
use crate::registry::{ABORTED, FAILED, id};
use brunt_engine::{Numbering, RunState, UserStep};
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::Pauses;
use brunt_model::{Body, Tick};
use brunt_script::driver::RequestEncoder;
use brunt_script::scripting::Jar;
use brunt_wire::request::{RequestParts, Tags};
use rquickjs::{Array, Ctx, Function, IntoJs, Object, Result, Value};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// What all users of a scenario share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioFacts {
    /// Name of the scenario.
    pub name: String,
    /// Name of its executor.
    pub executor: String,
    /// Begin of the scenario, after that of the test.
    pub start: Duration,
    /// Length of the scenario, if it is known.
    pub length: Option<Duration>,
    /// All options of the test, as JSON.
    pub options: String,
    /// Tags of the test and of the scenario.
    pub tags: Vec<(String, String)>,
    /// Header `User-Agent`.
    pub user_agent: String,
    /// Maximum number of redirects.
    pub redirects: u32,
    /// Maximum number of requests of a batch at once.
    pub batch: usize,
    /// True: bodies of replies are dropped, unless a request asks for them.
    pub drops_bodies: bool,
    /// True: cookies are kept from one iteration to the next.
    pub keeps_cookies: bool,
    /// True: a request without a reply is an exception.
    pub throws: bool,
    /// Group of everything that the function does: `::setup` and `::teardown`.
    pub group: String,
}

/// A virtual user.
pub struct UserSide {
    /// Passes steps to the engine, and replies back.
    pub link: Rc<Link>,
    /// The run.
    pub run_state: Rc<dyn RunState>,
    /// Encodes requests.
    pub encoder: Rc<dyn RequestEncoder>,
    /// Numbers names of labels.
    pub labels: Numbering,
    /// What all users of the scenario share.
    pub facts: Arc<ScenarioFacts>,
    /// Number of the user, from 1. 0: the init code is evaluated.
    pub number: Cell<u64>,
    /// Number of the iteration of the user, from 0.
    pub iteration: Cell<u64>,
    /// Number of the iteration in the test, from 0.
    pub iteration_in_test: Cell<u64>,
    /// Begin of the load, in milliseconds since 1970.
    pub begun_unix: Cell<u64>,
    jars: RefCell<Vec<Jar>>,
    groups: RefCell<Vec<(String, Tick)>>,
    tags: RefCell<BTreeMap<String, String>>,
}

impl UserSide {
    /// Creates a user.
    pub fn new(
        link: Rc<Link>,
        run_state: Rc<dyn RunState>,
        encoder: Rc<dyn RequestEncoder>,
        labels: Numbering,
        facts: Arc<ScenarioFacts>,
    ) -> Self {
        Self {
            link,
            begun_unix: Cell::new(run_state.unix_millis()),
            run_state,
            encoder,
            labels,
            facts,
            number: Cell::new(0),
            iteration: Cell::new(0),
            iteration_in_test: Cell::new(0),
            jars: RefCell::new(vec![Jar::default()]),
            groups: RefCell::default(),
            tags: RefCell::default(),
        }
    }

    /// Path of the innermost group: `::outer::inner`.
    fn group(&self) -> String {
        let mut path = self.facts.group.clone();
        for (name, _) in self.groups.borrow().iter() {
            path.push_str("::");
            path.push_str(name);
        }
        path
    }

    /// Returns the value of a tag of the user, its scenario or the test.
    fn tag(&self, name: &str) -> Option<String> {
        match name {
            "scenario" => Some(self.facts.name.clone()),
            "group" => Some(self.group()),
            _ => {
                let own = self.tags.borrow().get(name).cloned();
                let of_scenario = || self.facts.tags.iter().rfind(|(tag, _)| tag == name);
                own.or_else(|| of_scenario().map(|(_, value)| value.clone()))
            }
        }
    }

    /// Adds a value to a metric. `tags` are those of the call.
    pub fn record(&self, host: &Host, metric: usize, value: f64, tags: &[(String, String)]) {
        let tag = |name: &str| {
            let own = tags.iter().rfind(|(tag, _)| tag == name).map(|(_, value)| value.clone());
            own.or_else(|| self.tag(name))
        };
        host.registry.record(metric, value, &tag);
    }

    /// Ends the iteration: groups that an exception left, and cookies.
    pub fn end_iteration(&self) {
        self.groups.borrow_mut().clear();
        if !self.facts.keeps_cookies {
            self.jars.borrow_mut().truncate(1);
            self.jars.borrow_mut()[0] = Jar::default();
        }
    }

    /// Keeps the cookies of a reply.
    pub fn take_cookies(&self, jar: usize, url: &Url, fields: &[(String, String)]) {
        if let Some(jar) = self.jars.borrow_mut().get_mut(jar) {
            jar.take(url, fields);
        }
    }

    /// Returns the header `Cookie` of a request. `own` are cookies of the request: name, value, and whether it
    /// replaces a cookie of the jar.
    fn cookie_field(&self, spec: &RequestSpec, url: &Url) -> Option<(String, String)> {
        let stored = self.jars.borrow().get(spec.jar).and_then(|jar| jar.field(url, Cookies::Kept));
        let stored = stored.map(|(_, text)| text).unwrap_or_default();
        let replaced = |pair: &str| {
            spec.cookies
                .iter()
                .any(|(name, _, replaces)| *replaces && pair.split('=').next() == Some(name))
        };
        let kept = stored.split("; ").filter(|pair| !pair.is_empty() && !replaced(pair));
        let own = spec.cookies.iter().map(|(name, value, _)| format!("{name}={value}"));
        let all: Vec<String> = kept.map(str::to_owned).chain(own).collect();
        (!all.is_empty()).then(|| ("Cookie".to_owned(), all.join("; ")))
    }

    /// Prepares a request.
    ///
    /// # Errors
    ///
    /// The address or a header cannot be sent.
    fn prepare(
        &self,
        spec: RequestSpec,
    ) -> std::result::Result<RequestInFlight, (RequestSpec, String)> {
        let url = match Url::parse(&spec.url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            Ok(url) => {
                let why = format!("the scheme `{}` is not http or https", url.scheme());
                return Err((spec, why));
            }
            Err(error) => {
                let why = format!(
                    "the address `{}`: {error}; write it with http:// or https://",
                    spec.url
                );
                return Err((spec, why));
            }
        };
        let has = |name: &str| spec.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let mut headers = Vec::with_capacity(spec.headers.len() + 2);
        if !has("user-agent") && !self.facts.user_agent.is_empty() {
            headers.push(("User-Agent".to_owned(), self.facts.user_agent.clone()));
        }
        headers.extend(spec.headers.iter().cloned());
        if !has("cookie") {
            headers.extend(self.cookie_field(&spec, &url));
        }
        let body = spec.body.clone().map_or(Body::None, Body::from_bytes);
        let label = spec.tags.iter().find(|(tag, _)| tag == "name").map(|(_, name)| name.as_str());
        let label = (self.labels)(label.unwrap_or(&spec.url));
        let parts = RequestParts {
            method: spec.method.clone(),
            url: Rc::new(url),
            headers,
            body,
            verbatim: None,
            awaited: None,
        };
        match self.encoder.encode(Rc::new(parts), Tags { label, reply_policy: 0 }) {
            Ok(mut prepared) => {
                prepared.timeout = Some(spec.timeout);
                Ok(RequestInFlight::new(spec, Rc::new(prepared)))
            }
            Err(why) => Err((spec, why)),
        }
    }

    /// Sends requests, and records their figures. The replies are in the order of the requests.
    fn send(&self, host: &Host, specs: Vec<RequestSpec>) -> std::result::Result<Vec<Exchange>, ()> {
        let count = specs.len();
        let mut results: Vec<Option<Exchange>> = (0..count).map(|_| None).collect();
        let mut places = Vec::with_capacity(count);
        let mut in_flight = Vec::with_capacity(count);
        for (place, spec) in specs.into_iter().enumerate() {
            match self.prepare(spec) {
                Ok(request) => {
                    places.push(place);
                    in_flight.push(request);
                }
                Err((spec, why)) => results[place] = Some(Exchange::refused(spec, &why)),
            }
        }
        if !in_flight.is_empty() {
            let requests: Vec<_> =
                in_flight.iter().map(|request| Rc::clone(&request.first)).collect();
            self.link.begin(in_flight);
            self.link.suspend(match &requests[..] {
                [only] => UserStep::Request(Rc::clone(only)),
                _ => UserStep::Parallel(requests, self.facts.batch),
            })?;
            for (place, request) in places.into_iter().zip(self.link.take()) {
                results[place] = Some(Exchange::of(request));
            }
        }
        let results: Vec<Exchange> = results.into_iter().flatten().collect();
        for exchange in &results {
            self.record_requests(host, exchange);
        }
        Ok(results)
    }

    fn record_requests(&self, host: &Host, exchange: &Exchange) {
        for hop in &exchange.hops {
            let tag = |name: &str| exchange.tag(hop, name).or_else(|| self.tag(name));
            let record = |metric, value| host.registry.record(metric, value, &tag);
            record(id::HTTP_REQS, 1.0);
            if let Some(expected) = hop.is_expected {
                record(id::HTTP_REQ_FAILED, if expected { 0.0 } else { 1.0 });
            }
            let timings = &hop.timings;
            record(id::HTTP_REQ_DURATION, timings.duration());
            record(id::HTTP_REQ_BLOCKED, timings.blocked);
            record(id::HTTP_REQ_CONNECTING, timings.connecting);
            record(id::HTTP_REQ_TLS_HANDSHAKING, timings.tls);
            record(id::HTTP_REQ_SENDING, timings.sending);
            record(id::HTTP_REQ_WAITING, timings.waiting);
            record(id::HTTP_REQ_RECEIVING, timings.receiving);
            record(id::DATA_SENT, hop.bytes_sent as f64);
            record(id::DATA_RECEIVED, hop.bytes_received as f64);
        }
    }

    /// Milliseconds from one instant to another.
    pub fn milliseconds(from: Tick, to: Tick) -> f64 {
        to.nanos_since(from) as f64 / 1e6
    }
}

/// Reads tags: an object with texts, numbers and booleans.
pub fn tags_of(tags: Option<Object<'_>>) -> Result<Vec<(String, String)>> {
    let Some(tags) = tags else { return Ok(Vec::new()) };
    let mut list = Vec::new();
    for entry in tags.props::<String, Value<'_>>() {
        let (name, value) = entry?;
        list.push((name, text_of(&value)?));
    }
    Ok(list)
}

/// Returns the text of a text, number or boolean.
fn text_of(value: &Value<'_>) -> Result<String> {
    if let Some(text) = value.as_string() {
        return text.to_string();
    }
    if let Some(number) = value.as_number() {
        return Ok(number.to_string());
    }
    Ok(value.as_bool().map_or_else(String::new, |value| value.to_string()))
}

/// Adds a native function of a virtual user.
macro_rules! native {
    ($natives:ident, $ctx:ident, $name:literal, $function:expr) => {
        $natives.set($name, Function::new($ctx.clone(), $function)?)?;
    };
}

/// The user of a script. Without one, the script may not act.
fn acting<'h>(ctx: &Ctx<'_>, host: &'h Host) -> Result<&'h UserSide> {
    let user = host.user.as_ref().filter(|_| !host.is_init.get());
    user.ok_or_else(|| {
        thrown(ctx, "requests, pauses and checks are not permitted in init code and in handleSummary(); write them in the default function, setup or teardown")
    })
}

/// The exception of a run that has ended. The runtime's interrupt ends what catches it.
fn ended(ctx: &Ctx<'_>) -> rquickjs::Error {
    thrown(ctx, "the run has ended")
}

/// Adds the native functions of a virtual user.
pub fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    install_actions(ctx, host, natives)?;
    install_requests(ctx, host, natives)?;
    install_place(ctx, host, natives)
}

fn install_actions<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "sleep", move |ctx: Ctx<'js>, seconds: f64| {
        let user = acting(&ctx, &of)?;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        user.link.suspend(UserStep::Think(time)).map_err(|()| ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "beginGroup", move |ctx: Ctx<'js>, name: String| {
        let user = acting(&ctx, &of)?;
        if name.contains("::") {
            return Err(thrown(
                &ctx,
                &format!(
                    "the group `{name}`: `::` separates groups, and is not permitted in a name"
                ),
            ));
        }
        user.groups.borrow_mut().push((name, user.run_state.now()));
        let step = UserStep::BeginTransaction(user.group().into(), Pauses::Included);
        user.link.suspend(step).map_err(|()| ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "endGroup", move |ctx: Ctx<'js>| {
        let user = acting(&ctx, &of)?;
        let begun = user.groups.borrow().last().map(|(_, begun)| *begun);
        if let Some(begun) = begun {
            let time = UserSide::milliseconds(begun, user.run_state.now());
            user.record(&of, id::GROUP_DURATION, time, &[]);
            user.groups.borrow_mut().pop();
        }
        user.link.suspend(UserStep::EndTransaction).map_err(|()| ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "check",
        move |ctx: Ctx<'js>, name: String, passes: bool, tags: Option<Object<'js>>| {
            let user = acting(&ctx, &of)?;
            if name.contains("::") {
                return Err(thrown(
                    &ctx,
                    &format!(
                        "the check `{name}`: `::` separates groups, and is not permitted in a name"
                    ),
                ));
            }
            of.registry.count_check(&format!("{}::{name}", user.group()), passes);
            let mut tags = tags_of(tags)?;
            tags.push(("check".into(), name));
            user.record(&of, id::CHECKS, f64::from(u8::from(passes)), &tags);
            Ok::<_, rquickjs::Error>(())
        }
    );
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "record",
        move |ctx: Ctx<'js>, metric: usize, value: f64, tags: Option<Object<'js>>| {
            let user = acting(&ctx, &of)?;
            let tags = if of.registry.has_parts(metric) { tags_of(tags)? } else { Vec::new() };
            user.record(&of, metric, value, &tags);
            Ok::<_, rquickjs::Error>(())
        }
    );
    let of = Rc::clone(host);
    native!(natives, ctx, "abort", move |ctx: Ctx<'js>, message: String| {
        let user = acting(&ctx, &of)?;
        of.registry.mark(ABORTED, &message);
        let _ = user.link.suspend(UserStep::EndRun);
        Err::<(), _>(ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "markFailed", move |message: String| of.registry.mark(FAILED, &message));
    Ok(())
}

fn install_requests<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "request", move |ctx: Ctx<'js>, request: Object<'js>| {
        let user = acting(&ctx, &of)?;
        let spec = RequestSpec::read(&request, &user.facts)?;
        let sent = user.send(&of, vec![spec]).map_err(|()| ended(&ctx))?;
        let exchange = sent.into_iter().next().ok_or_else(|| ended(&ctx))?;
        exchange.into_reply(&ctx, &user.facts)
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "batch", move |ctx: Ctx<'js>, requests: Vec<Object<'js>>| {
        let user = acting(&ctx, &of)?;
        let specs = requests.iter().map(|request| RequestSpec::read(request, &user.facts));
        let specs = specs.collect::<Result<Vec<_>>>()?;
        let sent = user.send(&of, specs).map_err(|()| ended(&ctx))?;
        sent.into_iter()
            .map(|exchange| exchange.into_reply(&ctx, &user.facts))
            .collect::<Result<Vec<_>>>()
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "newJar", move || {
        let Some(user) = &of.user else { return 0 };
        let mut jars = user.jars.borrow_mut();
        jars.push(Jar::default());
        jars.len() - 1
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "cookiesFor", move |ctx: Ctx<'js>, jar: usize, address: String| {
        let list = Array::new(ctx.clone())?;
        let (Some(user), Ok(url)) = (&of.user, Url::parse(&address)) else { return Ok(list) };
        let field = user.jars.borrow().get(jar).and_then(|jar| jar.field(&url, Cookies::Kept));
        let text = field.map(|(_, text)| text).unwrap_or_default();
        for (i, pair) in text.split("; ").filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            list.set(i, vec![name, value])?;
        }
        Ok::<_, rquickjs::Error>(list)
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "setCookie", move |ctx: Ctx<'js>,
                                             jar: usize,
                                             address: String,
                                             text: String| {
        let user = acting(&ctx, &of)?;
        let url = Url::parse(&address)
            .map_err(|error| thrown(&ctx, &format!("the address `{address}`: {error}")))?;
        user.take_cookies(jar, &url, &[("Set-Cookie".into(), text)]);
        Ok::<_, rquickjs::Error>(true)
    });
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "clearCookies",
        move |jar: usize, address: String, name: Option<String>| {
            let (Some(user), Ok(url)) = (&of.user, Url::parse(&address)) else { return };
            let mut jars = user.jars.borrow_mut();
            let Some(jar) = jars.get_mut(jar) else { return };
            let host_name = url.host_str().unwrap_or_default();
            let gone: Vec<_> = jar
                .all()
                .into_iter()
                .filter(|cookie| name.as_ref().is_none_or(|name| cookie.name == *name))
                .filter(|cookie| {
                    let domain = cookie.domain.trim_start_matches('.');
                    host_name == domain || host_name.ends_with(&format!(".{domain}"))
                })
                .collect();
            gone.iter().for_each(|cookie| jar.remove(cookie));
        }
    );
    Ok(())
}

fn install_place<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "now", move || of
        .user
        .as_ref()
        .map_or(0.0, |user| { user.run_state.now().nanos_since(Tick::ZERO) as f64 / 1e6 }));
    let of = Rc::clone(host);
    native!(natives, ctx, "number", move |name: String| {
        of.user.as_ref().map_or(0.0, |user| place(user, &name))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "text", move |name: String| {
        let Some(user) = &of.user else {
            return String::from(if name == "options" { "{}" } else { "" });
        };
        match name.as_str() {
            "scenario" => user.facts.name.clone(),
            "executor" => user.facts.executor.clone(),
            _ => user.facts.options.clone(),
        }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "userTag", move |ctx: Ctx<'js>, name: String| {
        match of.user.as_ref().and_then(|user| user.tag(&name)) {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_undefined(ctx)),
        }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "setUserTag", move |name: String, value: Option<String>| {
        let Some(user) = &of.user else { return };
        let mut tags = user.tags.borrow_mut();
        match value {
            Some(value) => tags.insert(name, value),
            None => tags.remove(&name),
        };
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "userTags", move || of.user.as_ref().map_or_else(Vec::new, |user| user
        .tags
        .borrow()
        .keys()
        .cloned()
        .collect::<Vec<_>>()));
    Ok(())
}

/// Returns a number of the user's place in the run.
fn place(user: &UserSide, name: &str) -> f64 {
    let facts = &user.facts;
    let since_start = || user.run_state.unix_millis().saturating_sub(user.begun_unix.get()) as f64;
    match name {
        "vu" | "vuInInstance" => user.number.get() as f64,
        "iteration" => user.iteration.get() as f64,
        "iterationInTest" | "iterationInInstance" => user.iteration_in_test.get() as f64,
        "activeUsers" | "users" => user.run_state.active_users().1 as f64,
        "elapsed" => since_start(),
        "startTime" => user.begun_unix.get() as f64 + facts.start.as_secs_f64() * 1e3,
        "progress" => facts.length.map_or(0.0, |length| {
            let elapsed = milliseconds(since_start()).saturating_sub(facts.start);
            (elapsed.as_secs_f64() / length.as_secs_f64().max(1e-9)).min(1.0)
        }),
        "iterationsCompleted" => user.iteration_in_test.get() as f64,
        _ => 0.0,
    }
}
