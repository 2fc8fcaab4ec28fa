//! Draws columns of tables as a chart: a line for each column, and axis labels with units.

use super::sheet::BenchTable;
use brunt_report::figure::{Axis, Chart, ChartLine, ChartPoint};

/// Meaning and unit of a column.
struct Kind {
    /// Prefix of the column's name.
    prefix: &'static str,
    /// Quantity with its unit: the axis label if all columns share it.
    label: &'static str,
    /// The unit alone, for columns of mixed kinds.
    unit: &'static str,
}

const fn kind(prefix: &'static str, label: &'static str, unit: &'static str) -> Kind {
    Kind { prefix, label, unit }
}

const KINDS: [Kind; 9] = [
    kind("req_rate", "requests per second", "per second"),
    kind("con_rate", "connections per second", "per second"),
    kind("min_rep_rate", "replies per second", "per second"),
    kind("avg_rep_rate", "replies per second", "per second"),
    kind("max_rep_rate", "replies per second", "per second"),
    kind("stddev_rep_rate", "replies per second", "per second"),
    kind("resp_time", "response time in ms", "ms"),
    kind("net_io", "KB per second", "KB/s"),
    kind("errors", "errors in % of replies", "%"),
];
/// First column of autobench's tables, and its axis label.
const X_COLUMN: (&str, &str) = ("dem_req_rate", "demanded requests per second");
/// Longest axis label, in characters. Longer ones become `value`; the legend names the columns.
const MAX_LABEL_LENGTH: usize = 34;
/// Number of line colors. Further lines are dashed.
const COLORS: usize = brunt_report::scene::COLORS;

/// Draws the columns with these numbers, counted from 1; all columns if none is given.
pub fn figure(sheets: &[BenchTable], columns: &[String], title: &str) -> Result<Chart, String> {
    let mut chosen = Vec::new();
    for sheet in sheets {
        for column in numbers(sheet, columns)? {
            chosen.push((sheet, column));
        }
    }
    if chosen.is_empty() {
        return Err("column 1 is the x-axis; choose columns from 2 on".into());
    }
    let names: Vec<&str> = chosen.iter().map(|(sheet, column)| &*sheet.names[*column]).collect();
    let (y, mixed) = y_axis(&names);
    let lines = chosen.iter().enumerate().map(|(index, (sheet, column))| {
        let unit = kind_of(&sheet.names[*column])
            .filter(|_| mixed)
            .map(|kind| format!(" [{}]", kind.unit));
        let name = format!("{}{}", sheet.names[*column], unit.unwrap_or_default());
        ChartLine {
            name: name.into(),
            dash: (index / COLORS) as u8,
            points: points(sheet, *column),
            contender: None,
        }
    });
    let lines: Vec<ChartLine> = lines.collect();
    let x = sheets.first().map_or("", |sheet| &sheet.names[0]);
    let x = if x == X_COLUMN.0 { X_COLUMN.1 } else { x };
    Ok(Chart {
        id: "bench2graph".into(),
        title: title.into(),
        about: format!("{} over {x}", names.join(", ")).into(),
        x: Axis { label: x.into(), ..Axis::default() },
        y: Axis { label: y.into(), ..Axis::default() },
        lines,
        ..Chart::default()
    })
}

/// Zero-based indexes of the columns to draw. Column 1 is the x axis and is skipped.
fn numbers(sheet: &BenchTable, columns: &[String]) -> Result<Vec<usize>, String> {
    let count = sheet.names.len();
    if columns.is_empty() {
        return Ok((1..count).collect());
    }
    let places =
        columns.iter().map(|word| column_number(word, count)).collect::<Result<Vec<_>, _>>()?;
    Ok(places.into_iter().filter(|number| *number > 1).map(|number| number - 1).collect())
}

fn column_number(word: &str, count: usize) -> Result<usize, String> {
    let number = word.parse().ok().filter(|number: &usize| (1..=count).contains(number));
    number.ok_or_else(|| format!("column {word}: write numbers from 2 to {count}"))
}

fn points(sheet: &BenchTable, column: usize) -> Vec<ChartPoint> {
    let mut points: Vec<ChartPoint> = sheet
        .rows
        .iter()
        .map(|row| ChartPoint { x: row[0], y: Some(row[column]), ..ChartPoint::default() })
        .collect();
    // Rows may be in any order. A line needs ascending x.
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| name.starts_with(kind.prefix))
}

/// Label of the y axis for these columns, and whether they differ in kind.
fn y_axis(names: &[&str]) -> (String, bool) {
    let labels = distinct(names.iter().map(|name| kind_of(name).map_or(*name, |kind| kind.label)));
    if labels.len() == 1 {
        return (labels[0].to_owned(), false);
    }
    let units =
        distinct(names.iter().filter_map(|name| kind_of(name)).map(|kind| kind.unit)).join(", ");
    let fits = units.len() <= MAX_LABEL_LENGTH && names.iter().all(|name| kind_of(name).is_some());
    (if fits { units } else { "value".into() }, true)
}

/// Returns the distinct words in order of first appearance.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for word in words {
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> BenchTable {
        let names =
            ["dem_req_rate", "req_rate_h", "avg_rep_rate_h", "max_rep_rate_h", "resp_time_h"];
        let rows = vec![vec![20.0, 19.0, 18.0, 21.0, 3.5], vec![10.0, 9.5, 9.0, 11.0, 1.5]];
        BenchTable { names: names.map(str::to_owned).to_vec(), rows }
    }

    fn of(columns: &str) -> Result<Chart, String> {
        figure(&[sheet()], &columns.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), "t")
    }

    #[test]
    fn columns_are_chosen_by_number_and_the_first_is_x() {
        let names = |columns: &str| {
            let figure = of(columns).unwrap();
            figure.lines.iter().map(|line| line.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("").unwrap().lines.len(), 4);
        assert_eq!(names("1 4 3"), "max_rep_rate_h avg_rep_rate_h");
        assert_eq!(of("6").unwrap_err(), "column 6: write numbers from 2 to 5");
        assert!(of("1").unwrap_err().contains("x-axis"));
    }

    #[test]
    fn axes_have_the_units_of_their_columns() {
        let figure = of("3 4").unwrap();
        assert_eq!(
            (&*figure.x.label, &*figure.y.label),
            ("demanded requests per second", "replies per second")
        );
        let mixed = of("3 5").unwrap();
        let names: Vec<_> = mixed.lines.iter().map(|line| &*line.name).collect();
        assert_eq!(
            (&*mixed.y.label, &names[..]),
            ("per second, ms", &["avg_rep_rate_h [per second]", "resp_time_h [ms]"][..])
        );
        let known: Vec<_> = figure.lines[0].known().collect();
        assert_eq!(known, [(10.0, 9.0), (20.0, 18.0)]);
    }
}
