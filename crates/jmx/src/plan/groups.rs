//! Thread groups as populations: how many users there are when, and for how long.

mod schedule;

use super::texts::{number_of, wrong_at};
use super::websockets::WebSocketSamplers;
use super::{Reader, Scope};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use brunt_model::load::{Arrivals, Shape, Stage, Think};
use brunt_model::plan::{Connection, ConnectionLifetime};
use brunt_model::scenario::{DataFile, Scenario, Scope as Over, Step, TextRules};
use brunt_model::{Load, Population, Request, StageVariables, Stop};
use std::time::Duration;

/// Arrivals that are under way at the same time; further ones are dropped.
const MOST_ARRIVALS: u32 = 100_000;

/// What the scenario of a group is made of, besides its steps.
#[derive(Debug, Default)]
pub struct GroupParts {
    /// Its requests.
    pub requests: Vec<Request>,
    /// Its data files.
    pub data: Vec<DataFile>,
    /// What a failed sample ends.
    pub failure_ends: Over,
    /// Each iteration is that of a new user: without cookies, over new connections.
    pub is_new_user_each_iteration: bool,
    /// Samplers of WebSockets.
    pub websockets: WebSocketSamplers,
    /// The descriptors of the services that are called: a `FileDescriptorSet`.
    pub services: Vec<u8>,
}

impl GroupParts {
    /// The number of a request, which is added.
    pub fn add(&mut self, request: Request) -> u32 {
        self.requests.push(request);
        self.requests.len() as u32 - 1
    }
}

/// When users are there, and how often each goes through the group.
struct Schedule {
    load: Load,
    /// None: until it is stopped.
    duration: Option<Duration>,
    /// None: as often as there is time for.
    iterations: Option<u64>,
}

