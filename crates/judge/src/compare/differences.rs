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
use std::collections::BTreeSet;
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

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The requests, and how they are sent.
    Plan,
    /// Files with data for the requests.
    Data,
    /// The generator's machine, and its way to the server.
    Environment,
    /// The server and its replies.
    Server,
    /// The version of brunt.
    Version,
}

impl Subject {
    /// All subjects, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Plan, Self::Data, Self::Environment, Self::Server, Self::Version];

    /// Name of the subject.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Data => "data",
            Self::Environment => "environment",
            Self::Server => "server",
            Self::Version => "version",
        }
    }
}

/// A fact that is not the same for all contenders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferentFact {
    /// Subject of the fact.
    pub subject: Subject,
    /// Name of the fact.
    pub name: String,
    /// The value of each contender; None if it is unknown.
    pub values: Vec<Option<String>>,
}

/// A contender, with its known facts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContenderFacts {
    name: String,
    facts: Vec<Fact>,
}

/// A known fact about a contender.
#[derive(Debug, Clone, PartialEq)]
struct Fact {
    subject: Subject,
    name: String,
    value: String,
    /// Numbers may differ by the share [`NEAR`].
    number: Option<f64>,
}

/// Returns the facts that are not the same for all contenders, in the order of the first one's facts.
pub fn different_facts(sides: &[ContenderFacts]) -> Vec<DifferentFact> {
    let mut all: Vec<DifferentFact> = Vec::new();
    for fact in sides.iter().flat_map(|side| &side.facts) {
        if all.iter().any(|known| known.name == fact.name) {
            continue;
        }
        let of_sides: Vec<Option<&Fact>> = sides.iter().map(|side| side.fact(&fact.name)).collect();
        let is_same =
            of_sides.iter().all(|of_side| of_side.is_some_and(|other| other.is_like(fact)));
        // The contenders are named after this fact.
        let is_their_name = sides
            .iter()
            .zip(&of_sides)
            .all(|(side, of_side)| of_side.is_some_and(|fact| fact.value == side.name));
        if !is_same && !is_their_name {
            let values = of_sides.iter().map(|of_side| of_side.map(|fact| fact.value.clone()));
            all.push(DifferentFact {
                subject: fact.subject,
                name: fact.name.clone(),
                values: values.collect(),
            });
        }
    }
    all
}

/// Returns the differences between two contenders, each as a sentence.
pub fn differences(a: &ContenderFacts, b: &ContenderFacts) -> Vec<String> {
    let facts = different_facts(&[a.clone(), b.clone()]);
    facts.iter().map(|fact| sentence(fact, &a.name, &b.name)).collect()
}

fn sentence(fact: &DifferentFact, a: &str, b: &str) -> String {
    let name = &fact.name;
    match &fact.values[..] {
        [Some(ours), Some(theirs)] => format!("{name}: {a} has {ours}, {b} has {theirs}."),
        [None, Some(theirs)] => format!("{name}: {b} has {theirs}, that of {a} is unknown."),
        [ours, ..] => {
            format!(
                "{name}: {a} has {}, that of {b} is unknown.",
                ours.as_deref().unwrap_or_default()
            )
        }
        [] => String::new(),
    }
}

