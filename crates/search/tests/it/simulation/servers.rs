//! The servers.

use super::machine::{Contention, Machine, Outages};
use rand::RngExt as _;
use rand_pcg::Pcg64Mcg;

/// A kind of server, with its objective and its true capacity.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub service: Service,
    /// Its p99 is to be below so many seconds.
    pub bound: f64,
    /// Requests per second at which 1 % of them take longer.
    pub capacity: f64,
    /// How much slower it is after 180 seconds than at its beginning, as a share.
    pub drift: f64,
    /// What keeps the generator from its CPU.
    pub machine: Machine,
}

/// How requests are served.
#[derive(Debug, Clone, Copy)]
pub enum Service {
    /// So many workers, exponential service times of this mean, in seconds.
    Exponential { workers: usize, mean: f64 },
    /// So many workers, service times that are all the same.
    Fixed { workers: usize, mean: f64 },
    /// So many workers who hinder each other: n of them serve n/(mean·(1 + σ(n−1) + κn(n−1))) a second (Gunther 2007).
    Coherent { workers: usize, mean: f64, sigma: f64, kappa: f64 },
    /// As `Exponential`, but all stand still for so many seconds at a time, 1 % of the time in all.
    Stalling { workers: usize, mean: f64, stall: f64 },
    /// Log-normal service times: their mean, and the standard deviation of their logarithm.
    HeavyTail { workers: usize, mean: f64, sigma: f64 },
    /// A token bucket; requests without a token fail after a millisecond.
    RateLimit { rate: f64, burst: f64 },
    /// As `Exponential`, but all workers stand still for `stall` seconds every `period` seconds.
    PeriodicStall { workers: usize, mean: f64, stall: f64, period: f64 },
    /// As `Exponential`, but a share of the replies takes `stall` seconds longer for `stall` seconds every `period` seconds.
    PartialStall { workers: usize, mean: f64, stall: f64, period: f64, share: f64 },
    /// As `Exponential`, but a share of the requests fails at once for `burst` seconds every `period` seconds.
    ErrorBursts { workers: usize, mean: f64, burst: f64, period: f64, share: f64 },
    /// As `Exponential`, but `times` as slow in the first `seconds` seconds.
    Cold { workers: usize, mean: f64, seconds: f64, times: f64 },
    /// As `Exponential`, but refuses a request if `most` others wait or are served.
    ConnectionLimit { workers: usize, mean: f64, most: usize },
    /// As `Exponential`, but twenty times slower for good once a request has waited for a second.
    Fragile { workers: usize, mean: f64 },
}

impl Service {
    fn workers(&self) -> usize {
        match self {
            Self::Exponential { workers, .. }
            | Self::Fixed { workers, .. }
            | Self::Stalling { workers, .. }
            | Self::HeavyTail { workers, .. }
            | Self::PeriodicStall { workers, .. }
            | Self::PartialStall { workers, .. }
            | Self::ErrorBursts { workers, .. }
            | Self::Cold { workers, .. }
            | Self::ConnectionLimit { workers, .. }
            | Self::Fragile { workers, .. } => *workers,
            Self::Coherent { .. } | Self::RateLimit { .. } => 0,
        }
    }
}

/// The capacities of the first two are by formula, of the others by simulation (`truth.rs` holds them against both).
pub const KINDS: [Kind; 4] = [
    Kind {
        name: "M/M/8, 2 ms",
        service: Service::Exponential { workers: 8, mean: 0.002 },
        bound: 0.015,
        capacity: 3631.86,
        drift: 0.0,
        machine: Machine::Quiet,
    },
    Kind {
        name: "M/D/4, 2 ms",
        service: Service::Fixed { workers: 4, mean: 0.002 },
        bound: 0.01,
        capacity: 1741.5,
        drift: 0.0,
        machine: Machine::Quiet,
    },
    Kind {
        name: "coherency penalty, 32 workers",
        service: Service::Coherent { workers: 32, mean: 0.002, sigma: 0.02, kappa: 0.0005 },
        bound: 0.024,
        capacity: 7277.0,
        drift: 0.0,
        machine: Machine::Quiet,
    },
    Kind {
        name: "M/M/4, 1 ms, stalls of 10 ms for 1 % of the time",
        service: Service::Stalling { workers: 4, mean: 0.001, stall: 0.01 },
        bound: 0.0125,
        capacity: 3356.0,
        drift: 0.0,
        machine: Machine::Quiet,
    },
];

