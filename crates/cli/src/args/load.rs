//! How much is asked, and when to stop.

use super::values::{Warmup, defaulted, warmup};
use crate::defaults;
use brunt_model::{Arrivals, Goal, Think};
use brunt_spec::words::shape::Loads;
use brunt_spec::words::{arrivals, duration, goal, shape, think};
use clap::{Args, value_parser};
use std::time::Duration;

/// How much is asked, and when to stop.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    #[arg(short, long, value_name = "LOAD", allow_negative_numbers = true, value_parser = shape::connections)]
    #[arg(help = defaulted("Users, one connection each: 500 or 0..500/30s,500/2m; with --rate: connections at most", defaults::CONNECTIONS))]
    pub connections: Option<Loads>,

    /// Open loop: requests per second, replies or no replies: 2000, 0.5 or 0..500/30s,500/2m
    #[arg(short, long, value_name = "LOAD", allow_negative_numbers = true, value_parser = shape::rate)]
    pub rate: Option<Loads>,

    #[arg(long, value_name = "SPACING", value_parser = arrivals::parse)]
    #[arg(help = defaulted("Open loop: how arrivals are spaced: poisson, even or burst:N", defaults::ARRIVALS))]
    pub arrivals: Option<Arrivals>,

    #[arg(short, long, value_name = "TIME", allow_negative_numbers = true, value_parser = duration::positive)]
    #[arg(help = defaulted("Measured time, such as 30s or 5m", &format!("{}, unless --requests or stages say when to stop", defaults::DURATION)))]
    pub duration: Option<Duration>,

    /// Go on until figures are known so well, such as p99±5% or throughput+-1%; --duration is then the least time; repeatable
    #[arg(long, value_name = "GOALS", value_parser = goal::parse)]
    pub until: Vec<Vec<Goal>>,

    /// The longest time that --until may take
    #[arg(long, value_name = "TIME", default_value = defaults::MAX_DURATION, value_parser = duration::positive)]
    pub max_duration: Duration,

    /// Stop after so many measured requests
    #[arg(short = 'n', long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub requests: Option<u64>,

    #[arg(long, value_name = "TIME[..TIME]", value_parser = think::parse)]
    #[arg(help = defaulted("Closed loop: time between a reply and the user's next request, 1s or 0.5s..2s", defaults::THINK))]
    pub think: Option<Think>,

    /// Load before the measured time, kept out of the figures; auto: until the server is found steady, half of all time at most
    #[arg(long, value_name = "TIME", default_value = defaults::WARMUP, value_parser = warmup)]
    pub warmup: Warmup,

    /// Time for requests under way at the end; after it they are cut
    #[arg(long, value_name = "TIME", default_value = defaults::GRACE, value_parser = duration::parse)]
    pub grace: Duration,

    /// Connections opened per second: before the load begins, and further ones of an open loop during it
    #[arg(long, value_name = "N", default_value = defaults::CONNECT_RATE, value_parser = value_parser!(u32).range(1..))]
    pub connect_rate: u32,

    /// Open loop: requests under way at most; arrivals beyond are dropped [default: open files of all processes − 64 each]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub max_in_flight: Option<u32>,

    /// Processes that share the load [default: 1, more where connections need more open files than one may have]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub processes: Option<u32>,

    /// Worker threads of each process [default: 1, more where the rate needs them]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,

    /// Be awake shortly before each arrival, for less lag and more CPU; needs a core that nobody else uses
    #[arg(long)]
    pub precise: bool,

    /// Seed of every random choice, to repeat a run [default: another each time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}
