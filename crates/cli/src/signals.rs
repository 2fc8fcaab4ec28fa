//! Ctrl-C: once to end what goes on and see what was measured, twice to quit.

use crate::exit::Exit;
use crate::screen;
use brunt_runner::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

/// Signals that come together are one: timeout(1) sends its own to the process and again to its group, and nobody who
/// pressed Ctrl-C once is to lose the report.
const ONE_SIGNAL: Duration = Duration::from_millis(200);

/// Is set by SIGINT and SIGTERM, for a daemon that looks at it.
pub fn ended() -> io::Result<Arc<AtomicBool>> {
    let ended: Arc<AtomicBool> = Arc::default();
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    Ok(ended)
}

/// Listens to SIGINT and SIGTERM: the first one stops, the second ends the process at once. Managed servers are then
/// ended by their guards.
pub fn listen() -> io::Result<Interrupt> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let interrupt = Interrupt::default();
    let heard = interrupt.clone();
    thread::Builder::new().name("brunt-signals".into()).spawn(move || {
        loop {
            if signals.wait().next().is_none() {
                continue;
            }
            if heard.is_stopped() {
                screen::clear();
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            heard.stop();
            thread::sleep(ONE_SIGNAL);
            signals.pending().for_each(drop);
            screen::say("stopping; press Ctrl-C again to quit without a report");
        }
    })?;
    Ok(interrupt)
}
