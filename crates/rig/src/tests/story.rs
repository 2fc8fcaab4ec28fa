//! A host that makes no runs, and functions that create experiments.

use crate::guarded_command::RigContext;
use crate::{
    Chooser, ExperimentHost, ExperimentOutcome, RealClock, RigFailure, RigMessage, TrialRun,
    WaitingClock, conduct, guard, pursue,
};
use brunt_model::experiment::{
    ContenderHooks, Hook, HookCommands, LoadStep, ManagedServer, ReadyCondition, Restart,
    TrialOrder,
};
use brunt_model::plan::{ConnectionSettings, Population, RecordSettings};
use brunt_model::{
    Arrivals, Clock, Contender, Experiment, Load, LoadShape, Plan, Request, Stop, Tick, TrialIndex,
};
use brunt_model::{ReplyPolicy, Scenario};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Makes the test binary a guard, which runs only this test. The output of the harness
/// is not a report.
#[test]
#[ignore = "a part of other tests: the process between them and their servers"]
fn as_guard() {
    guard::run_guard(io::stdin(), io::stdout(), &RealClock::default()).expect("a guard");
}

fn guard_program() -> (PathBuf, Vec<String>) {
    let words = ["--ignored", "--exact", "tests::story::as_guard", "--nocapture"];
    (std::env::current_exe().expect("this program"), words.map(Into::into).to_vec())
}

/// An experiment with its host and clock.
pub struct ExperimentStory {
    pub experiment: Experiment,
    pub host: Silent,
    pub time: FakeClock,
}

impl ExperimentStory {
    pub fn of(experiment: Experiment) -> Self {
        Self { experiment, host: Silent::default(), time: FakeClock::default() }
    }

    /// Runs the experiment with the fake clock, whose time passes only during waits.
    pub fn conduct(&mut self) -> Result<ExperimentOutcome, RigFailure<String>> {
        self.conduct_without(&BTreeSet::new())
    }

    pub fn conduct_without(
        &mut self,
        done: &BTreeSet<TrialIndex>,
    ) -> Result<ExperimentOutcome, RigFailure<String>> {
        let context = RigContext { guard: guard_program(), time: &self.time };
        conduct(&self.experiment, done, &context, &mut self.host)
    }

    /// Runs the experiment with the real clock, for tests with processes.
    pub fn conduct_really(&mut self) -> Result<ExperimentOutcome, RigFailure<String>> {
        let context = RigContext { guard: guard_program(), time: &RealClock::default() };
        conduct(&self.experiment, &BTreeSet::new(), &context, &mut self.host)
    }

    pub fn pursue(
        &mut self,
        chooser: &mut dyn Chooser<Silent>,
    ) -> Result<ExperimentOutcome, RigFailure<String>> {
        let context = RigContext { guard: guard_program(), time: &self.time };
        pursue(&self.experiment, chooser, &context, &mut self.host)
    }

    pub fn pursue_really(
        &mut self,
        chooser: &mut dyn Chooser<Silent>,
    ) -> Result<ExperimentOutcome, RigFailure<String>> {
        let context = RigContext { guard: guard_program(), time: &RealClock::default() };
        pursue(&self.experiment, chooser, &context, &mut self.host)
    }
}

/// Records all calls.
#[derive(Default)]
pub struct Silent {
    pub news: Vec<String>,
    pub made: Vec<TrialIndex>,
    pub numbers: Vec<usize>,
    pub seeds: Vec<u64>,
    pub pids: Vec<u32>,
    pub troubles: Vec<brunt_model::Text>,
    /// Action during each run.
    pub meanwhile: Option<fn(&TrialRun)>,
    pub stop_after: Option<usize>,
    /// Repetitions after which `enough` was called.
    pub enough_calls: Vec<u32>,
    /// Number of repetitions that are enough.
    pub enough_after: Option<usize>,
}

impl ExperimentHost for Silent {
    type Error = String;

