//! Implements `k6 run`: command line, options, scenarios, thresholds and summary.
//!
//! * [`settings`]: options of the command line and of the environment. [`plan`]: the plans of a script.
//! * [`collector`]: console lines, figures, and thresholds during the run.
//!
//! The crate `k6` evaluates the script. docs/drop-in-k6.md lists the intended differences.

mod collector;
mod plan;
mod settings;

use crate::caller::Caller;
use crate::error::{ToolError, ToolResult};
use crate::run_setup::RunSetup;
use brunt_k6::K6Script;
use brunt_k6::kinds::{Declaration, MetricKind, Unit};
use brunt_k6::options::Options;
use brunt_k6::scenarios::{K6Scenario, scenarios};
use brunt_k6::summary::SummaryInput;
use brunt_k6::thresholds::MetricThresholds;
use brunt_model::Plan;
use brunt_runner::Interrupt;
use brunt_script::user::RETURNED;
use collector::K6Collector;
use settings::{K6Mode, K6Settings};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Exit codes of k6.
mod exit {
    /// A threshold is crossed.
    pub const THRESHOLDS: u8 = 99;
    /// `setup` did not end within its time.
    pub const SETUP_TIMEOUT: u8 = 100;
    /// An option cannot be used.
    pub const CONFIG: u8 = 104;
    /// Ctrl-C.
    pub const INTERRUPTED: u8 = 105;
    /// The script throws in its init code, in setup or in teardown.
    pub const SCRIPT: u8 = 107;
    /// The script has called `test.abort()`.
    pub const ABORTED: u8 = 108;
    /// The script has called `test.fail()`.
    pub const FAILED: u8 = 110;
}

/// Exit code for errors that k6 has no code for.
const FAILED: u8 = 255;

/// Runs a k6 command line and returns the exit code. `program_name` is as typed by the user.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    let settings = match settings::parse(words, caller) {
        Ok(settings) => settings,
        Err(why) => {
            caller.err_line(&format!("{program_name}: {why}"));
            return FAILED;
        }
    };
    match settings.mode {
        K6Mode::Help => {
            caller.out(&include_str!("k6/usage.txt").replace("k6", program_name));
            return 0;
        }
        K6Mode::Version => {
            let version = env!("CARGO_PKG_VERSION");
            caller.out(&format!(
                "{program_name}: brunt {version}, with the command line of k6 2.2\n"
            ));
            return 0;
        }
        K6Mode::Run | K6Mode::Inspect => {}
    }
    let result = read(&settings, caller).and_then(|test| {
        if settings.mode == K6Mode::Inspect {
            caller.out(&format!("{:#}\n", serde_json::Value::Object(test.options.0.clone())));
            return Ok(0);
        }
        measure(&settings, &test, caller)
    });
    result.unwrap_or_else(|K6Error { why, code }| {
        caller.err_redacted(&format!("{program_name}: {why}"));
        code
    })
}

/// Why a test did not run, with its exit code.
struct K6Error {
    why: String,
    code: u8,
}

impl K6Error {
    fn script(why: String) -> Self {
        Self { why, code: exit::SCRIPT }
    }

    fn config(why: String) -> Self {
        Self { why, code: exit::CONFIG }
    }
}

impl From<ToolError> for K6Error {
    fn from(error: ToolError) -> Self {
        Self { why: error.to_string(), code: FAILED }
    }
}

/// A script with its options.
struct K6Test {
    script: K6Script,
    options: Options,
    scenarios: Vec<K6Scenario>,
    thresholds: Vec<MetricThresholds>,
    declarations: Vec<Declaration>,
    env: Vec<(String, String)>,
}

/// Evaluates the init code of the script, and reads its options.
fn read(settings: &K6Settings, caller: &Caller) -> Result<K6Test, K6Error> {
    let env = settings.env.clone();
    let script =
        K6Script::read(Path::new(&settings.script), env.clone()).map_err(K6Error::script)?;
    // The console of the init code comes before errors about options.
    for line in script.lines() {
        caller.err_redacted(&line);
    }
    let mut options = script.options().map_err(K6Error::script)?;
    for later in &settings.options {
        options.replace(later.clone());
    }
    let notes = options.check().map_err(K6Error::config)?;
    if !settings.brunt_options.no_notes {
        for note in settings.notes.iter().chain(&notes) {
            caller.err_line(&format!("brunt - {note}"));
        }
    }
    let scenarios = scenarios(&options).map_err(K6Error::config)?;
    if let Some(K6Scenario { name, function, .. }) =
        scenarios.iter().find(|one| !script.has_function(&one.function))
    {
        let example = match function.as_str() {
            "default" => "export default function () { … }".to_owned(),
            other => format!("export function {other}() {{ … }}"),
        };
        return Err(K6Error::script(format!(
            "the scenario {name} runs the function `{function}`, which the script does not export; write `{example}`, or the key exec of the scenario"
        )));
    }
    let thresholds = options.thresholds().map_err(K6Error::config)?;
    let mut declarations = script.declarations();
    let gauge =
        |name: &str| Declaration { name: name.into(), kind: MetricKind::Gauge, unit: Unit::Number };
    declarations.push(Declaration {
        name: "dropped_iterations".into(),
        kind: MetricKind::Counter,
        unit: Unit::Number,
    });
    declarations.extend(["vus", "vus_max"].map(gauge));
    for one in &thresholds {
        let metric = &one.selector.metric;
        let Some(declaration) = declarations.iter().find(|own| own.name == *metric) else {
            return Err(K6Error::config(format!(
                "thresholds: the script has no metric `{metric}`; create it with `new Trend('{metric}')` at the top of the script"
            )));
        };
        for threshold in &one.thresholds {
            threshold.check_kind(declaration.kind, metric).map_err(K6Error::config)?;
        }
    }
    Ok(K6Test { script, options, scenarios, thresholds, declarations, env })
}

