//! The options of a drop-in that are ours: where everything goes that the old report has no place for.
//!
//! They stand where the tool's options stand, and begin with `--brunt-`, so that no script can mean something else by them.

use crate::caller::StorePlace;
use brunt_spec::words::values::Output;
use std::path::PathBuf;

/// What a drop-in was told beside the tool's own options.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// Reports of ours, each to its file.
    pub outputs: Vec<Output>,
    /// Where the run is kept; None: nowhere.
    pub store: Option<StorePlace>,
    /// Worker threads; None: one, as the old tools have.
    pub threads: Option<u32>,
    /// Processes; None: as many as the connections need.
    pub processes: Option<u32>,
    /// Notes on stderr are left out.
    pub no_notes: bool,
}

/// One of our options: its name without `--brunt-`, what its value is where it has one, what it does.
struct Row {
    name: &'static str,
    value: Option<&'static str>,
    does: OptionEffect,
}

enum OptionEffect {
    /// A report of this format.
    Report(&'static str),
    /// A number.
    Number(fn(&mut Side) -> &mut Option<u32>),
    /// Anything else.
    Set(fn(&mut Side, &str)),
}

const ROWS: &[Row] = &[
    Row { name: "json", value: Some("FILE"), does: OptionEffect::Report("json") },
    Row { name: "report", value: Some("FILE.html"), does: OptionEffect::Report("html") },
    Row { name: "store", value: None, does: OptionEffect::Set(|side, _| side.store = Some(StorePlace::Usual)) },
    Row { name: "store-dir", value: Some("DIR"), does: OptionEffect::Set(Side::keep_in) },
    Row { name: "threads", value: Some("N"), does: OptionEffect::Number(|side| &mut side.threads) },
    Row { name: "processes", value: Some("N"), does: OptionEffect::Number(|side| &mut side.processes) },
    Row { name: "no-notes", value: None, does: OptionEffect::Set(|side, _| side.no_notes = true) },
];

/// The greatest number of threads or processes that may be asked for.
const MOST: u32 = 256;

impl Side {
    /// Takes an option, named without `--brunt-`; `value` is asked for where it has one. Why it makes no sense.
    pub fn take<'a>(&mut self, word: &'a str, value: impl FnOnce() -> Option<&'a str>) -> Result<(), String> {
        let (name, joined) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            let all: Vec<_> = ROWS.iter().map(Row::written).collect();
            return Err(format!("unknown option --brunt-{name}; write one of {}", all.join(", ")));
        };
        match (row.value, joined) {
            (None, None) => row.does(self, ""),
            (None, Some(_)) => Err(format!("--brunt-{name} has no value; write --brunt-{name}")),
            (Some(_), Some(value)) => row.does(self, value),
            (Some(_), None) => {
                let value = value().ok_or_else(|| format!("--brunt-{name} has a value; write {}", row.written()))?;
                row.does(self, value)
            }
        }
    }

    fn keep_in(&mut self, dir: &str) {
        self.store = Some(StorePlace::Directory(dir.into()));
    }
}

impl Row {
    fn does(&self, side: &mut Side, value: &str) -> Result<(), String> {
        match self.does {
            OptionEffect::Report(format) => {
                side.outputs.push(Output { format: format.into(), file: Some(PathBuf::from(value)) });
            }
            OptionEffect::Number(place) => *place(side) = Some(number(self.name, value)?),
            OptionEffect::Set(set) => set(side, value),
        }
        Ok(())
    }

    fn written(&self) -> String {
        self.value.map_or_else(|| format!("--brunt-{}", self.name), |value| format!("--brunt-{} {value}", self.name))
    }
}

fn number(name: &str, text: &str) -> Result<u32, String> {
    let number = text.parse::<u32>().ok().filter(|n| (1..=MOST).contains(n));
    number.ok_or_else(|| format!("--brunt-{name} {text}: write a number from 1 to {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_or_in_the_word() {
        let mut side = Side::default();
        side.take("json", || Some("a.json")).unwrap();
        side.take("report=b.html", || None).unwrap();
        side.take("threads", || Some("4")).unwrap();
        side.take("store", || None).unwrap();
        let files: Vec<_> =
            side.outputs.iter().map(|o| format!("{}={}", o.format, o.file.as_ref().unwrap().display())).collect();
        assert_eq!(files, ["json=a.json", "html=b.html"]);
        assert_eq!((side.threads, side.store.is_some()), (Some(4), true));
    }

    #[test]
    fn what_makes_no_sense_is_told_what_to_write() {
        let told = |word: &str, value: Option<&'static str>| Side::default().take(word, || value).unwrap_err();
        assert!(told("jsn", None).contains("write one of --brunt-json FILE, "));
        assert!(told("json", None).contains("write --brunt-json FILE"));
        assert!(told("threads", Some("0")).contains("from 1 to 256"));
        assert!(told("store=x", None).contains("write --brunt-store"));
    }
}
