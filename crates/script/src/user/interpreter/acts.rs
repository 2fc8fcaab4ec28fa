//! Operations that make texts: variables, counters, loops and cases by texts, waiting.

use super::{Interpreter, count, stop};
use crate::context::{Turns, UserContext};
use crate::functions::padded;
use crate::modifier::CompiledModifier;
use crate::pattern::Pattern;
use crate::pending::PendingRequest;
use crate::program::{CompiledCounter, Op, Test};
use crate::script_call::ScriptCall;
use crate::scripts::{Sampler, ScriptView};
use crate::template::Template;
use brunt_engine::{Step, Turn, Waiting};
use brunt_model::scenario::{PaceOf, Scope};
use brunt_wire::Transport;
use rand::seq::SliceRandom;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A pause is no longer.
const LONGEST_PAUSE_MILLIS: f64 = 1e11;

impl<T: Transport> Interpreter<T> {
    /// What is about texts, and where the program goes on.
    pub(super) fn act(&mut self, op: &Op, turn: &Turn<'_>) {
        match op {
            Op::BeginLoopText { slot, times, end } => {
                let times = self.text(times, turn).trim().parse::<i64>().unwrap_or(0);
                self.slots[*slot] = u64::try_from(times).unwrap_or(u64::MAX);
                self.next = if times == 0 { *end } else { self.next };
            }
            Op::NextNumbered { .. } => self.next_numbered(op, turn),
            Op::BeginDuring { slot, seconds } => {
                let millis = number(self.text(seconds, turn).trim()) * 1e3;
                self.slots[*slot] = (self.now_millis() + millis.clamp(0.0, LONGEST_PAUSE_MILLIS)) as u64;
            }
            Op::WhenOver { slot, end } => {
                self.next = if self.now_millis() >= self.slots[*slot] as f64 { *end } else { self.next };
            }
            Op::Switch { value, cases, end } => {
                let value = self.text(value, turn);
                let named = |names: &[_]| names.iter().any(|name| self.text(name, turn).trim() == value.trim());
                let found = cases.iter().find(|(names, _)| named(names));
                // JMeter takes the first where there is no such number.
                let is_number = self.script.compiled.is_jmeter() && value.trim().parse::<i64>().is_ok();
                let found = found.or_else(|| cases.first().filter(|_| is_number));
                let found = found.or_else(|| cases.iter().find(|(names, _)| names.is_empty()));
                self.next = found.map_or(*end, |(_, begin)| *begin);
            }
            Op::Shuffle { slot, order, branches, end } => {
                let at = count(&mut self.slots[*slot]) as usize;
                let drawn = &mut self.orders[*order];
                if at == 0 {
                    *drawn = (0..branches.len()).collect();
                    drawn.shuffle(&mut *self.script.context.random.borrow_mut());
                }
                if let Some(branch) = drawn.get(at) {
                    self.next = branches[*branch];
                } else {
                    (self.slots[*slot], self.next) = (0, *end);
                }
            }
            Op::Set(variable, value) => {
                let value = self.text(value, turn);
                self.set(*variable, &value);
            }
            Op::Count(counter) => self.count(counter, turn),
            Op::Unlock => {
                let _ = self.user.as_ref().and_then(|user| user.locks.borrow_mut().pop());
            }
            Op::Reset(slot) => self.slots[*slot] = 0,
            _ => {}
        }
    }

    /// Runs a script between requests; the step that it comes to, where it is one.
    pub(super) fn script(&mut self, script: &ScriptCall, request: Option<u32>, turn: &Turn<'_>) -> Option<Step> {
        let user = self.user.as_deref()?;
        // A script that does not look at the request leaves it as steps before it have made it.
        let (mut pending, unchanged) = match (request, self.pending.take()) {
            (Some(request), Some(earlier)) if earlier.0 == request => (Some(earlier), None),
            (Some(request), earlier) => (Some(Box::new((request, PendingRequest::default()))), earlier),
            (None, earlier) => (None, earlier),
        };
        let number = self.script.compiled.program.first_request(turn.number) + self.asked;
        let texts = request.map(|request| self.script.entry(request as usize, number, Some(user)));
        let sampler = pending.as_mut().zip(texts.as_ref());
        let view = ScriptView::before(sampler.map(|(pending, texts)| Sampler { pending: &mut pending.1, texts }));
        let ran = script.run(user, view, |template| self.text(template, turn));
        self.pending = pending.filter(|pending| pending.1.was_read()).or(unchanged);
        match ran {
            Ok(outcome) if outcome.stop != Scope::Nothing => Some(stop(outcome.stop)),
            Ok(outcome) => pause(outcome.pause as f64),
            Err(why) if script.is_forgiving => {
                self.user.iter().for_each(|user| user.trace(|tracing| tracing.note(&why)));
                None
            }
            Err(why) => Some(Step::Broken(why)),
        }
    }

