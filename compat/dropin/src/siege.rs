//! Implements `siege`: command line, siegerc, URL lists and report.
//!
//! * [`options`], [`settings`], [`rc`]: settings from the command line and siegerc.
//! * [`urls`], [`request`]: the URLs and the bytes of their requests.
//! * [`plan`]: the same as a plan. [`collector`], [`observer`]: collect samples
//!   and replies. [`classic`]: siege's arithmetic.
//! * [`mod@print`], [`lines`], [`config`], [`log`]: siege's output.
//!
//! docs/drop-in-siege.md lists the intended differences.

mod classic;
mod collector;
mod config;
mod lines;
mod log;
mod observer;
mod options;
mod plan;
mod print;
mod rc;
mod request;
mod settings;
mod urls;

use crate::caller::Caller;
use crate::error::ToolResult;
use crate::run_setup::RunSetup;
use crate::witness::{Witness, WitnessedEngine};
use brunt_model::Plan;
use brunt_model::system_error::without_number;
use brunt_model::time::seconds_of;
use collector::SiegeCollector;
use lines::TransactionLines;
use observer::ReplyPrinter;
use options::{InfoPage, SiegeExit};
use settings::{Look, SiegeFormat, SiegeSettings, VERSION};
use std::sync::Arc;

/// Exit code for errors before the first request.
const FAILED: u8 = 1;

const COPYRIGHT: &str = "\nCopyright (C) 2018 by Jeffrey Fulmer, et al.\nThis is free software; see the source for copying \
conditions.\nThere is NO warranty; not even for MERCHANTABILITY or FITNESS\nFOR A PARTICULAR PURPOSE.\n\n";

/// Runs a siege command line and returns the exit code. `program_name` is as typed by the user.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    match options::parse(program_name, words, caller) {
        Ok(settings) => begin(program_name, settings, caller),
        Err(SiegeExit::InfoPage(page, settings)) => {
            show(program_name, page, &settings, caller);
            0
        }
        Err(SiegeExit::Message(why, code)) => {
            caller.err(&why);
            code
        }
    }
}

fn show(program_name: &str, page: InfoPage, settings: &SiegeSettings, caller: &Caller) {
    match page {
        InfoPage::Version => caller.err(&format!("SIEGE {VERSION}\n{COPYRIGHT}")),
        InfoPage::Help => {
            caller.err_line(&format!("SIEGE {VERSION}"));
            caller.out(&include_str!("siege/usage.txt").replace("siege", program_name));
        }
        InfoPage::Config => caller.out(&config::config(settings)),
    }
}

/// Performs every step that can fail before the first request, in siege's order, then runs.
fn begin(program_name: &str, mut settings: SiegeSettings, caller: &Arc<Caller>) -> u8 {
    if let (Some(_), Some(time)) = (settings.reps, settings.time) {
        caller.err_line(
            "[\x1b[1;33merror\x1b[0m] CONFIG conflict: selected time and repetition based testing",
        );
        caller.err_line(&format!("defaulting to time-based testing: {} seconds", time.as_secs()));
    }
    let mut urls = match urls::all(&settings, caller) {
        Ok(urls) => urls,
        Err(trouble) => {
            if let Some(error) = trouble {
                let why = without_number(&error.to_string());
                caller.err_line(&format!(
                    "[\x1b[1;32malert\x1b[0m] unable to open file: {}: {why}",
                    settings.file
                ));
            }
            // Like siege, which shows its help and succeeds.
            show(program_name, InfoPage::Help, &settings, caller);
            return 0;
        }
    };
    plan::apply_look(&mut settings, &mut urls);
    match plan_and_measure(&settings, &urls, caller) {
        Ok(()) => 0,
        Err(error) => {
            caller.err_line(&format!("{program_name}: {error}"));
            FAILED
        }
    }
}

fn plan_and_measure(
    settings: &SiegeSettings,
    urls: &[urls::UrlEntry],
    caller: &Arc<Caller>,
) -> ToolResult<()> {
    let setup = RunSetup::open(&settings.brunt_options, caller)?;
    let (plan, note) = plan::plan(settings, urls, &(caller.system)())?;
    measure(settings, &plan, setup, note, caller)
}

