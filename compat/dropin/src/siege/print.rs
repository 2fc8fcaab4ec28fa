//! Formats siege's report in its three formats, and the row of its log file.

use super::classic::SiegeFigures;
use super::settings::{SiegeFormat, SiegeSettings};
use std::fmt::Write;

/// First lines of siege on stderr.
pub fn greeting(settings: &SiegeSettings, users: u64) -> String {
    let ends = if settings.shows_lines() { "\n" } else { "" };
    format!(
        "** SIEGE {}\n** Preparing {users} concurrent users for battle.\nThe server is now under siege...{ends}",
        super::settings::VERSION
    )
}

/// siege's warning about more users than its limit.
pub fn user_limit_warning(limit: u64) -> String {
    let line = "=".repeat(64);
    format!(
        "\n{line}\nWARNING: The number of users is capped at {limit}.  To increase this\n         limit, search your .siegerc file \
         for 'limit' and change\n         its value. Make sure you read the instructions there...\n{line}\n"
    )
}

/// A figure of the report.
enum Value {
    Count(u64),
    Figure(f64),
    /// A time, in seconds.
    Time(f64),
}

/// A row: label and JSON name, each with its tabs; value; unit. In the text format in ms, times
/// have a different unit.
type ReportRow = (&'static str, &'static str, Value, &'static str);

fn rows(f: &SiegeFigures) -> [ReportRow; 13] {
    use Value::{Count, Figure, Time};
    [
        ("Transactions:\t\t", "\"transactions\":\t\t\t", Count(f.hits), " hits"),
        ("Availability:\t\t", "\"availability\":\t\t\t", Figure(f.availability), " %"),
        ("Elapsed time:\t\t", "\"elapsed_time\":\t\t\t", Figure(f.elapsed), " secs"),
        ("Data transferred:\t", "\"data_transferred\":\t\t", Figure(f.megabytes), " MB"),
        ("Response time:\t\t", "\"response_time\":\t\t", Time(f.response), " secs"),
        ("Transaction rate:\t", "\"transaction_rate\":\t\t", Figure(f.rate), " trans/sec"),
        ("Throughput:\t\t", "\"throughput\":\t\t\t", Figure(f.throughput), " MB/sec"),
        ("Concurrency:\t\t", "\"concurrency\":\t\t\t", Figure(f.concurrency), ""),
        ("Successful transactions:", "\"successful_transactions\":\t", Count(f.okay), ""),
        (OK_RECEIVED, "\"http_ok_received\":\t\t", Count(f.ok_200), ""),
        ("Failed transactions:\t", "\"failed_transactions\":\t\t", Count(f.failed), ""),
        ("Longest transaction:\t", "\"longest_transaction\":\t\t", Time(f.longest), ""),
        ("Shortest transaction:\t", "\"shortest_transaction\":\t\t", Time(f.shortest), ""),
    ]
}

/// Label of the row that only `debug` shows.
const OK_RECEIVED: &str = "HTTP OK received:\t";

/// Formats the report as text, starting after the empty line.
pub fn text(figures: &SiegeFigures, settings: &SiegeSettings) -> String {
    let millis = settings.form() == SiegeFormat::Millis;
    let mut out = String::new();
    for (label, _, value, unit) in visible_rows(figures, settings) {
        let _ = match value {
            Value::Count(n) if millis && unit.is_empty() => writeln!(out, "{label}{n:9}"),
            Value::Count(n) if millis => writeln!(out, "{label}{n:9}   {unit}"),
            Value::Count(n) => writeln!(out, "{label}{n:12}{unit}"),
            Value::Time(seconds) if millis => writeln!(out, "{label}{:12.2} ms", seconds * 1e3),
            Value::Time(x) | Value::Figure(x) => writeln!(out, "{label}{x:12.2}{unit}"),
        };
    }
    out + " \n"
}

/// Formats the report as JSON, with times in seconds.
pub fn json(figures: &SiegeFigures, settings: &SiegeSettings) -> String {
    let rows = visible_rows(figures, settings).map(|(_, name, value, _)| match value {
        Value::Count(n) => format!("\t{name}{n:12}"),
        Value::Time(x) | Value::Figure(x) => format!("\t{name}{x:12.2}"),
    });
    format!("{{{}\n}}\n", rows.collect::<Vec<_>>().join(",\n"))
}

fn visible_rows(
    figures: &SiegeFigures,
    settings: &SiegeSettings,
) -> impl Iterator<Item = ReportRow> {
    let debug = settings.debug;
    rows(figures).into_iter().filter(move |row| row.0 != OK_RECEIVED || debug)
}

/// Header of the log file.
pub const LOG_HEAD: &str = "      Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time,  Trans Rate,  Throughput,  Concurrent,    OKAY,   Failed\n";

/// Formats a row of the log file. Megabytes are truncated, and the throughput
/// is computed from that number.
pub fn log_row(figures: &SiegeFigures, date: &str) -> String {
    let SiegeFigures {
        hits, elapsed, megabytes, response, rate, concurrency, okay, failed, ..
    } = figures;
    let megabytes = megabytes.trunc();
    let throughput = if *elapsed > 0.0 { megabytes / elapsed } else { 0.0 };
    format!(
        "{date},{hits:7},{elapsed:11.2},{megabytes:12.0},{response:11.2},{rate:12.2},{throughput:12.2},{concurrency:12.2},\
         {okay:8},{failed:8}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: SiegeFigures = SiegeFigures {
        hits: 7,
        okay: 6,
        ok_200: 5,
        failed: 1,
        availability: 87.5,
        elapsed: 2.0,
        megabytes: 3.5,
        response: 0.015,
        rate: 3.5,
        throughput: 1.75,
        concurrency: 0.05,
        longest: 0.03,
        shortest: 0.0,
    };

    #[test]
    fn from_4_1_7_on_times_are_milliseconds() {
        let settings = SiegeSettings {
            format: Some(SiegeFormat::Millis),
            debug: true,
            ..SiegeSettings::default()
        };
        insta::assert_snapshot!(text(&FIGURES, &settings).replace('\t', "|"), @r"
        Transactions:||        7    hits
        Availability:||       87.50 %
        Elapsed time:||        2.00 secs
        Data transferred:|        3.50 MB
        Response time:||       15.00 ms
        Transaction rate:|        3.50 trans/sec
        Throughput:||        1.75 MB/sec
        Concurrency:||        0.05
        Successful transactions:        6
        HTTP OK received:|        5
        Failed transactions:|        1
        Longest transaction:|       30.00 ms
        Shortest transaction:|        0.00 ms
         
        ");
    }

    #[test]
    fn log_rows_have_integer_megabytes() {
        let row = log_row(&FIGURES, "2026-11-21 20:07:09");
        assert_eq!(
            row,
            "2026-11-21 20:07:09,      7,       2.00,           3,       0.01,        3.50,        1.50,        0.05,       6,       1\n"
        );
        assert_eq!(row.split(',').count(), LOG_HEAD.split(',').count());
    }
}
