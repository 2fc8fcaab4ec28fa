//! `~/.autobench.conf`: lines of `key = value`; and its making, where there is none.
//!
//! It knows no value's meaning. Values of `httperf_…` are words as a shell divides them.

use super::End;
use super::keys::Key;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where an administrator may have put a file of the house's own, which is then copied.
const MASTERS: [&str; 2] = ["/etc/autobench.conf", "/usr/local/etc/autobench.conf"];
/// What begins a key whose rest is an option of httperf's.
const PASSED_ON: &str = "httperf_";
/// The value of an option that has none.
const NO_VALUE: &str = "NULL";

/// What stands in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    /// Values of autobench's own names.
    pub values: BTreeMap<&'static str, String>,
    /// Words for httperf, in the order of the file.
    pub passed_on: Vec<String>,
    /// What makes no sense in it, to be told.
    pub complaints: Vec<String>,
}

/// Reads the file of whoever is at home there; where there is none, makes it, and that is all.
pub fn load(home: Option<PathBuf>) -> Result<Conf, End> {
    let home = home.ok_or_else(|| "HOME is not set; .autobench.conf is looked for there".to_owned())?;
    let path = home.join(".autobench.conf");
    if !path.exists() {
        let cannot = |error| format!("{} cannot be made: {error}", path.display());
        fs::write(&path, master()).map_err(cannot)?;
        return Err(End::Said("Installation complete - please rerun autobench\n".into()));
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(read(&path, &text)?)
}

/// The file that a new one is a copy of.
fn master() -> String {
    let found = MASTERS.iter().find_map(|path| fs::read_to_string(path).ok());
    found.unwrap_or_else(|| include_str!("autobench.conf").to_owned())
}

fn read(path: &Path, text: &str) -> Result<Conf, String> {
    let (mut conf, mut passed) = (Conf::default(), Vec::new());
    let lines = text.lines().map(str::trim).enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let place = format!("{}, line {}", path.display(), at + 1);
        let complaint = match pair(line) {
            Some((name, value)) => conf.take(name, value, &mut passed).map_err(|why| format!("{place}: {why}"))?,
            None => Some(format!("`{line}` is left out; write key = value")),
        };
        conf.complaints.extend(complaint.map(|complaint| format!("{place}: {complaint}")));
    }
    conf.passed_on = passed.into_iter().flat_map(|(_, words)| words).collect();
    Ok(conf)
}

/// Options of httperf's by their keys, in order.
type Passed = Vec<(String, Vec<String>)>;

impl Conf {
    /// A line; what is to be told of it.
    fn take(&mut self, name: &str, value: &str, passed: &mut Passed) -> Result<Option<String>, String> {
        let before = if let Some(option) = name.strip_prefix(PASSED_ON) {
            let words = option_words(option, value)?;
            let known = passed.iter().position(|(known, _)| known == name).map(|known| passed.remove(known));
            passed.push((name.to_owned(), words));
            known.is_some()
        } else if let Some(key) = Key::find(name) {
            self.values.insert(key.name, value.to_owned()).is_some()
        } else {
            return Ok(Some(format!("unknown key {name}; it is left out")));
        };
        Ok(before.then(|| format!("{name} is there twice; this one counts")))
    }
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!name.is_empty() && name.chars().all(plain) && !value.is_empty()).then_some((name, value))
}

/// The words that httperf is told.
fn option_words(option: &str, value: &str) -> Result<Vec<String>, String> {
    let option = format!("--{option}");
    if value == NO_VALUE {
        return Ok(vec![option]);
    }
    let words = shlex::split(value).ok_or_else(|| format!("{value}: a quote is open; close it"))?;
    Ok([option].into_iter().chain(words).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Conf {
        read(Path::new("conf"), text).unwrap()
    }

    #[test]
    fn lines_are_keys_and_values() {
        let conf = of("# about\n\n host1 = a.example \nport1=81\nuri1  = /x?a=b\n");
        let read: Vec<_> = conf.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!((read.join(", "), conf.complaints.len()), ("host1 a.example, port1 81, uri1 /x?a=b".into(), 0));
    }

    #[test]
    fn options_of_httperf_are_passed_on_in_order() {
        let conf = of(
            "httperf_ssl = NULL\nhttperf_add-header = \"X-One: 1\\n\"\nhttperf_print-reply = body\nhttperf_ssl=NULL",
        );
        assert_eq!(conf.passed_on, ["--add-header", "X-One: 1\\n", "--print-reply", "body", "--ssl"]);
        assert_eq!(conf.complaints, ["conf, line 4: httperf_ssl is there twice; this one counts"]);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let conf = of("host1 a\nhost1 = a\nhost1 = b\nhots2 = c\nuri1 =\n");
        assert_eq!(conf.values["host1"], "b");
        let lines: Vec<_> = conf.complaints.iter().map(|told| told.split(": ").nth(1).unwrap()).collect();
        assert_eq!(
            lines,
            [
                "`host1 a` is left out; write key = value",
                "host1 is there twice; this one counts",
                "unknown key hots2; it is left out",
                "`uri1 =` is left out; write key = value"
            ]
        );
        assert!(read(Path::new("conf"), "httperf_add-header = \"X").unwrap_err().contains("close it"));
    }

    #[test]
    fn a_new_file_holds_every_default() {
        let conf = of(include_str!("autobench.conf"));
        assert!(conf.complaints.is_empty() && conf.passed_on.is_empty());
        let defaults = super::super::keys::KEYS.iter().filter_map(|key| Some((key.name, key.default?.to_owned())));
        assert_eq!(conf.values, defaults.collect());
    }
}
