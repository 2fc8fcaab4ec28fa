//! Describes in sentences how the figures of a study were computed.

use crate::texts::message;
use brunt_model::analysis::{Band, LimitKind};
use brunt_model::comparison::Test;
use brunt_model::{Analysis, LoadUnit, Study, Text};

/// Returns a sentence for each method that the study uses.
pub fn method(study: &Study, analysis: &Analysis) -> Vec<Text> {
    let mut sentences = vec![load_model(study), message!("method.response")];
    let compares_capacities =
        analysis.comparison.as_ref().is_some_and(|comparison| !comparison.searched.is_empty());
    if compares_capacities || !analysis.answers.is_empty() {
        sentences.push(message!("method.capacity"));
    }
    if compares_capacities {
        sentences.push(message!("method.capacities"));
    }
    sentences.extend(of_analysis(analysis));
    if study.only_run().is_some() {
        // Its intervals are those of the run itself.
        let without_band = message!("method.band-one");
        sentences.retain(|sentence| *sentence != without_band);
    }
    sentences
}

/// Returns a sentence for each method that the analysis uses. It also applies to
/// results of other tools.
pub fn of_analysis(analysis: &Analysis) -> Vec<Text> {
    let bands = analysis.contenders.iter().flat_map(|c| &c.curve).map(|point| point.achieved.band);
    let bands: Vec<Band> = bands.collect();
    let limits: Vec<LimitKind> =
        analysis.contenders.iter().flat_map(|c| &c.limits).map(|l| l.kind).collect();
    let of_bands = BANDS.iter().filter(|row| bands.contains(&row.0)).map(|row| row.1);
    let of_limits = LIMITS.iter().filter(|row| limits.contains(&row.0)).map(|row| row.1);
    let mut sentences: Vec<Text> = of_bands.chain(of_limits).map(|id| message!(id)).collect();
    for contender in &analysis.contenders {
        let Some(scalability) = &contender.scalability else { continue };
        let caution = message!("method.scalability", caution = scalability.caution.clone());
        if !sentences.contains(&caution) {
            sentences.push(caution);
        }
    }
    let measures =
        analysis.comparison.iter().flat_map(|c| &c.pairs).flat_map(|pair| &pair.measures);
    let tests: Vec<Test> = measures.map(|compared| compared.test).collect();
    let of_tests = TESTS.iter().filter(|row| tests.contains(&row.0));
    sentences.extend(of_tests.map(|row| message!(row.1)));
    sentences
}

fn load_model(study: &Study) -> Text {
    match study.experiment.contenders.first().map(brunt_model::Contender::unit) {
        Some(LoadUnit::Users { .. }) => message!("method.closed-loop"),
        _ => message!("method.open-loop"),
    }
}

/// Messages on the statistical tests.
const TESTS: [(Test, &str); 3] = [
    (Test::PermutationInBlocks, "method.permutation"),
    (Test::MannWhitney, "method.ranks"),
    (Test::None, "method.no-test"),
];

/// Messages on the kinds of bands.
const BANDS: [(Band, &str); 5] = [
    (Band::One, "method.band-one"),
    (Band::Range, "method.band-range"),
    (Band::WithinRun, "method.band-within-run"),
    (Band::Repetitions, "method.band-repetitions"),
    (Band::Model, "method.band-model"),
];

/// Messages with the definitions of the limits.
const LIMITS: [(LimitKind, &str); 6] = [
    (LimitKind::Knee, "method.knee"),
    (LimitKind::Saturation, "method.saturation"),
    (LimitKind::Asymptotes, "method.asymptotes"),
    (LimitKind::Kept, "method.kept"),
    (LimitKind::Objective, "method.objectives"),
    (LimitKind::Patience, "method.patience"),
];
