//! Makes the runs of an experiment, here and by this process, and keeps them.

use super::Conditions;
use super::left::TimeLeft;
use super::trial::Machine;
use crate::decide;
use crate::error::RunError;
use crate::run::{Listen, no_reply};
use crate::session::{RunRequest, RunResult, Storage};
use crate::stages::{StageEnd, StageSequence};
use crate::world::Real;
use brunt_engine::Control;
use brunt_model::experiment::Step;
use brunt_model::numbers::{plural, span, three};
use brunt_model::reached::Replies;
use brunt_model::{Clock, Event, Experiment, LoadUnit, Question, StageKind, Study, TestStage, Tick, Trial, Warning};
use brunt_report::figures::quantile;
use brunt_rig::{Host, News, Work};

/// Makes the runs of an experiment, and keeps them in a study.
pub struct Measurer<'a> {
    /// What was measured so far.
    pub study: Study,
    conditions: Conditions<'a>,
    left: TimeLeft<'a>,
    /// What stands before the line of the run that is to come.
    pub before: String,
}

impl<'a> Measurer<'a> {
    /// Goes on with a study.
    pub fn new(study: Study, experiment: &'a Experiment, conditions: Conditions<'a>, clock: &'a dyn Clock) -> Self {
        let left = TimeLeft::new(clock, experiment, &study.trials.iter().map(|trial| trial.place).collect());
        Self { study, conditions, left, before: String::new() }
    }

    /// Adds a step that was chosen on the way, in the study and where that is kept; its index.
    pub fn grow(&mut self, contender: usize, step: &Step) -> usize {
        if let (Some(store), Some(id)) = (&self.conditions.session.store, &self.study.id)
            && let Err(error) = store.grow_experiment(id, contender, step)
        {
            self.say(News::Warning(format!("experiment {id} cannot be read or resumed: {error}")));
        }
        let steps = &mut self.study.experiment.contenders[contender].steps;
        steps.push(step.clone());
        steps.len() - 1
    }

    /// This machine.
    pub fn machine(&self) -> Machine {
        self.conditions.machine
    }

    /// Shows what goes on beside the runs.
    fn show(&self, line: &str) {
        self.conditions.observer.show(line);
    }

    /// Says something that stays.
    pub fn tell(&self, line: &str) {
        self.conditions.observer.tell(line);
    }

    /// Makes a stage around a trial. Teardown runs to its end, or its time limit, also after Ctrl-C.
    fn stage(&mut self, stage: &TestStage, work: &Work, sequence: &mut StageSequence) -> Result<StageEnd, RunError> {
        self.show(&format!("{} of {}", stage.kind.word(), which(work)));
        let control = match stage.kind {
            StageKind::Teardown => Control::default(),
            _ => self.conditions.session.interrupt.control(),
        };
        let listener = self.conditions.observer.stage();
        let end = sequence.carry_out(stage, self.conditions.session, control, listener);
        self.show("");
        if let Ok(StageEnd::Whole(warnings)) = &end {
            let new = warnings.iter().filter(|warning| !self.study.warnings.contains(warning)).cloned();
            new.collect::<Vec<_>>().into_iter().for_each(|warning| self.say(News::Warning(warning)));
        }
        end
    }

    /// Makes the run of a trial, and keeps it.
    fn trial(&mut self, work: &Work, sequence: &mut StageSequence) -> Result<(), RunError> {
        let mut plan = work.plan.clone();
        sequence.hand_to(&mut plan);
        let plan = &plan;
        let world = Real::new(plan).map_err(|source| of_trial(work, source))?;
        let session = self.conditions.session;
        let (route, notes) = self.conditions.observer.preflight(plan);
        let trial = if work.of.is_some() { "trial " } else { "" };
        let title = format!("{trial}{}, {}{}", which(work), self.before, self.time_left());
        let mut progress = self.conditions.observer.progress(plan, title);
        let mut server = Server { work, told: false };
        let experiment = &self.study.experiment;
        let request = RunRequest {
            route,
            notes,
            storage: self.study.id.as_deref().map_or(Storage::None, |id| Storage::Trial(id, work.place)),
            probes: &work.probes,
            trial_of: experiment.find().filter(|_| experiment.was_chosen(work.place)).cloned(),
            listeners: vec![&mut *progress, &mut server],
            ..RunRequest::new(plan, &world, session.interrupt.control())
        };
        let RunResult { run, judgement, stored, outcome } = session.run(request);
        drop(progress);
        sequence.end(StageKind::Main, &world);
        // Warnings of the run itself are in its report.
        self.study.warnings.extend(stored.trouble.filter(|trouble| !run.warnings.contains(trouble)));
        self.made(work, Trial { place: work.place, id: stored.id, run, judgement });
        outcome
    }

