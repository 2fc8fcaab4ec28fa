//! Runs computations that nothing can interrupt, such as the search of a backtracking expression, with a time limit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Jobs that run on after their limit, at most. Each holds a core.
const MOST_LEFT: usize = 4;

/// Jobs that run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Callers that wait for one.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Runs a job on a thread of its own; None: it did not end within the limit. Its thread then goes on until the job or the process ends.
/// While many such threads are left, no further job is begun.
///
/// # Panics
///
/// The job panicked.
pub fn run_within<T: Send + 'static>(limit: Duration, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if RUNNING.load(Ordering::SeqCst) >= MOST_LEFT + WAITING.load(Ordering::SeqCst) {
        return None;
    }
    let _waits = Count::of(&WAITING);
    let runs = Count::of(&RUNNING);
    let (sender, receiver) = channel();
    let job = move || {
        let _runs = runs;
        // A caller whose limit has passed is gone.
        let _ = sender.send(job());
    };
    let thread = thread::Builder::new().name("brunt-bounded".into()).spawn(job).ok()?;
    let result = receiver.recv_timeout(limit).ok();
    assert!(result.is_some() || !thread.is_finished() || receiver.try_recv().is_ok(), "the bounded job panicked");
    result
}

/// One more, until it is dropped.
struct Count(&'static AtomicUsize);

impl Count {
    fn of(counter: &'static AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_ends_or_is_left_behind() {
        let endless = || loop {
            thread::park();
        };
        for _ in 0..MOST_LEFT {
            assert_eq!(run_within(Duration::from_mins(1), || 6 * 7), Some(42));
            assert_eq!(run_within::<()>(Duration::from_millis(20), endless), None);
        }
        assert_eq!(run_within(Duration::from_mins(1), || 6 * 7), None, "too many are left");
    }
}
