//! Implements `httperf`: command line, bytes and report. [`run`] is the tool; [`answer`] serves
//! other drop-ins such as autobench.
//!
//! * [`args`], [`echo`]: the command line, and the line that repeats it.
//! * [`request`], [`sessions`], [`session_log`], [`tls`]: the requests and
//!   TLS settings that it describes.
//! * [`plan`]: the same as a plan. [`collector`], [`counts`], [`lifetimes`]: httperf's arithmetic.
//! * [`mod@print`], [`output`], [`observer`]: httperf's output.
//!
//! docs/drop-in-httperf.md lists the intended differences.

mod args;
mod collector;
mod counts;
mod echo;
mod lifetimes;
mod observer;
mod output;
mod plan;
mod print;
mod request;
mod session_log;
mod sessions;
mod tls;

use crate::caller::Caller;
use crate::error::{ToolError, ToolResult};
use crate::run_setup::RunSetup;
use crate::witness::{Witness, WitnessedEngine};
use args::{HttperfArgs, HttperfExit, Workload};
use brunt_runner::Interrupt;
use collector::HttperfCollector;
use counts::CountRules;
use observer::ExchangePrinter;
use output::ReportOutput;
use sessions::SessionWorkload;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Exit code for invalid usage, an unresolvable name, or an unreadable file.
const FAILED: u8 = 1;
/// Exit code for errors that httperf detects only when it starts the workload.
const START_FAILED: u8 = 255;
/// Version line of httperf 0.9.0.
const VERSION: &str = "httperf-0.9.0 compiled without DEBUG without TIME_SYSCALLS.";

/// Result of an httperf command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttperfResult {
    /// Text that it wrote to stdout.
    pub text: String,
    /// Its message on stderr, if there is no report.
    pub refusal: Option<String>,
    pub code: u8,
}

/// Runs an httperf command line and returns the exit code. `program_name` is the
/// name that the user typed.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    let interrupt = (caller.interrupt)().map_err(|error| EarlyExit::failed(error.to_string()));
    let output = Arc::new(ReportOutput::Stdout(Arc::clone(caller)));
    match interrupt.and_then(|interrupt| begin(program_name, words, &interrupt, &output, caller)) {
        Ok(()) => 0,
        Err(exit) => {
            caller.err(&exit.text(program_name));
            exit.code
        }
    }
}

/// Runs an httperf command line for another drop-in. Stdout is returned as text;
/// brunt's notes go to stderr.
pub fn answer(words: &[String], interrupt: &Interrupt, caller: &Arc<Caller>) -> HttperfResult {
    let output = Arc::new(ReportOutput::Buffer(Mutex::default()));
    let exit = begin("httperf", words, interrupt, &output, caller).err();
    let code = exit.as_ref().map_or(0, |exit| exit.code);
    HttperfResult { text: output.text(), refusal: exit.map(|exit| exit.text("httperf")), code }
}

/// An exit before the report, with its message and exit code.
struct EarlyExit {
    why: Option<String>,
    code: u8,
}

impl EarlyExit {
    fn failed(why: String) -> Self {
        Self { why: Some(why), code: FAILED }
    }

    fn text(&self, program_name: &str) -> String {
        let name = program_name.rsplit('/').next().unwrap_or(program_name);
        let Some(why) = &self.why else { return String::new() };
        // httperf's own messages continue the program's name: `httperf.core_…`.
        let separator =
            if why.starts_with("core_") || why.starts_with("session_") { "." } else { ": " };
        format!("{name}{separator}{why}\n")
    }
}

impl From<ToolError> for EarlyExit {
    fn from(error: ToolError) -> Self {
        Self::failed(error.to_string())
    }
}

/// Performs every step that can fail before the first request, in httperf's order, then runs.
fn begin(
    program_name: &str,
    words: &[String],
    interrupt: &Interrupt,
    output: &Arc<ReportOutput>,
    caller: &Arc<Caller>,
) -> ToolResult<(), EarlyExit> {
    let args = match args::parse(words) {
        Ok(args) => args,
        Err(HttperfExit::Message(why)) => return Err(EarlyExit::failed(why)),
        Err(HttperfExit::Help) => {
            output.print(include_str!("httperf/usage.txt"));
            return Ok(());
        }
        Err(HttperfExit::Version) => {
            output.print(&format!("httperf: {VERSION}\n"));
            return Ok(());
        }
    };
    if args.debug {
        caller.err_line("httperf: sorry, need to recompile with -DDEBUG on...");
    }
    if args.session_cookies && !args.has_sessions() {
        let why = "--session-cookie requires session-oriented workload (e.g., --wsess)";
        return Err(EarlyExit { why: Some(why.into()), code: START_FAILED });
    }
    output.print(&echo::line(program_name, &args));
    start_workload(&args, interrupt, output, caller)
}