impl Reader<'_> {
    /// The population of a thread group; None: it has no threads, or nothing to do.
    ///
    /// # Errors
    ///
    /// Its numbers are none, or one of its elements makes no sense.
    pub(super) fn group(
        &mut self,
        group: TestElement<'_>,
        plan: TestElement<'_>,
        scope: &Scope<'_>,
    ) -> Result<Option<Population>, JmxError> {
        let Some(schedule) = self.schedule(group)? else { return Ok(None) };
        let failure_ends = match self.filled(group, "ThreadGroup.on_sample_error").trim() {
            "startnextloop" => Over::Iteration,
            "stopthread" => Over::User,
            "stoptest" | "stoptestnow" => Over::Run,
            _ => Over::Nothing,
        };
        let is_new = !self.flag(group, "ThreadGroup.same_user_on_next_iteration", true);
        self.group = GroupParts { failure_ends, is_new_user_each_iteration: is_new, ..GroupParts::default() };
        self.find_websockets(group);
        let mut steps = self.round_begins(plan)?;
        steps.extend(self.body(group, scope)?);
        if !steps.iter().any(does_something) {
            self.notice(format!("{}: left out, it has no sampler", group.place()));
            return Ok(None);
        }
        // Nothing is left of a second iteration.
        let is_done_once = steps.iter().all(|step| matches!(step, Step::Once(_)));
        let iterations =
            if is_done_once { schedule.iterations.map(|most| most.min(1)).or(Some(1)) } else { schedule.iterations };
        let parts = std::mem::take(&mut self.group);
        let scenario = Scenario {
            requests: parts.requests.into(),
            steps,
            texts: TextRules::Jmeter,
            variables: self.begin_variables(),
            properties: self.properties.clone(),
            data: parts.data,
            folders: self.surroundings.folder.roots(),
            services: parts.services,
            handed: StageVariables::default(),
        };
        let mut duration = schedule.duration;
        if let Some(most) = self.surroundings.max_duration {
            duration = Some(duration.map_or(most, |duration| duration.min(most)));
        }
        let grace = self.surroundings.max_duration.unwrap_or(super::LONGEST_REQUEST);
        let stop = Stop { duration, iterations_per_user: iterations, ..Stop::after(Duration::ZERO, grace) };
        let name = self.before.text(&group.name());
        let keep = ConnectionLifetime::IterationOrClose;
        let connection = is_new.then(|| Box::new(Connection { keep, ..self.connection.clone() }));
        let population = Population { name, load: schedule.load, scenario, stop, connection };
        Ok(Some(population))
    }

    /// The variables that users begin with; their values are no expressions any more.
    fn begin_variables(&self) -> Vec<(String, String)> {
        let started = self.before.text("${__time()}");
        let mut all: Vec<(String, String)> =
            ["START.MS", "TESTSTART.MS"].iter().map(|name| ((*name).to_owned(), started.clone())).collect();
        let plain = |(name, value): (String, String)| (name, brunt_script::template::plain(&value));
        all.extend(self.before.variables().into_iter().map(plain));
        all
    }

    fn scaled(&self, threads: f64) -> f64 {
        if threads <= 0.0 { 0.0 } else { (threads * self.surroundings.scale).round().max(1.0) }
    }

    fn schedule(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        Ok(match group.kind() {
            Some(ElementKind::ThreadGroup | ElementKind::SetupThreadGroup | ElementKind::TearDownThreadGroup) => {
                self.plain_schedule(group)
            }
            Some(ElementKind::UltimateThreadGroup) => self.ultimate(group)?,
            Some(ElementKind::SteppingThreadGroup) => self.stepping(group)?,
            Some(ElementKind::ConcurrencyThreadGroup) => self.concurrency(group)?,
            Some(ElementKind::ArrivalsThreadGroup) => self.arrivals(group)?,
            Some(ElementKind::FreeFormArrivalsThreadGroup) => self.free_arrivals(group)?,
            Some(ElementKind::OpenModelThreadGroup) => self.open_model(group)?,
            _ => None,
        })
    }

    /// How many there are of threads or loops, as JMeter reads it: 0 where the text is no number. Leniently it is 1.
    fn how_many(&mut self, group: TestElement<'_>, name: &str, filled: &str) -> f64 {
        match number_of(group, name, filled, 0.0) {
            Err(error) if self.surroundings.lenient => {
                self.notice(format!("{error}; 1 is taken"));
                1.0
            }
            _ => self.whole_of(group, name, filled),
        }
    }

    fn plain_schedule(&mut self, group: TestElement<'_>) -> Option<Schedule> {
        let written = self.filled(group, "ThreadGroup.num_threads");
        let threads = self.how_many(group, "ThreadGroup.num_threads", &written);
        let threads = self.scaled(threads);
        if threads < 1.0 {
            self.notice(format!("{}: left out, it has no threads", group.place()));
            return None;
        }
        let ramp = self.whole(group, "ThreadGroup.ramp_time", 0.0).max(0.0);
        let is_scheduled = self.flag(group, "ThreadGroup.scheduler", false);
        let delay = if is_scheduled { self.whole(group, "ThreadGroup.delay", 0.0) } else { 0.0 };
        let duration = if is_scheduled { self.whole(group, "ThreadGroup.duration", 0.0) } else { 0.0 };
        if is_scheduled && duration <= 0.0 {
            let why = "it specifies a lifetime and its duration is 0, so that JMeter ends it before its first sample";
            self.notice(format!("{}: left out, {why}; write a duration", group.place()));
            return None;
        }
        if delay < 0.0 {
            let why = "its delay is below 0, so that JMeter does not start it";
            self.notice(format!("{}: left out, {why}; write a delay from 0", group.place()));
            return None;
        }
        let loops = self.loops(group);
        if loops == Some(0) {
            self.notice(format!("{}: left out, it has no loops (loop count 0 or empty)", group.place()));
            return None;
        }
        // The first thread begins at once, the last one step before the end of the ramp.
        let users = Shape {
            stages: vec![
                constant(0.0, delay),
                stage(1.0, threads, ramp * (threads - 1.0) / threads),
                Stage { from: threads, to: threads, duration: None },
            ]
            .into_iter()
            .filter(|stage| stage.duration != Some(Duration::ZERO))
            .collect(),
        };
        Some(Schedule {
            load: Load::Closed { users, think: Think::NONE },
            duration: (duration > 0.0).then(|| Duration::from_secs_f64(delay + duration)),
            iterations: loops,
        })
    }

    /// How often the threads of a group go through it; None: until they are stopped. JMeter's loop begins anew where it does not
    /// say that it ends, and has none where it has no number.
    fn loops(&mut self, group: TestElement<'_>) -> Option<u64> {
        let Some(main) = group.properties().element("ThreadGroup.main_controller") else { return Some(0) };
        let filled = self.filled_in(&main, "LoopController.loops");
        let loops = self.how_many(group, "LoopController.loops", &filled);
        let begins_anew = self.flag_in(&main, "LoopController.continue_forever", true);
        (loops == 0.0 || loops > 0.0 && !begins_anew).then_some(loops as u64)
    }

    /// Rows of threads: so many begin after a delay, within a time, stay, and go within a time.
    fn ultimate(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let mut rows = Vec::new();
        for row in group.properties().items("ultimatethreadgroupdata") {
            let mut cells = Vec::new();
            for cell in row.items() {
                let filled = self.before.text(&cell.text());
                cells.push(number_of(group, "ultimatethreadgroupdata", &filled, 0.0)?);
            }
            let [threads, delay, startup, hold, shutdown] = cells[..] else {
                let wrong = "a row needs threads, delay, startup, hold and shutdown";
                return Err(wrong_at(group, wrong));
            };
            let ends = [delay, delay + startup, delay + startup + hold, delay + startup + hold + shutdown];
            rows.push((self.scaled(threads), ends));
        }
        Ok(sum_of(&rows).map(by_time))
    }

    fn stepping(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let number = |name: &str, absent: f64| self.number(group, name, absent);
        let most = self.scaled(number("ThreadGroup.num_threads", 1.0)?);
        let (delay, burst) = (number("Threads initial delay", 0.0)?, number("Start users count burst", 0.0)?);
        let (count, period) = (number("Start users count", 1.0)?, number("Start users period", 0.0)?);
        let (gone, gone_period) = (number("Stop users count", 1.0)?, number("Stop users period", 0.0)?);
        let (flight, ramp) = (number("flighttime", 60.0)?, number("rampUp", 0.0)?);
        let step = self.scaled(count);
        let mut stages = vec![constant(0.0, delay.max(0.0))];
        let mut users = 0.0;
        let mut next = if burst > 0.0 { self.scaled(burst) } else { step };
        while users < most && step >= 1.0 {
            let to = (users + next).min(most);
            stages.push(stage(users, to, ramp));
            stages.push(constant(to, if to < most { period } else { flight }));
            (users, next) = (to, step);
        }
        let less = self.scaled(gone).max(1.0);
        while users > 0.0 {
            users = (users - less).max(0.0);
            stages.push(constant(users, if users > 0.0 { gone_period } else { 0.0 }));
        }
        Ok(Some(by_time(kept(stages))))
    }

    /// How high, how fast and for how long, for groups of a level: seconds.
    fn level(&self, group: TestElement<'_>) -> Result<(f64, f64, f64, f64, f64), JmxError> {
        let unit = if self.filled(group, "Unit").trim() == "S" { 1.0 } else { 60.0 };
        Ok((
            self.number(group, "TargetLevel", 1.0)?,
            self.number(group, "RampUp", 0.0)? * unit,
            self.number(group, "Steps", 0.0)?.max(0.0),
            self.number(group, "Hold", 0.0)? * unit,
            unit,
        ))
    }

    fn concurrency(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let (level, ramp, steps, hold, _) = self.level(group)?;
        let iterations = self.number(group, "Iterations", 0.0)?;
        let schedule = by_time(ramped(self.scaled(level), ramp, steps, hold));
        Ok(Some(Schedule { iterations: (iterations >= 1.0).then_some(iterations as u64), ..schedule }))
    }

    fn arrivals(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let (level, ramp, steps, hold, unit) = self.level(group)?;
        let stages = ramped(level * self.surroundings.scale / unit, ramp, steps, hold);
        let limit = self.number(group, "ConcurrencyLimit", 0.0)?;
        Ok(Some(opened(stages, Arrivals::Even, limit)))
    }

    fn free_arrivals(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let unit = if self.filled(group, "Unit").trim() == "S" { 1.0 } else { 60.0 };
        let mut stages = Vec::new();
        for row in group.properties().items("Schedule") {
            let mut cells = Vec::new();
            for cell in row.items() {
                let filled = self.before.text(&cell.text());
                cells.push(number_of(group, "Schedule", &filled, 0.0)?);
            }
            let [from, to, time] = cells[..] else {
                return Err(wrong_at(group, "a row needs a first rate, a last rate and a time"));
            };
            let rate = |rate: f64| rate * self.surroundings.scale / unit;
            stages.push(stage(rate(from), rate(to), time * unit));
        }
        let limit = self.number(group, "ConcurrencyLimit", 0.0)?;
        Ok((!stages.is_empty()).then(|| opened(kept(stages), Arrivals::Even, limit)))
    }

    fn open_model(&mut self, group: TestElement<'_>) -> Result<Option<Schedule>, JmxError> {
        let written = self.filled(group, "OpenModelThreadGroup.schedule");
        let (mut stages, arrivals) = schedule::read(&written).map_err(|wrong| wrong_at(group, &wrong))?;
        for stage in &mut stages {
            (stage.from, stage.to) = (stage.from * self.surroundings.scale, stage.to * self.surroundings.scale);
        }
        Ok((!stages.is_empty()).then(|| opened(kept(stages), arrivals, 0.0)))
    }
}

