//! Exports populations as thread groups.

use super::PlanWriter;
use super::xml::Item;
use crate::markup::Prop;
use crate::support::ElementKind;
use crate::support::kinds::{OpenModelThreadGroup, ThreadGroup};
use brunt_model::load::{Arrivals, LoadShape, LoadStage};
use brunt_model::plan::ConnectionLifetime;
use brunt_model::scenario::EndScope;
use brunt_model::{Load, Population, StageKind};
use std::time::Duration;

/// Number of threads of a group and their ramp. Times are in seconds.
struct Threads {
    number: f64,
    delay: f64,
    ramp: f64,
}

impl PlanWriter<'_> {
    /// Exports the thread group of a population without its children.
    pub(super) fn group(
        &mut self,
        population: &Population,
        failure_ends: EndScope,
        kind: StageKind,
    ) -> Item {
        let on_error = match failure_ends {
            EndScope::Iteration => "startnextloop",
            EndScope::User => "stopthread",
            EndScope::Run => "stoptest",
            EndScope::Nothing | EndScope::Turn | EndScope::Round | EndScope::Loop => "continue",
        };
        let on_error = on_error.to_owned();
        let stop = &population.stop;
        if !stop.warmup.is_zero() {
            self.notice(format!(
                "population {}: the warm-up is a part of the load; JMeter's figures have it, too",
                population.name
            ));
        }
        if let Some(group) = &population.group {
            self.notice(format!(
                "population {}: the group {group}; each of JMeter's remote hosts runs the whole plan",
                population.name
            ));
        }
        // JMeter has no warm-up, so it becomes a part of the run.
        let duration = stop.duration.map(|duration| duration + stop.warmup);
        match &population.load {
            Load::Open { rate, arrivals, .. } => {
                let schedule =
                    self.schedule(rate, *arrivals, duration, stop.grace, &population.name);
                let fields = OpenModelThreadGroup { on_error, schedule };
                let controller = Prop::Element(
                    "ThreadGroup.main_controller".into(),
                    "OpenModelThreadGroupController",
                    "",
                    Vec::new(),
                );
                self.item(ElementKind::OpenModelThreadGroup, &population.name, fields)
                    .with(controller)
            }
            Load::Closed { users, .. } => {
                let threads = self.threads(users, &population.name);
                let loops = self.loops(population, threads.number, duration);
                // JMeter reads delay and duration only if the group is scheduled.
                let is_scheduled = duration.is_some() || threads.delay > 0.0;
                let is_new_user = population
                    .connection
                    .as_ref()
                    .is_some_and(|one| one.keep == ConnectionLifetime::IterationOrClose);
                let kind = match kind {
                    StageKind::Setup => ElementKind::SetupThreadGroup,
                    StageKind::Main => ElementKind::ThreadGroup,
                    StageKind::Teardown => ElementKind::TearDownThreadGroup,
                };
                // JMeter counts the duration from the end of the delay.
                let duration = duration.map(|duration| {
                    (duration.as_secs_f64() - threads.delay).max(0.0).ceil().to_string()
                });
                let delay = (threads.delay > 0.0).then(|| threads.delay.round().to_string());
                let fields = ThreadGroup {
                    on_error,
                    threads: threads.number.to_string(),
                    ramp: threads.ramp.round().to_string(),
                    loops: loops.to_string(),
                    // With `true`, JMeter repeats the loops until the group ends.
                    continues_forever: false,
                    is_same_user: !is_new_user,
                    is_scheduled,
                    duration: duration.unwrap_or_default(),
                    delay: delay.unwrap_or_default(),
                };
                self.item(kind, &population.name, fields)
            }
        }
    }

    fn loops(&mut self, population: &Population, users: f64, duration: Option<Duration>) -> i64 {
        let stop = &population.stop;
        match (stop.iterations_per_user, stop.requests) {
            (Some(iterations), _) => iterations as i64,
            (None, Some(requests)) => {
                let each = (requests as f64 / users).ceil();
                if each * users > requests as f64 {
                    let more = each * users;
                    self.notice(format!(
                        "population {}: {requests} iterations are not divisible by {users} threads; JMeter makes {more}",
                        population.name
                    ));
                }
                each as i64
            }
            (None, None) => {
                if duration.is_none() {
                    self.notice(format!(
                        "population {}: it has no end; JMeter runs it until it is stopped",
                        population.name
                    ));
                }
                -1
            }
        }
    }

    /// Converts a load shape. A thread group has one ramp: a rise at the beginning, then a
    /// constant number of threads.
    fn threads(&mut self, users: &LoadShape, name: &str) -> Threads {
        let mut stages: Vec<LoadStage> = users.stages.clone();
        let mut delay = 0.0;
        if let Some(first) = stages.first().filter(|first| first.from == 0.0 && first.to == 0.0) {
            delay = first.duration.unwrap_or_default().as_secs_f64();
            stages.remove(0);
        }
        let number = users.peak().ceil().max(1.0);
        let rise = stages
            .first()
            .filter(|first| first.from < first.to)
            .map(|first| first.duration.unwrap_or_default().as_secs_f64());
        // JMeter starts the first thread at once and the last one at the end of the rise.
        let ramp = match (rise, stages.first()) {
            (Some(rise), Some(first)) if first.from >= 1.0 && number > 1.0 => {
                rise * number / (number - first.from.min(number - 1.0))
            }
            (Some(rise), _) => rise,
            (None, _) => 0.0,
        };
        let rest = if rise.is_some() { &stages[1..] } else { &stages[..] };
        if rest.iter().any(|stage| stage.from != number || stage.to != number) {
            self.notice(format!(
                "population {name}: its users change ({users}); the thread group has {number} threads from the end of its ramp on"
            ));
        }
        Threads { number, delay, ramp }
    }

    fn schedule(
        &mut self,
        rate: &LoadShape,
        arrivals: Arrivals,
        duration: Option<Duration>,
        grace: Duration,
        name: &str,
    ) -> String {
        let word = match arrivals {
            Arrivals::Even => "even_arrivals",
            Arrivals::Poisson => "random_arrivals",
            Arrivals::Burst(_) | Arrivals::Uniform(_) => {
                self.notice(format!(
                    "population {name}: its arrivals are random; JMeter has no bursts"
                ));
                "random_arrivals"
            }
        };
        if duration.is_none() && rate.duration().is_none() {
            self.notice(format!(
                "population {name}: it has no end; its arrivals end after an hour"
            ));
        }
        // A schedule of JMeter must have an end.
        let mut remaining = duration.or(rate.duration()).unwrap_or(Duration::from_hours(1));
        let mut words = Vec::new();
        for stage in &rate.stages {
            let time = stage.duration.unwrap_or(remaining).min(remaining);
            remaining = remaining.saturating_sub(time);
            if time.is_zero() {
                continue;
            }
            let seconds = time.as_secs_f64();
            let to = match stage.duration {
                Some(whole) if time < whole => {
                    stage.from + (stage.to - stage.from) * seconds / whole.as_secs_f64()
                }
                _ => stage.to,
            };
            if stage.from == 0.0 && to == 0.0 {
                words.push(format!("pause({seconds} sec)"));
                continue;
            }
            words.push(format!("rate({}/sec) {word}({seconds} sec)", stage.from));
            if to != stage.from {
                words.push(format!("rate({to}/sec)"));
            }
        }
        // JMeter interrupts active requests at the end of the schedule. An imported plan without a
        // time limit has one of an hour.
        if !grace.is_zero() && grace < Duration::from_hours(1) {
            words.push(format!("pause({} sec)", grace.as_secs_f64()));
        }
        words.join(" ")
    }
}
