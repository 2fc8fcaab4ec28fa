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
    pub begun_unix: Cell<u64>,
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
            begun_unix: Cell::new(run_state.unix_millis()),
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

    /// Returns the header `Cookie` of a request. `own` are cookies of the request: name, value, and whether it
    /// replaces a cookie of the jar.
    fn cookie_field(&self, spec: &RequestSpec, url: &Url) -> Option<(String, String)> {
        let stored = self.jars.borrow().get(spec.jar).and_then(|jar| jar.field(url, Cookies::Kept));
        let stored = stored.map(|(_, text)| text).unwrap_or_default();
        let mut all: Vec<String> = stored.split("; ").map(str::to_owned).collect();
        all.retain(|pair| {
            let name = pair.split('=').next();
            !pair.is_empty()
                && !spec.cookies.iter().any(|(own, _, replaces)| *replaces && name == Some(own))
        });
        all.extend(spec.cookies.iter().map(|(name, value, _)| format!("{name}={value}")));
        (!all.is_empty()).then(|| ("Cookie".to_owned(), all.join("; ")))
    }

    /// Prepares a request of the script for sending.
    ///
    /// # Errors
    ///
    /// The address or a header cannot be sent.
    fn prepare(&self, spec: RequestSpec) -> Result<RequestInFlight, Box<(RequestSpec, String)>> {
        let url = match Url::parse(&spec.url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            Ok(url) => {
                let why = format!("the scheme `{}` is not http or https", url.scheme());
                return Err(Box::new((spec, why)));
            }
            Err(error) => {
                let why = format!(
                    "the address `{}`: {error}; write it with http:// or https://",
                    spec.url
                );
                return Err(Box::new((spec, why)));
            }
        };
        let has = |name: &str| spec.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let mut headers = Vec::with_capacity(spec.headers.len() + 2);
        // An empty `userAgent` suppresses the header.
        if !has("user-agent") && !self.facts.user_agent.is_empty() {
            headers.push(("User-Agent".to_owned(), self.facts.user_agent.clone()));
        }
        headers.extend(spec.headers.iter().cloned());
        // A header of the script has priority, as in k6.
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
            Err(why) => Err(Box::new((spec, why))),
        }
    }

    /// Sends requests, and records their figures. The replies are in the order of the requests.
    pub fn send(&self, registry: &Registry, specs: Vec<RequestSpec>) -> Result<Vec<Exchange>, ()> {
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
                Err(refused) => {
                    let (spec, why) = *refused;
                    results[place] = Some(Exchange::refused(spec, &why));
                }
            }
        }
        if !in_flight.is_empty() {
            let requests: Vec<_> =
                in_flight.iter().map(|request| Rc::clone(&request.first)).collect();
            self.link.begin(in_flight);
            self.link.suspend(match &requests[..] {
                // A parallel step costs tasks, which one request does not need.
                [only] => UserStep::Request(Rc::clone(only)),
                _ => UserStep::Parallel(requests, self.facts.batch),
            })?;
            for (place, request) in places.into_iter().zip(self.link.take()) {
                results[place] = Some(Exchange::of(request));
            }
        }
        let results: Vec<Exchange> = results.into_iter().flatten().collect();
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

    /// Milliseconds from one instant to another.
    pub fn milliseconds(from: Tick, to: Tick) -> f64 {
        to.nanos_since(from) as f64 / 1e6
    }
}
