//! Measures of a comparison, and its failures: `p99, throughput`, `2%`, `p99 worse by 5%`.

use super::named::{self, NamedValue, Suggestion, value_named};
use super::number::number;
use super::objective::{hundredth, metric};
use brunt_model::Measure;
use brunt_model::question::Regression;
use brunt_script::WordError;

const FIGURES: &str = "one of p50 … p99.9, mean, max, errors, throughput, goodput, cpu, capacity, such as p99,throughput";
/// Loads at which contenders can be compared.
const COMPARED_LOADS: [NamedValue<ComparedLoads>; 3] = [
    NamedValue { names: &["load"], about: "the given loads", value: ComparedLoads::Load },
    NamedValue {
        names: &["capacity"],
        about: "the capacity of each server",
        value: ComparedLoads::Capacity,
    },
    NamedValue {
        names: &["both"],
        about: "the given loads and the capacity",
        value: ComparedLoads::Both,
    },
];

/// Measures other than the metrics of a run.
const OTHER_MEASURES: [NamedValue<Measure>; 2] = [
    NamedValue {
        names: &["cpu"],
        about: "CPU time of the server per request",
        value: Measure::ServerCpu,
    },
    NamedValue {
        names: &["capacity"],
        about: "highest load within the objectives",
        value: Measure::Capacity,
    },
];

/// Metrics of a run. Percentiles are examples of any.
const METRICS: [(&str, &str); 8] = [
    ("p99", "99th percentile of the response time"),
    ("p95", "95th percentile of the response time"),
    ("p50", "median response time"),
    ("mean", "mean response time"),
    ("max", "longest response time"),
    ("errors", "error rate"),
    ("throughput", "replies per second"),
    ("goodput", "good replies per second"),
];

const FAILURE: &str = "a difference such as 'p99 worse by 5%'";

/// Parses the measures of a comparison, separated by commas. The first one decides.
pub fn measures(word: &str) -> Result<Vec<Measure>, WordError> {
    word.split(',').map(|part| measure(part.trim())).collect()
}

/// Parses differences that make brunt fail, separated by commas. `p99 worse by more than 5%` means
/// `p99 worse by 5%`.
pub fn regressions(word: &str) -> Result<Vec<Regression>, WordError> {
    word.split(',').map(|part| regression(part.trim())).collect()
}

/// Parses a share between 0 and 1, such as `2%`.
pub fn share(word: &str) -> Result<f64, WordError> {
    let percent = word.strip_suffix('%').and_then(|digits| number(digits.trim_end()));
    let percent = percent.ok_or_else(|| share_error(word, "not a share"))?;
    if percent <= 0.0 || percent >= 100.0 {
        Err(share_error(word, "nothing could be held to that"))
    } else {
        Ok(hundredth(percent))
    }
}

fn share_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, "more than 0% and less than 100%, such as 2%")
}

/// Loads at which contenders are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ComparedLoads {
    /// Loads that the user gave.
    #[default]
    Load,
    /// The capacity of each contender, which is compared.
    Capacity,
    /// Given loads, and the capacities.
    Both,
}

/// Parses the loads of a comparison: `load`, `capacity` or `both`.
pub fn compared_loads(word: &str) -> Result<ComparedLoads, WordError> {
    value_named(&COMPARED_LOADS, word).ok_or_else(|| {
        WordError::new(word, "contenders cannot be measured there", "load, capacity or both")
    })
}

/// Returns the loads of comparisons that shells propose.
pub fn suggested_loads() -> Vec<Suggestion> {
    named::suggestions(&COMPARED_LOADS)
}

/// Returns the metrics that shells propose.
pub fn suggested_metrics() -> Vec<Suggestion> {
    let mut all = named::of_list(&METRICS);
    all.extend(named::suggestions(&OTHER_MEASURES));
    all
}

/// Parses a significance level, the chance that equal servers are found to differ: `0.05` or `5%`.
pub fn alpha(word: &str) -> Result<f64, WordError> {
    let alpha = if word.ends_with('%') { share(word).ok() } else { number(word) };
    alpha.filter(|alpha| *alpha > 0.0 && *alpha <= 0.5).ok_or_else(|| {
        WordError::new(
            word,
            "not a significance level",
            "more than 0 and up to 0.5, such as 0.05 or 5%",
        )
    })
}

