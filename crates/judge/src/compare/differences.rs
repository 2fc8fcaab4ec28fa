//! Lists known differences between contenders other than the compared figures.
//!
//! The facts of each contender (its machine, plan and replies) are compared by name. Out of
//! scope: a judgement on whether they may be compared. Often one of these differences is the
//! subject of the comparison.

use crate::texts::message;
use brunt_model::load::Arrivals;
use brunt_model::numbers::{bytes, seconds, three_digits};
use brunt_model::outcome::status_text;
use brunt_model::request::{BodyPieces, PieceInterval};
use brunt_model::{Body, Environment, Load, Plan, Run, Text};
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
    pub name: Text,
    /// The value of each contender; None if it is unknown.
    pub values: Vec<Option<Text>>,
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
    name: Text,
    value: Text,
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
            let values = of_sides.iter().map(|of_side| Some(of_side.as_ref()?.value.clone()));
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
pub fn differences(a: &ContenderFacts, b: &ContenderFacts) -> Vec<Text> {
    let facts = different_facts(&[a.clone(), b.clone()]);
    facts.iter().map(|fact| sentence(fact, &a.name, &b.name)).collect()
}

fn sentence(different: &DifferentFact, first: &str, other: &str) -> Text {
    let fact = different.name.clone();
    match &different.values[..] {
        [Some(ours), Some(theirs)] => {
            let ours = ours.clone();
            message!("fact-differs", fact, first, ours, other, theirs = theirs.clone())
        }
        [None, Some(theirs)] => {
            message!("fact-differs.first-unknown", fact, other, theirs = theirs.clone(), first)
        }
        [ours, ..] => {
            let ours = ours.clone().unwrap_or_default();
            message!("fact-differs.other-unknown", fact, first, ours, other)
        }
        [] => Text::default(),
    }
}

/// Returns the differences between the first contender and each other.
pub fn all(sides: &[ContenderFacts]) -> Vec<Text> {
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
    pub fn with(mut self, subject: Subject, name: impl Into<Text>, value: impl Into<Text>) -> Self {
        self.facts.push(Fact { subject, name: name.into(), value: value.into(), number: None });
        self
    }

    /// Adds a fact if it is known.
    fn with_known(self, subject: Subject, name: Text, value: Option<impl Into<Text>>) -> Self {
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
        name: Text,
        number: f64,
        value: impl Into<Text>,
    ) -> Self {
        let number = Some(number);
        self.facts.push(Fact { subject, name, value: value.into(), number });
        self
    }

    /// Adds the generator's machine, and the known facts about the server and the route to it.
    #[must_use]
    pub fn with_environment(self, environment: &Environment) -> Self {
        let mut side = self
            .with(Subject::Version, "brunt", &*environment.brunt)
            .with(Subject::Environment, message!("fact.kernel"), &*environment.kernel)
            .with(Subject::Environment, message!("fact.cpu"), &*environment.cpu)
            .with(Subject::Environment, message!("fact.cores"), environment.cores.to_string())
            .with_known(Subject::Server, message!("fact.server"), environment.server.clone());
        for data in &environment.data_files {
            let content = format!("{}, SHA-256 {:.12}", bytes(data.bytes as f64), data.sha256);
            side =
                side.with(Subject::Data, message!("fact.data-file", file = &*data.file), content);
        }
        for (name, value) in &environment.limits {
            let name = message!("fact.limit", name = &**name);
            side = side.with(Subject::Environment, name, &**value);
        }
        for (name, value) in &environment.sysctls {
            let name = message!("fact.setting", name = &**name);
            side = side.with(Subject::Environment, name, &**value);
        }
        let Some(route) = &environment.route else { return side };
        let place = route.same_host.map(|is_same| {
            if is_same {
                message!("fact-value.same-machine")
            } else {
                message!("fact-value.other-machine")
            }
        });
        side.with_known(Subject::Server, message!("fact.place"), place)
            .with_known(Subject::Environment, message!("fact.interface"), route.interface.clone())
            .with_known(
                Subject::Environment,
                message!("fact.link"),
                route.link_bits_per_second.map(|speed| speed.to_string()),
            )
            .with_known(
                Subject::Environment,
                message!("fact.packet"),
                route.mtu_bytes.map(|mtu| mtu.to_string()),
            )
            .with_known(
                Subject::Server,
                message!("fact.accept-queue"),
                route.listener_backlog.map(|length| length.to_string()),
            )
            .with_known(
                Subject::Server,
                message!("fact.open-files"),
                route.listener_descriptors.map(|limit| limit.to_string()),
            )
    }

    /// Adds the requests and how they are sent, but not the load.
    #[must_use]
    pub fn with_plan(self, plan: &Plan) -> Self {
        let connection = &plan.connection;
        let stop = &plan.main().stop;
        let reuse = connection
            .requests_per_connection
            .map_or_else(|| message!("fact-value.no-limit"), |most| most.to_string().into());
        let reading = match connection.receive_rate {
            None => message!("fact-value.unlimited"),
            Some(rate) => message!("fact-value.bytes-per-second", rate = rate.to_string()),
        };
        let proxy =
            connection.proxy.as_deref().map_or_else(|| message!("fact-value.none"), Text::from);
        let redirects = plan.policy().redirects.most.to_string();
        let scheme = if is_encrypted(plan) { "https" } else { "http" };
        self.with(Subject::Plan, message!("fact.protocol"), connection.http.to_string())
            .with(Subject::Plan, "TLS", scheme)
            .with(Subject::Plan, message!("fact.requests"), requests_text(plan))
            .with(Subject::Plan, message!("fact.requests-per-connection"), reuse)
            .with(Subject::Plan, message!("fact.proxy"), proxy)
            .with(Subject::Plan, message!("fact.load"), load(&plan.main().load))
            .with(Subject::Plan, message!("fact.warm-up"), delay(Some(stop.warmup)))
            .with(Subject::Plan, message!("fact.measured-time"), delay(stop.duration))
            .with(Subject::Plan, message!("fact.timeout"), delay(Some(connection.timeout)))
            .with(Subject::Plan, message!("fact.redirects"), redirects)
            .with(Subject::Plan, message!("fact.threads"), plan.workers().to_string())
            .with(Subject::Plan, message!("fact.reading"), reading)
            .with(Subject::Data, message!("fact.data-files"), data_files(plan))
    }

    fn with_replies(self, run: &Run) -> Self {
        let total = &run.total;
        if total.completed == 0 {
            return self;
        }
        let statuses: Vec<String> =
            total.statuses.sorted().iter().map(|(status, _)| status_text(*status)).collect();
        let length = total.bytes_received as f64 / total.completed as f64;
        self.with(Subject::Server, message!("fact.statuses"), statuses.join(", ")).with_number(
            Subject::Server,
            message!("fact.reply-bytes"),
            length,
            bytes(length),
        )
    }
}

