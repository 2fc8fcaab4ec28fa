//! Handles Ctrl-C and the hangup of the terminal. The first signal ends the run with its
//! report, a second Ctrl-C quits.

use crate::exit::Exit;
use crate::screen;
use brunt_runner::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::thread;
use std::time::Duration;

/// Signals within this time count as one. timeout(1) sends its signal to the process and again to
/// its group, which would otherwise discard the report.
const ONE_SIGNAL: Duration = Duration::from_millis(200);

/// A flag that a signal sets.
#[cfg(any(feature = "compat", feature = "fleet", feature = "record"))]
type StopFlag = std::sync::Arc<std::sync::atomic::AtomicBool>;

/// Returns a flag that SIGINT, SIGTERM and SIGHUP set, for a command that polls it.
#[cfg(any(feature = "compat", feature = "fleet", feature = "record"))]
pub fn stop_flag() -> io::Result<StopFlag> {
    let flag = StopFlag::default();
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, StopFlag::clone(&flag))?;
    }
    if !ignores_hangup() {
        signal_hook::flag::register(SIGHUP, StopFlag::clone(&flag))?;
    }
    Ok(flag)
}

/// Handles SIGINT, SIGTERM and SIGHUP. The first one stops the run. A further SIGINT or SIGTERM
/// ends the process at once; guards then end managed servers.
pub fn listen() -> io::Result<Interrupt> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    let interrupt = Interrupt::default();
    let handle = interrupt.clone();
    thread::Builder::new().name("brunt-signals".into()).spawn(move || {
        loop {
            let Some(signal) = signals.wait().next() else { continue };
            if handle.is_stopped() {
                // A closing terminal sends SIGHUP twice: from its shell and from the kernel.
                if signal == SIGHUP {
                    continue;
                }
                screen::clear();
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            handle.stop();
            thread::sleep(ONE_SIGNAL);
            signals.pending().for_each(drop);
            screen::print_line("stopping; press Ctrl-C again to quit without a report");
        }
    })?;
    Ok(interrupt)
}

/// True if SIGHUP is ignored, as under nohup(1).
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 of the mask is signal 1.
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
