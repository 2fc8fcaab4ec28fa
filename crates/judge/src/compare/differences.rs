//! Lists known differences between contenders other than the compared figures.
//!
//! The facts of each contender (its machine, plan and replies) are compared by name. Out of
//! scope: a judgement on whether they may be compared. Often one of these differences is the
//! subject of the comparison.

use brunt_model::load::Arrivals;
use brunt_model::numbers::{bytes, seconds, three_digits};
use brunt_model::outcome::status_text;
use brunt_model::request::{BodyPieces, PieceInterval};
use brunt_model::{Body, Environment, Load, Plan, Run};
use std::time::Duration;

/// Numbers that differ by less than this share count as the same: replies carry dates and the like.
const NEAR: f64 = 0.01;

/// Headers that are shown with their values.
const SHOWN: [&str; 7] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-type",
    "user-agent",
];

/// A contender, with its known facts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContenderFacts {
    name: String,
    facts: Vec<Fact>,
}

/// A known fact about a contender.
#[derive(Debug, Clone, PartialEq)]
struct Fact {
    name: String,
    value: String,
    /// Numbers may differ by the share [`NEAR`].
    number: Option<f64>,
}

/// Returns the differences between two contenders, each as a sentence.
pub fn differences(a: &ContenderFacts, b: &ContenderFacts) -> Vec<String> {
    let mut all = Vec::new();
    for ours in &a.facts {
        match b.facts.iter().find(|theirs| theirs.name == ours.name) {
            Some(theirs) if theirs.is_like(ours) => {}
            // The contenders are named after this fact.
            Some(theirs) if ours.value == a.name && theirs.value == b.name => {}
            Some(theirs) => {
                all.push(format!(
                    "{}: {} has {}, {} has {}.",
                    ours.name, a.name, ours.value, b.name, theirs.value
                ));
            }
            None => all.push(unknown(ours, a, b)),
        }
    }
    let only_b =
        b.facts.iter().filter(|theirs| a.facts.iter().all(|ours| ours.name != theirs.name));
    all.extend(only_b.map(|theirs| unknown(theirs, b, a)));
    all
}

/// Returns the differences between the first contender and each other.
pub fn all(sides: &[ContenderFacts]) -> Vec<String> {
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    others.iter().flat_map(|other| differences(first, other)).collect()
}

fn unknown(fact: &Fact, known: &ContenderFacts, other: &ContenderFacts) -> String {
    format!("{}: {} has {}, that of {} is unknown.", fact.name, known.name, fact.value, other.name)
}

impl Fact {
    fn is_like(&self, other: &Self) -> bool {
        match (self.number, other.number) {
            (Some(a), Some(b)) => (a - b).abs() <= NEAR * a.abs().max(b.abs()),
            _ => self.value == other.value,
        }
    }
}

