//! Concludes which of two contenders is better, in a sentence that covers all loads.
//!
//! The sentences and the tables of a report come from the same [`Pair`]s, so they cannot contradict
//! each other. Out of scope: the decision itself.

use super::figures::written;
use brunt_model::LoadUnit;
use brunt_model::comparison::{Better, Compared, Pair};
use brunt_model::numbers::{count, enumeration, load, three_digits};
use brunt_model::objective::Metric;
use brunt_model::question::Measure;

/// Maximum number of loads that a sentence lists one by one.
const MOST_LISTED: usize = 3;

/// Returns a sentence for each two contenders, over all loads at which both were measured.
pub fn sentences(pairs: &[Pair], unit: LoadUnit) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    for pair in pairs {
        let Some(deciding) = pair.measures.first() else { continue };
        let level = Level { load: pair.load, compared: deciding };
        match groups.iter_mut().find(|group| group.has_figure(pair, deciding.measure)) {
            Some(group) => group.levels.push(level),
            None => groups.push(Group {
                ours: &pair.ours,
                theirs: &pair.theirs,
                unit,
                levels: vec![level],
            }),
        }
    }
    groups.iter().map(Group::sentence).collect()
}

/// The deciding figure of two contenders at all their loads, in ascending order of load.
struct Group<'a> {
    ours: &'a str,
    theirs: &'a str,
    unit: LoadUnit,
    levels: Vec<Level<'a>>,
}

/// The deciding figure at one load.
#[derive(Clone, Copy)]
struct Level<'a> {
    load: Option<f64>,
    compared: &'a Compared,
}

/// Words for the better value of a measure.
struct MeasureWords {
    /// Adjective for the better contender: `faster`.
    adjective: &'static str,
    /// Words for equal contenders: `equally fast`.
    equal: &'static str,
}

impl Group<'_> {
    fn has_figure(&self, pair: &Pair, measure: Measure) -> bool {
        let own_measure = self.levels.first().map(|level| level.compared.measure);
        self.ours == pair.ours && self.theirs == pair.theirs && own_measure == Some(measure)
    }

    fn sentence(&self) -> String {
        let undecided = self.levels_with(Better::Undecided);
        if undecided.len() == self.levels.len() {
            return self.undecided(&undecided);
        }
        let mut clauses = Vec::new();
        clauses.extend(self.wins(self.theirs, self.ours, &self.levels_with(Better::Better)));
        clauses.extend(self.wins(self.ours, self.theirs, &self.levels_with(Better::Worse)));
        clauses.extend(self.equal(&self.levels_with(Better::Equal)));
        if !undecided.is_empty() {
            clauses.push(format!("undecided{}", self.at_loads(&undecided)));
        }
        format!("{}.", clauses.join("; "))
    }

    fn levels_with(&self, verdict: Better) -> Vec<Level<'_>> {
        self.levels.iter().filter(|level| level.compared.verdict == verdict).copied().collect()
    }

    /// `nginx is 34 % faster than apache at 1,000 users (p50 48.0 ms against 73.0 ms, 95 % CI 29 to
    /// 38 %)`. With several loads, the figures are those of the highest.
    fn wins(&self, winner: &str, loser: &str, levels: &[Level]) -> Option<String> {
        let highest = levels.last()?;
        let adjective = words(highest.compared.measure).adjective;
        let advantage = Advantage::new(highest.compared);
        if levels.len() == 1 {
            let size_text =
                advantage.size.as_ref().map_or(String::new(), |size| format!("{size} "));
            return Some(format!(
                "{winner} is {size_text}{adjective} than {loser}{} ({})",
                self.at_loads(levels),
                advantage.evidence
            ));
        }
        let size_text = advantage
            .size
            .map_or(String::new(), |size| format!(", by {size}{}", self.at_loads(&[*highest])));
        Some(format!(
            "{winner} is {adjective} than {loser}{}{size_text} ({})",
            self.at_loads(levels),
            advantage.evidence
        ))
    }

    fn equal(&self, levels: &[Level]) -> Option<String> {
        let highest = levels.last()?.compared;
        let equal = words(highest.measure).equal;
        Some(format!(
            "{} and {} are {equal}{} ({})",
            self.theirs,
            self.ours,
            self.at_loads(levels),
            values(highest)
        ))
    }

    fn undecided(&self, levels: &[Level]) -> String {
        let Some(highest) = levels.last() else { return String::new() };
        let adjective = words(highest.compared.measure).adjective;
        // The sentence below begins with the word itself.
        let reason = highest.compared.sentence.replacen(": undecided: ", ": ", 1);
        format!(
            "Undecided whether {} or {} is {adjective}{}: {reason}.",
            self.ours,
            self.theirs,
            self.at_loads(&[*highest])
        )
    }

    /// Loads as text: ` at 100, 200 and 500/s`, ` at all 12 loads`.
    fn at_loads(&self, levels: &[Level]) -> String {
        let loads: Vec<f64> = levels.iter().filter_map(|level| level.load).collect();
        match loads.len() {
            0 => String::new(),
            number if number == self.levels.len() && number > MOST_LISTED => {
                format!(" at all {} loads", count(number as u64))
            }
            number if number > MOST_LISTED => {
                format!(" at {} of {} loads", count(number as u64), self.levels.len())
            }
            _ => format!(
                " at {}",
                enumeration(&loads.iter().map(|value| load(self.unit, *value)).collect::<Vec<_>>())
            ),
        }
    }
}

