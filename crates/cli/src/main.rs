//! The program `brunt`: parses arguments, runs the command, and shows the results.
//!
//! Only this crate prints, exits and reads the environment. Other crates run the load.
//!
//! * [`commands`]: the subcommands and their arguments. [`args`]: arguments of several subcommands.
//!   [`exit`]: exit codes and errors.
//! * [`mod@measure`]: a single run. [`plan_file`]: the command `plan`.
//! * [`mod@experiment`]: many runs: `sweep`, `find`, `compare` and plan files.
//! * [`mod@import`]: plan files from other formats. [`compat`]: other tools' names, plans and result
//!   files.
//! * [`stored`]: comparison of stored runs. [`mod@baseline`]: comparison with a
//!   baseline. [`runs`]: the store.
//! * [`mod@worker`]: a worker process of a run with several.
//! * [`process`]: facts about this process: machine, words of its command line. [`signals`]:
//!   Ctrl-C.
//!   [`live`]: progress on the [`screen`].
//! * [`mod@check`]: the examination before a run.
//! * [`man`]: man pages. [`completions`], [`suggestions`]: what shells propose.
//! * [`mod@certify`]: accuracy of load generators. `lab`: the reference server, from its own crate.
//! * [`mod@redact`]: replaces secrets in everything that is stored or shown.
//! * [`mistakes`]: explains invalid command lines. [`short_help`]: the text of `-h`.
//! * [`analyse`]: analysis of result files.
//! * [`output`]: files of reports and the event log. [`view`]: width, colors and detail of reports.
//! * [`team`]: a run that leases its servers from a studio, and is sent there.
//! * [`reports`], [`mod@replay`]: reports of stored runs and event logs.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)] // this is the place

#[cfg(feature = "fleet")]
mod agent;
mod analyse;
mod args;
mod baseline;
#[cfg(feature = "studio")]
mod browser;
mod causes;
#[cfg(all(feature = "certify", target_os = "linux"))]
mod certify;
mod check;
mod commands;
mod compat;
mod completions;
mod exit;
mod experiment;
mod fleet;
#[cfg(feature = "import")]
mod import;
mod languages;
mod live;
mod live_outputs;
mod man;
mod measure;
mod mistakes;
mod other_files;
mod output;
mod plan_file;
mod process;
#[cfg(feature = "record")]
mod record;
mod redact;
mod replay;
mod reports;
mod result_file;
mod runs;
mod screen;
mod short_help;
mod signals;
mod stored;
#[cfg(feature = "studio")]
mod studio;
mod suggestions;
mod team;
mod terminal;
mod trace;
mod view;
mod worker;

use anyhow::Result;
use args::RunArgs;
use brunt_agents::agent::FileSource;
#[cfg(target_os = "linux")]
use brunt_lab::program::LabFailure;
use brunt_model::Text;
use brunt_model::system_error::without_number;
use brunt_runner::Storage;
use brunt_spec::{check_objectives, to_plan};
use clap::{CommandFactory, Parser};
use commands::{BruntCommand, Cli, GrpcArgs, GrpcTask};
use exit::{CommandError, Exit, runtime_error, usage_error};
use measure::{MeasureContext, measure};
use output::Outputs;
use process::system;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use team::TeamRun;

/// With less address space, threads cannot be created, because their stacks do not fit, and the
/// memory allocator ends the process without a message.
const MIN_ADDRESS_SPACE_BYTES: u64 = 32 << 20;

fn main() -> ExitCode {
    if let Some(available) = brunt_probe::limits::address_space_left()
        .filter(|available| *available < MIN_ADDRESS_SPACE_BYTES)
    {
        eprintln!(
            "brunt: the limit on address space (`ulimit -v`) leaves {} MB, and brunt needs {} MB at least; raise it, for \
             instance with `ulimit -v unlimited`",
            available >> 20,
            MIN_ADDRESS_SPACE_BYTES >> 20
        );
        return Exit::Failed.into();
    }
    // `args` would panic at an argument that is not UTF-8.
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    // The words of a drop-in are not brunt's, so its name decides first.
    if let Some(exit) = compat::run_drop_in(&words) {
        return exit;
    }
    // A shell that asks for completions passes an incomplete command line, which must not be
    // parsed. Then this call prints the completions and exits.
    completions::complete();
    if words.len() < 2 {
        eprint!("{}", mistakes::SHORT_HELP);
        return Exit::Usage.into();
    }
    if let Some(page) = short_help::page(&words) {
        return match io::stdout().write_all(page.as_bytes()).or_else(output::ignore_closed_pipe) {
            Ok(()) => Exit::Measured.into(),
            Err(_) => Exit::Failed.into(),
        };
    }
    let arguments = arguments(&words);
    view::adopt(&arguments.view);
    if let Err(wrong) = view::hide_notes(&arguments.view) {
        screen::print_line(&format!("brunt: {wrong}"));
        return Exit::Usage.into();
    }
    match dispatch(arguments.into_command()) {
        Ok(exit) => exit.into(),
        Err(CommandError { exit, error }) => {
            screen::print_line(&format!("brunt: {}", causes::line(&error)));
            exit.into()
        }
    }
}

