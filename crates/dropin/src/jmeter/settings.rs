//! The settings of a run by JMeter's command line: its options, properties files, and the options `--brunt-…`.

use super::listeners::ListenerFile;
use crate::brunt_options::BruntOptions;
use crate::caller::Caller;
use crate::error::{Result, ToolError};
use brunt_jmx::JtlSettings;
use brunt_jmx::cli_options::{CliOptions, PropertyArgument};
use brunt_jmx::properties::RunProperties;
use brunt_jmx::statistics::{ApdexThresholds, StatisticsSettings};
use brunt_jmx::summariser::SummariserSettings;
use brunt_model::Objective;
use brunt_model::plan::{RecordDetail, Records, ResolveAll};
use brunt_runner::result_file;
use brunt_spec::words::{WordError, duration, objective, values};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// JMeter's folder of reports where none is named.
const REPORT_FOLDER: &str = "report-output";

/// All settings of a run.
pub struct Settings {
    /// Its options.
    pub options: CliOptions,
    /// Its properties.
    pub properties: RunProperties,
    /// The plan; empty where none is run.
    pub plan: String,
    /// What result files hold.
    pub jtl: JtlSettings,
    /// The options of all drop-ins.
    pub brunt_options: BruntOptions,
    /// Bounds that make it fail.
    pub fail_on: Vec<Objective>,
    /// Elements that are not supported are left out.
    pub lenient: bool,
    /// Further folders of the plan's files.
    pub allowed: Vec<PathBuf>,
    /// Where all connections go.
    pub resolve_all: Option<ResolveAll>,
    /// By what numbers of threads are multiplied.
    pub scale: f64,
    /// No stage takes longer.
    pub max_duration: Option<Duration>,
}

impl Settings {
    /// Reads the files of properties, and what is ours.
    pub fn new(options: CliOptions, caller: &Caller) -> Result<Self> {
        let bin = options.home.as_ref().map(|home| Path::new(home).join("bin"));
        let read = |file: &str| {
            let beside = bin.as_ref().map(|bin| bin.join(file));
            fs::read(file).ok().or_else(|| fs::read(beside?).ok())
        };
        let properties = RunProperties::load(&options, read)?;
        let jtl = JtlSettings::from_properties(|name| properties.jmeter.get(name).cloned())?;
        let plan = options.plan.clone().unwrap_or_default();
        let mut settings = Self {
            properties,
            plan,
            jtl,
            brunt_options: BruntOptions::default(),
            fail_on: Vec::new(),
            lenient: false,
            allowed: Vec::new(),
            resolve_all: None,
            scale: 1.0,
            max_duration: None,
            options,
        };
        for (name, value) in settings.options.brunt.clone() {
            settings.own(name.trim_start_matches("brunt-"), &value).map_err(ToolError::new)?;
        }
        if settings.resolve_all.is_some() && settings.options.proxy.host.is_some() {
            let wrong =
                "--brunt-resolve-all: all connections go there, and none to the proxy of -H; leave one of them out";
            return Err(ToolError::new(wrong));
        }
        let told = |name: &str| caller.variable(name).is_some();
        settings.brunt_options.no_notes |= told("BRUNT_NO_NOTES");
        Ok(settings)
    }

    /// Takes an option that is ours, named without `--brunt-`.
    fn own(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = |error: WordError| format!("--brunt-{name}: {error}");
        match name {
            "fail-on" => self.fail_on.extend(objective::parse(value).map_err(wrong)?),
            "lenient" => self.lenient = true,
            "allow-dir" => self.allowed.push(value.into()),
            "resolve-all" => self.resolve_all = Some(values::resolve_all(value).map_err(wrong)?),
            "max-duration" => self.max_duration = Some(duration::positive(value).map_err(wrong)?),
            "scale" => {
                let scale = value.parse().ok().filter(|scale: &f64| *scale > 0.0 && scale.is_finite());
                self.scale = scale.ok_or(format!("--brunt-scale {value}: write a number above 0, such as 0.5"))?;
            }
            _ => self.brunt_options.take(name, || Some(value).filter(|value| !value.is_empty()))?,
        }
        Ok(())
    }

    /// The plan.
    pub fn plan_path(&self) -> Result<&Path> {
        if self.plan == "LAST" {
            return Err(ToolError::new("-t LAST: no list of opened plans is kept; name the plan"));
        }
        Ok(Path::new(&self.plan))
    }

