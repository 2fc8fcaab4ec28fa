//! How much is asked, by how many threads, and when to stop.

use super::System;
use super::processes::room;
use crate::args::load::LoadArgs;
use crate::args::values::Warmup;
use crate::defaults;
use anyhow::{Result, bail, ensure};
use brunt_model::goal::Until;
use brunt_model::{Load, Shape, Stop};
use brunt_report::figures::count;
use brunt_spec::words::shape::Loads;
use brunt_spec::words::{arrivals, duration, shape, think};
use std::time::Duration;

/// Open loop where a rate is given, else closed.
pub(super) fn load(args: &LoadArgs, system: &System) -> Result<Load> {
    match &args.rate {
        Some(rate) => open(args, one("--rate", rate)?, system),
        None => closed(args),
    }
}

fn closed(args: &LoadArgs) -> Result<Load> {
    for (given, option) in [(args.arrivals.is_some(), "--arrivals"), (args.max_in_flight.is_some(), "--max-in-flight")]
    {
        ensure!(!given, "{option} belongs to the open loop: add --rate N, such as --rate 1000, or leave it out");
    }
    let users = match &args.connections {
        Some(users) => one("--connections", users)?,
        None => one("--connections", &shape::connections(defaults::CONNECTIONS)?)?,
    };
    let think = args.think.map_or_else(|| think::parse(defaults::THINK), Ok)?;
    Ok(Load::Closed { users, think })
}

fn open(args: &LoadArgs, rate: Shape, system: &System) -> Result<Load> {
    ensure!(
        args.think.is_none(),
        "--think belongs to the closed loop: arrivals at a --rate wait for no reply; leave out one of the two"
    );
    let (peak, most) = (rate.peak(), defaults::MOST_RATE);
    ensure!(
        peak <= most,
        "--rate {peak}: no load generator sends {} requests/s; the highest rate accepted is {}; write --rate {most} or less",
        count(peak as u64),
        count(most as u64)
    );
    let connections = args.connections.as_ref().map(most_connections).transpose()?;
    let room = room(system).saturating_mul(args.processes.unwrap_or(1).into());
    let max_in_flight = args.max_in_flight.unwrap_or(u32::try_from(room).unwrap_or(u32::MAX).max(1));
    let arrivals = args.arrivals.map_or_else(|| arrivals::parse(defaults::ARRIVALS), Ok)?;
    Ok(Load::Open { rate, arrivals, connections, max_in_flight })
}

/// With a rate, `--connections` is a bound and no load of its own.
fn most_connections(loads: &Loads) -> Result<u32> {
    let shape = one("--connections", loads)?;
    let steady = shape.as_constant().filter(|_| shape.duration().is_none());
    match steady {
        Some(most) => Ok(most as u32),
        None => bail!("with --rate, --connections is how many there are at most: write one number, such as -c 100"),
    }
}

fn one(option: &str, loads: &Loads) -> Result<Shape> {
    match loads {
        Loads::One(shape) => Ok(shape.clone()),
        Loads::Sweep(values) => bail!(
            "{option}: a sweep of {} loads is the work of `brunt sweep`; write that, or one load, such as {option} {}",
            values.len(),
            values[0]
        ),
    }
}

/// When the run is over.
pub(super) fn stop(args: &LoadArgs, load: &Load) -> Result<Stop> {
    let (Load::Closed { users: shape, .. } | Load::Open { rate: shape, .. }) = load;
    let duration = measured(args, shape)?;
    let (warmup, warmup_until_steady) = match args.warmup {
        Warmup::For(time) => (time, false),
        Warmup::UntilSteady => (longest_warmup(shape, duration)?, true),
    };
    Ok(Stop {
        warmup,
        warmup_until_steady,
        duration,
        requests: args.requests,
        iterations_per_user: None,
        grace: args.grace,
    })
}