    /// Changes the request of this number before it is sent.
    pub(super) fn modify(&mut self, modifier: &CompiledModifier, request: u32, turn: &Turn<'_>) {
        let Some(user) = self.user.as_deref() else { return };
        let taken = self.pending.take().filter(|pending| pending.0 == request);
        let mut pending = taken.unwrap_or_else(|| Box::new((request, PendingRequest::default())));
        let number = self.script.compiled.program.first_request(turn.number) + self.asked;
        let texts = self.script.entry(request as usize, number, Some(user));
        let fill = |template: &Template| self.text(template, turn);
        modifier.apply(user, Sampler { pending: &mut pending.1, texts: &texts }, fill);
        self.pending = Some(pending);
    }

    fn set(&self, variable: usize, value: &str) {
        if let Some(user) = &self.user {
            user.variables.borrow_mut().set_slot(variable, value);
        }
    }

    fn now_millis(&self) -> f64 {
        self.script.context.surroundings.unix_millis() as f64
    }

    fn next_numbered(&mut self, op: &Op, turn: &Turn<'_>) {
        let Op::NextNumbered { slot, variable, prefix, after, last, end } = op else { return };
        let whole = |text: String| text.trim().parse::<u64>().ok();
        let at = whole(self.text(after, turn)).unwrap_or(0) + count(&mut self.slots[*slot]) + 1;
        let is_behind = whole(self.text(last, turn)).is_some_and(|last| at > last);
        let name = format!("{}{at}", self.text(prefix, turn));
        let value = self.user.as_ref().and_then(|user| user.variables.borrow().get(&name).map(str::to_owned));
        if let Some(value) = value.filter(|_| !is_behind) {
            self.set(*variable, &value);
        } else {
            (self.slots[*slot], self.next) = (0, *end);
        }
    }

    fn count(&mut self, counter: &CompiledCounter, turn: &Turn<'_>) {
        let Some(user) = &self.user else { return };
        let whole = |text: String| text.trim().parse::<i64>().ok();
        let start = whole(self.text(&counter.start, turn)).unwrap_or(0);
        let step = whole(self.text(&counter.step, turn)).unwrap_or(1);
        let before = match (counter.per_user, counter.resets) {
            (false, _) => user.worker.count(&counter.site),
            (true, false) => user.count(&counter.site),
            (true, true) => user.count(&format!("{} {}", counter.site, turn.number)),
        };
        let end = whole(self.text(&counter.end, turn)).filter(|end| *end >= start && step > 0);
        let round = end.map_or(u64::MAX, |end| ((end - start) / step + 1) as u64);
        let value = start.wrapping_add((before % round) as i64 * step);
        let format = self.text(&counter.format, turn);
        self.set(counter.variable, &padded(value, &format));
    }

    /// Whether a share or expression lets the user pass.
    pub(super) fn passes(&self, test: &Test, turn: &Turn<'_>) -> bool {
        match test {
            Test::Matches(text, pattern, fixed) => {
                let text = self.text(text, turn);
                match fixed {
                    Some(fixed) => fixed.is_found(&text),
                    None => Pattern::new(&self.text(pattern, turn)).is_ok_and(|pattern| pattern.is_found(&text)),
                }
            }
            Test::Share { value, percent, per_user, site } => {
                let Some(user) = &self.user else { return false };
                let value = number(self.text(value, turn).trim());
                let count = |name: String| {
                    if *per_user { user.count(&name) } else { user.worker.count(&name) }
                };
                let passed = count(site.clone());
                // Of so many before and this one, so many percent, rounded; a half is rounded down, as JMeter does.
                let wanted = |n: u64| (n as f64 * value / 100.0 - 0.5).ceil();
                if *percent { wanted(passed + 1) > wanted(passed) } else { (passed as f64) < value }
            }
            _ => false,
        }
    }

