//! Builds a study for tests: two servers, their loads and repetitions, all computed from formulas.
//!
//! Each server is a single queue with exponential service times at its capacity. Beyond the
//! capacity, its backlog grows with time.

use super::{Failure, MS, RunBuilder};
use crate::single::point;
use brunt_model::analysis::{
    Band, BandedFigure, Bottleneck, ContenderAnalysis, Culprit, CurvePoint, LimitKind, LoadLimit,
    Outlier, Reason,
};
use brunt_model::experiment::{
    ContenderHooks, HookCommands, LoadStep, ManagedServer, ReadyCondition, Restart, TrialOrder,
};
use brunt_model::finding::{Finding, Severity, ThresholdSide};
use brunt_model::objective::{Metric, Relation};
use brunt_model::probe_spec::{ProbeAccess, Select};
use brunt_model::{
    Analysis, Contender, Environment, Experiment, Judgement, Objective, ProbeSpec, Probed, Reading,
    Study, Tick, Trial, TrialIndex,
};
use std::time::Duration;

/// A server: its name, its capacity in requests per second, and its service time in microseconds.
struct Server(&'static str, f64, f64);

const SERVERS: [Server; 2] = [Server("nginx", 360.0, 8000.0), Server("apache", 300.0, 9500.0)];

/// Returns a study with these loads and repetitions, and its analysis.
pub fn sweep_of(loads: &[f64], repetitions: u32) -> (Study, Analysis) {
    let experiment = experiment(loads, repetitions);
    let mut trials = Vec::new();
    for repetition in 0..repetitions {
        for contender in 0..SERVERS.len() {
            for (step, load) in loads.iter().enumerate() {
                trials.push(trial(TrialIndex { repetition, contender, step }, *load));
            }
        }
    }
    let study = Study {
        id: Some("k7mq".into()),
        experiment,
        environment: Environment {
            command: "brunt run e1.yaml".into(),
            brunt: "0.1.0".into(),
            cores: 2,
            ..Environment::default()
        },
        unix_seconds: 1_782_907_200.25,
        trials,
        warnings: vec!["apache, repetition 2: nothing was read of process:apache for 3 s".into()],
        interrupted: false,
        resumptions: Vec::new(),
    };
    let analysis = analysis(&study, loads);
    (study, analysis)
}

fn experiment(loads: &[f64], repetitions: u32) -> Experiment {
    Experiment {
        name: "e1-php".into(),
        about: "nginx and Apache in front of php-fpm with 20 children".into(),
        contenders: SERVERS.iter().map(|server| contender(server, loads)).collect(),
        repetitions,
        order: TrialOrder::Interleaved,
        cooldown: Duration::from_secs(5),
        hooks: HookCommands::default(),
        seed: 7,
        directory: "/tmp/e1".into(),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: "name: e1-php\n".into(),
    }
}

fn contender(Server(name, ..): &Server, loads: &[f64]) -> Contender {
    Contender {
        name: (*name).into(),
        factors: vec![("server".into(), (*name).into())],
        steps: loads.iter().map(|load| LoadStep::new(*load, story(*load).plan)).collect(),
        server: Some(ManagedServer {
            start: format!("exec sh e1/{name}.sh"),
            ready: ReadyCondition::Url("http://127.0.0.1:8080/ready".into()),
            stop: None,
            restart: Restart::Repetition,
            environment: Vec::new(),
            ready_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(10),
        }),
        hooks: ContenderHooks::default(),
        probes: vec![ProbeSpec {
            name: (*name).into(),
            what: Probed::Processes { select: Select::Server, via: ProbeAccess::Local },
            interval: Duration::from_secs(1),
        }],
    }
}

fn story(load: f64) -> RunBuilder {
    let mut story = RunBuilder::open(load, None);
    story.plan.objectives = vec![
        Objective {
            metric: Metric::Quantile(0.99),
            step: None,
            relation: Relation::Below,
            bound: 1.0,
        },
        Objective { metric: Metric::Errors, step: None, relation: Relation::Below, bound: 0.01 },
    ];
    story
}

fn trial(place: TrialIndex, load: f64) -> Trial {
    let Server(name, capacity, service) = &SERVERS[place.contender];
    let capacity = capacity * (1.0 - 0.02 * f64::from(place.repetition));
    let busy = (load / capacity).min(0.97);
    let mut story = story(load);
    for i in 0..(load * 10.0) as u64 {
        let at_ms = (i as f64 / load * 1000.0) as u64;
        // The fractional parts of multiples of the golden ratio are spread evenly.
        let u = (i as f64 * 0.618_034 + f64::from(place.repetition) * 0.1).fract();
        let waited = (at_ms as f64 * 1000.0) * (load / capacity - 1.0).max(0.0);
        let micros = (service * (0.6 - (1.0 - u).ln() * 0.4) / (1.0 - busy) + waited) as u64;
        match at_ms * 1000 + micros {
            end if end > 11_000_000 => {
                story.failure(at_ms, 11_000_000 - at_ms * 1000, Failure::Cut)
            }
            _ if i % 97 == 5 && busy > 0.96 => story.reply(at_ms, micros, 503),
            _ => story.reply(at_ms, micros, 200),
        };
    }
    (0..=10).for_each(|second| story.probed.extend(readings(name, second, load, busy)));
    let mut run = story.run();
    // A story counts a request as planned only in the second in which it ended.
    run.flow.planned = story.samples.len() as u64;
    run.unix_seconds += f64::from(place.repetition) * 600.0
        + place.contender as f64 * 300.0
        + place.step as f64 * 15.0;
    let id = Some(format!("r{}{}{:02}", place.repetition + 1, place.contender + 1, place.step + 1));
    Trial { place, id, run, judgement: Judgement::default() }
}

fn reading(second: u64, source: String, values: &[(&str, f64)]) -> Reading {
    Reading {
        at: Tick(second * 1000 * MS),
        source,
        values: values.iter().map(|(name, value)| ((*name).into(), *value)).collect(),
    }
}

fn readings(name: &str, second: u64, load: f64, busy: f64) -> Vec<Reading> {
    let t = second as f64;
    let wave = 1.0 + 0.1 * (t * 1.7).sin();
    vec![
        reading(
            second,
            format!("process:{name}"),
            &[
                ("cpu_user_seconds", t * busy * 1.2),
                ("cpu_system_seconds", t * busy * 0.4),
                ("memory.proportional_bytes", 60e6 + 90e6 * busy * wave),
            ],
        ),
        reading(
            second,
            "host:here".into(),
            &[
                ("host.load1", busy * busy * 6.0 * wave),
                ("nic.eth0.received_bytes_total", t * load * 400.0),
                ("nic.eth0.sent_bytes_total", t * load * 12e3),
                ("memory.total_bytes", 8e9),
                ("memory.available_bytes", 7e9 - 1e9 * busy),
            ],
        ),
        reading(
            second,
            "php-fpm:www".into(),
            &[
                ("workers.busy", (20.0 * busy * wave).min(20.0).round()),
                ("workers.limit", 20.0),
                ("queue.length", if busy > 0.96 { (t * 4.0).round() } else { 0.0 }),
            ],
        ),
        reading(
            second,
            "prometheus:app".into(),
            &[("jvm_threads", 30.0 + busy * 40.0), ("gc_total", t * busy * 3.0)],
        ),
        reading(
            second,
            "generator".into(),
            &[("cpu_user_seconds", t * load * 20e-6), ("cpu_system_seconds", t * load * 60e-6)],
        ),
    ]
}

fn analysis(study: &Study, loads: &[f64]) -> Analysis {
    let contenders = SERVERS
        .iter()
        .enumerate()
        .map(|(i, server)| contender_analysis(study, loads, i, server))
        .collect();
    let findings = vec![finding(
        Severity::Warning,
        "3 repetitions: no 95 % interval over repetitions can be given, ranges are shown as ranges",
        Some("--repeat 6"),
    )];
    let conclusions =
        vec![finding(Severity::Note, "nginx saturates at 360/s, apache at 300/s.", None)];
    Analysis { contenders, conclusions, findings, ..Analysis::default() }
}

fn finding(weight: Severity, sentence: &str, remedy: Option<&str>) -> Finding {
    Finding {
        rule: "example".into(),
        severity: weight,
        sentence: sentence.into(),
        remedy: remedy.map(Into::into),
    }
}

fn range_around(value: f64, spread: f64) -> BandedFigure {
    BandedFigure {
        value,
        low: value * (1.0 - spread),
        high: value * (1.0 + spread),
        band: Band::Range,
    }
}

fn limit(
    kind: LimitKind,
    name: &str,
    at: Option<BandedFigure>,
    how: &str,
    robust: Option<bool>,
) -> LoadLimit {
    LoadLimit {
        kind,
        name: name.into(),
        at,
        unit: "/s".into(),
        how: how.into(),
        robust,
        held: None,
    }
}

fn contender_analysis(
    study: &Study,
    loads: &[f64],
    contender: usize,
    Server(name, capacity, _): &Server,
) -> ContenderAnalysis {
    let curve = loads.iter().map(|load| {
        let trials = study
            .trials_of(contender)
            .filter(|t| study.experiment.step(t.place).is_some_and(|s| s.load == *load));
        let points: Vec<CurvePoint> = trials.map(|trial| point(&trial.run)).collect();
        median_point(*load, &points)
    });
    ContenderAnalysis {
        contender: (*name).into(),
        curve: curve.collect(),
        limits: vec![
            limit(
                LimitKind::Knee,
                "knee",
                Some(range_around(capacity * 0.8, 0.05)),
                "Kneedle on the smoothed mean, 40 to 480/s",
                Some(true),
            ),
            limit(
                LimitKind::Saturation,
                "saturation point",
                Some(range_around(*capacity, 0.02)),
                "throughput is level from 360/s on",
                None,
            ),
            limit(
                LimitKind::Kept,
                "99 % achieved",
                Some(range_around((capacity / 40.0).floor() * 40.0, 0.0)),
                "the last such load",
                None,
            ),
            limit(
                LimitKind::Objective,
                "p99 < 1s",
                Some(range_around((capacity / 40.0).floor() * 40.0 - 40.0, 0.0)),
                "at all steps up to it",
                None,
            ),
            limit(
                LimitKind::Patience,
                "p99 < 10 s",
                None,
                "it holds at every load that was measured",
                None,
            ),
        ],
        scalability: None,
        outliers: if contender == 0 {
            vec![Outlier {
                load: 200.0,
                repetition: Some(1),
                sentence: "mean response time 31 ms, 4.1 times that of the other repetitions; look at its readings"
                    .into(),
            }]
        } else {
            Vec::new()
        },
        bottleneck: Some(Bottleneck {
            culprit: Culprit::Workers,
            sentence: format!("{name}: all 20 php-fpm children busy, 35 requests queued").into(),
            evidence: vec![Reason {
                culprit: Culprit::Workers,
                source: "php-fpm:www".into(),
                name: "workers.busy, share of the limit".into(),
                value: 1.0,
                threshold: 0.98,
                side: ThresholdSide::AtLeast,
            }],
            others: vec!["CPU of the machine at 92 %".into()],
        }),
    }
}

/// Returns the median of the figures of some trials, with their range.
fn median_of(
    points: &[CurvePoint],
    select: fn(&CurvePoint) -> Option<BandedFigure>,
) -> Option<BandedFigure> {
    let mut values: Vec<f64> =
        points.iter().filter_map(select).map(|figure| figure.value).collect();
    values.sort_by(f64::total_cmp);
    let band = if values.len() > 1 { Band::Range } else { Band::One };
    Some(BandedFigure {
        value: values[values.len() / 2],
        low: *values.first()?,
        high: *values.last()?,
        band,
    })
}

fn median_point(load: f64, points: &[CurvePoint]) -> CurvePoint {
    CurvePoint {
        load,
        trials: points.len() as u32,
        offered: median_of(points, |p| p.offered),
        achieved: median_of(points, |p| Some(p.achieved)).unwrap_or_default(),
        mean: median_of(points, |p| p.mean),
        p50: median_of(points, |p| p.p50),
        p95: median_of(points, |p| p.p95),
        p99: median_of(points, |p| p.p99),
        errors: median_of(points, |p| p.errors),
        others: Vec::new(),
    }
}
