//! Concludes which of two contenders is better, in a sentence that covers all loads.
//!
//! The sentences and the tables of a report come from the same [`Pair`]s, so they cannot contradict
//! each other. Out of scope: the decision itself.

use super::figures::written;
use crate::texts::message;
use brunt_model::comparison::{Better, Compared, Pair, Test};
use brunt_model::numbers::{count, three_digits};
use brunt_model::objective::Metric;
use brunt_model::question::Measure;
use brunt_model::text::Value;
use brunt_model::{LoadUnit, Text, text};

/// Maximum number of loads that a sentence lists one by one.
const MOST_LISTED: usize = 3;
/// Maximum number of pairs of contenders that the sentence on undecided ones lists.
const MOST_PAIRS: usize = 3;

/// Returns a sentence for each two contenders of which some load is decided.
pub fn sentences(pairs: &[Pair], unit: LoadUnit) -> Vec<Text> {
    groups(pairs, unit).iter().filter_map(Group::sentence).collect()
}

/// Returns one sentence on all contenders and loads that are undecided after this number of
/// repetitions. None if all are decided.
pub fn undecided(pairs: &[Pair], unit: LoadUnit, repetitions: u32) -> Option<Text> {
    let clauses = undecided_clauses(pairs, unit, repetitions);
    (!clauses.is_empty()).then(|| message!("undecided", clauses = Value::Series(clauses)))
}

/// Returns the same as clauses.
pub fn undecided_clauses(pairs: &[Pair], unit: LoadUnit, repetitions: u32) -> Vec<Text> {
    let groups = groups(pairs, unit);
    let mut untested: Vec<Text> = Vec::new();
    let mut tested: Vec<(&Group, Vec<Level>)> = Vec::new();
    for group in &groups {
        let levels = group.levels_with(Better::Undecided).into_iter();
        let (few, enough): (Vec<Level>, Vec<Level>) =
            levels.partition(|level| repetitions > 0 && is_untested(level.compared));
        untested.extend(few.last().map(|highest| group.untested(&few, highest.compared)));
        tested.extend((!enough.is_empty()).then_some((group, enough)));
    }
    let mut clauses = Vec::new();
    if untested.len() > MOST_PAIRS {
        let pairs = untested.len().to_string();
        clauses.push(message!("undecided.many", count = u64::from(repetitions), pairs));
    } else if !untested.is_empty() {
        let pairs = Value::Series(untested);
        clauses.push(message!("undecided.few", count = u64::from(repetitions), pairs));
    }
    let more = tested.len().saturating_sub(MOST_PAIRS);
    clauses.extend(tested.iter().take(MOST_PAIRS).map(|(group, levels)| group.undecided(levels)));
    if more > 0 {
        clauses.push(message!("undecided.more", count = more));
    }
    clauses
}

/// True if there are values, but too few for any outcome to be significant.
fn is_untested(compared: &Compared) -> bool {
    compared.test == Test::None && (compared.ours > 0.0 || compared.theirs > 0.0)
}

fn groups(pairs: &[Pair], unit: LoadUnit) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for pair in pairs {
        let Some(deciding) = pair.measures.first() else { continue };
        let level = Level { load: pair.load, compared: deciding, tail: tail(pair) };
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
    groups
}

/// Returns p99 if p50 decides: the median alone hides the slowest requests.
fn tail(pair: &Pair) -> Option<&Compared> {
    let [first, second, ..] = &pair.measures[..] else { return None };
    let [median, p99] = [0.5, 0.99].map(|q| Measure::Run(Metric::Quantile(q)));
    (first.measure == median && second.measure == p99).then_some(second)
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
    /// A further figure for the sentence.
    tail: Option<&'a Compared>,
}

