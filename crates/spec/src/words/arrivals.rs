//! Spacing of arrivals: `poisson`, `even`, `burst:N`.

use super::named::{self, NamedValue, Suggestion, value_named};
use super::number::count;
use brunt_model::Arrivals;
use brunt_script::WordError;

/// Spacings without a number.
const ARRIVALS: [NamedValue<Arrivals>; 2] = [
    NamedValue {
        names: &["poisson"],
        about: "independent of each other, as those of many users",
        value: Arrivals::Poisson,
    },
    NamedValue { names: &["even"], about: "evenly spaced", value: Arrivals::Even },
];

/// Begin of a spacing with the size of its bursts.
const BURST: &str = "burst:";

/// Parses the spacing of arrivals around their rate.
pub fn parse(word: &str) -> Result<Arrivals, WordError> {
    if let Some(size) = word.strip_prefix(BURST) {
        return count(size, "the size of a burst", "burst:10").map(Arrivals::Burst);
    }
    value_named(&ARRIVALS, word).ok_or_else(|| {
        WordError::new(
            word,
            "unknown arrival process",
            "poisson, even or burst:N, such as burst:10",
        )
    })
}

/// Returns the values that shells propose.
pub fn suggestions() -> Vec<Suggestion> {
    let mut all = named::suggestions(&ARRIVALS);
    all.push(Suggestion::new(BURST, "groups of N requests at once"));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        assert_eq!(parse("poisson"), Ok(Arrivals::Poisson));
        assert_eq!(parse("even"), Ok(Arrivals::Even));
        assert_eq!(parse("burst:10"), Ok(Arrivals::Burst(10)));
    }

    #[test]
    fn errors_show_valid_values() {
        for word in [
            "",
            "Poisson",
            "uniform",
            "burst",
            "burst:",
            "burst:0",
            "burst:-1",
            "burst:1.5",
            "even:2",
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains("such as burst:10"), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = (parse(&word), parse(&format!("burst:{word}")));
        }
    }
}
