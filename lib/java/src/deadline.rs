//! Runs computations that cannot be interrupted, such as the search of a backtracking expression,
//! with a time limit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Maximum number of jobs that continue after their limit. Each occupies a core.
const MAX_OVERDUE: usize = 4;

/// Number of running jobs.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Number of callers that wait for a job.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Runs a job on a separate thread. Returns None if it did not end within the limit. Its thread
/// then continues until the job or the process ends. While too many such threads run, no
/// further job is started.
///
/// # Panics
///
/// Panics if the job panicked.
pub fn run_within<T: Send + 'static>(
    limit: Duration,
    job: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    // Jobs with a waiting caller are not overdue.
    if RUNNING.load(Ordering::SeqCst) >= MAX_OVERDUE + WAITING.load(Ordering::SeqCst) {
        return None;
    }
    let _waiting = Count::new(&WAITING);
    let running = Count::new(&RUNNING);
    let (sender, receiver) = channel();
    let thread = thread::Builder::new()
        .name("brunt-bounded".into())
        .spawn(move || {
            let _running = running;
            // Fails if the caller's limit has passed.
            let _ = sender.send(job());
        })
        .ok()?;
    let result = receiver.recv_timeout(limit).ok();
    // The thread may have sent its result between the timeout and this check.
    assert!(
        result.is_some() || !thread.is_finished() || receiver.try_recv().is_ok(),
        "the bounded job panicked"
    );
    result
}

/// Counts one more in a counter until it is dropped.
struct Count(&'static AtomicUsize);

impl Count {
    fn new(counter: &'static AtomicUsize) -> Self {
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
    fn a_job_ends_or_is_abandoned() {
        let endless = || loop {
            thread::park();
        };
        for _ in 0..MAX_OVERDUE {
            assert_eq!(run_within(Duration::from_mins(1), || 6 * 7), Some(42));
            assert_eq!(run_within::<()>(Duration::from_millis(20), endless), None);
        }
        assert_eq!(run_within(Duration::from_mins(1), || 6 * 7), None, "too many are left");
    }
}