/// Runs setup, the load and teardown, and shows the summary. Returns the exit code.
fn measure(settings: &K6Settings, test: &K6Test, caller: &Arc<Caller>) -> Result<u8, K6Error> {
    let interrupt =
        (caller.interrupt)().map_err(|error| K6Error { why: error.to_string(), code: FAILED })?;
    let plans = plan::Plans::new(settings, test, caller)?;
    if !settings.quiet {
        caller.out(&plan::greeting(settings, test));
    }
    let mut collector = K6Collector::new(test, caller);
    let mut data = None;
    if test.script.has_function("setup") && !test.options.is_true("noSetup") {
        let plan = plans.stage("setup", "").map_err(K6Error::config)?;
        data = stage(settings, &plan, &interrupt, &mut collector, caller)?;
        if collector.has_thrown() {
            return Err(K6Error::script(
                "setup() has thrown an exception; the load was not begun".into(),
            ));
        }
        if data.is_none() {
            let why = "setup() did not end within its time; the load was not begun. Write setupTimeout: '120s', or make it shorter";
            return Err(K6Error { why: why.into(), code: exit::SETUP_TIMEOUT });
        }
    }
    let json = data.clone().unwrap_or_default();
    let plan = plans.load(&json);
    let setup = RunSetup::with_interrupt(&settings.brunt_options, interrupt.clone(), caller)?;
    let world = setup.world(&plan)?;
    collector.begin_load(setup.control.clone());
    let finished = setup.run(&plan, &world, &mut collector);
    collector.end_load(&finished.result.run);
    let elapsed = collector.elapsed();
    finished.finish(&[])?;
    if test.script.has_function("teardown") && !test.options.is_true("noTeardown") {
        let plan = plans.stage("teardown", &json).map_err(K6Error::config)?;
        stage(settings, &plan, &interrupt, &mut collector, caller)?;
    }
    show_summary(settings, test, &collector, data.as_deref(), elapsed, caller)?;
    Ok(collector.exit_code(&interrupt, elapsed))
}

/// Runs `setup` or `teardown`. Returns its value as JSON.
fn stage(
    settings: &K6Settings,
    plan: &Plan,
    interrupt: &Interrupt,
    collector: &mut K6Collector<'_>,
    caller: &Arc<Caller>,
) -> ToolResult<Option<String>> {
    let options = crate::brunt_options::BruntOptions {
        no_notes: true,
        allowed_targets: settings.brunt_options.allowed_targets.clone(),
        ..Default::default()
    };
    let setup = RunSetup::with_interrupt(&options, interrupt.clone(), caller)?;
    let world = setup.world(plan)?;
    setup.run(plan, &world, collector).finish(&[])?;
    let output = world.stage_output().properties;
    Ok(output.into_iter().find(|(name, _)| name == RETURNED).map(|(_, value)| value))
}

/// Writes the summary of the script, or the usual one.
fn show_summary(
    settings: &K6Settings,
    test: &K6Test,
    collector: &K6Collector<'_>,
    setup_data: Option<&str>,
    elapsed: Duration,
    caller: &Caller,
) -> ToolResult<()> {
    let trend_stats = test.options.trend_stats();
    let input = SummaryInput {
        metrics: &collector.metrics,
        declarations: &test.declarations,
        thresholds: &test.thresholds,
        trend_stats: &trend_stats,
        time_unit: test.options.text("summaryTimeUnit").unwrap_or_default(),
        elapsed,
        setup_data,
        terminals: (false, false),
    };
    let data = input.data();
    let redactor = (caller.redactor)();
    if let Some(file) = &settings.summary_export {
        // It is written even if the script has its own summary.
        write(file, &format!("{:#}\n", input.export()), &redactor)?;
    }
    if settings.hides_summary {
        return Ok(());
    }
    let outputs = match test.script.handle_summary(&data) {
        None => vec![("stdout".to_owned(), input.text())],
        Some(Ok(outputs)) => outputs,
        Some(Err(why)) => {
            caller.err_redacted(&format!("level=error msg={}", serde_json::Value::from(why)));
            vec![("stdout".to_owned(), input.text())]
        }
    };
    for line in test.script.lines() {
        caller.err_redacted(&line);
    }
    for (name, text) in outputs {
        match name.as_str() {
            "stdout" => caller.out(&redactor.text(&text)),
            "stderr" => caller.err(&redactor.text(&text)),
            file => {
                // The other outputs are not lost.
                if let Err(error) = write(file, &text, &redactor) {
                    caller.err_line(&format!(
                        "level=error msg={}",
                        serde_json::Value::from(error.to_string())
                    ));
                }
            }
        }
    }
    Ok(())
}

fn write(file: &str, text: &str, redactor: &brunt_store::Redactor) -> ToolResult<()> {
    std::fs::write(file, redactor.text(text).as_bytes())
        .map_err(|error| ToolError::new(format!("cannot write {file}: {error}")))
}
