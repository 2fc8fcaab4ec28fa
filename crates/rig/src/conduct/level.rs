//! Levels of an experiment that can have hooks, and the environment variables of their commands.

use brunt_model::experiment::HookCommands;
use brunt_model::{Contender, Experiment, TrialIndex};

/// Part of an experiment that can have hooks before and after it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Level {
    /// The whole experiment.
    Experiment,
    /// Consecutive trials of the contender with this index.
    Contender(usize),
    /// The trials of one repetition.
    Repetition(TrialIndex),
    /// One trial, with its load.
    Step(TrialIndex, f64),
}

impl Level {
    /// The hooks of this level.
    pub(super) fn hooks(self, experiment: &Experiment) -> &HookCommands {
        match self {
            Self::Experiment => &experiment.hooks,
            Self::Contender(contender) => &experiment.contenders[contender].hooks.contender,
            Self::Repetition(place) => &experiment.contenders[place.contender].hooks.repetition,
            Self::Step(place, _) => &experiment.contenders[place.contender].hooks.step,
        }
    }

    /// Name of the level, as part of a sentence.
    pub(super) fn describe(self, experiment: &Experiment) -> String {
        match self {
            Self::Experiment => "the experiment".into(),
            Self::Contender(contender) => experiment.contenders[contender].name.clone(),
            Self::Repetition(place) => {
                let contender = &experiment.contenders[place.contender].name;
                format!("repetition {} of {contender}", place.repetition + 1)
            }
            Self::Step(place, load) => {
                let contender = &experiment.contenders[place.contender].name;
                format!("the step at {load} of {contender}, repetition {}", place.repetition + 1)
            }
        }
    }

    /// Environment variables of the level's commands: the position in the experiment, and the
    /// variables of the contender's server. Commands of the experiment level get the server
    /// variables that all contenders share.
    pub(super) fn environment(self, experiment: &Experiment) -> Vec<(String, String)> {
        let (contender, place) = match self {
            Self::Experiment => (None, None),
            Self::Contender(contender) => (Some(contender), None),
            Self::Repetition(place) | Self::Step(place, _) => (Some(place.contender), Some(place)),
        };
        let contender = contender.map(|contender| &experiment.contenders[contender]);
        let mut variables = contender.map_or_else(
            || shared_variables(&experiment.contenders),
            |one| server_variables(one).to_vec(),
        );
        if let Some(contender) = contender {
            variables.push(("BRUNT_CONTENDER".to_owned(), contender.name.clone()));
        }
        if let Some(place) = place {
            variables.push(("BRUNT_REPETITION".to_owned(), (place.repetition + 1).to_string()));
        }
        if let Self::Step(place, load) = self {
            variables.push(("BRUNT_STEP".to_owned(), (place.step + 1).to_string()));
            variables.push(("BRUNT_LOAD".to_owned(), load.to_string()));
        }
        variables
    }
}

fn server_variables(contender: &Contender) -> &[(String, String)] {
    contender.server.as_ref().map_or(&[], |server| &server.environment)
}

/// Variables that the servers of all contenders have, with the same value.
fn shared_variables(contenders: &[Contender]) -> Vec<(String, String)> {
    let first = contenders.first().map_or(&[][..], server_variables);
    first
        .iter()
        .filter(|variable| contenders.iter().all(|one| server_variables(one).contains(variable)))
        .cloned()
        .collect()
}
