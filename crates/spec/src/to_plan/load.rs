//! The load of a plan, its worker threads, and its end.

use super::processes::connection_capacity;
use crate::System;
use crate::defaults;
use crate::error::{Result, require};
use crate::settings::RunSettings;
use crate::words::shape::Loads;
use crate::words::{arrivals, duration, shape, think};
use brunt_model::goal::Until;
use brunt_model::numbers::count;
use brunt_model::{Load, LoadShape, Placement, Stop};
use std::time::Duration;

/// Creates the load: an open loop if there is a rate, else a closed loop.
pub(super) fn load(settings: &RunSettings, system: &System) -> Result<Load> {
    match &settings.load.rate {
        Some(rate) => open(settings, single_load(settings, "rate", rate)?, system),
        None => closed_loop(settings),
    }
}

fn closed_loop(settings: &RunSettings) -> Result<Load> {
    let load = &settings.load;
    // These settings would have no effect, and unknown or ineffective input is refused.
    for (is_given, option) in
        [(load.arrivals.is_some(), "arrivals"), (load.max_in_flight.is_some(), "max-in-flight")]
    {
        require!(settings.sources, !is_given, |names| {
            let option = names.name_of(option);
            let rate = names.name_of("rate");
            format!(
                "{option} belongs to the open loop: add {rate} N, such as {rate} 1000, or leave it out"
            )
        });
    }
    let users = match &load.connections {
        Some(users) => single_load(settings, "connections", users)?,
        None => single_load(settings, "connections", &shape::connections(defaults::CONNECTIONS)?)?,
    };
    let think = load.think.map_or_else(|| think::parse(defaults::THINK), Ok)?;
    Ok(Load::Closed { users, think })
}

fn open(settings: &RunSettings, rate: LoadShape, system: &System) -> Result<Load> {
    let load = &settings.load;
    require!(settings.sources, load.think.is_none(), |names| {
        let think = names.name_of("think");
        let rate = names.name_of("rate");
        format!(
            "{think} belongs to the closed loop: arrivals at a {rate} wait for no reply; leave out one of the two"
        )
    });
    let peak = rate.peak();
    let most = defaults::MAX_RATE;
    require!(settings.sources, peak <= most, |names| format!(
        "{0} {peak}: no load generator sends {1} requests/s; the highest rate accepted is {2}; write {0} {most} or less",
        names.name_of("rate"),
        count(peak as u64),
        count(most as u64)
    ));
    let connections =
        load.connections.as_ref().map(|loads| most_connections(settings, loads)).transpose()?;
    // Without `max-in-flight`, the limit is the number of connections that all processes can open.
    let capacity = connection_capacity(system).saturating_mul(load.processes.unwrap_or(1).into());
    let max_in_flight =
        load.max_in_flight.unwrap_or(u32::try_from(capacity).unwrap_or(u32::MAX).max(1));
    let arrivals = load.arrivals.map_or_else(|| arrivals::parse(defaults::ARRIVALS), Ok)?;
    Ok(Load::Open { rate, arrivals, connections, max_in_flight })
}

/// With a rate, the number of connections is a maximum, and not a load.
fn most_connections(settings: &RunSettings, loads: &Loads) -> Result<u32> {
    let shape = single_load(settings, "connections", loads)?;
    // A maximum that changes over time would be a second load.
    let steady = shape.as_constant().filter(|_| shape.duration().is_none());
    require!(settings.sources, steady.is_some(), |names| {
        let rate = names.name_of("rate");
        let most = names.name_of("connections");
        format!(
            "with {rate}, {most} is how many there are at most: write one number, such as -c 100"
        )
    });
    Ok(steady.unwrap_or_default() as u32)
}

fn single_load(settings: &RunSettings, option: &'static str, loads: &Loads) -> Result<LoadShape> {
    match loads {
        Loads::One(shape) => Ok(shape.clone()),
        Loads::Sweep(values) => Err(settings.sources.refuse(|names| {
            format!(
                "{0}: a sweep of {1} loads is the work of `brunt sweep`; write that, or one load, such as {0} {2}",
                names.name_of(option),
                values.len(),
                values[0]
            )
        })),
    }
}

/// Creates the conditions that end the run.
pub(super) fn stop(settings: &RunSettings, load: &Load) -> Result<Stop> {
    let (Load::Closed { users: shape, .. } | Load::Open { rate: shape, .. }) = load;
    let is_closed = matches!(load, Load::Closed { .. });
    // Each arrival of an open loop is a user with one iteration.
    require!(settings.sources, settings.stop.iterations_per_user.is_none() || is_closed, |names| {
        let iterations = names.name_of("iterations");
        let rate = names.name_of("rate");
        format!(
            "{iterations} is of users, and {rate} has none; write {} instead",
            names.name_of("requests")
        )
    });
    let duration = measured_time(settings, shape)?;
    let stop = settings.stop;
    let warmup =
        if stop.warmup_until_steady { max_warmup(settings, shape, duration)? } else { stop.warmup };
    Ok(Stop { warmup, duration, ..stop })
}

