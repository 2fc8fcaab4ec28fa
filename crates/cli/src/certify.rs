//! `brunt certify`: its arguments, its messages and its exit code. The league table is made in the crate `brunt-certify`.
//!
//! * [`args`]: what is asked.

pub mod args;

use crate::args::output::check;
use crate::exit::{Exit, Failed, failed, usage};
use crate::signals;
use anyhow::{Context, Result};
use args::CertifyArgs;
use brunt_certify::table::line;
use brunt_certify::{FORMATS, Format, League, LeagueVerdict};
use brunt_spec::words::values::Output;
use std::fs::File;
use std::io::{self, Write};

/// Holds a league, and shows it.
pub fn certify(args: &CertifyArgs, command: String) -> Result<Exit, Failed> {
    let outputs = open(&args.outputs).map_err(usage)?;
    let environment = brunt_probe::machine::environment(command, env!("CARGO_PKG_VERSION"));
    let mut league = League::new(&args.settings(), environment, brunt_engine::clock::unix_seconds());
    league.hurry();
    let stop = signals::listen().map_err(failed)?.control();
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

fn exit_of(league: &League) -> Exit {
    match league.standing() {
        LeagueVerdict::Met => Exit::Measured,
        LeagueVerdict::Missed => Exit::ObjectiveMissed,
        LeagueVerdict::Unknown => Exit::Undecided,
        LeagueVerdict::NothingScored => Exit::NothingMeasured,
    }
}

fn announce(league: &League) {
    if !league.absent.is_empty() {
        eprintln!("not on this machine: {}", league.absent.join(", "));
    }
    let (trials, minutes) = (league.trials().len(), f64::from(league.length()) / 60.0);
    eprintln!(
        "{trials} trials, at least {minutes:.0} min; keep the machine idle (Ctrl-C: report of the trials so far)"
    );
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
