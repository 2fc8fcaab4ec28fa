//! The table of siege's options. They are applied in order, after the directives of siegerc.

use super::rc;
use super::settings::{Look, SiegeFormat, SiegeSettings};
use crate::caller::Caller;
use crate::getopt::Argument;
use crate::getopt::long::{LongItem, LongOptions, OptionRow};

/// Effect of an option.
#[derive(Clone, Copy)]
pub enum SiegeOption {
    /// Sets this directive to the option's value.
    Directive(&'static str),
    /// Sets this directive to this value.
    SetTo(&'static str, &'static str),
    Set(fn(&mut SiegeSettings, &str)),
    /// Prints a page and exits.
    InfoPage(InfoPage),
    /// No effect: the option was applied before all others.
    AlreadyApplied,
}

/// A page that is printed in place of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfoPage {
    /// `-V`.
    Version,
    /// `-h`.
    Help,
    /// `-C`.
    Config,
}

const fn row(
    short: char,
    long: &'static str,
    argument: Argument,
    effect: SiegeOption,
) -> OptionRow<SiegeOption> {
    OptionRow { short: Some(short), long, argument, effect }
}

const OPTIONS: &[OptionRow<SiegeOption>] = &[
    row('V', "version", Argument::None, SiegeOption::InfoPage(InfoPage::Version)),
    row('h', "help", Argument::None, SiegeOption::InfoPage(InfoPage::Help)),
    row('C', "config", Argument::None, SiegeOption::InfoPage(InfoPage::Config)),
    row('v', "verbose", Argument::None, SiegeOption::SetTo("verbose", "true")),
    row('q', "quiet", Argument::None, SiegeOption::SetTo("quiet", "true")),
    row('D', "debug", Argument::None, SiegeOption::SetTo("debug", "true")),
    row('g', "get", Argument::None, SiegeOption::Set(|s, _| s.look = Some(Look::Heads))),
    row('p', "print", Argument::None, SiegeOption::Set(|s, _| s.look = Some(Look::Page))),
    row('c', "concurrent", Argument::Required, SiegeOption::Directive("concurrent")),
    row('r', "reps", Argument::Required, SiegeOption::Directive("reps")),
    row('t', "time", Argument::Required, SiegeOption::Directive("time")),
    row('d', "delay", Argument::Required, SiegeOption::Directive("delay")),
    row('b', "benchmark", Argument::None, SiegeOption::SetTo("benchmark", "true")),
    row('i', "internet", Argument::None, SiegeOption::SetTo("internet", "true")),
    row('f', "file", Argument::Required, SiegeOption::Directive("file")),
    row('R', "rc", Argument::Required, SiegeOption::AlreadyApplied),
    row('l', "log", Argument::Optional, SiegeOption::Set(SiegeSettings::log_to)),
    row('m', "mark", Argument::Required, SiegeOption::Set(SiegeSettings::mark_with)),
    row('H', "header", Argument::Required, SiegeOption::Directive("header")),
    row('A', "user-agent", Argument::Required, SiegeOption::Directive("user-agent")),
    row(
        'T',
        "content-type",
        Argument::Required,
        SiegeOption::Set(|s, v| s.content_type = Some(v.to_owned())),
    ),
    row('j', "json-output", Argument::None, SiegeOption::SetTo("json_output", "true")),
    row('N', "no-parser", Argument::None, SiegeOption::SetTo("parser", "false")),
    row('F', "no-follow", Argument::None, SiegeOption::SetTo("follow-location", "false")),
];

/// Why siege exits without a run.
#[derive(Debug)]
pub enum SiegeExit {
    /// Prints a page. The settings are the effective ones.
    InfoPage(InfoPage, Box<SiegeSettings>),
    /// Prints this message to stderr and exits with this code.
    Message(String, u8),
}

impl SiegeSettings {
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

/// Parses the arguments that follow the program's name.
pub fn parse(
    program_name: &str,
    words: &[String],
    caller: &Caller,
) -> Result<SiegeSettings, SiegeExit> {
    let mut settings = rc::read(rc_option(words).as_deref(), caller)?;
    let form = caller.variable("BRUNT_SIEGE_FORMAT");
    if let Some(form) = form.filter(|form| !form.is_empty()) {
        settings.format =
            Some(SiegeFormat::parse(&form).map_err(|why| refusal(program_name, &why))?);
    }
    let mut page = None;
    let mut long = LongOptions::new(words, OPTIONS);
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(row, value) => match row.effect {
                SiegeOption::Directive(name) => settings.set(name, value.unwrap_or_default()),
                SiegeOption::SetTo(name, value) => settings.set_switch(name, value),
                SiegeOption::Set(set) => set(&mut settings, value.unwrap_or_default()),
                // The page is printed after all options, since `-C` shows their effects.
                SiegeOption::InfoPage(first) => page = page.or(Some(first)),
                SiegeOption::AlreadyApplied => {}
            },
            LongItem::BruntOption(word) => {
                set_brunt_option(&mut settings, word, &mut long)
                    .map_err(|why| refusal(program_name, &why))?;
            }
            // siege continues after an invalid option.
            LongItem::OptionError(wrong) => caller.err_line(&format!("{program_name}: {wrong}")),
        }
    }
    // siege uses the last of several URLs.
    if let Some(url) = long.others().last() {
        settings.url = Some((*url).to_owned());
    }
    if let Some(page) = page {
        return Err(SiegeExit::InfoPage(page, Box::new(settings)));
    }
    match settings.headers.iter().find(|line| !line.contains(':')) {
        Some(_) => {
            Err(SiegeExit::Message("[\x1b[1;31mfatal\x1b[0m] no ':' in http-header\n".into(), 1))
        }
        None => Ok(settings),
    }
}

impl SiegeSettings {
    /// Sets a switch. `-j` overrides the format from the environment.
    fn set_switch(&mut self, name: &str, value: &str) {
        self.set(name, value);
        if name == "json_output" {
            self.format = None;
        }
    }
}

fn refusal(program_name: &str, why: &str) -> SiegeExit {
    SiegeExit::Message(format!("{program_name}: {why}\n"), 1)
}

fn set_brunt_option<'a>(
    settings: &mut SiegeSettings,
    word: &'a str,
    long: &mut LongOptions<'a, SiegeOption>,
) -> Result<(), String> {
    let Some(rest) = word.strip_prefix("siege-format") else {
        return settings.brunt_options.take(word, || long.take_word());
    };
    let name = rest.strip_prefix('=').or_else(|| long.take_word()).unwrap_or_default();
    settings.format = Some(SiegeFormat::parse(name)?);
    Ok(())
}

/// Value of `-R`, which is needed before all other options.
fn rc_option(words: &[String]) -> Option<String> {
    let mut long = LongOptions::new(words, OPTIONS);
    let mut path = None;
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(OptionRow { effect: SiegeOption::AlreadyApplied, .. }, value) => {
                path = value.map(str::to_owned);
            }
            // The value of such an option must not be read as an option.
            LongItem::BruntOption(word)
                if !word.contains('=') && !["store", "no-notes"].contains(&word) =>
            {
                _ = long.take_word();
            }
            _ => {}
        }
    }
    path
}
