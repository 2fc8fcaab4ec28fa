//! Implements `ab`: the command line, request bytes, report and files of `ApacheBench`.
//!
//! * [`args`], [`target`], [`request`]: the command line, its URL and the request's bytes.
//! * [`lookup`], [`secure`]: host names, addresses and TLS, checked before the first request.
//! * [`plan`]: the same as a plan. [`collector`], [`observer`]: collect samples, handshakes and
//!   heads.
//! * [`classic`], [`order`]: ab's arithmetic. [`mod@print`], [`html`], [`files`]: ab's output.
//!
//! docs/drop-in.md lists the intended differences from ab.

mod args;
mod classic;
mod collector;
mod files;
mod html;
mod lookup;
mod observer;
mod order;
mod plan;
mod print;
mod request;
mod secure;
mod target;

use crate::caller::Caller;
use crate::error::ToolResult;
use crate::run_setup::RunSetup;
use crate::witness::{Witness, WitnessedEngine};
use args::{AbArgs, AbExit};
use brunt_model::Plan;
use brunt_model::plan::TlsSettings;
use brunt_model::system_error::without_number;
use classic::Fatal;
use collector::AbCollector;
use observer::ConnectionObserver;
use order::{Ordered, millis};
use print::{AbReportInput, TlsLines};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Exit code for invalid usage.
const USAGE: u8 = 22;
/// Exit code for any other error before the first request, and for Ctrl-C.
const FAILED: u8 = 1;

/// Runs an ab command line and returns the exit code. `program_name` is as typed by the user.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    match args::parse(program_name, words) {
        Ok(args) => {
            let (head, bytes) = request::bytes(&args);
            begin(&args, &head, bytes, caller)
        }
        Err(AbExit::Version) => {
            caller.out(print::BANNER);
            0
        }
        Err(AbExit::Usage(why)) => {
            caller.err(&format!(
                "{why}{}",
                include_str!("ab/usage.txt").replacen("ab", program_name, 1)
            ));
            USAGE
        }
        Err(AbExit::Message(why)) => {
            caller.err(&why);
            FAILED
        }
    }
}

/// Performs every step that can fail before the first request, in ab's order, then runs.
fn begin(args: &AbArgs, head: &str, bytes: Vec<u8>, caller: &Arc<Caller>) -> u8 {
    caller.err(&args.complaint);
    let tls = match secure::tls_settings(args) {
        Ok(tls) => tls,
        Err(why) => return refuse(&why, caller),
    };
    let setup = match RunSetup::open(&args.brunt_options, caller) {
        Ok(setup) => setup,
        Err(error) => return refuse(&format!("{}: {}\n", args.program_name, error), caller),
    };
    caller.out(if args.html.is_some() { html::BANNER } else { print::BANNER });
    greet(args, head, caller);
    let inputs = match plan_inputs(args, bytes, tls.settings) {
        Ok(inputs) => inputs,
        Err(fatal) => return end(&fatal, 0, caller),
    };
    let outcome = plan::plan(args, inputs, &(caller.system)()).and_then(|(plan, source_note)| {
        measure(args, &plan, setup, tls.note.or(source_note), caller)
    });
    outcome.unwrap_or_else(|error| refuse(&format!("{}: {}\n", args.program_name, error), caller))
}

fn plan_inputs(
    args: &AbArgs,
    bytes: Vec<u8>,
    tls: TlsSettings,
) -> ToolResult<plan::AbPlanInputs, Fatal> {
    Ok(plan::AbPlanInputs {
        bytes,
        tls,
        resolve: lookup::resolve(args)?,
        source: lookup::source(args)?,
    })
}

fn refuse(why: &str, caller: &Caller) -> u8 {
    caller.err(why);
    FAILED
}

/// Prints ab's lines before the first request.
fn greet(args: &AbArgs, head: &str, caller: &Caller) {
    if args.html.is_none() {
        let through = args.proxy.as_ref().map(|(host, port)| format!("[through {host}:{port}] "));
        let ends = if args.progress().is_some() { "\n" } else { "..." };
        caller.out(&format!(
            "Benchmarking {} {}(be patient){ends}",
            args.target.host,
            through.unwrap_or_default()
        ));
    }
    if args.verbosity >= 2 {
        caller.out(&format!("INFO: {} header == \n---\n{head}\n---\n", request::method(args)));
    }
}

