//! The command `brunt certify`: its arguments, messages and exit code. The crate `brunt-certify`
//! runs the league and formats its table.
//!
//! * [`args`]: command-line arguments.

pub mod args;

use crate::args::output::check;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::signals;
use anyhow::{Context, Result};
use args::CertifyArgs;
use brunt_certify::table::line;
use brunt_certify::{FORMATS, League, LeagueFormat, LeagueVerdict};
use brunt_spec::words::values::Output;
use std::fs::File;
use std::io::{self, Write};

/// Runs a league and writes its table.
pub fn certify(args: &CertifyArgs, command: String) -> Result<Exit, CommandError> {
    let outputs = open(&args.outputs).map_err(usage_error)?;
    let environment = brunt_probe::machine::environment(command, env!("CARGO_PKG_VERSION"));
    let mut league =
        League::new(&args.settings(), environment, brunt_engine::clock::unix_seconds());
    league.raise_priority();
    let stop = signals::listen().map_err(runtime_error)?.control();
    announce(&league);
    let mut number = 0;
    let result = league.run(&stop, |entry, all| {
        number += 1;
        eprintln!("{number:3}/{all}  {}", line(entry));
    });
    // Before the error: the trials so far have a report in any case.
    for (format, mut out) in outputs {
        (format.write)(&league, &mut *out).and_then(|()| out.flush()).map_err(runtime_error)?;
    }
    result.map_err(runtime_error)?;
    Ok(if stop.is_stopped() { Exit::Interrupted } else { exit_of(&league) })
}

fn exit_of(league: &League) -> Exit {
    match league.verdict() {
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
    let trials = league.trials().len();
    let minutes = f64::from(league.length()) / 60.0;
    eprintln!(
        "{trials} trials, at least {minutes:.0} min; keep the machine idle (Ctrl-C: report of the trials so far)"
    );
}

/// Opens the outputs. The text goes to standard output if no other format does.
fn open(outputs: &[Output]) -> Result<Vec<(&'static LeagueFormat, Box<dyn Write>)>> {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    check(outputs, &names)?;
    let text = Output { format: "text".into(), file: None };
    let default = (!outputs.iter().any(|output| output.file.is_none())).then_some(&text);
    let mut outputs_and_formats: Vec<(_, Box<dyn Write>)> = Vec::new();
    for output in outputs.iter().chain(default) {
        let Some(format) = FORMATS.iter().find(|format| format.name == output.format) else {
            continue;
        };
        outputs_and_formats.push((
            format,
            match &output.file {
                None => Box::new(io::stdout()),
                Some(path) => Box::new(
                    File::create(path)
                        .with_context(|| format!("{} cannot be written", path.display()))?,
                ),
            },
        ));
    }
    Ok(outputs_and_formats)
}
