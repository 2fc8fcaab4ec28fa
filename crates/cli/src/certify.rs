//! `brunt certify`: load generators held against a server whose truth is known, and the league table of it.
//!
//! The server is the lab, started from this program; the generators are this program and whatever else is installed.
//! Everything is a child of ours on loopback, and ends with us. It measures nothing itself: what is true is computed by
//! `brunt-lab`, what is told is read from the tools' own reports.
//!
//! * [`args`], [`cases`], [`tools`]: what is asked, of which server, of whom; tables.
//! * [`figures`], [`verdict`]: what is told and true, and how far the one is from the other.
//! * [`process`], [`lab`], [`quiet`], [`trial`], [`league`]: children, whether others used the machine, one trial, all of them.
//! * [`table`], [`show`]: what comes of it.

pub mod args;
mod cases;
mod figures;
mod lab;
mod league;
mod process;
mod quiet;
mod show;
mod table;
mod tools;
mod trial;
mod verdict;

use crate::args::output::check;
use crate::args::values::Output;
use crate::exit::Exit;
use crate::signals::Interrupt;
use crate::{Failed, failed, usage};
use anyhow::{Context, Result};
use args::CertifyArgs;
use league::{Entry, League};
use rustix::process::setpriority_process;
use show::{FORMATS, Format};
use std::fs::File;
use std::io::{self, Write};
use table::{mark_of, percent};
use tools::Way;
use trial::Outcome;

/// Holds a league, and shows it.
pub fn certify(args: &CertifyArgs, command: String) -> Result<Exit, Failed> {
    let outputs = open(&args.outputs).map_err(usage)?;
    let environment = brunt_probe::machine::environment(command, env!("CARGO_PKG_VERSION"));
    let mut league = League::new(args, environment, brunt_engine::clock::unix_seconds());
    let hurried = hurry();
    let stop = Interrupt::listen().map_err(failed)?.control();
    league.hurried = hurried;
    announce(&league);
    let mut number = 0;
    let held = league.run(&stop, |entry, all| {
        number += 1;
        eprintln!("{number:3}/{all}  {}", line(entry));
    });
    for (format, mut out) in outputs {
        (format.write)(&league, &mut *out).and_then(|()| out.flush()).map_err(failed)?;
    }
    held.map_err(failed)?;
    Ok(if stop.is_stopped() { Exit::Interrupted } else { exit_of(&league) })
}

/// First place in the queue for the processor, for us and all our children alike: what others do on this machine is not to
/// be told as an error of a tool. Whether that is permitted.
fn hurry() -> bool {
    setpriority_process(None, -20).is_ok()
}

fn announce(league: &League) {
    if !league.absent.is_empty() {
        eprintln!("not on this machine: {}", league.absent.join(", "));
    }
    let (trials, minutes) = (league.trials().len(), f64::from(league.length()) / 60.0);
    eprintln!(
        "{trials} trials, {minutes:.0} min or more; leave the machine alone meanwhile (Ctrl-C: what is known so far)"
    );
}

/// What became of a trial, in a line.
fn line(entry: &Entry) -> String {
    let trial = &entry.trial;
    let outcome = match (&entry.outcome, mark_of(entry)) {
        (_, Some(mark)) => {
            format!(
                "{} at {}{}",
                percent(mark.deviation),
                mark.figure,
                if mark.met { "" } else { ", beyond the limit" }
            )
        }
        (Outcome::NoTruth(why), _) => format!("no truth: {why}"),
        (Outcome::Unknown(why), _) => format!("unknown, the machine was disturbed: {why}"),
        (Outcome::Failed(why), _) => format!("failed: {why}"),
        _ => "told nothing that is compared".into(),
    };
    format!("{:9} {:10} {:6}  {outcome}", trial.case.name, trial.tool.name, trial.way.name())
}

/// Brunt's own open loop is what is certified; the others are there for comparison.
fn exit_of(league: &League) -> Exit {
    let own = |entry: &&Entry| entry.trial.tool.program.is_none() && entry.trial.way == Way::Open;
    let missed = league.entries.iter().filter(own).filter_map(mark_of).any(|mark| !mark.met);
    let nothing = league.entries.iter().all(|entry| !matches!(entry.outcome, Outcome::Scored { .. }));
    let unknown = league.entries.iter().filter(own).any(|entry| matches!(entry.outcome, Outcome::Unknown(_)));
    match (nothing && !unknown, missed, unknown) {
        (true, ..) => Exit::NothingMeasured,
        (false, true, _) => Exit::ObjectiveMissed,
        (false, false, true) => Exit::Undecided,
        (false, false, false) => Exit::Measured,
    }
}

/// Where the league goes; the text to standard output where nothing else does.
fn open(outputs: &[Output]) -> Result<Vec<(&'static Format, Box<dyn Write>)>> {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    check(outputs, &names)?;
    let text = Output { format: "text".into(), file: None };
    let spare = (!outputs.iter().any(|output| output.file.is_none())).then_some(&text);
    let mut opened: Vec<(_, Box<dyn Write>)> = Vec::new();
    for output in outputs.iter().chain(spare) {
        let Some(format) = FORMATS.iter().find(|format| format.name == output.format) else { continue };
        opened.push((
            format,
            match &output.file {
                None => Box::new(io::stdout()),
                Some(path) => {
                    Box::new(File::create(path).with_context(|| format!("{} cannot be written", path.display()))?)
                }
            },
        ));
    }
    Ok(opened)
}
