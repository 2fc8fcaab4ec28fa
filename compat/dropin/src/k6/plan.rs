//! The plans of a script: of setup, of the load, and of teardown.

use super::settings::K6Settings;
use super::{K6Error, K6Test};
use crate::caller::Caller;
use crate::run_setup::processes;
use brunt_k6::scenarios::K6Scenario;
use brunt_k6::{Archive, Program, ScenarioFacts};
use brunt_model::load::{Load, LoadShape, Stop, ThinkTime};
use brunt_model::plan::{ConnectionSettings, RecordSettings, TlsSettings};
use brunt_model::reply_policy::{RedirectRules, Redirects, ReplyAction};
use brunt_model::{Plan, Population, ReplyPolicy, Scenario};
use std::fmt::Write;
use std::time::Duration;

/// Time limit for opening a connection; a request has its own limit.
const CONNECT: Duration = Duration::from_mins(1);
/// Maximum number of labels.
const LABELS: u32 = 1000;
/// Interval of figures.
const INTERVAL: Duration = Duration::from_secs(1);
/// Default of the maximum time of setup and teardown.
const STAGE: Duration = Duration::from_mins(1);

/// Makes the plans of a script.
pub struct Plans<'a> {
    test: &'a K6Test,
    archive: Archive,
    base: Plan,
    selectors: Vec<String>,
    least_iteration: u64,
    facts: ScenarioFacts,
}

impl<'a> Plans<'a> {
    /// Reads the options that all plans share.
    ///
    /// # Errors
    ///
    /// An option cannot be read.
    pub fn new(settings: &K6Settings, test: &'a K6Test, caller: &Caller) -> Result<Self, K6Error> {
        let options = &test.options;
        let system = (caller.system)();
        // Each user needs a connection.
        let users: f64 = test.scenarios.iter().map(users).sum();
        let connection = ConnectionSettings {
            requests_per_connection: options.is_true("noConnectionReuse").then_some(1),
            // A user may pause for longer than the server keeps its connection open.
            retry_stale: true,
            dialling: brunt_model::plan::Dialling::Eager,
            tls: TlsSettings {
                insecure: options.is_true("insecureSkipTLSVerify"),
                ..TlsSettings::default()
            },
            ..ConnectionSettings::plain(CONNECT, CONNECT)
        };
        let brunt_options = &settings.brunt_options;
        let base = Plan {
            populations: Vec::new(),
            reply_policies: vec![ReplyPolicy {
                redirects: Redirects { most: u32::MAX, rules: RedirectRules::Rfc9110 },
                // All parts of replies are kept: the script may read any.
                actions: vec![ReplyAction::Keep],
                ..ReplyPolicy::default()
            }],
            connection,
            objectives: Vec::new(),
            until: None,
            record: RecordSettings {
                interval: INTERVAL,
                labels: LABELS,
                samples: false,
                records: None,
            },
            seed: system.seed,
            threads: brunt_options.threads.unwrap_or_else(|| system.half_of_cores()),
            processes: processes(
                users as u64,
                brunt_options.processes,
                brunt_options.fleet.as_ref(),
            )?,
            allowed_targets: brunt_options.allowed_targets.clone(),
            fleet: brunt_options.fleet.clone(),
            precise: false,
            stages: Vec::new(),
        };
        let number = |name: &str, default: u64| {
            options.number(name).map(|own| own.unwrap_or(default)).map_err(K6Error::config)
        };
        let agent = format!("brunt/{} (k6 script)", env!("CARGO_PKG_VERSION"));
        let facts = ScenarioFacts {
            options: serde_json::Value::Object(options.0.clone()).to_string(),
            tags: options.pairs("tags"),
            user_agent: options.text("userAgent").map_or(agent, str::to_owned),
            redirects: u32::try_from(number("maxRedirects", 10)?).unwrap_or(u32::MAX),
            batch: usize::try_from(number("batch", 20)?.max(1)).unwrap_or(usize::MAX),
            drops_bodies: options.is_true("discardResponseBodies"),
            keeps_cookies: options.is_true("noCookiesReset"),
            throws: options.is_true("throw"),
            ..ScenarioFacts::default()
        };
        let least = options.time("minIterationDuration").map_err(K6Error::config)?;
        let mut selectors: Vec<String> = test
            .thresholds
            .iter()
            .map(|one| one.selector.to_string())
            .filter(|text| text.contains('{'))
            .collect();
        let expected = brunt_k6::summary::EXPECTED.to_owned();
        // The summary always shows it.
        if !selectors.contains(&expected) {
            selectors.push(expected);
        }
        Ok(Self {
            test,
            archive: test.script.archive(),
            base,
            selectors,
            least_iteration: least.unwrap_or_default().as_millis() as u64,
            facts,
        })
    }

