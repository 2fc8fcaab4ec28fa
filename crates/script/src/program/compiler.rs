//! The tree of steps → operations in a row.

mod choices;

use super::{Choice, CompiledCounter, CompiledMaker, CompiledSample, Op, Passing, Test};
use crate::modifier::CompiledModifier;
use crate::pattern::Pattern;
use crate::script_call::ScriptCall;
use crate::template::{Place, Template};
use crate::{Feeds, ScriptError};
use brunt_engine::pace::Cumulative;
use brunt_model::load::{Shape, Stage};
use brunt_model::scenario::{
    Case, Condition, Counter, Manner, Order, PaceStage, Rounds, SampleMaker, Scope, ScriptSample, Share, Step,
    TextRules, Values,
};
use choices::TurnScope;
use std::time::Duration;

/// Where a step stands.
#[derive(Clone, Copy)]
pub struct Context {
    /// How often an iteration comes here, at most.
    pub most: u64,
    /// Whether requests count among those of an iteration.
    pub counts: bool,
}

/// The program as far as it is compiled.
pub struct Compiler<'a> {
    /// The operations.
    pub ops: Vec<Op>,
    /// Slots of a user.
    pub slots: usize,
    /// Those of an iteration.
    pub fresh: Vec<usize>,
    /// Orders of a user.
    pub orders: usize,
    /// How users go through the list where each does so by itself.
    pub walk: Option<Order>,
    feeds: &'a mut Feeds,
    data_files: usize,
    rules: TextRules,
    /// What ends behind its steps, the innermost last.
    open: Vec<Open>,
    /// The innermost is the last.
    loops: Vec<LoopScope>,
    /// The choices around whose branches take turns; the innermost is the last.
    turns: Vec<TurnScope>,
    /// Slots of the loops that end at a time.
    during: Vec<(usize, usize)>,
}

/// What ends behind its steps.
#[derive(Debug, Clone, Copy)]
enum Open {
    Transaction,
    Lock,
}

/// The loop around a step.
#[derive(Default)]
struct LoopScope {
    /// How many things were open before it.
    open: usize,
    /// The slot that must be zero when it is left.
    resets: Option<usize>,
    /// Slots that must be zero when it is left, of what is carried out once in it.
    fresh: Vec<usize>,
    /// Jumps to its next round.
    next: Vec<usize>,
    /// Jumps behind it.
    leave: Vec<usize>,
}

impl<'a> Compiler<'a> {
    /// One that has compiled nothing; the scenario has so many data files, and these rules.
    pub fn new(feeds: &'a mut Feeds, data_files: usize, rules: TextRules) -> Self {
        let (ops, fresh, open, loops) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (turns, during) = (Vec::new(), Vec::new());
        Self { ops, slots: 0, fresh, orders: 0, walk: None, feeds, data_files, rules, open, loops, turns, during }
    }

    /// Compiles steps, one behind the other.
    ///
    /// # Errors
    ///
    /// They do not fit together, or a text is malformed.
    pub fn steps(&mut self, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        steps.iter().enumerate().try_for_each(|(at, step)| match step {
            Step::Script(script) => {
                let request = next_request(&steps[at + 1..]);
                self.ops.push(Op::Script(Box::new(ScriptCall::new(script, self.feeds)?), request));
                Ok(())
            }
            Step::Modify(modifier) => {
                let compiled = CompiledModifier::new(modifier, self.feeds)?;
                // What is no request is left as it is.
                let request = next_request(&steps[at + 1..]);
                self.ops.extend(request.map(|request| Op::Modify(Box::new(compiled), request)));
                Ok(())
            }
            _ => self.step(step, context),
        })
    }

