//! Settings of a JMeter run: command-line options, properties files, and `--brunt-…` options.

use super::listeners::ListenerFile;
use crate::brunt_options::BruntOptions;
use crate::caller::Caller;
use crate::error::{ToolError, ToolResult};
use crate::result_file;
use brunt_jmx::JtlSettings;
use brunt_jmx::cli_options::{CliOptions, PropertyArgument};
use brunt_jmx::properties::RunProperties;
use brunt_jmx::statistics::{ApdexThresholds, StatisticsSettings};
use brunt_jmx::summariser::SummariserSettings;
use brunt_model::Objective;
use brunt_model::plan::{ListenerRecords, RecordDetail, ResolveAll, TlsSettings};
use brunt_spec::words::{WordError, duration, objective, values};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default folder of the report.
const REPORT_FOLDER: &str = "report-output";

/// Settings of a run.
pub struct JmeterSettings {
    pub options: CliOptions,
    pub properties: RunProperties,
    /// Path of the plan; empty if no plan is run.
    pub plan: String,
    /// Format of result files.
    pub jtl: JtlSettings,
    /// Options of all drop-ins.
    pub brunt_options: BruntOptions,
    /// Objectives. The exit code is 4 if one is missed.
    pub fail_on: Vec<Objective>,
    /// Leaves out unsupported elements in place of an error.
    pub lenient: bool,
    /// Further folders for the plan's files.
    pub allowed: Vec<PathBuf>,
    /// Server to which all connections go.
    pub resolve_all: Option<ResolveAll>,
    /// Factor for numbers of threads.
    pub scale: f64,
    /// Longest duration of a stage.
    pub max_duration: Option<Duration>,
}

