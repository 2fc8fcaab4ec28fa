//! `brunt runs prune`: removes old event logs and old items of the store.

use super::{open, store_error};
use crate::args::store::StoreArgs;
use crate::exit::{CommandError, runtime_error, usage_error};
use crate::output::print;
use crate::view;
use anyhow::anyhow;
use brunt_engine::clock;
use brunt_model::numbers::bytes;
use brunt_report::layout::with_wrapped_end;
use brunt_report::stored::pruning::{HEAD, rows};
use brunt_spec::words;
use brunt_store::retention::{Pruning, RetentionLimits};
use clap::Args;
use std::time::Duration;

/// Arguments of `brunt runs prune`.
#[derive(Debug, Clone, Args)]
pub struct PruneArgs {
    /// Remove event logs older than this; their digests stay, so reports still work
    #[arg(long, value_name = "AGE", value_parser = words::duration::positive_with_unit)]
    logs_older_than: Option<Duration>,
    /// Remove runs and experiments older than this
    #[arg(long, value_name = "AGE", value_parser = words::duration::positive_with_unit)]
    older_than: Option<Duration>,
    /// Remove the oldest logs, then the oldest runs and experiments, until the rest fits into this
    #[arg(long, value_name = "BYTES", value_parser = words::bytes::parse)]
    max_size: Option<u64>,
    /// Remove them; without this, only list them
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt runs prune --logs-older-than 30d             lists what it would remove
  brunt runs prune --logs-older-than 30d --yes       removes it
  brunt runs prune --older-than 365d --max-size 20G

Pinned items, baselines, and runs that are still being written stay. An
experiment is one item. Logs of up to 1 MiB, and logs without an end, go only
with their run.";

/// Lists the steps that bring the store within the limits, and carries them out with `--yes`.
pub fn prune(args: &PruneArgs) -> Result<(), CommandError> {
    let limits = RetentionLimits {
        logs_older_than: args.logs_older_than,
        older_than: args.older_than,
        max_bytes: args.max_size,
    };
    if limits == RetentionLimits::default() {
        return Err(usage_error(anyhow!(
            "a limit is missing; write --logs-older-than 30d, --older-than 365d or --max-size 20G"
        )));
    }
    let store = open(&args.store)?;
    let pruning = store.plan_pruning(&limits, clock::unix_seconds()).map_err(store_error)?;
    print(table(&pruning)).map_err(runtime_error)?;
    let summary = if args.yes {
        let result = store.prune(&pruning).map_err(store_error)?;
        let skipped = result.skipped.iter().map(|(id, reason)| format!("skipped {id}: {reason}\n"));
        let freed = bytes(result.bytes_freed as f64);
        let before = bytes(pruning.bytes_before as f64);
        format!("{}freed {freed} of {before}\n", skipped.collect::<String>())
    } else {
        total(&pruning)
    };
    print(summary + &excess(&pruning, args.max_size)).map_err(runtime_error)
}

fn table(pruning: &Pruning) -> String {
    let rows = rows(pruning);
    if rows.is_empty() {
        return String::new();
    }
    with_wrapped_end(HEAD, rows, view::of_stdout().columns)
}

/// Sums the steps up.
fn total(pruning: &Pruning) -> String {
    let before = bytes(pruning.bytes_before as f64);
    if pruning.steps.is_empty() {
        return format!("nothing to remove; the store has {before}\n");
    }
    let freed = bytes((pruning.bytes_before - pruning.bytes_after) as f64);
    format!("would free {freed} of {before}; repeat the command with --yes to remove it\n")
}

/// Explains that the store stays too large.
fn excess(pruning: &Pruning, max_size: Option<u64>) -> String {
    match max_size {
        Some(max_size) if pruning.bytes_after > max_size => format!(
            "the store stays larger than {}: items with the action `keep` are not removed\n",
            bytes(max_size as f64)
        ),
        _ => String::new(),
    }
}
