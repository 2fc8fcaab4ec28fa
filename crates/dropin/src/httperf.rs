//! httperf: its command line, bytes and report. [`run`] is the tool; [`answer`] is for those who call it, as autobench does.
//!
//! * [`args`], [`echo`]: what is asked, and the line that repeats it. [`request`], [`sessions`], [`session_log`], [`tls`]: in bytes.
//! * [`plan`]: the same as a plan. [`desk`], [`counts`], [`lifetimes`]: what is heard of it, by httperf's arithmetic.
//! * [`mod@print`], [`paper`], [`onlooker`]: its text. What differs on purpose is listed in docs/drop-in-httperf.md.

mod args;
mod counts;
mod desk;
mod echo;
mod lifetimes;
mod onlooker;
mod paper;
mod plan;
mod print;
mod request;
mod session_log;
mod sessions;
mod tls;

use crate::caller::Caller;
use crate::carry::RunSetup;
use crate::error::{Result, ToolError};
use args::{Args, Refusal, Workload};
use brunt_runner::witness::{Watched, Witness};
use brunt_runner::{Interrupt, Real};
use counts::Rules;
use desk::Desk;
use onlooker::Onlooker;
use paper::Paper;
use sessions::Wanted;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Bad usage, a name without an address, files that cannot be read.
const FAILED: u8 = 1;
/// What httperf finds wrong only when it sets out.
const UNFIT: u8 = 255;
/// Its version, as it tells it.
const VERSION: &str = "httperf-0.9.0 compiled without DEBUG without TIME_SYSCALLS.";

/// What an httperf command line came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it said on stdout.
    pub text: String,
    /// Why there is no report: what it would have said on stderr.
    pub refusal: Option<String>,
    /// How it would have ended.
    pub code: u8,
}

/// Carries out a command line of httperf's: the name under which it was called, and what it is told; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    let told = (caller.interrupt)().map_err(|error| EarlyExit::failed(error.to_string()));
    let paper = Arc::new(Paper::Stdout(Arc::clone(caller)));
    match told.and_then(|interrupt| begin(called, words, &interrupt, (&paper, caller))) {
        Ok(()) => 0,
        Err(told) => {
            caller.err(&told.text(called));
            told.code
        }
    }
}

/// Carries out a command line of httperf for another drop-in. Stdout is returned as text; brunt's notes go to stderr.
pub fn answer(words: &[String], interrupt: &Interrupt, caller: &Arc<Caller>) -> Answer {
    let paper = Arc::new(Paper::Kept(Mutex::default()));
    let exit = begin("httperf", words, interrupt, (&paper, caller)).err();
    let code = exit.as_ref().map_or(0, |exit| exit.code);
    Answer { text: paper.text(), refusal: exit.map(|exit| exit.text("httperf")), code }
}

/// Why there is no report.
struct EarlyExit {
    why: Option<String>,
    code: u8,
}

impl EarlyExit {
    fn failed(why: String) -> Self {
        Self { why: Some(why), code: FAILED }
    }

    fn text(&self, called: &str) -> String {
        let name = called.rsplit('/').next().unwrap_or(called);
        let joint = |why: &str| if why.starts_with("core_") || why.starts_with("session_") { "." } else { ": " };
        self.why.as_ref().map_or_else(String::new, |why| format!("{name}{}{why}\n", joint(why)))
    }
}

/// Everything that may fail before a request is sent, in httperf's order; then the run.
fn begin(
    called: &str,
    words: &[String],
    interrupt: &Interrupt,
    (paper, caller): (&Arc<Paper>, &Arc<Caller>),
) -> Result<(), EarlyExit> {
    let args = match args::parse(words) {
        Ok(args) => args,
        Err(Refusal::Said(why)) => return Err(EarlyExit::failed(why)),
        Err(Refusal::Help) => {
            paper.say(include_str!("httperf/usage.txt"));
            return Ok(());
        }
        Err(Refusal::Version) => {
            paper.say(&format!("httperf: {VERSION}\n"));
            return Ok(());
        }
    };
    if args.debug {
        caller.err_line("httperf: sorry, need to recompile with -DDEBUG on...");
    }
    if args.session_cookies && !args.has_sessions() {
        let why = "--session-cookie requires session-oriented workload (e.g., --wsess)";
        return Err(EarlyExit { why: Some(why.into()), code: UNFIT });
    }
    paper.say(&echo::line(called, &args));
    set_out(&args, interrupt, (paper, caller))
}

