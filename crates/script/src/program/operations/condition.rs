//! Conditions, and steps that run if or while a condition holds.

use super::jump::{Jump, Reset};
use super::once::Once;
use super::pause::number;
use super::repeat::{BeginLoop, EndLoop};
use super::{InternalOp, StepFacts};
use crate::ScriptError;
use crate::program::compiler::{Compiler, StepPosition};
use crate::program::user::interpreter::Interpreter;
use crate::texts::pattern::Pattern;
use crate::texts::template::Template;
use brunt_engine::UserTurn;
use brunt_model::scenario::{Condition, ConditionShare, ScenarioStep};
use brunt_wire::Transport;

/// Jumps if a condition does not hold.
#[derive(Debug)]
pub struct Unless {
    test: Test,
    pub end: usize,
}

/// A [`Condition`] with compiled texts.
#[derive(Debug)]
enum Test {
    Failed,
    Succeeded,
    /// The smallest and the greatest status.
    Status(u16, u16),
    /// The number of a variable, and a value.
    Equals(usize, String),
    Same(Template, Template),
    Any(Vec<Test>),
    True(Template),
    False(Template),
    Matches(Matches),
    Share(PassedShare),
    Not(Box<Test>),
}

/// Compares a text with a regular expression.
#[derive(Debug)]
struct Matches {
    text: Template,
    pattern: Template,
    /// The pattern, if it is constant.
    compiled: Option<Pattern>,
}

/// A condition that holds for a share of its evaluations.
#[derive(Debug)]
struct PassedShare {
    /// Percent, or a number of evaluations.
    value: Template,
    percent: bool,
    per_user: bool,
    /// The name of the condition, the same for all users.
    site: String,
}

pub fn facts(then: &[ScenarioStep], otherwise: &[ScenarioStep]) -> StepFacts<'static> {
    // Only one of the two lists runs.
    let requests = StepFacts::of_all(then).requests.max(StepFacts::of_all(otherwise).requests);
    StepFacts::new(requests, Some("a condition"))
}

pub fn compile(
    compiler: &mut Compiler<'_>,
    condition: &Condition,
    then: &[ScenarioStep],
    otherwise: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    // The jump over `then` if the condition does not hold.
    let skip = Unless::compile(compiler, condition)?;
    let is_share = matches!(condition, Condition::Share(_));
    let forgets = compiler.feeds.dialect.forgets_within_conditions() && !is_share;
    let leave = if forgets
        && ScenarioStep::any(then, &|step: &ScenarioStep| StepFacts::of_step(step).has_memory)
    {
        compile_forgetful(compiler, then, position, skip)?
    } else {
        compiler.steps(then, position)?;
        // The caller sets the target.
        let leave = compiler.push(Jump::to(0));
        compiler.land(skip);
        leave
    };
    compiler.steps(otherwise, position)?;
    compiler.land(leave);
    Ok(())
}

/// Compiles the steps of JMeter's If Controller. Its inner controllers lose their position if its
/// condition does not hold, or if the steps were not completed. `skip` is the jump over the steps.
/// It lands on the operations that clear the positions. Returns the jump after that.
fn compile_forgetful(
    compiler: &mut Compiler<'_>,
    steps: &[ScenarioStep],
    position: StepPosition,
    skip: usize,
) -> Result<usize, ScriptError> {
    let is_within = compiler.lasting_slot();
    // The slot is not zero while steps of an earlier iteration are not completed.
    let is_first = compiler.push(Once::skipping(is_within));
    let begin = compiler.push(BeginLoop::op(is_within, 1));
    let first = compiler.slots;
    compiler.steps(steps, position)?;
    compiler.push(Reset::slot(is_within));
    let leave = compiler.push(Jump::to(0));
    let inner_slots = first..compiler.slots;
    compiler.land(is_first);
    compiler.ops.extend(inner_slots.clone().map(Reset::slot));
    compiler.push(Jump::to(begin));
    compiler.land(skip);
    compiler.ops.extend(inner_slots.chain([is_within]).map(Reset::slot));
    Ok(leave)
}

impl Unless {
    /// Compiles a condition, and returns the number of the jump.
    /// [`Compiler::land`] sets its target.
    pub fn compile(
        compiler: &mut Compiler<'_>,
        condition: &Condition,
    ) -> Result<usize, ScriptError> {
        let test = Test::compile(compiler, condition)?;
        Ok(compiler.push(InternalOp::Unless(Self { test, end: 0 })))
    }

    pub fn run<T: Transport>(&self, user: &mut Interpreter<T>, turn: &UserTurn<'_>) {
        if !self.test.holds(user, turn) {
            user.next = self.end;
        }
    }
}