    fn made(&mut self, work: &Work, trial: Trial) {
        self.left.made(work.place);
        if !self.study.experiment.was_chosen(work.place) {
            let is_last = work.of == Some(work.number);
            let left = if is_last { String::new() } else { format!("; {}", self.time_left()) };
            self.conditions.observer.made(&format!("{}: {}{left}", which(work), came_to(&trial)));
        }
        self.study.trials.push(trial);
    }

    fn time_left(&self) -> String {
        let most = if self.study.experiment.may_end_early() { "at most " } else { "" };
        format!("{most}{} left", span(self.left.time().as_secs_f64().ceil()))
    }
}

impl Host for Measurer<'_> {
    type Error = RunError;

    /// Setup, the trial, and teardown, which also runs where the trial was stopped or failed.
    fn run(&mut self, work: &Work) -> Result<(), RunError> {
        let mut sequence = StageSequence::default();
        for stage in work.plan.stages(StageKind::Setup) {
            let end = self.stage(stage, work, &mut sequence).map_err(|source| of_trial(work, source))?;
            if end == StageEnd::Stopped {
                return Ok(());
            }
        }
        let measured = if self.stopped() { Ok(()) } else { self.trial(work, &mut sequence) };
        for stage in work.plan.stages(StageKind::Teardown) {
            if let Err(error) = self.stage(stage, work, &mut sequence) {
                self.say(News::Warning(format!("{}: {error}", which(work))));
            }
        }
        measured
    }

    fn say(&mut self, news: News) {
        match news {
            News::Hook { when, command } => self.show(&format!("{when}: {command}")),
            News::Starting { contender } => self.show(&format!("starting the server of {contender}")),
            News::Ready { .. } => self.show(""),
            News::Stopping { contender } => self.show(&format!("stopping the server of {contender}")),
            News::Resting { time } => self.show(&format!("resting for {}", span(time.as_secs_f64()))),
            News::Warning(text) => {
                self.tell(&format!("warning: {text}"));
                self.study.warnings.push(text);
            }
        }
    }

    fn stopped(&self) -> bool {
        self.conditions.session.interrupt.is_stopped()
    }

    fn enough(&mut self, repetition: u32) -> bool {
        let Question::Compare(spec) = &self.study.experiment.question else { return false };
        let within = spec.within;
        let (stands, enough) = decide::stands(&self.study, spec);
        let used_up = within.is_some_and(|within| self.left.is_used_up(within));
        if let Some(stands) = stands {
            self.tell(&format!("after repetition {}: {stands}", repetition + 1));
        }
        enough || used_up
    }
}

/// The managed server, as a run hears of it: a warning when it ends meanwhile.
struct Server<'a> {
    work: &'a Work<'a>,
    told: bool,
}

impl Listen for Server<'_> {
    fn add(&mut self, at: Tick) -> Vec<Event> {
        let trouble = if self.told { None } else { self.work.trouble() };
        self.told |= trouble.is_some();
        trouble.map(|text| Event::Warning(Warning { at, text })).into_iter().collect()
    }
}

fn of_trial(work: &Work, source: RunError) -> RunError {
    RunError::Trial { which: which(work), source: Box::new(source) }
}

/// Which of how many, and what it is.
fn which(work: &Work) -> String {
    let load = match LoadUnit::from(&work.plan.main().load) {
        LoadUnit::PerSecond => format!("{}/s", work.load),
        LoadUnit::Users { .. } => plural(work.load as u64, "user"),
    };
    let (repetition, name) = (work.place.repetition + 1, &work.contender.name);
    match work.of {
        Some(of) => format!("{}/{of} {name}, {load}, repetition {repetition}", work.number),
        None if repetition > 1 => format!("trial {} {name}, {load}, repetition {repetition}", work.number),
        None => format!("trial {} {name}, {load}", work.number),
    }
}

/// A trial in some words.
fn came_to(trial: &Trial) -> String {
    let run = &trial.run;
    if run.replies() == Replies::None {
        return no_reply(run);
    }
    let p99 = quantile(run.total.response_quantile(0.99));
    format!("{}/s, p99 {p99}, {}", three(run.throughput()), plural(run.total.errors(), "error"))
}
