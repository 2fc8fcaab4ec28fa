//! Handles Ctrl-C and the hangup of the terminal: the first one ends the run with its report, a second Ctrl-C quits.

use crate::exit::Exit;
use crate::screen;
use brunt_runner::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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

/// Listens to SIGINT, SIGTERM and SIGHUP: the first one stops, and a further SIGINT or SIGTERM ends the process at once. Managed servers
/// are then ended by their guards.
pub fn listen() -> io::Result<Interrupt> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    let interrupt = Interrupt::default();
    let heard = interrupt.clone();
    thread::Builder::new().name("brunt-signals".into()).spawn(move || {
        loop {
            let Some(signal) = signals.wait().next() else { continue };
            if heard.is_stopped() {
                // A terminal that goes away hangs up more than once: by its shell and by the kernel.
                if signal == SIGHUP {
                    continue;
                }
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

/// True if SIGHUP is ignored, as nohup(1) has it.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
