//! The virtual user as its script sees it: requests, pauses, groups, checks, metrics and its place in the run.

use crate::exchange::{Exchange, RequestInFlight, RequestSpec};
use crate::facts::ScenarioFacts;
use crate::link::Link;
use crate::registry::{Registry, id};
use brunt_engine::{Numbering, RunState, UserStep};
use brunt_model::reply_policy::Cookies;
use brunt_model::{Body, Tick};
use brunt_script::driver::RequestEncoder;
use brunt_script::scripting::Jar;
use brunt_wire::Prepared;
use brunt_wire::redirect::Redirected;
use brunt_wire::request::{RequestParts, Tags};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use url::Url;

/// A virtual user, with its jars, groups and tags.
pub struct UserSide {
    /// Passes steps to the engine, and replies back.
    pub link: Rc<Link>,
    /// Time and number of users of the run.
    pub run_state: Rc<dyn RunState>,
    /// Encodes requests for the transport of the worker.
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
    pub begun_unix: u64,
    pub jars: RefCell<Vec<Jar>>,
    /// Number of jars that stay when an iteration ends.
    kept_jars: Cell<usize>,
    pub groups: RefCell<Vec<(String, Tick)>>,
    pub tags: RefCell<BTreeMap<String, String>>,
}

impl UserSide {
    /// Creates a user before its init code.
    pub fn new(
        link: Rc<Link>,
        run_state: Rc<dyn RunState>,
        encoder: Rc<dyn RequestEncoder>,
        labels: Numbering,
        facts: Arc<ScenarioFacts>,
    ) -> Self {
        Self {
            link,
            begun_unix: run_state.unix_millis(),
            run_state,
            encoder,
            labels,
            facts,
            number: Cell::new(0),
            iteration: Cell::new(0),
            iteration_in_test: Cell::new(0),
            jars: RefCell::new(vec![Jar::default()]),
            kept_jars: Cell::new(1),
            groups: RefCell::default(),
            tags: RefCell::default(),
        }
    }

    /// Path of the innermost group: `::outer::inner`.
    pub fn group(&self) -> String {
        let mut path = self.facts.group.clone();
        for (name, _) in self.groups.borrow().iter() {
            path.push_str("::");
            path.push_str(name);
        }
        path
    }

    /// Returns the value of a tag of the user, its scenario or the test.
    pub fn tag(&self, name: &str) -> Option<String> {
        match name {
            "scenario" => Some(self.facts.name.clone()),
            "group" => Some(self.group()),
            _ => {
                let of_scenario = self.facts.tags.iter().rfind(|(tag, _)| tag == name);
                let own = self.tags.borrow().get(name).cloned();
                own.or_else(|| of_scenario.map(|(_, value)| value.clone()))
            }
        }
    }

    /// Adds a value to a metric. `tags` are those of the call.
    pub fn record(
        &self,
        registry: &Registry,
        metric: usize,
        value: f64,
        tags: &[(String, String)],
    ) {
        registry.record(metric, value, &|name| {
            let own = tags.iter().rfind(|(tag, _)| tag == name).map(|(_, value)| value.clone());
            own.or_else(|| self.tag(name))
        });
    }

    /// Ends the iteration: groups that an exception left, and cookies.
    pub fn end_iteration(&self) {
        self.groups.borrow_mut().clear();
        if !self.facts.keeps_cookies {
            self.jars.borrow_mut()[0] = Jar::default();
        }
        self.jars.borrow_mut().truncate(self.kept_jars.get());
    }

    /// Keeps the jars that the init code has made, when an iteration ends.
    pub fn keep_jars(&self) {
        self.kept_jars.set(self.jars.borrow().len());
    }

    /// Keeps the cookies of a reply.
    pub fn take_cookies(&self, jar: usize, url: &Url, fields: &[(String, String)]) {
        if let Some(jar) = self.jars.borrow_mut().get_mut(jar) {
            jar.take(url, fields);
        }
    }

    /// Returns the header `Cookie` of a request: the cookies of the jar, and those of the request, which may replace
    /// them.
    fn cookie_field(
        &self,
        jar: usize,
        own: &[(String, String, bool)],
        url: &Url,
    ) -> Option<(String, String)> {
        let stored = self.jars.borrow().get(jar).and_then(|jar| jar.field(url, Cookies::Kept));
        let stored = stored.map(|(_, text)| text).unwrap_or_default();
        let mut all: Vec<String> = stored.split("; ").map(str::to_owned).collect();
        all.retain(|pair| {
            let name = pair.split('=').next();
            !pair.is_empty() && !own.iter().any(|(own, _, replaces)| *replaces && name == Some(own))
        });
        all.extend(own.iter().map(|(name, value, _)| format!("{name}={value}")));
        (!all.is_empty()).then(|| ("Cookie".to_owned(), all.join("; ")))
    }

