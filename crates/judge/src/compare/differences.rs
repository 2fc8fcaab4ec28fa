//! What differs between contenders besides what is compared, as far as it is known.
//!
//! What it is: facts of each side (the machine, the plan, the replies), one held against the other by name. Out of scope: a
//! judgement on whether they may be compared; often enough one of these differences is what is compared.

use brunt_model::load::Arrivals;
use brunt_model::numbers::{bytes, seconds, three};
use brunt_model::outcome::status_text;
use brunt_model::request::{BodyPieces, PieceInterval};
use brunt_model::{Body, Environment, Load, Plan, Run};
use std::time::Duration;

/// Numbers that are nearer to each other than this share are the same: replies carry dates and the like.
const NEAR: f64 = 0.01;

/// Headers whose values are told.
const SHOWN: [&str; 7] =
    ["accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-type", "user-agent"];

/// A contender, and what is known of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    name: String,
    facts: Vec<Fact>,
}

/// One thing that is known of a contender.
#[derive(Debug, Clone, PartialEq)]
struct Fact {
    what: String,
    said: String,
    /// Numbers need only be near each other.
    number: Option<f64>,
}

/// What differs between two contenders, each a sentence.
pub fn differences(a: &Side, b: &Side) -> Vec<String> {
    let mut all = Vec::new();
    for ours in &a.facts {
        match b.facts.iter().find(|theirs| theirs.what == ours.what) {
            Some(theirs) if theirs.is_like(ours) => {}
            // The contenders are named by it.
            Some(theirs) if ours.said == a.name && theirs.said == b.name => {}
            Some(theirs) => {
                all.push(format!("{}: {} has {}, {} has {}.", ours.what, a.name, ours.said, b.name, theirs.said));
            }
            None => all.push(unknown(ours, a, b)),
        }
    }
    let only_b = b.facts.iter().filter(|theirs| a.facts.iter().all(|ours| ours.what != theirs.what));
    all.extend(only_b.map(|theirs| unknown(theirs, b, a)));
    all
}

/// What differs between the first contender and each other.
pub fn all(sides: &[Side]) -> Vec<String> {
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    others.iter().flat_map(|other| differences(first, other)).collect()
}

fn unknown(fact: &Fact, known: &Side, other: &Side) -> String {
    format!("{}: {} has {}, that of {} is unknown.", fact.what, known.name, fact.said, other.name)
}

impl Fact {
    fn is_like(&self, other: &Self) -> bool {
        match (self.number, other.number) {
            (Some(a), Some(b)) => (a - b).abs() <= NEAR * a.abs().max(b.abs()),
            _ => self.said == other.said,
        }
    }
}

