//! What is said to a run while it goes on: that the server is warm, or that enough is known; of a search's trial, that the
//! load's side is decided.
//!
//! Out of scope: the rules, which are `judge`'s; and it never ends a run that somebody else wants to go on.

use brunt_engine::Control;
use brunt_judge::steady;
use brunt_judge::steady::until::{Decision, Progress, StopRule};
use brunt_model::answer::LoadSide;
use brunt_model::{Event, Find, Phase, Plan, Run, Tick};
use std::time::Duration;

/// The first look at a warm-up: 50 points of 100 ms, which the rule needs.
const FIRST_LOOK: Duration = Duration::from_secs(5);
/// The time of a look as a multiple of that of the look before.
const GROWTH: f64 = 1.25;
/// The same of looks at the side of a trial, which may be as many as one likes; but never sooner than so.
const SIDE_GROWTH: f64 = 1.05;
const SIDE_PAUSE: Duration = Duration::from_millis(500);

/// Steers a run by what was measured so far.
pub struct Steering {
    control: Control,
    looks: Option<StopRule>,
    /// When to look at the warm-up next; None: there is nothing to be found.
    warmup: Option<Duration>,
    side: Option<Side>,
    /// The last look, where the run went on after it.
    progress: Option<Progress>,
}

impl Steering {
    /// Steers a run of that plan.
    pub fn new(plan: &Plan, trial_of: Option<Find>, control: &Control) -> Self {
        let until = plan.until.as_ref().filter(|until| !until.goals.is_empty());
        let looks = until.map(|until| StopRule::new(until.goals.clone(), until.least));
        let warmup = plan.main().stop.warmup_until_steady.then_some(FIRST_LOOK);
        Self {
            control: control.clone(),
            looks,
            warmup,
            side: trial_of.and_then(|find| Side::of(plan, find)),
            progress: None,
        }
    }

    /// Looks at the run after an event; what its reader should be told.
    pub fn after(&mut self, event: &Event, run: &Run) -> Option<String> {
        let Event::Snapshot(snapshot) = event else { return None };
        match snapshot.phase {
            Phase::Warmup => self.look_at_warmup(run, snapshot.to),
            Phase::Measure => {
                self.look_for_side(run);
                self.tell_unsteady().or_else(|| self.look(run))
            }
            Phase::Setup | Phase::Grace => None,
        }
    }

    /// What is to be told before the run is over.
    pub fn before_end(&mut self) -> Option<String> {
        let progress = self.progress.take()?;
        Some(format!("--until was not reached: {}; raise --max-duration", words(&progress)))
    }

    fn look_at_warmup(&mut self, run: &Run, to: Tick) -> Option<String> {
        let elapsed = to - run.began(Phase::Warmup)?;
        if elapsed < self.warmup? {
            return None;
        }
        self.warmup = Some(elapsed.mul_f64(GROWTH));
        let steady = steady::of_warmup(run).filter(|steady| steady.reached)?;
        self.warmup = None;
        self.control.steady();
        let (cut, seen) = (steady.cut.as_secs_f64(), elapsed.as_secs_f64());
        Some(format!("--warmup auto: steady from {cut:.1} s on, found at {seen:.1} s ({})", steady.method))
    }

    /// The measured time has begun, and the warm-up was never found steady.
    fn tell_unsteady(&mut self) -> Option<String> {
        self.warmup.take()?;
        Some("--warmup auto: no steady state within the longest warm-up; the figures describe a transition".into())
    }

    /// Nobody is told: how long a trial took is seen.
    fn look_for_side(&mut self, run: &Run) {
        if self.side.as_mut().is_some_and(|side| side.is_decided(run)) {
            self.side = None;
            self.control.enough();
        }
    }

    fn look(&mut self, run: &Run) -> Option<String> {
        let elapsed = Duration::from_secs_f64(run.measured_seconds());
        match self.looks.as_mut()?.look(elapsed, run)? {
            Decision::GoOn(progress) => {
                self.progress = Some(progress);
                None
            }
            Decision::Done(progress) => {
                (self.looks, self.progress) = (None, None);
                self.control.enough();
                Some(format!("--until was reached after {:.1} s: {}", elapsed.as_secs_f64(), words(&progress)))
            }
        }
    }
}

/// On which side of the capacities that are looked for the load of a trial lies.
struct Side {
    find: Find,
    /// When to look next, in measured time.
    next: Duration,
}

impl Side {
    /// None: the trial is as long as it is, whatever it shows.
    fn of(plan: &Plan, find: Find) -> Option<Self> {
        let least = plan.until.as_ref()?.least;
        plan.main().stop.duration.is_none_or(|most| least < most).then_some(Self { find, next: least })
    }

    fn is_decided(&mut self, run: &Run) -> bool {
        let elapsed = Duration::from_secs_f64(run.measured_seconds());
        if elapsed < self.next {
            return false;
        }
        self.next = elapsed.mul_f64(SIDE_GROWTH).max(elapsed + SIDE_PAUSE);
        let sides = brunt_search::sides(&self.find, &brunt_search::blocks(&self.find, run));
        !sides.contains(&LoadSide::Undecided)
    }
}

/// Each goal, and how near it is.
fn words(progress: &Progress) -> String {
    let one = |reach: &steady::until::GoalProgress| match reach.half_width {
        Some(half) => format!("{}: ±{:.2}% (target: {})", reach.goal.aim, half * 1e2, reach.goal),
        None => format!("{}: no interval yet (target: {})", reach.goal.aim, reach.goal),
    };
    progress.reaches.iter().map(one).collect::<Vec<_>>().join(", ")
}