    fn step(&mut self, step: &Step, context: Context) -> Result<(), ScriptError> {
        let counts = context.counts;
        match step {
            Step::Request(number) => {
                self.look_at_time();
                self.ops.push(Op::Request { number: *number, counts });
                self.look_at_end();
            }
            Step::Next(order) => {
                self.look_at_time();
                let walks = matches!(order, Order::Walk | Order::WalkTogether);
                self.walk = self.walk.or(walks.then_some(*order));
                self.ops.push(Op::Next { order: *order, counts });
                self.look_at_end();
            }
            Step::Together { manner, steps } => self.together(*manner, steps, context)?,
            Step::Group { steps, .. } => self.steps(steps, context)?,
            Step::Transaction { name, pauses, parent, steps } => {
                let text = name.contains("${").then(|| self.text(name).map(Box::new)).transpose()?;
                self.ops.push(Op::BeginTransaction(name.as_str().into(), text, *pauses, *parent));
                self.within(Open::Transaction, steps, context)?;
            }
            Step::Loop { times, steps } => self.repeat(times.as_ref(), steps, context)?,
            Step::While { condition, twice: false, steps } => {
                let begin = self.ops.len();
                let test = self.test(condition)?;
                let leave = self.push(Op::Unless(test, 0));
                self.round(steps, context, None, Some(begin))?;
                self.ops.push(Op::Jump(begin));
                self.leave(leave);
            }
            Step::While { condition, twice: true, steps } => self.while_twice(condition, steps, context)?,
            Step::If { condition, then, otherwise } => {
                let test = self.test(condition)?;
                let skip = self.push(Op::Unless(test, 0));
                let remembers = |step: &Step| matches!(step, Step::Once(_) | Step::Choose { .. } | Step::Resumable(_));
                let is_share = matches!(condition, Condition::Share(_));
                let leave = if self.rules == TextRules::Jmeter && !is_share && Step::any(then, &remembers) {
                    self.forgetful(then, context, skip)?
                } else {
                    self.steps(then, context)?;
                    let leave = self.push(Op::Jump(0));
                    self.lands(skip);
                    leave
                };
                self.steps(otherwise, context)?;
                self.lands(leave);
            }
            Step::ForEach { variable, values, steps } => self.for_each(variable, values, steps, context)?,
            Step::Switch { value, cases } => self.switch(value, cases, context)?,
            Step::Shuffle(branches) => self.shuffle(branches, context)?,
            Step::During { seconds, steps } => self.during(seconds, steps, context)?,
            Step::Lock { name, steps } => {
                let name = self.text(name)?;
                self.ops.push(Op::Lock(name));
                self.within(Open::Lock, steps, context)?;
            }
            Step::Choose { order, portion, branches } => self.choose(*order, *portion, branches, context)?,
            Step::Resumable(steps) => self.resumable(steps, context)?,
            Step::Once(steps) => {
                let slot = self.kept_slot();
                self.once(slot, steps)?;
            }
            Step::OncePerLoop(steps) => {
                let slot = self.slot();
                self.loops.iter_mut().next_back().into_iter().for_each(|around| around.fresh.push(slot));
                self.once(slot, steps)?;
            }
            Step::Stop(Scope::Turn) => {
                self.within_turns("`stop: turn`")?;
                self.end_turn();
            }
            Step::Stop(scope @ (Scope::Round | Scope::Loop)) if !self.loops.is_empty() => self.leave_loop(*scope),
            Step::Sample(_) => {
                self.simple(step)?;
                self.look_at_end();
            }
            _ => self.simple(step)?,
        }
        Ok(())
    }

