//! A row for each label and for each population, where there are several.

use super::times::response_quantile;
use crate::figures::{count, three};
use crate::layout::{Table, clean, shorten};
use crate::result::label_name;
use brunt_model::{Run, Tally};

const MOST_ROWS: usize = 20;
const MOST_CHARACTERS: usize = 40;

/// The labels with most requests.
pub fn section(run: &Run) -> String {
    if run.labels.len() < 2 {
        return String::new();
    }
    let mut labels: Vec<(&u32, &Tally)> = run.labels.iter().collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.1.completed));
    let mut table = Table::with_head(&["Labels", "completed", "per second", "errors", "p50", "p99", "max"]);
    for (id, tally) in labels.iter().take(MOST_ROWS) {
        table.row(row(&label_name(run, **id), run, tally));
    }
    let more = labels.len().saturating_sub(MOST_ROWS);
    table.render() + &if more > 0 { format!("and {more} more\n") } else { String::new() }
}

/// Each population by itself.
pub fn populations(run: &Run) -> String {
    if run.populations.is_empty() {
        return String::new();
    }
    let mut table = Table::with_head(&["Populations", "completed", "per second", "errors", "p50", "p99", "max"]);
    for population in &run.populations {
        let name = population.plan.as_ref().map_or("", |plan| plan.main().name.as_str());
        table.row(row(name, population, &population.total));
    }
    table.render()
}

fn row(name: &str, run: &Run, t: &Tally) -> Vec<String> {
    let name = shorten(&clean(name), MOST_CHARACTERS);
    let mut cells = vec![name, count(t.completed), three(run.per_second(t.completed)), count(t.errors())];
    cells.extend([0.5, 0.99, 1.0].map(|q| response_quantile(t, q)));
    cells
}