/// Advantage of the better contender.
struct Advantage {
    /// `34 %`, `at least 29 %`; None if a figure is zero.
    size: Option<String>,
    /// `p50 48.0 ms against 73.0 ms, 95 % CI 29 to 38 %`, the better contender first.
    evidence: String,
}

impl Advantage {
    fn new(compared: &Compared) -> Self {
        let sizes = [compared.shift, compared.low, compared.high]
            .map(|shift| shift.map(|shift| size(compared, shift)));
        let [estimate, one_end, other_end] = sizes;
        let least = match (one_end, other_end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let interval = one_end.zip(other_end);
        let interval = interval.map(|(one, other)| {
            format!(", 95 % CI {} to {} %", number(one.min(other)), number(one.max(other)))
        });
        let size = match (estimate, least) {
            (Some(estimate), _) => Some(format!("{} %", number(estimate))),
            (None, Some(least)) if compared.shift.is_some() => {
                Some(format!("at least {} %", number(least)))
            }
            _ => None,
        };
        Self { size, evidence: values(compared) + &interval.unwrap_or_default() }
    }
}

/// Converts a shift into the advantage of the better contender. The shift is the other contender's
/// figure relative to the baseline's, minus 1. For times, the advantage is the share that the
/// faster one saves; for rates, the share by which the higher one exceeds the lower.
fn size(compared: &Compared, shift: f64) -> f64 {
    let ratio = 1.0 + shift;
    let more_is_better = compared.measure.more_is_better();
    match (compared.verdict == Better::Better, more_is_better) {
        (true, true) => ratio - 1.0,
        (true, false) => 1.0 - ratio,
        (false, true) => 1.0 / ratio - 1.0,
        (false, false) => 1.0 - 1.0 / ratio,
    }
}

/// `p50 48.0 ms against 73.0 ms`, the better contender first.
fn values(compared: &Compared) -> String {
    let [ours, theirs] =
        [compared.ours, compared.theirs].map(|value| written(compared.measure, value));
    let is_theirs_first = compared.verdict != Better::Worse;
    let (first, second) = if is_theirs_first { (theirs, ours) } else { (ours, theirs) };
    format!("{} {first} against {second}", compared.measure)
}

fn words(measure: Measure) -> MeasureWords {
    let (adjective, equal) = match measure {
        Measure::Run(Metric::Quantile(_) | Metric::Mean | Metric::Max) => {
            ("faster", "equally fast")
        }
        Measure::Run(Metric::Throughput | Metric::Goodput) => {
            ("higher in throughput", "equal in throughput")
        }
        Measure::Run(Metric::Errors) => ("more reliable", "equally reliable"),
        Measure::Capacity => ("higher in capacity", "equal in capacity"),
        Measure::ServerCpu => ("more efficient", "equally efficient"),
    };
    MeasureWords { adjective, equal }
}

/// A share as a number of percent.
fn number(share: f64) -> String {
    three_digits(share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::comparison::Test;
    use proptest::prelude::*;

    const P50: Measure = Measure::Run(Metric::Quantile(0.5));

    fn compared(measure: Measure, ours: f64, theirs: f64, verdict: Better) -> Compared {
        let shift = theirs / ours - 1.0;
        Compared {
            measure,
            ours,
            theirs,
            shift: Some(shift),
            low: Some(shift - 0.02),
            high: Some(shift + 0.02),
            p: None,
            test: Test::PermutationInBlocks,
            verdict,
            sentence: "p50: undecided: 3 blocks are too few".into(),
        }
    }

    fn pair(load: f64, compared: Compared) -> Pair {
        let (ours, theirs) = ("apache".to_owned(), "nginx".to_owned());
        Pair { ours, theirs, load: Some(load), measures: vec![compared], shift: Vec::new() }
    }

    const USERS: LoadUnit = LoadUnit::Users { think: None };

    #[test]
    fn the_better_contender_comes_first_with_its_advantage() {
        let one = [pair(1000.0, compared(P50, 0.073, 0.048, Better::Better))];
        let expected = "nginx is 34.2 % faster than apache at 1,000 users (p50 48.0 ms against 73.0 ms, 95 % CI 32.2 to 36.2 %).";
        assert_eq!(sentences(&one, USERS), [expected]);
        let throughput = Measure::Run(Metric::Throughput);
        let one = [pair(64.0, compared(throughput, 1250.0, 1000.0, Better::Worse))];
        assert!(
            sentences(&one, USERS)[0]
                .starts_with("apache is 25.0 % higher in throughput than nginx at 64 users (")
        );
    }

    #[test]
    fn loads_are_summarized_by_the_better_contender() {
        let at = |load: f64, verdict| pair(load, compared(P50, 0.073, 0.048, verdict));
        let mut all: Vec<Pair> =
            (1..=5).map(|n| at(100.0 * f64::from(n), Better::Better)).collect();
        let [sentence] = &sentences(&all, USERS)[..] else { panic!() };
        assert!(
            sentence.starts_with(
                "nginx is faster than apache at all 5 loads, by 34.2 % at 500 users ("
            ),
            "{sentence}"
        );
        all[0].measures[0].verdict = Better::Undecided;
        all[1].measures[0].verdict = Better::Equal;
        let [sentence] = &sentences(&all, USERS)[..] else { panic!() };
        assert!(
            sentence.contains("at 300 users, 400 users and 500 users, by 34.2 % at 500 users ("),
            "{sentence}"
        );
        assert!(
            sentence.contains("; nginx and apache are equally fast at 200 users ("),
            "{sentence}"
        );
        assert!(sentence.ends_with("; undecided at 100 users."), "{sentence}");
        for pair in &mut all {
            pair.measures[0].verdict = Better::Undecided;
        }
        assert_eq!(
            sentences(&all, USERS),
            [
                "Undecided whether apache or nginx is faster at 500 users: p50: 3 blocks are too few."
            ]
        );
    }

    proptest! {
        #[test]
        fn the_contender_named_first_has_the_better_figure(ours in 1e-6f64..1e3, theirs in 1e-6f64..1e3, more in any::<bool>()) {
            let measure = if more { Measure::Run(Metric::Throughput) } else { P50 };
            let is_better = (theirs > ours) == more;
            let verdict = if is_better { Better::Better } else { Better::Worse };
            let [sentence] = &sentences(&[pair(10.0, compared(measure, ours, theirs, verdict))], USERS)[..] else { panic!() };
            let winner = if is_better { "nginx" } else { "apache" };
            prop_assert!(sentence.starts_with(&format!("{winner} is ")), "{}", sentence);
            prop_assert!(!sentence.contains("is -") && !sentence.contains("NaN"), "{}", sentence);
            let [better, worse] = if is_better { [theirs, ours] } else { [ours, theirs] };
            let values = format!("{} against {}", written(measure, better), written(measure, worse));
            prop_assert!(sentence.contains(&values), "{}", sentence);
        }
    }
}
