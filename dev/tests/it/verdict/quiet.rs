//! Runs experiments on a quiet machine, or skips the test if there is none.

use super::JudgedRun;
use crate::world::machine::{Ticks, lateness};
use crate::world::server::ServerProcess;
use crate::world::skip::skip;
use brunt_model::finding::LimitingResource;
use brunt_model::reading_names as name;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// Runs one experiment at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Number of attempts of a test to have the machine alone.
const TRIES: usize = 4;

/// Number of cores that other processes may use before they are part of the experiment.
const MOST: f64 = 0.25;

/// Limit on the lateness at p99 of a thread that only sleeps, on a machine that lets brunt be on
/// time.
const MOST_LATE: Duration = Duration::from_micros(400);

/// Time for which the machine is observed.
const WATCHED: Duration = Duration::from_millis(400);

/// Number of observations of all tests together until the machine is quiet: half a minute; an hour
/// for a proof.
const WATCHES: usize = 75;
const WATCHES_OF_A_PROOF: usize = 9000;

/// Number of observations so far.
static WATCHED_SO_FAR: AtomicUsize = AtomicUsize::new(0);

pub fn is_full_proof() -> bool {
    std::env::var("BRUNT_PROVE").is_ok_and(|value| value == "1")
}

/// Asserts that exactly these limits are named; `made` runs the experiment. A wrong verdict counts
/// if the machine is quiet right after it. Two of them fail the test, because a short disturbance
/// may already have ended. Returns false if the test was skipped.
pub fn assert_limits(
    test: &str,
    limits: &[LimitingResource],
    mut run_experiment: impl FnMut() -> JudgedRun,
) -> bool {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = 0;
    for _ in 0..TRIES {
        let quiet = wait_for_a_quiet_moment();
        let before = Ticks::now();
        let (judged, late) = if limits.is_empty() {
            lateness(&mut run_experiment)
        } else {
            (run_experiment(), Duration::ZERO)
        };
        let during = (Ticks::now().busy - before.busy) / 100.0;
        let stolen = before.stolen_since().unwrap_or(0.0);
        if judged.limits() == limits {
            return true;
        }
        let mut others = used_cores();
        if limits.is_empty() {
            others = others.max(cores_of_others(&judged, during));
        }
        eprintln!(
            "{test}: {:?} instead of {limits:?} while others used {others:.2} cores, {stolen:.2} stolen, a bare sleeper {late:.1?} late",
            judged.limits()
        );
        wrong += usize::from(others <= MOST && stolen == 0.0 && late <= MOST_LATE);
        let text = format!("{:#?}\n{}{}", judged.verdict, judged.ran.out, judged.ran.err);
        assert!(
            wrong < if is_full_proof() { 1 } else { 2 },
            "{test}: {:?} instead of {limits:?}: {text}",
            judged.limits()
        );
        if !quiet {
            break;
        }
    }
    assert!(!is_full_proof(), "{test}: nothing is proved while others use the machine");
    skip(&format!("verdict::real::{test}"), "no quiet moment: others use the machine");
    false
}

/// Waits until the machine is quiet. Returns false if it does not become quiet.
fn wait_for_a_quiet_moment() -> bool {
    let most = if is_full_proof() { WATCHES_OF_A_PROOF } else { WATCHES };
    while used_cores() > MOST {
        if WATCHED_SO_FAR.fetch_add(1, Ordering::Relaxed) >= most {
            return false;
        }
    }
    true
}

/// Number of cores in use while no process of the tests runs.
fn used_cores() -> f64 {
    let before = Ticks::now();
    sleep(WATCHED);
    (Ticks::now().busy - before.busy) / 100.0 / WATCHED.as_secs_f64()
}

/// Number of cores that other processes used during an experiment with a tiny load: brunt, and a
/// server that needs at most twice as much. `during` is the CPU time of the whole machine in
/// seconds.
fn cores_of_others(judged: &JudgedRun, during: f64) -> f64 {
    let own_time = [name::CPU_USER, name::CPU_SYSTEM]
        .map(|part| judged.run.reading(name::GENERATOR, part).unwrap_or(0.0));
    (during - own_time.iter().sum::<f64>() * 3.0) / judged.run.last_interval_end.seconds().max(0.1)
}

/// Starts a loop that uses a core, on this one if given. It ends when this value is dropped.
pub fn start_busy_loop(core: Option<&str>) -> ServerProcess {
    let mut command = Command::new("taskset");
    let cores = core.map_or_else(all_cores, str::to_owned);
    command.args(["-c", &cores, "sh", "-c", "while :; do :; done"]);
    ServerProcess::start(command.stdin(Stdio::null()))
}

/// Cores that this process may use, in the notation of taskset.
fn all_cores() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("our status");
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cores.expect("our cores").trim().to_owned()
}

/// The first of these cores.
pub fn first_core() -> String {
    all_cores().split([',', '-']).next().unwrap_or("0").to_owned()
}
