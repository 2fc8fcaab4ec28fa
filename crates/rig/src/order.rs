//! The order of trials. It does not depend on the trials that are finished already: the caller
//! skips those, and the order of the others stays the same.

use brunt_model::experiment::TrialOrder;
use brunt_model::{Experiment, TrialIndex};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Returns the position of every trial, in the order of measurement. A contender's trials of one
/// repetition are consecutive. Only one repetition at a time is in memory.
pub fn order(experiment: &Experiment) -> Box<dyn Iterator<Item = TrialIndex> + '_> {
    let contenders = 0..experiment.contenders.len();
    let repetitions = 0..experiment.repetitions;
    match experiment.order {
        TrialOrder::Blocks => Box::new(contenders.flat_map(move |contender| {
            repetitions.clone().flat_map(move |r| by_load(experiment, r, contender))
        })),
        TrialOrder::Interleaved => Box::new(repetitions.flat_map(|r| alternating(experiment, r))),
        TrialOrder::Random => Box::new(repetitions.flat_map(|r| shuffled(experiment, r))),
    }
}

/// A contender's turn: its trials of one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContenderTurn {
    /// The repetition, from 0.
    pub repetition: u32,
    /// The contender, by its index.
    pub contender: usize,
}

/// Returns the turns of an experiment, each once, in the order of its trials.
pub fn turns(experiment: &Experiment) -> Vec<ContenderTurn> {
    let mut turns = Vec::new();
    for place in order(experiment) {
        let turn = ContenderTurn { repetition: place.repetition, contender: place.contender };
        if turns.last() != Some(&turn) {
            turns.push(turn);
        }
    }
    turns
}

/// Trials of a repetition. Every second repetition has the contenders in reverse order.
fn alternating(experiment: &Experiment, repetition: u32) -> Vec<TrialIndex> {
    let mut contenders: Vec<usize> = (0..experiment.contenders.len()).collect();
    if repetition % 2 == 1 {
        contenders.reverse();
    }
    contenders
        .into_iter()
        .flat_map(|contender| by_load(experiment, repetition, contender))
        .collect()
}

/// Trials of a repetition in random order. The order depends only on the seed and the repetition,
/// so an experiment that is resumed has the same order.
fn shuffled(experiment: &Experiment, repetition: u32) -> Vec<TrialIndex> {
    // Seeded by the repetition as well, so that the order is drawn again for each repetition.
    let mut random =
        Pcg64Mcg::seed_from_u64(experiment.seed.wrapping_add(u64::from(repetition) << 32));
    let mut contenders: Vec<usize> = (0..experiment.contenders.len()).collect();
    contenders.shuffle(&mut random);
    let mut places = Vec::new();
    for contender in contenders {
        let mut turn = by_load(experiment, repetition, contender);
        turn.shuffle(&mut random);
        places.append(&mut turn);
    }
    places
}

/// Trials of one turn, by ascending load.
fn by_load(experiment: &Experiment, repetition: u32, contender: usize) -> Vec<TrialIndex> {
    let steps = &experiment.contenders[contender].steps;
    let mut places: Vec<_> =
        (0..steps.len()).map(|step| TrialIndex { repetition, contender, step }).collect();
    places.sort_by(|a, b| steps[a.step].load.total_cmp(&steps[b.step].load));
    places
}
