//! The servers.

use super::machine::{Machine, Outages};
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

/// A server that becomes 15 % slower while it is searched.
pub const DRIFTING: Kind = Kind {
    name: "M/M/8, 2 ms, 15 % slower in the end",
    service: Service::Exponential { workers: 8, mean: 0.002 },
    bound: 0.015,
    capacity: 3631.86,
    drift: 0.15,
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
}

/// A server under way.
pub struct Server {
    kind: Kind,
    random: Pcg64Mcg,
    /// When each worker is free (`Exponential`, `Fixed`, `Stalling`).
    free: Vec<f64>,
    /// The next stall begins then.
    stall: f64,
    /// When those being served, and those who wait, arrived (`Coherent`).
    inside: Vec<f64>,
    waiting: std::collections::VecDeque<f64>,
    /// The next arrival, and the time up to which all is done.
    arrival: f64,
    now: f64,
    arrived: u64,
    outages: Outages,
}

impl Server {
    pub fn new(kind: Kind, random: Pcg64Mcg) -> Self {
        // Outages are independent of what the server does.
        let outages = Pcg64Mcg::new(random.clone().random::<u128>() | 1);
        let workers = match kind.service {
            Service::Exponential { workers, .. }
            | Service::Fixed { workers, .. }
            | Service::Stalling { workers, .. } => workers,
            Service::Coherent { .. } => 0,
        };
        let mut server = Self {
            kind,
            random,
            free: vec![0.0; workers],
            stall: f64::INFINITY,
            inside: Vec::new(),
            waiting: std::collections::VecDeque::new(),
            arrival: 0.0,
            now: 0.0,
            arrived: 0,
            outages: Outages::new(kind.machine, outages),
        };
        if let Service::Stalling { stall, .. } = kind.service {
            server.stall = server.exponential(stall / 0.01);
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
            let read = self.serve(sent);
            let read = self.outages.over(read);
            self.arrived += 1;
            ended(Ended { at: read, response: read - at, lag: sent - at });
            self.arrival += self.exponential(1.0 / rate);
        }
        self.now = to;
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.random::<f64>()).ln()
    }

    /// When a request that arrives now is done.
    fn serve(&mut self, at: f64) -> f64 {
        let slower = 1.0 + self.kind.drift * at / 180.0;
        let (service, stall) = match self.kind.service {
            Service::Exponential { mean, .. } => (self.exponential(mean), None),
            Service::Stalling { mean, stall, .. } => (self.exponential(mean), Some(stall)),
            Service::Fixed { mean, .. } | Service::Coherent { mean, .. } => (mean, None),
        };
        if let Some(stall) = stall {
            self.stall_until(at, stall);
        }
        let sooner = |a: &usize, b: &usize| self.free[*a].total_cmp(&self.free[*b]);
        let next = (0..self.free.len()).min_by(sooner).unwrap_or(0);
        let begun = self.free[next].max(at);
        self.free[next] = begun + service * slower;
        self.free[next]
    }

    /// Workers stand still during a stall: what they do ends so much later.
    fn stall_until(&mut self, at: f64, stall: f64) {
        while self.stall <= at {
            for free in &mut self.free {
                *free = free.max(self.stall) + stall;
            }
            self.stall += stall + self.exponential(stall / 0.01);
        }
    }

    /// Of those inside, each is as likely to be done next.
    fn hindered(&mut self, rate: f64, to: f64, of: (usize, f64, f64, f64), mut ended: impl FnMut(Ended)) {
        let (workers, mean, sigma, kappa) = of;
        loop {
            let n = self.inside.len() as f64;
            let slower = 1.0 + self.kind.drift * self.now / 180.0;
            let done = if n == 0.0 {
                f64::INFINITY
            } else {
                let pace = n / (mean * slower * (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)));
                self.now + self.exponential(1.0 / pace)
            };
            let next = done.min(self.arrival);
            if next >= to {
                break;
            }
            self.now = next;
            if done < self.arrival {
                let who = self.random.random_range(0..self.inside.len());
                let arrived = self.inside.swap_remove(who);
                ended(Ended { at: next, response: next - arrived, lag: 0.0 });
                self.inside.extend(self.waiting.pop_front());
            } else {
                self.arrived += 1;
                if self.inside.len() < workers {
                    self.inside.push(next);
                } else {
                    self.waiting.push_back(next);
                }
                self.arrival += self.exponential(1.0 / rate);
            }
        }
        self.now = to;
    }
}
