//! Which trial comes when. It knows nothing of what was done already; places that were are left out of the
//! list that it makes, and the others stay where they are.

use brunt_model::experiment::TrialOrder;
use brunt_model::{Experiment, TrialIndex};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// All places of an experiment, each once, in the order in which they are measured. A contender's trials of one repetition
/// stand together. Made one repetition at a time: what is yet to come takes no memory.
pub fn order(experiment: &Experiment) -> Box<dyn Iterator<Item = TrialIndex> + '_> {
    let all = 0..experiment.contenders.len();
    let repetitions = 0..experiment.repetitions;
    match experiment.order {
        TrialOrder::Blocks => Box::new(
            all.flat_map(move |contender| repetitions.clone().flat_map(move |r| upwards(experiment, r, contender))),
        ),
        TrialOrder::Interleaved => Box::new(repetitions.flat_map(|r| there_and_back(experiment, r))),
        TrialOrder::Random => Box::new(repetitions.flat_map(|r| drawn(experiment, r))),
    }
}

/// A contender's turn: its trials of one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The repetition, from 0.
    pub repetition: u32,
    /// The contender, by its index.
    pub contender: usize,
}

/// The turns of an experiment, each once, in the order of its trials.
pub fn turns(experiment: &Experiment) -> Vec<Turn> {
    let turn = |place: TrialIndex| Turn { repetition: place.repetition, contender: place.contender };
    let mut turns = Vec::new();
    for turn in order(experiment).map(turn) {
        if turns.last() != Some(&turn) {
            turns.push(turn);
        }
    }
    turns
}

fn there_and_back(experiment: &Experiment, repetition: u32) -> Vec<TrialIndex> {
    let mut contenders: Vec<usize> = (0..experiment.contenders.len()).collect();
    if repetition % 2 == 1 {
        contenders.reverse();
    }
    contenders.into_iter().flat_map(|contender| upwards(experiment, repetition, contender)).collect()
}

/// Drawn from the seed and the repetition alone, so that an experiment that goes on after an interruption finds the same.
fn drawn(experiment: &Experiment, repetition: u32) -> Vec<TrialIndex> {
    let mut random = Pcg64Mcg::seed_from_u64(experiment.seed.wrapping_add(u64::from(repetition) << 32));
    let mut contenders: Vec<usize> = (0..experiment.contenders.len()).collect();
    contenders.shuffle(&mut random);
    let mut of = |contender| {
        let mut places = upwards(experiment, repetition, contender);
        places.shuffle(&mut random);
        places
    };
    contenders.into_iter().flat_map(&mut of).collect()
}

fn upwards(experiment: &Experiment, repetition: u32, contender: usize) -> Vec<TrialIndex> {
    let steps = &experiment.contenders[contender].steps;
    let mut places: Vec<_> = (0..steps.len()).map(|step| TrialIndex { repetition, contender, step }).collect();
    places.sort_by(|a, b| steps[a.step].load.total_cmp(&steps[b.step].load));
    places
}
