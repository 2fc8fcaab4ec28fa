//! The names that autobench knows, of options and in the configuration file alike; a row each.

use super::super::getopt::Takes;
use super::super::getopt::long::Row;

/// A name's use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyScope {
    /// Of `autobench` alone.
    Autobench,
    /// Of `autobench_admin` alone.
    Admin,
    /// Of both.
    Both,
}

/// One name.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// It, as written.
    pub name: &'static str,
    /// What holds where neither command line nor file says anything; None: nothing.
    pub default: Option<&'static str>,
    /// Whether a value is written with the option.
    pub takes: Takes,
    /// Whose option it is. In the file it may stand for either, since both read one file.
    pub whose: KeyScope,
    /// What it is, for the help.
    pub about: &'static str,
}

const fn key(name: &'static str, default: Option<&'static str>, about: &'static str) -> Key {
    Key { name, default, takes: Takes::Value, whose: KeyScope::Both, about }
}

const fn switch(name: &'static str, about: &'static str) -> Key {
    Key { name, default: None, takes: Takes::Nothing, whose: KeyScope::Both, about }
}

/// Every name.
pub const KEYS: &[Key] = &[
    switch("single_host", "test host1 alone"),
    key("host1", Some("testhost1"), "the first server"),
    key("host2", Some("testhost2"), "the second server"),
    key("uri1", Some("/"), "path requested from the first server"),
    key("uri2", Some("/"), "path requested from the second server"),
    key("port1", Some("80"), "port of the first server"),
    key("port2", Some("80"), "port of the second server"),
    key("low_rate", Some("20"), "connections per second of the first step"),
    key("high_rate", Some("200"), "connections per second of the last step"),
    key("rate_step", Some("10"), "increment of the rate per step"),
    key("num_conn", Some("5000"), "connections per test"),
    key("num_call", Some("10"), "requests per connection"),
    key("const_test_time", None, "duration of a test in seconds, 10 or more, in place of num_conn"),
    key("timeout", Some("5"), "timeout of a connection without progress, in seconds"),
    key("output_fmt", Some("tsv"), "tsv or csv"),
    key("file", None, "file for the table, in place of stdout"),
    switch("quiet", "no httperf reports on stdout (autobench_admin never prints them)"),
    Key {
        whose: KeyScope::Admin,
        ..key("clients", Some("localhost:4600"), "machines with autobenchd, host:port,host:port")
    },
    Key { whose: KeyScope::Autobench, ..key("httperf", None, "path of httperf, in place of brunt's own") },
    switch("debug", "print httperf's command lines to stderr"),
    switch("verbose", "verbose; the same as debug"),
    switch("version", "the version"),
    switch("help", "this"),
];

impl Key {
    /// The name's row.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Whether this is an option of a program.
    pub fn is_of(&self, whose: KeyScope) -> bool {
        self.whose == KeyScope::Both || self.whose == whose
    }
}

/// The options of a program, as a table to read its command line by.
pub fn rows(whose: KeyScope) -> Vec<Row<&'static Key>> {
    let own = KEYS.iter().filter(|key| key.is_of(whose));
    own.map(|key| Row { short: None, long: key.name, takes: key.takes, does: key }).collect()
}

/// The options of a program, for people.
pub fn help(called: &str, whose: KeyScope) -> String {
    let own = KEYS.iter().filter(|key| key.is_of(whose));
    let line = |key: &Key| {
        let value = if key.takes == Takes::Value { " VALUE" } else { "" };
        let default = key.default.map(|default| format!(" ({default})")).unwrap_or_default();
        format!("  {:24}{}{default}\n", format!("--{}{value}", key.name), key.about)
    };
    let lines: String = own.map(line).collect();
    format!("usage: {called} [OPTIONS]; defaults are read from ~/.autobench.conf\n{lines}")
}
