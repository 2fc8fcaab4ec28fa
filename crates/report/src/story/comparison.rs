//! Builds a comparison of two servers for tests.

use super::sweep_of;
use brunt_model::comparison::{Better, Compared, ComparisonEnd, Pair, QuantileShift, Test};
use brunt_model::finding::Finding;
use brunt_model::objective::Metric;
use brunt_model::question::Regression;
use brunt_model::{Analysis, Comparison, ComparisonSettings, Measure, Question, Study};

/// Returns the comparison of nginx and Apache at one load.
pub fn compared() -> (Study, Analysis) {
    let (mut study, mut analysis) = sweep_of(&[120.0], 2);
    let [p99, errors] = [Metric::Quantile(0.99), Metric::Errors].map(Measure::Run);
    let fail_if =
        [(p99, 0.05), (errors, 0.1)].map(|(measure, by)| Regression { measure, by }).to_vec();
    let spec = ComparisonSettings {
        metrics: vec![p99, errors],
        factor: None,
        smallest: 0.02,
        alpha: 0.05,
        fail_if,
        within: None,
        at_capacity: None,
    };
    study.experiment.question = Question::Compare(spec);
    study.experiment.repetitions = 10;
    let faster = "apache is 4.10 % faster than nginx at 120/s (p99 11.5 ms against 12.0 ms, 95 % CI 2.60 to 5.50 %).";
    analysis.conclusions = vec![Finding::note("comparison", faster)];
    let better = Compared {
        measure: p99,
        ours: 0.012,
        theirs: 0.0115,
        shift: Some(-0.041),
        low: Some(-0.055),
        high: Some(-0.026),
        p: Some(0.03125),
        test: Test::PermutationInBlocks,
        verdict: Better::Better,
        sentence: "p99: apache is better by 4.1 % (2.6 to 5.5)".into(),
        undecided: None,
    };
    let worse = Compared {
        measure: errors,
        ours: 0.01,
        theirs: 0.02,
        shift: Some(1.0),
        low: Some(0.5),
        high: None,
        p: Some(0.0004),
        verdict: Better::Worse,
        sentence: "errors: apache is worse: 2 % against 1 %".into(),
        ..better.clone()
    };
    let pair = Pair {
        ours: "nginx".into(),
        theirs: "apache".into(),
        load: Some(120.0),
        measures: vec![better, worse],
        shift: vec![quantile_shift(0.5, 0.0001), quantile_shift(0.99, -0.0005)],
    };
    analysis.comparison = Some(Comparison {
        pairs: vec![pair],
        differences: vec!["server: nginx has nginx/1.26, apache has Apache/2.4.".into()],
        blocks: 2,
        most: 10,
        more: None,
        ended: ComparisonEnd::Decided,
        failed: vec![
            "errors: apache is worse: 2 % against 1 % at 120/s, which is more than 10 %".into(),
        ],
        searched: Vec::new(),
    });
    (study, analysis)
}

fn quantile_shift(quantile: f64, seconds: f64) -> QuantileShift {
    QuantileShift { quantile, seconds, low: seconds - 1e-4, high: seconds + 1e-4 }
}
