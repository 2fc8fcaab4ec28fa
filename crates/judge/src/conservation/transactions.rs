//! Checks that each transaction succeeded, failed or did not end, and that each ended
//! one has a time.

use super::check;
use crate::texts::message;
use brunt_model::finding::ConsistencyCheck;
use brunt_model::{Run, Text, TransactionTally};

/// Checks that started = succeeded + failed + unfinished, and that there are as many
/// times as ended transactions.
pub fn ends(run: &Run) -> Option<ConsistencyCheck> {
    if run.transactions.is_empty() {
        return None;
    }
    let wrong = run.transactions.iter().find(|(_, tally)| !holds(tally));
    let text = if let Some((name, t)) = wrong {
        message!(
            "check-sum.of-transaction",
            name = &**name,
            sum = sum(t),
            times = t.response.count().to_string(),
            failed = t.failed_response.count().to_string()
        )
    } else {
        let mut all = TransactionTally::default();
        run.transactions.values().for_each(|tally| all.merge(tally));
        sum(&all)
    };
    Some(check(message!("check.transactions"), wrong.is_none(), text))
}

fn holds(t: &TransactionTally) -> bool {
    let ended = t.succeeded + t.failed;
    t.started == ended + t.unfinished
        && t.response.count() == ended
        && t.failed_response.count() == t.failed
}

fn sum(t: &TransactionTally) -> Text {
    let TransactionTally { started, succeeded, failed, unfinished, .. } = t;
    message!(
        "check-sum.transactions",
        started = started.to_string(),
        succeeded = succeeded.to_string(),
        failed = failed.to_string(),
        unfinished = unfinished.to_string()
    )
}
