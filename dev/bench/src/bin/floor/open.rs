//! The open loop: one request at each due instant.
//!
//! It opens its connections. For each due instant it then sends one fixed keep-alive request
//! on the connection that was used last, and takes each reply with one `recv`. It is woken by
//! a timerfd, armed at the next due instant, and by epoll, edge-triggered. Therefore neither
//! the timer nor an idle connection costs unnecessary system calls. A request takes one
//! `send`, one `recv`, one `timerfd_settime` and two `epoll_wait`, or fewer if wake-ups
//! coincide. Times are nanoseconds of `CLOCK_MONOTONIC`.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use anyhow::{Result, bail, ensure};
use brunt_bench::usage;
use clap::{Args, ValueEnum};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::{SECOND, connect, now};

/// Event of the timer; other events are indices of connections.
const TIMER: u64 = u64::MAX;
/// Maximum time that replies may take after the last due instant.
const PATIENCE: u64 = 2 * SECOND;
/// Time between the opening of the connections and the first due instant.
// The setup must not make the first requests late.
const HEAD_START: u64 = SECOND / 100;

#[derive(Args)]
pub struct OpenLoad {
    /// Address of the server
    address: SocketAddr,
    /// Requests per second
    rate: f64,
    seconds: f64,
    connections: usize,
    #[arg(value_enum, default_value = "even")]
    arrivals: Arrivals,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Arrivals {
    Even,
    Poisson,
}

pub fn run(job: &OpenLoad) -> Result<serde_json::Value> {
    let mut floor = Floor::open(job)?;
    floor.run()?;
    floor.account()
}

/// The due instants: arrival n at n / rate, or after n gaps drawn from the exponential distribution.
struct Schedule {
    start: u64,
    length: f64,
    gap: f64,
    drawn: u64,
    at: f64,
    random: Option<SmallRng>,
}

impl Schedule {
    fn new(job: &OpenLoad, start: u64) -> Self {
        // A fixed seed: every run draws the same arrivals.
        let random = (job.arrivals == Arrivals::Poisson).then(|| SmallRng::seed_from_u64(1));
        let nanoseconds = SECOND as f64;
        Self {
            start,
            length: job.seconds * nanoseconds,
            gap: nanoseconds / job.rate,
            drawn: 0,
            at: 0.0,
            random,
        }
    }
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.at = match &mut self.random {
            // Inverse of the exponential distribution; 1 - u is never 0.
            Some(random) => self.at - self.gap * (1.0 - random.random::<f64>()).ln(),
            None => self.drawn as f64 * self.gap,
        };
        self.drawn += 1;
        (self.at < self.length).then(|| self.start + self.at as u64)
    }
}

struct Floor {
    epoll: OwnedFd,
    timer: OwnedFd,
    sockets: Vec<OwnedFd>,
    request: Vec<u8>,
    reply: Vec<u8>,
    /// Connections without a request in flight; the one used last is taken first.
    idle: Vec<usize>,
    schedule: Schedule,
    due: Option<u64>,
    /// True if a request was due when no connection was idle.
    starved: bool,
    lags: Vec<u64>,
    completed: usize,
    finished_at: u64,
}

