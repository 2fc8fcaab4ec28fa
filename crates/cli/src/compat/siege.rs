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

use super::carry::RunSetup;
use crate::causes;
use anyhow::Result;
use brunt_engine::{Control, Sink};
use brunt_model::{Environment, Plan};
use brunt_runner::Real;
use brunt_runner::witness::{Watched, Witness};
use desk::Desk;
use lines::Lines;
use onlooker::Onlooker;
use options::{Refusal, Show};
use settings::{Format, Look, Settings, VERSION};
use std::io::{self, Write};
use std::sync::Arc;

/// What is wrong before a request.
const FAILED: u8 = 1;

const COPYRIGHT: &str = "\nCopyright (C) 2018 by Jeffrey Fulmer, et al.\nThis is free software; see the source for copying \
conditions.\nThere is NO warranty; not even for MERCHANTABILITY or FITNESS\nFOR A PARTICULAR PURPOSE.\n\n";

/// Carries out a command line of siege's: the name under which it was called, and what it is told; the exit code.
pub fn run(called: &str, words: &[String]) -> u8 {
    match options::parse(called, words) {
        Ok(settings) => begin(called, settings),
        Err(Refusal::Show(what, settings)) => {
            show(called, what, &settings);
            0
        }
        Err(Refusal::Said(why, code)) => {
            eprint!("{why}");
            code
        }
    }
}

fn show(called: &str, what: Show, settings: &Settings) {
    match what {
        Show::Version => eprint!("SIEGE {VERSION}\n{COPYRIGHT}"),
        Show::Help => {
            eprintln!("SIEGE {VERSION}");
            say(&include_str!("siege/usage.txt").replace("siege", called));
        }
        Show::Config => say(&config::config(settings)),
    }
}

/// Everything that may fail before a request is sent, in siege's order.
fn begin(called: &str, mut settings: Settings) -> u8 {
    if let (Some(_), Some(time)) = (settings.reps, settings.time) {
        eprintln!("[\x1b[1;33merror\x1b[0m] CONFIG conflict: selected time and repetition based testing");
        eprintln!("defaulting to time-based testing: {} seconds", time.as_secs());
    }
    let mut asked = match urls::all(&settings) {
        Ok(asked) => asked,
        Err(trouble) => {
            if let Some(error) = trouble {
                let why = error.to_string();
                let why = why.split(" (os error").next().unwrap_or(&why);
                eprintln!("[\x1b[1;32malert\x1b[0m] unable to open file: {}: {why}", settings.file);
            }
            show(called, Show::Help, &settings);
            return 0;
        }
    };
    plan::look(&mut settings, &mut asked);
    let measured = || -> Result<()> {
        let setup = RunSetup::open(&settings.side)?;
        let (plan, note) = plan::plan(&settings, &asked)?;
        measure(&settings, &plan, setup, note)
    };
    measured().map_or_else(
        |error| {
            eprintln!("{called}: {}", causes::line(&error));
            FAILED
        },
        |()| 0,
    )
}

fn measure(settings: &Settings, plan: &Plan, setup: RunSetup, note: Option<String>) -> Result<()> {
    let world = Real::new(plan)?;
    let onlooker = settings.look.map(|look| Arc::new(Onlooker(look)) as Arc<dyn Witness>);
    let watched = Watched { real: &world, witness: onlooker };
    let engine = |environment: Environment, control: &Control, sink: &mut dyn Sink| {
        watched.drive(plan, environment, control, sink)
    };
    greet(settings);
    let labels = plan.main().scenario.requests.iter().map(|request| request.label.clone());
    let lines = settings.shows_lines().then(|| Lines::new(settings, labels));
    let mut desk = Desk::new(settings, lines, setup.control.clone());
    let done = setup.run(plan, &engine, &mut desk);
    report(settings, &desk);
    done.finish(&notes(settings, &desk, note))
}

/// What is said before the first request.
fn greet(settings: &Settings) {
    if settings.quiet || settings.form() == Format::Json || settings.look == Some(Look::Heads) {
        return;
    }
    let users = plan::users(settings);
    if settings.concurrent > settings.limit && settings.look.is_none() {
        say(&print::capped(settings.limit));
    }
    eprint!("{}", print::greeting(settings, users));
}

fn report(settings: &Settings, desk: &Desk) {
    let figures = desk.figures();
    if !settings.quiet {
        if desk.aborted {
            eprint!(
                "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n"
            );
        }
        if desk.was_lifted() && settings.form() != Format::Json {
            eprint!("\nLifting the server siege...");
        }
        eprintln!();
        match settings.form() {
            Format::Json => say(&print::json(&figures, settings)),
            Format::Seconds | Format::Millis => eprint!("{}", print::text(&figures, settings)),
        }
    }
    if settings.logging {
        log::append(settings, &figures, desk.now());
    }
    if settings.logging && settings.show_logfile && !settings.quiet {
        let (log, rc) = (&settings.logfile, rc::own());
        say(&format!(
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
            "the run was ended early by the limit of {failures} failures: its figures are those of a part (failures = N in siegerc)"
        )
    });
    let (asked, limit) = (settings.concurrent, settings.limit);
    let capped = (asked > limit && settings.look.is_none())
        .then(|| format!("{asked} users were asked for, and {limit} made the load (limit = N in siegerc)"));
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
    let (cut, oldest) = (desk.classic.cut, desk.classic.oldest_cut_nanos as f64 / 1e9);
    desk.classic.hides_waits().then(|| {
        format!(
            "{cut} requests were under way at the end and are in no figure; the oldest had waited {oldest:.2} s, longer than all \
             that ended"
        )
    })
}

/// Writes on stdout, at once. Whoever reads it may stop when it has seen enough.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