    /// A property of JMeter's.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.jmeter.get(name).map(String::as_str)
    }

    /// A property that is a number.
    pub fn number(&self, name: &str, default: f64) -> f64 {
        self.property(name).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.property(name).map_or(default, |text| text.trim().eq_ignore_ascii_case("true"))
    }

    /// What the samples of the run must have.
    pub fn records(&self, others: &[ListenerFile]) -> Records {
        let mut records = result_file::records(&self.jtl);
        let in_full = |file: &ListenerFile| result_file::records(&file.settings).detail == RecordDetail::Full;
        if self.options.result_file.is_none() {
            records.detail = RecordDetail::Lines;
        }
        if others.iter().any(in_full) {
            records.detail = RecordDetail::Full;
        }
        records
    }

    /// The lines of the summariser; None: there are none.
    pub fn summariser(&self) -> Option<SummariserSettings> {
        let none = |argument: &PropertyArgument| matches!(argument, PropertyArgument::Jmeter(name, value) if name == "summariser.name" && value.is_empty());
        if self.options.properties.iter().any(none) {
            return None;
        }
        let usual = SummariserSettings::default();
        Some(SummariserSettings {
            name: self.property("summariser.name").map_or(usual.name, str::to_owned),
            interval: Duration::from_secs(self.number("summariser.interval", usual.interval.as_secs_f64()) as u64),
            ignore_transactions: self
                .flag("summariser.ignore_transaction_controller_sample_result", usual.ignore_transactions),
        })
    }

    /// Whether the lines of the summariser go to the console.
    pub fn summariser_shown(&self) -> bool {
        self.flag("summariser.out", true)
    }

    /// How the tables of the dashboard are made.
    pub fn statistics(&self) -> StatisticsSettings {
        let usual = StatisticsSettings::default();
        let [first, second, third] = usual.percentiles;
        let millis = |name: &str, default: u64| {
            self.number(&format!("jmeter.reportgenerator.apdex_{name}_threshold"), default as f64) as u64
        };
        StatisticsSettings {
            percentiles: [
                self.number("aggregate_rpt_pct1", first),
                self.number("aggregate_rpt_pct2", second),
                self.number("aggregate_rpt_pct3", third),
            ],
            apdex: ApdexThresholds {
                satisfied_millis: millis("satisfied", usual.apdex.satisfied_millis),
                tolerated_millis: millis("tolerated", usual.apdex.tolerated_millis),
            },
            ..usual
        }
    }

    /// The folder of the report.
    pub fn report_folder(&self) -> PathBuf {
        let named = self.options.report_folder.as_deref();
        named.or_else(|| self.property("jmeter.reportgenerator.outputdir")).unwrap_or(REPORT_FOLDER).into()
    }

    /// Deletes what is to be deleted, and checks what must be new or empty.
    pub fn prepare(&self) -> Result<()> {
        let folder = self.report_folder();
        if self.options.force_delete {
            if let Some(file) = &self.options.result_file
                && Path::new(file).exists()
            {
                fs::remove_file(file).map_err(|error| ToolError::new(format!("Could not delete {file}: {error}")))?;
            }
            if self.options.report_at_end && folder.exists() {
                let wrong = |error| ToolError::new(format!("Could not delete {}: {error}", folder.display()));
                fs::remove_dir_all(&folder).map_err(wrong)?;
            }
        }
        if self.options.report_at_end {
            check_folder(&folder)?;
            let file = self.options.result_file.as_deref().unwrap_or_default();
            if fs::metadata(file).is_ok_and(|data| data.len() > 0) {
                return Err(ToolError::new(format!("Results file:{file} is not empty; delete it by -f")));
            }
        }
        Ok(())
    }

    /// The proxy, as a URL.
    pub fn proxy(&self) -> Option<String> {
        let proxy = &self.options.proxy;
        let host = proxy.host.as_ref()?;
        let scheme = proxy.scheme.as_deref().unwrap_or("http");
        Some(format!("{scheme}://{host}:{}", proxy.port.unwrap_or(80)))
    }
}

/// A report may be written to a folder that is new or empty.
pub fn check_folder(folder: &Path) -> Result<()> {
    let is_used = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        return Err(ToolError::new(format!("Cannot write to '{}' as folder is not empty", folder.display())));
    }
    Ok(())
}
