//! Makes the runs of an experiment in this process, and stores them.

use super::Conditions;
use super::time_left::TimeLeft;
use super::trial::GeneratorCapacity;
use crate::decide;
use crate::error::RunError;
use crate::run::{EventListener, no_reply};
use crate::session::{RunRequest, RunResult, Storage};
use crate::stages::{StageEnd, StageSequence};
use brunt_engine::RunControl;
use brunt_model::experiment::LoadStep;
use brunt_model::numbers::{plural, span, three_digits};
use brunt_model::reached::ReplyKind;
use brunt_model::{
    Clock, Event, Experiment, LoadUnit, Question, StageKind, Study, TestStage, Tick, Trial,
    Warning, text,
};
use brunt_report::figures::quantile;
use brunt_rig::{ExperimentHost, RigMessage, TrialRun};

/// Makes the runs of an experiment, and keeps them in a study.
pub struct Measurer<'a> {
    /// The experiment with all trials so far.
    pub study: Study,
    conditions: Conditions<'a>,
    time_left: TimeLeft<'a>,
    /// Text before the estimate in the title of the next run.
    pub title_prefix: String,
}

impl<'a> Measurer<'a> {
    /// Creates a measurer that adds trials to `study`.
    pub fn new(
        study: Study,
        experiment: &'a Experiment,
        conditions: Conditions<'a>,
        clock: &'a dyn Clock,
    ) -> Self {
        let time_left = TimeLeft::new(
            clock,
            experiment,
            &study.trials.iter().map(|trial| trial.place).collect(),
        );
        Self { study, conditions, time_left, title_prefix: String::new() }
    }

    /// Adds a step that a search chose to the study, and to the store. Returns its index.
    pub fn grow(&mut self, contender: usize, step: &LoadStep) -> usize {
        if let (Some(store), Some(id)) = (&self.conditions.session.store, &self.study.id)
            && let Err(error) = store.add_experiment_step(id, contender, step)
        {
            let warning = format!("experiment {id} cannot be read or resumed: {error}");
            self.report(RigMessage::Warning(warning.into()));
        }
        let steps = &mut self.study.experiment.contenders[contender].steps;
        steps.push(step.clone());
        steps.len() - 1
    }

    /// Returns the capacity of this machine.
    pub fn machine(&self) -> GeneratorCapacity {
        self.conditions.machine
    }

    /// Shows the current activity between runs.
    fn show(&self, line: &str) {
        self.conditions.observer.show_status(line);
    }

    /// Prints a message permanently.
    pub fn tell(&self, line: &str) {
        self.conditions.observer.print(line);
    }

    /// Carries out a stage around a trial. Teardown runs to its end, or to its time
    /// limit, even after Ctrl-C.
    fn stage(
        &mut self,
        stage: &TestStage,
        work: &TrialRun,
        sequence: &mut StageSequence,
    ) -> Result<StageEnd, RunError> {
        self.show(&format!("{} of {}", stage.kind.word(), trial_name(work)));
        let control = match stage.kind {
            // Its own control: Ctrl-C does not reach it.
            StageKind::Teardown => RunControl::default(),
            _ => self.conditions.session.interrupt.control(),
        };
        let listener = self.conditions.observer.stage();
        let end = sequence.carry_out(stage, self.conditions.session, control, listener);
        self.show("");
        if let Ok(StageEnd::Whole(warnings)) = &end {
            // Each trial repeats setup and teardown, with the same warnings.
            let new =
                warnings.iter().filter(|warning| !self.study.warnings.contains(warning)).cloned();
            new.collect::<Vec<_>>()
                .into_iter()
                .for_each(|warning| self.report(RigMessage::Warning(warning)));
        }
        end
    }

    /// Makes the run of a trial, and stores it.
    fn trial(&mut self, work: &TrialRun, sequence: &mut StageSequence) -> Result<(), RunError> {
        let mut plan = work.plan.clone();
        sequence.hand_to(&mut plan);
        let plan = &plan;
        let session = self.conditions.session;
        let world = session.world(plan).map_err(|source| trial_error(work, source))?;
        let (route, notes) = self.conditions.observer.preflight(plan);
        // Without a total, the name of the trial begins with this word already.
        let trial = if work.total.is_some() { "trial " } else { "" };
        let title =
            format!("{trial}{}, {}{}", trial_name(work), self.title_prefix, self.remaining_time());
        let mut progress = self.conditions.observer.progress(plan, title);
        let mut server = ServerMonitor { work, is_reported: false };
        let request = RunRequest {
            route,
            notes,
            storage: self
                .study
                .id
                .as_deref()
                .map_or(Storage::None, |id| Storage::Trial(id, work.place)),
            probes: &work.probes,
            listeners: vec![&mut *progress, &mut server],
            ..RunRequest::new(plan, &world, session.interrupt.control())
        };
        let RunResult { run, judgement, stored, outcome } = session.run(request);
        // Ends the progress line before further messages are printed.
        drop(progress);
        sequence.end(StageKind::Main, &world);
        // Warnings of the run itself are in the report of the run.
        self.study
            .warnings
            .extend(stored.trouble.filter(|trouble| !run.warnings.contains(trouble)));
        self.record_trial(work, Trial { place: work.place, id: stored.id, run, judgement });
        outcome
    }

