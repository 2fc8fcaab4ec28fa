//! Converts thread groups to populations: numbers of users over time.

mod schedule;

use super::texts::{error_at, number_of};
use super::websockets::WebSocketSamplers;
use super::{ElementScope, PlanReader};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use crate::support::kinds::{
    ArrivalsThreadGroup, ConcurrencyThreadGroup, FreeFormArrivalsThreadGroup, OpenModelThreadGroup,
    SteppingThreadGroup, ThreadGroup, UltimateThreadGroup,
};
use brunt_model::load::{Arrivals, LoadShape, LoadStage, ThinkTime};
use brunt_model::plan::{ConnectionLifetime, ConnectionSettings};
use brunt_model::scenario::{DataFile, EndScope, Scenario, ScenarioStep, TextRules};
use brunt_model::{Load, Population, Request, StageVariables, Stop};
use std::time::Duration;

/// Maximum number of active arrivals; further ones are dropped.
const MOST_ARRIVALS: u32 = 100_000;

/// Parts of a group's scenario except its steps.
#[derive(Debug, Default)]
pub struct GroupParts {
    pub requests: Vec<Request>,
    pub data: Vec<DataFile>,
    /// Scope that a failed sample ends.
    pub failure_ends: EndScope,
    /// True if each iteration is a new user, without cookies and with new connections.
    pub is_new_user_each_iteration: bool,
    pub websockets: WebSocketSamplers,
    /// Descriptors of the called services: a `FileDescriptorSet`.
    pub services: Vec<u8>,
}

impl GroupParts {
    /// Adds a request and returns its number.
    pub fn add(&mut self, request: Request) -> u32 {
        self.requests.push(request);
        self.requests.len() as u32 - 1
    }
}

/// Load of a group over time, and its end.
struct Schedule {
    load: Load,
    /// None to run until stopped.
    duration: Option<Duration>,
    /// Iterations per user; None for no limit.
    iterations: Option<u64>,
    /// Scope that a failed sample ends.
    failure_ends: EndScope,
    /// True if each iteration is a new user.
    is_new_user_each_iteration: bool,
}