fn measure(
    args: &AbArgs,
    plan: &Plan,
    setup: RunSetup,
    note: Option<String>,
    caller: &Arc<Caller>,
) -> ToolResult<u8> {
    let world = setup.world(plan)?;
    let observer = Arc::new(ConnectionObserver::new(args.verbosity, caller));
    // Without TLS and heads to print, there is nothing to observe.
    let is_watching = args.target.https || observer.needs_heads();
    let witness = is_watching.then(|| Arc::clone(&observer) as Arc<dyn Witness>);
    let watched = WitnessedEngine { real: &world, witness };
    let mut collector = AbCollector::new(args, setup.control.clone(), caller);
    let finished = setup.run(plan, &watched, &mut collector);
    let code = match &collector.fatal {
        Some(fatal) => end(fatal, collector.classic.completed, caller),
        None => report(args, &collector, &observer, caller),
    };
    finished.finish(&notes(&collector, note))?;
    Ok(code)
}

/// Prints ab's final message when there is no report, and returns the exit code.
fn end(fatal: &Fatal, completed: u64, caller: &Caller) -> u8 {
    caller.err(&fatal.text);
    if completed > 0 {
        caller.out(&format!("Total of {completed} requests completed\n"));
    }
    // An exit code has eight bits.
    (fatal.number & 0xff) as u8
}

/// Prints the report, writes the files, and returns the exit code.
fn report(
    args: &AbArgs,
    collector: &AbCollector,
    observer: &ConnectionObserver,
    caller: &Caller,
) -> u8 {
    let classic = &collector.classic;
    match args.progress() {
        Some(_) => caller.err_line(&format!("Finished {} requests", classic.completed)),
        None => caller.out("..done\n"),
    }
    let server = collector.server.as_ref().or(observer.server());
    let software =
        server.and_then(|name| name.split(|c: char| c <= ' ').next()).unwrap_or_default();
    let server_name = secure::server_name(args).filter(|_| args.target.https);
    let tls = TlsLines { server_name, ..observer.tls() };
    let subject =
        AbReportInput { args, classic, seconds: collector.seconds(), software, tls: &tls };
    caller.out(
        &args
            .html
            .as_ref()
            .map_or_else(|| print::report(subject), |html| html::report(subject, html)),
    );
    // ab writes its files together with the text report.
    let writes_files = classic.completed > 0 && args.html.is_none();
    let written = !writes_files
        || (write(args.csv.as_deref(), "CSV", caller, || files::csv(&classic.records))
            && write(args.gnuplot.as_deref(), "gnuplot", caller, || {
                files::gnuplot(&classic.records, collector.epoch.zero)
            }));
    if collector.interrupted || !written { FAILED } else { 0 }
}

/// Writes a file, and returns true on success. Like ab, it reports a failure,
/// and the run then ends.
fn write(path: Option<&Path>, kind: &str, caller: &Caller, text: impl FnOnce() -> String) -> bool {
    let Some(path) = path else { return true };
    let written = fs::write(path, text());
    if let Err(error) = &written {
        caller.err_line(&format!(
            "Cannot open {kind} output file: {}",
            without_number(&error.to_string())
        ));
    }
    written.is_ok()
}

/// Notes on figures of the report that would mislead without them.
fn notes(collector: &AbCollector, note: Option<String>) -> Vec<String> {
    let classic = &collector.classic;
    let total = Ordered::new(classic.records.iter().map(|r| r.total));
    let true_median = millis(total.true_median());
    let ab_median = millis(total.row().median);
    let median = (true_median != ab_median).then(|| {
        format!(
            "the true median of all times is {true_median} ms; {ab_median} is ab's way to take it"
        )
    });
    let broken = classic.receive_errors + classic.connect_errors;
    let failed = (broken > 0 && collector.fatal.is_none()).then(|| {
        "a connection that broke counts up to three times among the failed, and as complete"
            .to_owned()
    });
    note.into_iter().chain(median).chain(failed).collect()
}
