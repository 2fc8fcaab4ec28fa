//! A row for each transaction of the scenario.

use crate::figures::{self, UNKNOWN, count, enough, three};
use crate::layout::{Table, clean, shorten};
use brunt_model::{Run, TransactionTally};

const MOST_ROWS: usize = 20;
const MOST_CHARACTERS: usize = 40;

/// The transactions, by name.
pub fn section(run: &Run) -> String {
    if run.transactions.is_empty() {
        return String::new();
    }
    let head = ["Transactions", "ended", "per second", "failed", "unfinished", "p50", "p99", "max"];
    let mut table = Table::with_head(&head);
    for (name, tally) in run.transactions.iter().take(MOST_ROWS) {
        table.row(row(name, run, tally));
    }
    let more = run.transactions.len().saturating_sub(MOST_ROWS);
    table.render() + &if more > 0 { format!("and {more} more\n") } else { String::new() }
}

fn row(name: &str, run: &Run, t: &TransactionTally) -> Vec<String> {
    let ended = t.succeeded + t.failed;
    let name = shorten(&clean(name), MOST_CHARACTERS);
    let mut cells = vec![name, count(ended), three(run.per_second(ended)), count(t.failed), count(t.unfinished)];
    let quantile = |q| {
        let is_known = ended > 0 && enough(q, t.started);
        if is_known { figures::quantile(t.response_quantile(q)) } else { UNKNOWN.into() }
    };
    cells.extend([0.5, 0.99, 1.0].map(quantile));
    cells
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
        let text = section(&run);
        let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells[0].join(" "), "Transactions ended per second failed unfinished p50 p99 max");
        assert_eq!(cells[1].join(" "), "buy 3 0 1 1 20.0 ms – ≥ 40.0 ms");
        assert_eq!(section(&Run::default()), "");
    }
}
