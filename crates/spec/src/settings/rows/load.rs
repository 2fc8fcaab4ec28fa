//! Settings of the load, and of its end.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, on, set, whole};
use crate::settings::{ArgumentContent, RunSettings, SettingKey, ValueForm};
use crate::words::{arrivals, duration, goal, named, shape, think};
use std::time::Duration;

type S = RunSettings;

const LOAD: &str = "Load";

/// Parses a measured time. The error explains `--data`, because `-d` is the request body in curl.
fn measured_time(word: &str) -> Result<Duration, String> {
    duration::positive(word).map_err(|error| {
        if word.contains(['=', '{', '@']) {
            return format!(
                "`{word}` is not a duration; write --data '{word}' for a request body, or a time such as 30s"
            );
        }
        error.to_string()
    })
}

/// Rows under the heading of load.
pub static ROWS: [Row<RunSettings>; 18] = [
    Row::value(
        "connections",
        "LOAD",
        "Users, one connection each: 500 or 0..500/30s,500/2m; with --rate: connections at most",
        |w, _| set(shape::connections(w), |s: &mut S, v| s.load.connections = Some(v)),
    )
    .under(LOAD)
    .short('c')
    .aliases(&["users", "vus"])
    .content(ArgumentContent::Number)
    .otherwise(defaults::CONNECTIONS)
    .keys(&[
        SettingKey::new("load.users", ValueForm::Loads).about(
            "Closed loop: virtual users: 64, stages such as 0..500/30s,500/2m, or \
                 a sweep such as 20..20000*2",
        ),
        SettingKey::new("load.connections", ValueForm::Value)
            .about("With rate: maximum number of connections")
            .default("max_in_flight"),
    ]),
    Row::value(
        "rate",
        "LOAD",
        "Open loop: requests per second, independent of replies: 2000, 0.5 or 0..500/30s,500/2m",
        |w, _| set(shape::rate(w), |s: &mut S, v| s.load.rate = Some(v)),
    )
    .under(LOAD)
    .short('r')
    // The names of wrk2, k6 and Fortio.
    .aliases(&["R", "rps", "qps"])
    .content(ArgumentContent::Number)
    .keys(&[SettingKey::new("load.rate", ValueForm::Loads).about(
        "Open loop: requests per second: 500, stages such as \
         0..500/30s,500/2m, or a sweep such as 50..1500+50",
    )]),
    Row::value("arrivals", "SPACING", "Open loop: how arrivals are spaced: poisson, even or burst:N", |w, _| {
        set(arrivals::parse(w), |s: &mut S, v| s.load.arrivals = Some(v))
    })
    .under(LOAD)
    .otherwise(defaults::ARRIVALS)
    .suggestions(arrivals::suggestions)
    .keys(&[SettingKey::new("load.arrivals", ValueForm::Value)]),
    Row::value("duration", "TIME", "Measured time, such as 30s or 5m", |w, _| {
        set(measured_time(w), |s: &mut S, v| s.stop.duration = Some(v))
    })
    .under(LOAD)
    .short('d')
    // The name of hey and oha.
    .aliases(&["z"])
    .content(ArgumentContent::Number)
    .otherwise_generated(|| format!("{}, unless --requests or stages end the run", defaults::DURATION))
    .keys(&[SettingKey::new("load.duration", ValueForm::Value)]),
    Row::repeated(
        "until",
        "GOALS",
        "Extend the run until the confidence interval is this narrow, such as \
         p99±5% or throughput+-1%; --duration is then the minimum",
        |w, _| set(goal::parse(w), |s: &mut S, v| s.load.until.extend(v)),
    )
    .under(LOAD)
    .keys(&[SettingKey::new("load.until", ValueForm::Each)]),
    Row::value("max-duration", "TIME", "Maximum measured time of --until, and of a JMeter plan", |w, _| {
        set(duration::positive(w), |s: &mut S, v| s.load.max_duration = v)
    })
    .under(LOAD)
    .default(defaults::MAX_DURATION)
    .keys(&[SettingKey::new("load.max_duration", ValueForm::Value)]),
    Row::value("requests", "N", "Stop after this number of measured requests; of a scenario, iterations", |w, _| {
        set(whole(w, 1, u64::MAX), |s: &mut S, v| s.stop.requests = Some(v))
    })
    .under(LOAD)
    .short('n')
    .keys(&[SettingKey::new("load.requests", ValueForm::Value)]),
    Row::value("iterations", "N", "Closed loop: each user stops after this number of iterations", |w, _| {
        set(whole(w, 1, u64::MAX), |s: &mut S, v| s.stop.iterations_per_user = Some(v))
    })
    .under(LOAD)
    .keys(&[SettingKey::new("load.iterations", ValueForm::Value)]),
    Row::value(
        "think",
        "TIME[..TIME]",
        "Closed loop: time between a reply and the user's next request, 1s or 0.5s..2s",
        |w, _| set(think::parse(w), |s: &mut S, v| s.load.think = Some(v)),
    )
    .under(LOAD)
    .otherwise(defaults::THINK)
    .keys(&[SettingKey::new("load.think", ValueForm::Value)]),
    Row::value(
        "warmup",
        "TIME",
        "Warm-up: load before the measured time, excluded from the results; \
         auto: until steady state, at most half of all time",
        |w, _| match w {
            "auto" => Ok(on(|s: &mut S| s.stop.warmup_until_steady = true)),
            _ => set(duration::parse(w), |s: &mut S, v| s.stop.warmup = v),
        },
    )
    .under(LOAD)
    .suggestions(|| named::of_list(&[("auto", "until steady state")]))
    .default(defaults::WARMUP)
    .keys(&[SettingKey::new("load.warmup", ValueForm::Value)]),
    Row::value(
        "grace",
        "TIME",
        "Time for requests in flight at the end; those that take longer are aborted",
        |w, _| set(duration::parse(w), |s: &mut S, v| s.stop.grace = v),
    )
    .under(LOAD)
    .default(defaults::GRACE)
    .keys(&[SettingKey::new("load.grace", ValueForm::Value)]),
    Row::value(
        "connect-rate",
        "N",
        "Connections opened per second: before the load begins, and further ones of an open loop during it",
        |w, _| set(whole(w, 1, u64::from(u32::MAX)), |s: &mut S, v| s.connection.connect_rate = v),
    )
    .under(LOAD)
    .default(defaults::CONNECT_RATE)
    .keys(&[SettingKey::new("load.connect_rate", ValueForm::Value)]),
    Row::value(
        "max-in-flight",
        "N",
        "Open loop: maximum number of requests in flight; arrivals beyond it are dropped",
        |w, _| set(whole(w, 1, u64::from(u32::MAX)), |s: &mut S, v| s.load.max_in_flight = Some(v)),
    )
    .under(LOAD)
    .otherwise("open files of all processes − 64 each")
    .keys(&[SettingKey::new("load.max_in_flight", ValueForm::Value)]),
    Row::value("processes", "N", "Processes that share the load", |w, _| {
        set(whole(w, 1, 1024), |s: &mut S, v| s.load.processes = Some(v))
    })
    .under(LOAD)
    .otherwise("1, more where connections need more open files than one may have")
    .keys(&[SettingKey::new("load.processes", ValueForm::Value)]),
    Row::value("threads", "N", "Worker threads of each process", |w, _| {
        set(whole(w, 1, 1024), |s: &mut S, v| s.load.threads = Some(v))
    })
    .under(LOAD)
    .otherwise("1, more where the rate needs them")
    // wrk's name.
    .aliases(&["t"])
    .keys(&[SettingKey::new("load.threads", ValueForm::Value)]),
    // wrk needs this option to print percentiles; commands with it must keep working.
    Row::switch("latency", "Nothing more: the report always has percentiles", |_, _| Ok(on(|_: &mut S| {})))
        .under(LOAD)
        .unlisted(),
    Row::switch("precise", "Busy-wait before each send: less lag, more CPU; needs an otherwise idle core", |_, _| {
        Ok(on(|s: &mut S| s.load.precise = true))
    })
    .under(LOAD)
    .keys(&[SettingKey::new("load.precise", ValueForm::IfTrue)]),
    Row::value("seed", "N", "Seed of every random choice, to repeat a run", |w, _| {
        set(whole(w, 0, u64::MAX), |s: &mut S, v| s.load.seed = Some(v))
    })
    .under(LOAD)
    .otherwise("another each time")
    .keys(&[SettingKey::new("load.seed", ValueForm::Value)]),
];