/// One that is so slow that three minutes hold a handful of clumps of slow requests: no interval of it can be narrow.
pub const SLOW: Kind = Kind {
    name: "M/M/4, 10 ms (the lab)",
    service: Service::Exponential { workers: 4, mean: 0.01 },
    bound: 0.1,
    capacity: 350.09,
    drift: 0.0,
    machine: Machine::Quiet,
};

/// The lab with eight workers, as the generator's machine is quiet or not.
pub const fn lab(machine: Machine) -> Kind {
    Kind {
        name: "M/M/8, 10 ms (the lab)",
        service: Service::Exponential { workers: 8, mean: 0.01 },
        bound: 0.1,
        capacity: 749.036,
        drift: 0.0,
        machine,
    }
}

/// What became of a request: when its reply was read, its response time and its lag; seconds.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub at: f64,
    pub response: f64,
    pub lag: f64,
    pub is_error: bool,
}

/// A request in an open system: when it was due, and when it was sent.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    due: f64,
    sent: f64,
}

/// A server under way.
pub struct Server {
    kind: Kind,
    random: Pcg64Mcg,
    /// When each worker is free (`Exponential`, `Fixed`, `Stalling`).
    free: Vec<f64>,
    /// The next stall begins then.
    stall: f64,
    /// Requests in service, and those that wait (`Coherent`).
    inside: Vec<Arrival>,
    waiting: std::collections::VecDeque<Arrival>,
    /// Tokens in the bucket, when it was last filled (`RateLimit`).
    tokens: f64,
    filled: f64,
    /// Whether a request has waited too long (`Fragile`).
    is_wrecked: bool,
    /// The next arrival, and the time up to which all is done.
    arrival: f64,
    now: f64,
    arrived: u64,
    outages: Outages,
    contention: Contention,
    /// When the requests that were accepted are done (`ConnectionLimit`).
    open: Vec<f64>,
    /// Moment in the period of the first burst (`PartialStall`, `ErrorBursts`).
    phase: f64,
}

impl Server {
    pub fn new(kind: Kind, random: Pcg64Mcg) -> Self {
        // Outages are independent of what the server does.
        let outages = Pcg64Mcg::new(random.clone().random::<u128>() | 1);
        let contention = random.clone().random::<u128>() ^ (1 << 77) | 1;
        let mut server = Self {
            kind,
            random,
            free: vec![0.0; kind.service.workers()],
            stall: f64::INFINITY,
            inside: Vec::new(),
            waiting: std::collections::VecDeque::new(),
            tokens: 0.0,
            filled: 0.0,
            is_wrecked: false,
            arrival: 0.0,
            now: 0.0,
            arrived: 0,
            outages: Outages::new(kind.machine, outages),
            contention: Contention::new(Pcg64Mcg::new(contention)),
            open: Vec::new(),
            phase: 0.0,
        };
        if let Service::PartialStall { period, .. } | Service::ErrorBursts { period, .. } =
            kind.service
        {
            server.phase = period * server.random.random::<f64>();
        }
        if let Service::Stalling { stall, .. } = kind.service {
            server.stall = server.exponential(stall / 0.01);
        }
        if let Service::PeriodicStall { period, .. } = kind.service {
            server.stall = period * server.random.random::<f64>();
        }
        server
    }

    /// Lets what is under way finish, for the grace at most, and some more time pass. What is left is cut.
    pub fn rest(&mut self, grace: f64, seconds: f64) {
        let backlog = self.free.iter().map(|free| free - self.now).fold(0.0, f64::max);
        self.now += backlog.min(grace);
        for free in &mut self.free {
            *free = free.min(self.now);
        }
        if let Service::Coherent { .. } = self.kind.service {
            self.now += (self.waiting.len() as f64 / 7000.0).min(grace);
            self.inside.clear();
            self.waiting.clear();
        }
        self.now += seconds;
    }