    /// Steps without steps in them.
    fn simple(&mut self, step: &Step) -> Result<(), ScriptError> {
        let op = match step {
            Step::Think(think) => Op::Think(*think),
            Step::Pause(millis) => Op::Pause(self.text(millis)?),
            Step::Pace(pace) => {
                let site = self.site("pace");
                let site = if pace.shared.is_empty() { site } else { format!("pace of {}", pace.shared) };
                if pace.schedule.is_empty() {
                    Op::Pace { per_minute: self.text(&pace.per_minute)?, by: pace.by, site }
                } else {
                    let shape = rates(&pace.schedule)?;
                    let seconds = shape.duration().unwrap_or_default().as_secs_f64();
                    Op::Shape { rates: Cumulative::new(&shape), seconds, site }
                }
            }
            Step::Meet { users, timeout } => {
                Op::Meet { users: self.text(users)?, timeout: self.text(timeout)?, site: self.site("meet") }
            }
            Step::Set { variable, value } => {
                let value = self.text(value)?;
                Op::Set(self.feeds.names.number(variable), value)
            }
            Step::Row(file) if (*file as usize) < self.data_files => Op::Row(*file as usize),
            Step::Row(file) => {
                let files = self.data_files;
                return Err(ScriptError::Scenario(format!("a step reads data file {file}, and there are {files}")));
            }
            Step::CountInTransactions(counted) => Op::CountInTransactions(*counted),
            Step::Count(counter) => Op::Count(Box::new(self.counter(counter)?)),
            Step::Sample(sample) => Op::Sample(Box::new(self.sample(sample)?)),
            // JMeter's thread group is itself a loop.
            Step::Stop(Scope::Loop) if self.rules == TextRules::Jmeter => Op::Stop(Scope::Loop),
            Step::Stop(Scope::Round | Scope::Loop) => Op::Stop(Scope::Iteration),
            Step::Stop(scope) => Op::Stop(*scope),
            _ => return Ok(()),
        };
        self.ops.push(op);
        Ok(())
    }

    fn sample(&mut self, sample: &ScriptSample) -> Result<CompiledSample, ScriptError> {
        let maker = match &sample.maker {
            SampleMaker::Variables => CompiledMaker::Variables,
            SampleMaker::Script(script) => CompiledMaker::Script(Box::new(ScriptCall::new(script, self.feeds)?)),
            SampleMaker::Failure { code, message } => {
                CompiledMaker::Failure { code: self.text(code)?, message: self.text(message)? }
            }
        };
        Ok(CompiledSample { label: self.text(&sample.label)?, maker, policy: sample.reply_policy })
    }

    fn text(&mut self, text: &str) -> Result<Template, ScriptError> {
        Template::compile_expressions(text, Place::Text, self.feeds)
    }

    fn site(&mut self, kind: &str) -> String {
        self.feeds.sites += 1;
        format!("{kind} {}", self.feeds.sites)
    }

    fn counter(&mut self, counter: &Counter) -> Result<CompiledCounter, ScriptError> {
        let Counter { variable, start, step, end, format, per_user, resets } = counter;
        Ok(CompiledCounter {
            variable: self.feeds.names.number(variable),
            start: self.text(start)?,
            step: self.text(step)?,
            end: self.text(end)?,
            format: self.text(format)?,
            per_user: *per_user,
            resets: *resets && *per_user,
            site: self.site("counter"),
        })
    }

    /// Before a request: the loops around it that end at a time are left where it has come.
    fn look_at_time(&mut self) {
        for (slot, scope) in self.during.clone() {
            let look = self.push(Op::WhenOver { slot, end: 0 });
            // What was opened within the loop is ended by the request's next look, behind its own end.
            if self.open.len() == self.loops[scope].open {
                self.loops[scope].leave.push(look);
            } else {
                self.ops.pop();
            }
        }
    }

    /// After a sample: the round or the loop around it is left where the sample ended it.
    fn look_at_end(&mut self) {
        if self.loops.is_empty() {
            return;
        }
        for scope in [Scope::Round, Scope::Loop] {
            let skip = self.push(Op::Unless(Test::Leaves(scope), 0));
            self.leave_loop(scope);
            self.lands(skip);
        }
    }

    fn within(&mut self, open: Open, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        self.open.push(open);
        self.steps(steps, context)?;
        self.open.pop();
        self.ops.push(match open {
            Open::Transaction => Op::EndTransaction,
            Open::Lock => Op::Unlock,
        });
        Ok(())
    }