impl Group<'_> {
    fn has_figure(&self, pair: &Pair, measure: Measure) -> bool {
        let own_measure = self.levels.first().map(|level| level.compared.measure);
        self.ours == pair.ours && self.theirs == pair.theirs && own_measure == Some(measure)
    }

    /// Returns None if all loads are undecided.
    fn sentence(&self) -> Option<Text> {
        let mut clauses = Vec::new();
        clauses.extend(self.wins(self.theirs, self.ours, &self.levels_with(Better::Better)));
        clauses.extend(self.wins(self.ours, self.theirs, &self.levels_with(Better::Worse)));
        clauses.extend(self.equal(&self.levels_with(Better::Equal)));
        (!clauses.is_empty()).then(|| text!("sentence", clause = text::series(clauses)))
    }

    fn levels_with(&self, verdict: Better) -> Vec<Level<'_>> {
        self.levels.iter().filter(|level| level.compared.verdict == verdict).copied().collect()
    }

    /// `nginx is 34 % faster than apache at 1,000 users (p50 48.0 ms against 73.0 ms, 95 % CI 29 to
    /// 38 %)`. With several loads, the figures are those of the highest.
    fn wins(&self, winner: &str, loser: &str, levels: &[Level]) -> Option<Text> {
        let highest = levels.last()?;
        let kind = kind(highest.compared.measure);
        let loads = self.at_loads(levels);
        let Advantage { size, evidence } = Advantage::new(*highest);
        Some(match size {
            Some(size) if levels.len() == 1 => {
                message!("comparison-better.by", kind, winner, size, loser, loads, evidence)
            }
            Some(size) => {
                let highest = self.at_loads(&[*highest]);
                message!(
                    "comparison-better.by-at-highest",
                    kind,
                    winner,
                    loser,
                    loads,
                    size,
                    highest,
                    evidence
                )
            }
            None => message!("comparison-better", kind, winner, loser, loads, evidence),
        })
    }

    fn equal(&self, levels: &[Level]) -> Option<Text> {
        let highest = levels.last()?.compared;
        Some(message!(
            "comparison-better.equal",
            kind = kind(highest.measure),
            theirs = self.theirs,
            ours = self.ours,
            loads = self.at_loads(levels),
            values = values(highest)
        ))
    }

    /// `nginx or apache at 100 users (p50 4.90 ms against 5.00 ms so far)`.
    fn untested(&self, levels: &[Level], highest: &Compared) -> Text {
        let ours = self.ours;
        let theirs = self.theirs;
        let loads = self.at_loads(levels);
        // Without an estimate, the values may be lower bounds only.
        match highest.shift {
            Some(_) => {
                message!("undecided.pair-so-far", ours, theirs, loads, values = values(highest))
            }
            None => message!("undecided.pair-at-loads", ours, theirs, loads),
        }
    }

    /// `whether nginx or apache is faster at 100 users (p50 4.90 ms against 5.00 ms:
    /// apache is between 1.2 % lower and 3.4 % higher)`. The figures are those of the highest load.
    fn undecided(&self, levels: &[Level]) -> Text {
        let Some(highest) = levels.last() else { return Text::default() };
        message!(
            "undecided.whether",
            kind = kind(highest.compared.measure),
            ours = self.ours,
            theirs = self.theirs,
            loads = self.at_loads(levels),
            values = match highest.compared.shift {
                Some(_) => values(highest.compared),
                None => highest.compared.measure.words(),
            },
            reason = highest.compared.undecided.clone().unwrap_or_default()
        )
    }

    /// Loads as text: ` at 100, 200 and 500/s`, ` at all 12 loads`.
    fn at_loads(&self, levels: &[Level]) -> Text {
        let loads: Vec<f64> = levels.iter().filter_map(|level| level.load).collect();
        match loads.len() {
            0 => Text::default(),
            number if number == self.levels.len() && number > MOST_LISTED => {
                message!("comparison-better.at-all", count = count(number as u64))
            }
            number if number > MOST_LISTED => message!(
                "comparison-better.at-some",
                count = count(number as u64),
                all = self.levels.len().to_string()
            ),
            _ => {
                let loads: Vec<Text> = loads.iter().map(|value| self.unit.format(*value)).collect();
                message!("comparison-better.at", loads)
            }
        }
    }
}

/// Advantage of the better contender.
struct Advantage {
    /// `34 %`, `at least 29 %`; None if a figure is zero.
    size: Option<Text>,
    /// `p50 48.0 ms against 73.0 ms, 95 % CI 29 to 38 %`, the better contender first.
    evidence: Text,
}