    /// The plan of `setup` or `teardown`: one iteration of one user.
    ///
    /// # Errors
    ///
    /// The option with its maximum time is no duration.
    pub fn stage(&self, function: &str, data: &str) -> Result<Plan, String> {
        let longest = self.test.options.time(&format!("{function}Timeout"))?.unwrap_or(STAGE);
        let facts = ScenarioFacts { group: format!("::{function}"), ..self.facts.clone() };
        let program = Program {
            archive: self.archive.clone(),
            function: function.to_owned(),
            data: data.to_owned(),
            env: self.test.env.clone(),
            selectors: self.selectors.clone(),
            least_iteration: 0,
            scenario: facts,
        };
        let load = Load::Closed { users: LoadShape::constant(1.0), think: ThinkTime::NONE };
        let stop = Stop { iterations_per_user: Some(1), ..Stop::after(longest, Duration::ZERO) };
        let population = population(function, load, stop, &program);
        let populations = vec![population];
        Ok(Plan { populations, threads: 1, processes: 1, fleet: None, ..self.base.clone() })
    }

    /// The plan of the load. `data` is what `setup` has returned, as JSON.
    pub fn load(&self, data: &str) -> Plan {
        let populations = self.test.scenarios.iter().map(|scenario| {
            let tags = self.facts.tags.iter().chain(&scenario.tags).cloned();
            let facts = ScenarioFacts {
                name: scenario.name.clone(),
                executor: scenario.executor.clone(),
                start: scenario.start,
                length: scenario.length,
                tags: tags.collect(),
                ..self.facts.clone()
            };
            let mut env = self.test.env.clone();
            // Variables of a scenario replace those of the test.
            env.retain(|(name, _)| !scenario.env.iter().any(|(own, _)| own == name));
            env.extend(scenario.env.iter().cloned());
            let program = Program {
                archive: self.archive.clone(),
                function: scenario.function.clone(),
                data: data.to_owned(),
                env,
                selectors: self.selectors.clone(),
                least_iteration: self.least_iteration,
                scenario: facts,
            };
            population(&scenario.name, scenario.load.clone(), scenario.stop, &program)
        });
        Plan { populations: populations.collect(), ..self.base.clone() }
    }
}

fn population(name: &str, load: Load, stop: Stop, program: &Program) -> Population {
    let scenario = Scenario { program: Some(program.to_user_program()), ..Scenario::default() };
    Population { name: name.to_owned(), load, scenario, stop, connection: None, group: None }
}

/// Maximum number of users of a scenario.
pub fn users(scenario: &K6Scenario) -> f64 {
    match &scenario.load {
        Load::Closed { users, .. } => users.peak(),
        Load::Open { max_in_flight, .. } => f64::from(*max_in_flight),
    }
}

/// What is shown before the run.
pub fn greeting(settings: &K6Settings, test: &K6Test) -> String {
    let count = test.scenarios.len();
    let most: f64 = test.scenarios.iter().map(users).sum();
    let longest =
        test.scenarios.iter().filter_map(|one| Some(one.stop.duration? + one.stop.grace)).max();
    let longest = longest.unwrap_or_default().as_secs_f64();
    let mut text = format!(
        "\n     execution: local\n        script: {}\n\n     scenarios: {count} scenario{}, {most} max VUs, {longest}s max duration (incl. graceful stop):\n",
        settings.script,
        if count == 1 { "" } else { "s" }
    );
    for scenario in &test.scenarios {
        let grace = scenario.stop.grace.as_secs_f64();
        let _ = writeln!(
            text,
            "              * {}: {} (gracefulStop: {grace}s)",
            scenario.name, scenario.about
        );
    }
    text.push('\n');
    text
}
