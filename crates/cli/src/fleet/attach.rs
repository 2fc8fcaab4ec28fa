//! The command `brunt attach`: goes on with a run whose controller has died.

use crate::args::store::StoreArgs;
use crate::exit::{CommandError, Exit, FailOn, runtime_error, usage_error};
use crate::fleet::cluster;
use crate::live::print_line;
use crate::measure::{MeasureContext, measure, session};
use crate::output::Outputs;
use crate::suggestions::of_reports;
use crate::{live_outputs, runs};
use anyhow::{Result, anyhow};
use brunt_fleet::handover::FleetRecord;
use brunt_model::agent::RunNumber;
use brunt_model::numbers::plural;
use brunt_runner::attach::{AttachedRun, EarlierLog};
use brunt_runner::{CommandSession, Storage};
use brunt_spec::words::values::{self, Output};
use brunt_store::{EntryFilter, Store, StoredItem};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `brunt attach`.
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// Id of the run or of its experiment, a tag, or the name of the experiment; `brunt runs` has them
    #[arg(value_name = "RUN")]
    run: String,
    /// Report in FORMAT, to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, add = of_reports())]
    outputs: Vec<Output>,
    /// Print no progress and no report
    #[arg(short, long)]
    quiet: bool,
    /// The store of runs.
    #[command(flatten)]
    store: StoreArgs,
}

/// Examples in the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt runs                          lists the run as torn, because its brunt has died
  brunt attach k7m2xqd                goes on with it, and reports it like brunt run
  brunt attach k7m2xqd -o html=page.html

Agents stop their load if no brunt comes back within the time of --lease (15 s over NATS). Then the
report has everything until then.";

/// Goes on with a run, and reports it.
pub fn attach(args: &AttachArgs) -> Result<Exit, CommandError> {
    let store = args.store.open().map_err(usage_error)?;
    let store = store.ok_or_else(|| usage_error(anyhow!("attach needs the store of the run")))?;
    let (id, folder, record) = find(&store, &args.run)?;
    let outputs = Outputs::open(&args.outputs, args.quiet).map_err(usage_error)?;
    let events = store.events(&id).map_err(runtime_error)?;
    // The end of the log may be damaged: its writer has died.
    let log = EarlierLog::read(events.map_while(Result::ok));
    let (Some(plan), Some(run), Some(begun)) = (log.plan.clone(), &record.run, log.begun()) else {
        return Err(usage_error(anyhow!("the load of run {id} had not begun; start it again")));
    };
    let settings = plan.fleet.as_ref();
    let settings = settings.ok_or_else(|| usage_error(anyhow!("run {id} has no agents")))?;
    let fleet = Arc::new(cluster::attach(settings, &folder).map_err(runtime_error)?);
    if !args.quiet {
        let agents = plural(record.agents.len() as u64, "agent");
        print_line(&format!("attached to the run {id} on {agents}"));
    }
    let mut notes =
        vec![format!(
        "brunt ended at {:.1} s of this run without notice, and another process took its place",
        begun.published_to.seconds()
    ).into()];
    if log.has_server_readings() {
        notes.push("from then on, nobody has read the server".into());
    }
    let environment = log.environment.clone();
    let engine = AttachedRun::new(Arc::clone(&fleet), RunNumber(run.number), begun, log);
    let session = session(Some(store), None, FailOn::default(), Some(fleet));
    let session = CommandSession { environment, ..session.map_err(runtime_error)? };
    let mut live_outputs = live_outputs::start(&[]).map_err(usage_error)?;
    let context = MeasureContext {
        outputs,
        log: None,
        jtl: None,
        live_outputs: &mut live_outputs,
        storage: Storage::Begun(&id, begun.published_to),
        probes: &[],
        quiet: args.quiet,
        tracer: None,
        notes,
        route: None,
        team: None,
    };
    measure(&session, &plan, &engine, context).map_err(runtime_error)
}

/// Finds a run that a fleet carries out, by its own name or by that of its experiment.
fn find(store: &Store, word: &str) -> Result<(String, PathBuf, FleetRecord), CommandError> {
    let runs = match store.find(word).map_err(runs::store_error)? {
        StoredItem::Run(id) => vec![id],
        StoredItem::Experiment(id) => {
            let entries = store.list(&EntryFilter::RunsOf(id)).map_err(runtime_error)?;
            entries.into_iter().map(|entry| entry.id).collect()
        }
    };
    let folders = store.fleets();
    let found = runs.into_iter().find_map(|id| {
        let (folder, record) = FleetRecord::find(&folders, &id)?;
        Some((id, folder, record))
    });
    found.ok_or_else(|| {
        usage_error(anyhow!(
            "{word} has no agents on Kubernetes or NATS, or it has ended; show it with: brunt report {word}"
        ))
    })
}