    pub fn now(&self) -> f64 {
        self.now
    }

    /// How many have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// So many arrivals a second until `to`; those that came before then are handed over with when they end.
    pub fn load(&mut self, rate: f64, to: f64, mut ended: impl FnMut(Ended)) {
        self.arrival = self.now + self.exponential(1.0 / rate);
        if let Service::Coherent { workers, mean, sigma, kappa } = self.kind.service {
            return self.hindered(rate, to, (workers, mean, sigma, kappa), ended);
        }
        while self.arrival < to {
            let at = self.arrival;
            let sent = self.outages.over(at);
            let reply = self.serve(sent);
            let read = self.outages.over(reply.unwrap_or(sent + 0.001));
            self.arrived += 1;
            ended(Ended {
                at: read,
                response: read - at,
                lag: sent - at,
                is_error: reply.is_none(),
            });
            self.arrival += self.exponential(1.0 / rate);
        }
        self.now = to;
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.random::<f64>()).ln()
    }

    /// When a request that arrives now is done; None if it is refused.
    fn serve(&mut self, at: f64) -> Option<f64> {
        let slower = (1.0 + self.kind.drift * at / 180.0) * self.contended(at);
        match self.kind.service {
            Service::ErrorBursts { burst, period, share, .. }
                if (at + self.phase) % period < burst && self.random.random::<f64>() < share =>
            {
                return None;
            }
            Service::ConnectionLimit { most, .. } => {
                self.open.retain(|done| *done > at);
                if self.open.len() >= most {
                    return None;
                }
            }
            Service::RateLimit { rate, burst } => {
                return self.token(at, rate, burst).then_some(at + 0.002);
            }
            Service::Stalling { stall, .. } => self.stall_until(at, stall, None),
            Service::PeriodicStall { stall, period, .. } => {
                self.stall_until(at, stall, Some(period));
            }
            _ => {}
        }
        let service = match self.kind.service {
            Service::Fixed { mean, .. } => mean,
            Service::HeavyTail { mean, sigma, .. } => {
                mean * (sigma * self.normal() - sigma * sigma / 2.0).exp()
            }
            Service::Fragile { mean, .. } if self.is_wrecked => 20.0 * self.exponential(mean),
            Service::Exponential { mean, .. }
            | Service::Stalling { mean, .. }
            | Service::PeriodicStall { mean, .. }
            | Service::PartialStall { mean, .. }
            | Service::ErrorBursts { mean, .. }
            | Service::ConnectionLimit { mean, .. }
            | Service::Fragile { mean, .. } => self.exponential(mean),
            Service::Cold { mean, seconds, times, .. } => {
                self.exponential(mean) * if at < seconds { times } else { 1.0 }
            }
            Service::Coherent { .. } | Service::RateLimit { .. } => 0.0,
        };
        let sooner = |a: &usize, b: &usize| self.free[*a].total_cmp(&self.free[*b]);
        let next = (0..self.free.len()).min_by(sooner).unwrap_or(0);
        let begun = self.free[next].max(at);
        self.is_wrecked |= begun - at > 1.0;
        self.free[next] = begun + service * slower;
        let done = self.free[next];
        match self.kind.service {
            Service::ConnectionLimit { .. } => self.open.push(done),
            Service::PartialStall { stall, period, share, .. }
                if (at + self.phase) % period < stall && self.random.random::<f64>() < share =>
            {
                return Some(done + stall);
            }
            _ => {}
        }
        Some(done)
    }

    /// Factor of a service time, as other processes use the cores.
    fn contended(&mut self, at: f64) -> f64 {
        if self.kind.machine == Machine::Contested { self.contention.factor(at) } else { 1.0 }
    }

    /// Share of a time in which other processes used the cores.
    pub fn contention(&mut self, from: f64, to: f64) -> f64 {
        if self.kind.machine == Machine::Contested { self.contention.share(from, to) } else { 0.0 }
    }

    fn token(&mut self, at: f64, rate: f64, burst: f64) -> bool {
        self.tokens = (self.tokens + rate * (at - self.filled)).min(burst);
        self.filled = at;
        let has_token = self.tokens >= 1.0;
        if has_token {
            self.tokens -= 1.0;
        }
        has_token
    }

    /// By Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential(1.0)).sqrt();
        radius * (std::f64::consts::TAU * self.random.random::<f64>()).cos()
    }

    /// Workers stand still during a stall: what they do ends so much later.
    fn stall_until(&mut self, at: f64, stall: f64, period: Option<f64>) {
        while self.stall <= at {
            for free in &mut self.free {
                *free = free.max(self.stall) + stall;
            }
            self.stall += period.unwrap_or_else(|| stall + self.exponential(stall / 0.01));
        }
    }

    /// When the requests were due that are neither answered nor refused (`Coherent`; the others know their end beforehand).
    pub fn unfinished(&self) -> impl Iterator<Item = f64> {
        self.inside.iter().chain(&self.waiting).map(|arrival| arrival.due)
    }

    /// Of those inside, each is as likely to be done next.
    fn hindered(
        &mut self,
        rate: f64,
        to: f64,
        of: (usize, f64, f64, f64),
        mut ended: impl FnMut(Ended),
    ) {
        let (workers, mean, sigma, kappa) = of;
        let mut arrival = self.next_arrival();
        loop {
            let n = self.inside.len() as f64;
            let slower = (1.0 + self.kind.drift * self.now / 180.0) * self.contended(self.now);
            let done = if n == 0.0 {
                f64::INFINITY
            } else {
                let pace = n / (mean * slower * (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)));
                self.now + self.exponential(1.0 / pace)
            };
            let next = done.min(arrival.sent);
            if next >= to {
                break;
            }
            self.now = next;
            if done < arrival.sent {
                let index = self.random.random_range(0..self.inside.len());
                let Arrival { due, sent } = self.inside.swap_remove(index);
                let read = self.outages.over(next);
                ended(Ended { at: read, response: read - due, lag: sent - due, is_error: false });
                self.inside.extend(self.waiting.pop_front());
            } else {
                self.arrived += 1;
                if self.inside.len() < workers {
                    self.inside.push(arrival);
                } else {
                    self.waiting.push_back(arrival);
                }
                self.arrival += self.exponential(1.0 / rate);
                arrival = self.next_arrival();
            }
        }
        self.now = to;
    }

    fn next_arrival(&mut self) -> Arrival {
        Arrival { due: self.arrival, sent: self.outages.over(self.arrival) }
    }
}