    fn record_trial(&mut self, work: &TrialRun, trial: Trial) {
        self.time_left.record_trial(work.place);
        // The search prints its own line for each of its trials.
        if !self.study.experiment.is_search_trial(work.place) {
            let is_last = work.total == Some(work.number);
            let rest = if is_last { String::new() } else { format!("; {}", self.remaining_time()) };
            self.conditions.observer.trial_finished(&format!(
                "{}: {}{rest}",
                trial_name(work),
                result_line(&trial)
            ));
        }
        self.study.trials.push(trial);
    }

    fn remaining_time(&self) -> String {
        let prefix = if self.study.experiment.may_end_early() { "at most " } else { "" };
        format!("{prefix}{} left", span(self.time_left.time().as_secs_f64().ceil()))
    }
}

impl ExperimentHost for Measurer<'_> {
    type Error = RunError;

    /// Carries out setup, the trial, and teardown, which also runs if the trial
    /// was stopped or failed.
    fn run(&mut self, work: &TrialRun) -> Result<(), RunError> {
        let mut sequence = StageSequence::default();
        for stage in work.plan.stages(StageKind::Setup) {
            let end = self
                .stage(stage, work, &mut sequence)
                .map_err(|source| trial_error(work, source))?;
            // Teardown belongs to a setup that was completed.
            if end == StageEnd::Stopped {
                return Ok(());
            }
        }
        // Ctrl-C may come during setup.
        let measured = if self.is_stopped() { Ok(()) } else { self.trial(work, &mut sequence) };
        for stage in work.plan.stages(StageKind::Teardown) {
            if let Err(error) = self.stage(stage, work, &mut sequence) {
                let sentence = error.to_string();
                let warning = text!("of-run", run = trial_name(work), sentence);
                self.report(RigMessage::Warning(warning));
            }
        }
        measured
    }

    fn report(&mut self, message: RigMessage) {
        match message {
            RigMessage::Hook { when, command } => self.show(&format!("{when}: {command}")),
            RigMessage::Starting { contender } => {
                self.show(&format!("starting the server of {contender}"));
            }
            RigMessage::Ready { .. } => self.show(""),
            RigMessage::Stopping { contender } => {
                self.show(&format!("stopping the server of {contender}"));
            }
            RigMessage::Resting { time } => {
                self.show(&format!("resting for {}", span(time.as_secs_f64())));
            }
            RigMessage::Warning(text) => {
                self.tell(&format!("warning: {text}"));
                self.study.warnings.push(text);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.conditions.session.interrupt.is_stopped()
    }

    fn has_enough(&mut self, repetition: u32) -> bool {
        let Question::Compare(spec) = &self.study.experiment.question else { return false };
        let within = spec.within;
        let (state, is_enough) = decide::comparison_state(&self.study, spec);
        // Called in any case, because it counts the repetitions.
        let is_used_up = within.is_some_and(|within| self.time_left.is_used_up(within));
        if let Some(state) = state {
            self.tell(&format!("after repetition {}: {state}", repetition + 1));
        }
        is_enough || is_used_up
    }
}

/// Listener that adds a warning to a run if the managed server ends during it.
struct ServerMonitor<'a> {
    work: &'a TrialRun<'a>,
    is_reported: bool,
}

impl EventListener for ServerMonitor<'_> {
    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        // Called after each snapshot; one warning suffices.
        let trouble = if self.is_reported { None } else { self.work.server_warning() };
        self.is_reported |= trouble.is_some();
        trouble.map(|text| Event::Warning(Warning { at, text })).into_iter().collect()
    }
}

fn trial_error(work: &TrialRun, source: RunError) -> RunError {
    RunError::Trial { which: trial_name(work), source: Box::new(source) }
}

/// Index and description of a trial.
fn trial_name(work: &TrialRun) -> String {
    let load = match LoadUnit::from(&work.plan.main().load) {
        LoadUnit::PerSecond => format!("{}/s", work.load),
        LoadUnit::Users { .. } => plural(work.load as u64, "user"),
    };
    let repetition = work.place.repetition + 1;
    let name = &work.contender.name;
    match work.total {
        Some(total) => format!("{}/{total} {name}, {load}, repetition {repetition}", work.number),
        None if repetition > 1 => {
            format!("trial {} {name}, {load}, repetition {repetition}", work.number)
        }
        None => format!("trial {} {name}, {load}", work.number),
    }
}

/// Result of a trial in one line.
fn result_line(trial: &Trial) -> String {
    let run = &trial.run;
    if run.replies() == ReplyKind::None {
        return no_reply(run);
    }
    let p99 = quantile(run.total.response_quantile(0.99));
    format!(
        "{}/s, p99 {p99}, {}",
        three_digits(run.throughput()),
        plural(run.total.errors(), "error")
    )
}
