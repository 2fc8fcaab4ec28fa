//! The keys of autobench, one row each. The command line and the configuration file share them.

use super::super::getopt::Argument;
use super::super::getopt::long::OptionRow;

/// Programs that use a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyScope {
    /// `autobench` only.
    Autobench,
    /// `autobench_admin` only.
    Admin,
    Both,
}

#[derive(Debug, Clone, Copy)]
pub struct AutobenchKey {
    pub name: &'static str,
    /// Value if neither command line nor file sets it.
    pub default: Option<&'static str>,
    /// Whether the command-line option takes a value.
    pub argument: Argument,
    /// Program that has this option. The file may contain keys of both programs.
    pub scope: KeyScope,
    /// Description for `--help`.
    pub about: &'static str,
}

const fn key(
    name: &'static str,
    default: Option<&'static str>,
    about: &'static str,
) -> AutobenchKey {
    AutobenchKey { name, default, argument: Argument::Required, scope: KeyScope::Both, about }
}

const fn switch(name: &'static str, about: &'static str) -> AutobenchKey {
    AutobenchKey { name, default: None, argument: Argument::None, scope: KeyScope::Both, about }
}

pub const KEYS: &[AutobenchKey] = &[
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
    AutobenchKey {
        scope: KeyScope::Admin,
        ..key("clients", Some("localhost:4600"), "machines with autobenchd, host:port,host:port")
    },
    AutobenchKey {
        scope: KeyScope::Autobench,
        ..key("httperf", None, "path of httperf, in place of brunt's own")
    },
    switch("debug", "print httperf's command lines to stderr"),
    switch("verbose", "verbose; the same as debug"),
    switch("version", "the version"),
    switch("help", "this"),
];

impl AutobenchKey {
    /// Finds a key by name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// True if the key is an option of this program.
    pub fn is_of(&self, scope: KeyScope) -> bool {
        self.scope == KeyScope::Both || self.scope == scope
    }
}

/// The options of a program, as a table for the parser.
pub fn rows(scope: KeyScope) -> Vec<OptionRow<&'static AutobenchKey>> {
    let keys = KEYS.iter().filter(|key| key.is_of(scope));
    keys.map(|key| OptionRow { short: None, long: key.name, argument: key.argument, effect: key })
        .collect()
}

/// Formats the help text of a program.
pub fn help(program_name: &str, scope: KeyScope) -> String {
    let lines: String = KEYS.iter().filter(|key| key.is_of(scope)).map(help_line).collect();
    format!("usage: {program_name} [OPTIONS]; defaults are read from ~/.autobench.conf\n{lines}")
}

fn help_line(key: &AutobenchKey) -> String {
    let value = if key.argument == Argument::Required { " VALUE" } else { "" };
    let default = key.default.map(|default| format!(" ({default})")).unwrap_or_default();
    format!("  {:24}{}{default}\n", format!("--{}{value}", key.name), key.about)
}
