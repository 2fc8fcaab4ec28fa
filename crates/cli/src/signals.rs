//! Ctrl-C: once to end the run and see what was measured, twice to quit.

use crate::exit::Exit;
use brunt_engine::StopSwitch;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Write};
use std::thread;

/// Sets `stop` at the first SIGINT or SIGTERM; the second ends the process at once.
pub fn listen(stop: &StopSwitch) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let stop = stop.clone();
    thread::Builder::new().name("brunt-signals".into()).spawn(move || {
        for _ in signals.forever() {
            if stop.is_set() {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            stop.set();
            let _ = writeln!(io::stderr(), "\nstopping; once more to quit without a report");
        }
    })?;
    Ok(())
}
