//! Scenarios: the load that their executors make.

use crate::options::{Options, number, pairs, time};
use brunt_model::load::{Arrivals, Load, LoadShape, LoadStage, Stop, ThinkTime};
use serde_json::{Map, Value};
use std::time::Duration;

/// A scenario of a script: its load and its function.
#[derive(Debug, Clone, PartialEq)]
pub struct K6Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Name of its executor.
    pub executor: String,
    /// Name of the exported function.
    pub function: String,
    /// Begin of the scenario, after that of the test.
    pub start: Duration,
    /// Time after which its load ends; None: it ends with its iterations.
    pub length: Option<Duration>,
    /// Further variables of the environment.
    pub env: Vec<(String, String)>,
    /// Tags of its figures.
    pub tags: Vec<(String, String)>,
    /// Its load, with its start.
    pub load: Load,
    /// What ends its load.
    pub stop: Stop,
    /// Description for the user: `10 VUs  30s`.
    pub about: String,
}

/// k6's default of `gracefulStop`.
const GRACE: Duration = Duration::from_secs(30);
/// k6's default of `maxDuration`.
const LONGEST: Duration = Duration::from_mins(10);

/// Reads the scenarios of the options. Without any, one user makes one iteration.
///
/// # Errors
///
/// A scenario cannot be read.
pub fn scenarios(options: &Options) -> Result<Vec<K6Scenario>, String> {
    if let Some(scenarios) = options.0.get("scenarios") {
        let Value::Object(map) = scenarios else {
            return Err("the option scenarios is no object; write scenarios: {name: {executor: 'constant-vus', vus: 10, duration: '30s'}}".into());
        };
        if map.is_empty() {
            return Err(
                "the option scenarios is empty; add a scenario, or remove the option".into()
            );
        }
        return map.iter().map(|(name, keys)| scenario(name, keys)).collect();
    }
    // The short forms: a key of the scenario, and the option with its value.
    let (executor, keys): (_, &[(&str, &str)]) = if options.0.contains_key("stages") {
        ("ramping-vus", &[("stages", "stages"), ("startVUs", "vus")])
    } else if options.0.contains_key("iterations") {
        let keys = &[("iterations", "iterations"), ("vus", "vus"), ("maxDuration", "duration")];
        ("shared-iterations", keys)
    } else if options.0.contains_key("duration") {
        ("constant-vus", &[("duration", "duration"), ("vus", "vus")])
    } else {
        ("shared-iterations", &[("iterations", "vus"), ("vus", "vus")])
    };
    let values = keys
        .iter()
        .filter_map(|(key, option)| Some(((*key).into(), options.0.get(*option)?.clone())));
    let mut map: Map<String, Value> = values.collect();
    map.insert("executor".into(), executor.into());
    Ok(vec![scenario("default", &Value::Object(map))?])
}

/// The keys of a scenario, read one after the other.
struct Keys<'a> {
    map: &'a Map<String, Value>,
    place: String,
}

impl Keys<'_> {
    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        number(self.map, name, &self.place)
    }

    fn time(&self, name: &str) -> Result<Option<Duration>, String> {
        time(self.map, name, &self.place)
    }

    fn needed<T>(&self, name: &str, value: Option<T>, example: &str) -> Result<T, String> {
        value.ok_or_else(|| format!("{}: {name} is missing; write {name}: {example}", self.place))
    }

    /// A number of users: at least 1.
    fn users(&self, name: &str) -> Result<u64, String> {
        match self.number(name)?.unwrap_or(1) {
            0 => Err(format!("{}: {name} is 0; write 1 or more", self.place)),
            users => Ok(users),
        }
    }

    /// Stages of a ramp, from a value on.
    fn stages(&self, from: f64, per: f64) -> Result<Vec<LoadStage>, String> {
        let wrong = format!(
            "{}: stages is no list of stages; write stages: [{{duration: '30s', target: 10}}]",
            self.place
        );
        let list = self.map.get("stages").and_then(Value::as_array);
        let list = list.filter(|list| !list.is_empty()).ok_or(&wrong)?;
        let mut from = from;
        let mut stages = Vec::new();
        for stage in list {
            let map = stage.as_object().ok_or(&wrong)?;
            let to = number(map, "target", &self.place)?.ok_or(&wrong)? as f64 / per;
            let time = time(map, "duration", &self.place)?.ok_or(&wrong)?;
            stages.push(LoadStage { from, to, duration: Some(time) });
            from = to;
        }
        Ok(stages)
    }
}

