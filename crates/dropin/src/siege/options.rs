//! siege's options: one row an option. They are taken in order, behind what the file of directives says.

use super::rc;
use super::settings::{Format, Look, Settings};
use crate::caller::Caller;
use crate::getopt::Argument;
use crate::getopt::long::{LongItem, LongOptions, OptionRow};

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

const fn row(short: char, long: &'static str, argument: Argument, effect: OptionEffect) -> OptionRow<OptionEffect> {
    OptionRow { short: Some(short), long, argument, effect }
}

const OPTIONS: &[OptionRow<OptionEffect>] = &[
    row('V', "version", Argument::None, OptionEffect::InfoPage(InfoPage::Version)),
    row('h', "help", Argument::None, OptionEffect::InfoPage(InfoPage::Help)),
    row('C', "config", Argument::None, OptionEffect::InfoPage(InfoPage::Config)),
    row('v', "verbose", Argument::None, OptionEffect::As("verbose", "true")),
    row('q', "quiet", Argument::None, OptionEffect::As("quiet", "true")),
    row('D', "debug", Argument::None, OptionEffect::As("debug", "true")),
    row('g', "get", Argument::None, OptionEffect::Set(|s, _| s.look = Some(Look::Heads))),
    row('p', "print", Argument::None, OptionEffect::Set(|s, _| s.look = Some(Look::Page))),
    row('c', "concurrent", Argument::Required, OptionEffect::Directive("concurrent")),
    row('r', "reps", Argument::Required, OptionEffect::Directive("reps")),
    row('t', "time", Argument::Required, OptionEffect::Directive("time")),
    row('d', "delay", Argument::Required, OptionEffect::Directive("delay")),
    row('b', "benchmark", Argument::None, OptionEffect::As("benchmark", "true")),
    row('i', "internet", Argument::None, OptionEffect::As("internet", "true")),
    row('f', "file", Argument::Required, OptionEffect::Directive("file")),
    row('R', "rc", Argument::Required, OptionEffect::Before),
    row('l', "log", Argument::Optional, OptionEffect::Set(Settings::log_to)),
    row('m', "mark", Argument::Required, OptionEffect::Set(Settings::mark_with)),
    row('H', "header", Argument::Required, OptionEffect::Directive("header")),
    row('A', "user-agent", Argument::Required, OptionEffect::Directive("user-agent")),
    row('T', "content-type", Argument::Required, OptionEffect::Set(|s, v| s.content_type = Some(v.to_owned()))),
    row('j', "json-output", Argument::None, OptionEffect::As("json_output", "true")),
    row('N', "no-parser", Argument::None, OptionEffect::As("parser", "false")),
    row('F', "no-follow", Argument::None, OptionEffect::As("follow-location", "false")),
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
pub fn parse(program_name: &str, words: &[String], caller: &Caller) -> Result<Settings, Refusal> {
    let mut settings = rc::read(named_rc(words).as_deref(), caller)?;
    let form = caller.variable("BRUNT_SIEGE_FORMAT");
    if let Some(form) = form.filter(|form| !form.is_empty()) {
        settings.format = Some(Format::named(&form).map_err(|why| said(program_name, &why))?);
    }
    let mut show = None;
    let mut long = LongOptions::new(words, OPTIONS);
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(row, value) => match row.effect {
                OptionEffect::Directive(name) => settings.set(name, value.unwrap_or_default()),
                OptionEffect::As(name, value) => settings.take(name, value),
                OptionEffect::Set(set) => set(&mut settings, value.unwrap_or_default()),
                OptionEffect::InfoPage(what) => show = show.or(Some(what)),
                OptionEffect::Before => {}
            },
            LongItem::BruntOption(word) => {
                take_ours(&mut settings, word, &mut long).map_err(|why| said(program_name, &why))?
            }
            LongItem::OptionError(wrong) => caller.err_line(&format!("{program_name}: {wrong}")),
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

fn said(program_name: &str, why: &str) -> Refusal {
    Refusal::Said(format!("{program_name}: {why}\n"), 1)
}

fn take_ours<'a>(
    settings: &mut Settings,
    word: &'a str,
    long: &mut LongOptions<'a, OptionEffect>,
) -> Result<(), String> {
    let Some(rest) = word.strip_prefix("siege-format") else {
        return settings.brunt_options.take(word, || long.take_word());
    };
    let name = rest.strip_prefix('=').or_else(|| long.take_word()).unwrap_or_default();
    settings.format = Some(Format::named(name)?);
    Ok(())
}

/// What `-R` says: it counts before all else.
fn named_rc(words: &[String]) -> Option<String> {
    let mut long = LongOptions::new(words, OPTIONS);
    let mut named = None;
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(OptionRow { effect: OptionEffect::Before, .. }, value) => named = value.map(str::to_owned),
            LongItem::BruntOption(word) if !word.contains('=') && !["store", "no-notes"].contains(&word) => {
                _ = long.take_word()
            }
            _ => {}
        }
    }
    named
}