/// Whether a step makes a sample, or anything else that is seen.
fn does_something(step: &Step) -> bool {
    let is_seen = !matches!(
        step,
        Step::Row(_) | Step::Count(_) | Step::CountInTransactions(_) | Step::Set { .. } | Step::Choose { .. }
    );
    is_seen
        || matches!(step, Step::Choose { branches, .. }
            if branches.iter().any(|branch| branch.steps.iter().any(does_something)))
}

fn stage(from: f64, to: f64, seconds: f64) -> Stage {
    Stage { from, to, duration: Some(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)) }
}

fn constant(value: f64, seconds: f64) -> Stage {
    stage(value, value, seconds)
}

/// Without stages that take no time.
fn kept(stages: Vec<Stage>) -> Vec<Stage> {
    stages.into_iter().filter(|stage| stage.duration != Some(Duration::ZERO)).collect()
}

/// Up to a level within a time, in steps where there are some, and then held.
fn ramped(level: f64, ramp: f64, steps: f64, hold: f64) -> Vec<Stage> {
    let mut stages = Vec::new();
    if steps >= 1.0 {
        let number = steps.floor().min(10_000.0);
        for step in 1..=number as u32 {
            stages.push(constant(level * f64::from(step) / number, ramp / number));
        }
    } else {
        stages.push(stage(0.0, level, ramp));
    }
    stages.push(constant(level, hold));
    kept(stages)
}