/// Erlang's C: the share of requests that wait, at an offered load of `a` for `c` workers.
fn waits(c: usize, a: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 0.0;
    for k in 0..c {
        sum += term;
        term *= a / (k + 1) as f64;
    }
    let last = term * c as f64 / (c as f64 - a);
    last / (sum + last)
}

/// The share of sojourn times beyond `t` in M/M/c (Kleinrock, "Queueing Systems" I, 1975, §3.5; the wait is exponential with
/// rate cμ − λ for those who wait).
pub fn erlang_slower(rate: f64, c: usize, mean: f64, t: f64) -> f64 {
    let mu = 1.0 / mean;
    let spare = c as f64 * mu - rate;
    let wait = waits(c, rate * mean);
    let queued = (mu * (-spare * t).exp() - spare * (-mu * t).exp()) / (mu - spare);
    (1.0 - wait) * (-mu * t).exp() + wait * queued
}

/// The capacity of M/M/c with the drift that it has after so many seconds.
pub fn erlang_capacity(kind: &Kind, seconds: f64) -> f64 {
    let Service::Exponential { workers, mean } = kind.service else {
        panic!("exponential service")
    };
    let mean = mean * (1.0 + kind.drift * seconds / 180.0);
    let mut met = 0.0;
    let mut missed = workers as f64 / mean;
    for _ in 0..60 {
        let middle = f64::midpoint(met, missed);
        if erlang_slower(middle, workers, mean, kind.bound) > 0.01 {
            missed = middle;
        } else {
            met = middle;
        }
    }
    met
}
