//! What the pool of an open loop costs per request, with one thread and with several.
//!
//! Each thread deals out arrivals, and serves them by a connection of its own, as fast as it can: nothing else is in the loop.
//! Beside it, the same pool behind one lock for all threads, so that the figure of a lock that all share is in the same
//! table. Where the threads do not hinder each other, the time per request is that of one thread.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use brunt_engine::pool::{Arrival, ConnectionChoice, Overflow, Pool};
use brunt_model::Tick;
use brunt_model::sync::IgnorePoison;
use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::Instant;

const REQUESTS: u64 = 2_000_000;
const ROUNDS: usize = 5;

fn main() -> std::io::Result<()> {
    let cores = thread::available_parallelism()?.get();
    println!(
        "| threads | ns per request | ns with one lock for all |\n| ------: | -------------: | -----------------------: |"
    );
    for threads in [1, 2, 4, 8, 16] {
        if threads > cores {
            println!("SKIPPED {threads} threads: this machine has {cores} cores");
            continue;
        }
        let shared = Mutex::new(());
        let least = |lock: Option<&Mutex<()>>| {
            (0..ROUNDS).map(|_| nanos(threads, lock)).fold(f64::INFINITY, f64::min)
        };
        println!("| {threads} | {:.0} | {:.0} |", least(None), least(Some(&shared)));
    }
    println!(
        "Wall time of each thread's request, the least of {ROUNDS} rounds of {REQUESTS} requests a thread."
    );
    Ok(())
}

/// Nanoseconds that a request took, on average over the threads; with `lock`, each step takes it.
fn nanos(threads: usize, lock: Option<&Mutex<()>>) -> f64 {
    let pool = Pool::new(threads, threads, Overflow::Drop, ConnectionChoice::Newest);
    let ready = Barrier::new(threads);
    thread::scope(|scope| {
        let begin = |worker| {
            let (pool, ready) = (&pool, &ready);
            scope.spawn(move || serve(pool, worker, ready, lock))
        };
        let running: Vec<_> = (0..threads).map(begin).collect();
        let times: f64 = running.into_iter().filter_map(|thread| thread.join().ok()).sum();
        times / threads as f64
    })
}

fn serve(pool: &Pool, worker: usize, ready: &Barrier, lock: Option<&Mutex<()>>) -> f64 {
    let seat = pool.reserve(worker);
    pool.free(seat, Tick::ZERO, true);
    let locked = || lock.map(|lock| lock.lock().ignore_poison());
    let mut cx = Context::from_waker(Waker::noop());
    ready.wait();
    let began = Instant::now();
    for number in 1..=REQUESTS {
        let at = Tick(number);
        {
            let _held = locked();
            black_box(pool.arrive(Arrival { planned: at, number }, worker, at));
        }
        {
            let _held = locked();
            let _ = black_box(pool.poll_job(seat, &mut cx));
        }
        let _held = locked();
        black_box(pool.free(seat, at, true));
    }
    began.elapsed().as_nanos() as f64 / REQUESTS as f64
}