impl PlanReader<'_> {
    /// Converts a thread group. None if it has no threads or no effect.
    ///
    /// # Errors
    ///
    /// Fails on an invalid number and on an element with an invalid setting.
    pub(super) fn group(
        &mut self,
        group: TestElement<'_>,
        plan: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Option<Population>, JmxError> {
        let Some(schedule) = self.schedule(group)? else { return Ok(None) };
        let is_new = schedule.is_new_user_each_iteration;
        self.group = GroupParts {
            failure_ends: schedule.failure_ends,
            is_new_user_each_iteration: is_new,
            ..GroupParts::default()
        };
        self.find_websockets(group);
        let mut steps = self.round_start(plan)?;
        steps.extend(self.body(group, scope)?);
        if !steps.iter().any(has_effect) {
            self.notice(format!("{}: left out, it has no sampler", group.place()));
            return Ok(None);
        }
        // If all steps run only once, further iterations are empty.
        let is_done_once = steps.iter().all(|step| matches!(step, ScenarioStep::Once(_)));
        let iterations = if is_done_once {
            schedule.iterations.map(|most| most.min(1)).or(Some(1))
        } else {
            schedule.iterations
        };
        let parts = std::mem::take(&mut self.group);
        let scenario = Scenario {
            program: None,
            requests: parts.requests.into(),
            steps,
            texts: TextRules::Jmeter,
            variables: self.initial_variables(),
            properties: self.properties.clone(),
            data: parts.data,
            folders: self.context.folder.roots(),
            services: parts.services,
            inherited_variables: StageVariables::default(),
        };
        let mut duration = schedule.duration;
        if let Some(most) = self.context.max_duration {
            duration = Some(duration.map_or(most, |duration| duration.min(most)));
        }
        let grace = self.context.max_duration.unwrap_or(super::LONGEST_REQUEST);
        let stop = Stop {
            duration,
            iterations_per_user: iterations,
            ..Stop::after(Duration::ZERO, grace)
        };
        let name = self.before.text(&group.name());
        // A new user of each iteration must not reuse the connections of the previous one.
        let keep = ConnectionLifetime::IterationOrClose;
        let connection =
            is_new.then(|| Box::new(ConnectionSettings { keep, ..self.connection.clone() }));
        let load = schedule.load;
        let population = Population { name, load, scenario, stop, connection, group: None };
        Ok(Some(population))
    }

    /// Variables that users start with. Their values are no longer expressions.
    fn initial_variables(&self) -> Vec<(String, String)> {
        // JMeter itself defines these variables when a test starts.
        let start_time = self.before.text("${__time()}");
        let mut all: Vec<(String, String)> = ["START.MS", "TESTSTART.MS"]
            .iter()
            .map(|name| ((*name).to_owned(), start_time.clone()))
            .collect();
        let variables = self.before.variables().into_iter();
        all.extend(variables.map(|(name, value)| (name, brunt_script::template::plain(&value))));
        all
    }

    fn scaled_threads(&self, threads: f64) -> f64 {
        // With a small scale, a group keeps at least one thread.
        if threads <= 0.0 { 0.0 } else { (threads * self.context.scale).round().max(1.0) }
    }

    fn schedule(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        Ok(match group.kind() {
            Some(
                ElementKind::ThreadGroup
                | ElementKind::SetupThreadGroup
                | ElementKind::TearDownThreadGroup,
            ) => self.plain_schedule(group)?,
            Some(ElementKind::UltimateThreadGroup) => self.ultimate(group)?,
            Some(ElementKind::SteppingThreadGroup) => self.stepping(group)?,
            Some(ElementKind::ConcurrencyThreadGroup) => self.concurrency(group)?,
            Some(ElementKind::ArrivalsThreadGroup) => self.arrivals(group)?,
            Some(ElementKind::FreeFormArrivalsThreadGroup) => self.free_arrivals(group)?,
            Some(ElementKind::OpenModelThreadGroup) => self.open_model(group)?,
            _ => None,
        })
    }

    /// A number of threads or loops as JMeter reads it: 0 for an invalid text. In lenient mode, 1.
    fn count(&mut self, group: TestElement<'_>, name: &str, value: &str) -> f64 {
        match number_of(group, name, value, 0.0) {
            Err(error) if self.context.lenient => {
                self.notice(format!("{error}; 1 is taken"));
                1.0
            }
            _ => self.whole_number_of(group, name, value),
        }
    }

    fn plain_schedule(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let of: ThreadGroup = self.fields(group)?;
        let is_scheduled = of.is_scheduled;
        let threads = self.count(group, "num_threads", &of.threads);
        let threads = self.scaled_threads(threads);
        if threads < 1.0 {
            self.notice(format!("{}: left out, it has no threads", group.place()));
            return Ok(None);
        }
        let ramp = self.whole_number_of(group, "ramp_time", &of.ramp).max(0.0);
        let delay =
            if is_scheduled { self.whole_number_of(group, "delay", &of.delay) } else { 0.0 };
        let duration =
            if is_scheduled { self.whole_number_of(group, "duration", &of.duration) } else { 0.0 };
        if is_scheduled && duration <= 0.0 {
            let reason = "it specifies a lifetime and its duration is 0, so that JMeter ends it before its first sample";
            self.notice(format!("{}: left out, {reason}; write a duration", group.place()));
            return Ok(None);
        }
        if delay < 0.0 {
            let reason = "its delay is below 0, so that JMeter does not start it";
            self.notice(format!("{}: left out, {reason}; write a delay from 0", group.place()));
            return Ok(None);
        }
        let loops = self.count(group, "loops", &of.loops);
        // With `continue_forever`, JMeter's loop starts again, and without a number it has no rounds.
        let loops = (loops == 0.0 || loops > 0.0 && !of.continues_forever).then_some(loops as u64);
        if loops == Some(0) {
            self.notice(format!(
                "{}: left out, it has no loops (loop count 0 or empty)",
                group.place()
            ));
            return Ok(None);
        }
        // The first thread starts at once, the last one step before the end of the ramp.
        let users = LoadShape {
            stages: vec![
                constant(0.0, delay),
                stage(1.0, threads, ramp * (threads - 1.0) / threads),
                LoadStage { from: threads, to: threads, duration: None },
            ]
            .into_iter()
            .filter(|stage| stage.duration != Some(Duration::ZERO))
            .collect(),
        };
        Ok(Some(Schedule {
            load: Load::Closed { users, think: ThinkTime::NONE },
            duration: (duration > 0.0).then(|| Duration::from_secs_f64(delay + duration)),
            iterations: loops,
            failure_ends: failure_scope(&of.on_error),
            is_new_user_each_iteration: !of.is_same_user,
        }))
    }

    /// Converts rows of threads: each starts after a delay, over a startup time, holds, and stops
    /// over a shutdown time.
    fn ultimate(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let UltimateThreadGroup { on_error, rows } = self.fields(group)?;
        let rows =
            self.numbers(group, rows, "a row needs threads, delay, startup, hold and shutdown")?;
        let rows = rows.into_iter().map(|[threads, delay, startup, hold, shutdown]| {
            let shrink = delay + startup + hold;
            UserRow {
                threads: self.scaled_threads(threads),
                begin: delay,
                full: delay + startup,
                shrink,
                end: shrink + shutdown,
            }
        });
        let rows: Vec<UserRow> = rows.collect();
        Ok(total_users(&rows).map(|stages| closed_schedule(stages, &on_error)))
    }

    fn stepping(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let of: SteppingThreadGroup = self.fields(group)?;
        let most = self.scaled_threads(of.threads);
        let step = self.scaled_threads(of.start_count);
        let mut stages = vec![constant(0.0, of.delay.max(0.0))];
        let mut users = 0.0;
        let mut next = if of.burst > 0.0 { self.scaled_threads(of.burst) } else { step };
        // Without threads in a step, the level would never be reached.
        while users < most && step >= 1.0 {
            let to = (users + next).min(most);
            stages.push(stage(users, to, of.ramp));
            stages.push(constant(to, if to < most { of.start_period } else { of.hold }));
            users = to;
            next = step;
        }
        let less = self.scaled_threads(of.stop_count).max(1.0);
        while users > 0.0 {
            users = (users - less).max(0.0);
            stages.push(constant(users, if users > 0.0 { of.stop_period } else { 0.0 }));
        }
        Ok(Some(closed_schedule(without_empty_stages(stages), &of.on_error)))
    }

    fn concurrency(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let ConcurrencyThreadGroup { on_error, target, ramp, steps, hold, unit, iterations } =
            self.fields(group)?;
        let unit = seconds_of(&unit);
        let target = self.scaled_threads(target);
        let stages = ramp_stages(target, ramp * unit, steps, hold * unit);
        let iterations = (iterations >= 1.0).then_some(iterations as u64);
        Ok(Some(Schedule { iterations, ..closed_schedule(stages, &on_error) }))
    }

    fn arrivals(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let ArrivalsThreadGroup { on_error, target, ramp, steps, hold, unit, limit } =
            self.fields(group)?;
        let unit = seconds_of(&unit);
        let rate = target * self.context.scale / unit;
        let stages = ramp_stages(rate, ramp * unit, steps, hold * unit);
        Ok(Some(open_schedule(stages, Arrivals::Even, limit, &on_error)))
    }

    fn free_arrivals(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let FreeFormArrivalsThreadGroup { on_error, rows, unit, limit } = self.fields(group)?;
        let unit = seconds_of(&unit);
        let scale = self.context.scale / unit;
        let rows = self.numbers(group, rows, "a row needs a first rate, a last rate and a time")?;
        let stages = rows
            .into_iter()
            .map(|[from, to, time]| stage(from * scale, to * scale, time * unit))
            .collect::<Vec<_>>();
        Ok((!stages.is_empty())
            .then(|| open_schedule(without_empty_stages(stages), Arrivals::Even, limit, &on_error)))
    }

    fn open_model(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let OpenModelThreadGroup { on_error, schedule: text } = self.fields(group)?;
        let (mut stages, arrivals) =
            schedule::read(&text).map_err(|message| error_at(group, &message))?;
        for stage in &mut stages {
            stage.from *= self.context.scale;
            stage.to *= self.context.scale;
        }
        Ok((!stages.is_empty())
            .then(|| open_schedule(without_empty_stages(stages), arrivals, 0.0, &on_error)))
    }
}

