//! Tests of the sentences on figures made by hand.

use super::*;
use crate::compare::wording::is_settled;
use brunt_model::comparison::{Better, Compared, Test};
use brunt_model::question::Regression;

const OURS: [f64; 10] = [0.020, 0.021, 0.019, 0.022, 0.020, 0.0205, 0.0195, 0.021, 0.020, 0.0202];
const OPEN: f64 = f64::INFINITY;

/// Decides one figure alone, in at most ten blocks.
fn alone(measure: Measure, figures: FigurePair) -> Compared {
    let decided = decided(&[pair(vec![(measure, figures)])], &spec(&[measure]));
    decided[0].compared[0].clone()
}

/// Decides p99, with the other contender's greater by this factor in each block.
fn of(by: &[f64]) -> Compared {
    alone(P99, times(&OURS, by, 10))
}

fn says(compared: &Compared, verdict: Better, sentence: &str) {
    assert_eq!((compared.verdict, &compared.sentence[..]), (verdict, sentence));
}

#[test]
fn a_difference_in_all_blocks_has_its_interval() {
    let less = of(&[0.96, 0.95, 0.965, 0.955, 0.97, 0.958, 0.949, 0.961, 0.963, 0.952]);
    says(&less, Better::Better, "p99: B is better by 4.2 % (3.5 to 4.8)");
    assert!(
        (less.shift.unwrap() + 0.042).abs() < 5e-4
            && less.low < less.shift
            && less.shift < less.high,
        "{less:?}"
    );
    assert!(less.test == Test::PermutationInBlocks && less.p.unwrap() < 0.04, "{less:?}");
    let more = [1.06, 1.05, 1.065, 1.055, 1.07, 1.058, 1.049, 1.061, 1.063, 1.052];
    says(&of(&more), Better::Worse, "p99: B is worse by 5.8 % (5.2 to 6.5)");
    let rate = times(&[2000.0; 10], &more, 10);
    says(&alone(THROUGHPUT, rate), Better::Better, "throughput: B is better by 5.8 % (5.2 to 6.5)");
}

#[test]
fn differences_below_the_margin_are_equal() {
    let little = of(&[1.003, 1.005, 1.002, 1.004, 1.006, 1.003, 1.005, 1.004, 1.002, 1.003]);
    says(
        &little,
        Better::Equal,
        "p99: equal within ±2 %: B is between 0.2 % higher and 0.5 % higher",
    );
    let same = of(&[1.0; 10]);
    assert_eq!(
        (same.verdict, same.low, same.high, same.p),
        (Better::Equal, Some(0.0), Some(0.0), Some(1.0))
    );
}

#[test]
fn unknown_figures_are_undecided() {
    let spread = of(&[1.05, 0.93, 1.02, 0.97, 1.08, 0.99, 1.04, 0.95, 1.01, 1.03]);
    says(&spread, Better::Undecided, "p99: undecided: B is between 4.0 % lower and 5.0 % higher");
    let few = of(&[1.05, 1.06, 1.04, 1.05]);
    says(
        &few,
        Better::Undecided,
        "p99: undecided: 4 blocks are too few (B is 5.0 % higher so far)",
    );
    assert_eq!((few.p, few.low, few.high, few.test), (None, None, None, Test::None));
    let none = alone(P99, times(&[], &[], 10));
    says(&none, Better::Undecided, "p99: no data");
}

#[test]
fn a_difference_to_zero_errors_has_no_percentage() {
    let none = times(&[0.0; 10], &[1.0; 10], 10);
    says(&alone(ERRORS, none.clone()), Better::Equal, "errors: 0 % with both");
    let some = (1..=10).map(|n| ValueRange::exact(f64::from(n) / 1000.0)).collect();
    let more = alone(ERRORS, FigurePair { theirs: some, ..none });
    says(&more, Better::Worse, "errors: B is worse: 0.550 % against 0 %");
    assert_eq!((more.shift, more.low, more.high), (None, None, None));
}