fn measure(word: &str) -> Result<Measure, WordError> {
    if let Some(measure) = value_named(&OTHER_MEASURES, word) {
        return Ok(measure);
    }
    // Reports print this longer name, and users copy it from there.
    if word == Measure::ServerCpu.to_string() {
        return Ok(Measure::ServerCpu);
    }
    metric(word)
        .map(Measure::Run)
        .map_err(|e| if e.instead.contains("mean") { unknown(word) } else { e })
}

fn unknown(word: &str) -> WordError {
    WordError::new(word, "not a metric that can be compared", FIGURES)
}

fn regression(word: &str) -> Result<Regression, WordError> {
    let parts = word.split_once(" worse by ");
    let (figure, by) =
        parts.ok_or_else(|| WordError::new(word, "`worse by` is missing", FAILURE))?;
    let by = by.trim();
    // Both wordings mean the same: the bound itself is no failure.
    let by = by.strip_prefix("more than ").map_or(by, str::trim);
    let measure = measure(figure.trim())?;
    // 0 % is allowed here: any significant difference fails.
    let by = if by == "0%" { 0.0 } else { share(by)? };
    Ok(Regression { measure, by })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::objective::Metric;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        let p99 = Measure::Run(Metric::Quantile(0.99));
        assert_eq!(
            measures("p99, cpu,throughput"),
            Ok(vec![p99, Measure::ServerCpu, Measure::Run(Metric::Throughput)])
        );
        assert_eq!(regressions("p99 worse by 5%"), Ok(vec![Regression { measure: p99, by: 0.05 }]));
        assert_eq!(
            regressions("p99 worse by more than 0.5 %"),
            Ok(vec![Regression { measure: p99, by: 0.005 }])
        );
        assert_eq!(regressions("p99 worse by 0%,errors worse by 50%").map(|all| all.len()), Ok(2));
        assert_eq!(
            (measures("capacity"), compared_loads("both")),
            (Ok(vec![Measure::Capacity]), Ok(ComparedLoads::Both))
        );
        assert_eq!(
            (share("2%"), share("0.1 %"), alpha("5%"), alpha("0.01")),
            (Ok(0.02), Ok(0.001), Ok(0.05), Ok(0.01))
        );
    }

    #[test]
    fn errors_show_valid_values() {
        for (message, remedy) in [
            (
                measures("latency").err(),
                "write one of p50 … p99.9, mean, max, errors, throughput, goodput, cpu",
            ),
            (measures("p99,").err(), "write one of p50"),
            (measures("p101").err(), "write p50, p99 or p99.9"),
            (
                regressions("p99 > 5%").err(),
                "`worse by` is missing; write a difference such as 'p99 worse by 5%'",
            ),
            (
                regressions("p99 worse by 5").err(),
                "`5`: not a share; write more than 0% and less than 100%",
            ),
            (regressions("speed worse by 5%").err(), "write one of p50"),
            (compared_loads("peak").err(), "write load, capacity or both"),
            (share("2").err(), "such as 2%"),
            (share("0%").err(), "more than 0%"),
            (share("100%").err(), "less than 100%"),
            (alpha("0").err(), "such as 0.05 or 5%"),
            (alpha("60%").err(), "up to 0.5"),
        ] {
            let message = message.map(|e| e.to_string()).unwrap_or_default();
            assert!(message.contains(remedy), "{message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = (measures(&word), regressions(&word), share(&word), alpha(&word));
            let _ = regressions(&format!("p99 worse by {word}"));
        }

        #[test]
        fn a_written_failure_condition_is_read_back(tenths in 1..=1000_u32, by in 1..10_000_u32, cpu: bool) {
            let quantile = Measure::Run(Metric::Quantile(hundredth(f64::from(tenths) / 10.0)));
            let measure = if cpu { Measure::ServerCpu } else { quantile };
            let regression = Regression { measure, by: hundredth(f64::from(by) / 100.0) };
            prop_assert_eq!(regressions(&regression.to_string()), Ok(vec![regression]));
        }
    }
}
