//! The command line and its subcommands. Help, completions and the man page are generated from it.
//!
//! The arguments of most commands are in their own modules, those of several in
//! [`args`](crate::args). The settings of a run and their defaults are rows of a table in `spec`.
//!
//! `brunt URL` is `brunt run URL`. A word that names a command is a command; write `http://man` for
//! a server of that name.

use crate::args::{RunArgs, with_n};
#[cfg(all(feature = "certify", target_os = "linux"))]
use crate::certify::{self, args::CertifyArgs};
use crate::exit::Exit;
use crate::replay::{EXAMPLES as REPLAY_EXAMPLES, ReplayArgs};
use crate::view::ViewArgs;
use brunt_spec::words::values::grpc_method;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Measures web servers: throughput, response times, capacity and bottlenecks.
#[derive(Debug, Parser)]
#[command(name = "brunt", version, max_term_width = 110, after_help = after_run())]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Cli {
    /// Subcommand; None means `run`.
    #[command(subcommand)]
    command: Option<BruntCommand>,
    #[command(flatten)]
    run: RunArgs,
    /// Options that control reports.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Arguments of `brunt grpc`.
#[derive(Debug, Args)]
pub struct GrpcArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Method to call: package.Service/Method; a service alone is described, and without either all services are listed
    #[arg(value_name = "SERVICE/METHOD")]
    call: Option<String>,
}

/// Task of `brunt grpc`.
pub enum GrpcTask {
    /// Calls a method under load.
    Run(RunArgs),
    /// Describes one service, or all of them.
    Describe(RunArgs, Option<String>),
}

impl GrpcArgs {
    /// Determines the task from the arguments.
    pub fn into_task(mut self) -> Result<GrpcTask, String> {
        let grpc = &mut self.run.settings.request.grpc.method;
        match self.call {
            Some(service) if !service.contains('/') => {
                return Ok(GrpcTask::Describe(self.run, Some(service)));
            }
            Some(method) => *grpc = Some(grpc_method(&method).map_err(|error| error.to_string())?),
            None if grpc.is_none() => return Ok(GrpcTask::Describe(self.run, None)),
            None => {}
        }
        Ok(GrpcTask::Run(self.run))
    }
}

/// The subcommands of brunt.
#[derive(Debug, Subcommand)]
pub enum BruntCommand {
    /// Measures a server under load (the default command)
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = after_run())]
    Run(Box<RunArgs>),
    /// Calls a gRPC method under load, or lists services and methods
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = GRPC_EXAMPLES)]
    Grpc(Box<GrpcArgs>),
    /// Sends one request and reports likely problems of a run
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = CHECK_EXAMPLES)]
    Check(Box<RunArgs>),
    /// Shows the report of a recorded run, from its event log
    #[command(max_term_width = 110, after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
    /// Measures servers at several loads; finds the saturation point
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::experiment::SWEEP_EXAMPLES)]
    Sweep(Box<crate::experiment::SweepArgs>),
    /// Finds the highest load within an objective such as p99 < 50ms
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::experiment::find::EXAMPLES)]
    Find(Box<crate::experiment::find::FindArgs>),
    /// Compares servers by alternating trials and a significance test
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::experiment::COMPARE_EXAMPLES)]
    Compare(Box<crate::experiment::CompareArgs>),
    /// Saves runs or experiments as baselines, compares later ones
    #[command(max_term_width = 110, after_help = crate::baseline::EXAMPLES)]
    Baseline(crate::baseline::BaselineArgs),
    /// Checks, shows and creates plan files
    #[command(max_term_width = 110, after_help = crate::plan_file::EXAMPLES)]
    Plan(crate::plan_file::PlanArgs),
    #[cfg(feature = "import")]
    #[command(about = "Creates a plan file from HAR, curl, OpenAPI, Postman or JMeter")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::import::EXAMPLES)]
    Import(crate::import::ImportArgs),
    /// Records a browser or other programs, and creates a plan file
    #[cfg(feature = "record")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::record::EXAMPLES)]
    Record(crate::record::RecordArgs),
    #[cfg(feature = "compat")]
    #[command(about = "Writes a plan file as a plan of JMeter")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::compat::export::EXAMPLES)]
    Export(crate::compat::export::ExportArgs),
    /// Lists and manages stored runs and experiments
    #[command(max_term_width = 110, after_help = crate::runs::EXAMPLES)]
    Runs(crate::runs::RunsArgs),
    /// Finds knee, saturation point and outliers in result files
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::analyse::EXAMPLES)]
    Analyse(crate::analyse::AnalyseArgs),
    /// Creates links such as ab that run brunt as another tool
    #[cfg(feature = "compat")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::compat::names::after_help())]
    InstallNames(crate::compat::names::NamesArgs),
    /// Shows the report of a stored run or experiment, in any format
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::reports::EXAMPLES)]
    Report(crate::reports::ReportArgs),
    /// Shows stored runs and experiments in a browser
    #[cfg(feature = "studio")]
    #[command(max_term_width = 110, after_help = crate::studio::EXAMPLES)]
    Studio(crate::studio::StudioArgs),
    /// Waits on NATS for loads of a controller, as a fleet's agent
    #[cfg(feature = "fleet")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::agent::EXAMPLES)]
    Agent(crate::agent::AgentArgs),
    /// Goes on with a run on Kubernetes or NATS whose brunt has died
    #[cfg(feature = "fleet")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::fleet::attach::EXAMPLES)]
    Attach(crate::fleet::attach::AttachArgs),
    /// Prints what a fleet on Kubernetes or NATS needs
    #[cfg(feature = "fleet")]
    #[command(arg_required_else_help = true, max_term_width = 110, after_help = crate::fleet::command::EXAMPLES)]
    Fleet(crate::fleet::command::FleetArgs),
    /// Scores load generators against known response times
    #[cfg(all(feature = "certify", target_os = "linux"))]
    #[command(max_term_width = 110, after_help = certify::args::EXAMPLES)]
    Certify(CertifyArgs),
    /// Runs a reference server with known response times
    #[cfg(target_os = "linux")]
    #[command(max_term_width = 110, after_long_help = after_lab())]
    Lab(Box<brunt_lab::args::LabOptions>),
    /// Ends a server that brunt started when brunt is gone
    #[command(hide = true)]
    Guard,
    /// Prints the completion script of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Runs one process's share of the load
    #[command(hide = true)]
    Worker {
        /// Read the files of plans on this machine
        #[arg(long)]
        own_files: bool,
    },
    /// Prints the man page, or writes one for each command
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// Write a page for brunt and one for each command into this directory
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Prints the JSON Schema of a JSON report
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema {
        /// Name of the document
        #[arg(value_parser = documents(), default_value = brunt_report::SCHEMAS[0].name)]
        document: String,
    },
}