    /// The steps of a loop; `begin`: where its next round begins, if that is behind it. What jumps behind it lands with `leave`.
    fn round(
        &mut self,
        steps: &[Step],
        context: Context,
        resets: Option<usize>,
        begin: Option<usize>,
    ) -> Result<(), ScriptError> {
        self.loops.push(LoopScope { open: self.open.len(), resets, ..LoopScope::default() });
        self.steps(steps, context)?;
        let here = begin.unwrap_or(self.ops.len());
        let next = self.loops.last_mut().map(|scope| std::mem::take(&mut scope.next)).unwrap_or_default();
        for jump in next {
            self.land(jump, here);
        }
        Ok(())
    }

    /// The loop ends here.
    fn leave(&mut self, first: usize) {
        self.lands(first);
        let LoopScope { leave, fresh, .. } = self.loops.pop().unwrap_or_default();
        for jump in leave {
            self.lands(jump);
        }
        self.ops.extend(fresh.into_iter().map(Op::Reset));
    }

    /// A loop whose condition is looked at once before it, and twice between two rounds: a slot counts the looks that are left.
    fn while_twice(&mut self, condition: &Condition, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        let slot = self.slot();
        self.ops.push(Op::BeginLoop { slot, times: 1, end: 0 });
        let test = self.test(condition)?;
        let look = self.push(Op::Unless(test, 0));
        self.ops.push(Op::EndLoop { slot, begin: look });
        self.round(steps, context, Some(slot), None)?;
        self.ops.push(Op::BeginLoop { slot, times: 2, end: 0 });
        self.ops.push(Op::Jump(look));
        self.leave(look);
        Ok(())
    }

    fn leave_loop(&mut self, scope: Scope) {
        let Some(around) = self.loops.last() else { return };
        let (inner, resets) = (self.open[around.open..].to_vec(), around.resets);
        self.ops.extend(inner.into_iter().rev().map(|open| match open {
            Open::Transaction => Op::BreakTransaction,
            Open::Lock => Op::Unlock,
        }));
        if let (Scope::Loop, Some(slot)) = (scope, resets) {
            self.ops.push(Op::Reset(slot));
        }
        let jump = self.push(Op::Jump(0));
        if let Some(around) = self.loops.last_mut() {
            if scope == Scope::Loop { &mut around.leave } else { &mut around.next }.push(jump);
        }
    }

    fn together(&mut self, manner: Manner, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        if let Some(odd) = steps.iter().find_map(waits) {
            return Err(ScriptError::Scenario(format!(
                "{odd} stands among requests that are sent together; put it before or behind them"
            )));
        }
        let during = std::mem::take(&mut self.during);
        self.ops.push(Op::BeginTogether);
        self.steps(steps, context)?;
        self.ops.push(Op::EndTogether(manner));
        self.look_at_end();
        self.during = during;
        Ok(())
    }

    fn repeat(&mut self, times: Option<&Rounds>, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        let Context { most, counts } = context;
        let slot = self.slot();
        let (enter, rounds) = match times {
            Some(Rounds::Text(text)) => {
                let times = self.text(text)?;
                (self.push(Op::BeginLoopText { slot, times, end: 0 }), 1)
            }
            Some(Rounds::Number(times)) => (self.push(Op::BeginLoop { slot, times: *times, end: 0 }), *times),
            None => (self.push(Op::BeginLoop { slot, times: u64::MAX, end: 0 }), 1),
        };
        self.round(steps, Context { most: most.saturating_mul(rounds), counts }, None, None)?;
        self.ops.push(Op::EndLoop { slot, begin: enter + 1 });
        self.leave(enter);
        Ok(())
    }

    fn for_each(&mut self, name: &str, values: &Values, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        let Context { most, counts } = context;
        let variable = self.feeds.names.number(name);
        let slot = self.slot();
        let (next, rounds) = match values {
            Values::List(values) => {
                (Op::NextValue { slot, variable, values: values.clone(), end: 0 }, values.len() as u64)
            }
            Values::Numbered { prefix, after, last } => {
                let (prefix, after, last) = (self.text(prefix)?, self.text(after)?, self.text(last)?);
                (Op::NextNumbered { slot, variable, prefix, after, last, end: 0 }, 1)
            }
        };
        let next = self.push(next);
        self.round(steps, Context { most: most.saturating_mul(rounds), counts }, Some(slot), Some(next))?;
        self.ops.push(Op::Jump(next));
        self.leave(next);
        Ok(())
    }

