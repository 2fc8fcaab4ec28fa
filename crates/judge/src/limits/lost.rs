//! Rule for agents that were lost during the load. Their share of it is missing from then on, so
//! the server received less than the plan states.

use crate::facts::RunFacts;
use crate::fleet::{AgentOfRun, names_text};
use crate::texts::message;
use brunt_model::Text;
use brunt_model::finding::{
    FigureEvidence, LimitingResource, OtherCause, State, ThresholdSide, UseOrigin,
};
use brunt_model::numbers::{short_percent, short_seconds};
use std::time::Duration;

/// Missing share of the planned load above which the figures describe another load than the
/// planned one.
const MOST_MISSING: f64 = 0.5;

/// The agents that were lost before the end of the load.
pub(super) struct LostAgents<'a> {
    /// In the order of their losses.
    losses: Vec<AgentLoss<'a>>,
    measured: Duration,
}

struct AgentLoss<'a> {
    agent: AgentOfRun<'a>,
    /// Time from the start of the measured time to the loss; zero if it was lost before.
    after: Duration,
    /// Measured time that it missed.
    missed: Duration,
    /// True if another process took its place before the end of the load.
    is_replaced: bool,
}

impl<'a> LostAgents<'a> {
    pub fn of(facts: &RunFacts<'a>) -> Self {
        let end = facts.ends();
        let mut losses = Vec::new();
        for agent in AgentOfRun::all(facts.run) {
            let losses_of_agent =
                facts.run.losses.iter().filter(|loss| loss.part.number as usize == agent.number);
            // In the grace period it had done its share.
            for loss in losses_of_agent.filter(|loss| loss.at < end) {
                let from = loss.at.max(facts.begins());
                let until = loss.until.min(end).max(from);
                losses.push(AgentLoss {
                    agent,
                    after: from - facts.begins(),
                    missed: until - from,
                    is_replaced: loss.until < end,
                });
            }
        }
        losses.sort_by_key(|loss| loss.after);
        Self { losses, measured: facts.measured() }
    }

    pub fn contains(&self, agent: AgentOfRun) -> bool {
        self.losses.iter().any(|loss| loss.agent.number == agent.number)
    }

    /// Names of the agents, in the order of their first losses.
    fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for loss in &self.losses {
            if !names.contains(&loss.agent.name()) {
                names.push(loss.agent.name());
            }
        }
        names
    }

    /// Missing share of the planned load: Σ share of each × missed time ÷ measured time.
    fn missing_share(&self) -> f64 {
        let missed = self.losses.iter().map(|loss| {
            let share = loss.agent.shares().map_or(1.0, |shares| shares.of_load());
            share * loss.missed.as_secs_f64()
        });
        missed.sum::<f64>() / self.measured.as_secs_f64()
    }

    /// Returns the state that the losses give the run; None if there were none.
    pub fn state(&self) -> Option<State> {
        if self.losses.is_empty() {
            return None;
        }
        let is_most = self.missing_share() > MOST_MISSING;
        Some(if is_most { State::Invalid } else { State::Limited })
    }

    /// Returns the losses as a cause; None if there were none.
    pub fn cause(&self) -> Option<OtherCause> {
        let first = self.losses.first()?;
        let names = self.names();
        let sentence = message!(
            "limit-agent",
            count = names.len(),
            agents = names_text(&names),
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

    /// Returns the number of lost agents as evidence.
    pub fn evidence(&self) -> FigureEvidence {
        FigureEvidence {
            limit: LimitingResource::Agent,
            name: "agents lost before the end of the load".to_owned(),
            value: self.names().len() as f64,
            threshold: 1.0,
            side: ThresholdSide::AtLeast,
        }
    }
}

impl AgentLoss<'_> {
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