impl Floor {
    fn open(job: &OpenLoad) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        // Edge-triggered: the timer is never read, and would stay readable otherwise.
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), edge)?;
        let mut sockets = Vec::with_capacity(job.connections);
        for slot in 0..job.connections {
            let socket = connect(job.address)?;
            epoll::add(&epoll, &socket, EventData::new_u64(slot as u64), edge)?;
            sockets.push(socket);
        }
        let mut schedule = Schedule::new(job, now() + HEAD_START);
        Ok(Self {
            epoll,
            timer,
            request: format!("GET /10b HTTP/1.1\r\nHost: {}\r\n\r\n", job.address).into_bytes(),
            reply: vec![0; 4096],
            idle: (0..sockets.len()).rev().collect(),
            sockets,
            due: schedule.next(),
            starved: false,
            // Room for more arrivals than expected, so that the list does not grow during the run.
            lags: Vec::with_capacity((job.rate * job.seconds * 1.1) as usize + 64),
            completed: 0,
            finished_at: schedule.start,
            schedule,
        })
    }

    fn run(&mut self) -> Result<()> {
        self.send_due()?;
        let mut events = Vec::with_capacity(256);
        while self.due.is_some() || self.completed < self.lags.len() {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Err(Errno::INTR) => continue,
                waited => waited?,
            };
            let mut needs_clock = self.starved;
            for event in events.drain(..) {
                match event.data.u64() {
                    TIMER if self.due.is_none() => {
                        bail!("timed out waiting for the replies to the last requests")
                    }
                    TIMER => needs_clock = true,
                    slot => self.receive(slot as usize)?,
                }
            }
            // Between two due instants, a reply does not require reading the clock.
            if needs_clock {
                self.send_due()?;
            }
        }
        self.finished_at = now();
        Ok(())
    }

    /// Sends all due requests while connections are idle, and arms the timer for the next one.
    fn send_due(&mut self) -> Result<()> {
        self.starved = false;
        while let Some(due) = self.due {
            let now = now();
            if now < due {
                return self.wake_at(due);
            }
            let Some(slot) = self.idle.pop() else {
                self.starved = true;
                return Ok(());
            };
            let sent = send(&self.sockets[slot], &self.request, SendFlags::NOSIGNAL)?;
            ensure!(sent == self.request.len(), "a request was sent only partially");
            self.lags.push(now - due);
            self.due = self.schedule.next();
        }
        // After the last request, the timer limits the wait for replies.
        self.wake_at(now() + PATIENCE)
    }

    fn receive(&mut self, slot: usize) -> Result<()> {
        let length = match recv(&self.sockets[slot], &mut self.reply[..], RecvFlags::empty()) {
            Err(Errno::AGAIN) => return Ok(()),
            received => received?.0,
        };
        ensure!(length > 0, "the server closed a connection");
        ensure!(self.reply[..length].starts_with(b"HTTP/1.1 200"), "a reply is not 200");
        self.completed += 1;
        self.idle.push(slot);
        Ok(())
    }

    /// Arms the timer. That also clears an expiry that was not read, so the timer is never read.
    fn wake_at(&self, instant: u64) -> Result<()> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let at = Timespec { tv_sec: (instant / SECOND) as i64, tv_nsec: (instant % SECOND) as i64 };
        let once = Itimerspec { it_interval: never, it_value: at };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    fn account(mut self) -> Result<serde_json::Value> {
        let used = usage::of_this_process()?;
        self.lags.sort_unstable();
        let p50 = self.lag_seconds(0.5);
        let p90 = self.lag_seconds(0.9);
        let p99 = self.lag_seconds(0.99);
        let max = self.lag_seconds(1.0);
        Ok(serde_json::json!({
            "sent": self.lags.len(),
            "completed": self.completed,
            "elapsed_seconds": (self.finished_at - self.schedule.start) as f64 / SECOND as f64,
            "lag_seconds": { "p50": p50, "p90": p90, "p99": p99, "max": max },
            "cpu_user_seconds": used.user.as_secs_f64(),
            "cpu_system_seconds": used.system.as_secs_f64(),
        }))
    }

    /// Quantile of the sorted lags, in seconds.
    fn lag_seconds(&self, share: f64) -> f64 {
        rank(&self.lags, share) as f64 / SECOND as f64
    }
}

/// Quantile of sorted values by nearest rank.
fn rank(sorted: &[u64], share: f64) -> u64 {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(rate: f64, arrivals: Arrivals) -> OpenLoad {
        OpenLoad {
            address: ([127, 0, 0, 1], 1).into(),
            rate,
            seconds: 7.0,
            connections: 1,
            arrivals,
        }
    }

    #[test]
    fn even_arrivals_have_the_requested_number_and_spacing() {
        let dues: Vec<u64> = Schedule::new(&job(2000.0, Arrivals::Even), 5).collect();
        assert_eq!(dues.len(), 14_000);
        assert_eq!(dues[..3], [5, 500_005, 1_000_005]);
    }

    #[test]
    fn random_arrivals_have_the_rate_and_the_spread_of_a_poisson_process() {
        let dues: Vec<u64> = Schedule::new(&job(2000.0, Arrivals::Poisson), 0).collect();
        assert!((13_500..14_500).contains(&dues.len()), "{}", dues.len());
        let gaps: Vec<f64> = dues.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.9..1.1).contains(&(variance.sqrt() / mean)));
    }

    #[test]
    fn ranks_are_nearest_ranks() {
        let sorted: Vec<u64> = (1..=100).collect();
        assert_eq!([rank(&sorted, 0.5), rank(&sorted, 0.99), rank(&sorted, 1.0)], [50, 99, 100]);
        assert_eq!(rank(&[], 0.5), 0);
    }
}
