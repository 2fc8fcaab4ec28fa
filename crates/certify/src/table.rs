//! Lays out the league as grids of text: the error of each tool in each case, and the figures
//! that each tool reported.
//!
//! [`crate::show`] formats the grids as text or Markdown.

use crate::cases::{Comparand, ReferenceCase};
use crate::figures::{CertifiedFigures, FigureKey, FigureUnit, KEYS};
use crate::league::{League, LeagueEntry};
use crate::tools::{LoadMode, ScoredTool};
use crate::trial::TrialOutcome;
use crate::verdict::{RunMark, deviation};
use brunt_model::numbers::narrow_percent;

/// Cell of a figure that a tool cannot measure, or does not report.
pub const DASH: &str = "–";

/// A table with names in its first column.
#[derive(Debug, PartialEq, Eq)]
pub struct Grid {
    /// Title of the table.
    pub title: String,
    /// Explanation for the reader.
    pub about: String,
    /// Headings of the columns.
    pub head: Vec<String>,
    /// Rows, each as long as the heading.
    pub rows: Vec<Vec<String>>,
}

/// Returns the league of one load mode: a row for each tool, a column for each case.
pub fn league_grid(league: &League, way: LoadMode) -> Grid {
    let head = ["tool"].into_iter().chain(league.cases.iter().map(|case| case.name)).chain(["met"]);
    let about = match way {
        LoadMode::Open => {
            "Requests at a fixed rate, independent of the server; the truth is their waiting time."
        }
        LoadMode::Closed => {
            "A fixed number of connections, one request at a time; the truth is of received requests."
        }
    };
    Grid {
        title: format!("{} loop: the figure farthest from the truth", capital(way.name())),
        about: about.to_owned(),
        head: head.map(Into::into).collect(),
        rows: league.tools.iter().map(|tool| row(league, tool, way)).collect(),
    }
}

/// Returns the reported figures, the truth and the error of every tool in one case.
pub fn details(league: &League, case: &ReferenceCase, way: LoadMode) -> Option<Grid> {
    let entries: Vec<_> =
        league.tools.iter().filter_map(|tool| league.entry(case, tool, way)).collect();
    let seconds = entries.first()?.trial.seconds;
    let load = match way {
        LoadMode::Open => format!("{} requests/s", case.rate),
        LoadMode::Closed if case.connections == 1 => "1 connection".to_owned(),
        LoadMode::Closed => format!("{} connections", case.connections),
    };
    let shown: Vec<_> = KEYS.iter().filter(|key| is_shown(key, case.compares)).collect();
    let head = ["", ""].into_iter().map(str::to_owned).chain(shown.iter().map(|key| heading(key)));
    Some(Grid {
        title: format!("{}, {} loop", case.name, way.name()),
        about: format!("{}; {load}, {seconds} s", case.about),
        head: head.collect(),
        rows: entries.iter().flat_map(|entry| three_rows(entry, &shown)).collect(),
    })
}

fn row(league: &League, tool: &ScoredTool, way: LoadMode) -> Vec<String> {
    let entries: Vec<_> = league.cases.iter().map(|case| league.entry(case, tool, way)).collect();
    let cells = entries.iter().map(|entry| entry.map_or(DASH.to_owned(), cell));
    let marks: Vec<_> = entries.iter().filter_map(|entry| mark_of((*entry)?)).collect();
    let within = match marks.len() {
        0 => DASH.to_owned(),
        all => format!("{}/{all}", marks.iter().filter(|mark| mark.met).count()),
    };
    [tool.name.to_owned()].into_iter().chain(cells).chain([within]).collect()
}

/// Returns the mark of an entry, if it has one.
pub fn mark_of(entry: &LeagueEntry) -> Option<RunMark> {
    match entry.outcome {
        TrialOutcome::Scored { mark, .. } => mark,
        _ => None,
    }
}

/// Describes an entry in a line.
pub fn line(entry: &LeagueEntry) -> String {
    let trial = &entry.trial;
    let outcome = match (&entry.outcome, mark_of(entry)) {
        (_, Some(mark)) => {
            format!(
                "{} at {}{}",
                narrow_percent(mark.deviation),
                mark.figure,
                if mark.met { "" } else { ", beyond the limit" }
            )
        }
        (TrialOutcome::NoTruth(reason), _) => format!("no truth: {reason}"),
        (TrialOutcome::Unknown(reason), _) => {
            format!("unknown, the machine was disturbed: {reason}")
        }
        (TrialOutcome::Failed(reason), _) => format!("failed: {reason}"),
        _ => "printed no figure that is compared".into(),
    };
    format!("{:9} {:10} {:6}  {outcome}", trial.case.name, trial.tool.name, trial.way.name())
}

fn cell(entry: &LeagueEntry) -> String {
    match &entry.outcome {
        TrialOutcome::NoTruth(_) => "no truth".into(),
        TrialOutcome::Unknown(_) => "unknown".into(),
        TrialOutcome::Failed(_) => "failed".into(),
        TrialOutcome::Interrupted | TrialOutcome::Scored { mark: None, .. } => DASH.into(),
        TrialOutcome::Scored { mark: Some(mark), .. } => {
            let sign = if mark.met { "✓" } else { "✗" };
            let mean = if mark.figure == "mean" { "m" } else { "" };
            format!("{sign} {}{mean}", narrow_percent(mark.deviation))
        }
    }
}

fn three_rows(entry: &LeagueEntry, keys: &[&FigureKey]) -> Vec<Vec<String>> {
    let name = entry.trial.tool.name;
    let TrialOutcome::Scored { reported, truth, .. } = &entry.outcome else {
        return vec![named(name, &cell(entry), keys.iter().map(|_| DASH.to_owned()))];
    };
    let errors = keys.iter().map(|key| {
        let error = deviation((key.value)(reported), (key.value)(truth));
        error.map_or(DASH.to_owned(), narrow_percent)
    });
    vec![
        named(name, "reported", figure_cells(reported, keys).into_iter()),
        named("", "true", figure_cells(truth, keys).into_iter()),
        named("", "error", errors),
    ]
}

fn figure_cells(figures: &CertifiedFigures, keys: &[&FigureKey]) -> Vec<String> {
    keys.iter().map(|key| figure(key, (key.value)(figures))).collect()
}

fn named(name: &str, label: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [name.to_owned(), label.to_owned()].into_iter().chain(cells).collect()
}

/// True if a case shows this figure. A case that compares response times does not show the kinds of
/// errors, and vice versa.
fn is_shown(key: &FigureKey, compares: Comparand) -> bool {
    match compares {
        Comparand::Times => !["failed", "refused"].contains(&key.name),
        Comparand::Errors => key.unit != FigureUnit::Time,
    }
}

fn heading(key: &FigureKey) -> String {
    if key.unit == FigureUnit::Time { format!("{} ms", key.name) } else { key.name.to_owned() }
}

fn figure(key: &FigureKey, value: Option<f64>) -> String {
    let Some(value) = value else { return DASH.to_owned() };
    match key.unit {
        FigureUnit::Time if value >= 0.1 => format!("{:.1}", value * 1e3),
        FigureUnit::Time => format!("{:.3}", value * 1e3),
        FigureUnit::Rate => format!("{value:.1}"),
        FigureUnit::Count => format!("{value:.0}"),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
