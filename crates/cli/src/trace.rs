//! `--trace`: a run of one user and one iteration, unless more are asked for, each of whose samples is shown in full.
//!
//! Secrets are redacted as everywhere: equal ones look alike, so that a cookie can be followed from reply to request.

use crate::exit::Exit;
use crate::live::say;
use crate::output::ignore_closed_pipe;
use crate::{redact, view};
use brunt_model::load::{Load, Shape, Think};
use brunt_model::{Event, Experiment, Plan, Question, SampleRecord, words};
use brunt_report::trace;
use brunt_runner::Listen;
use brunt_spec::settings::RunSettings;
use std::io::{self, Write};
use std::time::Duration;

/// Further samples are not shown.
const MOST_SHOWN: u64 = 10_000;

/// A run that is traced takes no longer.
const LONGEST: Duration = Duration::from_hours(1);

/// Options that may be said beside a plan file with `--trace`.
pub const BESIDE: [&str; 2] = ["connections", "iterations"];

/// Shows samples on standard output.
#[derive(Default)]
pub struct Tracer {
    shown: u64,
    failed: u64,
    /// Nobody reads any more.
    is_over: bool,
}

impl Tracer {
    fn show(&mut self, record: &SampleRecord) -> io::Result<()> {
        if record.is_transaction {
            record.sub_results.iter().try_for_each(|within| self.show(within))?;
            let text = trace::transaction(&view::of_stdout(), record);
            return io::stdout().lock().write_all(text.as_bytes());
        }
        if record.sample_count > 0 {
            self.shown += 1;
            self.failed += u64::from(!record.success);
        }
        if self.shown > MOST_SHOWN {
            return Ok(());
        }
        let mut record = record.clone();
        redact::current().record(&mut record);
        let text = trace::sample(&view::of_stdout(), self.shown, &record);
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Tells what was shown, and how brunt is to exit.
    pub fn end(&self, interrupted: bool) -> Exit {
        let cut = if self.shown > MOST_SHOWN { format!(", the first {MOST_SHOWN} shown") } else { String::new() };
        say(&format!("{}, {} failed{cut}", words::plural(self.shown, "sample"), self.failed));
        match (interrupted, self.shown) {
            (true, _) => Exit::Interrupted,
            (_, 0) => Exit::NothingMeasured,
            (_, shown) if shown == self.failed => Exit::ObjectiveMissed,
            _ => Exit::Measured,
        }
    }
}

impl Listen for Tracer {
    fn hear(&mut self, event: &Event) {
        let Event::Records(records) = event else { return };
        if self.is_over {
            return;
        }
        // A pipe that nobody reads ends the trace, not the run.
        let shown = records.iter().try_for_each(|record| self.show(record));
        self.is_over = shown.or_else(ignore_closed_pipe).is_err();
    }
}

/// Makes a plan one of few users and iterations, as the settings say: without a warm-up, until all have done their part, or the plan's
/// own duration or number of requests is over.
pub fn reduce(plan: &mut Plan, settings: &RunSettings) {
    let users = settings.load.connections.as_ref().map_or(1.0, |loads| loads.lowest_peak().max(1.0));
    let iterations = settings.load.iterations.unwrap_or(1);
    for population in &mut plan.populations {
        let think = match &population.load {
            Load::Closed { think, .. } => *think,
            Load::Open { .. } => Think::NONE,
        };
        population.load = Load::Closed { users: Shape::constant(users), think };
        population.stop.warmup = Duration::ZERO;
        population.stop.warmup_until_steady = false;
        population.stop.duration = Some(population.stop.duration.map_or(LONGEST, |planned| planned.min(LONGEST)));
        population.stop.iterations_per_user = Some(iterations);
    }
    (plan.threads, plan.processes, plan.until, plan.precise) = (1, 1, None, false);
    plan.objectives.clear();
}

/// Makes an experiment one of a single such run of each contender.
pub fn reduce_all(experiment: &mut Experiment, settings: &RunSettings) {
    (experiment.repetitions, experiment.cooldown, experiment.question) = (1, Duration::ZERO, Question::Sweep);
    for contender in &mut experiment.contenders {
        contender.steps.truncate(1);
        contender.probes.clear();
        contender.steps.iter_mut().for_each(|step| reduce(&mut step.plan, settings));
    }
}
