//! Arguments of `brunt run` and similar commands: the settings of a run, and options of plan files.

use super::options;
use super::store::StoreArgs;
use super::with_n;
use brunt_model::Text;
use brunt_spec::settings::{RunSettings, SettingTable, rows};
#[cfg(feature = "studio")]
use brunt_spec::words;
use brunt_store::Store;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
#[cfg(feature = "studio")]
use std::path::{Path, PathBuf};
#[cfg(feature = "studio")]
use std::time::Duration;

/// Arguments of `brunt run`.
#[derive(Debug, Clone)]
pub struct RunArgs {
    pub settings: RunSettings,
    /// Options of a plan file.
    pub plan: PlanFileArgs,
    /// Options of a JMeter plan.
    #[cfg_attr(not(feature = "compat"), expect(dead_code, reason = "no plan of JMeter is run"))]
    pub jmeter: JmeterPlanArgs,
    /// Store of the run.
    pub store: StoreArgs,
    /// View of the run in a browser.
    pub browser: BrowserArgs,
}

/// View of a run in a browser; without the feature `studio`, there is none.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Store")]
pub struct BrowserArgs {
    /// Open the page of the run, which follows it, in the browser; with =URL, lease the servers from a
    /// team's studio, and push the run to it
    #[cfg(feature = "studio")]
    #[arg(
        long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["no_store", "trace"]
    )]
    studio: Option<String>,

    /// Authority to trust for the certificate of the team's studio, as PEM [default: the system's]
    #[cfg(feature = "studio")]
    #[arg(long, value_name = "FILE", requires = "studio")]
    studio_cacert: Option<PathBuf>,

    /// Wait up to this time for the end of another lease on the servers, such as 10m
    #[cfg(feature = "studio")]
    #[arg(long, value_name = "TIME", value_parser = words::duration::positive_with_unit)]
    wait_lease: Option<Duration>,
}

impl BrowserArgs {
    /// Opens the page of the run of this process if the user asked for it.
    #[cfg_attr(
        not(feature = "studio"),
        expect(unused_variables, clippy::unused_self, reason = "there is no studio")
    )]
    pub fn show(&self, store: &Store) {
        #[cfg(feature = "studio")]
        if self.studio.as_deref() == Some("") {
            crate::browser::show_this_process(store);
        }
    }
}

#[cfg(feature = "studio")]
impl BrowserArgs {
    /// Address of a team's studio; None for a run without a team.
    pub fn team(&self) -> Option<&str> {
        self.studio.as_deref().filter(|url| !url.is_empty())
    }

    /// Certificates of the authority of the team's studio.
    pub fn authority(&self) -> Option<&Path> {
        self.studio_cacert.as_deref()
    }

    /// Maximum time to wait for a lease.
    pub fn lease_wait(&self) -> Duration {
        self.wait_lease.unwrap_or_default()
    }
}

impl RunArgs {
    /// Opens the store for the run, which also works without one. Adds a note if the store cannot be
    /// used. Opens the page of the run if the user asked for it.
    pub fn open_store_or_note(&self, notes: &mut Vec<Text>) -> Option<Store> {
        let store = self.store.open_or_note(notes, (&self.settings.output).into());
        store.inspect(|store| self.browser.show(store))
    }
}

/// Options of a plan file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Plan file")]
pub struct PlanFileArgs {
    /// Override a variable or a key of the plan file, such as load.rate=500; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,

    /// Resume the interrupted experiment of this name; finished trials are not repeated
    #[arg(long)]
    pub resume: bool,
}

/// Options of a JMeter plan; without the feature `compat`, there is none.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "JMeter plan")]
pub struct JmeterPlanArgs {
    /// Value of a JMeter property, which the plan reads by `${__P(NAME)}`; repeatable
    #[cfg(feature = "compat")]
    #[arg(short = 'J', long = "property", value_name = "NAME=VALUE")]
    pub properties: Vec<String>,

    /// Multiply numbers of threads and arrival rates by this; each thread group keeps at least one thread
    #[cfg(feature = "compat")]
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub scale: Option<f64>,

    /// Leave out elements that are not supported, instead of refusing the plan
    #[cfg(feature = "compat")]
    #[arg(long)]
    pub lenient: bool,

    /// Let the plan read and write files below this directory, too; repeatable
    #[cfg(feature = "compat")]
    #[arg(long, value_name = "DIR")]
    pub allow_dir: Vec<std::path::PathBuf>,
}

#[cfg(feature = "compat")]
fn factor(word: &str) -> Result<f64, String> {
    let factor = word.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    factor.ok_or_else(|| "write a number above 0, such as 0.1".into())
}

impl Args for RunArgs {
    fn augment_args(command: Command) -> Command {
        let url = "URL to request, with placeholders: {n} (number of the request) {uuid} {random:1..9} {csv:FILE:column}";
        let command = command.arg(Arg::new("url").value_name("URL").help(with_n(url)));
        // The order of the help: options of the server and the store come last.
        let [run_rows @ .., server_rows] = rows::RUN;
        let command = options::add(command, run_rows.into_iter().flatten());
        let command = JmeterPlanArgs::augment_args(PlanFileArgs::augment_args(command));
        let command = StoreArgs::augment_args(options::add(command, server_rows.iter()));
        BrowserArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = RunSettings::with_defaults();
        options::apply(matches, rows::run(), &mut settings)?;
        settings.url = matches.get_one::<String>("url").cloned();
        let plan = PlanFileArgs::from_arg_matches(matches)?;
        let store = StoreArgs::from_arg_matches(matches)?;
        let jmeter = JmeterPlanArgs::from_arg_matches(matches)?;
        let browser = BrowserArgs::from_arg_matches(matches)?;
        Ok(Self { settings, plan, jmeter, store, browser })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