impl JmeterSettings {
    /// Reads the properties files and brunt's options.
    pub fn new(options: CliOptions, caller: &Caller) -> ToolResult<Self> {
        let bin = options.home.as_ref().map(|home| Path::new(home).join("bin"));
        let read_properties = |file: &str| {
            let in_bin = bin.as_ref().map(|bin| bin.join(file));
            // The working directory comes first.
            fs::read(file).ok().or_else(|| fs::read(in_bin?).ok())
        };
        let properties = RunProperties::load(&options, read_properties)?;
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
            settings
                .set_brunt_option(name.trim_start_matches("brunt-"), &value)
                .map_err(ToolError::new)?;
        }
        if settings.resolve_all.is_some() && settings.options.proxy.host.is_some() {
            let wrong = "--brunt-resolve-all: all connections go there, and none to the proxy of -H; leave one of them out";
            return Err(ToolError::new(wrong));
        }
        settings.brunt_options.no_notes |= caller.variable("BRUNT_NO_NOTES").is_some();
        Ok(settings)
    }

    /// Applies a brunt option, named without `--brunt-`.
    fn set_brunt_option(&mut self, name: &str, value: &str) -> ToolResult<(), String> {
        let wrong = |error: WordError| format!("--brunt-{name}: {error}");
        match name {
            "fail-on" => self.fail_on.extend(objective::parse(value).map_err(wrong)?),
            "lenient" => self.lenient = true,
            "allow-dir" => self.allowed.push(value.into()),
            "resolve-all" => self.resolve_all = Some(values::resolve_all(value).map_err(wrong)?),
            "max-duration" => self.max_duration = Some(duration::positive(value).map_err(wrong)?),
            "scale" => {
                let scale =
                    value.parse().ok().filter(|scale: &f64| *scale > 0.0 && scale.is_finite());
                self.scale = scale
                    .ok_or(format!("--brunt-scale {value}: write a number above 0, such as 0.5"))?;
            }
            _ => self.brunt_options.take(name, || Some(value).filter(|value| !value.is_empty()))?,
        }
        Ok(())
    }

    /// Path of the plan.
    pub fn plan_path(&self) -> ToolResult<&Path> {
        if self.plan == "LAST" {
            return Err(ToolError::new("-t LAST: no list of opened plans is kept; name the plan"));
        }
        Ok(Path::new(&self.plan))
    }

    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.jmeter.get(name).map(String::as_str)
    }

    /// Adds the certificate of `javax.net.ssl.keyStore`, which JMeter sends to servers that ask.
    pub fn add_client_certificate(&self, tls: &mut TlsSettings) {
        let system = &self.properties.system;
        // Java's value for no file.
        let file = system.get("javax.net.ssl.keyStore").filter(|file| *file != "NONE");
        tls.cert = file.map(PathBuf::from);
        tls.key_password = system.get("javax.net.ssl.keyStorePassword").cloned();
    }

    pub fn number(&self, name: &str, default: f64) -> f64 {
        // Like JMeter, which uses the default for a malformed number.
        self.property(name).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.property(name).map_or(default, |text| text.trim().eq_ignore_ascii_case("true"))
    }

    /// The parts of samples that the result files need.
    pub fn records(&self, listener_files: &[ListenerFile]) -> ListenerRecords {
        let mut records = result_file::records(&self.jtl);
        // Without `-l`, only the tables need samples.
        if self.options.result_file.is_none() {
            records.detail = RecordDetail::Lines;
        }
        let mut settings = listener_files.iter().map(|file| &file.settings);
        if settings.any(|settings| result_file::records(settings).detail == RecordDetail::Full) {
            records.detail = RecordDetail::Full;
        }
        records
    }

    /// Settings of the summariser; None if it is turned off.
    pub fn summariser(&self) -> Option<SummariserSettings> {
        // Only the command line can turn it off, with an empty name.
        let turns_off = |argument: &PropertyArgument| matches!(argument, PropertyArgument::Jmeter(name, value) if name == "summariser.name" && value.is_empty());
        if self.options.properties.iter().any(turns_off) {
            return None;
        }
        let default = SummariserSettings::default();
        Some(SummariserSettings {
            name: self.property("summariser.name").map_or(default.name, str::to_owned),
            interval: Duration::from_secs(
                self.number("summariser.interval", default.interval.as_secs_f64()) as u64,
            ),
            ignore_transactions: self.flag(
                "summariser.ignore_transaction_controller_sample_result",
                default.ignore_transactions,
            ),
        })
    }

    /// True if the summariser prints to the console.
    pub fn summariser_shown(&self) -> bool {
        self.flag("summariser.out", true)
    }

    /// Settings of the dashboard's tables.
    pub fn statistics(&self) -> StatisticsSettings {
        let default = StatisticsSettings::default();
        let [first, second, third] = default.percentiles;

        StatisticsSettings {
            percentiles: [
                self.number("aggregate_rpt_pct1", first),
                self.number("aggregate_rpt_pct2", second),
                self.number("aggregate_rpt_pct3", third),
            ],
            apdex: ApdexThresholds {
                satisfied_millis: self.apdex_threshold("satisfied", default.apdex.satisfied_millis),
                tolerated_millis: self.apdex_threshold("tolerated", default.apdex.tolerated_millis),
            },
            ..default
        }
    }

    /// Threshold of the Apdex in milliseconds.
    fn apdex_threshold(&self, name: &str, default: u64) -> u64 {
        self.number(&format!("jmeter.reportgenerator.apdex_{name}_threshold"), default as f64)
            as u64
    }

    /// Folder of the report.
    pub fn report_folder(&self) -> PathBuf {
        let option = self.options.report_folder.as_deref();
        option
            .or_else(|| self.property("jmeter.reportgenerator.outputdir"))
            .unwrap_or(REPORT_FOLDER)
            .into()
    }

    /// Deletes old files with `-f`, and checks that the result file and the report
    /// folder are new or empty.
    pub fn prepare(&self) -> ToolResult<()> {
        let folder = self.report_folder();
        if self.options.force_delete {
            if let Some(file) = &self.options.result_file
                && Path::new(file).exists()
            {
                fs::remove_file(file)
                    .map_err(|error| ToolError::new(format!("Could not delete {file}: {error}")))?;
            }
            if self.options.report_at_end && folder.exists() {
                fs::remove_dir_all(&folder).map_err(|error| {
                    ToolError::new(format!("Could not delete {}: {error}", folder.display()))
                })?;
            }
        }
        if self.options.report_at_end {
            check_folder(&folder)?;
            let file = self.options.result_file.as_deref().unwrap_or_default();
            if fs::metadata(file).is_ok_and(|data| data.len() > 0) {
                return Err(ToolError::new(format!(
                    "Results file:{file} is not empty; delete it by -f"
                )));
            }
        }
        Ok(())
    }

    /// The proxy as a URL.
    pub fn proxy(&self) -> Option<String> {
        let proxy = &self.options.proxy;
        let host = proxy.host.as_ref()?;
        let scheme = proxy.scheme.as_deref().unwrap_or("http");
        Some(format!("{scheme}://{host}:{}", proxy.port.unwrap_or(80)))
    }
}

/// Checks that the folder of a report is new or empty.
pub fn check_folder(folder: &Path) -> ToolResult<()> {
    let is_used = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        return Err(ToolError::new(format!(
            "Cannot write to '{}' as folder is not empty",
            folder.display()
        )));
    }
    Ok(())
}
