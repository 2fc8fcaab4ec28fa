//! Pauses: of a given length, for a rate, and until other users arrive.

use super::{Op, StepFacts, final_step};
use crate::ScriptError;
use crate::program::compiler::Compiler;
use crate::program::user::interpreter::Interpreter;
use crate::texts::context::{ScheduledWait, Turns, UserContext};
use crate::texts::template::Template;
use brunt_engine::pace::Cumulative;
use brunt_engine::{UserStep, UserTurn, Waiting};
use brunt_model::load;
use brunt_model::load::{LoadShape, LoadStage};
use brunt_model::scenario::{self, EndScope, PaceScope, PaceStage};
use brunt_wire::Transport;
use rand::RngExt;
use std::time::Duration;

/// Maximum pause; longer ones are shortened.
pub const MAX_PAUSE_MILLIS: f64 = 1e11;

pub const FACTS: StepFacts<'_> = StepFacts::preparation(Some("a pause"));

/// A pause between two bounds.
#[derive(Debug)]
pub struct ThinkOperation {
    range: load::ThinkTime,
}

/// A pause with its length in milliseconds as a text.
#[derive(Debug)]
pub struct PauseOperation {
    millis: Template,
}

pub fn compile_think(compiler: &mut Compiler<'_>, range: load::ThinkTime) {
    compiler.push(Op::Think(ThinkOperation { range }));
}

pub fn compile(compiler: &mut Compiler<'_>, millis: &str) -> Result<(), ScriptError> {
    let millis = compiler.text(millis)?;
    compiler.push(Op::Pause(PauseOperation { millis }));
    Ok(())
}

impl ThinkOperation {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) -> UserStep {
        let load::ThinkTime { least, most } = self.range;
        if least == most {
            // A constant pause draws no number, so it does not change later random values.
            return UserStep::Think(most);
        }
        UserStep::Think(user.script.context.random.borrow_mut().random_range(least..=most))
    }
}

impl PauseOperation {
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        user.context.as_ref()?;
        pause(number(&user.text(&self.millis, turn)))
    }
}

/// Parses a number; 0 if the text is none.
pub fn number(text: &str) -> f64 {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite()).unwrap_or(0.0)
}

/// Returns the step of a pause. None: the pause is empty.
pub fn pause(millis: f64) -> Option<UserStep> {
    (millis > 0.0)
        .then(|| UserStep::Think(Duration::from_secs_f64(millis.min(MAX_PAUSE_MILLIS) / 1e3)))
}

/// A pause that limits users to a rate.
#[derive(Debug)]
pub struct RatePauseOperation {
    per_minute: Template,
    by: PaceScope,
    /// Name of the step, the same for all users.
    site: String,
}

/// A pause that makes all users follow a schedule of rates. The run ends with the schedule.
#[derive(Debug)]
pub struct FollowRates {
    rates: Cumulative,
    /// Length of the schedule.
    seconds: f64,
    /// Name of the step, the same for all users.
    site: String,
}

pub fn compile_pace(
    compiler: &mut Compiler<'_>,
    pace: &scenario::RatePause,
) -> Result<(), ScriptError> {
    let site = compiler.site("pace");
    // Steps with the same shared name use one rate together.
    let site = if pace.shared.is_empty() { site } else { format!("pace of {}", pace.shared) };
    let op = if pace.schedule.is_empty() {
        Op::Pace(RatePauseOperation {
            per_minute: compiler.text(&pace.per_minute)?,
            by: pace.by,
            site,
        })
    } else {
        let shape = schedule(&pace.schedule)?;
        let seconds = shape.duration().unwrap_or_default().as_secs_f64();
        Op::FollowRates(FollowRates { rates: Cumulative::new(&shape), seconds, site })
    };
    compiler.push(op);
    Ok(())
}

fn schedule(stages: &[PaceStage]) -> Result<LoadShape, ScriptError> {
    Ok(LoadShape { stages: stages.iter().map(stage).collect::<Result<_, ScriptError>>()? })
}

fn stage(stage: &PaceStage) -> Result<LoadStage, ScriptError> {
    let duration =
        Duration::try_from_secs_f64(nonnegative(&stage.seconds)?).unwrap_or(Duration::MAX);
    Ok(LoadStage {
        from: nonnegative(&stage.from)?,
        to: nonnegative(&stage.to)?,
        duration: Some(duration),
    })
}

