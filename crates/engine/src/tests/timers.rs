//! Timers against a naive model: each wakes at the last instant that it was set to, and at no other.

use super::*;
use crate::clock::{Sleep, runtime};
use brunt_model::Clock;
use proptest::prelude::*;
use std::pin::Pin;
use std::task::Poll;

/// Sets a timer to so much after now, or lets time pass.
#[derive(Debug, Clone)]
enum Op {
    Set(usize, u64),
    Pass(u64),
    /// Wakes everybody.
    FireAll,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0usize..5, 0u64..1000).prop_map(|(which, after)| Op::Set(which, after)),
        2 => (0u64..400).prop_map(Op::Pass),
        1 => Just(Op::FireAll),
    ]
}

/// The timers, and when each is due that is set.
struct Model {
    time: WorkerClock,
    timers: Vec<(Sleep, Option<Tick>)>,
}

impl Model {
    /// Waits until `until` or, without it, until all timers have fired; checks each that fires.
    async fn pass(&mut self, until: Option<Tick>) {
        let clock = self.time.timer();
        clock.set(until.unwrap_or(Tick::NEVER));
        std::future::poll_fn(|cx| {
            let now = self.time.now();
            for (timer, due) in self.timers.iter_mut().filter(|t| t.1.is_some()) {
                if Pin::new(&mut &*timer).poll(cx).is_ready() {
                    assert_eq!(due.take(), Some(now));
                }
            }
            assert!(self.timers.iter().all(|t| t.1.is_none_or(|due| due >= now)), "one was missed");
            let over = match until {
                Some(until) => Pin::new(&mut &clock).poll(cx).is_ready() && now >= until,
                None => self.timers.iter().all(|t| t.1.is_none()),
            };
            if over { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    async fn play(mut self, ops: Vec<Op>) {
        for op in ops {
            let now = self.time.now();
            match op {
                Op::Set(which, after) => {
                    self.timers[which].0.set(Tick(now.0 + after));
                    self.timers[which].1 = Some(Tick(now.0 + after));
                }
                Op::Pass(nanos) => self.pass(Some(Tick(now.0 + nanos))).await,
                Op::FireAll => {
                    self.time.fire_all();
                    self.timers.iter_mut().for_each(|t| t.1 = t.1.filter(|due| *due == now));
                }
            }
        }
        self.pass(None).await;
    }
}

fn on_a_fake_clock<F: Future<Output = ()> + 'static>(task: impl FnOnce(WorkerClock) -> F) {
    let time = WorkerClock::new(RunEpoch::Fake);
    let run = async move {
        let _installed = time.install().unwrap();
        tokio::task::spawn_local(task(time)).await
    };
    runtime().unwrap().block_on(run).unwrap();
}

proptest! {
    #[test]
    fn each_timer_fires_at_its_latest_setting(ops in prop::collection::vec(op(), 1..120)) {
        on_a_fake_clock(|time| {
            let timers = (0..5).map(|_| (time.timer(), None)).collect();
            Model { time, timers }.play(ops)
        });
    }
}

/// Number of sockets that always have data.
const BUSY_SOCKETS: usize = 1_000;

/// Counts of the tasks of busy sockets.
#[derive(Default)]
struct BusyCounts {
    polls: Cell<usize>,
    /// Polls until the timer was due.
    polls_when_due: Cell<Option<usize>>,
    is_over: Cell<bool>,
}

/// Reads a byte whenever the socket has one, and makes the next one available.
async fn keep_reading(time: WorkerClock, due: Tick, counts: Rc<BusyCounts>) {
    let (socket, peer) = tokio::net::UnixStream::pair().unwrap();
    while !counts.is_over.get() {
        peer.try_write(b"x").unwrap();
        socket.readable().await.unwrap();
        let mut bytes = [0; 2];
        // The second read clears the readiness, so that the next byte is an event of the kernel.
        while socket.try_read(&mut bytes).is_ok() {}
        counts.polls.set(counts.polls.get() + 1);
        let now = time.now();
        if now >= due && counts.polls_when_due.get().is_none() {
            counts.polls_when_due.set(Some(counts.polls.get()));
        }
        // As at the end of each request.
        time.catch_up(now);
    }
}

#[test]
fn a_due_timer_does_not_wait_for_all_sockets_with_data() {
    runtime().unwrap().block_on(async {
        let time = WorkerClock::new(RunEpoch::now());
        let _installed = time.install().unwrap();
        let due = time.now() + Duration::from_millis(300);
        let counts = Rc::new(BusyCounts::default());
        for _ in 0..BUSY_SOCKETS {
            tokio::task::spawn_local(keep_reading(time.clone(), due, Rc::clone(&counts)));
        }
        // The runtime prefers its outermost task, so another one waits.
        let waiting = tokio::task::spawn_local(async move {
            brunt_wire::Timer::sleep_until(&time, due).await;
            counts.is_over.set(true);
            let polls = counts.polls.get();
            let waited = polls - counts.polls_when_due.get().unwrap_or(polls);
            assert!(polls > 2 * BUSY_SOCKETS, "{polls}");
            assert!(waited < BUSY_SOCKETS / 2, "{waited}");
        });
        waiting.await.unwrap();
    });
}

#[test]
fn cancelled_timers_do_not_stop_the_clock() {
    on_a_fake_clock(|time| async move {
        let (left, forgotten) = (time.timer(), time.timer());
        left.set(Tick(SECOND));
        forgotten.set(Tick(2 * SECOND));
        drop(forgotten);
        brunt_wire::Timer::sleep_until(&time, Tick(3 * SECOND)).await;
        assert_eq!(time.now(), Tick(3 * SECOND));
    });
}

#[test]
fn sleeping_is_not_cut_short() {
    on_a_fake_clock(|time| async move {
        let waker = time.clone();
        tokio::task::spawn_local(async move {
            brunt_wire::Timer::sleep_until(&waker, Tick(5)).await;
            waker.fire_all();
        });
        brunt_wire::Timer::sleep_until(&time, Tick(SECOND)).await;
        assert_eq!(time.now(), Tick(SECOND));
    });
}