    /// The step of an operation that waits; None: there is nothing to wait for.
    pub(super) fn wait(&mut self, op: &Op, turn: &Turn<'_>) -> Option<Step> {
        let user = self.user.as_deref()?;
        match op {
            Op::Pause(millis) => pause(number(self.text(millis, turn).trim())),
            Op::Pace { per_minute, by, site } => {
                let per_minute = number(self.text(per_minute, turn).trim());
                pause(self.turn_of(user, (*by, site), per_minute))
            }
            Op::Shape { rates, seconds, site } => {
                match user.worker.commons.wait_for_rate(site, self.now_millis(), (rates, *seconds)) {
                    Turns::Now => None,
                    Turns::In(millis) => pause(millis),
                    Turns::EndsIn(millis) => {
                        // Others still have a turn. Then it looks once more.
                        self.next -= 1;
                        pause(millis)
                    }
                    Turns::Over => Some(stop(Scope::Run)),
                }
            }
            Op::Lock(name) => {
                let (lock, locks) = (user.worker.commons.lock(&self.text(name, turn)), Rc::clone(&user.locks));
                let is_own = locks.borrow().iter().flatten().any(|own| Arc::ptr_eq(own.semaphore(), &lock));
                if is_own {
                    locks.borrow_mut().push(None);
                    return None;
                }
                if let Ok(taken) = Arc::clone(&lock).try_acquire_owned() {
                    locks.borrow_mut().push(Some(taken));
                    return None;
                }
                Some(Step::Wait(Waiting::for_ever(async move {
                    if let Ok(taken) = lock.acquire_owned().await {
                        locks.borrow_mut().push(Some(taken));
                    }
                })))
            }
            Op::Meet { users, timeout, site } => {
                let wanted = number(self.text(users, turn).trim()) as u64;
                let wanted = if wanted == 0 { self.script.compiled.users } else { wanted };
                let timeout = number(self.text(timeout, turn).trim());
                let place = format!("{site} {}", user.worker.population);
                let together = user.worker.commons.meet(&place, wanted)?;
                let met = async move { together.notified().await };
                let limit = Duration::from_secs_f64(timeout.clamp(0.0, LONGEST_PAUSE_MILLIS) / 1e3);
                let limit = (!limit.is_zero()).then_some(limit);
                Some(Step::Wait(Waiting { limit, ..Waiting::for_ever(met) }))
            }
            _ => None,
        }
    }

    /// Milliseconds until a user may pass a place whose rate per minute is limited.
    fn turn_of(&self, user: &UserContext, (by, site): (PaceOf, &str), per_minute: f64) -> f64 {
        if per_minute <= 0.0 {
            return LONGEST_PAUSE_MILLIS;
        }
        let gap = 60_000.0 / per_minute;
        let (of_population, all) = user.worker.surroundings.users_there();
        let alone = |gap: f64| {
            let place = format!("{site} {} {}", user.worker.population, user.number);
            user.worker.commons.wait_for_turn(&place, self.now_millis(), gap)
        };
        match by {
            PaceOf::User => alone(gap),
            PaceOf::ShareOfAll => alone(gap * all.max(1) as f64),
            PaceOf::ShareOfPopulation => alone(gap * of_population.max(1) as f64),
            PaceOf::All => user.worker.commons.wait_for_turn(site, self.now_millis(), gap),
            PaceOf::Population => {
                let place = format!("{site} {}", user.worker.population);
                user.worker.commons.wait_for_turn(&place, self.now_millis(), gap)
            }
        }
    }
}

fn number(text: &str) -> f64 {
    text.parse().ok().filter(|number: &f64| number.is_finite()).unwrap_or(0.0)
}

fn pause(millis: f64) -> Option<Step> {
    (millis > 0.0).then(|| Step::Think(Duration::from_secs_f64(millis.min(LONGEST_PAUSE_MILLIS) / 1e3)))
}