/// True if a step makes a sample or has another visible effect.
fn has_effect(step: &ScenarioStep) -> bool {
    let is_visible = !matches!(
        step,
        ScenarioStep::Row(_)
            | ScenarioStep::Count(_)
            | ScenarioStep::CountInTransactions(_)
            | ScenarioStep::Set { .. }
            | ScenarioStep::Choose { .. }
    );
    is_visible
        || matches!(step, ScenarioStep::Choose { branches, .. }
            if branches.iter().any(|branch| branch.steps.iter().any(has_effect)))
}

fn stage(from: f64, to: f64, seconds: f64) -> LoadStage {
    LoadStage {
        from,
        to,
        duration: Some(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)),
    }
}

fn constant(value: f64, seconds: f64) -> LoadStage {
    stage(value, value, seconds)
}

/// Removes stages of zero duration.
fn without_empty_stages(stages: Vec<LoadStage>) -> Vec<LoadStage> {
    stages.into_iter().filter(|stage| stage.duration != Some(Duration::ZERO)).collect()
}

/// Seconds in the unit of time of a group.
fn seconds_of(unit: &str) -> f64 {
    if unit.trim() == "S" { 1.0 } else { 60.0 }
}

/// Scope that a failed sample of a group ends.
fn failure_scope(on_error: &str) -> EndScope {
    match on_error.trim() {
        "startnextloop" => EndScope::Iteration,
        "stopthread" => EndScope::User,
        "stoptest" | "stoptestnow" => EndScope::Run,
        _ => EndScope::Nothing,
    }
}

