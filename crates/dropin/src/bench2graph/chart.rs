//! Columns of tables as a chart: a line each, and words on the axes that say in what they are counted.

use super::sheet::Sheet;
use brunt_report::figure::{Axis, Figure, Line, Point};

/// What a column holds.
struct Kind {
    /// How its name begins.
    begins: &'static str,
    /// What it is, with its unit: stands on the axis where all columns are of it.
    what: &'static str,
    /// Its unit alone, where they are not.
    unit: &'static str,
}

const fn kind(begins: &'static str, what: &'static str, unit: &'static str) -> Kind {
    Kind { begins, what, unit }
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
/// What stands on the x axis of autobench's tables.
const DEMANDED: (&str, &str) = ("dem_req_rate", "demanded requests per second");
/// An axis has room for as many letters; else its columns have names enough.
const ROOM: usize = 34;
/// As many colours there are; then lines are dashed.
const COLOURS: usize = brunt_report::scene::COLOURS;

/// The chart of these columns, named by their numbers from 1 on; of all where none is named.
pub fn figure(sheets: &[Sheet], columns: &[String], title: &str) -> Result<Figure, String> {
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
    let (y, mixed) = counted(&names);
    let lines = chosen.iter().enumerate().map(|(at, (sheet, column))| {
        let unit = kind_of(&sheet.names[*column]).filter(|_| mixed).map(|kind| format!(" [{}]", kind.unit));
        let name = format!("{}{}", sheet.names[*column], unit.unwrap_or_default());
        Line { name, dash: (at / COLOURS) as u8, points: points(sheet, *column), contender: None }
    });
    let lines: Vec<Line> = lines.collect();
    let x = sheets.first().map_or("", |sheet| &sheet.names[0]);
    let x = if x == DEMANDED.0 { DEMANDED.1 } else { x };
    Ok(Figure {
        id: "bench2graph".into(),
        title: title.to_owned(),
        about: format!("{} over {x}", names.join(", ")),
        x: Axis { label: x.to_owned(), ..Axis::default() },
        y: Axis { label: y, ..Axis::default() },
        lines,
        ..Figure::default()
    })
}

/// Places of columns, counted from 0. The first one is x, and no line.
fn numbers(sheet: &Sheet, columns: &[String]) -> Result<Vec<usize>, String> {
    let count = sheet.names.len();
    if columns.is_empty() {
        return Ok((1..count).collect());
    }
    let place = |word: &String| {
        let number = word.parse().ok().filter(|number: &usize| (1..=count).contains(number));
        number.ok_or_else(|| format!("column {word}: write numbers from 2 to {count}"))
    };
    let places = columns.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    Ok(places.into_iter().filter(|number| *number > 1).map(|number| number - 1).collect())
}

fn points(sheet: &Sheet, column: usize) -> Vec<Point> {
    let point = |row: &Vec<f64>| Point { x: row[0], y: Some(row[column]), ..Point::default() };
    let mut points: Vec<Point> = sheet.rows.iter().map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| name.starts_with(kind.begins))
}

/// What all these columns are counted in, and whether that is more than one thing.
fn counted(names: &[&str]) -> (String, bool) {
    let whats = once(names.iter().map(|name| kind_of(name).map_or(*name, |kind| kind.what)));
    if whats.len() == 1 {
        return (whats[0].to_owned(), false);
    }
    let units = once(names.iter().filter_map(|name| kind_of(name)).map(|kind| kind.unit)).join(", ");
    let fits = units.len() <= ROOM && names.iter().all(|name| kind_of(name).is_some());
    (if fits { units } else { "value".into() }, true)
}

/// Each once, in order.
fn once<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let names = ["dem_req_rate", "req_rate_h", "avg_rep_rate_h", "max_rep_rate_h", "resp_time_h"];
        let rows = vec![vec![20.0, 19.0, 18.0, 21.0, 3.5], vec![10.0, 9.5, 9.0, 11.0, 1.5]];
        Sheet { names: names.map(str::to_owned).to_vec(), rows }
    }

    fn of(columns: &str) -> Result<Figure, String> {
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
    fn axes_say_in_what_columns_are_counted() {
        let figure = of("3 4").unwrap();
        assert_eq!((&*figure.x.label, &*figure.y.label), ("demanded requests per second", "replies per second"));
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
