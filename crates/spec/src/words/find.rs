//! Settings of a search: `capacity > 3000/s`, `2%`, `2s..20s`, `1.5` or `no`. Out of scope: a
//! search, and its defaults.

use super::duration;
use super::number::number;
use brunt_model::objective::Relation;
use brunt_model::question::Requirement;
use brunt_script::WordError;
use std::time::Duration;

const EXPECTED: &str =
    "capacity > N or capacity >= N, such as 'capacity > 3000/s' or 'capacity >= 200 users'";

/// Units that may follow a load.
const UNITS: [&str; 3] = ["/s", "users", "requests/s"];

/// Parses a requirement of the capacity.
pub fn requirement(word: &str) -> Result<Requirement, WordError> {
    let rest = word.trim().strip_prefix("capacity");
    let rest = rest.ok_or_else(|| requirement_error(word, "only a capacity can be required"))?;
    // The longer sign first, because `>=` begins with `>`.
    let signs = [(">=", Relation::AtLeast), ("≥", Relation::AtLeast), (">", Relation::Above)];
    let rest = rest.trim_start();
    let sign =
        signs.iter().find_map(|(sign, relation)| Some((*relation, rest.strip_prefix(sign)?)));
    let (relation, bound) =
        sign.ok_or_else(|| requirement_error(word, "not a lower bound of the capacity"))?;
    let bound = bound.trim();
    // In reverse, because `requests/s` ends in `/s`.
    let plain =
        UNITS.iter().rev().find_map(|unit| bound.strip_suffix(unit)).unwrap_or(bound).trim();
    let bound = number(plain).filter(|bound| *bound > 0.0);
    let bound = bound
        .ok_or_else(|| requirement_error(word, "the number after the sign must be above 0"))?;
    Ok(Requirement { relation, bound })
}

fn requirement_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, EXPECTED)
}

/// Parses half an interval as a share of the figure, such as `2%`.
pub fn precision(word: &str) -> Result<f64, WordError> {
    let percent = word
        .trim()
        .trim_start_matches(['±'])
        .strip_suffix('%')
        .and_then(|word| number(word.trim()));
    let share =
        percent.map(|percent| percent / 100.0).filter(|share| (0.001..=0.5).contains(share));
    share.ok_or_else(|| WordError::new(word, "not a share from 0.1% to 50%", "2% or 0.5%"))
}

/// Parses a multiple of the capacity, or `no`.
pub fn overload(word: &str) -> Result<Option<f64>, WordError> {
    if word == "no" {
        return Ok(None);
    }
    let times = number(word).filter(|times| (1.05..=10.0).contains(times));
    times.map(Some).ok_or_else(|| {
        WordError::new(word, "an overload is 1.05 to 10 times the capacity", "1.5, or no")
    })
}

/// Parses the measured time of a trial that chooses the next load.
pub fn trial_duration(word: &str) -> Result<Duration, WordError> {
    let instead =
        "one time of at least 1s, such as 2s; confirmations take a share of the time budget";
    if word.contains("..") {
        return Err(WordError::new(word, "not a time", instead));
    }
    let time = duration::positive(word)?;
    if time < Duration::from_secs(1) {
        return Err(WordError::new(word, "too short for a trial", instead));
    }
    Ok(time)
}

/// Parses a load, such as `500`, `500/s` or `64 users`.
pub fn load(word: &str) -> Result<f64, WordError> {
    // In reverse, because `requests/s` ends in `/s`.
    let plain = UNITS.iter().rev().find_map(|unit| word.strip_suffix(unit)).unwrap_or(word).trim();
    let load = number(plain).filter(|load| *load > 0.0);
    load.ok_or_else(|| WordError::new(word, "not a load above 0", "a number such as 500"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_a_minimum_capacity() {
        for (word, relation, bound) in [
            ("capacity > 3000/s", Relation::Above, 3000.0),
            (" capacity>=200 users ", Relation::AtLeast, 200.0),
            ("capacity ≥ 12.5 requests/s", Relation::AtLeast, 12.5),
        ] {
            assert_eq!(requirement(word).unwrap(), Requirement { relation, bound }, "{word}");
        }
        for word in ["capacity < 5", "knee > 5", "capacity > many", "capacity > 0", "", "capacity"]
        {
            let message = requirement(word).unwrap_err().to_string();
            assert!(message.contains("capacity > 3000/s"), "{message}");
        }
    }

    #[test]
    fn errors_of_search_options_show_valid_values() {
        assert_eq!((precision("2%").unwrap(), precision("±0.5 %").unwrap()), (0.02, 0.005));
        assert_eq!((overload("1.5").unwrap(), overload("no").unwrap()), (Some(1.5), None));
        assert_eq!(trial_duration("5s").unwrap(), Duration::from_secs(5));
        assert_eq!((load("500/s").unwrap(), load("64 users").unwrap()), (500.0, 64.0));
        for bad in ["2", "0%", "60%", "x%"] {
            assert!(precision(bad).unwrap_err().to_string().contains("2% or 0.5%"), "{bad}");
        }
        assert!(
            overload("1").is_err()
                && trial_duration("2s..20s").is_err()
                && trial_duration("100ms").is_err()
        );
        assert!(load("0").is_err() && load("-5").is_err() && load("many").is_err());
    }
}