/// Stages of a ramp to a level, followed by the hold time. The ramp has this number of steps, or is linear with 0 of them.
fn ramp_stages(level: f64, ramp: f64, steps: f64, hold: f64) -> Vec<LoadStage> {
    let mut stages = Vec::new();
    if steps >= 1.0 {
        // Bounds the number of stages, which a plan could set to billions.
        let number = steps.floor().min(10_000.0);
        for step in 1..=number as u32 {
            stages.push(constant(level * f64::from(step) / number, ramp / number));
        }
    } else {
        stages.push(stage(0.0, level, ramp));
    }
    stages.push(constant(level, hold));
    without_empty_stages(stages)
}

fn closed_schedule(stages: Vec<LoadStage>, on_error: &str) -> Schedule {
    let duration = stages.iter().map(|stage| stage.duration.unwrap_or_default()).sum();
    Schedule {
        load: Load::Closed {
            users: LoadShape { stages: nonempty(stages) },
            think: ThinkTime::NONE,
        },
        duration: Some(duration),
        iterations: None,
        failure_ends: failure_scope(on_error),
        is_new_user_each_iteration: false,
    }
}

fn open_schedule(
    stages: Vec<LoadStage>,
    arrivals: Arrivals,
    limit: f64,
    on_error: &str,
) -> Schedule {
    let duration = stages.iter().map(|stage| stage.duration.unwrap_or_default()).sum();
    let max_in_flight = if limit >= 1.0 { limit as u32 } else { MOST_ARRIVALS };
    Schedule {
        load: Load::Open {
            rate: LoadShape { stages: nonempty(stages) },
            arrivals,
            connections: None,
            max_in_flight,
        },
        duration: Some(duration),
        iterations: None,
        failure_ends: failure_scope(on_error),
        is_new_user_each_iteration: false,
    }
}

fn nonempty(mut stages: Vec<LoadStage>) -> Vec<LoadStage> {
    if stages.is_empty() {
        stages.push(constant(0.0, 0.0));
    }
    stages
}

/// Threads of one row of an Ultimate Thread Group. Times are in seconds since the start.
struct UserRow {
    threads: f64,
    /// Time of the first thread.
    begin: f64,
    /// Time from which all threads run.
    full: f64,
    /// Time from which threads stop.
    shrink: f64,
    /// Time of the last thread.
    end: f64,
}

impl UserRow {
    /// Number of threads directly before a time, or directly after it. They differ if a row
    /// has no startup time.
    fn users_at(&self, time: f64, is_after: bool) -> f64 {
        let share = if is_before(time, self.begin, is_after) {
            0.0
        } else if is_before(time, self.full, is_after) {
            (time - self.begin) / (self.full - self.begin)
        } else if is_before(time, self.shrink, is_after) {
            1.0
        } else if is_before(time, self.end, is_after) {
            (self.end - time) / (self.end - self.shrink)
        } else {
            0.0
        };
        self.threads * share
    }
}

fn is_before(time: f64, limit: f64, is_after: bool) -> bool {
    if is_after { time < limit } else { time <= limit }
}

/// Sum of all rows; None without rows.
fn total_users(rows: &[UserRow]) -> Option<Vec<LoadStage>> {
    let mut times: Vec<f64> = rows
        .iter()
        .flat_map(|row| [row.begin, row.full, row.shrink, row.end])
        .chain([0.0])
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let stages = times.windows(2).map(|pair| {
        let from = rows.iter().map(|row| row.users_at(pair[0], true)).sum::<f64>();
        let to = rows.iter().map(|row| row.users_at(pair[1], false)).sum::<f64>();
        stage(from, to, pair[1] - pair[0])
    });
    let stages: Vec<LoadStage> = stages.collect();
    (!stages.is_empty()).then_some(stages)
}