    fn during(&mut self, seconds: &str, steps: &[Step], context: Context) -> Result<(), ScriptError> {
        let slot = self.slot();
        let seconds = self.text(seconds)?;
        self.ops.push(Op::BeginDuring { slot, seconds });
        let begin = self.push(Op::WhenOver { slot, end: 0 });
        self.during.push((slot, self.loops.len()));
        self.round(steps, context, None, Some(begin))?;
        self.during.pop();
        self.ops.push(Op::Jump(begin));
        self.leave(begin);
        Ok(())
    }

    fn switch(&mut self, value: &str, cases: &[Case], context: Context) -> Result<(), ScriptError> {
        let value = self.text(value)?;
        let switch = self.push(Op::Switch { value, cases: Vec::new(), end: 0 });
        let (mut begins, mut leaves) = (Vec::new(), Vec::new());
        for case in cases {
            let names = case.names.iter().map(|name| self.text(name)).collect::<Result<_, _>>()?;
            begins.push((names, self.ops.len()));
            self.steps(&case.steps, context)?;
            leaves.push(self.push(Op::Jump(0)));
        }
        if let Op::Switch { cases, .. } = &mut self.ops[switch] {
            *cases = begins;
        }
        for leave in leaves.into_iter().chain([switch]) {
            self.lands(leave);
        }
        Ok(())
    }

    fn shuffle(&mut self, branches: &[Vec<Step>], context: Context) -> Result<(), ScriptError> {
        let (slot, order) = (self.slot(), self.orders);
        self.orders += 1;
        let shuffle = self.push(Op::Shuffle { slot, order, branches: Vec::new(), end: 0 });
        let mut begins = Vec::new();
        for steps in branches {
            begins.push(self.ops.len());
            self.steps(steps, context)?;
            self.ops.push(Op::Jump(shuffle));
        }
        if let Op::Shuffle { branches, .. } = &mut self.ops[shuffle] {
            *branches = begins;
        }
        self.lands(shuffle);
        Ok(())
    }

    fn test(&mut self, condition: &Condition) -> Result<Test, ScriptError> {
        Ok(match condition {
            Condition::Failed => Test::Failed,
            Condition::Succeeded => Test::Succeeded,
            Condition::Status(least, most) => Test::Status(*least, *most),
            Condition::Equals(name, value) => {
                let unknown = || {
                    ScriptError::Scenario(format!("no step before sets the variable `{name}`, and no extractor does"))
                };
                Test::Equals(self.feeds.names.find(name).ok_or_else(unknown)?, value.clone())
            }
            Condition::Same(one, other) => Test::Same(self.text(one)?, self.text(other)?),
            Condition::Any(all) => Test::Any(all.iter().map(|one| self.test(one)).collect::<Result<_, _>>()?),
            Condition::True(text) => Test::True(self.text(text)?),
            Condition::False(text) => Test::False(self.text(text)?),
            Condition::Matches(text, pattern) => {
                let (text, pattern) = (self.text(text)?, self.text(pattern)?);
                let compile = |pattern: &str| Pattern::new(pattern).map_err(ScriptError::Scenario);
                let fixed = pattern.as_constant().map(compile).transpose()?;
                Test::Matches(text, pattern, fixed)
            }
            Condition::Share(Share { value, percent, per_user }) => Test::Share {
                value: self.text(value)?,
                percent: *percent,
                per_user: *per_user,
                site: self.site("share"),
            },
            Condition::Not(other) => Test::Not(Box::new(self.test(other)?)),
        })
    }

