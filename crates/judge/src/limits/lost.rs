//! Rule for agents that were lost during the load. Their share of it is missing from then on, so
//! the server received less than the plan states.

use crate::facts::RunFacts;
use crate::fleet::{AgentOfRun, names_text};
use brunt_model::Tick;
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
}

impl<'a> LostAgents<'a> {
    pub fn of(facts: &RunFacts<'a>) -> Self {
        let end = facts.ends();
        let mut losses = Vec::new();
        for agent in AgentOfRun::all(facts.run) {
            let losses_of_agent =
                facts.run.losses.iter().filter(|loss| loss.part.number as usize == agent.number);
            let at: Option<Tick> = losses_of_agent.map(|loss| loss.at).min();
            // In the grace period it had done its share.
            let Some(at) = at.filter(|at| *at < end) else { continue };
            let from = at.max(facts.begins());
            losses.push(AgentLoss { agent, after: from - facts.begins(), missed: end - from });
        }
        losses.sort_by_key(|loss| loss.after);
        Self { losses, measured: facts.measured() }
    }

    pub fn contains(&self, agent: AgentOfRun) -> bool {
        self.losses.iter().any(|loss| loss.agent.number == agent.number)
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
        let names: Vec<&str> = self.losses.iter().map(|loss| loss.agent.name()).collect();
        let (verb, share) = match names.len() {
            1 => ("was", "its share is missing"),
            _ => ("were", "their shares are missing, the first one"),
        };
        let sentence = format!(
            "{} {verb} lost: {share} from {} of the measured time on, {} of the planned load",
            names_text(&names),
            short_seconds(first.after),
            short_percent(self.missing_share())
        );
        Some(OtherCause {
            limit: LimitingResource::Agent,
            origin: UseOrigin::Generator,
            lasted: first.missed,
            sentence,
            remedy: "see the warning for the reason of the loss, and measure again".to_owned(),
        })
    }

    /// Returns the number of lost agents as evidence.
    pub fn evidence(&self) -> FigureEvidence {
        FigureEvidence {
            limit: LimitingResource::Agent,
            name: "agents lost before the end of the load".to_owned(),
            value: self.losses.len() as f64,
            threshold: 1.0,
            side: ThresholdSide::AtLeast,
        }
    }
}
