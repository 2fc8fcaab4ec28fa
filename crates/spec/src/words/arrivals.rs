//! Spacing of arrivals: `poisson`, `even`, `burst:N`.

use super::number::count;
use brunt_model::Arrivals;
use brunt_script::WordError;

/// Parses the spacing of arrivals around their rate.
///
/// # Errors
///
/// [`WordError`] if the value is not of this form.
pub fn parse(word: &str) -> Result<Arrivals, WordError> {
    match word.split_once(':') {
        None if word == "poisson" => Ok(Arrivals::Poisson),
        None if word == "even" => Ok(Arrivals::Even),
        Some(("burst", size)) => {
            count(size, "the size of a burst", "burst:10").map(Arrivals::Burst)
        }
        _ => Err(WordError::new(
            word,
            "unknown arrival process",
            "poisson, even or burst:N, such as burst:10",
        )),
    }
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