/// Creates the goals that end the run early; None without goals.
pub(super) fn until(settings: &RunSettings) -> Result<Option<Until>> {
    let load = &settings.load;
    if load.until.is_empty() {
        return Ok(None);
    }
    // With goals, the duration is the minimum, and `max-duration` is the maximum.
    let min_duration = duration::or_default(settings.stop.duration, defaults::DURATION)?;
    require!(settings.sources, min_duration <= load.max_duration, |names| {
        let until = names.name_of("until");
        let duration = names.name_of("duration");
        let longest = names.name_of("max-duration");
        let seconds = min_duration.as_secs_f64();
        format!(
            "{until}: {duration}, the least time, is longer than {longest}, the longest; write {longest} {seconds}s or more"
        )
    });
    Ok(Some(Until { goals: load.until.clone(), least: min_duration }))
}

/// Maximum warm-up until steady state: the measured time, or a minimum. A server that is not steady
/// after half of the whole time cannot be distinguished from one that never is.
fn max_warmup(
    settings: &RunSettings,
    shape: &LoadShape,
    duration: Option<Duration>,
) -> Result<Duration> {
    require!(settings.sources, shape.as_constant().is_some(), |names| format!(
        // Steady state is detected by figures that stay the same.
        "{0} auto: a load that changes (`{shape}`) is never steady; write {0} 5s, or a load such as {1}",
        names.name_of("warmup"),
        shape.peak()
    ));
    let min_warmup = duration::parse(defaults::MAX_WARMUP)?;
    Ok(duration.map_or(min_warmup, |d| d.max(min_warmup)))
}

/// Measured time: the sum of the stages if all of them end, else that of the settings. None if only
/// a number of requests ends the run.
fn measured_time(settings: &RunSettings, shape: &LoadShape) -> Result<Option<Duration>> {
    let load = &settings.load;
    let stop = settings.stop;
    let sources = &settings.sources;
    if !load.until.is_empty() {
        require!(sources, shape.as_constant().is_some(), |names| format!(
            "{}: figures of a load that changes (`{shape}`) do not settle; write one such as {}",
            names.name_of("until"),
            shape.peak()
        ));
        // The goals end the run. The maximum duration only matters if they are never reached.
        return Ok(Some(load.max_duration));
    }
    if let Some(stages) = shape.duration() {
        require!(sources, stop.duration.is_none(), |names| format!(
            "{0} and stages both set the duration (`{shape}`: {1}s); leave out {0}, or the /TIME of the last stage",
            names.name_of("duration"),
            stages.as_secs_f64()
        ));
        return Ok(Some(stages));
    }
    if stop.duration.is_some() || stop.requests.is_some() {
        return Ok(stop.duration);
    }
    require!(sources, shape.stages.len() == 1, |names| format!(
        "`{shape}`: the last stage has no end; write {shape}/2m, or add {} TIME for all of it or {} N",
        names.name_of("duration"),
        names.name_of("requests")
    ));
    Ok(Some(duration::parse(defaults::DURATION)?))
}

/// Number of threads of each process, and notes for the user. `local`: the server is on this
/// machine, and needs a core as well.
pub(super) fn threads(
    settings: &RunSettings,
    load: &Load,
    processes: u32,
    cores: u32,
    local: bool,
) -> (u32, Vec<String>) {
    // The cores of agents on other machines are known only when they have started.
    let is_elsewhere = settings.fleet.on.as_ref().is_some_and(Placement::is_elsewhere);
    let cores = if is_elsewhere { u32::MAX } else { cores };
    let free = if local { cores.saturating_sub(1).max(1) } else { cores.max(1) };
    if let Some(requested) = settings.load.threads {
        let all = requested.saturating_mul(processes);
        // One thread per process is the minimum, so no note advises fewer.
        let is_crowded = all > free && requested > 1;
        let server = if local { ", and the server needs one as well" } else { "" };
        let note = format!("{all} threads on {cores} cores{server}: they compete for CPU");
        return (requested, if is_crowded { vec![note] } else { Vec::new() });
    }
    // A closed loop has no given rate, so one thread is assumed to suffice.
    let Load::Open { rate, .. } = load else { return (1, Vec::new()) };
    let needed = (rate.peak() / defaults::RATE_PER_THREAD).ceil().max(1.0) as u32;
    if needed <= processes.max(1) {
        // One thread per process is the default, so no note explains it.
        return (needed.min(free).div_ceil(processes), Vec::new());
    }
    let note = settings
        .sources
        .text(|names| thread_note(rate.peak(), needed, free, &names.name_of("threads")));
    (needed.min(free).div_ceil(processes), vec![note])
}

/// True if workers may busy-wait before each arrival, which needs a core for each of them; with a
/// note if there are too few cores.
pub(super) fn precise(
    settings: &RunSettings,
    threads: u32,
    cores: u32,
    local: bool,
) -> (bool, Option<String>) {
    let is_requested = settings.load.precise;
    // A busy-waiting thread uses its core completely, so the server needs another one.
    if !is_requested || threads + u32::from(local) <= cores {
        return (is_requested, None);
    }
    let server = if local { " and the server" } else { "" };
    let precise = settings.sources.text(|names| names.name_of("precise"));
    let note = format!(
        "{precise}: {cores} cores are too few for {threads} busy-waiting threads{server}; it was left out"
    );
    (false, Some(note))
}

fn thread_note(peak: f64, needed: u32, free: u32, threads: &str) -> String {
    if needed > free {
        let demand = format!("{peak} requests/s need {needed} threads ({free} available)");
        return format!("{demand}: watch the lag, which is the generator's own lateness");
    }
    format!("{peak} requests/s take {needed} threads; {threads} 1 keeps to one")
}
