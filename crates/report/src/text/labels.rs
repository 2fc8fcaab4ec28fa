//! A row for each label and for each population, where there are several.

use super::Report;
use super::fit::Part;
use super::times::response_quantile;
use crate::figures::{count, three};
use crate::layout::{Table, clean, shorten};
use crate::result::label_name;
use crate::view::View;
use brunt_model::{Run, Tally};

const MOST_ROWS: usize = 20;
const MOST_CHARACTERS: usize = 40;
const LEAST_CHARACTERS: usize = 16;

/// The columns behind the name: the widest that fit beside a name.
const COLUMNS: [&[&str]; 3] = [
    &["completed", "per second", "errors", "p50", "p99", "max"],
    &["completed", "errors", "p50", "p99", "max"],
    &["completed", "errors", "p50", "p99"],
];

/// The labels with most requests.
pub fn section(report: &Report) -> Part {
    let run = report.run;
    if run.labels.len() < 2 {
        return Part::default();
    }
    let mut labels: Vec<(&u32, &Tally)> = run.labels.iter().collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.1.completed));
    let rows = labels.iter().take(MOST_ROWS).map(|(id, tally)| (label_name(run, **id), run, *tally)).collect();
    let mut part = table(report.view, "Labels", rows);
    let more = labels.len().saturating_sub(MOST_ROWS);
    part.rows.extend((more > 0).then(|| format!("and {more} more\n")));
    part
}

/// Each population by itself.
pub fn populations(report: &Report) -> Part {
    let named = |population: &Run| population.plan.as_ref().map_or(String::new(), |plan| plan.main().name.clone());
    let rows: Vec<_> = report.run.populations.iter().map(|one| (named(one), one, &one.total)).collect();
    if rows.is_empty() { Part::default() } else { table(report.view, "Populations", rows) }
}

fn table(view: &View, title: &str, rows: Vec<(String, &Run, &Tally)>) -> Part {
    let longest = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let columns = match view.columns {
        90.. => COLUMNS[0],
        72.. => COLUMNS[1],
        _ => COLUMNS[2],
    };
    let figures = columns.iter().map(|column| column.len().max(8) + 2).sum::<usize>();
    let room = view.columns.saturating_sub(figures).clamp(LEAST_CHARACTERS, MOST_CHARACTERS).min(longest.max(6));
    let head: Vec<&str> = [title].iter().chain(columns).copied().collect();
    let mut table = Table::with_head(&head);
    for (name, run, tally) in rows {
        let cells = columns.iter().map(|column| cell(column, run, tally));
        table.row([shorten(&clean(&name), room)].into_iter().chain(cells));
    }
    let text = view.table(&table);
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    Part::rows(format!("{head}\n"), rows)
}

fn cell(column: &str, run: &Run, t: &Tally) -> String {
    match column {
        "completed" => count(t.completed),
        "per second" => three(run.per_second(t.completed)),
        "errors" => count(t.errors()),
        "p50" => response_quantile(t, 0.5),
        "p99" => response_quantile(t, 0.99),
        _ => response_quantile(t, 1.0),
    }
}
