//! Runs made up of response times whose distribution is known, without a server.

use brunt_model::{Event, Phase, Run, Snapshot, Tick};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

const TENTH: u64 = 100_000_000;
/// Mean of the exponential, median of the lognormal times, in seconds.
const SERVICE: f64 = 0.01;
/// σ of the lognormal times in waves.
const WAVES: f64 = 0.5;

/// A kind of response times, at Poisson arrivals of so many a second.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub served: Served,
    pub rate: f64,
}

/// How response times come about.
#[derive(Clone, Copy)]
pub enum Served {
    /// Independent, exponential.
    Exponential,
    /// Independent, lognormal with σ = 1.
    Lognormal,
    /// Sojourn times of an M/M/1 queue.
    Queue { capacity: f64 },
    /// Lognormal; half the variance of the logarithm is a first-order process with this correlation time.
    Waves { seconds: f64 },
}

impl Kind {
    /// The true quantile 0.5 or 0.99, in seconds.
    pub fn quantile(&self, q: f64) -> f64 {
        // The normal quantiles of 0.5 and 0.99.
        let z = if q < 0.6 { 0.0 } else { 2.326_347_874 };
        match self.served {
            Served::Exponential => -SERVICE * (1.0 - q).ln(),
            Served::Lognormal => SERVICE * f64::exp(z),
            // Sojourn times of M/M/1 are exponential with mean 1/(μ − λ) (Kleinrock, "Queueing Systems", §5.12).
            Served::Queue { capacity } => -(1.0 - q).ln() / (capacity - self.rate),
            Served::Waves { .. } => SERVICE * f64::exp(WAVES * z),
        }
    }
}

/// A run under way.
pub struct Simulation {
    pub run: Run,
    kind: Kind,
    random: Pcg64Mcg,
    points: u64,
    /// Seconds at which the next request comes.
    next: f64,
    /// The sojourn time of the last one, or the height of the wave.
    state: f64,
}

impl Simulation {
    /// Begins in the steady state.
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut run = Run::default();
        run.fold(&Event::Stage { at: Tick(0), phase: Phase::Measure });
        let random = Pcg64Mcg::seed_from_u64(seed);
        let mut new = Self { run, kind, random, points: 0, next: 0.0, state: 0.0 };
        new.state = match kind.served {
            Served::Queue { capacity } => new.exponential() / (capacity - kind.rate),
            _ => new.normal(),
        };
        new.next = new.exponential() / kind.rate;
        new
    }

    /// Points of 100 ms so far.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Goes on by so many points of 100 ms.
    pub fn advance(&mut self, points: u64) {
        for _ in 0..points {
            let (from, to) = (Tick(self.points * TENTH), Tick((self.points + 1) * TENTH));
            self.points += 1;
            let mut s = Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() };
            while self.next < to.seconds() {
                s.measured.response.record((self.response() * 1e9) as u64);
                s.flow.completed += 1;
            }
            s.measured.planned = s.flow.completed;
            self.run.fold(&Event::Snapshot(Box::new(s)));
        }
    }

    /// The response time of the request that is due; the next one comes later.
    fn response(&mut self) -> f64 {
        let gap = self.exponential() / self.kind.rate;
        self.next += gap;
        match self.kind.served {
            Served::Exponential => SERVICE * self.exponential(),
            Served::Lognormal => SERVICE * self.normal().exp(),
            Served::Queue { capacity } => {
                // Lindley: a request waits for what the one before it left.
                let sojourn = self.state;
                self.state = (sojourn - gap).max(0.0) + self.exponential() / capacity;
                sojourn
            }
            Served::Waves { seconds } => {
                let kept = (-gap / seconds).exp();
                self.state = kept * self.state + (1.0 - kept * kept).sqrt() * self.normal();
                SERVICE * (WAVES * 0.5_f64.sqrt() * (self.state + self.normal())).exp()
            }
        }
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.random.random::<f64>()).ln()
    }

    /// Box and Muller (1958).
    fn normal(&mut self) -> f64 {
        let angle = std::f64::consts::TAU * self.random.random::<f64>();
        (2.0 * self.exponential()).sqrt() * angle.cos()
    }
}
