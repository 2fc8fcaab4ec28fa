//! The experiment that was not carried out.

use brunt_model::experiment::{
    ContenderHooks, HookCommands, LoadStep, ManagedServer, ReadyCondition, Restart, TrialOrder,
};
use brunt_model::objective::{Metric, Relation};
use brunt_model::plan::{ConnectionSettings, Population, RecordSettings};
use brunt_model::{
    Arrivals, Contender, Experiment, Load, LoadShape, Objective, Plan, Request, Stop,
};
use brunt_model::{ReplyPolicy, Scenario};
use std::path::PathBuf;
use std::time::Duration;

/// The names of the contenders; one of them is no HTML.
pub const NAMES: [&str; 2] = ["nginx", "apache <script>x</script>"];

const SOURCE: &str = "name: e1-php\nabout: nginx and Apache in front of php-fpm with 20 children\nscript:\n  request: \
                      http://127.0.0.1:8080/sleep.php\nload:\n  rate: 20..600+20\n  duration: 20s\nrepetitions: \
                      3\nobjectives: [\"p99 < 1s\"]\ncontenders:\n  nginx: {}\n  apache: {}\n# </script><!-- is text\n";

pub fn experiment() -> Experiment {
    Experiment {
        name: "e1-php".into(),
        about: "nginx and Apache in front of php-fpm with 20 children".into(),
        contenders: NAMES.map(contender).into(),
        repetitions: 3,
        order: TrialOrder::Interleaved,
        cooldown: Duration::from_secs(5),
        hooks: HookCommands::default(),
        seed: 7,
        directory: PathBuf::from("/srv/e1"),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: SOURCE.into(),
    }
}

fn contender(name: &str) -> Contender {
    Contender {
        name: name.into(),
        factors: vec![("server".into(), name.into())],
        steps: (1..=30)
            .map(|i| f64::from(i) * 20.0)
            .map(|load| LoadStep::new(load, plan(load)))
            .collect(),
        server: Some(ManagedServer {
            start: format!("exec sh e1/{}.sh", name.split(' ').next().unwrap_or(name)),
            ready: ReadyCondition::Url("http://127.0.0.1:8080/ready".into()),
            stop: None,
            restart: Restart::Repetition,
            environment: Vec::new(),
            ready_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(10),
        }),
        hooks: ContenderHooks::default(),
        probes: Vec::new(),
    }
}

fn plan(rate: f64) -> Plan {
    Plan {
        populations: Population::only(
            Load::Open {
                rate: LoadShape::constant(rate),
                arrivals: Arrivals::Poisson,
                connections: None,
                max_in_flight: 5000,
            },
            Scenario::one(Request {
                label: "/sleep.php".into(),
                ..Request::get("http://127.0.0.1:8080/sleep.php")
            }),
            stop(),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: connection(),
        objectives: vec![Objective {
            metric: Metric::Quantile(0.99),
            step: None,
            relation: Relation::Below,
            bound: 1.0,
        }],
        until: None,
        record: RecordSettings {
            interval: Duration::from_millis(250),
            labels: 100,
            samples: false,
            records: None,
        },
        seed: 7,
        threads: 1,
        processes: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn stop() -> Stop {
    Stop {
        warmup: Duration::from_secs(2),
        warmup_until_steady: false,
        duration: Some(Duration::from_secs(20)),
        requests: None,
        iterations_per_user: None,
        grace: Duration::from_secs(5),
    }
}

fn connection() -> ConnectionSettings {
    ConnectionSettings {
        retry_stale: true,
        connect_rate: 5000,
        ..ConnectionSettings::plain(Duration::from_secs(10), Duration::from_secs(10))
    }
}