/// When the run may end early, because it knows enough.
pub(super) fn until(args: &LoadArgs) -> Result<Option<Until>> {
    let goals = args.until.concat();
    if goals.is_empty() {
        return Ok(None);
    }
    let least = args.duration.map_or_else(|| duration::parse(defaults::DURATION), Ok)?;
    ensure!(
        least <= args.max_duration,
        "--until: --duration, the least time, is longer than --max-duration, the longest; write --max-duration {}s or more",
        least.as_secs_f64()
    );
    Ok(Some(Until { goals, least }))
}

/// A server that is not steady after half of all time will not be told apart from one that never is.
fn longest_warmup(shape: &Shape, duration: Option<Duration>) -> Result<Duration> {
    ensure!(
        shape.as_constant().is_some(),
        "--warmup auto: a load that changes (`{shape}`) is never steady; write --warmup 5s, or a load such as {}",
        shape.peak()
    );
    let least = duration::parse(defaults::LONGEST_WARMUP)?;
    Ok(duration.map_or(least, |d| d.max(least)))
}

/// Stages that all end say how long it takes; otherwise the options do.
fn measured(args: &LoadArgs, shape: &Shape) -> Result<Option<Duration>> {
    if !args.until.is_empty() {
        ensure!(
            shape.as_constant().is_some(),
            "--until: figures of a load that changes (`{shape}`) do not settle; write one such as {}",
            shape.peak()
        );
        return Ok(Some(args.max_duration));
    }
    if let Some(stages) = shape.duration() {
        ensure!(
            args.duration.is_none(),
            "--duration and stages both say how long it takes (`{shape}`: {}s); leave out --duration, or the /TIME of the last stage",
            stages.as_secs_f64()
        );
        return Ok(Some(stages));
    }
    if args.duration.is_some() || args.requests.is_some() {
        return Ok(args.duration);
    }
    ensure!(
        shape.stages.len() == 1,
        "`{shape}`: the last stage has no end; write {shape}/2m, or add --duration TIME for all of it or --requests N"
    );
    Ok(Some(duration::parse(defaults::DURATION)?))
}

/// How many threads in each of so many processes, and what is to be told about it. `local`: the server is on this machine,
/// and needs a core as well.
pub(super) fn threads(args: &LoadArgs, load: &Load, processes: u32, cores: u32, local: bool) -> (u32, Vec<String>) {
    let free = if local { cores.saturating_sub(1).max(1) } else { cores.max(1) };
    if let Some(asked) = args.threads {
        let all = asked.saturating_mul(processes);
        let crowded = all > free && asked > 1;
        let server = if local { ", and the server needs one as well" } else { "" };
        let note = format!("{all} threads on {cores} cores{server}: they will get into each other's way");
        return (asked, if crowded { vec![note] } else { Vec::new() });
    }
    let Load::Open { rate, .. } = load else { return (1, Vec::new()) };
    let needed = (rate.peak() / defaults::RATE_PER_THREAD).ceil().max(1.0) as u32;
    let notes = if needed > processes { thread_notes(rate.peak(), needed, free) } else { Vec::new() };
    (needed.min(free).div_ceil(processes), notes)
}

/// Whether workers may be awake shortly before each arrival: only where each has a core of its own.
pub(super) fn precise(asked: bool, threads: u32, cores: u32, local: bool) -> (bool, Option<String>) {
    if !asked || threads + u32::from(local) <= cores {
        return (asked, None);
    }
    let server = if local { " and the server" } else { "" };
    let note = format!("--precise: {cores} cores are none too many for {threads} threads{server}; it was left out");
    (false, Some(note))
}

fn thread_notes(peak: f64, needed: u32, free: u32) -> Vec<String> {
    if needed == 1 {
        return Vec::new();
    }
    if needed > free {
        let wish = format!("{peak} requests/s would take {needed} threads, and {free} can be had here");
        return vec![format!("{wish}: watch the lag, which is the generator's own lateness")];
    }
    vec![format!("{peak} requests/s take {needed} threads; --threads 1 keeps to one")]
}
