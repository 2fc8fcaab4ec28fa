//! A row for each transaction of the scenario.

use super::Report;
use super::fit::Part;
use crate::figures::{self, UNKNOWN, count, enough, three};
use crate::layout::{Table, clean, shorten};
use brunt_model::{Run, TransactionTally};

const MOST_ROWS: usize = 20;
const NAME_CHARACTERS: usize = 16;

/// The transactions, by name.
pub fn section(report: &Report) -> Part {
    let run = report.run;
    if run.transactions.is_empty() {
        return Part::default();
    }
    let columns: &[&str] = match report.view.columns {
        80.. => &["ended", "per second", "failed", "unfinished", "p50", "p99", "max"],
        _ => &["ended", "failed", "p50", "p99"],
    };
    let mut table = Table::with_head(&[&["Transactions"], columns].concat());
    for (name, tally) in run.transactions.iter().take(MOST_ROWS) {
        let cells = columns.iter().map(|column| cell(column, run, tally));
        table.row([shorten(&clean(name), NAME_CHARACTERS)].into_iter().chain(cells));
    }
    let text = report.view.table(&table);
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    let mut part = Part::rows(format!("{head}\n"), rows);
    let more = run.transactions.len().saturating_sub(MOST_ROWS);
    part.rows.extend((more > 0).then(|| format!("and {more} more\n")));
    part
}

fn cell(column: &str, run: &Run, t: &TransactionTally) -> String {
    let ended = t.succeeded + t.failed;
    let quantile = |q| {
        let is_known = ended > 0 && enough(q, t.started);
        if is_known { figures::quantile(t.response_quantile(q)) } else { UNKNOWN.into() }
    };
    match column {
        "ended" => count(ended),
        "per second" => three(run.per_second(ended)),
        "failed" => count(t.failed),
        "unfinished" => count(t.unfinished),
        "p50" => quantile(0.5),
        "p99" => quantile(0.99),
        _ => quantile(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use brunt_model::Judgement;
    use brunt_model::transaction::TransactionEnd;

    #[test]
    fn each_transaction_has_a_row_and_unfinished_ones_are_the_slowest() {
        let mut tally = TransactionTally { started: 4, ..TransactionTally::default() };
        tally.end(TransactionEnd::Succeeded, 20_000_000);
        tally.end(TransactionEnd::Succeeded, 20_000_000);
        tally.end(TransactionEnd::Failed, 40_000_000);
        tally.end(TransactionEnd::Unfinished, 0);
        let run = Run { transactions: [("buy".to_owned(), tally)].into(), ..Run::default() };
        let (judgement, view) = (Judgement::default(), View::default());
        let text = |run: &Run| {
            let part = section(&Report { run, judgement: &judgement, view: &view });
            part.fixed + &part.rows.concat()
        };
        let text_of_run = text(&run);
        let cells: Vec<Vec<&str>> = text_of_run.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(cells[0].join(" "), "Transactions ended per second failed unfinished p50 p99 max");
        assert_eq!(cells[1].join(" "), "buy 3 0 1 1 20.0 ms – ≥ 40.0 ms");
        assert_eq!(text(&Run::default()), "");
    }
}