fn start_workload(
    args: &HttperfArgs,
    interrupt: &Interrupt,
    output: &Arc<ReportOutput>,
    caller: &Arc<Caller>,
) -> ToolResult<(), EarlyExit> {
    if !matches!(args.http_version, (1, 0 | 1)) {
        let (major, minor) = args.http_version;
        return Err(EarlyExit::failed(format!(
            "unexpected version code {}",
            major * 10_000 + minor
        )));
    }
    let resolve = plan::resolve(args).map_err(EarlyExit::failed)?;
    let workload = sessions::workload(args).map_err(EarlyExit::failed)?;
    let rules = rules(args, &workload);
    // Sessions of a log have no limit: httperf starts the calls of a
    // burst as connections become free.
    let is_limited = matches!(args.workload, Workload::Sessions(..));
    if is_limited && longest_burst(&workload) > 1 + args.per_session() * args.piped() {
        let why = "session_issue_call: too many calls pending!\n\tIncrease --max-connections and/or --max-piped-calls.";
        return Err(EarlyExit::failed(why.into()));
    }
    let (plan, note) = plan::plan(args, workload, resolve, &(caller.system)());
    let setup = RunSetup::with_interrupt(&args.brunt_options, interrupt.clone(), caller)
        .map_err(EarlyExit::from)?;
    if args.verbosity > 0 {
        let most = brunt_probe::limits::raise_descriptors();
        output.print(&format!("httperf: maximum number of open descriptors = {most}\n"));
    }
    measure(args, &plan, rules, setup, note, output).map_err(EarlyExit::from)
}

/// Length of the longest burst. Calls of a burst follow each other at once.
fn longest_burst(workload: &SessionWorkload) -> u64 {
    workload.sessions.iter().map(|session| session.longest).max().unwrap_or(1)
}

fn rules(args: &HttperfArgs, workload: &SessionWorkload) -> CountRules {
    let limit = (args.timeout > 0.0)
        .then(|| Duration::try_from_secs_f64(args.timeout).unwrap_or(Duration::MAX));
    CountRules {
        has_sessions: args.has_sessions(),
        lengths: workload.sessions.iter().map(|session| session.calls).collect(),
        is_pipelined: longest_burst(workload) > 1,
        one_call_per_connection: args.has_sessions() && args.is_http10(),
        limits: limit.map(|limit| (limit, plan::reply_limit(args))),
    }
}

fn measure(
    args: &HttperfArgs,
    plan: &brunt_model::Plan,
    rules: CountRules,
    setup: RunSetup,
    note: Option<String>,
    output: &Arc<ReportOutput>,
) -> ToolResult<()> {
    let world = setup.world(plan)?;
    let mut collector =
        HttperfCollector::new(rules, args.client, (args.verbosity > 0).then(|| Arc::clone(output)));
    let observer = ExchangePrinter::new(args, output).map(|observer| observer as Arc<dyn Witness>);
    let watched = WitnessedEngine { real: &world, witness: observer };
    let done = setup.run(plan, &watched, &mut collector);
    output.print(&print::report(&print::HttperfReportInput {
        counts: &collector.counts,
        ended: collector.ended,
        seconds: collector.seconds(),
        cpu: collector.cpu(),
        has_sessions: args.has_sessions(),
        histogram: args.verbosity > 1,
    }));
    done.finish(&notes(&collector, note))
}

/// Notes on figures of the report that would mislead without them.
fn notes(collector: &HttperfCollector, note: Option<String>) -> Vec<String> {
    let lifetimes = lifetimes::lifetimes(&collector.counts.connections);
    let median = (lifetimes.successful > 0 && (lifetimes.true_median - lifetimes.median).abs() >= 0.5).then(|| {
        format!(
            "the true median of connection times is {:.3} ms; {:.1} is the middle of a millisecond",
            lifetimes.true_median, lifetimes.median
        )
    });
    note.into_iter().chain(median).collect()
}
