//! JMeter's dashboard: its tables as text, and with its graphs as one HTML page without scripts.
//!
//! The columns are JMeter's. Percentiles are over the whole run, where JMeter's dashboard takes the last 20,000 samples of a label.

use crate::document::{encode, encode_attribute};
use crate::statistics::{Statistics, StatisticsRow};
use std::fmt::Write;

/// The style of the page.
const STYLE: &str = include_str!("dashboard/style.css");

/// What the page says of the run besides its tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DashboardInfo {
    /// The heading: `jmeter.reportgenerator.report_title`.
    pub title: String,
    /// Names and values of the table *Test and Report information*.
    pub facts: Vec<(String, String)>,
    /// Links to other files of the report: address and text.
    pub links: Vec<(String, String)>,
    /// Graphs with their headings, as SVG.
    pub graphs: Vec<String>,
}

/// A table: its columns and its rows; the first column is text, the others are numbers.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The table *Statistics*, and *Errors* where there are some.
pub fn text(statistics: &Statistics, percentiles: [f64; 3]) -> String {
    let mut text = statistics_table(statistics, percentiles).text();
    if !statistics.errors().is_empty() {
        text.push('\n');
        text.push_str(&errors(statistics).text());
    }
    text
}

/// The page.
pub fn html(statistics: &Statistics, percentiles: [f64; 3], info: &DashboardInfo) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let title = encode(&info.title);
    let _ = write!(page, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n");
    let facts = info.facts.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
    section(&mut page, "Test and Report information", "facts", &Table { columns: Vec::new(), rows: facts });
    if !info.links.is_empty() {
        page.push_str("<ul>\n");
        for (address, text) in &info.links {
            let _ = writeln!(page, "<li><a href=\"{}\">{}</a></li>", encode_attribute(address), encode(text));
        }
        page.push_str("</ul>\n");
    }
    section(&mut page, "APDEX (Application Performance Index)", "numbers", &apdex(statistics));
    section(&mut page, "Requests Summary", "numbers", &summary(statistics));
    section(&mut page, "Statistics", "numbers", &statistics_table(statistics, percentiles));
    section(&mut page, "Errors", "numbers", &errors(statistics));
    section(&mut page, "Top 5 Errors by sampler", "top", &top_errors(statistics));
    for drawing in &info.graphs {
        let _ = write!(page, "<section>\n<div>{drawing}</div>\n</section>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn section(page: &mut String, title: &str, class: &str, table: &Table) {
    let _ = write!(page, "<section>\n<h2>{}</h2>\n{}</section>\n", encode(title), table.html(class));
}

impl Table {
    fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&column| column.to_owned()).collect(), rows: Vec::new() }
    }

    fn html(&self, class: &str) -> String {
        let line = |cells: &[String], tag: &str| {
            let cells: Vec<String> = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", encode(cell))).collect();
            format!("<tr>{}</tr>\n", cells.concat())
        };
        let head = if self.columns.is_empty() { String::new() } else { line(&self.columns, "th") };
        let rows: String = self.rows.iter().map(|row| line(row, "td")).collect();
        format!("<div><table class=\"{class}\">\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n")
    }

    fn text(&self) -> String {
        let lines = || std::iter::once(&self.columns).chain(&self.rows);
        let width = |column: usize| lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for line in lines() {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(text, "{}", cells.join("  ").trim_end()); // a String takes anything
        }
        text
    }
}

fn statistics_table(statistics: &Statistics, percentiles: [f64; 3]) -> Table {
    let mut table = Table::new(&["Label", "#Samples", "FAIL", "Error %", "Average", "Min", "Max", "Median"]);
    table.columns.extend(percentiles.map(|percent| format!("{percent}th pct")));
    table.columns.extend(["Transactions/s", "Received KB/s", "Sent KB/s"].map(str::to_owned));
    table.rows = statistics.rows().iter().map(figures).collect();
    table
}

fn figures(row: &StatisticsRow) -> Vec<String> {
    let two = |number: f64| format!("{number:.2}");
    let mut cells = vec![row.label.clone(), row.samples.to_string(), row.failed.to_string()];
    cells.push(format!("{:.2}%", row.failed_percent));
    cells.extend([two(row.mean), format!("{:.0}", row.min), format!("{:.0}", row.max), two(row.median)]);
    cells.extend(row.percentiles.map(two));
    cells.extend([two(row.throughput), two(row.received_kb), two(row.sent_kb)]);
    cells
}