#[test]
fn errors_decide_where_contenders_differ_in_them() {
    let exact = |values: [f64; 7]| values.map(ValueRange::exact).to_vec();
    let compared = |refused: f64| {
        let shares = [0.51, 0.52, 0.5, 0.515, 0.514, 0.51, 0.513].map(|share| share * refused);
        let errors = FigurePair {
            ours: exact([0.0; 7]),
            theirs: exact(shares),
            design: SampleDesign::Blocks { most: 7 },
        };
        let spread = [1.05, 0.93, 1.02, 0.97, 1.08, 0.99, 1.04];
        let figures =
            [THROUGHPUT, P99, P50].map(|measure| (measure, times(&OURS[..7], &spread, 7)));
        let pair = pair(figures.into_iter().chain([(ERRORS, errors)]).collect());
        let decision = decided(&[pair], &spec(&[THROUGHPUT, P99, P50, ERRORS])).swap_remove(0);
        decision.compared.into_iter().next().unwrap()
    };
    let refused = compared(1.0);
    assert_eq!(refused.measure, ERRORS);
    says(&refused, Better::Worse, "errors: B is worse: 51.3 % against 0 %");
    // Below 1 %, the first figure decides.
    assert_eq!(compared(0.01).measure, THROUGHPUT);
}

#[test]
fn a_quantile_among_unfinished_requests_has_an_open_interval() {
    let mut figures = times(&OURS, &[1.5; 10], 10);
    for theirs in &mut figures.theirs {
        theirs.high = OPEN;
    }
    let worse = alone(P99, figures.clone());
    says(&worse, Better::Worse, "p99: B is worse by at least 50.0 %");
    assert_eq!((worse.shift, worse.high), (None, None));
    // If the first contender's values are not known either, nothing is.
    figures.ours = figures.theirs.clone();
    says(&alone(P99, figures), Better::Undecided, "p99: undecided: the difference of B is unknown");
}

#[test]
fn the_first_figure_has_half_of_the_significance_level() {
    use Better::{Undecided, Worse};
    let slow = [1.06, 1.05, 1.065, 1.055, 1.07, 1.058, 1.049, 1.061, 1.063, 1.052];
    let spread = [1.05, 0.93, 1.02, 0.97, 1.08, 0.99, 1.04, 0.95, 1.01, 1.03];
    let all = |first: &[f64], other: &[f64], blocks: usize| {
        let of = |times_: &[f64]| times(&OURS[..blocks], &times_[..blocks], 10);
        let pair =
            pair(vec![(P99, of(first)), (P50, of(other)), (Measure::ServerCpu, of(&spread))]);
        let decided = decided(&[pair], &spec(&[P99, P50, Measure::ServerCpu]));
        decided[0].compared.iter().map(|one| one.verdict).collect::<Vec<_>>()
    };
    // Seven blocks can reach 0.0156: enough for the 0.025 of the first figure, but not for the
    // 0.0125 of each other. After the first is decided, each other has 0.025.
    assert_eq!(all(&slow, &slow, 7), [Worse, Worse, Undecided]);
    assert_eq!(all(&spread, &slow, 7), [Undecided; 3]);
    assert_eq!(all(&spread, &slow, 10), [Undecided, Worse, Undecided]);
}

#[test]
fn a_regression_needs_the_whole_interval_beyond_the_margin() {
    let more = [1.06, 1.05, 1.065, 1.055, 1.07, 1.058, 1.049, 1.061, 1.063, 1.052];
    let decided = decided(&[pair(vec![(P99, times(&OURS, &more, 10))])], &spec(&[P99]));
    let settled = |by| is_settled(&decided[0], &Regression { measure: P99, by });
    // Interval 5.2 to 6.5 %: it is open whether it is more than 6 %.
    assert_eq!([0.05, 0.06, 0.07].map(settled), [true, false, true]);
    assert!(settled(0.0), "{:?}", decided[0].compared);
}

#[test]
fn the_number_of_missing_repetitions_is_estimated() {
    let spread = [1.05, 0.97, 1.02, 0.99, 1.08, 0.99, 1.04, 0.98, 1.01, 1.03];
    let (_, more) = decide(&[pair(vec![(P99, times(&OURS, &spread, 10))])], &[P99], &spec(&[P99]));
    // With a mean of 1.5 % and a deviation of 3.5 %: (0.035·(1.96·2.26/1.96 + 0.84)/0.015)²
    // = 52 blocks in all.
    assert!(more.is_some_and(|more| (35..=50).contains(&more)), "{more:?}");
    let (_, more) =
        decide(&[pair(vec![(P99, times(&OURS, &[1.2; 10], 10))])], &[P99], &spec(&[P99]));
    assert_eq!(more, None);
}
