//! Parses goals for the confidence intervals of figures: `p99±5%, throughput±1%`; `+-` replaces
//! `±`, which is not on all keyboards.

use super::number::number;
use super::objective::{hundredth, percentile};
use brunt_model::goal::Aim;
use brunt_model::goal::Goal;
use brunt_script::WordError;

const EXAMPLE: &str = "a goal such as p99±5% or throughput+-1%";

/// Parses goals separated by commas: figures, each with the target half-width of its confidence
/// interval. The run may end early when all goals are reached.
pub fn parse(word: &str) -> Result<Vec<Goal>, WordError> {
    word.split(',').map(|part| goal(part.trim())).collect()
}

fn goal(word: &str) -> Result<Goal, WordError> {
    let parts = word.split_once('±').or_else(|| word.split_once("+-"));
    let (figure, half_width) =
        parts.ok_or_else(|| WordError::new(word, "± (or +-) is missing", EXAMPLE))?;
    Ok(Goal {
        aim: figure_with_interval(figure.trim())?,
        within: half_width_share(half_width.trim())?,
    })
}

/// Parses the figure of a goal: throughput, or a percentile below 100.
fn figure_with_interval(word: &str) -> Result<Aim, WordError> {
    if word == "throughput" {
        return Ok(Aim::Throughput);
    }
    if !word.starts_with('p') {
        return Err(WordError::new(
            word,
            "that figure has no interval",
            "p50, p99, p99.9 or throughput",
        ));
    }
    let q = percentile(word)?;
    // An order statistic needs samples above it for the upper end of its interval.
    if q >= 1.0 {
        return Err(WordError::new(word, "the maximum has no interval", "p99.9 or less"));
    }
    Ok(Aim::Quantile(q))
}

/// Parses the half-width of an interval, in percent of the figure, to a share: more than 0, up to
/// 1.
fn half_width_share(word: &str) -> Result<f64, WordError> {
    let percent = word.strip_suffix('%').and_then(|digits| number(digits.trim_end()));
    let percent = percent.ok_or_else(|| width_error(word, "not a share of a figure"))?;
    let share = hundredth(percent);
    if share <= 0.0 || share > 1.0 {
        Err(width_error(word, "the width is out of range"))
    } else {
        Ok(share)
    }
}

fn width_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, "more than 0% and up to 100%, such as 5%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        for (word, aim, within) in [
            ("p99±5%", Aim::Quantile(0.99), 0.05),
            ("p99+-5%", Aim::Quantile(0.99), 0.05),
            (" p99.9 ± 10 %", Aim::Quantile(0.999), 0.1),
            ("p50±0.5%", Aim::Quantile(0.5), 0.005),
            ("throughput±1%", Aim::Throughput, 0.01),
            ("throughput +- 100%", Aim::Throughput, 1.0),
        ] {
            assert_eq!(parse(word), Ok(vec![Goal { aim, within }]), "{word}");
        }
        assert_eq!(parse("p99±5%,throughput±1%").unwrap().len(), 2);
    }

    #[test]
    fn errors_show_valid_values() {
        for (word, remedy) in [
            ("", "± (or +-) is missing; write a goal such as p99±5%"),
            ("p99", "is missing; write a goal"),
            ("p99-5%", "is missing; write a goal"),
            ("mean±5%", "`mean`: that figure has no interval; write p50"),
            ("p0±5%", "write p50, p99 or p99.9"),
            ("p100±5%", "write p99.9 or less"),
            ("px±5%", "write one of p50"),
            (
                "p99±5",
                "`5`: not a share of a figure; write more than 0% and up to 100%, such as 5%",
            ),
            ("p99±5ms", "such as 5%"),
            ("p99±0%", "more than 0%"),
            ("p99±101%", "up to 100%"),
            ("p99±±5%", "such as 5%"),
            ("p99±5%,", "write a goal"),
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains(remedy), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = (parse(&word), parse(&format!("p99±{word}")), parse(&format!("{word}±1%")));
        }

        #[test]
        fn a_written_goal_is_read_back(tenths in 1..1000_u32, width in 1..=10_000_u32) {
            let aim = Aim::Quantile(hundredth(f64::from(tenths) / 10.0));
            let goal = Goal { aim, within: hundredth(f64::from(width) / 100.0) };
            prop_assert_eq!(parse(&goal.to_string()), Ok(vec![goal]));
        }
    }
}