impl Cli {
    /// Returns the named command, or `run`.
    pub fn into_command(self) -> BruntCommand {
        self.command.unwrap_or_else(|| BruntCommand::Run(Box::new(self.run)))
    }
}

/// Formats the examples and the table of exit codes.
fn after_run() -> String {
    let mut exits = Exit::ALL;
    // `ALL` has the order of precedence.
    exits.sort_by_key(|e| e.code());
    let codes = exits.map(|e| format!("\n  {:3}  {}", e.code(), e.meaning())).concat();
    format!("{}\n\nExit codes:{codes}", with_n(RUN_EXAMPLES))
}

/// Help text of `brunt-lab`, with its name as a subcommand.
#[cfg(target_os = "linux")]
fn after_lab() -> String {
    brunt_lab::args::EXAMPLES.replace("brunt-lab", "brunt lab")
}

const RUN_EXAMPLES: &str = "\
Examples:
  brunt http://127.0.0.1:8080/                       closed loop, 10 connections, 10 s
  brunt -r 2000 -d 1m http://127.0.0.1:8080/         open loop: 2000/s, independent of replies
  brunt -r 0..500/30s,500/2m http://127.0.0.1:8080/  up to 500/s in 30 s, then 500/s for 2 min
  brunt -c 64 --think 0.5s..2s http://127.0.0.1/     64 users who think between requests
  brunt -n 5000 --urls urls.txt --order random       5000 requests from a list
  brunt --data @user.json -H 'Content-Type: application/json' 'http://127.0.0.1/user?id={n}'
  brunt run plan.yaml --set load.rate=100..500+50    an experiment from a plan file; see `brunt plan`
  brunt -r 500 --objective 'p99 < 50ms, errors < 0.1%' -o json=run.json http://127.0.0.1/";

const GRPC_EXAMPLES: &str = "\
Examples:
  brunt grpc http://127.0.0.1:50051                        all services with their methods
  brunt grpc http://127.0.0.1:50051 helloworld.Greeter     a service with its methods and messages
  brunt grpc http://127.0.0.1:50051 helloworld.Greeter/SayHello --json '{\"name\":\"ann\"}'
  brunt grpc http://127.0.0.1:50051 shop.Shop/Buy --json @item.json --proto shop.proto -c 8 --streams 32
  brunt find http://127.0.0.1:50051 --grpc shop.Shop/Buy --json @item.json --objective 'p99 < 20ms'

Descriptors come from --proto, --descriptor-set, or the server's reflection. Method: docs/http2.md.";

const CHECK_EXAMPLES: &str = "\
Examples:
  brunt check https://localhost/                 server, protocol, TLS, and what to fix
  brunt check -c 20000 http://127.0.0.1:8080/    limits of this machine and the server for 20,000 connections
  brunt check -r 5000 -d 5m http://10.0.0.2/     the same for a rate: link, ports, firewall
  brunt check -o json https://localhost/         for programs

At most two requests are sent (one, where the method is neither GET nor HEAD), and a few connections are made.

Exit codes:
    0  a reply came
    2  invalid usage; nothing was started
    3  no reply came; the report says why and what to do";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  brunt schema > result.schema.json              of one run
  brunt schema study > study.schema.json         of an experiment";

/// Parser of the names of documents with a schema.
fn documents() -> clap::builder::PossibleValuesParser {
    brunt_report::SCHEMAS.iter().map(|document| document.name).collect::<Vec<_>>().into()
}

const MAN_EXAMPLES: &str = "\
Examples:
  brunt man | man -l -                     read the page of brunt
  brunt man --dir ~/.local/share/man/man1  one page for each command, for man brunt-sweep";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  brunt completions bash > ~/.local/share/bash-completion/completions/brunt
  brunt completions zsh > ~/.zfunc/_brunt
  brunt completions fish > ~/.config/fish/completions/brunt.fish";

#[cfg(test)]
mod tests;