fn set_out(args: &Args, interrupt: &Interrupt, (paper, caller): (&Arc<Paper>, &Arc<Caller>)) -> Result<(), EarlyExit> {
    if !matches!(args.http_version, (1, 0 | 1)) {
        let (major, minor) = args.http_version;
        return Err(EarlyExit::failed(format!("unexpected version code {}", major * 10_000 + minor)));
    }
    let resolve = plan::resolve(args).map_err(EarlyExit::failed)?;
    let wanted = sessions::wanted(args).map_err(EarlyExit::failed)?;
    let rules = rules(args, &wanted);
    // Sessions of a log have no limit: httperf begins the calls of a burst as there is room.
    let limited = matches!(args.workload, Workload::Sessions(..));
    if limited && longest(&wanted) > 1 + args.per_session() * args.piped() {
        let why = "session_issue_call: too many calls pending!\n\tIncrease --max-connections and/or --max-piped-calls.";
        return Err(EarlyExit::failed(why.into()));
    }
    let ours = |error: ToolError| EarlyExit::failed(error.to_string());
    let (plan, note) = plan::plan(args, wanted, resolve, &(caller.system)());
    let setup = RunSetup::among(&args.side, interrupt.clone(), caller).map_err(ours)?;
    if args.verbosity > 0 {
        let most = brunt_probe::limits::raise_descriptors();
        paper.say(&format!("httperf: maximum number of open descriptors = {most}\n"));
    }
    measure(args, &plan, rules, setup, (note, paper)).map_err(ours)
}

/// The longest burst that was asked for: parts of one follow each other at once.
fn longest(wanted: &Wanted) -> u64 {
    wanted.sessions.iter().map(|session| session.longest).max().unwrap_or(1)
}

fn rules(args: &Args, wanted: &Wanted) -> Rules {
    let limit = (args.timeout > 0.0).then(|| Duration::try_from_secs_f64(args.timeout).unwrap_or(Duration::MAX));
    Rules {
        sessions: args.has_sessions(),
        lengths: wanted.sessions.iter().map(|session| session.calls).collect(),
        together: longest(wanted) > 1,
        one_each: args.has_sessions() && args.is_http10(),
        limits: limit.map(|limit| (limit, plan::reply_limit(args))),
    }
}

fn measure(
    args: &Args,
    plan: &brunt_model::Plan,
    rules: Rules,
    setup: RunSetup,
    (note, paper): (Option<String>, &Arc<Paper>),
) -> Result<()> {
    let world = Real::new(plan)?;
    let mut desk = Desk::new(rules, args.client, (args.verbosity > 0).then(|| Arc::clone(paper)));
    let onlooker = Onlooker::of(args, paper).map(|onlooker| onlooker as Arc<dyn Witness>);
    let watched = Watched { real: &world, witness: onlooker };
    let done = setup.run(plan, &watched, &mut desk);
    paper.say(&print::report(&print::Subject {
        counts: &desk.counts,
        ended: desk.ended,
        seconds: desk.seconds(),
        cpu: desk.cpu(),
        sessions: args.has_sessions(),
        histogram: args.verbosity > 1,
    }));
    done.finish(&notes(&desk, note))
}

/// What the report cannot say: each only where it would mislead.
fn notes(desk: &Desk, note: Option<String>) -> Vec<String> {
    let lived = lifetimes::lifetimes(&desk.counts.connections);
    let median = (lived.successful > 0 && (lived.true_median - lived.median).abs() >= 0.5).then(|| {
        format!(
            "the true median of connection times is {:.3} ms; {:.1} is the middle of a millisecond",
            lived.true_median, lived.median
        )
    });
    note.into_iter().chain(median).collect()
}
