//! The league as grids of words: who is how near to the truth in which case, and what each has told.
//!
//! Only words; [`crate::show`] sets them as text or Markdown.

use crate::cases::{Case, Comparand};
use crate::figures::{Figures, KEYS, Key, Unit};
use crate::league::{Entry, League};
use crate::tools::{LoadMode, Tool};
use crate::trial::Outcome;
use crate::verdict::{Mark, deviation};
use brunt_model::numbers::narrow_percent;

/// What a tool cannot do, or does not tell.
pub const DASH: &str = "–";

/// A table: the first column is of names.
#[derive(Debug, PartialEq, Eq)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// What should be known to read it.
    pub about: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

/// The league of one way of putting load: a row a tool, a column a case.
pub fn league(league: &League, way: LoadMode) -> Grid {
    let head = ["tool"].into_iter().chain(league.cases.iter().map(|case| case.name)).chain(["met"]);
    let about = match way {
        LoadMode::Open => {
            "So many requests a second, whatever the server does; the truth is what they would have waited."
        }
        LoadMode::Closed => {
            "So many connections, each asking again after its reply; the truth is of the requests that came."
        }
    };
    Grid {
        title: format!("{} loop: the figure farthest from the truth", capital(way.name())),
        about: about.to_owned(),
        head: head.map(Into::into).collect(),
        rows: league.tools.iter().map(|tool| row(league, tool, way)).collect(),
    }
}

/// What was told, what is true and the error, of everybody in one case.
pub fn details(league: &League, case: &Case, way: LoadMode) -> Option<Grid> {
    let entries: Vec<_> = league.tools.iter().filter_map(|tool| league.entry(case, tool, way)).collect();
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

fn row(league: &League, tool: &Tool, way: LoadMode) -> Vec<String> {
    let entries: Vec<_> = league.cases.iter().map(|case| league.entry(case, tool, way)).collect();
    let cells = entries.iter().map(|entry| entry.map_or(DASH.to_owned(), cell));
    let marks: Vec<_> = entries.iter().filter_map(|entry| mark_of((*entry)?)).collect();
    let within = match marks.len() {
        0 => DASH.to_owned(),
        all => format!("{}/{all}", marks.iter().filter(|mark| mark.met).count()),
    };
    [tool.name.to_owned()].into_iter().chain(cells).chain([within]).collect()
}

/// The mark of an entry that has one.
pub fn mark_of(entry: &Entry) -> Option<Mark> {
    match entry.outcome {
        Outcome::Scored { mark, .. } => mark,
        _ => None,
    }
}

/// What became of a trial, in a line.
pub fn line(entry: &Entry) -> String {
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
        (Outcome::NoTruth(why), _) => format!("no truth: {why}"),
        (Outcome::Unknown(why), _) => format!("unknown, the machine was disturbed: {why}"),
        (Outcome::Failed(why), _) => format!("failed: {why}"),
        _ => "told nothing that is compared".into(),
    };
    format!("{:9} {:10} {:6}  {outcome}", trial.case.name, trial.tool.name, trial.way.name())
}

fn cell(entry: &Entry) -> String {
    match &entry.outcome {
        Outcome::NoTruth(_) => "no truth".into(),
        Outcome::Unknown(_) => "unknown".into(),
        Outcome::Failed(_) => "failed".into(),
        Outcome::Interrupted | Outcome::Scored { mark: None, .. } => DASH.into(),
        Outcome::Scored { mark: Some(mark), .. } => {
            let sign = if mark.met { "✓" } else { "✗" };
            let mean = if mark.figure == "mean" { "m" } else { "" };
            format!("{sign} {}{mean}", narrow_percent(mark.deviation))
        }
    }
}

fn three_rows(entry: &Entry, shown: &[&Key]) -> Vec<Vec<String>> {
    let name = entry.trial.tool.name;
    let Outcome::Scored { told, truth, .. } = &entry.outcome else {
        return vec![named(name, &cell(entry), shown.iter().map(|_| DASH.to_owned()))];
    };
    let figures = |of: &Figures| shown.iter().map(|key| figure(key, (key.of)(of))).collect::<Vec<_>>();
    let errors = shown.iter().map(|key| {
        let off = deviation((key.of)(told), (key.of)(truth));
        off.map_or(DASH.to_owned(), narrow_percent)
    });
    vec![
        named(name, "told", figures(told).into_iter()),
        named("", "true", figures(truth).into_iter()),
        named("", "error", errors),
    ]
}

fn named(name: &str, what: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [name.to_owned(), what.to_owned()].into_iter().chain(cells).collect()
}

/// Where response times are compared, errors are of no interest one by one, and the other way round.
fn is_shown(key: &Key, compares: Comparand) -> bool {
    match compares {
        Comparand::Times => !["failed", "refused"].contains(&key.name),
        Comparand::Errors => key.unit != Unit::Time,
    }
}

fn heading(key: &Key) -> String {
    if key.unit == Unit::Time { format!("{} ms", key.name) } else { key.name.to_owned() }
}

fn figure(key: &Key, value: Option<f64>) -> String {
    let Some(value) = value else { return DASH.to_owned() };
    match key.unit {
        Unit::Time if value >= 0.1 => format!("{:.1}", value * 1e3),
        Unit::Time => format!("{:.3}", value * 1e3),
        Unit::Rate => format!("{value:.1}"),
        Unit::Count => format!("{value:.0}"),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
