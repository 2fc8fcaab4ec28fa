//! Describes in sentences how the figures of a study were computed.

use brunt_model::analysis::{Band, LimitKind};
use brunt_model::comparison::Test;
use brunt_model::{Analysis, LoadUnit, Study};

/// Returns a sentence for each method that the study uses.
pub fn method(study: &Study, analysis: &Analysis) -> Vec<String> {
    let mut sentences = vec![load_model(study).to_owned(), RESPONSE.to_owned()];
    let compares_capacities =
        analysis.comparison.as_ref().is_some_and(|comparison| !comparison.searched.is_empty());
    if compares_capacities || !analysis.answers.is_empty() {
        sentences.push(CAPACITY.to_owned());
    }
    if compares_capacities {
        sentences.push(CAPACITIES.to_owned());
    }
    sentences.extend(of_analysis(analysis));
    sentences
}

/// Returns a sentence for each method that the analysis uses. It also applies to
/// results of other tools.
pub fn of_analysis(analysis: &Analysis) -> Vec<String> {
    let bands = analysis.contenders.iter().flat_map(|c| &c.curve).map(|point| point.achieved.band);
    let bands: Vec<Band> = bands.collect();
    let limits: Vec<LimitKind> =
        analysis.contenders.iter().flat_map(|c| &c.limits).map(|l| l.kind).collect();
    let of_bands = BANDS.iter().filter(|row| bands.contains(&row.0)).map(|row| row.1);
    let of_limits = LIMITS.iter().filter(|row| limits.contains(&row.0)).map(|row| row.1);
    let mut sentences: Vec<String> = of_bands.chain(of_limits).map(str::to_owned).collect();
    for contender in &analysis.contenders {
        let Some(scalability) = &contender.scalability else { continue };
        let caution = format!("Scalability: {}", scalability.caution);
        if !sentences.contains(&caution) {
            sentences.push(caution);
        }
    }
    let measures =
        analysis.comparison.iter().flat_map(|c| &c.pairs).flat_map(|pair| &pair.measures);
    let tests: Vec<Test> = measures.map(|compared| compared.test).collect();
    sentences.extend(TESTS.iter().filter(|row| tests.contains(&row.0)).map(|row| row.1.to_owned()));
    sentences
}

fn load_model(study: &Study) -> &'static str {
    match study.experiment.contenders.first().map(brunt_model::Contender::unit) {
        Some(LoadUnit::Users { .. }) => {
            "Load: a closed loop of virtual users; each user waits for its reply, so queueing of further users is not visible."
        }
        _ => "Load: an open loop; arrivals follow a schedule that does not wait for replies.",
    }
}

const CAPACITY: &str = "Capacity: the load at which the objectives are met exactly, over all steady time; one monotone model of \
                        all trials together, with a 95 % interval. A trial limited by the generator, or by others on the server's machine, counts if it met the objective; its failures count only beyond the effect of the lag, and not at all where others had CPU that the server may have needed.";

const CAPACITIES: &str = "Capacities are compared by the figure of each search, one observation a repetition; the interval of the one \
                          search counts for nothing.";

const RESPONSE: &str = "Response time: from the instant at which a request was due to its last byte; dropped, cut and \
                        timed-out requests count as slower than every reply.";

/// Sentences on the statistical tests.
const TESTS: [(Test, &str); 3] = [
    (
        Test::PermutationInBlocks,
        "Comparison: one repetition is one observation, however many requests it has. All ways to exchange two contenders \
         within each repetition are counted (permutation test); the difference is the Hodges-Lehmann estimate, its interval \
         that of the test. Interim analyses share the error rate (alpha spending); figures behind the first do so by Holm.",
    ),
    (
        Test::MannWhitney,
        "Comparison: runs that were not made in turns, by their ranks (Mann and Whitney), a run an observation; the \
         difference is the Hodges-Lehmann estimate. What drifted between them is in it.",
    ),
    (Test::None, "Comparison: where runs are too few, nothing is tested."),
];

/// Sentences on the kinds of bands.
const BANDS: [(Band, &str); 5] = [
    (Band::One, "One trial a step: figures have no band, and no difference can be tested."),
    (
        Band::Range,
        "Bands are the lowest and the highest trial around their median: a 95 % interval needs at least six repetitions.",
    ),
    (
        Band::WithinRun,
        "Bands are 95 % intervals from blocks of a second within one run: they do not include the variation between runs.",
    ),
    (Band::Repetitions, "Bands are 95 % intervals over repetitions, around their median."),
    (Band::Model, "Bands are 95 % intervals by a model of all trials."),
];

/// Definitions of the limits.
const LIMITS: [(LimitKind, &str); 6] = [
    (
        LimitKind::Knee,
        "Knee: where the smoothed response time bends upwards most over the measured range (Kneedle).",
    ),
    (
        LimitKind::Saturation,
        "Saturation point: the throughput that does not grow any more with the load.",
    ),
    (
        LimitKind::Asymptotes,
        "N*: the number of users at which the asymptotes of throughput cross, X_max · (R_min + think time).",
    ),
    (LimitKind::Kept, "Load kept: the last load of which at least 99 % was achieved."),
    (LimitKind::Objective, "Objectives: the highest load up to which each holds at every step."),
    (
        LimitKind::Patience,
        "1-3-10: the highest loads whose p99 stays below 1, 3 and 10 s, Nielsen's limits of patience.",
    ),
];
