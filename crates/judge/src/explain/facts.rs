//! What the rules look at, worked out once from a run.
//!
//! Out of scope: a place that decides anything.

use super::command::{DURATION, MAX_DURATION, RunCommand};
use brunt_model::history::History;
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Flow, Judgement, Load, Phase, Plan, Route, Run, Tally, Tick};
use std::net::IpAddr;

/// What the rules look at.
pub struct Facts<'a> {
    /// The run itself.
    pub run: &'a Run,
    /// What was to be done.
    pub plan: &'a Plan,
    /// What was decided before.
    pub so_far: &'a Judgement,
    /// Seconds of measured time.
    pub seconds: f64,
    /// Mean response time of completed and timed-out requests, in seconds; 0 where there were none.
    pub response_seconds: f64,
    /// The users of a closed loop.
    pub users: Option<Users>,
    /// The measured time, in intervals.
    pub intervals: Vec<Interval>,
}

/// What flowed in an interval, and how things stood at its end.
#[derive(Clone, Copy)]
pub struct Interval {
    /// When it began.
    pub from: Tick,
    /// When it ended.
    pub to: Tick,
    /// What flowed.
    pub flow: Flow,
}

impl Interval {
    /// Seconds that it covers.
    pub fn seconds(&self) -> f64 {
        self.to.seconds_since(self.from)
    }
}

/// The users of a closed loop.
pub struct Users {
    /// How many there were, on average.
    pub count: f64,
    /// How many of them waited for a connection or a reply, on average.
    pub waiting: f64,
    /// How long they thought, on average, in seconds.
    pub think_seconds: f64,
}

impl<'a> Facts<'a> {
    /// None before the first event.
    pub fn of(run: &'a Run, so_far: &'a Judgement) -> Option<Self> {
        let plan = run.plan.as_ref()?;
        let points = run.series.points().filter(|point| point.phase == Phase::Measure);
        let intervals: Vec<_> = points.map(|p| Interval { from: p.from, to: p.to, flow: p.flow }).collect();
        Some(Self {
            run,
            plan,
            so_far,
            seconds: run.measured_seconds(),
            response_seconds: run.total.response.mean() / 1e9,
            users: users(run, plan, &intervals),
            intervals,
        })
    }

    /// The command line of the run.
    pub fn command(&self) -> RunCommand<'a> {
        let line = &self.run.environment.command;
        if self.is_searched() { RunCommand::of_search(line) } else { RunCommand::of(line) }
    }

    /// Whether a search chose the load and the time of the run.
    fn is_searched(&self) -> bool {
        self.plan.until.as_ref().is_some_and(|until| until.goals.is_empty())
    }

    /// Returns the advice to measure for this time, with the setting that decides when this run ends.
    pub fn advise_duration(&self, advice: &str, seconds: f64) -> String {
        if self.plan.main().load.shape().duration().is_some() {
            return format!("{advice}: give the last stage of the load more time");
        }
        let longest = self.plan.stop().duration.filter(|_| self.plan.until.is_some());
        let setting = match longest {
            Some(longest) if seconds > longest.as_secs_f64() => MAX_DURATION,
            _ => DURATION,
        };
        self.command().advise(advice, setting, &format!("{}s", seconds.ceil()))
    }

    /// All samples of the measured time.
    pub fn total(&self) -> &'a Tally {
        &self.run.total
    }

    /// The way to the server, where it was looked at.
    pub fn route(&self) -> Option<&'a Route> {
        self.run.environment.route.as_ref()
    }

    /// Whether client and server share this machine; None where nothing tells.
    pub fn same_host(&self) -> Option<bool> {
        let looked_at = self.route().and_then(|route| route.same_host);
        looked_at.or_else(|| (self.plan.connection.unix_socket.is_some() || self.is_loopback()).then_some(true))
    }

    /// The target's addresses are loopback addresses.
    pub fn is_loopback(&self) -> bool {
        let addresses = &self.run.environment.addresses;
        !addresses.is_empty() && addresses.iter().all(|address| is_loopback(address))
    }

    /// A proxy stands between us and the target: what we see of connections is the proxy's.
    pub fn is_direct(&self) -> bool {
        self.plan.connection.proxy.is_none()
    }

    /// What was read of the machine that we run on.
    pub fn history(&self) -> Option<&'a History> {
        self.run.history.get(GENERATOR)
    }

    /// How much a counter of this machine grew while the run went on; None where it was not read twice.
    pub fn growth(&self, name: &str) -> Option<f64> {
        let values = self.history()?.of(name);
        let ((from, first), (to, last)) = (values.first()?, values.last()?);
        (to > from).then_some(last - first)
    }

    /// The growth of a counter per second, from reading to reading of the measured time.
    pub fn rates(&self, name: &str) -> Vec<f64> {
        let (from, to) = self.measured();
        let rates = self.history().map(|history| history.rates(name)).unwrap_or_default();
        rates.into_iter().filter(|r| r.0 >= from && r.1 <= to).map(|r| r.2).collect()
    }

    /// From when to when was measured.
    fn measured(&self) -> (Tick, Tick) {
        let from = self.intervals.first().map_or(Tick::NEVER, |i| i.from);
        (from, self.intervals.last().map_or(Tick::ZERO, |i| i.to))
    }

    /// The intervals from one share of the measured time to another.
    pub fn part(&self, from: f64, to: f64) -> &[Interval] {
        let at = |share: f64| (self.intervals.len() as f64 * share).round() as usize;
        &self.intervals[at(from)..at(to)]
    }

    /// How things stood at a share of the measured time.
    pub fn standing(&self, share: f64) -> Flow {
        self.part(0.0, share).last().map_or(Flow::default(), |interval| interval.flow)
    }
}

fn is_loopback(address: &str) -> bool {
    let ip = address.parse::<IpAddr>().ok();
    let ip = ip.or_else(|| address.parse::<std::net::SocketAddr>().ok().map(|a| a.ip()));
    ip.is_some_and(|ip| ip.is_loopback())
}

fn users(run: &Run, plan: &Plan, intervals: &[Interval]) -> Option<Users> {
    let Load::Closed { users, think } = &plan.only()?.load else { return None };
    let seconds: f64 = intervals.iter().map(Interval::seconds).sum();
    if seconds == 0.0 {
        return None;
    }
    let over_time = intervals.iter().map(|i| i.flow.users as f64 * i.seconds()).sum::<f64>() / seconds;
    let count = users.as_constant().unwrap_or(over_time);
    // Little's law: what waits at a time is what was waited in all, over the time.
    let waited = run.total.response.sum() + run.total.failure_times.iter().map(|f| f.1.sum()).sum::<u128>();
    let waiting = (waited as f64 / 1e9 / seconds).min(count);
    Some(Users { count, waiting, think_seconds: think.mean().as_secs_f64() })
}