/// Parses the process's arguments. On an error, prints a message without secrets and exits. `words`
/// are the same arguments, for the message.
fn arguments(words: &[String]) -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let explanation = mistakes::explain(&error, words)
            .map(|text| format!("brunt: {}\n", without_number(&text)));
        let message = explanation.clone().unwrap_or_else(|| error.render().to_string());
        let redacted = redact::text(&message);
        // clap prints its own messages, with colors, unless they contain a secret.
        if explanation.is_none() && (redacted == message || !error.use_stderr()) {
            error.exit();
        }
        eprint!("{redacted}");
        std::process::exit(error.exit_code())
    })
}

/// Runs a subcommand.
fn dispatch(command: BruntCommand) -> Result<Exit, CommandError> {
    match command {
        BruntCommand::Run(args) => run(&args),
        BruntCommand::Grpc(args) => grpc(*args),
        BruntCommand::Check(args) => check::check(&args, brunt_probe::limits::raise_descriptors()),
        BruntCommand::Sweep(args) => experiment::sweep(&args),
        BruntCommand::Find(args) => experiment::find::find(&args),
        BruntCommand::Compare(args) => experiment::compare(&args),
        BruntCommand::Baseline(args) => baseline::baseline(&args),
        BruntCommand::Plan(args) => plan_file::plan(&args),
        #[cfg(feature = "import")]
        BruntCommand::Import(args) => import::import(&args),
        #[cfg(feature = "record")]
        BruntCommand::Record(args) => record::record(&args),
        #[cfg(feature = "compat")]
        BruntCommand::Export(args) => compat::export::export(&args),
        BruntCommand::Runs(args) => runs::runs(&args),
        #[cfg(feature = "compat")]
        BruntCommand::InstallNames(args) => compat::names::install(&args),
        BruntCommand::Analyse(args) => analyse::analyse(&args),
        BruntCommand::Report(args) => reports::report(&args),
        BruntCommand::Replay(args) => replay::replay(&args),
        #[cfg(all(feature = "certify", target_os = "linux"))]
        BruntCommand::Certify(args) => certify::certify(&args, process::command_line()),
        #[cfg(target_os = "linux")]
        BruntCommand::Lab(options) => lab(&options),
        BruntCommand::Guard => {
            brunt_rig::guard::run_guard(
                io::stdin(),
                io::stdout(),
                &brunt_rig::RealClock::default(),
            )
            .map_err(runtime_error)?;
            Ok(Exit::Measured)
        }
        BruntCommand::Completions { shell } => {
            let mut script = Vec::new();
            completions::write_script(shell, &mut script).map_err(runtime_error)?;
            output::print(script).map_err(runtime_error)?;
            Ok(Exit::Measured)
        }
        BruntCommand::Worker { own_files } => {
            let source = if own_files { FileSource::ThisMachine } else { FileSource::Controller };
            worker::worker(source).map_err(runtime_error)
        }
        #[cfg(feature = "studio")]
        BruntCommand::Studio(args) => studio::studio(&args),
        #[cfg(feature = "fleet")]
        BruntCommand::Agent(args) => agent::agent(&args),
        #[cfg(feature = "fleet")]
        BruntCommand::Attach(args) => fleet::attach::attach(&args),
        #[cfg(feature = "fleet")]
        BruntCommand::Fleet(args) => fleet::command::fleet(args),
        BruntCommand::Man { dir } => man_pages(dir.as_deref()),
        BruntCommand::Schema { document } => {
            // clap accepts only names of this list.
            let schema = brunt_report::SCHEMAS.iter().find(|schema| schema.name == document);
            if let Some(schema) = schema {
                output::print(format!("{:#}\n", (schema.schema)())).map_err(runtime_error)?;
            }
            Ok(Exit::Measured)
        }
    }
}

