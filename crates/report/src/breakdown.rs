//! Builds the tables of a run by population, group, agent, label and transaction, which the text, Markdown
//! and the page share.

use crate::agents::{self, AgentRows};
use crate::figures::{self, enough, response_quantile};
use crate::result::{label_name, only_label};
use crate::subset::{RunSubset, SubsetKind};
use crate::texts::message;
use brunt_model::numbers::{UNKNOWN, count, three_digits};
use brunt_model::{CheckFailure, Judgement, Language, Run, Tally, Text, TransactionTally};

/// A table of the parts of a run, with a row for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// Message with the kind of the parts: the head of the first column.
    pub title: &'static str,
    /// Messages with the heads of the other columns, each with the minimum terminal width that
    /// shows it, in characters.
    pub columns: &'static [(&'static str, usize)],
    /// Name and figures of each part.
    pub rows: Vec<(Text, Vec<Text>)>,
    /// Kind of the parts, if they have figures over time.
    pub kind: Option<SubsetKind>,
}

const REQUEST_COLUMNS: [(&str, usize); 7] = [
    ("column.completed", 0),
    ("column.per-second", 90),
    ("column.errors", 0),
    ("column.p50", 0),
    ("column.p95", 0),
    ("column.p99", 0),
    ("column.max", 100),
];
const TRANSACTION_COLUMNS: [(&str, usize); 8] = [
    ("column.ended", 0),
    ("column.per-second", 90),
    ("column.failed", 0),
    ("column.unfinished", 90),
    ("column.p50", 0),
    ("column.p95", 0),
    ("column.p99", 0),
    ("column.max", 100),
];

/// Beginning of the name of a hop.
const HOP: &str = "→ ";

/// Quantiles of the response time in each row.
const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 1.0];

/// Returns the tables that have rows.
pub fn all(run: &Run, judgement: &Judgement, rows: AgentRows) -> Vec<Breakdown> {
    let agents = agents::table(run, judgement, rows);
    [populations(run), groups(run), agents, labels(run), transactions(run)]
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// Returns a table of the populations.
pub fn populations(run: &Run) -> Breakdown {
    let rows = run.populations.iter().map(|population| {
        (name_of_population(population).into(), requests(population, &population.total))
    });
    Breakdown {
        title: "column.populations",
        columns: &REQUEST_COLUMNS,
        rows: rows.collect(),
        kind: Some(SubsetKind::Population),
    }
}

/// Returns a table of the groups of agents.
pub fn groups(run: &Run) -> Breakdown {
    let rows = run.agent_groups().into_iter().map(|group| {
        let name = message!("group-of-agents", name = group.name, count = group.agents.len());
        (name, requests(run, &group.total()))
    });
    Breakdown {
        title: "column.groups",
        columns: &REQUEST_COLUMNS,
        rows: rows.collect(),
        kind: None,
    }
}

fn name_of_population(population: &Run) -> String {
    population.plan.as_ref().map_or(String::new(), |plan| plan.main().name.clone())
}

/// Choice and order of the rows of a table of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelChoice {
    /// Order of the labels.
    pub order: LabelOrder,
    /// Text that occurs in the name of a label or of one of its hops, in any case; empty for all.
    pub search: String,
}

/// Order of labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LabelOrder {
    /// Most requests first.
    #[default]
    Count,
    /// Most errors first.
    Errors,
    /// Highest 99th percentile of the response time first.
    P99,
}

impl LabelOrder {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::Count, Self::Errors, Self::P99];

    /// Word of the order in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Errors => "errors",
            Self::P99 => "p99",
        }
    }

    /// Returns the order with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }

    fn key(self, tally: &Tally) -> u64 {
        match self {
            Self::Count => tally.completed,
            Self::Errors => tally.errors(),
            Self::P99 => tally.response_quantile(0.99).value,
        }
    }
}

/// Returns a table of the labels if there are several: most requests first, each with the
/// hops of its redirects.
pub fn labels(run: &Run) -> Breakdown {
    chosen_labels(run, &LabelChoice::default())
}