impl Test {
    fn compile(compiler: &mut Compiler<'_>, condition: &Condition) -> Result<Self, ScriptError> {
        Ok(match condition {
            Condition::Failed => Self::Failed,
            Condition::Succeeded => Self::Succeeded,
            Condition::Status(least, most) => Self::Status(*least, *most),
            Condition::Equals(name, value) => {
                let variable = compiler.feeds.names.find(name).ok_or_else(|| {
                    ScriptError::Scenario(format!(
                        "no step before sets the variable `{name}`, and no extractor does"
                    ))
                })?;
                Self::Equals(variable, value.clone())
            }
            Condition::Same(one, other) => Self::Same(compiler.text(one)?, compiler.text(other)?),
            Condition::Any(all) => Self::Any(
                all.iter().map(|one| Self::compile(compiler, one)).collect::<Result<_, _>>()?,
            ),
            Condition::True(text) => Self::True(compiler.text(text)?),
            Condition::False(text) => Self::False(compiler.text(text)?),
            Condition::Matches(text, pattern) => {
                Self::Matches(Matches::compile(compiler, text, pattern)?)
            }
            Condition::Share(ConditionShare { value, percent, per_user }) => {
                Self::Share(PassedShare {
                    value: compiler.text(value)?,
                    percent: *percent,
                    per_user: *per_user,
                    site: compiler.site("share"),
                })
            }
            Condition::Not(other) => Self::Not(Box::new(Self::compile(compiler, other)?)),
        })
    }

    fn holds<T: Transport>(&self, user: &Interpreter<T>, turn: &UserTurn<'_>) -> bool {
        match self {
            Self::Failed => user.failed_sample.unwrap_or(turn.failed),
            Self::Succeeded => !user.failed_sample.unwrap_or(turn.failed),
            Self::Status(least, most) => {
                turn.last.is_some_and(|reply| (*least..=*most).contains(&reply.status))
            }
            Self::Equals(variable, value) => user.context.as_ref().is_some_and(|context| {
                context.variables.borrow().slot(*variable).unwrap_or_default() == value
            }),
            Self::Same(one, other) => user.text(one, turn) == user.text(other, turn),
            Self::Any(all) => all.iter().any(|test| test.holds(user, turn)),
            Self::True(text) => user.text(text, turn).trim().eq_ignore_ascii_case("true"),
            Self::False(text) => user.text(text, turn).trim().eq_ignore_ascii_case("false"),
            Self::Matches(matches) => matches.holds(user, turn),
            Self::Share(share) => share.holds(user, turn),
            Self::Not(other) => !other.holds(user, turn),
        }
    }
}

impl Matches {
    fn compile(
        compiler: &mut Compiler<'_>,
        text: &str,
        pattern: &str,
    ) -> Result<Self, ScriptError> {
        let text = compiler.text(text)?;
        let pattern = compiler.text(pattern)?;
        let constant = pattern.as_constant().map(Pattern::new);
        let compiled = constant.transpose().map_err(ScriptError::Scenario)?;
        Ok(Self { text, pattern, compiled })
    }

    fn holds<T: Transport>(&self, user: &Interpreter<T>, turn: &UserTurn<'_>) -> bool {
        let text = user.text(&self.text, turn);
        match &self.compiled {
            Some(pattern) => pattern.is_found(&text),
            // A pattern that is malformed with its values matches nothing.
            None => Pattern::new(&user.text(&self.pattern, turn))
                .is_ok_and(|pattern| pattern.is_found(&text)),
        }
    }
}

impl PassedShare {
    fn holds<T: Transport>(&self, user: &Interpreter<T>, turn: &UserTurn<'_>) -> bool {
        let Some(context) = &user.context else { return false };
        let value = number(&user.text(&self.value, turn));
        let passed = if self.per_user {
            context.count(&self.site)
        } else {
            context.worker.count(&self.site)
        };
        // A percentage holds each time that the rounded share grows.
        if self.percent {
            share_of(passed + 1, value) > share_of(passed, value)
        } else {
            (passed as f64) < value
        }
    }
}

/// Returns a percentage of a number, rounded. A half is rounded down, as in JMeter.
fn share_of(number: u64, percent: f64) -> f64 {
    (number as f64 * percent / 100.0 - 0.5).ceil()
}

pub fn while_facts(steps: &[ScenarioStep]) -> StepFacts<'static> {
    StepFacts::new(StepFacts::of_all(steps).requests, Some("a condition"))
}

pub fn compile_while(
    compiler: &mut Compiler<'_>,
    condition: &Condition,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let begin = compiler.ops.len();
    let leave = Unless::compile(compiler, condition)?;
    compiler.round(steps, position, None, Some(begin))?;
    compiler.push(Jump::to(begin));
    compiler.leave(leave);
    Ok(())
}

/// Compiles a loop with a condition that is evaluated once before it, and twice between two rounds.
/// A slot counts the remaining evaluations.
pub fn compile_while_twice(
    compiler: &mut Compiler<'_>,
    condition: &Condition,
    steps: &[ScenarioStep],
    position: StepPosition,
) -> Result<(), ScriptError> {
    let slot = compiler.slot();
    compiler.push(BeginLoop::op(slot, 1));
    let leave = Unless::compile(compiler, condition)?;
    compiler.push(EndLoop::op(slot, leave));
    compiler.round(steps, position, Some(slot), None)?;
    compiler.push(BeginLoop::op(slot, 2));
    compiler.push(Jump::to(leave));
    compiler.leave(leave);
    Ok(())
}