/// The command `run`: a plan file or a JMeter plan in place of the URL, or a plan from the
/// settings.
fn run(args: &RunArgs) -> Result<Exit, CommandError> {
    if let Some(path) = args.settings.url.as_deref().and_then(experiment::plan_path) {
        return experiment::run_plan(path, args);
    }
    if let Some(path) = args.settings.url.as_deref().and_then(compat::jmeter_plan_path) {
        return compat::run_jmeter_plan(path, args);
    }
    if !args.plan.sets.is_empty() {
        return Err(usage_error(anyhow::anyhow!(
            "--set changes a plan file: write its name in place of the URL, such as plan.yaml"
        )));
    }
    if let Some(mistake) = args.settings.url.as_deref().and_then(mistakes::not_a_url) {
        return Err(usage_error(anyhow::anyhow!(mistake)));
    }
    let system = system();
    let settings = &args.settings;
    let (mut plan, notes) = to_plan(settings, &system).map_err(usage_error)?;
    let mut notes: Vec<Text> = notes.into_iter().map(Text::from).collect();
    check_objectives(&plan.objectives, &[&plan]).map_err(usage_error)?;
    let is_tracing = settings.output.trace;
    if is_tracing {
        to_plan::trace::reduce(&mut plan, settings);
        // The notes describe the plan before it was reduced.
        notes.clear();
    }
    let world = brunt_runner::RealWorld::new(&plan, system.languages).map_err(usage_error)?;
    let outputs = Outputs::from_settings(&settings.output).map_err(usage_error)?;
    let mut tracer = trace::requested(&settings.output, &args.store).map_err(usage_error)?;
    let mut jtl = result_file::open(&settings.output).map_err(usage_error)?;
    let (route, warnings) =
        brunt_check::short::preflight_short(&plan, system.descriptors, system.cores);
    notes.extend(warnings);
    let store = if is_tracing { None } else { args.open_store_or_note(&mut notes) };
    let team = TeamRun::join(&args.browser, store.as_ref(), std::iter::once(&plan));
    let team = team.map_err(usage_error)?;
    notes.extend(team.iter().flat_map(TeamRun::notes).cloned());
    // After the store was opened: live outputs need its redactor.
    let mut live_outputs =
        live_outputs::start(&settings.output.live_outputs).map_err(usage_error)?;
    let quiet = settings.output.quiet;
    let fleet = fleet::start(&plan, &settings.fleet.programs, quiet, store.as_ref())
        .map_err(runtime_error)?;
    let world = world.with_fleet(fleet.clone()).beginning_now();
    let session = measure::session(store, None, exit::fail_on(&settings.checks), fleet)
        .map_err(runtime_error)?;
    let log = output::event_log(&settings.output, &session).map_err(usage_error)?;
    let context = MeasureContext {
        outputs,
        log,
        jtl: jtl.as_mut(),
        live_outputs: &mut live_outputs,
        storage: Storage::SingleRun,
        probes: &settings.probes,
        quiet: settings.output.quiet,
        tracer: tracer.as_mut(),
        notes,
        route,
        team: team.as_ref(),
    };
    let exit = measure(&session, &plan, &world, context).map_err(runtime_error)?;
    live_outputs.finish();
    Ok(exit)
}

/// The command `grpc`: runs a load, or prints the services of a server; all without a name.
fn grpc(args: GrpcArgs) -> Result<Exit, CommandError> {
    match args.into_task().map_err(|error| usage_error(anyhow::anyhow!(error)))? {
        GrpcTask::Run(args) => run(&args),
        GrpcTask::Describe(args, service) => {
            let text = brunt_spec::grpc::describe(&args.settings, service.as_deref(), &system())
                .map_err(|error| usage_error(anyhow::anyhow!(error)))?;
            output::print(&text).map_err(runtime_error)?;
            Ok(Exit::Measured)
        }
    }
}

/// The command `lab`: runs the reference server in this process until it ends.
#[cfg(target_os = "linux")]
fn lab(options: &brunt_lab::args::LabOptions) -> Result<Exit, CommandError> {
    brunt_lab::program::run(options, &mut io::stdout()).map_err(|failure| match failure {
        LabFailure::Usage(_) => usage_error(anyhow::anyhow!("{failure}")),
        LabFailure::Machine(error) => runtime_error(error),
    })?;
    Ok(Exit::Measured)
}

/// The command `man`: writes the pages of all subcommands into a folder, or prints the main page.
fn man_pages(dir: Option<&Path>) -> Result<Exit, CommandError> {
    if let Some(dir) = dir {
        man::write_all(Cli::command(), dir).map_err(runtime_error)?;
        return Ok(Exit::Measured);
    }
    let page = man::page(Cli::command()).map_err(runtime_error)?;
    output::print(page).map_err(runtime_error)?;
    Ok(Exit::Measured)
}