    /// Gives the target of a redirect the cookies of its address. Those of the request stay on its server.
    pub fn renew_cookies(&self, spec: &RequestSpec, from: &Url, next: &mut Redirected) {
        let Ok(url) = Url::parse(&next.url) else { return };
        let is_same_origin = url.origin() == from.origin();
        if is_same_origin && spec.has_header("cookie") {
            return;
        }
        let own = if is_same_origin { &spec.cookies[..] } else { &[] };
        next.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        next.headers.extend(self.cookie_field(spec.jar, own, &url));
    }

    /// Prepares a request of the script for sending. A request that cannot be sent is an exchange without a reply.
    fn prepare(&self, mut spec: RequestSpec) -> Result<RequestInFlight, Box<Exchange>> {
        match self.encoded(&mut spec) {
            Ok(prepared) => Ok(RequestInFlight::new(spec, Rc::new(prepared))),
            Err(why) => Err(Box::new(Exchange::refused(spec, &why))),
        }
    }

    /// Encodes a request. Takes its body, which is not needed twice.
    ///
    /// # Errors
    ///
    /// The address or a header cannot be sent.
    fn encoded(&self, spec: &mut RequestSpec) -> Result<Prepared, String> {
        let url = Url::parse(&spec.url).map_err(|error| {
            format!("the address `{}`: {error}; write it with http:// or https://", spec.url)
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("the scheme `{}` is not http or https", url.scheme()));
        }
        let mut headers = Vec::with_capacity(spec.headers.len() + 2);
        // An empty `userAgent` suppresses the header.
        if !spec.has_header("user-agent") && !self.facts.user_agent.is_empty() {
            headers.push(("User-Agent".to_owned(), self.facts.user_agent.clone()));
        }
        headers.extend(spec.headers.iter().cloned());
        // A header of the script has priority, as in k6.
        if !spec.has_header("cookie") {
            headers.extend(self.cookie_field(spec.jar, &spec.cookies, &url));
        }
        let label = spec.tags.iter().find(|(tag, _)| tag == "name").map(|(_, name)| name.as_str());
        let label = (self.labels)(label.unwrap_or(&spec.url));
        let parts = RequestParts {
            method: spec.method.clone(),
            url: Rc::new(url),
            headers,
            body: spec.body.take().map_or(Body::None, Body::from_bytes),
            verbatim: None,
            awaited: None,
        };
        self.encode(parts, Tags { label, reply_policy: 0 }, spec)
    }

    /// Encodes the parts of a request, with the time limit of the script's request.
    ///
    /// # Errors
    ///
    /// A header cannot be sent.
    pub fn encode(
        &self,
        parts: RequestParts,
        tags: Tags,
        spec: &RequestSpec,
    ) -> Result<Prepared, String> {
        let mut prepared = self.encoder.encode(Rc::new(parts), tags)?;
        prepared.timeout = Some(spec.timeout);
        Ok(prepared)
    }

    /// Sends requests, and records their figures. The replies are in the order of the requests.
    pub fn send(&self, registry: &Registry, specs: Vec<RequestSpec>) -> Result<Vec<Exchange>, ()> {
        let mut in_flight = Vec::with_capacity(specs.len());
        // None for each request that is sent.
        let mut refused = Vec::with_capacity(specs.len());
        for spec in specs {
            match self.prepare(spec) {
                Ok(request) => {
                    in_flight.push(request);
                    refused.push(None);
                }
                Err(exchange) => refused.push(Some(*exchange)),
            }
        }
        let requests: Vec<_> = in_flight.iter().map(|request| Rc::clone(&request.first)).collect();
        self.link.begin(in_flight);
        match &requests[..] {
            [] => {}
            // A parallel step costs tasks, which one request does not need.
            [only] => self.link.suspend(UserStep::Request(Rc::clone(only)))?,
            _ => self.link.suspend(UserStep::Parallel(requests, self.facts.batch))?,
        }
        let mut sent = self.link.take().into_iter().map(Exchange::of);
        let results: Vec<Exchange> =
            refused.into_iter().filter_map(|exchange| exchange.or_else(|| sent.next())).collect();
        for exchange in &results {
            self.record_requests(registry, exchange);
        }
        Ok(results)
    }

    fn record_requests(&self, registry: &Registry, exchange: &Exchange) {
        for hop in &exchange.hops {
            let tag = |name: &str| exchange.tag(hop, name).or_else(|| self.tag(name));
            let record = |metric, value| registry.record(metric, value, &tag);
            record(id::HTTP_REQS, 1.0);
            // With `setResponseCallback(null)`, no request counts as failed.
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
}
