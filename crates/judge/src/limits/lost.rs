//! Rule for agents and processes that were lost during the load. Their share of it is missing from then on, so
//! the server received less than the plan states.
//!
//! The share is one of the planned load, not of the measured time, which ends with the last part.

use crate::facts::RunFacts;
use crate::fleet::{ALL_NAMED, AgentOfRun, SOME_NAMED, names_text};
use crate::texts::message;
use brunt_model::finding::{
    FigureEvidence, LimitingResource, OtherCause, State, ThresholdSide, UseOrigin,
};
use brunt_model::numbers::{short_percent, short_seconds};
use brunt_model::text::Value;
use brunt_model::{ProcessPart, ProcessShares, Run, Text, Tick, Verdict};
use std::time::Duration;

/// Missing share of the planned load above which the figures describe another load than the
/// planned one.
const MOST_MISSING: f64 = 0.5;

/// The agents or processes that were lost before the end of the load.
pub(super) struct LostParts<'a> {
    run: &'a Run,
    /// In the order of the losses.
    losses: Vec<PartLoss>,
    /// Planned length of the measured time, or the measured one if it is longer or not planned.
    time: Duration,
}

struct PartLoss {
    part: ProcessPart,
    /// Time from the start of the measured time to the loss; zero if it was lost before.
    after: Duration,
    /// Measured time that it missed.
    missed: Duration,
    /// True if another process took its place before the end of the load.
    is_replaced: bool,
}

impl<'a> LostParts<'a> {
    pub fn of(facts: &RunFacts<'a>) -> Self {
        let run = facts.run;
        let end = planned_end(facts).unwrap_or(facts.ends()).max(facts.ends());
        let is_of_number = requested_number(run).is_some();
        let mut losses = Vec::new();
        for loss in &run.losses {
            // In the grace period a part has done its share. All parts of a number may be lost at its end.
            if loss.at > end || (loss.at == end && !is_of_number) {
                continue;
            }
            let from = loss.at.max(facts.begins());
            let until = loss.until.min(end).max(from);
            losses.push(PartLoss {
                part: loss.part,
                after: from - facts.begins(),
                missed: until - from,
                is_replaced: loss.until < end,
            });
        }
        losses.sort_by_key(|loss| loss.after);
        Self { run, losses, time: end - facts.begins() }
    }

    /// Returns the verdict with these losses.
    pub fn add_to(&self, verdict: Verdict) -> Verdict {
        let mut verdict = verdict;
        if !self.run.agents.is_empty() || !self.losses.is_empty() {
            verdict.evidence.push(self.evidence());
        }
        let Some(cause) = self.cause() else { return verdict };
        let is_most = self.missing_share() > MOST_MISSING;
        let state = if is_most { State::Invalid } else { State::Limited };
        // Without a cause, the replies of the remaining load were judged.
        verdict.state = if verdict.causes.is_empty() { state } else { verdict.state.max(state) };
        // The load is more important than the disturbances of its agents.
        verdict.causes.insert(0, cause);
        for number in self.numbers() {
            if let Some(state) = verdict.agents.get_mut(number as usize) {
                *state = (*state).max(State::Limited);
            }
        }
        verdict
    }

    /// Missing share of the planned load: Σ share of each × missed time ÷ planned time, or the share of the planned
    /// requests that were not begun, if that is more.
    pub fn missing_share(&self) -> f64 {
        let Some(plan) = self.run.plan.as_ref().filter(|_| !self.losses.is_empty()) else {
            return 0.0;
        };
        let groups = self.run.environment.groups();
        let mut missed = 0.0;
        for loss in &self.losses {
            let shares = ProcessShares::of(plan, loss.part.number, &groups);
            missed += shares.of_load() * loss.missed.as_secs_f64();
        }
        let of_time = missed / self.time.as_secs_f64();
        let of_requests = requested_number(self.run).map_or(0.0, |requested| {
            1.0 - (self.run.total.begun as f64 / requested as f64).min(1.0)
        });
        of_time.max(of_requests)
    }

    /// Numbers of the parts, from 0, in the order of their first losses.
    fn numbers(&self) -> Vec<u32> {
        let mut numbers = Vec::new();
        for loss in &self.losses {
            if !numbers.contains(&loss.part.number) {
                numbers.push(loss.part.number);
            }
        }
        numbers
    }

    /// Names the parts in a sentence.
    fn names_text(&self) -> Text {
        let mut numbers = self.numbers();
        if self.run.agents.is_empty() {
            numbers.sort_unstable();
            let total = self.losses.first().map_or(0, |loss| loss.part.count);
            return processes_text(&numbers, total);
        }
        let agents: Vec<AgentOfRun> = AgentOfRun::all(self.run).collect();
        let agents = numbers.iter().filter_map(|number| agents.get(*number as usize));
        names_text(&agents.map(|agent| agent.name()).collect::<Vec<_>>())
    }

    /// Returns the losses as a cause; None if there were none.
    fn cause(&self) -> Option<OtherCause> {
        let first = self.losses.first()?;
        let sentence = message!(
            "limit-agent",
            count = self.numbers().len(),
            agents = self.names_text(),
            span = first.span_text(),
            share = short_percent(self.missing_share())
        );
        Some(OtherCause {
            limit: LimitingResource::Agent,
            origin: UseOrigin::Generator,
            lasted: first.missed,
            sentence,
            remedy: message!("limit-agent.remedy"),
        })
    }

    /// Returns the number of lost parts as evidence.
    fn evidence(&self) -> FigureEvidence {
        let name = if self.run.agents.is_empty() {
            "processes lost before the end of the load"
        } else {
            "agents lost before the end of the load"
        };
        FigureEvidence {
            limit: LimitingResource::Agent,
            name: name.to_owned(),
            value: self.numbers().len() as f64,
            threshold: 1.0,
            side: ThresholdSide::AtLeast,
        }
    }
}

/// Names processes in a sentence: `process 2 of 4`, `processes 2 and 3 of 4`, `processes 2, 3 and 9 more of 16`.
fn processes_text(numbers: &[u32], total: u32) -> Text {
    let mut names: Vec<Text> =
        numbers.iter().map(|number| (number + 1).to_string().into()).collect();
    let count = names.len();
    if count > ALL_NAMED {
        names.truncate(SOME_NAMED);
        names.push(message!("lost-processes.others", others = count - SOME_NAMED));
    }
    message!("lost-processes", count, names = Value::List(names), total = total.to_string())
}

/// Number of requests that was to end the run. None if its time or the user ended it.
fn requested_number(run: &Run) -> Option<u64> {
    let stop = run.plan.as_ref()?.stop();
    stop.requests.filter(|_| stop.duration.is_none() && !run.is_interrupted())
}

/// Planned end of the measured time. None if a number or the user ended it.
fn planned_end(facts: &RunFacts) -> Option<Tick> {
    let plan = facts.run.plan.as_ref()?;
    let stop = plan.stop();
    let is_of_number = stop.requests.is_some() || stop.iterations_per_user.is_some();
    if is_of_number || facts.run.is_interrupted() {
        return None;
    }
    Some(facts.begins() + plan.requested_time()?)
}

impl PartLoss {
    /// Part of the run in which its share is missing.
    fn span_text(&self) -> Text {
        let from = short_seconds(self.after);
        if !self.is_replaced {
            message!("limit-agent.to-the-end", from)
        } else if self.missed.is_zero() {
            message!("limit-agent.in-warm-up")
        } else {
            message!("limit-agent.in-between", from, to = short_seconds(self.after + self.missed))
        }
    }
}