/// Names of the files with data for the requests.
fn data_files(plan: &Plan) -> Text {
    let files = plan.populations.iter().flat_map(|population| &population.scenario.data);
    let names: BTreeSet<&str> = files.map(|data| data.file.as_str()).collect();
    if names.is_empty() {
        message!("fact-value.none")
    } else {
        names.into_iter().collect::<Vec<_>>().join(", ").into()
    }
}

fn is_encrypted(plan: &Plan) -> bool {
    plan.main().scenario.requests.iter().any(brunt_model::Request::is_encrypted)
}

fn requests_text(plan: &Plan) -> Text {
    match &plan.main().scenario.requests[..] {
        [only] => request_text(only),
        [first, ..] => {
            let count = (plan.main().scenario.requests.len() - 1).to_string();
            message!("fact-value.and-more", request = request_text(first), count)
        }
        [] => message!("fact-value.nothing"),
    }
}

/// Method, path and body size, without the address, the query, and the values of headers that
/// may hold a secret.
fn request_text(request: &brunt_model::Request) -> Text {
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
    let whole = format!("{} {path}{}{body}", request.method, headers.concat());
    match &request.body {
        Body::Pieces(BodyPieces { interval: PieceInterval::Time(interval), .. }) => {
            let time = seconds(interval.as_secs_f64());
            message!("fact-value.piece-every", request = whole, time)
        }
        Body::Pieces(_) => message!("fact-value.piece-after-reply", request = whole),
        _ => whole.into(),
    }
}

fn header(name: &str, value: &str) -> String {
    let shown = SHOWN.contains(&&name.to_ascii_lowercase()[..]);
    if shown { format!(" {name}: {value}") } else { format!(" {name}") }
}

/// Kind of load. The loads themselves are paired.
fn load(load: &Load) -> Text {
    match load {
        Load::Closed { think, .. } if think.is_none() => message!("fact-value.closed-loop"),
        Load::Closed { think, .. } => message!(
            "fact-value.closed-loop-thinking",
            seconds = three_digits(think.mean().as_secs_f64())
        ),
        Load::Open { arrivals, connections, .. } => {
            let spacing = match arrivals {
                Arrivals::Poisson => "Poisson".into(),
                Arrivals::Even => message!("fact-value.even"),
                Arrivals::Burst(size) => message!("fact-value.bursts", size = size.to_string()),
                Arrivals::Uniform(millionths) => {
                    message!(
                        "fact-value.uniform",
                        share = (f64::from(*millionths) / 1e4).to_string()
                    )
                }
            };
            match connections {
                None => message!("fact-value.open-loop", spacing),
                Some(most) => message!(
                    "fact-value.open-loop-with-connections",
                    spacing,
                    connections = most.to_string()
                ),
            }
        }
    }
}

fn delay(time: Option<Duration>) -> Text {
    time.map_or_else(
        || message!("fact-value.none"),
        |time| format!("{} s", time.as_secs_f64()).into(),
    )
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
            values: values.map(|value| value.map(Text::from)).to_vec(),
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
