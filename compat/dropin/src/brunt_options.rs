//! brunt's own options of a drop-in, for output that the original report has no place for.
//!
//! They may appear wherever the tool's options do. Their prefix `--brunt-` cannot clash with an
//! option of a tool.

use crate::caller::StorePlace;
use brunt_model::FleetSettings;
use brunt_spec::to_plan;
use brunt_spec::words::placement;
use brunt_spec::words::values::Output;
use std::path::PathBuf;

/// Values of the `--brunt-…` options.
#[derive(Debug, Clone, Default)]
pub struct BruntOptions {
    /// Reports of brunt, each with its file.
    pub outputs: Vec<Output>,
    /// Where the run is stored; None if it is not.
    pub store: Option<StorePlace>,
    /// Worker threads; None means one, as in the original tools.
    pub threads: Option<u32>,
    /// Processes; None means as many as the connections need.
    pub processes: Option<u32>,
    /// Agents that share the load; None: this process.
    pub fleet: Option<FleetSettings>,
    /// Hosts that may be loaded; empty for any.
    pub allowed_targets: Vec<String>,
    /// Suppresses the notes on stderr.
    pub no_notes: bool,
}

/// One option: its name without `--brunt-`, the placeholder of its value, and its effect.
struct OptionRow {
    name: &'static str,
    value: Option<&'static str>,
    effect: OptionEffect,
}

enum OptionEffect {
    /// Adds a report of this format.
    Report(&'static str),
    Number(fn(&mut BruntOptions) -> &mut Option<u32>),
    Set(fn(&mut BruntOptions, &str)),
    /// The same, for a value that may be wrong.
    Parsed(fn(&mut BruntOptions, &str) -> Result<(), String>),
}

const ROWS: &[OptionRow] = &[
    OptionRow { name: "json", value: Some("FILE"), effect: OptionEffect::Report("json") },
    OptionRow { name: "report", value: Some("FILE.html"), effect: OptionEffect::Report("html") },
    OptionRow {
        name: "store",
        value: None,
        effect: OptionEffect::Set(|brunt_options, _| {
            brunt_options.store = Some(StorePlace::Default);
        }),
    },
    OptionRow {
        name: "store-dir",
        value: Some("DIR"),
        effect: OptionEffect::Set(BruntOptions::store_in),
    },
    OptionRow {
        name: "threads",
        value: Some("N"),
        effect: OptionEffect::Number(|brunt_options| &mut brunt_options.threads),
    },
    OptionRow {
        name: "processes",
        value: Some("N"),
        effect: OptionEffect::Number(|brunt_options| &mut brunt_options.processes),
    },
    OptionRow {
        name: "on",
        value: Some("PLACES"),
        effect: OptionEffect::Parsed(|brunt_options, places| {
            let on = placement::parse(places).map_err(|error| error.to_string())?;
            let fleet = to_plan::fleet_on(on).map_err(|error| error.to_string())?;
            brunt_options.fleet = Some(fleet);
            Ok(())
        }),
    },
    OptionRow {
        name: "allow-target",
        value: Some("HOST"),
        effect: OptionEffect::Parsed(|brunt_options, host| {
            let host = placement::host(host).map_err(|error| error.to_string())?;
            brunt_options.allowed_targets.push(host);
            Ok(())
        }),
    },
    OptionRow {
        name: "no-notes",
        value: None,
        effect: OptionEffect::Set(|brunt_options, _| brunt_options.no_notes = true),
    },
];

/// Highest number of threads or processes.
const MAX_COUNT: u32 = 256;

impl BruntOptions {
    /// Applies an option, named without `--brunt-`. Calls `value` if the option's value is not part
    /// of the word.
    ///
    /// # Errors
    ///
    /// The message suggests a correct option.
    pub fn take<'a>(
        &mut self,
        word: &'a str,
        value: impl FnOnce() -> Option<&'a str>,
    ) -> Result<(), String> {
        let (name, joined) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            let all: Vec<_> = ROWS.iter().map(OptionRow::synopsis).collect();
            return Err(format!("unknown option --brunt-{name}; write one of {}", all.join(", ")));
        };
        match (row.value, joined) {
            (None, None) => row.apply(self, ""),
            (None, Some(_)) => Err(format!("--brunt-{name} has no value; write --brunt-{name}")),
            (Some(_), Some(value)) => row.apply(self, value),
            (Some(_), None) => {
                let value = value().ok_or_else(|| {
                    format!("--brunt-{name} has a value; write {}", row.synopsis())
                })?;
                row.apply(self, value)
            }
        }
    }

    /// Number of agents or of requested processes; None without both.
    pub fn parts(&self) -> Option<u32> {
        let agents = self.fleet.as_ref().map(|fleet| fleet.on.agents() as u32);
        agents.or(self.processes)
    }

    /// Checks options that depend on each other.
    ///
    /// # Errors
    ///
    /// The message suggests correct options.
    pub fn check(&self) -> Result<(), String> {
        let Some(fleet) = &self.fleet else { return Ok(()) };
        if self.processes.is_some() {
            return Err("--brunt-on and --brunt-processes: write one of them, since each agent is a process".into());
        }
        if fleet.on.is_elsewhere() && self.allowed_targets.is_empty() {
            return Err(format!(
                "{}: name the hosts that these agents may load: --brunt-allow-target HOST (repeatable)",
                fleet.on
            ));
        }
        Ok(())
    }

    fn store_in(&mut self, dir: &str) {
        self.store = Some(StorePlace::Directory(dir.into()));
    }
}

impl OptionRow {
    fn apply(&self, brunt_options: &mut BruntOptions, value: &str) -> Result<(), String> {
        match self.effect {
            OptionEffect::Report(format) => {
                brunt_options
                    .outputs
                    .push(Output { format: format.into(), file: Some(PathBuf::from(value)) });
            }
            OptionEffect::Number(place) => *place(brunt_options) = Some(number(self.name, value)?),
            OptionEffect::Set(set) => set(brunt_options, value),
            OptionEffect::Parsed(set) => set(brunt_options, value)?,
        }
        Ok(())
    }

    fn synopsis(&self) -> String {
        self.value.map_or_else(
            || format!("--brunt-{}", self.name),
            |value| format!("--brunt-{} {value}", self.name),
        )
    }
}

fn number(name: &str, text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|n| (1..=MAX_COUNT).contains(n));
    number.ok_or_else(|| format!("--brunt-{name} {text}: write a number from 1 to {MAX_COUNT}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_the_option_or_its_equals_sign() {
        let mut brunt_options = BruntOptions::default();
        brunt_options.take("json", || Some("a.json")).unwrap();
        brunt_options.take("report=b.html", || None).unwrap();
        brunt_options.take("threads", || Some("4")).unwrap();
        brunt_options.take("store", || None).unwrap();
        let files: Vec<_> = brunt_options
            .outputs
            .iter()
            .map(|o| format!("{}={}", o.format, o.file.as_ref().unwrap().display()))
            .collect();
        assert_eq!(files, ["json=a.json", "html=b.html"]);
        assert_eq!((brunt_options.threads, brunt_options.store.is_some()), (Some(4), true));
    }

    #[test]
    fn errors_of_invalid_options_show_valid_values() {
        let message_of = |word: &str, value: Option<&'static str>| {
            BruntOptions::default().take(word, || value).unwrap_err()
        };
        assert!(message_of("jsn", None).contains("write one of --brunt-json FILE, "));
        assert!(message_of("json", None).contains("write --brunt-json FILE"));
        assert!(message_of("threads", Some("0")).contains("from 1 to 256"));
        assert!(message_of("store=x", None).contains("write --brunt-store"));
    }
}
