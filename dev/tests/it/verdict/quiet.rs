//! A machine that nobody else uses, or the admission that there was none.

use super::Judged;
use crate::world::machine::{Ticks, lateness};
use crate::world::server::Server;
use crate::world::skip::skip;
use brunt_model::finding::Limit;
use brunt_model::reading_names as name;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// One experiment at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// How often a test tries to have the machine to itself.
const TRIES: usize = 4;

/// Cores that other processes may use before they are part of the experiment.
const MOST: f64 = 0.25;

/// How late a bare sleeper may wake, at p99, on a machine that lets brunt be in time.
const MOST_LATE: Duration = Duration::from_micros(400);

/// For how long the machine is watched.
const WATCHED: Duration = Duration::from_millis(400);

/// How often it is watched, for all tests together, until there is a quiet moment: half a minute; for a proof an hour.
const WATCHES: usize = 75;
const WATCHES_OF_A_PROOF: usize = 9000;

/// How often it was.
static WATCHED_SO_FAR: AtomicUsize = AtomicUsize::new(0);

pub fn in_full() -> bool {
    std::env::var("BRUNT_PROVE").is_ok_and(|value| value == "1")
}

/// Exactly these are named. `made`: the experiment. Another answer on a machine that is quiet right behind it counts; two
/// of them fail, since a moment may have been noisy and be over.
/// Whether they were; false: skipped.
pub fn names(test: &str, limits: &[Limit], mut made: impl FnMut() -> Judged) -> bool {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = 0;
    for _ in 0..TRIES {
        let quiet = wait_for_a_quiet_moment();
        let before = Ticks::now();
        let (judged, late) = if limits.is_empty() { lateness(&mut made) } else { (made(), Duration::ZERO) };
        let during = (Ticks::now().busy - before.busy) / 100.0;
        let stolen = before.stolen_since().unwrap_or(0.0);
        if judged.limits() == limits {
            return true;
        }
        let mut others = used_by_others();
        if limits.is_empty() {
            others = others.max(beside(&judged, during));
        }
        eprintln!(
            "{test}: {:?} instead of {limits:?} while others used {others:.2} cores, {stolen:.2} stolen, a bare sleeper {late:.1?} late",
            judged.limits()
        );
        wrong += usize::from(others <= MOST && stolen == 0.0 && late <= MOST_LATE);
        let text = format!("{:#?}\n{}{}", judged.verdict, judged.ran.out, judged.ran.err);
        assert!(wrong < if in_full() { 1 } else { 2 }, "{test}: {:?} instead of {limits:?}: {text}", judged.limits());
        if !quiet {
            break;
        }
    }
    assert!(!in_full(), "{test}: nothing is proved while others use the machine");
    skip(&format!("verdict::real::{test}"), "no quiet moment: others use the machine");
    false
}

/// Whether there was one.
fn wait_for_a_quiet_moment() -> bool {
    let most = if in_full() { WATCHES_OF_A_PROOF } else { WATCHES };
    while used_by_others() > MOST {
        if WATCHED_SO_FAR.fetch_add(1, Ordering::Relaxed) >= most {
            return false;
        }
    }
    true
}

/// How many cores are in use while nothing of ours runs.
fn used_by_others() -> f64 {
    let before = Ticks::now();
    sleep(WATCHED);
    (Ticks::now().busy - before.busy) / 100.0 / WATCHED.as_secs_f64()
}

/// How many cores others used beside an experiment that needs next to nothing: brunt, and a server that needs no more
/// than twice as much. `during`: seconds of CPU time that the whole machine used meanwhile.
fn beside(judged: &Judged, during: f64) -> f64 {
    let own = [name::CPU_USER, name::CPU_SYSTEM].map(|part| judged.run.reading(name::GENERATOR, part).unwrap_or(0.0));
    (during - own.iter().sum::<f64>() * 3.0) / judged.run.last_interval_end.seconds().max(0.1)
}

/// A loop that takes a core, on this one if it is given; it ends with this.
pub fn busy(core: Option<&str>) -> Server {
    let mut command = Command::new("taskset");
    let cores = core.map_or_else(all_cores, str::to_owned);
    command.args(["-c", &cores, "sh", "-c", "while :; do :; done"]);
    Server::start(command.stdin(Stdio::null()))
}

/// The cores that we may use, as taskset takes them.
fn all_cores() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("our status");
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cores.expect("our cores").trim().to_owned()
}

/// The first of them.
pub fn first_core() -> String {
    all_cores().split([',', '-']).next().unwrap_or("0").to_owned()
}
