//! Reads `~/.autobench.conf` (lines of `key = value`), and creates the file if it does not exist.
//!
//! It does not know what the values mean. Values of `httperf_…` are split into
//! words like in a shell.

use super::StopReason;
use super::keys::AutobenchKey;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Site-wide configuration files. The first existing one is copied for a new user.
const MASTERS: [&str; 2] = ["/etc/autobench.conf", "/usr/local/etc/autobench.conf"];
/// Prefix of a key that names an option of httperf.
const HTTPERF_PREFIX: &str = "httperf_";
/// The value of an option without a value.
const NO_VALUE: &str = "NULL";

/// Contents of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    /// Values of autobench's own keys.
    pub values: BTreeMap<&'static str, String>,
    /// Options of httperf, in the order of the file.
    pub httperf_options: Vec<String>,
    /// Warnings about invalid lines.
    pub complaints: Vec<String>,
}

/// Reads the file from this home directory. Without one, creates it and ends the program.
pub fn load(home: Option<PathBuf>) -> Result<Conf, StopReason> {
    let home =
        home.ok_or_else(|| "HOME is not set; .autobench.conf is looked for there".to_owned())?;
    let path = home.join(".autobench.conf");
    // Like autobench, which creates it with any command line.
    if !path.exists() {
        fs::write(&path, master())
            .map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        return Err(StopReason::Output("Installation complete - please rerun autobench\n".into()));
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(read(&path, &text)?)
}

/// Text of a new configuration file.
fn master() -> String {
    let master = MASTERS.iter().find_map(|path| fs::read_to_string(path).ok());
    master.unwrap_or_else(|| include_str!("autobench.conf").to_owned())
}

fn read(path: &Path, text: &str) -> Result<Conf, String> {
    let mut conf = Conf::default();
    let mut httperf_options = Vec::new();
    let lines = text.lines().map(str::trim).enumerate();
    for (index, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let place = format!("{}, line {}", path.display(), index + 1);
        let complaint = match pair(line) {
            Some((name, value)) => conf
                .add(name, value, &mut httperf_options)
                .map_err(|why| format!("{place}: {why}"))?,
            None => Some(format!("`{line}` is left out; write key = value")),
        };
        conf.complaints.extend(complaint.map(|complaint| format!("{place}: {complaint}")));
    }
    conf.httperf_options = httperf_options.into_iter().flat_map(|(_, words)| words).collect();
    Ok(conf)
}

/// Options of httperf, each with its key, in order.
type HttperfOptions = Vec<(String, Vec<String>)>;

impl Conf {
    /// Adds a line. Returns a warning for an unknown or repeated key.
    fn add(
        &mut self,
        name: &str,
        value: &str,
        httperf_options: &mut HttperfOptions,
    ) -> Result<Option<String>, String> {
        let is_repeated = if let Some(option) = name.strip_prefix(HTTPERF_PREFIX) {
            let words = option_words(option, value)?;
            let previous = httperf_options
                .iter()
                .position(|(key, _)| key == name)
                .map(|position| httperf_options.remove(position));
            // The later line counts, at its own position.
            httperf_options.push((name.to_owned(), words));
            previous.is_some()
        } else if let Some(key) = AutobenchKey::find(name) {
            self.values.insert(key.name, value.to_owned()).is_some()
        } else {
            return Ok(Some(format!("unknown key {name}; it is left out")));
        };
        Ok(is_repeated.then(|| format!("{name} is given twice; this one is used")))
    }
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let value = value.trim();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    (!name.is_empty() && is_name && !value.is_empty()).then_some((name, value))
}

/// Builds the arguments of httperf for an option.
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
        let read: Vec<_> =
            conf.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(
            (read.join(", "), conf.complaints.len()),
            ("host1 a.example, port1 81, uri1 /x?a=b".into(), 0)
        );
    }

    #[test]
    fn options_of_httperf_are_passed_on_in_order() {
        let conf = of(
            "httperf_ssl = NULL\nhttperf_add-header = \"X-One: 1\\n\"\nhttperf_print-reply = body\nhttperf_ssl=NULL",
        );
        assert_eq!(
            conf.httperf_options,
            ["--add-header", "X-One: 1\\n", "--print-reply", "body", "--ssl"]
        );
        assert_eq!(conf.complaints, ["conf, line 4: httperf_ssl is given twice; this one is used"]);
    }

    #[test]
    fn invalid_lines_are_reported() {
        let conf = of("host1 a\nhost1 = a\nhost1 = b\nhots2 = c\nuri1 =\n");
        assert_eq!(conf.values["host1"], "b");
        let lines: Vec<_> =
            conf.complaints.iter().map(|told| told.split(": ").nth(1).unwrap()).collect();
        assert_eq!(
            lines,
            [
                "`host1 a` is left out; write key = value",
                "host1 is given twice; this one is used",
                "unknown key hots2; it is left out",
                "`uri1 =` is left out; write key = value"
            ]
        );
        assert!(
            read(Path::new("conf"), "httperf_add-header = \"X").unwrap_err().contains("close it")
        );
    }

    #[test]
    fn a_new_file_contains_every_default() {
        let conf = of(include_str!("autobench.conf"));
        assert!(conf.complaints.is_empty() && conf.httperf_options.is_empty());
        let defaults = super::super::keys::KEYS
            .iter()
            .filter_map(|key| Some((key.name, key.default?.to_owned())));
        assert_eq!(conf.values, defaults.collect());
    }
}
