//! Measures a server in the same way as a baseline: the same loads and
//! repetitions, only the URL differs.

use super::CheckArgs;
use crate::args::options::environment;
use crate::exit::{CommandError, Exit, FailOn, usage_error};
use crate::experiment::{ExperimentContext, StorePolicy, run_experiment};
use crate::output::Outputs;
use crate::process::command_line;
use crate::runs;
use anyhow::{Result, anyhow};
use brunt_live::LiveOutputs;
use brunt_model::Experiment;
use brunt_runner::experiment::again::{self, RepeatTarget};
use brunt_spec::settings::SettingSources;
use brunt_spec::to_plan::body_from;
use brunt_spec::words::target;
use brunt_spec::words::values::secrets::filled;
use brunt_store::{Store, StoredItem};

/// Measures the server, stores the experiment, and returns its id.
pub fn measure(
    store: &Store,
    args: &CheckArgs,
    baseline: &StoredItem,
    url: &str,
) -> Result<String, CommandError> {
    let experiment = experiment(store, args, baseline, url).map_err(usage_error)?;
    let context = ExperimentContext {
        plan_name: None,
        system: crate::process::system(),
        // The comparison that follows is the only report.
        outputs: Outputs::open(&[], true).map_err(usage_error)?,
        jtl: None,
        live_outputs: LiveOutputs::default(),
        tracer: None,
        quiet: args.quiet,
        // The comparison decides about the exit code, not its single runs.
        fail_on: FailOn::default(),
        notes: Vec::new(),
        // The comparison reads the runs from the store.
        keep: StorePolicy::Create(runs::open(&args.store)?),
        programs: Vec::new(),
        browser: None,
    };
    let exit = run_experiment(&experiment, context)?;
    let id = match exit {
        Exit::Interrupted => {
            Err(anyhow!("it was interrupted, so there is nothing to compare with the baseline"))
        }
        Exit::NothingMeasured => {
            Err(anyhow!("{url}: no reply came, so there is nothing to compare"))
        }
        _ => store.find_experiment(&experiment.name).map_err(Into::into),
    };
    id.map_err(|error| CommandError { exit: exit.max(Exit::NothingMeasured), error })
}

fn experiment(
    store: &Store,
    args: &CheckArgs,
    baseline: &StoredItem,
    url: &str,
) -> Result<Experiment> {
    let sources = SettingSources::default();
    let body = args
        .data
        .as_ref()
        .map(|data| body_from(data, &crate::process::system(), &sources))
        .transpose()?;
    let target = RepeatTarget {
        url: target::parse(&filled(url, environment)?)?.url,
        headers: [args.headers.concat(), args.header_files.concat()].concat(),
        body,
    };
    Ok(again::experiment(store, baseline, &target, &command_line())?)
}