/// Keys of each executor, besides those of all.
const EXECUTORS: &[(&str, &[&str])] = &[
    ("shared-iterations", &["vus", "iterations", "maxDuration"]),
    ("per-vu-iterations", &["vus", "iterations", "maxDuration"]),
    ("constant-vus", &["vus", "duration"]),
    ("ramping-vus", &["startVUs", "stages", "gracefulRampDown"]),
    ("constant-arrival-rate", &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"]),
    ("ramping-arrival-rate", &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"]),
];

/// Keys of all executors.
const COMMON: [&str; 7] =
    ["executor", "startTime", "gracefulStop", "exec", "env", "tags", "options"];

fn scenario(name: &str, keys: &Value) -> Result<K6Scenario, String> {
    let place = format!("the scenario {name}");
    let Value::Object(map) = keys else {
        return Err(format!(
            "{place} is no object; write {name}: {{executor: 'constant-vus', vus: 10, duration: '30s'}}"
        ));
    };
    let keys = Keys { map, place };
    let executor = map.get("executor").and_then(Value::as_str);
    let executor = keys.needed("executor", executor, "'constant-vus'")?;
    let Some((_, own)) = EXECUTORS.iter().find(|(own, _)| *own == executor) else {
        let all: Vec<_> = EXECUTORS.iter().map(|(own, _)| *own).collect();
        return Err(format!(
            "{}: the executor `{executor}` is unknown; write one of {}",
            keys.place,
            all.join(", ")
        ));
    };
    if let Some(other) =
        map.keys().find(|key| !COMMON.contains(&key.as_str()) && !own.contains(&key.as_str()))
    {
        return Err(format!(
            "{}: {executor} has no key {other}; it has {}",
            keys.place,
            own.join(", ")
        ));
    }
    let start = keys.time("startTime")?.unwrap_or_default();
    let grace = keys.time("gracefulStop")?.unwrap_or(GRACE);
    let own_load = load(&keys, executor)?;
    // A population begins with the run, so a later start is a stage without load.
    let waiting = LoadStage { from: 0.0, to: 0.0, duration: Some(start) };
    let shape = LoadShape {
        stages: Some(waiting)
            .filter(|_| !start.is_zero())
            .into_iter()
            .chain(own_load.stages)
            .collect(),
    };
    let load = match own_load.most_users {
        None => Load::Closed { users: shape, think: ThinkTime::NONE },
        Some(most) => Load::Open {
            rate: shape,
            arrivals: Arrivals::Even,
            connections: Some(most),
            // An arrival without a free user is dropped, as in k6.
            max_in_flight: most,
        },
    };
    let function = map.get("exec").and_then(Value::as_str).unwrap_or("default").to_owned();
    Ok(K6Scenario {
        name: name.to_owned(),
        executor: executor.to_owned(),
        function,
        start,
        length: own_load.length,
        env: pairs(map, "env"),
        tags: pairs(map, "tags"),
        load,
        stop: Stop {
            requests: own_load.iterations,
            iterations_per_user: own_load.iterations_per_user,
            ..Stop::after(start + own_load.longest, grace)
        },
        about: own_load.about,
    })
}

/// The load that an executor makes.
#[derive(Default)]
struct ExecutorLoad {
    /// Users, or iterations per second.
    stages: Vec<LoadStage>,
    /// Maximum number of users of an open loop; None: the loop is closed.
    most_users: Option<u32>,
    iterations: Option<u64>,
    iterations_per_user: Option<u64>,
    longest: Duration,
    length: Option<Duration>,
    about: String,
}

fn load(keys: &Keys<'_>, executor: &str) -> Result<ExecutorLoad, String> {
    match executor {
        "shared-iterations" | "per-vu-iterations" => {
            let users = keys.users("vus")?;
            let iterations = keys.users("iterations")?;
            let longest = keys.time("maxDuration")?.unwrap_or(LONGEST);
            let is_shared = executor == "shared-iterations";
            // k6 refuses it, because some users would have nothing to do.
            if is_shared && iterations < users {
                return Err(format!(
                    "{}: {iterations} iterations are fewer than {users} users; write iterations: {users} or fewer vus",
                    keys.place
                ));
            }
            Ok(ExecutorLoad {
                stages: constant(users as f64, None),
                iterations: is_shared.then_some(iterations),
                iterations_per_user: (!is_shared).then_some(iterations),
                longest,
                about: format!(
                    "{users} VUs  {iterations} {}iters",
                    if is_shared { "shared " } else { "" }
                ),
                ..ExecutorLoad::default()
            })
        }
        "constant-vus" => {
            let users = keys.users("vus")?;
            let time = keys.needed("duration", keys.time("duration")?, "'30s'")?;
            Ok(ExecutorLoad {
                stages: constant(users as f64, None),
                longest: time,
                length: Some(time),
                about: format!("{users} VUs  {}s", time.as_secs_f64()),
                ..ExecutorLoad::default()
            })
        }
        "ramping-vus" => {
            let stages = keys.stages(keys.number("startVUs")?.unwrap_or(1) as f64, 1.0)?;
            Ok(ramp(stages, None, "VUs"))
        }
        _ => {
            let unit = keys.time("timeUnit")?.unwrap_or(Duration::from_secs(1)).as_secs_f64();
            if unit == 0.0 {
                return Err(format!("{}: timeUnit is 0; write timeUnit: '1s'", keys.place));
            }
            let users = keys.needed("preAllocatedVUs", keys.number("preAllocatedVUs")?, "10")?;
            // k6 allocates further users only up to `maxVUs`, whose default is `preAllocatedVUs`.
            let most = keys.number("maxVUs")?.unwrap_or(users).max(users);
            let most = Some(u32::try_from(most).unwrap_or(u32::MAX).max(1));
            if executor == "ramping-arrival-rate" {
                let from = keys.number("startRate")?.unwrap_or(0) as f64 / unit;
                return Ok(ramp(keys.stages(from, unit)?, most, "iterations/s"));
            }
            let rate = keys.needed("rate", keys.number("rate")?, "50")? as f64 / unit;
            let time = keys.needed("duration", keys.time("duration")?, "'30s'")?;
            Ok(ExecutorLoad {
                stages: constant(rate, Some(time)),
                most_users: most,
                longest: time,
                length: Some(time),
                about: format!("{rate:.2} iterations/s  {}s", time.as_secs_f64()),
                ..ExecutorLoad::default()
            })
        }
    }
}

fn constant(value: f64, duration: Option<Duration>) -> Vec<LoadStage> {
    vec![LoadStage { from: value, to: value, duration }]
}

fn ramp(stages: Vec<LoadStage>, most_users: Option<u32>, unit: &str) -> ExecutorLoad {
    let time: Duration = stages.iter().filter_map(|stage| stage.duration).sum();
    let peak = stages.iter().flat_map(|stage| [stage.from, stage.to]).fold(0.0, f64::max);
    ExecutorLoad {
        about: format!("up to {peak} {unit}  {}s", time.as_secs_f64()),
        stages,
        most_users,
        longest: time,
        length: Some(time),
        ..ExecutorLoad::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<K6Scenario>, String> {
        scenarios(&Options::parse(json, "the test").unwrap())
    }

    #[test]
    fn short_forms_are_executors() {
        for (json, executor, peak, seconds, requests) in [
            ("{}", "shared-iterations", 1.0, 600, Some(1)),
            (r#"{"vus": 3}"#, "shared-iterations", 3.0, 600, Some(3)),
            (r#"{"vus": "2", "iterations": 8}"#, "shared-iterations", 2.0, 600, Some(8)),
            (r#"{"iterations": 8, "duration": "5s"}"#, "shared-iterations", 1.0, 5, Some(8)),
            (r#"{"vus": 4, "duration": "1m"}"#, "constant-vus", 4.0, 60, None),
            (
                r#"{"vus": 4, "stages": [{"duration": "10s", "target": 9}, {"duration": "5s", "target": 0}]}"#,
                "ramping-vus",
                9.0,
                15,
                None,
            ),
        ] {
            let [scenario] = &read(json).unwrap()[..] else { panic!("{json}") };
            assert_eq!(scenario.executor, executor, "{json}");
            assert_eq!(scenario.load.peak(), peak, "{json}");
            assert_eq!(scenario.stop.duration, Some(Duration::from_secs(seconds)), "{json}");
            assert_eq!(scenario.stop.requests, requests, "{json}");
        }
    }

    #[test]
    fn arrival_rates_are_open_loops_that_may_start_later() {
        let json = r#"{"scenarios": {"a": {"executor": "ramping-arrival-rate", "startRate": 60, "timeUnit": "1m",
            "stages": [{"duration": "10s", "target": 600}], "preAllocatedVUs": 2, "maxVUs": 7, "startTime": "3s", "gracefulStop": "1s"}}}"#;
        let [scenario] = &read(json).unwrap()[..] else { panic!("{json}") };
        let Load::Open { rate, max_in_flight, .. } = &scenario.load else { panic!("{scenario:?}") };
        assert_eq!(*max_in_flight, 7);
        assert_eq!(rate.to_string(), "0/3s,1..10/10s");
        assert_eq!(scenario.stop, Stop::after(Duration::from_secs(13), Duration::from_secs(1)));
    }

    #[test]
    fn wrong_scenarios_are_refused_with_what_to_write() {
        for (json, text) in [
            (r#"{"scenarios": {}}"#, "add a scenario"),
            (r#"{"scenarios": {"a": {}}}"#, "write executor: 'constant-vus'"),
            (
                r#"{"scenarios": {"a": {"executor": "externally-controlled"}}}"#,
                "write one of shared-iterations",
            ),
            (r#"{"scenarios": {"a": {"executor": "constant-vus"}}}"#, "write duration: '30s'"),
            (
                r#"{"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 5, "duration": "1s"}}}"#,
                "write preAllocatedVUs: 10",
            ),
            (
                r#"{"scenarios": {"a": {"executor": "ramping-vus", "stages": []}}}"#,
                "write stages: [",
            ),
            (r#"{"vus": 5, "iterations": 2}"#, "fewer than 5 users"),
            (r#"{"vus": 0, "duration": "1s"}"#, "write 1 or more"),
            (r#"{"vus": 1.5, "duration": "1s"}"#, "whole number"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(text), "{json}: {error}");
        }
    }
}
