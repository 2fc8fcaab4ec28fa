//! What hooks stand around, and what they are told about it.

use brunt_model::experiment::HookCommands;
use brunt_model::{Contender, Experiment, TrialIndex};

/// What hooks stand around.
#[derive(Debug, Clone, Copy)]
pub(super) enum Level {
    /// All of it.
    Experiment,
    /// Trials of this contender that follow one another.
    Contender(usize),
    /// Those of one repetition.
    Repetition(TrialIndex),
    /// One of them, at its load.
    Step(TrialIndex, f64),
}

impl Level {
    /// The hooks of that level.
    pub(super) fn hooks(self, experiment: &Experiment) -> &HookCommands {
        let of = |contender: usize| &experiment.contenders[contender].hooks;
        match self {
            Self::Experiment => &experiment.hooks,
            Self::Contender(contender) => &of(contender).contender,
            Self::Repetition(place) => &of(place.contender).repetition,
            Self::Step(place, _) => &of(place.contender).step,
        }
    }

    /// As part of a sentence.
    pub(super) fn words(self, experiment: &Experiment) -> String {
        let name = |contender: usize| &experiment.contenders[contender].name;
        match self {
            Self::Experiment => "the experiment".into(),
            Self::Contender(contender) => name(contender).clone(),
            Self::Repetition(place) => format!("repetition {} of {}", place.repetition + 1, name(place.contender)),
            Self::Step(place, load) => {
                let repetition = place.repetition + 1;
                format!("the step at {load} of {}, repetition {repetition}", name(place.contender))
            }
        }
    }

    /// What commands find in their environment: where in the experiment they are, and the server's own variables; around
    /// the whole experiment, those that are the same for all contenders.
    pub(super) fn environment(self, experiment: &Experiment) -> Vec<(String, String)> {
        let (contender, place) = match self {
            Self::Experiment => (None, None),
            Self::Contender(contender) => (Some(contender), None),
            Self::Repetition(place) | Self::Step(place, _) => (Some(place.contender), Some(place)),
        };
        let contender = contender.map(|contender| &experiment.contenders[contender]);
        let mut variables = contender.map_or_else(|| common(&experiment.contenders), |one| of_server(one).to_vec());
        let mut add = |name: &str, value: String| variables.push((format!("BRUNT_{name}"), value));
        if let Some(contender) = contender {
            add("CONTENDER", contender.name.clone());
        }
        if let Some(place) = place {
            add("REPETITION", (place.repetition + 1).to_string());
        }
        if let Self::Step(place, load) = self {
            add("STEP", (place.step + 1).to_string());
            add("LOAD", load.to_string());
        }
        variables
    }
}

fn of_server(contender: &Contender) -> &[(String, String)] {
    contender.server.as_ref().map_or(&[], |server| &server.environment)
}

fn common(contenders: &[Contender]) -> Vec<(String, String)> {
    let of_first = contenders.first().map_or(&[][..], of_server);
    let common = |variable: &&(String, String)| contenders.iter().all(|one| of_server(one).contains(variable));
    of_first.iter().filter(common).cloned().collect()
}