fn measure(
    settings: &SiegeSettings,
    plan: &Plan,
    setup: RunSetup,
    note: Option<String>,
    caller: &Arc<Caller>,
) -> ToolResult<()> {
    let world = setup.world(plan)?;
    let observer = settings
        .look
        .map(|look| Arc::new(ReplyPrinter(look, Arc::clone(caller))) as Arc<dyn Witness>);
    let watched = WitnessedEngine { real: &world, witness: observer };
    greet(settings, caller);
    let labels = plan.main().scenario.requests.iter().map(|request| request.label.clone());
    let lines = settings.shows_lines().then(|| TransactionLines::new(settings, labels));
    let mut collector = SiegeCollector::new(settings, lines, setup.control.clone(), caller);
    let finished = setup.run(plan, &watched, &mut collector);
    report(settings, &collector, caller);
    finished.finish(&notes(settings, &collector, note))
}

fn greet(settings: &SiegeSettings, caller: &Caller) {
    if settings.quiet || settings.form() == SiegeFormat::Json || settings.look == Some(Look::Heads)
    {
        return;
    }
    let users = plan::users(settings);
    if settings.concurrent > settings.limit && settings.look.is_none() {
        // On stdout, as in siege.
        caller.out(&print::user_limit_warning(settings.limit));
    }
    caller.err(&print::greeting(settings, users));
}

fn report(settings: &SiegeSettings, collector: &SiegeCollector, caller: &Caller) {
    let figures = collector.figures();
    let is_json = settings.form() == SiegeFormat::Json;
    if collector.aborted && !settings.quiet {
        caller.err(
            "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n",
        );
    }
    if collector.was_lifted() && !settings.quiet && !is_json {
        caller.err("\nLifting the server siege...");
    }
    // siege prints JSON even with `-q`.
    if is_json || !settings.quiet {
        caller.err("\n");
        if is_json {
            caller.out(&print::json(&figures, settings));
        } else {
            caller.err(&print::text(&figures, settings));
        }
    }
    if settings.logging {
        log::append(settings, &figures, collector.end_unix_seconds(), caller);
    }
    if settings.logging && settings.show_logfile && !settings.quiet {
        let log = &settings.logfile;
        let rc = rc::user_file(caller);
        caller.out(&format!(
            "LOG FILE: {log}\nYou can disable this log file notification by editing\n{} and changing 'show-logfile' to false.\n",
            rc.display()
        ));
    }
}

/// Notes on figures of the report that would mislead without them.
fn notes(
    settings: &SiegeSettings,
    collector: &SiegeCollector,
    note: Option<String>,
) -> Vec<String> {
    let ended_early = collector.aborted.then(|| {
        let failures = settings.failures;
        format!(
            "the run ended early at the limit of {failures} failures: its figures are incomplete (failures = N in siegerc)"
        )
    });
    let requested = settings.concurrent;
    let limit = settings.limit;
    let capped = (requested > limit && settings.look.is_none())
        .then(|| format!("{requested} users requested, capped at {limit} (limit = N in siegerc)"));
    let pauses = mostly_paused(settings, collector);
    let waits = hidden_waits(collector);
    note.into_iter().chain(ended_early).chain(capped).chain(pauses).chain(waits).collect()
}

/// Note for a run in which users paused longer than they waited for the server.
fn mostly_paused(settings: &SiegeSettings, collector: &SiegeCollector) -> Option<String> {
    let mean = collector.classic.true_mean_millis();
    // Pauses are uniform between zero and the given time.
    let pause = settings.pause() * 1e3 / 2.0;
    (pause > mean && collector.classic.hits > 0).then(|| {
        format!(
            "each user paused {pause:.0} ms on average after a page that took {mean:.3} ms: the pauses, not the server, set the rate (-b: no pauses)"
        )
    })
}

/// Note for a run in which requests in flight at the end had waited longer than any finished one.
fn hidden_waits(collector: &SiegeCollector) -> Option<String> {
    let cut = collector.classic.cut;
    let oldest = seconds_of(collector.classic.oldest_cut_nanos);
    collector.classic.hides_waits().then(|| {
        format!(
            "{cut} requests were in flight at the end and are in no figure; the oldest had waited {oldest:.2} s, longer than all completed ones"
        )
    })
}