impl Advantage {
    fn new(level: Level) -> Self {
        let Level { compared, tail, .. } = level;
        let sizes = [compared.shift, compared.low, compared.high]
            .map(|shift| shift.map(|shift| size(compared, shift)));
        let [estimate, one_end, other_end] = sizes;
        let least = match (one_end, other_end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let size = match (estimate, least) {
            (Some(estimate), _) => Some(format!("{} %", number(estimate)).into()),
            (None, Some(least)) if compared.shift.is_some() => {
                let size = format!("{} %", number(least));
                Some(message!("comparison-better.at-least", size))
            }
            _ => None,
        };
        let evidence = match one_end.zip(other_end) {
            Some((one, other)) => {
                let [first, second] = written_values(compared, compared.verdict);
                message!(
                    "comparison-better.values-and-interval",
                    figure = compared.measure.words(),
                    first,
                    second,
                    low = number(one.min(other)),
                    high = number(one.max(other))
                )
            }
            None => values(compared),
        };
        let evidence = match tail {
            Some(tail) => message!(
                "comparison-better.with-tail",
                evidence,
                tail = values_of(tail, compared.verdict)
            ),
            None => evidence,
        };
        Self { size, evidence }
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
fn values(compared: &Compared) -> Text {
    values_of(compared, compared.verdict)
}

/// The values of a figure, in the order of the verdict on another one.
fn values_of(compared: &Compared, verdict: Better) -> Text {
    let [first, second] = written_values(compared, verdict);
    message!("comparison-better.values", figure = compared.measure.words(), first, second)
}

/// The values of both contenders, the better one first; as they are paired if neither is better.
fn written_values(compared: &Compared, verdict: Better) -> [String; 2] {
    let [ours, theirs] =
        [compared.ours, compared.theirs].map(|value| written(compared.measure, value));
    let is_theirs_first = matches!(verdict, Better::Better | Better::Equal);
    if is_theirs_first { [theirs, ours] } else { [ours, theirs] }
}

/// Kind of a figure, by which the messages choose their words.
fn kind(measure: Measure) -> &'static str {
    match measure {
        Measure::Run(Metric::Quantile(_) | Metric::Mean | Metric::Max) => "time",
        Measure::Run(Metric::Throughput | Metric::Goodput) => "throughput",
        Measure::Run(Metric::Errors) => "errors",
        Measure::Capacity => "capacity",
        Measure::ServerCpu => "cpu",
    }
}

/// A share as a number of percent.
fn number(share: f64) -> String {
    three_digits(share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Language;
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
            undecided: Some("3 blocks are too few".into()),
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
    fn a_conclusion_is_a_whole_sentence_in_chinese() {
        let one = pair(1000.0, compared(P50, 0.073, 0.048, Better::Better));
        let chinese = |pair| {
            let [sentence] = &sentences(&[pair], USERS)[..] else { panic!() };
            sentence.in_language(Language::Chinese).into_owned()
        };
        assert_eq!(
            chinese(one),
            "nginx 比 apache 快 34.2 %（负载 1,000 个用户）（p50 为 48.0 ms，对比 73.0 ms，95 % 置信区间 32.2 至 36.2 %）。"
        );
        let open = pair(100.0, compared(P50, 0.073, 0.048, Better::Undecided));
        let open = undecided(&[open], USERS, 3).unwrap();
        let open = open.in_language(Language::Chinese);
        assert!(
            open.starts_with("尚未确定：apache 与 nginx 哪个更快（负载 100 个用户）（p50 为 73.0 ms，对比 48.0 ms："),
            "{open}"
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
        assert!(!sentence.contains("ndecided"), "{sentence}");
        let open = "Undecided: whether apache or nginx is faster at 100 users (p50 73.0 ms against 48.0 ms: 3 blocks are too few).";
        assert_eq!(undecided(&all, USERS, 3).unwrap(), open);
        for pair in &mut all {
            pair.measures[0].verdict = Better::Undecided;
        }
        assert_eq!(sentences(&all, USERS), Vec::<String>::new());
        assert!(undecided(&all, USERS, 3).unwrap().contains(" at all 5 loads ("));
        for pair in &mut all {
            pair.measures[0].test = Test::None;
        }
        assert_eq!(
            undecided(&all, USERS, 3).unwrap(),
            "Undecided: apache or nginx at all 5 loads (p50 73.0 ms against 48.0 ms so far): 3 repetitions are too few."
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
