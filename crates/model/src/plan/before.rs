//! Plans of logs that were written before there were populations.
//!
//! They had one list of requests, with one of three kinds of user. Both forms are read; only the new one is written.

use super::{Connection, HttpVersion, Plan, Population, Record, TestStage};
use crate::goal::Until;
use crate::load::Think;
use crate::reply_policy::{Checks, Cookies, Credentials, Elements, PageCache, RedirectRules, Redirects};
use crate::scenario::{Branch, Manner, Order, Portion, Scenario, Scope, Step};
use crate::time::seconds;
use crate::{Load, Objective, ReplyPolicy, Request, Stop};
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// A plan in either form.
#[derive(Debug, Deserialize)]
pub struct Written {
    #[serde(default)]
    populations: Vec<Population>,
    #[serde(default)]
    reply_policies: Vec<ReplyPolicy>,
    script: Option<Script>,
    load: Option<Load>,
    stop: Option<Stop>,
    checks: Option<Checks>,
    connection: Connection,
    objectives: Vec<Objective>,
    #[serde(default)]
    until: Option<Until>,
    record: Record,
    seed: u64,
    threads: u32,
    #[serde(default = "one")]
    processes: u32,
    #[serde(default)]
    precise: bool,
    #[serde(default)]
    around: Vec<TestStage>,
}

/// Plans of before there were several processes.
pub fn one() -> u32 {
    1
}

/// The version of HTTP; plans of before there was HTTP/2 said whether it is 1.0.
pub fn http_version<'de, D: Deserializer<'de>>(written: D) -> Result<HttpVersion, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Is10(bool),
        Version(HttpVersion),
    }
    Ok(match Either::deserialize(written)? {
        Either::Is10(true) => HttpVersion::V1_0,
        Either::Is10(false) => HttpVersion::V1_1,
        Either::Version(version) => version,
    })
}

/// What virtual users did: ask one of a list of requests, again and again.
#[derive(Debug, Deserialize)]
struct Script {
    requests: Vec<Request>,
    order: Order,
    follow: u32,
    #[serde(default)]
    sessions: Vec<Session>,
    #[serde(default)]
    cookies: Cookies,
    browsing: Option<Browsing>,
}

#[derive(Debug, Deserialize)]
struct Session {
    bursts: Vec<Burst>,
}

#[derive(Debug, Deserialize, Clone, Copy)]
struct Burst {
    times: u64,
    requests: u32,
    pick: Pick,
    manner: BurstManner,
    #[serde(with = "seconds", rename = "think_seconds")]
    think: Duration,
}

#[derive(Debug, Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Pick {
    Order,
    From(u32),
    Slow(u32),
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum BurstManner {
    Together,
    AfterTheFirst,
}

#[derive(Debug, Deserialize)]
struct Browsing {
    first: Vec<Request>,
    redirects: u32,
    elements: Option<Elements>,
    credentials: Vec<Credentials>,
    attempts: u32,
    revalidate: bool,
    forgetful: bool,
}

impl TryFrom<Written> for Plan {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { populations, reply_policies, script, load, stop, checks, .. } = written;
        let (populations, reply_policies) = match (script, load, stop) {
            (Some(script), Some(load), Some(stop)) => {
                let policy = script.policy(checks.unwrap_or_default());
                (Population::only(load, script.scenario(), stop), vec![policy])
            }
            _ => (populations, reply_policies),
        };
        let plan = Self {
            populations,
            reply_policies,
            connection: written.connection,
            objectives: written.objectives,
            until: written.until,
            record: written.record,
            seed: written.seed,
            threads: written.threads,
            processes: written.processes,
            precise: written.precise,
            around: written.around,
        };
        plan.is_whole()
            .then_some(plan)
            .ok_or_else(|| "a plan has a population, and a policy for each request".to_owned())
    }
}

impl Plan {
    /// Whether there is a population, and each request has its policy.
    fn is_whole(&self) -> bool {
        let policies = self.reply_policies.len();
        !self.populations.is_empty()
            && policies > 0
            && self.requests().all(|request| (request.reply_policy as usize) < policies)
    }
}

impl Script {
    fn policy(&self, checks: Checks) -> ReplyPolicy {
        let failure_ends = if self.sessions.is_empty() { Scope::Nothing } else { Scope::Iteration };
        let redirects = Redirects { most: self.follow, rules: RedirectRules::Rfc9110 };
        let plain = ReplyPolicy { checks, redirects, cookies: self.cookies, failure_ends, ..ReplyPolicy::default() };
        let Some(browsing) = &self.browsing else { return plain };
        ReplyPolicy {
            redirects: Redirects { most: browsing.redirects, rules: RedirectRules::Siege },
            cookies: if browsing.forgetful { Cookies::KeptForARound } else { Cookies::Siege },
            credentials: browsing.credentials.clone(),
            repeats_unauthorized: browsing.attempts.saturating_sub(1),
            elements: browsing.elements.clone(),
            cache: browsing.revalidate.then(PageCache::default),
            ..plain
        }
    }

    fn scenario(self) -> Scenario {
        let Self { mut requests, order, sessions, browsing, .. } = self;
        let mut steps = Vec::new();
        let first = browsing.map(|browsing| browsing.first).unwrap_or_default();
        if !first.is_empty() {
            let branch = |number| Branch { weight: 1, steps: vec![Step::Request(number as u32)] };
            let branches = (0..first.len()).map(|k| branch(requests.len() + k)).collect();
            steps.push(Step::Once(vec![Step::Choose { order: Order::User, portion: Portion::Whole, branches }]));
            requests.extend(first.into_iter().map(|request| Request { weight: 0, ..request }));
        }
        let branch = |session: Session| Branch { weight: 1, steps: session.steps(order) };
        steps.push(if sessions.is_empty() {
            Step::Next(order)
        } else {
            Step::Choose {
                order: Order::Sequence,
                portion: Portion::Whole,
                branches: sessions.into_iter().map(branch).collect(),
            }
        });
        Scenario::of(requests, steps)
    }
}

impl Session {
    fn steps(self, order: Order) -> Vec<Step> {
        let mut bursts = self.bursts;
        // Behind the last request there was no pause.
        let last = bursts.pop().map(|last| {
            [Burst { times: last.times.saturating_sub(1), ..last }, Burst { times: 1, think: Duration::ZERO, ..last }]
        });
        let all = bursts.into_iter().chain(last.into_iter().flatten()).filter(|burst| burst.times > 0);
        all.map(|burst| Step::Loop { times: Some(burst.times.into()), steps: burst.steps(order) }).collect()
    }
}

impl Burst {
    fn steps(&self, order: Order) -> Vec<Step> {
        let ask = |k: u32| match self.pick {
            Pick::Order => Step::Next(order),
            Pick::From(first) => Step::Request(first + k),
            Pick::Slow(share) => Step::Next(Order::Slow(share)),
        };
        let alone = u32::from(self.manner == BurstManner::AfterTheFirst);
        let mut steps: Vec<Step> = (0..alone.min(self.requests)).map(ask).collect();
        let together: Vec<Step> = (alone..self.requests).map(ask).collect();
        if !together.is_empty() {
            steps.push(Step::Together { manner: Manner::Pipelined, steps: together });
        }
        if !self.think.is_zero() {
            steps.push(Step::Think(Think { least: self.think, most: self.think }));
        }
        steps
    }
}
