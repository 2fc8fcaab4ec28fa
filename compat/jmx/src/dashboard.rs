//! The tables of JMeter's dashboard, as text and as tables of a page.
//!
//! The columns are JMeter's. Percentiles cover the whole run; JMeter's dashboard uses the last
//! 20,000 samples of a label.

use crate::statistics::{ApdexThresholds, ErrorRow, LabelErrors, Statistics, StatisticsRow};
use brunt_report::html::dashboard::{
    DashboardCell, DashboardTable, Grade, PartOfWhole, ShareForm, Shares,
};
use std::fmt::Write;

/// The table *Statistics*, followed by *Errors* if there are any.
pub fn text(statistics: &Statistics, percentiles: [f64; 3]) -> String {
    let mut text = table_text(&statistics_table(statistics, percentiles));
    if !statistics.errors().is_empty() {
        text.push('\n');
        text.push_str(&table_text(&errors(statistics)));
    }
    text
}

/// All tables of the page.
pub fn tables(statistics: &Statistics, percentiles: [f64; 3]) -> Vec<DashboardTable> {
    let all = [
        apdex(statistics),
        statistics_table(statistics, percentiles),
        errors(statistics),
        top_errors(statistics),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Shares of passed and failed samples, and of samples by response time.
pub fn shares(statistics: &Statistics) -> Vec<Shares> {
    let overview = statistics.overview();
    let [satisfied, tolerated, slow] = match overview.thresholds {
        Some(ApdexThresholds { satisfied_millis, tolerated_millis }) => [
            format!("Response time <= {satisfied_millis} ms"),
            format!("Response time > {satisfied_millis} ms and <= {tolerated_millis} ms"),
            format!("Response time > {tolerated_millis} ms"),
        ],
        None => {
            ["Response time <= T of its label", "Response time > T and <= F", "Response time > F"]
                .map(str::to_owned)
        }
    };
    let passed = overview.satisfied + overview.tolerating + overview.slow;
    vec![
        Shares {
            title: "Requests Summary".to_owned(),
            form: ShareForm::Pie,
            parts: vec![
                share("PASS", passed, Grade::Good),
                share("FAIL", overview.failed, Grade::Bad),
            ],
        },
        Shares {
            title: "Response Time Overview".to_owned(),
            form: ShareForm::Bars,
            parts: vec![
                share(&satisfied, overview.satisfied, Grade::Good),
                share(&tolerated, overview.tolerating, Grade::Fair),
                share(&slow, overview.slow, Grade::Poor),
                share("Requests in error", overview.failed, Grade::Bad),
            ],
        },
    ]
}

fn share(name: &str, count: u64, grade: Grade) -> PartOfWhole {
    PartOfWhole { name: name.to_owned(), count, grade }
}

fn new_table(title: &str, columns: &[&str]) -> DashboardTable {
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    DashboardTable { title: title.to_owned(), columns, ..DashboardTable::default() }
}

/// Formats a table as aligned columns.
fn table_text(table: &DashboardTable) -> String {
    let head: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect());
    let lines: Vec<Vec<&str>> = std::iter::once(head).chain(rows).collect();
    let mut widths = vec![0; table.columns.len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells =
            line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
        let cells: Vec<String> = cells.collect();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

fn statistics_table(statistics: &Statistics, percentiles: [f64; 3]) -> DashboardTable {
    let columns = ["Label", "#Samples", "FAIL", "Error %", "Average", "Min", "Max", "Median"];
    let mut table = new_table("Statistics", &columns);
    table.columns.extend(percentiles.map(|percent| format!("{percent}th pct")));
    table.columns.extend(["Transactions/s", "Received KB/s", "Sent KB/s"].map(str::to_owned));
    table.rows = statistics.rows().iter().map(figures).collect();
    table.fixed_rows = 1;
    table
}

fn figures(row: &StatisticsRow) -> Vec<DashboardCell> {
    let mut cells = vec![
        DashboardCell::text(&row.label),
        whole(row.samples),
        whole(row.failed),
        percent(row.failed_percent),
    ];
    cells.extend([
        two_digits(row.mean),
        whole(row.min as u64),
        whole(row.max as u64),
        two_digits(row.median),
    ]);
    cells.extend(row.percentiles.map(two_digits));
    cells.extend([row.throughput, row.received_kb, row.sent_kb].map(two_digits));
    cells
}

fn whole(number: u64) -> DashboardCell {
    DashboardCell::number(number.to_string(), number as f64)
}

fn two_digits(number: f64) -> DashboardCell {
    DashboardCell::number(format!("{number:.2}"), number)
}

/// A percentage with two decimals, as in JMeter's dashboard.
fn percent(number: f64) -> DashboardCell {
    DashboardCell::number(format!("{number:.2}%"), number)
}

fn apdex(statistics: &Statistics) -> DashboardTable {
    let columns = ["Label", "Apdex", "T (Toleration threshold)", "F (Frustration threshold)"];
    let mut table = new_table("APDEX (Application Performance Index)", &columns);
    table.rows = statistics
        .apdex()
        .into_iter()
        .map(|row| {
            let thresholds = row.thresholds;
            let apdex = DashboardCell::number(format!("{:.3}", row.apdex), row.apdex);
            let label = DashboardCell::text(row.label);
            vec![
                label,
                apdex,
                millis(thresholds.satisfied_millis),
                millis(thresholds.tolerated_millis),
            ]
        })
        .collect();
    table.fixed_rows = 1;
    table
}

fn millis(millis: u64) -> DashboardCell {
    DashboardCell::number(format!("{millis} ms"), millis as f64)
}

fn errors(statistics: &Statistics) -> DashboardTable {
    let columns = ["Type of error", "Number of errors", "% in errors", "% in all samples"];
    let mut table = new_table("Errors", &columns);
    table.rows = statistics.errors().into_iter().map(error_cells).collect();
    table
}

fn error_cells(row: ErrorRow) -> Vec<DashboardCell> {
    let shares = [row.percent_of_errors, row.percent_of_samples].map(percent);
    [DashboardCell::text(row.error), whole(row.count)].into_iter().chain(shares).collect()
}

fn top_errors(statistics: &Statistics) -> DashboardTable {
    let mut table = new_table("Top 5 Errors by sampler", &["Sample", "#Samples", "#Errors"]);
    table.columns.extend((0..5).flat_map(|_| ["Error".to_owned(), "#Errors".to_owned()]));
    let rows = statistics.errors_by_label();
    // Without errors, the total row repeats the statistics.
    if rows.iter().any(|row| row.errors > 0) {
        table.rows = rows.into_iter().map(label_error_cells).collect();
    }
    table.fixed_rows = 1;
    table
}

fn label_error_cells(row: LabelErrors) -> Vec<DashboardCell> {
    let mut cells = vec![DashboardCell::text(row.label), whole(row.samples), whole(row.errors)];
    cells.extend(
        row.top.into_iter().flat_map(|(error, count)| [DashboardCell::text(error), whole(count)]),
    );
    // Three columns and five pairs; a label with fewer errors has empty cells.
    cells.resize(13, DashboardCell::default());
    cells
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
            lines[0]
                .split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect::<Vec<_>>()
                .join("|"),
            "Label|#Samples|FAIL|Error %|Average|Min|Max|Median|90th pct|95th pct|99th pct|Transactions/s|Received KB/s|Sent KB/s"
        );
        assert!(lines[1].starts_with("Total "), "{text}");
        assert!(lines[2].contains("50.00%") && lines[2].contains("2.00"), "{text}");
        assert!(text.ends_with("50.00%\n") && text.contains("500/said"), "{text}");
    }

    #[test]
    fn tables_are_sorted_by_number_with_the_total_first() {
        let tables = tables(&statistics(), [90.0, 95.0, 99.0]);
        let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "APDEX (Application Performance Index)",
                "Statistics",
                "Errors",
                "Top 5 Errors by sampler"
            ]
        );
        let apdex: Vec<&str> = tables[0].rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(apdex, ["Total", "0.500", "500 ms", "1500 ms"]);
        assert_eq!((tables[1].fixed_rows, tables[1].rows[0][3].number), (1, Some(50.0)));
        assert_eq!(tables[1].rows[1][0], DashboardCell::text("home <1>"));
    }

    #[test]
    fn every_sample_is_in_one_share() {
        let shares = shares(&statistics());
        let counts: Vec<Vec<u64>> =
            shares.iter().map(|of| of.parts.iter().map(|part| part.count).collect()).collect();
        assert_eq!(counts, [vec![1, 1], vec![1, 0, 0, 1]]);
    }
}
