//! Ends a warm-up or a run early: when the server is steady, or when figures are precise enough.
//!
//! Out of scope: the rules, which are in the crate `judge`.

use brunt_engine::RunControl;
use brunt_judge::steady;
use brunt_judge::steady::until::{Decision, StopRule, UntilProgress};
use brunt_model::{Event, Phase, Plan, Run, Text, Tick, text};
use std::time::Duration;

/// Time of the first look at a warm-up: 50 points of 100 ms, which the rule needs.
const FIRST_WARMUP_LOOK: Duration = Duration::from_secs(5);
/// Time of a look, as a multiple of the time of the previous one.
const LOOK_GROWTH: f64 = 1.25;

/// Steers a run by the measurements so far.
pub struct Steering {
    control: RunControl,
    stop_rule: Option<StopRule>,
    /// Time of the next look at the warm-up; None if the warm-up has a fixed duration, or is over.
    warmup: Option<Duration>,
    /// Result of the last look that did not end the run.
    progress: Option<UntilProgress>,
}

impl Steering {
    /// Creates the steering of a run with this plan.
    pub fn new(plan: &Plan, control: &RunControl) -> Self {
        let until = plan.until.as_ref().filter(|until| !until.goals.is_empty());
        let stop_rule = until.map(|until| StopRule::new(until.goals.clone(), until.least));
        let warmup = plan.main().stop.warmup_until_steady.then_some(FIRST_WARMUP_LOOK);
        Self { control: control.clone(), stop_rule, warmup, progress: None }
    }

    /// Looks at the run after an event. Returns a note for the report.
    pub fn after(&mut self, event: &Event, run: &Run) -> Option<Text> {
        let Event::Snapshot(snapshot) = event else { return None };
        match snapshot.phase {
            Phase::Warmup => self.look_at_warmup(run, snapshot.to),
            Phase::Measure => self.tell_unsteady().or_else(|| self.look(run)),
            Phase::Setup | Phase::Grace => None,
        }
    }

    /// Returns a note for the report at the end of the run, if its goals were not reached.
    pub fn before_end(&mut self) -> Option<Text> {
        let progress = self.progress.take()?;
        Some(text!("warning-until", progress = words(&progress)))
    }

    fn look_at_warmup(&mut self, run: &Run, to: Tick) -> Option<Text> {
        let elapsed = to - run.phase_start(Phase::Warmup)?;
        if elapsed < self.warmup? {
            return None;
        }
        self.warmup = Some(elapsed.mul_f64(LOOK_GROWTH));
        let steady = steady::warmup_steady_state(run).filter(|steady| steady.reached)?;
        self.warmup = None;
        self.control.begin_measuring();
        let cut = format!("{:.1}", steady.cut.as_secs_f64());
        let seconds = format!("{:.1}", elapsed.as_secs_f64());
        Some(text!("warning-steady", cut, seconds, method = steady.method))
    }

    /// Returns a note if the measured time has begun, and the warm-up was never steady.
    fn tell_unsteady(&mut self) -> Option<Text> {
        self.warmup.take()?;
        Some(text!("warning-unsteady"))
    }

    fn look(&mut self, run: &Run) -> Option<Text> {
        let elapsed = Duration::from_secs_f64(run.measured_seconds());
        match self.stop_rule.as_mut()?.evaluate_if_due(elapsed, run)? {
            Decision::Continue(progress) => {
                self.progress = Some(progress);
                None
            }
            Decision::Done(progress) => {
                self.stop_rule = None;
                // Otherwise the end of the run would report the goals as not reached.
                self.progress = None;
                self.control.end();
                let seconds = format!("{:.1}", elapsed.as_secs_f64());
                let progress = words(&progress);
                Some(text!("warning-until-reached", seconds, progress))
            }
        }
    }
}

/// State of each goal, as text.
fn words(progress: &UntilProgress) -> String {
    let mut goals = Vec::new();
    for reach in &progress.goals {
        goals.push(match reach.half_width {
            Some(half) => {
                format!("{}: ±{:.2}% (target: {})", reach.goal.aim, half * 1e2, reach.goal)
            }
            None => format!("{}: no interval yet (target: {})", reach.goal.aim, reach.goal),
        });
    }
    goals.join(", ")
}
