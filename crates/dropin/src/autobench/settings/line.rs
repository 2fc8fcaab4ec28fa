//! The command line of autobench and `autobench_admin`, read as Perl's scripts read theirs.

use super::super::super::getopt::long::{Long, Read};
use super::super::super::side::Side;
use super::super::End;
use super::super::keys::{KeyScope, help, rows};
use super::super::number::perl;
use super::Host;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was said, by name.
pub type Values = BTreeMap<&'static str, String>;

/// A command line, read.
pub struct Line {
    /// The tool's own options.
    pub values: Values,
    /// Ours.
    pub side: Vec<BruntOption>,
}

impl Line {
    /// Reads the words behind the name under which it was called.
    pub fn read(called: &str, words: &[String], whose: KeyScope) -> Result<Self, End> {
        let rows = rows(whose);
        let words = as_gnu_writes(words);
        let mut long = Long::new(&words, &rows);
        let mut line = Self { values: Values::new(), side: Vec::new() };
        while let Some(read) = long.next() {
            match read {
                Read::Option(row, value) => {
                    line.values.insert(row.does.name, value.unwrap_or("1").to_owned());
                }
                Read::Ours(word) if whose == KeyScope::Admin => {
                    let (name, value) = admins(word, || long.take_word())?;
                    line.values.insert(name, value);
                }
                Read::Ours(word) => line.side.push(aside(word, || long.take_word())?),
                Read::OptionError(wrong) => return Err(End::Died(format!("{wrong}\n{}", help(called, whose)))),
            }
        }
        if let Some(other) = long.others().first() {
            return Err(End::Died(format!("{other}: write options only\n{}", help(called, whose))));
        }
        if line.is("help") {
            return Err(End::Said(help(called, whose)));
        }
        Ok(line)
    }

    /// Whether it is there.
    pub fn is(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}

/// The options of ours that `autobench_admin` has: what is measured is measured elsewhere.
const ADMINS: [&str; 2] = ["secret", "start-in"];

/// One of these, and its value.
fn admins<'a>(word: &'a str, next: impl FnOnce() -> Option<&'a str>) -> Result<(&'static str, String), String> {
    let (name, joined) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let name = ADMINS.into_iter().find(|known| *known == name).ok_or_else(|| {
        format!("unknown option --brunt-{name}; write one of --brunt-secret FILE, --brunt-start-in SECONDS")
    })?;
    let value = joined.map_or_else(next, Some);
    Ok((name, value.ok_or_else(|| format!("--brunt-{name} has a value; write it behind"))?.to_owned()))
}

/// One of those that every drop-in has, looked at before the first test.
fn aside<'a>(word: &'a str, next: impl FnOnce() -> Option<&'a str>) -> Result<BruntOption, String> {
    let (name, joined) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let mut value = joined;
    Side::default().take(word, || {
        value = next();
        value
    })?;
    Ok(BruntOption { name: name.to_owned(), value: value.map(str::to_owned) })
}

/// Perl's reader of options takes one dash for two, and capitals for small letters.
fn as_gnu_writes(words: &[String]) -> Vec<String> {
    let other = |word: &String| {
        let bare = word.strip_prefix("--").or(word.strip_prefix('-'))?;
        let (name, behind) = bare.split_at(bare.find('=').unwrap_or(bare.len()));
        let ours = name.starts_with("brunt-") || !name.starts_with(|c: char| c.is_ascii_alphabetic());
        (!ours).then(|| format!("--{}{behind}", name.to_ascii_lowercase()))
    };
    words.iter().map(|word| other(word).unwrap_or_else(|| word.clone())).collect()
}

/// An option of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BruntOption {
    /// Its name, without `--brunt-`.
    name: String,
    /// Its value, where it has one.
    value: Option<String>,
}

/// Those of our options whose value is a file, which each test has to itself.
const FILES: [&str; 2] = ["json", "report"];

impl BruntOption {
    /// Whether it is the one of this name.
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// As a word, for the test of a host at a rate: its files bear both in their names.
    pub fn word(&self, host: &Host, rate: f64) -> String {
        let Self { name, value } = self;
        let file = |value: &String| {
            let path = PathBuf::from(value);
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
            let host = host.name.replace('/', "_");
            path.with_file_name(format!("{stem}-{host}-{}{ending}", perl(rate))).display().to_string()
        };
        match value {
            Some(value) if FILES.contains(&name.as_str()) => format!("--brunt-{name}={}", file(value)),
            Some(value) => format!("--brunt-{name}={value}"),
            None => format!("--brunt-{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_files_of_its_own() {
        let host = Host { name: "a.example".into(), port: 80, uri: "/".into() };
        let word = |word: &str, value: Option<&'static str>| aside(word, || value).unwrap().word(&host, 2.5);
        assert_eq!(word("json", Some("out/run.json")), "--brunt-json=out/run-a.example-2.5.json");
        assert_eq!(word("report=run", None), "--brunt-report=run-a.example-2.5");
        assert_eq!(
            (word("threads=2", None), word("no-notes", None)),
            ("--brunt-threads=2".into(), "--brunt-no-notes".into())
        );
        assert!(aside("nope", || None).is_err());
    }

    #[test]
    fn perl_s_ways_to_write_options() {
        let words = ["-host1", "--HOST2=B", "--brunt-json", "-9", "-", "--", "x"].map(str::to_owned);
        assert_eq!(as_gnu_writes(&words), ["--host1", "--host2=B", "--brunt-json", "-9", "-", "--", "x"]);
    }
}
