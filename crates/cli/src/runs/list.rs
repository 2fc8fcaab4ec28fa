//! The list of stored runs and experiments.

use super::store_error;
use crate::args::store::StoreArgs;
use crate::exit::{CommandError, runtime_error};
use crate::output::print;
use crate::view;
use brunt_report::stored;
use brunt_store::{EntryFilter, Store};
use clap::Args;

#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// List the runs of this experiment
    id: Option<String>,
    /// Also list runs that belong to experiments
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Print the list as JSON, with all fields
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Prints the list, oldest first: runs of one experiment, all entries, or those that belong to no
/// experiment.
pub fn list(args: &ListArgs, store: &Store) -> Result<(), CommandError> {
    let filter = match &args.id {
        Some(id) => EntryFilter::RunsOf(store.find_experiment(id).map_err(store_error)?),
        None if args.all => EntryFilter::All,
        None => EntryFilter::TopLevel,
    };
    let entries = store.list(&filter).map_err(store_error)?;
    if args.json {
        return print(&(serde_json::to_string_pretty(&entries).map_err(runtime_error)? + "\n"))
            .map_err(runtime_error);
    }
    if entries.is_empty() {
        return print(format!("no runs stored in {} yet\n", store.directory().display()))
            .map_err(runtime_error);
    }
    print(stored::list(&entries, view::of_stdout().columns)).map_err(runtime_error)
}