/// Returns a table of the labels of a choice if there are several, each with the hops of its redirects.
pub fn chosen_labels(run: &Run, choice: &LabelChoice) -> Breakdown {
    let search = choice.search.to_lowercase();
    let is_found = |label: u32| label_name(run, label).to_lowercase().contains(&search);
    // A single label would repeat the figures of the run.
    let mut steps: Vec<(u32, &Tally)> = run
        .steps()
        .filter(|_| run.labels.len() > 1)
        .filter(|(step, _)| is_found(*step) || run.hops_of(*step).any(|(hop, _)| is_found(hop)))
        .collect();
    steps.sort_by_key(|step| std::cmp::Reverse(choice.order.key(step.1)));
    let rows = steps.into_iter().flat_map(|(step, tally)| {
        let hops = run
            .hops_of(step)
            .map(|(hop, tally)| (HOP.to_owned() + &label_name(run, hop), requests(run, tally)));
        let rows = std::iter::once((label_name(run, step), requests(run, tally))).chain(hops);
        rows.map(|(name, figures)| (name.into(), figures))
    });
    Breakdown {
        title: "column.labels",
        columns: &REQUEST_COLUMNS,
        rows: rows.collect(),
        kind: Some(SubsetKind::Label),
    }
}

/// Returns a table of the transactions, by name.
pub fn transactions(run: &Run) -> Breakdown {
    let rows = run
        .transactions
        .iter()
        .map(|(name, tally)| (name.as_str().into(), transaction(run, tally)));
    Breakdown {
        title: "column.transactions",
        columns: &TRANSACTION_COLUMNS,
        rows: rows.collect(),
        kind: Some(SubsetKind::Transaction),
    }
}

/// Returns a sentence for each failed check, most frequent first.
pub fn check_failures(run: &Run) -> Vec<Text> {
    let mut failures: Vec<&CheckFailure> = run.check_failures.iter().collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    failures.into_iter().map(|failure| check_failure(run, failure)).collect()
}

fn check_failure(run: &Run, failure: &CheckFailure) -> Text {
    let CheckFailure { label, check, expected, found, count: failed } = failure;
    // A run with a single label keeps no tally for it: all replies of the run are its replies.
    let replies = run.labels.get(label).map_or(&run.total, |tally| tally).completed;
    let condition = if expected.is_empty() {
        Text::from(&**check)
    } else {
        message!("check-failure.expected", expected = expected.clone())
    };
    let label = name_of(run, *label);
    let replies = count(replies);
    // The text is an example; other replies may differ.
    let found = found.clone();
    match (&*found, failed) {
        ("", _) => {
            message!("check-failure", label, condition, failed = count(*failed), replies)
        }
        (_, 1) => {
            message!(
                "check-failure.found",
                label,
                condition,
                found,
                failed = count(*failed),
                replies
            )
        }
        _ => message!(
            "check-failure.found-for-example",
            label,
            condition,
            found,
            failed = count(*failed),
            replies
        ),
    }
}

/// Returns the name of a label. A single label has no tally, so its name comes from the plan.
fn name_of(run: &Run, label: u32) -> String {
    if run.labels.is_empty() { only_label(run) } else { label_name(run, label) }
}

impl Breakdown {
    /// Returns the part with the name of a row; None if the parts have no figures over time.
    pub fn subset(&self, name: &str) -> Option<RunSubset> {
        let name = name.strip_prefix(HOP).unwrap_or(name).to_owned();
        Some(RunSubset { kind: self.kind?, name })
    }

    /// Returns the head and the rows with all columns, for a format without a width.
    pub fn cells(&self, language: Language) -> (Vec<String>, Vec<Vec<String>>) {
        let head = std::iter::once(self.title).chain(self.columns.iter().map(|column| column.0));
        let head = head.map(|id| message!(id).in_language(language).into_owned());
        let rows = self.rows.iter().map(|(name, cells)| {
            let texts = std::iter::once(name).chain(cells);
            texts.map(|text| text.in_language(language).into_owned()).collect()
        });
        (head.collect(), rows.collect())
    }
}

fn requests(run: &Run, t: &Tally) -> Vec<Text> {
    let rate = three_digits(run.per_second(t.completed));
    let counts = [count(t.completed), rate, count(t.errors())];
    let figures = counts.into_iter().chain(QUANTILES.map(|q| response_quantile(t, q)));
    figures.map(Text::from).collect()
}

