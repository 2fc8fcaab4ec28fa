//! siege's options: one row an option. They are taken in order, behind what the file of directives says.

use super::rc;
use super::settings::{Format, Look, Settings};
use crate::caller::Caller;
use crate::getopt::Takes;
use crate::getopt::long::{Long, Read, Row};

/// What an option does.
#[derive(Clone, Copy)]
pub enum OptionEffect {
    /// The same as this directive.
    Directive(&'static str),
    /// The same as this directive with this value.
    As(&'static str, &'static str),
    /// Anything else.
    Set(fn(&mut Settings, &str)),
    /// Something is shown, and nothing is measured.
    InfoPage(InfoPage),
    /// It was looked at before all others.
    Before,
}

/// What is shown in place of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfoPage {
    /// `-V`.
    Version,
    /// `-h`.
    Help,
    /// `-C`.
    Config,
}

const fn row(short: char, long: &'static str, takes: Takes, does: OptionEffect) -> Row<OptionEffect> {
    Row { short: Some(short), long, takes, does }
}

const OPTIONS: &[Row<OptionEffect>] = &[
    row('V', "version", Takes::Nothing, OptionEffect::InfoPage(InfoPage::Version)),
    row('h', "help", Takes::Nothing, OptionEffect::InfoPage(InfoPage::Help)),
    row('C', "config", Takes::Nothing, OptionEffect::InfoPage(InfoPage::Config)),
    row('v', "verbose", Takes::Nothing, OptionEffect::As("verbose", "true")),
    row('q', "quiet", Takes::Nothing, OptionEffect::As("quiet", "true")),
    row('D', "debug", Takes::Nothing, OptionEffect::As("debug", "true")),
    row('g', "get", Takes::Nothing, OptionEffect::Set(|s, _| s.look = Some(Look::Heads))),
    row('p', "print", Takes::Nothing, OptionEffect::Set(|s, _| s.look = Some(Look::Page))),
    row('c', "concurrent", Takes::Value, OptionEffect::Directive("concurrent")),
    row('r', "reps", Takes::Value, OptionEffect::Directive("reps")),
    row('t', "time", Takes::Value, OptionEffect::Directive("time")),
    row('d', "delay", Takes::Value, OptionEffect::Directive("delay")),
    row('b', "benchmark", Takes::Nothing, OptionEffect::As("benchmark", "true")),
    row('i', "internet", Takes::Nothing, OptionEffect::As("internet", "true")),
    row('f', "file", Takes::Value, OptionEffect::Directive("file")),
    row('R', "rc", Takes::Value, OptionEffect::Before),
    row('l', "log", Takes::Attached, OptionEffect::Set(Settings::log_to)),
    row('m', "mark", Takes::Value, OptionEffect::Set(Settings::mark_with)),
    row('H', "header", Takes::Value, OptionEffect::Directive("header")),
    row('A', "user-agent", Takes::Value, OptionEffect::Directive("user-agent")),
    row('T', "content-type", Takes::Value, OptionEffect::Set(|s, v| s.content_type = Some(v.to_owned()))),
    row('j', "json-output", Takes::Nothing, OptionEffect::As("json_output", "true")),
    row('N', "no-parser", Takes::Nothing, OptionEffect::As("parser", "false")),
    row('F', "no-follow", Takes::Nothing, OptionEffect::As("follow-location", "false")),
];

/// Why nothing is measured.
#[derive(Debug)]
pub enum Refusal {
    /// This is shown; the settings are those that hold.
    InfoPage(InfoPage, Box<Settings>),
    /// This is said on stderr, and how siege then exits.
    Said(String, u8),
}

impl Settings {
    fn log_to(&mut self, file: &str) {
        self.logging = true;
        if !file.is_empty() {
            file.clone_into(&mut self.logfile);
        }
    }

    fn mark_with(&mut self, text: &str) {
        self.logging = true;
        self.mark = Some(text.to_owned());
    }
}

/// Reads the words behind the name under which siege was called.
pub fn parse(called: &str, words: &[String], caller: &Caller) -> Result<Settings, Refusal> {
    let mut settings = rc::read(named_rc(words).as_deref(), caller)?;
    let form = caller.variable("BRUNT_SIEGE_FORMAT");
    if let Some(form) = form.filter(|form| !form.is_empty()) {
        settings.format = Some(Format::named(&form).map_err(|why| said(called, &why))?);
    }
    let mut show = None;
    let mut long = Long::new(words, OPTIONS);
    while let Some(read) = long.next() {
        match read {
            Read::Option(row, value) => match row.does {
                OptionEffect::Directive(name) => settings.set(name, value.unwrap_or_default()),
                OptionEffect::As(name, value) => settings.take(name, value),
                OptionEffect::Set(set) => set(&mut settings, value.unwrap_or_default()),
                OptionEffect::InfoPage(what) => show = show.or(Some(what)),
                OptionEffect::Before => {}
            },
            Read::Ours(word) => take_ours(&mut settings, word, &mut long).map_err(|why| said(called, &why))?,
            Read::OptionError(wrong) => caller.err_line(&format!("{called}: {wrong}")),
        }
    }
    if let Some(url) = long.others().last() {
        settings.url = Some((*url).to_owned());
    }
    if let Some(show) = show {
        return Err(Refusal::InfoPage(show, Box::new(settings)));
    }
    match settings.headers.iter().find(|line| !line.contains(':')) {
        Some(_) => Err(Refusal::Said("[\x1b[1;31mfatal\x1b[0m] no ':' in http-header\n".into(), 1)),
        None => Ok(settings),
    }
}

impl Settings {
    /// A switch; `-j` says more than the environment.
    fn take(&mut self, name: &str, value: &str) {
        self.set(name, value);
        if name == "json_output" {
            self.format = None;
        }
    }
}

fn said(called: &str, why: &str) -> Refusal {
    Refusal::Said(format!("{called}: {why}\n"), 1)
}

fn take_ours<'a>(settings: &mut Settings, word: &'a str, long: &mut Long<'a, OptionEffect>) -> Result<(), String> {
    let Some(rest) = word.strip_prefix("siege-format") else { return settings.side.take(word, || long.take_word()) };
    let name = rest.strip_prefix('=').or_else(|| long.take_word()).unwrap_or_default();
    settings.format = Some(Format::named(name)?);
    Ok(())
}

/// What `-R` says: it counts before all else.
fn named_rc(words: &[String]) -> Option<String> {
    let mut long = Long::new(words, OPTIONS);
    let mut named = None;
    while let Some(read) = long.next() {
        match read {
            Read::Option(Row { does: OptionEffect::Before, .. }, value) => named = value.map(str::to_owned),
            Read::Ours(word) if !word.contains('=') && !["store", "no-notes"].contains(&word) => _ = long.take_word(),
            _ => {}
        }
    }
    named
}