impl ContenderFacts {
    /// A contender without known facts.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), facts: Vec::new() }
    }

    /// All facts that a run has about a contender.
    pub fn of_run(name: &str, run: &Run) -> Self {
        let side = Self::new(name).with_environment(&run.environment).with_replies(run);
        run.plan.as_ref().map_or(side.clone(), |plan| side.with_plan(plan))
    }

    /// Adds a fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.facts.push(Fact { name: name.into(), value: value.into(), number: None });
        self
    }

    /// Adds a fact if it is known.
    fn with_known(self, name: &str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a number, with `value` as its text. It may differ by a small share.
    #[must_use]
    pub fn with_number(mut self, name: &str, number: f64, value: impl Into<String>) -> Self {
        self.facts.push(Fact { name: name.into(), value: value.into(), number: Some(number) });
        self
    }

    /// Adds the generator's machine, and the known facts about the server and the route to it.
    #[must_use]
    pub fn with_environment(self, environment: &Environment) -> Self {
        let limits =
            environment.limits.iter().map(|(name, value)| (format!("limit {name}"), value));
        let settings =
            environment.sysctls.iter().map(|(name, value)| (format!("setting {name}"), value));
        let mut side = self
            .with("brunt", &environment.brunt)
            .with("kernel", &environment.kernel)
            .with("CPU", &environment.cpu)
            .with("cores", environment.cores.to_string())
            .with_known("server", environment.server.clone());
        for (name, value) in limits.chain(settings) {
            side = side.with(&name, value);
        }
        let Some(route) = &environment.route else { return side };
        let place = route
            .same_host
            .map(|same| if same { "brunt's own machine" } else { "another machine" }.to_owned());
        side.with_known("place of the server", place)
            .with_known("interface", route.interface.clone())
            .with_known(
                "link, bits per second",
                route.link_bits_per_second.map(|speed| speed.to_string()),
            )
            .with_known("largest packet, bytes", route.mtu_bytes.map(|mtu| mtu.to_string()))
            .with_known("accept queue", route.listener_backlog.map(|length| length.to_string()))
            .with_known(
                "server's limit on open files",
                route.listener_descriptors.map(|limit| limit.to_string()),
            )
    }

    /// Adds the requests and how they are sent, but not the load.
    #[must_use]
    pub fn with_plan(self, plan: &Plan) -> Self {
        let connection = &plan.connection;
        let stop = &plan.main().stop;
        let reuse =
            connection.requests_per_connection.map_or("no limit".into(), |most| most.to_string());
        let reading =
            connection.receive_rate.map_or("unlimited".into(), |rate| format!("{rate} bytes/s"));
        self.with("protocol", connection.http.to_string())
            .with("TLS", if is_encrypted(plan) { "https" } else { "http" })
            .with("what is asked", requests_text(plan))
            .with("requests per connection", reuse)
            .with("proxy", connection.proxy.as_deref().unwrap_or("none"))
            .with("load", load(&plan.main().load))
            .with("warm-up", delay(Some(stop.warmup)))
            .with("measured time", delay(stop.duration))
            .with("timeout", delay(Some(connection.timeout)))
            .with("maximum number of redirects", plan.policy().redirects.most.to_string())
            .with("threads", plan.workers().to_string())
            .with("reading", reading)
    }

    fn with_replies(self, run: &Run) -> Self {
        let total = &run.total;
        if total.completed == 0 {
            return self;
        }
        let statuses: Vec<String> =
            total.statuses.sorted().iter().map(|(status, _)| status_text(*status)).collect();
        let length = total.bytes_received as f64 / total.completed as f64;
        self.with("statuses", statuses.join(", ")).with_number(
            "bytes per reply, head and body",
            length,
            bytes(length),
        )
    }
}

fn is_encrypted(plan: &Plan) -> bool {
    plan.main().scenario.requests.iter().any(brunt_model::Request::is_encrypted)
}

fn requests_text(plan: &Plan) -> String {
    match &plan.main().scenario.requests[..] {
        [only] => request_text(only),
        [first, ..] => {
            format!("{} and {} more", request_text(first), plan.main().scenario.requests.len() - 1)
        }
        [] => "nothing".into(),
    }
}

/// Method, path and body size, without the address, the query, and the values of headers that
/// may hold a secret.
fn request_text(request: &brunt_model::Request) -> String {
    let after_scheme = request.url.split_once("://").map_or(&request.url[..], |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("/", |start| &after_scheme[start..]);
    let path = path.split('?').next().unwrap_or(path);
    let headers: Vec<String> =
        request.headers.iter().map(|(name, value)| header(name, value)).collect();
    let body = request
        .body
        .bytes()
        .map(|body| format!(" + {}", bytes(body.len() as f64)))
        .unwrap_or_default();
    let pieces = match &request.body {
        Body::Pieces(BodyPieces { interval: PieceInterval::Time(interval), .. }) => {
            format!(", a piece every {}", seconds(interval.as_secs_f64()))
        }
        Body::Pieces(_) => ", a piece after each reply".to_owned(),
        _ => String::new(),
    };
    format!("{} {path}{}{body}{pieces}", request.method, headers.concat())
}

fn header(name: &str, value: &str) -> String {
    let shown = SHOWN.contains(&&name.to_ascii_lowercase()[..]);
    if shown { format!(" {name}: {value}") } else { format!(" {name}") }
}

/// Kind of load. The loads themselves are paired.
fn load(load: &Load) -> String {
    match load {
        Load::Closed { think, .. } if think.is_none() => "a closed loop".into(),
        Load::Closed { think, .. } => {
            format!("a closed loop, thinking {} s", three_digits(think.mean().as_secs_f64()))
        }
        Load::Open { arrivals, connections, .. } => {
            let spacing = match arrivals {
                Arrivals::Poisson => "Poisson".into(),
                Arrivals::Even => "even".into(),
                Arrivals::Burst(size) => format!("bursts of {size}"),
                Arrivals::Uniform(millionths) => {
                    format!("uniform within {} %", f64::from(*millionths) / 1e4)
                }
            };
            let most =
                connections.map_or(String::new(), |most| format!(", at most {most} connections"));
            format!("an open loop, {spacing}{most}")
        }
    }
}

fn delay(time: Option<Duration>) -> String {
    time.map_or("none".into(), |time| format!("{} s", time.as_secs_f64()))
}