    /// A slot of an iteration, or of as many as the steps last that go on in the next.
    fn slot(&mut self) -> usize {
        let slot = self.kept_slot();
        if self.turns.iter().all(|scope| scope.resumable.is_none()) {
            self.fresh.push(slot);
        }
        slot
    }

    /// A slot of a user's whole life.
    fn kept_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// A jump of this operation goes to the next one that is compiled.
    fn lands(&mut self, op: usize) {
        self.land(op, self.ops.len());
    }

    fn land(&mut self, op: usize, here: usize) {
        match &mut self.ops[op] {
            Op::Jump(to)
            | Op::Unless(_, to)
            | Op::BeginLoop { end: to, .. }
            | Op::BeginLoopText { end: to, .. }
            | Op::NextValue { end: to, .. }
            | Op::NextNumbered { end: to, .. }
            | Op::WhenOver { end: to, .. }
            | Op::Switch { end: to, .. }
            | Op::Shuffle { end: to, .. }
            | Op::EndTurn { end: to, .. }
            | Op::Choose(Choice { passing: Some(Passing { end: to, .. }), .. })
            | Op::Once { end: to, .. } => *to = here,
            _ => {}
        }
    }
}

/// A schedule of rates.
fn rates(schedule: &[PaceStage]) -> Result<Shape, ScriptError> {
    let number = |text: &String| {
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| ScriptError::Scenario(format!("`{text}` is no rate or time; write a number from 0")))
    };
    let stage = |stage: &PaceStage| {
        let duration = Duration::try_from_secs_f64(number(&stage.seconds)?).unwrap_or(Duration::MAX);
        Ok(Stage { from: number(&stage.from)?, to: number(&stage.to)?, duration: Some(duration) })
    };
    Ok(Shape { stages: schedule.iter().map(stage).collect::<Result<_, ScriptError>>()? })
}

/// The request behind a step that changes it.
fn next_request(behind: &[Step]) -> Option<u32> {
    let stays = |step: &&Step| {
        matches!(
            step,
            Step::Script(_)
                | Step::Modify(_)
                | Step::Think(_)
                | Step::Pause(_)
                | Step::Pace(_)
                | Step::Meet { .. }
                | Step::Set { .. }
                | Step::Row(_)
                | Step::Count(_)
                | Step::CountInTransactions(_)
        )
    };
    match behind.iter().find(|step| !stays(step)) {
        Some(Step::Request(number)) => Some(*number),
        _ => None,
    }
}

/// What in a step cannot stand among requests that do not wait for each other.
fn waits(step: &Step) -> Option<&'static str> {
    match step {
        Step::Request(_)
        | Step::Next(_)
        | Step::Set { .. }
        | Step::Row(_)
        | Step::Count(_)
        | Step::CountInTransactions(_) => None,
        Step::Loop { times: Some(_), steps } | Step::Group { steps, .. } | Step::ForEach { steps, .. } => {
            steps.iter().find_map(waits)
        }
        Step::Choose { branches, .. } => branches.iter().flat_map(|branch| &branch.steps).find_map(waits),
        Step::Loop { times: None, .. } => Some("a loop without an end"),
        Step::While { .. } | Step::If { .. } | Step::Switch { .. } => Some("a condition"),
        Step::Shuffle(_) => Some("a list in random order"),
        Step::During { .. } => Some("a loop that ends at a time"),
        Step::Lock { .. } => Some("a lock"),
        Step::Together { .. } => Some("a step of the same kind"),
        Step::Transaction { .. } => Some("a transaction"),
        Step::Think(_) | Step::Pause(_) | Step::Pace(_) | Step::Meet { .. } => Some("a pause"),
        Step::Script(_) | Step::Sample(_) => Some("a script"),
        Step::Modify(_) => Some("a change of a request"),
        Step::Resumable(_) => Some("a step that takes turns"),
        Step::Once(_) | Step::OncePerLoop(_) => Some("a step that is carried out once"),
        Step::Stop(_) => Some("a stop"),
    }
}
