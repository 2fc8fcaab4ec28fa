//! The appearance of reports: `-v`, `--color`, `--hide-notes`, their environment variables, and the
//! width of the terminal.

use crate::suggestions::{names, of_suggestions};
use crate::terminal;
use brunt_model::Finding;
use brunt_model::finding::Severity;
use brunt_report::view::{BRIEF_LINES, COLUMNS, Color, Detail, View};
use brunt_spec::error::nearest;
use brunt_spec::words::named::Suggestion;
use clap::{Args, ValueEnum};
use std::io::{self, IsTerminal};
use std::sync::OnceLock;

/// Range of widths of reports, in columns.
const MIN_COLUMNS: usize = 60;
const MAX_COLUMNS: usize = 160;

/// Environment variable with names of notes to hide. The option overrides it.
const HIDE_NOTES: &str = "BRUNT_HIDE_NOTES";

static CURRENT: OnceLock<View> = OnceLock::new();
static HIDDEN_NOTES: OnceLock<Vec<String>> = OnceLock::new();

/// Options of every command that writes reports.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct ViewArgs {
    /// Full text report: all percentiles and clocks, phases, histogram, generator, evidence, remedies
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Colors in the text report; `auto`: on a terminal, unless `NO_COLOR` or `CLICOLOR=0` is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: ColorChoice,
    /// Notes not to show, by name, such as `same_machine,closed_loop` (docs/findings.md); warnings are always shown. For
    /// good: the environment variable `BRUNT_HIDE_NOTES`
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',', value_parser = note_name, add = of_suggestions(finding_names))]
    pub hide_notes: Vec<String>,
}

/// When there are colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that has them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Kind of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Terminal,
    NonTerminal,
}

/// Sets the view of this process from its arguments.
pub fn adopt(args: &ViewArgs) {
    let stream = if io::stdout().is_terminal() { Stream::Terminal } else { Stream::NonTerminal };
    let detail = if args.verbose { Detail::Full } else { Detail::Brief };
    let color = color(args.color, stream, |name| std::env::var(name).ok());
    let columns = terminal::columns(io::stdout()).clamp(MIN_COLUMNS, MAX_COLUMNS);
    let lines = (stream == Stream::Terminal).then_some(BRIEF_LINES);
    CURRENT.get_or_init(|| View { columns, color, detail, lines });
}

/// Sets the hidden notes: those of the option, otherwise those of the environment.
///
/// # Errors
///
/// If the environment names an unknown note.
pub fn hide_notes(args: &ViewArgs) -> Result<(), String> {
    let hidden = match std::env::var(HIDE_NOTES) {
        Ok(names) if args.hide_notes.is_empty() => {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            names
                .map(|name| note_name(name).map_err(|wrong| format!("{HIDE_NOTES}: {wrong}")))
                .collect::<Result<_, _>>()?
        }
        _ => args.hide_notes.clone(),
    };
    HIDDEN_NOTES.get_or_init(|| hidden);
    Ok(())
}

/// Returns the findings that are not hidden.
pub fn without_hidden(findings: &[Finding]) -> Vec<Finding> {
    let hidden = HIDDEN_NOTES.get().map_or(&[][..], Vec::as_slice);
    findings
        .iter()
        .filter(|finding| finding.severity == Severity::Warning || !hidden.contains(&finding.rule))
        .cloned()
        .collect()
}

/// Parses the name of a finding.
fn finding_names() -> Vec<Suggestion> {
    names(brunt_judge::finding_names())
}

fn note_name(word: &str) -> Result<String, String> {
    if brunt_judge::finding_names().any(|name| name == word) {
        return Ok(word.to_owned());
    }
    let instead = match nearest(word, brunt_judge::finding_names()) {
        Some(near) => format!("write {near}"),
        None => {
            format!("write one of {}", brunt_judge::finding_names().collect::<Vec<_>>().join(", "))
        }
    };
    Err(format!("`{word}`: no finding has this name; {instead}"))
}

/// View of reports on standard output.
pub fn of_stdout() -> View {
    CURRENT.get().copied().unwrap_or_default()
}

/// View of reports in files.
pub fn of_file() -> View {
    View { columns: COLUMNS, color: Color::None, lines: None, ..of_stdout() }
}

/// Decides about colors by <https://no-color.org> and <https://bixense.com/clicolors>.
/// The option overrides the environment.
fn color(
    choice: ColorChoice,
    stream: Stream,
    environment: impl Fn(&str) -> Option<String>,
) -> Color {
    let is_set = |name| environment(name).is_some_and(|value| !value.is_empty());
    let is_value = |name, word| environment(name).is_some_and(|value| value == word);
    let is_colored = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if is_set("NO_COLOR") => false,
        ColorChoice::Auto if is_set("CLICOLOR_FORCE") && !is_value("CLICOLOR_FORCE", "0") => true,
        ColorChoice::Auto => {
            stream == Stream::Terminal && !is_value("CLICOLOR", "0") && !is_value("TERM", "dumb")
        }
    };
    if is_colored { Color::Ansi } else { Color::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_depends_on_the_option_then_no_color_then_clicolor() {
        use ColorChoice::{Always, Auto, Never};
        use Stream::{NonTerminal, Terminal};
        for (when, stream, environment, expected) in [
            (Auto, Terminal, &[][..], Color::Ansi),
            (Auto, NonTerminal, &[], Color::None),
            (Auto, Terminal, &[("NO_COLOR", "1")], Color::None),
            (Auto, Terminal, &[("NO_COLOR", "")], Color::Ansi),
            (Auto, Terminal, &[("CLICOLOR", "0")], Color::None),
            (Auto, Terminal, &[("TERM", "dumb")], Color::None),
            (Auto, NonTerminal, &[("CLICOLOR_FORCE", "1")], Color::Ansi),
            (Auto, NonTerminal, &[("CLICOLOR_FORCE", "0")], Color::None),
            (Auto, NonTerminal, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], Color::None),
            (Always, NonTerminal, &[("NO_COLOR", "1")], Color::Ansi),
            (Never, Terminal, &[("CLICOLOR_FORCE", "1")], Color::None),
        ] {
            let of = |name: &str| {
                environment
                    .iter()
                    .find(|(own, _)| *own == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(color(when, stream, of), expected, "{when:?} {stream:?} {environment:?}");
        }
    }
}
