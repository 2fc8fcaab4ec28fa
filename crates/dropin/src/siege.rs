//! siege: its command line, its file of directives, its lists of URLs, its report.
//!
//! * [`options`], [`settings`], [`rc`]: what siege was told. [`urls`], [`request`]: what is asked, and its bytes.
//! * [`plan`]: the same as a plan. [`desk`], [`onlooker`]: what is heard of it. [`classic`]: siege's arithmetic.
//! * [`mod@print`], [`lines`], [`config`], [`log`]: its text. What differs on purpose is listed in docs/drop-in-siege.md.

mod classic;
mod config;
mod desk;
mod lines;
mod log;
mod onlooker;
mod options;
mod plan;
mod print;
mod rc;
mod request;
mod settings;
mod urls;

use crate::caller::Caller;
use crate::carry::RunSetup;
use crate::error::Result;
use brunt_model::Plan;
use brunt_model::system_error::without_number;
use brunt_model::time::seconds_of;
use brunt_runner::Real;
use brunt_runner::witness::{Watched, Witness};
use desk::Desk;
use lines::Lines;
use onlooker::Onlooker;
use options::{InfoPage, Refusal};
use settings::{Format, Look, Settings, VERSION};
use std::sync::Arc;

/// What is wrong before a request.
const FAILED: u8 = 1;

const COPYRIGHT: &str = "\nCopyright (C) 2018 by Jeffrey Fulmer, et al.\nThis is free software; see the source for copying \
conditions.\nThere is NO warranty; not even for MERCHANTABILITY or FITNESS\nFOR A PARTICULAR PURPOSE.\n\n";

/// Carries out a command line of siege's: the name under which it was called, and what it is told; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    match options::parse(called, words, caller) {
        Ok(settings) => begin(called, settings, caller),
        Err(Refusal::InfoPage(what, settings)) => {
            show(called, what, &settings, caller);
            0
        }
        Err(Refusal::Said(why, code)) => {
            caller.err(&why);
            code
        }
    }
}

fn show(called: &str, what: InfoPage, settings: &Settings, caller: &Caller) {
    match what {
        InfoPage::Version => caller.err(&format!("SIEGE {VERSION}\n{COPYRIGHT}")),
        InfoPage::Help => {
            caller.err_line(&format!("SIEGE {VERSION}"));
            caller.out(&include_str!("siege/usage.txt").replace("siege", called));
        }
        InfoPage::Config => caller.out(&config::config(settings)),
    }
}

/// Everything that may fail before a request is sent, in siege's order.
fn begin(called: &str, mut settings: Settings, caller: &Arc<Caller>) -> u8 {
    if let (Some(_), Some(time)) = (settings.reps, settings.time) {
        caller.err_line("[\x1b[1;33merror\x1b[0m] CONFIG conflict: selected time and repetition based testing");
        caller.err_line(&format!("defaulting to time-based testing: {} seconds", time.as_secs()));
    }
    let mut asked = match urls::all(&settings, caller) {
        Ok(asked) => asked,
        Err(trouble) => {
            if let Some(error) = trouble {
                let why = without_number(&error.to_string());
                caller.err_line(&format!("[\x1b[1;32malert\x1b[0m] unable to open file: {}: {why}", settings.file));
            }
            show(called, InfoPage::Help, &settings, caller);
            return 0;
        }
    };
    plan::look(&mut settings, &mut asked);
    let measured = || -> Result<()> {
        let setup = RunSetup::open(&settings.side, caller)?;
        let (plan, note) = plan::plan(&settings, &asked, &(caller.system)())?;
        measure(&settings, &plan, setup, (note, caller))
    };
    measured().map_or_else(
        |error| {
            caller.err_line(&format!("{called}: {error}"));
            FAILED
        },
        |()| 0,
    )
}

fn measure(
    settings: &Settings,
    plan: &Plan,
    setup: RunSetup,
    (note, caller): (Option<String>, &Arc<Caller>),
) -> Result<()> {
    let world = Real::new(plan)?;
    let onlooker = settings.look.map(|look| Arc::new(Onlooker(look, Arc::clone(caller))) as Arc<dyn Witness>);
    let watched = Watched { real: &world, witness: onlooker };
    greet(settings, caller);
    let labels = plan.main().scenario.requests.iter().map(|request| request.label.clone());
    let lines = settings.shows_lines().then(|| Lines::new(settings, labels));
    let mut desk = Desk::new(settings, lines, setup.control.clone(), caller);
    let done = setup.run(plan, &watched, &mut desk);
    report(settings, &desk, caller);
    done.finish(&notes(settings, &desk, note))
}

/// What is said before the first request.
fn greet(settings: &Settings, caller: &Caller) {
    if settings.quiet || settings.form() == Format::Json || settings.look == Some(Look::Heads) {
        return;
    }
    let users = plan::users(settings);
    if settings.concurrent > settings.limit && settings.look.is_none() {
        caller.out(&print::capped(settings.limit));
    }
    caller.err(&print::greeting(settings, users));
}

fn report(settings: &Settings, desk: &Desk, caller: &Caller) {
    let figures = desk.figures();
    let is_json = settings.form() == Format::Json;
    if desk.aborted && !settings.quiet {
        caller.err(
            "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n",
        );
    }
    if desk.was_lifted() && !settings.quiet && !is_json {
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
        log::append(settings, &figures, desk.now(), caller);
    }
    if settings.logging && settings.show_logfile && !settings.quiet {
        let (log, rc) = (&settings.logfile, rc::own(caller));
        caller.out(&format!(
            "LOG FILE: {log}\nYou can disable this log file notification by editing\n{} and changing 'show-logfile' to false.\n",
            rc.display()
        ));
    }
}

/// What the report cannot say: each only where it would mislead.
fn notes(settings: &Settings, desk: &Desk, note: Option<String>) -> Vec<String> {
    let ended_early = desk.aborted.then(|| {
        let failures = settings.failures;
        format!(
            "the run ended early at the limit of {failures} failures: its figures are incomplete (failures = N in siegerc)"
        )
    });
    let (asked, limit) = (settings.concurrent, settings.limit);
    let capped = (asked > limit && settings.look.is_none())
        .then(|| format!("{asked} users requested, capped at {limit} (limit = N in siegerc)"));
    note.into_iter().chain(ended_early).chain(capped).chain(paused(settings, desk)).chain(waited(desk)).collect()
}

/// Users mostly paused.
fn paused(settings: &Settings, desk: &Desk) -> Option<String> {
    let (mean, pause) = (desk.classic.true_mean_millis(), settings.pause() * 1e3 / 2.0);
    (pause > mean && desk.classic.hits > 0).then(|| {
        format!(
            "each user paused {pause:.0} ms on average behind a page that took {mean:.3} ms: the pauses, not the server, decided \
             how many there were (-b: none)"
        )
    })
}

/// What was under way at the end had waited longer than all that is in the figures.
fn waited(desk: &Desk) -> Option<String> {
    let (cut, oldest) = (desk.classic.cut, seconds_of(desk.classic.oldest_cut_nanos));
    desk.classic.hides_waits().then(|| {
        format!(
            "{cut} requests were under way at the end and are in no figure; the oldest had waited {oldest:.2} s, longer than all \
             that ended"
        )
    })
}