impl Side {
    /// A contender of which nothing is known yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), facts: Vec::new() }
    }

    /// All that a run tells of a contender.
    pub fn of_run(name: &str, run: &Run) -> Self {
        let side = Self::new(name).with_environment(&run.environment).with_replies(run);
        run.plan.as_ref().map_or(side.clone(), |plan| side.with_plan(plan))
    }

    /// One fact more.
    #[must_use]
    pub fn with(mut self, what: &str, said: impl Into<String>) -> Self {
        self.facts.push(Fact { what: what.into(), said: said.into(), number: None });
        self
    }

    /// One fact more, where it is known.
    fn with_known(self, what: &str, said: Option<String>) -> Self {
        match said {
            Some(said) => self.with(what, said),
            None => self,
        }
    }

    /// A number, which need only be near the other's; in words: `said`.
    #[must_use]
    pub fn with_number(mut self, what: &str, number: f64, said: impl Into<String>) -> Self {
        self.facts.push(Fact { what: what.into(), said: said.into(), number: Some(number) });
        self
    }

    /// The generator's machine, and what is known of the server and the way to it.
    #[must_use]
    pub fn with_environment(self, environment: &Environment) -> Self {
        let limits = environment.limits.iter().map(|(name, value)| (format!("limit {name}"), value));
        let settings = environment.sysctls.iter().map(|(name, value)| (format!("setting {name}"), value));
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
        let place = |same: bool| if same { "brunt's own machine" } else { "another machine" }.to_owned();
        side.with_known("place of the server", route.same_host.map(place))
            .with_known("interface", route.interface.clone())
            .with_known("link, bits per second", route.link_bits_per_second.map(|speed| speed.to_string()))
            .with_known("largest packet, bytes", route.mtu_bytes.map(|mtu| mtu.to_string()))
            .with_known("accept queue", route.listener_backlog.map(|length| length.to_string()))
            .with_known("server's limit on open files", route.listener_descriptors.map(|limit| limit.to_string()))
    }

    /// What is asked, and how; not how much.
    #[must_use]
    pub fn with_plan(self, plan: &Plan) -> Self {
        let (connection, stop) = (&plan.connection, &plan.main().stop);
        let kept = connection.requests_per_connection.map_or("no limit".into(), |most| most.to_string());
        let reading = connection.receive_rate.map_or("unlimited".into(), |rate| format!("{rate} bytes/s"));
        self.with("protocol", connection.http.to_string())
            .with("TLS", if is_encrypted(plan) { "https" } else { "http" })
            .with("what is asked", asked(plan))
            .with("requests per connection", kept)
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
        let statuses: Vec<String> = total.statuses.sorted().iter().map(|(status, _)| status_text(*status)).collect();
        let length = total.bytes_received as f64 / total.completed as f64;
        self.with("statuses", statuses.join(", ")).with_number("bytes per reply, head and body", length, bytes(length))
    }
}

fn is_encrypted(plan: &Plan) -> bool {
    plan.main().scenario.requests.iter().any(brunt_model::Request::is_encrypted)
}

/// Method, path and what is sent, without the address, the query, and the values of headers that may hold a secret.
fn asked(plan: &Plan) -> String {
    let one = |request: &brunt_model::Request| {
        let behind = request.url.split_once("://").map_or(&request.url[..], |(_, rest)| rest);
        let path = behind.find('/').map_or("/", |at| &behind[at..]);
        let path = path.split('?').next().unwrap_or(path);
        let headers: Vec<String> = request.headers.iter().map(|(name, value)| header(name, value)).collect();
        let body = request.body.bytes().map(|sent| format!(" + {}", bytes(sent.len() as f64))).unwrap_or_default();
        let pieces = match &request.body {
            Body::Pieces(BodyPieces { interval: PieceInterval::Time(interval), .. }) => {
                format!(", a piece every {}", seconds(interval.as_secs_f64()))
            }
            Body::Pieces(_) => ", a piece after each reply".to_owned(),
            _ => String::new(),
        };
        format!("{} {path}{}{body}{pieces}", request.method, headers.concat())
    };
    match &plan.main().scenario.requests[..] {
        [only] => one(only),
        [first, ..] => format!("{} and {} more", one(first), plan.main().scenario.requests.len() - 1),
        [] => "nothing".into(),
    }
}

fn header(name: &str, value: &str) -> String {
    let shown = SHOWN.contains(&&name.to_ascii_lowercase()[..]);
    if shown { format!(" {name}: {value}") } else { format!(" {name}") }
}

/// The kind of load; loads themselves are paired.
fn load(load: &Load) -> String {
    match load {
        Load::Closed { think, .. } if think.is_none() => "a closed loop".into(),
        Load::Closed { think, .. } => format!("a closed loop, thinking {} s", three(think.mean().as_secs_f64())),
        Load::Open { arrivals, connections, .. } => {
            let spaced = match arrivals {
                Arrivals::Poisson => "Poisson".into(),
                Arrivals::Even => "even".into(),
                Arrivals::Burst(size) => format!("bursts of {size}"),
                Arrivals::Uniform(millionths) => format!("uniform within {} %", f64::from(*millionths) / 1e4),
            };
            let most = connections.map_or(String::new(), |most| format!(", at most {most} connections"));
            format!("an open loop, {spaced}{most}")
        }
    }
}

fn delay(time: Option<Duration>) -> String {
    time.map_or("none".into(), |time| format!("{} s", time.as_secs_f64()))
}
