//! Words for the pruning of a store: the table of `brunt runs prune`, and that of the studio.

use brunt_model::numbers::{UNKNOWN, bytes, count, span};
use brunt_store::StoredItem;
use brunt_store::retention::{ExemptItem, Pruning, PruningAction, PruningReason, PruningStep};
use std::time::Duration;

/// Titles of the columns.
pub const HEAD: [&str; 5] = ["action", "id", "age", "size", "reason"];

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Seconds of a minute.
const MINUTE: f64 = 60.0;

/// Returns the rows of the table: the steps, then the items that are exempt.
pub fn rows(pruning: &Pruning) -> Vec<[String; HEAD.len()]> {
    let steps = pruning.steps.iter().map(step_cells);
    steps.chain(pruning.exempt.iter().map(exempt_cells)).collect()
}

fn step_cells(step: &PruningStep) -> [String; HEAD.len()] {
    let action = match (step.action, &step.item) {
        (PruningAction::RemoveLogs, StoredItem::Run(_)) => "remove log",
        (PruningAction::RemoveLogs, StoredItem::Experiment(_)) => "remove logs",
        (PruningAction::RemoveItem, StoredItem::Run(_)) => "remove run",
        (PruningAction::RemoveItem, StoredItem::Experiment(_)) => "remove experiment",
    };
    let reason = match step.reason {
        PruningReason::LogsOlderThan(limit) => format!("log older than {}", age_limit(limit)),
        PruningReason::OlderThan(limit) => format!("older than {}", age_limit(limit)),
        PruningReason::MaxBytes(limit) => format!("store larger than {}", bytes(limit as f64)),
    };
    [action.into(), step.item.id().into(), age(step.age_seconds), bytes(step.bytes as f64), reason]
}

fn exempt_cells(exempt: &ExemptItem) -> [String; HEAD.len()] {
    [
        "keep".into(),
        exempt.item.id().into(),
        age(exempt.age_seconds),
        bytes(exempt.bytes as f64),
        exempt.exemption.to_string(),
    ]
}

/// Formats the age of an item: `30 d`, `2 h 3 min`.
pub fn age(seconds: Option<f64>) -> String {
    match seconds {
        None => UNKNOWN.into(),
        Some(seconds) if seconds >= DAY => format!("{} d", count((seconds / DAY) as u64)),
        Some(seconds) if seconds < MINUTE => "< 1 min".into(),
        // Whole minutes: seconds only make the list longer.
        Some(seconds) => span((seconds / MINUTE).floor() * MINUTE),
    }
}

/// Formats a limit of age as it was written: `30 d`, `36 h`.
pub fn age_limit(limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    if seconds >= DAY && seconds % DAY == 0.0 { age(Some(seconds)) } else { span(seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit_from_a_day_on() {
        let ages = [None, Some(90_000.0), Some(7385.0), Some(59.0), Some(-1.0)];
        assert_eq!(ages.map(age), [UNKNOWN, "1 d", "2 h 3 min", "< 1 min", "< 1 min"]);
        let limits = [30 * 86_400, 86_400, 90_000, 3600];
        assert_eq!(
            limits.map(|s| age_limit(Duration::from_secs(s))),
            ["30 d", "1 d", "25 h", "1 h"]
        );
    }
}
