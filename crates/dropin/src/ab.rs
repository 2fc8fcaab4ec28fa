//! ab: `ApacheBench`'s command line, bytes, report and files.
//!
//! * [`args`], [`target`], [`request`]: what is asked, and its bytes. [`before`], [`secure`]: names, addresses, TLS.
//! * [`plan`]: the same as a plan. [`desk`], [`onlooker`]: what is heard of it. [`classic`], [`order`]: ab's arithmetic.
//! * [`mod@print`], [`html`], [`files`]: its text. What differs on purpose is listed in docs/drop-in.md.

mod args;
mod before;
mod classic;
mod desk;
mod files;
mod html;
mod onlooker;
mod order;
mod plan;
mod print;
mod request;
mod secure;
mod target;

use crate::caller::Caller;
use crate::carry::RunSetup;
use crate::error::Result;
use args::{Args, Refusal};
use brunt_model::Plan;
use brunt_model::system_error::without_number;
use brunt_runner::Real;
use brunt_runner::witness::{Watched, Witness};
use classic::Fatal;
use desk::Desk;
use onlooker::Onlooker;
use order::{Ordered, millis};
use print::{Subject, Tls};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Bad usage.
const USAGE: u8 = 22;
/// Anything else that is wrong before a request, and Ctrl-C.
const FAILED: u8 = 1;

/// Carries out a command line of ab's: the name under which it was called, and what it is told; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    match args::parse(called, words) {
        Ok(args) => {
            let (head, bytes) = request::bytes(&args);
            begin(&args, &head, bytes, caller)
        }
        Err(Refusal::Version) => {
            caller.out(print::BANNER);
            0
        }
        Err(Refusal::Usage(why)) => {
            caller.err(&format!("{why}{}", include_str!("ab/usage.txt").replacen("ab", called, 1)));
            USAGE
        }
        Err(Refusal::Said(why)) => {
            caller.err(&why);
            FAILED
        }
    }
}

/// Everything that may fail before a request is sent, in ab's order.
fn begin(args: &Args, head: &str, bytes: Vec<u8>, caller: &Arc<Caller>) -> u8 {
    caller.err(&args.complaint);
    let refused = |why: &str| refused(why, caller);
    let (tls, note) = match secure::wanted(args) {
        Ok(wanted) => wanted,
        Err(why) => return refused(&why),
    };
    let setup = match RunSetup::open(&args.side, caller) {
        Ok(setup) => setup,
        Err(error) => return refused(&format!("{}: {}\n", args.called, error)),
    };
    caller.out(if args.html.is_some() { html::BANNER } else { print::BANNER });
    greet(args, head, caller);
    let found = || Ok(plan::PlanInputs { bytes, tls, resolve: before::resolve(args)?, source: before::source(args)? });
    let found = match found() {
        Ok(found) => found,
        Err(fatal) => return end(&fatal, 0, caller),
    };
    let outcome = plan::plan(args, found, &(caller.system)())
        .and_then(|(plan, told)| measure(args, &plan, setup, (note.or(told), caller)));
    outcome.unwrap_or_else(|error| refused(&format!("{}: {}\n", args.called, error)))
}

fn refused(why: &str, caller: &Caller) -> u8 {
    caller.err(why);
    FAILED
}

/// What is said before the first request.
fn greet(args: &Args, head: &str, caller: &Caller) {
    if args.html.is_none() {
        let through = args.proxy.as_ref().map(|(host, port)| format!("[through {host}:{port}] "));
        let ends = if args.progress().is_some() { "\n" } else { "..." };
        caller.out(&format!("Benchmarking {} {}(be patient){ends}", args.target.host, through.unwrap_or_default()));
    }
    if args.verbosity >= 2 {
        caller.out(&format!("INFO: {} header == \n---\n{head}\n---\n", request::method(args)));
    }
}

fn measure(args: &Args, plan: &Plan, setup: RunSetup, (note, caller): (Option<String>, &Arc<Caller>)) -> Result<u8> {
    let world = Real::new(plan)?;
    let onlooker = Arc::new(Onlooker::new(args.verbosity, caller));
    let looks_on = args.target.https || onlooker.wants_heads();
    let witness = looks_on.then(|| Arc::clone(&onlooker) as Arc<dyn Witness>);
    let watched = Watched { real: &world, witness };
    let mut desk = Desk::new(args, setup.control.clone(), caller);
    let done = setup.run(plan, &watched, &mut desk);
    let code = match &desk.fatal {
        Some(fatal) => end(fatal, desk.classic.done, caller),
        None => report(args, &desk, &onlooker, caller),
    };
    done.finish(&notes(&desk, note))?;
    Ok(code)
}

/// ab's last words where it has no report.
fn end(fatal: &Fatal, done: u64, caller: &Caller) -> u8 {
    caller.err(&fatal.text);
    if done > 0 {
        caller.out(&format!("Total of {done} requests completed\n"));
    }
    (fatal.number & 0xff) as u8
}

/// The report and the files; the exit code.
fn report(args: &Args, desk: &Desk, onlooker: &Onlooker, caller: &Caller) -> u8 {
    let classic = &desk.classic;
    match args.progress() {
        Some(_) => caller.err_line(&format!("Finished {} requests", classic.done)),
        None => caller.out("..done\n"),
    }
    let server = desk.server.as_ref().or(onlooker.server());
    let software = server.and_then(|name| name.split(|c: char| c <= ' ').next()).unwrap_or_default();
    let server_name = secure::server_name(args).filter(|_| args.target.https);
    let tls = Tls { server_name, ..onlooker.tls() };
    let subject = Subject { args, classic, seconds: desk.seconds(), software, tls: &tls };
    caller.out(&args.html.as_ref().map_or_else(|| print::report(subject), |html| html::report(subject, html)));
    let files = classic.done > 0 && args.html.is_none();
    let written = !files
        || (write(args.csv.as_deref(), "CSV", caller, || files::csv(&classic.records))
            && write(args.gnuplot.as_deref(), "gnuplot", caller, || files::gnuplot(&classic.records, desk.epoch.zero)));
    if desk.interrupted || !written { FAILED } else { 0 }
}

/// Writes a file; whether that went well. ab, too, says so and ends.
fn write(path: Option<&Path>, kind: &str, caller: &Caller, text: impl FnOnce() -> String) -> bool {
    let Some(path) = path else { return true };
    let written = fs::write(path, text());
    if let Err(error) = &written {
        caller.err_line(&format!("Cannot open {kind} output file: {}", without_number(&error.to_string())));
    }
    written.is_ok()
}

/// What the report cannot say: each only where it would mislead.
fn notes(desk: &Desk, note: Option<String>) -> Vec<String> {
    let classic = &desk.classic;
    let total = Ordered::new(classic.records.iter().map(|r| r.total));
    let (ours, theirs) = (millis(total.true_median()), millis(total.row().median));
    let median =
        (ours != theirs).then(|| format!("the true median of all times is {ours} ms; {theirs} is ab's way to take it"));
    let broken = classic.receive_errors + classic.connect_errors;
    let failed = (broken > 0 && desk.fatal.is_none())
        .then(|| "a connection that broke counts up to three times among the failed, and as complete".to_owned());
    note.into_iter().chain(median).chain(failed).collect()
}