fn transaction(run: &Run, t: &TransactionTally) -> Vec<Text> {
    let ended = t.succeeded + t.failed;
    let rate = three_digits(run.per_second(ended));
    let counts = [count(ended), rate, count(t.failed), count(t.unfinished)];
    let figures = counts.into_iter().chain(QUANTILES.map(|q| transaction_quantile(t, q)));
    figures.map(Text::from).collect()
}

fn transaction_quantile(t: &TransactionTally, q: f64) -> String {
    // Unfinished transactions rank as the slowest, so all started ones are counted.
    let is_known = t.succeeded + t.failed > 0 && enough(q, t.started);
    if is_known { figures::quantile(t.response_quantile(q)) } else { UNKNOWN.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::transaction::TransactionEnd;

    #[test]
    fn labels_are_sorted_and_found() {
        let tally = |completed: u64, good: u64, nanos: u64| {
            let mut tally = Tally { completed, good, ..Tally::default() };
            (0..completed).for_each(|_| tally.response.record(nanos));
            Box::new(tally)
        };
        let names = ["/Cart", "/pay", "/home"].map(str::to_owned);
        let run = Run {
            labels: [(0, tally(9, 9, 500)), (1, tally(5, 2, 9000)), (2, tally(7, 6, 70_000))]
                .into(),
            label_names: (0..).zip(names).collect(),
            ..Run::default()
        };
        let shown = |order, search: &str| -> Vec<String> {
            let choice = LabelChoice { order, search: search.to_owned() };
            let table = chosen_labels(&run, &choice);
            table.rows.iter().map(|(name, _)| name.to_string()).collect()
        };
        assert_eq!(shown(LabelOrder::Count, ""), ["/Cart", "/home", "/pay"]);
        assert_eq!(shown(LabelOrder::Errors, ""), ["/pay", "/home", "/Cart"]);
        assert_eq!(shown(LabelOrder::P99, ""), ["/home", "/pay", "/Cart"]);
        assert_eq!(shown(LabelOrder::P99, "CA"), ["/Cart"]);
        assert!(LabelOrder::ALL.iter().all(|one| LabelOrder::from_word(one.word()) == Some(*one)));
    }

    #[test]
    fn failed_checks_show_expected_and_found_values_and_counts() {
        let script = CheckFailure::new("script", "", "total is 0");
        let status = CheckFailure::new("json", "json $.status is `paidd`", "paid");
        let run = Run {
            labels: [(1, Box::new(Tally { completed: 3120, ..Tally::default() }))].into(),
            label_names: [(1, "POST /checkout".to_owned())].into(),
            check_failures: vec![
                CheckFailure { label: 1, count: 2, ..script },
                CheckFailure { label: 1, count: 439, ..status },
            ],
            ..Run::default()
        };
        assert_eq!(
            check_failures(&run),
            [
                "POST /checkout: expected json $.status is `paidd`, found, for example, paid: 439 of 3,120 replies",
                "POST /checkout: script, found, for example, total is 0: 2 of 3,120 replies",
            ]
        );
    }

    #[test]
    fn each_transaction_has_a_row_and_unfinished_ones_are_the_slowest() {
        let mut tally = TransactionTally { started: 4, ..TransactionTally::default() };
        tally.end(TransactionEnd::Succeeded, 20_000_000);
        tally.end(TransactionEnd::Succeeded, 20_000_000);
        tally.end(TransactionEnd::Failed, 40_000_000);
        tally.end(TransactionEnd::Unfinished, 0);
        let run = Run { transactions: [("buy".to_owned(), tally)].into(), ..Run::default() };
        let table = transactions(&run);
        let heads = &table.cells(Language::English).0[1..];
        assert_eq!(heads.join(" "), "ended per second failed unfinished p50 p95 p99 max");
        let cells = ["3", "0", "1", "1", "20.0 ms", UNKNOWN, UNKNOWN, "≥ 40.0 ms"].map(Text::from);
        assert_eq!(table.rows, [("buy".into(), cells.to_vec())]);
        assert!(all(&Run::default(), &Judgement::default(), AgentRows::All).is_empty());
    }
}