fn by_time(stages: Vec<Stage>) -> Schedule {
    let duration = stages.iter().map(|stage| stage.duration.unwrap_or_default()).sum();
    Schedule {
        load: Load::Closed { users: Shape { stages: never_empty(stages) }, think: Think::NONE },
        duration: Some(duration),
        iterations: None,
    }
}

fn opened(stages: Vec<Stage>, arrivals: Arrivals, limit: f64) -> Schedule {
    let duration = stages.iter().map(|stage| stage.duration.unwrap_or_default()).sum();
    let max_in_flight = if limit >= 1.0 { limit as u32 } else { MOST_ARRIVALS };
    Schedule {
        load: Load::Open { rate: Shape { stages: never_empty(stages) }, arrivals, connections: None, max_in_flight },
        duration: Some(duration),
        iterations: None,
    }
}

fn never_empty(mut stages: Vec<Stage>) -> Vec<Stage> {
    if stages.is_empty() {
        stages.push(constant(0.0, 0.0));
    }
    stages
}

/// The users of all rows together: each row begins at the first of its times, is full at the second, begins to shrink at the
/// third and is gone at the fourth.
fn sum_of(rows: &[(f64, [f64; 4])]) -> Option<Vec<Stage>> {
    let mut times: Vec<f64> = rows.iter().flat_map(|(_, times)| *times).chain([0.0]).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    // Right behind a time, or right before it: a row of no startup is full behind its beginning.
    let at = |time: f64, behind: bool| {
        let one = |(threads, [begin, full, shrink, gone]): &(f64, [f64; 4])| {
            let is_before = |end: f64| if behind { time < end } else { time <= end };
            let share = if is_before(*begin) {
                0.0
            } else if is_before(*full) {
                (time - begin) / (full - begin)
            } else if is_before(*shrink) {
                1.0
            } else if is_before(*gone) {
                (gone - time) / (gone - shrink)
            } else {
                0.0
            };
            threads * share
        };
        rows.iter().map(one).sum::<f64>()
    };
    let stages = times.windows(2).map(|pair| stage(at(pair[0], true), at(pair[1], false), pair[1] - pair[0]));
    let stages: Vec<Stage> = stages.collect();
    (!stages.is_empty()).then_some(stages)
}