fn apdex(statistics: &Statistics) -> Table {
    let mut table = Table::new(&["Label", "Apdex", "T (Toleration threshold)", "F (Frustration threshold)"]);
    let millis = |millis: u64| format!("{millis} ms");
    table.rows = statistics
        .apdex()
        .into_iter()
        .map(|row| {
            let thresholds = row.thresholds;
            let apdex = format!("{:.3}", row.apdex);
            vec![row.label, apdex, millis(thresholds.satisfied_millis), millis(thresholds.tolerated_millis)]
        })
        .collect();
    table
}

fn summary(statistics: &Statistics) -> Table {
    let mut table = Table::new(&["Result", "%"]);
    let failed = statistics.rows().first().map_or(0.0, |total| total.failed_percent);
    let samples = statistics.rows().first().map_or(0, |total| total.samples);
    let passed = if samples == 0 { 0.0 } else { 100.0 - failed };
    table.rows =
        [("PASS", passed), ("FAIL", failed)].map(|(name, percent)| vec![name.into(), format!("{percent:.2}%")]).into();
    table
}

fn errors(statistics: &Statistics) -> Table {
    let mut table = Table::new(&["Type of error", "Number of errors", "% in errors", "% in all samples"]);
    let row = |row: crate::statistics::ErrorRow| {
        let (errors, samples) = (row.percent_of_errors, row.percent_of_samples);
        vec![row.error, row.count.to_string(), format!("{errors:.2}%"), format!("{samples:.2}%")]
    };
    table.rows = statistics.errors().into_iter().map(row).collect();
    table
}

fn top_errors(statistics: &Statistics) -> Table {
    let mut table = Table::new(&["Sample", "#Samples", "#Errors"]);
    table.columns.extend((0..5).flat_map(|_| ["Error".to_owned(), "#Errors".to_owned()]));
    let row = |row: crate::statistics::LabelErrors| {
        let mut cells = vec![row.label, row.samples.to_string(), row.errors.to_string()];
        cells.extend(row.top.into_iter().flat_map(|(error, count)| [error, count.to_string()]));
        cells.resize(13, String::new());
        cells
    };
    table.rows = statistics.errors_by_label().into_iter().map(row).collect();
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::StatisticsSettings;
    use brunt_model::SampleRecord;

    fn statistics() -> Statistics {
        let mut statistics = Statistics::new(StatisticsSettings::default());
        let sample = |label: &str, start: u64, elapsed: u64, code: &str| SampleRecord {
            label: label.into(),
            start_unix_millis: start,
            elapsed_millis: elapsed,
            code: code.into(),
            message: "said".into(),
            success: code == "200",
            bytes: 1024,
            ..SampleRecord::default()
        };
        statistics.record(&sample("home <1>", 0, 100, "200"));
        statistics.record(&sample("home <1>", 900, 100, "500"));
        statistics
    }

    #[test]
    fn the_tables_have_the_columns_of_jmeter() {
        let text = text(&statistics(), [90.0, 95.0, 99.0]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("|"),
            "Label|#Samples|FAIL|Error %|Average|Min|Max|Median|90th pct|95th pct|99th pct|Transactions/s|Received KB/s|Sent KB/s"
        );
        assert!(lines[1].starts_with("Total "), "{text}");
        assert!(lines[2].contains("50.00%") && lines[2].contains("2.00"), "{text}");
        assert!(text.ends_with("50.00%\n") && text.contains("500/said"), "{text}");
    }

    #[test]
    fn the_page_shows_no_markup_of_labels() {
        let facts = vec![("Source file".into(), "a&b.jtl".into())];
        let info = DashboardInfo {
            title: "T".into(),
            facts,
            links: vec![("a.html".into(), "more".into())],
            graphs: Vec::new(),
        };
        let page = html(&statistics(), [90.0, 95.0, 99.0], &info);
        assert!(page.contains("home &lt;1&gt;") && !page.contains("home <1>"), "{page}");
        assert!(page.contains("<td>a&amp;b.jtl</td>") && page.contains("<a href=\"a.html\">more</a>"), "{page}");
        assert!(page.contains("<td>Total</td><td>0.500</td><td>500 ms</td><td>1500 ms</td>"), "{page}");
    }
}