fn nonnegative(text: &str) -> Result<f64, ScriptError> {
    let number =
        text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| {
        ScriptError::Scenario(format!("`{text}` is no rate or time; write a number from 0"))
    })
}

impl RatePauseOperation {
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        let context = user.context.as_deref()?;
        let per_minute = number(&user.text(&self.per_minute, turn));
        pause(self.millis_until_turn(context, per_minute, user.now_millis()))
    }

    fn millis_until_turn(&self, context: &UserContext, per_minute: f64, now: f64) -> f64 {
        if per_minute <= 0.0 {
            // A rate of 0 stops the users.
            return MAX_PAUSE_MILLIS;
        }
        let gap = 60_000.0 / per_minute;
        let worker = &context.worker;
        let (users_of_population, all_users) = worker.run_state.active_users();
        // Each process takes its share of the turns of all. The first ones follow each other, too.
        let own_gap = gap * worker.run_state.stride();
        let first = now + gap * worker.run_state.among_processes(0) as f64;
        let population_site = format!("{} {}", self.site, worker.population);
        let user_site = format!("{population_site} {}", context.number);
        match self.by {
            PaceScope::User => worker.shared_state.wait_for_turn(&user_site, now, now, gap),
            PaceScope::ShareOfAll => {
                let gap = own_gap * all_users.max(1) as f64;
                worker.shared_state.wait_for_turn(&user_site, now, now, gap)
            }
            PaceScope::ShareOfPopulation => {
                let gap = own_gap * users_of_population.max(1) as f64;
                worker.shared_state.wait_for_turn(&user_site, now, now, gap)
            }
            PaceScope::All => worker.shared_state.wait_for_turn(&self.site, now, first, own_gap),
            PaceScope::Population => {
                worker.shared_state.wait_for_turn(&population_site, now, first, own_gap)
            }
        }
    }
}

impl FollowRates {
    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>) -> Option<UserStep> {
        let worker = &user.context.as_deref()?.worker;
        let turns = Turns {
            first: worker.run_state.among_processes(0) as f64,
            stride: worker.run_state.stride(),
        };
        let now = user.now_millis();
        let shared_state = &worker.shared_state;
        match shared_state.wait_for_rate(&self.site, now, &self.rates, self.seconds, turns) {
            ScheduledWait::Now => None,
            ScheduledWait::In(millis) => pause(millis),
            ScheduledWait::EndsIn(millis) => {
                // Other users still have a turn. After the pause this operation runs again.
                user.next -= 1;
                pause(millis)
            }
            ScheduledWait::Over => Some(final_step(EndScope::Run)),
        }
    }
}

/// Waits for other users.
#[derive(Debug)]
pub struct Meet {
    /// Number of users; 0: all of the population.
    users: Template,
    /// Maximum wait, in milliseconds; 0: unlimited.
    timeout: Template,
    /// Name of the step, the same for all users.
    site: String,
}

pub fn compile_meeting(
    compiler: &mut Compiler<'_>,
    users: &str,
    timeout: &str,
) -> Result<(), ScriptError> {
    let meet = Meet {
        users: compiler.text(users)?,
        timeout: compiler.text(timeout)?,
        site: compiler.site("meet"),
    };
    compiler.push(Op::Meet(meet));
    Ok(())
}

impl Meet {
    pub fn run<T: Transport>(
        &self,
        user: &mut Interpreter<T>,
        turn: &UserTurn<'_>,
    ) -> Option<UserStep> {
        let context = user.context.as_deref()?;
        let requested = number(&user.text(&self.users, turn)) as u64;
        let users = if requested == 0 { user.script.compiled.users } else { requested };
        let timeout = number(&user.text(&self.timeout, turn));
        let place = format!("{} {}", self.site, context.worker.population);
        let group = context.worker.shared_state.meet(&place, users)?;
        let arrival = async move { group.notified().await };
        let limit = Duration::from_secs_f64(timeout.clamp(0.0, MAX_PAUSE_MILLIS) / 1e3);
        let limit = (!limit.is_zero()).then_some(limit);
        Some(UserStep::Wait(Waiting { limit, ..Waiting::unlimited(arrival) }))
    }
}
