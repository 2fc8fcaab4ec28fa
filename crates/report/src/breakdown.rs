//! A run by population, label and transaction: tables that the text, Markdown and the page share.

use crate::figures::{self, UNKNOWN, count, enough, response_quantile, three};
use crate::result::label_name;
use brunt_model::{Run, Tally, TransactionTally};

/// A table of the parts of a run, with a row for each.
pub struct Breakdown {
    /// The kind of the parts: the head of the first column.
    pub title: &'static str,
    /// The heads of the other columns, and the narrowest terminal that shows each, in characters.
    pub columns: &'static [(&'static str, usize)],
    /// Name and figures of each part.
    pub rows: Vec<(String, Vec<String>)>,
}

const OF_REQUESTS: [(&str, usize); 6] =
    [("completed", 0), ("per second", 90), ("errors", 0), ("p50", 0), ("p99", 0), ("max", 72)];
const OF_TRANSACTIONS: [(&str, usize); 7] =
    [("ended", 0), ("per second", 80), ("failed", 0), ("unfinished", 80), ("p50", 0), ("p99", 0), ("max", 80)];

/// The tables that have rows.
pub fn all(run: &Run) -> Vec<Breakdown> {
    [populations(run), labels(run), transactions(run)].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Each population by itself.
pub fn populations(run: &Run) -> Breakdown {
    let named = |population: &Run| population.plan.as_ref().map_or(String::new(), |plan| plan.main().name.clone());
    let rows = run.populations.iter().map(|one| (named(one), requests(one, &one.total)));
    Breakdown { title: "Populations", columns: &OF_REQUESTS, rows: rows.collect() }
}

/// The labels where there are several, those with most requests first.
pub fn labels(run: &Run) -> Breakdown {
    let mut labels: Vec<(&u32, &Tally)> = run.labels.iter().filter(|_| run.labels.len() > 1).collect();
    labels.sort_by_key(|label| std::cmp::Reverse(label.1.completed));
    let rows = labels.iter().map(|(id, tally)| (label_name(run, **id), requests(run, tally)));
    Breakdown { title: "Labels", columns: &OF_REQUESTS, rows: rows.collect() }
}

/// The transactions, by name.
pub fn transactions(run: &Run) -> Breakdown {
    let rows = run.transactions.iter().map(|(name, tally)| (name.clone(), transaction(run, tally)));
    Breakdown { title: "Transactions", columns: &OF_TRANSACTIONS, rows: rows.collect() }
}

impl Breakdown {
    /// Head and rows with all columns, for a format without a width.
    pub fn into_cells(self) -> (Vec<String>, Vec<Vec<String>>) {
        let head = std::iter::once(self.title).chain(self.columns.iter().map(|column| column.0));
        let rows = self.rows.into_iter().map(|(name, cells)| std::iter::once(name).chain(cells).collect());
        (head.map(str::to_owned).collect(), rows.collect())
    }
}

fn requests(run: &Run, t: &Tally) -> Vec<String> {
    let quantile = |q| response_quantile(t, q);
    let rate = three(run.per_second(t.completed));
    vec![count(t.completed), rate, count(t.errors()), quantile(0.5), quantile(0.99), quantile(1.0)]
}

fn transaction(run: &Run, t: &TransactionTally) -> Vec<String> {
    let ended = t.succeeded + t.failed;
    let quantile = |q| {
        let is_known = ended > 0 && enough(q, t.started);
        if is_known { figures::quantile(t.response_quantile(q)) } else { UNKNOWN.into() }
    };
    let rate = three(run.per_second(ended));
    vec![count(ended), rate, count(t.failed), count(t.unfinished), quantile(0.5), quantile(0.99), quantile(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::transaction::TransactionEnd;

    #[test]
    fn each_transaction_has_a_row_and_unfinished_ones_are_the_slowest() {
        let mut tally = TransactionTally { started: 4, ..TransactionTally::default() };
        tally.end(TransactionEnd::Succeeded, 20_000_000);
        tally.end(TransactionEnd::Succeeded, 20_000_000);
        tally.end(TransactionEnd::Failed, 40_000_000);
        tally.end(TransactionEnd::Unfinished, 0);
        let run = Run { transactions: [("buy".to_owned(), tally)].into(), ..Run::default() };
        let table = transactions(&run);
        let heads: Vec<_> = table.columns.iter().map(|column| column.0).collect();
        assert_eq!(heads.join(" "), "ended per second failed unfinished p50 p99 max");
        let cells = ["3", "0", "1", "1", "20.0 ms", UNKNOWN, "≥ 40.0 ms"].map(str::to_owned);
        assert_eq!(table.rows, [("buy".to_owned(), cells.to_vec())]);
        assert!(all(&Run::default()).is_empty());
    }
}