/// Returns the differences between the first contender and each other.
pub fn all(sides: &[ContenderFacts]) -> Vec<String> {
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    others.iter().flat_map(|other| differences(first, other)).collect()
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

    fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.name == name)
    }

    /// Adds a fact.
    #[must_use]
    pub fn with(mut self, subject: Subject, name: &str, value: impl Into<String>) -> Self {
        self.facts.push(Fact { subject, name: name.into(), value: value.into(), number: None });
        self
    }

    /// Adds a fact if it is known.
    fn with_known(self, subject: Subject, name: &str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.with(subject, name, value),
            None => self,
        }
    }

    /// Adds a number, with `value` as its text. It may differ by a small share.
    #[must_use]
    pub fn with_number(
        mut self,
        subject: Subject,
        name: &str,
        number: f64,
        value: impl Into<String>,
    ) -> Self {
        let number = Some(number);
        self.facts.push(Fact { subject, name: name.into(), value: value.into(), number });
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
            .with(Subject::Version, "brunt", &environment.brunt)
            .with(Subject::Environment, "kernel", &environment.kernel)
            .with(Subject::Environment, "CPU", &environment.cpu)
            .with(Subject::Environment, "cores", environment.cores.to_string())
            .with_known(Subject::Server, "server", environment.server.clone());
        for data in &environment.data_files {
            let content = format!("{}, SHA-256 {:.12}", bytes(data.bytes as f64), data.sha256);
            side = side.with(Subject::Data, &format!("content of {}", data.file), content);
        }
        for (name, value) in limits.chain(settings) {
            side = side.with(Subject::Environment, &name, value);
        }
        let Some(route) = &environment.route else { return side };
        let place = route
            .same_host
            .map(|same| if same { "brunt's own machine" } else { "another machine" }.to_owned());
        side.with_known(Subject::Server, "place of the server", place)
            .with_known(Subject::Environment, "interface", route.interface.clone())
            .with_known(
                Subject::Environment,
                "link, bits per second",
                route.link_bits_per_second.map(|speed| speed.to_string()),
            )
            .with_known(
                Subject::Environment,
                "largest packet, bytes",
                route.mtu_bytes.map(|mtu| mtu.to_string()),
            )
            .with_known(
                Subject::Server,
                "accept queue",
                route.listener_backlog.map(|length| length.to_string()),
            )
            .with_known(
                Subject::Server,
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
        self.with(Subject::Plan, "protocol", connection.http.to_string())
            .with(Subject::Plan, "TLS", if is_encrypted(plan) { "https" } else { "http" })
            .with(Subject::Plan, "what is asked", requests_text(plan))
            .with(Subject::Plan, "requests per connection", reuse)
            .with(Subject::Plan, "proxy", connection.proxy.as_deref().unwrap_or("none"))
            .with(Subject::Plan, "load", load(&plan.main().load))
            .with(Subject::Plan, "warm-up", delay(Some(stop.warmup)))
            .with(Subject::Plan, "measured time", delay(stop.duration))
            .with(Subject::Plan, "timeout", delay(Some(connection.timeout)))
            .with(
                Subject::Plan,
                "maximum number of redirects",
                plan.policy().redirects.most.to_string(),
            )
            .with(Subject::Plan, "threads", plan.workers().to_string())
            .with(Subject::Plan, "reading", reading)
            .with(Subject::Data, "data files", data_files(plan))
    }

    fn with_replies(self, run: &Run) -> Self {
        let total = &run.total;
        if total.completed == 0 {
            return self;
        }
        let statuses: Vec<String> =
            total.statuses.sorted().iter().map(|(status, _)| status_text(*status)).collect();
        let length = total.bytes_received as f64 / total.completed as f64;
        self.with(Subject::Server, "statuses", statuses.join(", ")).with_number(
            Subject::Server,
            "bytes per reply, head and body",
            length,
            bytes(length),
        )
    }
}

/// Names of the files with data for the requests.
fn data_files(plan: &Plan) -> String {
    let files = plan.populations.iter().flat_map(|population| &population.scenario.data);
    let names: BTreeSet<&str> = files.map(|data| data.file.as_str()).collect();
    if names.is_empty() { "none".into() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
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

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::DataFileFacts;

    fn side(name: &str, server: Option<&str>, sha256: &str) -> ContenderFacts {
        let data = DataFileFacts { file: "users.csv".into(), bytes: 2000, sha256: sha256.into() };
        let environment = Environment {
            server: server.map(str::to_owned),
            data_files: vec![data],
            ..Environment::default()
        };
        ContenderFacts::new(name).with_environment(&environment)
    }

    #[test]
    fn facts_of_several_sides_stand_side_by_side() {
        let sides = [
            side("A", Some("nginx"), "3f9a12cc4d5e6f70"),
            side("B", None, "3f9a12cc4d5e6f70"),
            side("C", Some("nginx"), "77aa12cc4d5e6f70"),
        ];
        let fact = |subject, name: &str, values: [Option<&str>; 3]| DifferentFact {
            subject,
            name: name.into(),
            values: values.map(|value| value.map(str::to_owned)).to_vec(),
        };
        let [one, other] = ["2.00 kB, SHA-256 3f9a12cc4d5e", "2.00 kB, SHA-256 77aa12cc4d5e"];
        assert_eq!(
            different_facts(&sides),
            [
                fact(Subject::Server, "server", [Some("nginx"), None, Some("nginx")]),
                fact(Subject::Data, "content of users.csv", [Some(one), Some(one), Some(other)]),
            ]
        );
        assert_eq!(
            all(&sides),
            [
                "server: A has nginx, that of B is unknown.".to_owned(),
                format!("content of users.csv: A has {one}, C has {other}."),
            ]
        );
        assert_eq!(different_facts(&sides[..1]), []);
    }
}
