//! Objectives: `p99 < 50ms, errors < 0.1%, throughput >= 1000/s`; for a step or transaction: `p95
//! of checkout < 300ms`.

use super::duration;
use super::number::number;
use brunt_model::Objective;
use brunt_model::objective::{Metric, Relation};
use brunt_script::WordError;

const FIGURES: &str =
    "one of p50 … p99.9, mean, max, errors, throughput, goodput, such as p99 < 50ms";

/// The signs, the longer ones first: `<=` begins with `<`.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    ("≤", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("≥", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// Names for bounds that are often used together.
const PRESETS: [(&str, &str); 1] = [("1-3-10", "p99 < 1s, p99 < 3s, p99 < 10s")];

/// Parses bounds on figures of a run, separated by commas. `1-3-10` is p99 below 1,
/// 3 and 10 seconds.
pub fn parse(word: &str) -> Result<Vec<Objective>, WordError> {
    Ok(parts(word).into_iter().map(bounds).collect::<Result<Vec<_>, _>>()?.concat())
}

/// Parses a preset or a single bound.
fn bounds(part: &str) -> Result<Vec<Objective>, WordError> {
    match PRESETS.iter().find(|(name, _)| *name == part) {
        Some((_, bounds)) => bounds.split(',').map(|part| objective(part.trim())).collect(),
        None => Ok(vec![objective(part)?]),
    }
}

/// Splits a list of bounds at commas outside quotes.
fn parts(word: &str) -> Vec<&str> {
    let mut is_quoted = false;
    // A name in quotes may contain commas.
    let parts = word.split(|letter: char| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    parts.map(str::trim).collect()
}

fn objective(word: &str) -> Result<Objective, WordError> {
    // A name in quotes may contain a sign, but a bound never does.
    let name_end = word.rfind('"').unwrap_or_default();
    let sign = word[name_end..].find(['<', '>', '≤', '≥']);
    let sign = sign.ok_or_else(|| {
        WordError::new(word, "one of < <= > >= is missing", "a bound such as p99 < 50ms")
    })?;
    let (figure, rest) = word.split_at(name_end + sign);
    let (figure, step) = match figure.split_once(" of ") {
        Some((figure, name)) => (figure, Some(step_name(name.trim(), word)?)),
        None => (figure, None),
    };
    let metric = metric(figure.trim())?;
    let sign =
        RELATIONS.iter().find_map(|(sign, relation)| Some((rest.strip_prefix(sign)?, *relation)));
    let (value, relation) =
        sign.ok_or_else(|| WordError::new(word, "unknown relation", "< <= > or >="))?;
    let is_time = matches!(metric, Metric::Quantile(_) | Metric::Mean | Metric::Max);
    if is_time && matches!(relation, Relation::Above | Relation::AtLeast) {
        let remedy = format!("{} < {}", figure.trim(), value.trim());
        return Err(WordError::new(word, "a response time has an upper bound", remedy));
    }
    Ok(Objective { metric, step, relation, bound: bound(metric, value.trim())? })
}

/// Parses the name of a step or transaction, with or without quotes.
fn step_name(name: &str, word: &str) -> Result<String, WordError> {
    let inner = match name.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"'),
        None => Some(name),
    };
    let plain = inner.filter(|inner| !inner.is_empty() && !inner.contains('"'));
    plain.map(str::to_owned).ok_or_else(|| {
        WordError::new(
            word,
            "no name of a step or transaction",
            "such as p95 of checkout < 300ms, or of \"a, b\"",
        )
    })
}

/// Parses a metric such as `p99` or `errors`.
pub(crate) fn metric(word: &str) -> Result<Metric, WordError> {
    Ok(match word {
        "mean" => Metric::Mean,
        "max" => Metric::Max,
        "errors" => Metric::Errors,
        "throughput" => Metric::Throughput,
        "goodput" => Metric::Goodput,
        _ => Metric::Quantile(percentile(word)?),
    })
}

/// Parses a percentile to a quantile: `p99.9` is 0.999.
pub(crate) fn percentile(word: &str) -> Result<f64, WordError> {
    let percent = word.strip_prefix('p').and_then(number);
    let percent = percent.ok_or_else(|| WordError::new(word, "unknown metric", FIGURES))?;
    if percent <= 0.0 || percent > 100.0 {
        return Err(WordError::new(
            word,
            "a percentile lies above 0 and up to 100",
            "p50, p99 or p99.9",
        ));
    }
    Ok(hundredth(percent))
}

fn bound(metric: Metric, word: &str) -> Result<f64, WordError> {
    match metric {
        // A bare number could be meant as ms.
        Metric::Quantile(_) | Metric::Mean | Metric::Max => {
            Ok(duration::positive_with_unit(word)?.as_secs_f64())
        }
        Metric::Errors => share(word),
        Metric::Throughput | Metric::Goodput => per_second(word),
    }
}