    fn run(&mut self, work: &TrialRun) -> Result<(), String> {
        self.news
            .push(format!("run {} {} {}", work.contender.name, work.place.repetition, work.load));
        self.made.push(work.place);
        self.numbers.push(work.number);
        self.seeds.push(work.plan.seed);
        self.pids.extend(work.probes.iter().filter_map(|probe| match &probe.what {
            brunt_model::Probed::Processes {
                select: brunt_model::probe_spec::Select::Pid(pid),
                ..
            } => Some(*pid),
            _ => None,
        }));
        if let Some(meanwhile) = self.meanwhile {
            meanwhile(work);
        }
        self.troubles.extend(work.server_warning());
        Ok(())
    }

    fn report(&mut self, message: RigMessage) {
        self.news.push(match message {
            RigMessage::Hook { when, command } => format!("hook {when}: {command}"),
            RigMessage::Starting { contender } => format!("start {contender}"),
            RigMessage::Ready { contender, .. } => format!("ready {contender}"),
            RigMessage::Stopping { contender } => format!("stop {contender}"),
            RigMessage::Resting { time } => format!("rest {}", time.as_secs_f64()),
            RigMessage::Warning(text) => format!("warning {text}"),
        });
    }

    fn is_stopped(&self) -> bool {
        self.stop_after.is_some_and(|after| self.made.len() >= after)
    }

    fn has_enough(&mut self, repetition: u32) -> bool {
        self.enough_calls.push(repetition);
        self.enough_after.is_some_and(|after| self.enough_calls.len() >= after)
    }
}

/// Clock whose time passes only during waits.
#[derive(Default)]
pub struct FakeClock(Cell<u64>);

impl FakeClock {
    pub fn now_seconds(&self) -> f64 {
        self.0.get() as f64 / 1e9
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Tick {
        Tick(self.0.get())
    }
}

impl WaitingClock for FakeClock {
    fn pause(&self, time: Duration) {
        self.0.set(self.0.get() + time.as_nanos() as u64);
    }
}

pub fn experiment(contenders: Vec<Contender>) -> Experiment {
    Experiment {
        name: "story".into(),
        about: String::new(),
        contenders,
        repetitions: 1,
        order: TrialOrder::Interleaved,
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: 1,
        directory: std::env::temp_dir(),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: String::new(),
    }
}

pub fn contender(name: &str, loads: &[f64]) -> Contender {
    let steps = loads.iter().map(|load| LoadStep::new(*load, plan(*load))).collect();
    let hooks = ContenderHooks::default();
    Contender {
        name: name.into(),
        factors: Vec::new(),
        steps,
        server: None,
        hooks,
        probes: Vec::new(),
    }
}

pub fn hook(run: &str) -> Hook {
    Hook { run: run.into(), timeout: Duration::from_secs(20) }
}

pub fn around(before: &str, after: &str) -> HookCommands {
    HookCommands { before: vec![hook(before)], after: vec![hook(after)] }
}

/// Creates a server that is ready when the command succeeds.
pub fn server(start: &str, ready: &str) -> ManagedServer {
    ManagedServer {
        start: start.into(),
        ready: ReadyCondition::Command(ready.into()),
        stop: None,
        restart: Restart::Repetition,
        environment: Vec::new(),
        ready_timeout: Duration::from_secs(20),
        stop_timeout: Duration::from_secs(20),
    }
}

pub fn plan(rate: f64) -> Plan {
    let seconds = Duration::from_secs;
    Plan {
        populations: Population::only(
            Load::Open {
                rate: LoadShape::constant(rate),
                arrivals: Arrivals::Even,
                connections: None,
                max_in_flight: 10,
            },
            Scenario::one(Request::get("http://127.0.0.1:9/")),
            Stop::after(seconds(1), Duration::ZERO),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings {
            connect_rate: 1000,
            ..ConnectionSettings::plain(seconds(1), seconds(1))
        },
        objectives: Vec::new(),
        until: None,
        record: RecordSettings { interval: seconds(1), labels: 10, samples: false, records: None },
        seed: 7,
        threads: 1,
        processes: 1,
        allowed_targets: Vec::new(),
        fleet: None,
        precise: false,
        stages: Vec::new(),
    }
}