fn share(word: &str) -> Result<f64, WordError> {
    let percent = word.strip_suffix('%').and_then(|digits| number(digits.trim_end()));
    // 0 is the same share with and without `%`.
    let percent = percent.or((word == "0").then_some(0.0)).filter(|p| *p <= 100.0);
    let percent = percent.ok_or_else(|| {
        WordError::new(word, "not a share of requests", "0% to 100%, such as 0.1%")
    })?;
    Ok(hundredth(percent))
}

fn per_second(word: &str) -> Result<f64, WordError> {
    let digits = word.strip_suffix("/s").unwrap_or(word).trim_end();
    number(digits)
        .ok_or_else(|| WordError::new(word, "not a rate", "requests per second, such as 1000/s"))
}

/// A percentage as a share, without the rounding error of dividing 99.9 by 100.
pub(crate) fn hundredth(percent: f64) -> f64 {
    // 99.9 / 100.0 is 0.9990000000000001.
    (percent * 1e6).round() / 1e8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        for (word, metric, relation, bound) in [
            ("p99 < 50ms", Metric::Quantile(0.99), Relation::Below, 0.05),
            ("p99.9<1s", Metric::Quantile(0.999), Relation::Below, 1.0),
            ("p50 ≤ 1.5s", Metric::Quantile(0.5), Relation::AtMost, 1.5),
            ("mean <= 10ms", Metric::Mean, Relation::AtMost, 0.01),
            ("max<2m", Metric::Max, Relation::Below, 120.0),
            ("errors < 0.1%", Metric::Errors, Relation::Below, 0.001),
            ("errors <= 0", Metric::Errors, Relation::AtMost, 0.0),
            ("throughput > 1000/s", Metric::Throughput, Relation::Above, 1000.0),
            ("goodput ≥ 0.5", Metric::Goodput, Relation::AtLeast, 0.5),
            ("goodput >= 999.5 /s", Metric::Goodput, Relation::AtLeast, 999.5),
        ] {
            assert_eq!(
                parse(word),
                Ok(vec![Objective { metric, step: None, relation, bound }]),
                "{word}"
            );
        }
        assert_eq!(parse("p99 < 50ms, errors < 0.1%,throughput > 1/s").unwrap().len(), 3);
        assert_eq!(parse("1-3-10"), parse("p99 < 1s, p99 < 3s, p99 < 10s"));
        assert_eq!(parse("1-3-10, errors < 1%").unwrap().len(), 4);
    }

    #[test]
    fn objectives_can_name_a_step_or_transaction() {
        let all =
            parse(r#"p95 of log in < 1s, errors of "a, b < c" <= 1%, throughput > 5/s"#).unwrap();
        let steps: Vec<Option<&str>> =
            all.iter().map(|objective| objective.step.as_deref()).collect();
        assert_eq!(steps, [Some("log in"), Some("a, b < c"), None]);
        let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["p95 of log in < 1s", r#"errors of "a, b < c" <= 1%"#, "throughput > 5/s"]
        );
    }

    #[test]
    fn errors_show_valid_values() {
        for (word, remedy) in [
            ("p99 of  < 50ms", "such as p95 of checkout < 300ms"),
            ("p99 of \"cart < 50ms", "such as p95 of checkout < 300ms"),
            ("", "write a bound such as p99 < 50ms"),
            ("p99", "one of < <= > >= is missing"),
            ("p99 > 50ms", "a response time has an upper bound; write p99 < 50ms"),
            ("p99 = 50ms", "one of < <= > >= is missing"),
            ("latency < 50ms", "write one of p50 … p99.9, mean, max, errors"),
            ("p < 50ms", "write one of p50"),
            ("p0 < 50ms", "write p50, p99 or p99.9"),
            ("p101 < 50ms", "write p50, p99 or p99.9"),
            ("p99 < 50", "`50`: a unit is missing; write 50s, 50ms or 50m"),
            ("p99 < ", "such as 500ms"),
            ("p99 < 0ms", "above zero"),
            ("p99 << 50ms", "such as 500ms"),
            ("errors < 1", "write 0% to 100%, such as 0.1%"),
            ("errors < 101%", "write 0% to 100%"),
            ("throughput > fast", "such as 1000/s"),
            ("throughput > -1", "such as 1000/s"),
            ("p99 < 50ms,", "write a bound such as"),
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains(remedy), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = (parse(&word), parse(&format!("p99<{word}")), parse(&format!("{word}≤1s")));
        }

        #[test]
        fn a_written_objective_is_read_back(
            tenths in 1..=1000_u32,
            micros in 1..100_000_000_u32,
            below: bool,
            step in proptest::option::of("[a-z<>=≤, ]{0,3}[a-z/]"),
        ) {
            let metric = Metric::Quantile(hundredth(f64::from(tenths) / 10.0));
            let relation = if below { Relation::Below } else { Relation::AtMost };
            let objective = Objective { metric, step: step.clone(), relation, bound: f64::from(micros) / 1e6 };
            let back = parse(&objective.to_string()).unwrap().remove(0);
            prop_assert_eq!((back.metric, &back.step, back.relation), (metric, &step, relation));
            prop_assert!((back.bound - objective.bound).abs() < 1e-9);
        }
    }
}
