//! ab's text output: banner, report and tables, with ab's labels, widths and units.
//!
//! It decides nothing: it formats the counts of [`AbReport`].

use super::args::AbArgs;
use super::classic::{AbReport, RequestTimes};
use super::order::{Ordered, TimeSummary, millis};
use std::fmt::Write;

/// First lines of ab's output.
pub const BANNER: &str = "\
This is ApacheBench, Version 2.3 <$Revision$>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/

";

/// Percentages of the table of percentiles.
const PERCENTAGES: [usize; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// Input of a report.
#[derive(Debug, Clone, Copy)]
pub struct AbReportInput<'a> {
    pub args: &'a AbArgs,
    pub classic: &'a AbReport,
    pub seconds: f64,
    /// Name of the server software.
    pub software: &'a str,
    pub tls: &'a TlsLines,
}

/// TLS lines of the report. Unknown ones are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsLines {
    /// Version, cipher suite, bits of the server's key, bits of the cipher.
    pub protocol: Option<String>,
    /// Ephemeral key of the server.
    pub temporary_key: Option<String>,
    /// Server name of the handshake (SNI).
    pub server_name: Option<String>,
}

impl AbReportInput<'_> {
    /// Rate of `n` events per second.
    pub fn per_second(&self, n: f64) -> f64 {
        n / self.seconds
    }

    /// True if rates can be computed: at least one request and a duration.
    pub fn has_rates(&self) -> bool {
        self.classic.completed > 0 && self.seconds > 0.0
    }

    /// Rate of bytes, in KB/s.
    pub fn kilobytes_per_second(&self, bytes: u64) -> f64 {
        self.per_second(bytes as f64 / 1024.0)
    }
}

pub fn report(subject: AbReportInput<'_>) -> String {
    let mut out = String::from("\n\n");
    server(&mut out, subject);
    counts(&mut out, subject);
    rates(&mut out, subject);
    let classic = subject.classic;
    if classic.completed > 0 {
        times(&mut out, subject);
        if classic.completed > 1 && !subject.args.no_percentiles {
            served(&mut out, &Ordered::new(classic.records.iter().map(|r| r.total)));
        }
    }
    out
}

/// Writes a line with the value in column 25.
fn line(out: &mut String, label: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{:<24}{value}", format!("{label}:"));
}

fn server(out: &mut String, AbReportInput { args, classic, software, tls, .. }: AbReportInput<'_>) {
    line(out, "Server Software", software);
    line(out, "Server Hostname", &args.target.host);
    line(out, "Server Port", args.target.port);
    let tls_lines = [
        ("SSL/TLS Protocol", &tls.protocol),
        ("Server Temp Key", &tls.temporary_key),
        ("TLS Server Name", &tls.server_name),
    ];
    for (label, value) in tls_lines {
        if let Some(value) = value {
            line(out, label, value);
        }
    }
    out.push('\n');
    line(out, "Document Path", &args.target.path);
    line(out, "Document Length", document_length(args, classic));
    out.push('\n');
}

/// Length of the document, with its unit.
pub fn document_length(args: &AbArgs, classic: &AbReport) -> String {
    if args.any_length { "Variable".into() } else { format!("{} bytes", classic.document_length) }
}

fn counts(out: &mut String, AbReportInput { args, classic, seconds, .. }: AbReportInput<'_>) {
    line(out, "Concurrency Level", args.connections);
    line(out, "Time taken for tests", format_args!("{seconds:.3} seconds"));
    line(out, "Complete requests", classic.completed);
    line(out, "Failed requests", classic.failed);
    if classic.failed > 0 {
        let AbReport { connect_errors, receive_errors, length_errors, exceptions, .. } = classic;
        let _ = writeln!(
            out,
            "   (Connect: {connect_errors}, Receive: {receive_errors}, Length: {length_errors}, Exceptions: {exceptions})"
        );
    }
    if classic.non_2xx > 0 {
        line(out, "Non-2xx responses", classic.non_2xx);
    }
    if args.keep_alive {
        line(out, "Keep-Alive requests", classic.kept_alive);
    }
    line(out, "Total transferred", format_args!("{} bytes", classic.read));
    if args.body.is_some() {
        line(out, "Total body sent", classic.sent);
    }
    line(out, "HTML transferred", format_args!("{} bytes", classic.read_body));
}

fn rates(out: &mut String, subject: AbReportInput<'_>) {
    if !subject.has_rates() {
        return;
    }
    let AbReportInput { args, classic, seconds, .. } = subject;
    let completed = classic.completed as f64;
    let connections = args.connections as f64;
    line(
        out,
        "Requests per second",
        format_args!("{:.2} [#/sec] (mean)", subject.per_second(completed)),
    );
    // Derived from the duration of the run, not from the times of requests.
    line(
        out,
        "Time per request",
        format_args!("{:.3} [ms] (mean)", connections * seconds * 1000.0 / completed),
    );
    let across = "[ms] (mean, across all concurrent requests)";
    line(out, "Time per request", format_args!("{:.3} {across}", seconds * 1000.0 / completed));
    line(
        out,
        "Transfer rate",
        format_args!("{:.2} [Kbytes/sec] received", subject.kilobytes_per_second(classic.read)),
    );
    if args.body.is_some() {
        let _ =
            writeln!(out, "{:24}{:.2} kb/s sent", "", subject.kilobytes_per_second(classic.sent));
        let _ = writeln!(
            out,
            "{:24}{:.2} kb/s total",
            "",
            subject.kilobytes_per_second(classic.read + classic.sent)
        );
    }
}

/// Selects a time of a request, in microseconds.
type TimeOf = fn(&RequestTimes) -> u64;

/// Rows of the table of times: label, name in the warnings, time of a request.
const TIMES: [(&str, &str, TimeOf); 4] = [
    ("Connect:", "initial connection", |r| r.connect),
    ("Processing:", "processing", RequestTimes::processing),
    ("Waiting:", "waiting", |r| r.wait),
    ("Total:", "total", |r| r.total),
];

fn times(out: &mut String, AbReportInput { args, classic, .. }: AbReportInput<'_>) {
    let rows = TIMES.map(|(label, name, time_of)| {
        (label, name, Ordered::new(classic.records.iter().map(time_of)).row())
    });
    out.push_str("\nConnection Times (ms)\n");
    if args.no_confidence {
        out.push_str("              min   avg   max\n");
        for (label, _, row) in &rows {
            let [min, mean, max] = [row.min, row.mean, row.max].map(millis);
            let _ = writeln!(out, "{label:<12}{min:5} {mean:5}{max:5}");
        }
        return;
    }
    out.push_str("              min  mean[+/-sd] median   max\n");
    for (label, _, row) in &rows {
        let [min, mean, median, max] = [row.min, row.mean, row.median, row.max].map(millis);
        let _ =
            writeln!(out, "{label:<12}{min:5} {mean:4} {:5.1} {median:6} {max:7}", row.deviation);
    }
    for (_, name, row) in &rows {
        warn_if_skewed(out, name, row);
    }
}

/// Warns if mean and median are far apart, compared in rounded milliseconds.
fn warn_if_skewed(out: &mut String, name: &str, row: &TimeSummary) {
    let distance = millis(row.mean).abs_diff(millis(row.median)) as f64;
    if distance > 2.0 * row.deviation {
        let _ = write!(
            out,
            "ERROR: The median and mean for the {name} time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n"
        );
    } else if distance > row.deviation {
        let _ = write!(
            out,
            "WARNING: The median and mean for the {name} time are not within a normal deviation\n        These results are probably not that reliable.\n"
        );
    }
}

fn served(out: &mut String, total: &Ordered) {
    out.push_str("\nPercentage of the requests served within a certain time (ms)\n");
    for percent in PERCENTAGES {
        let value = millis(total.served(percent));
        let is_last = percent == 100;
        let prefix = if is_last { " " } else { "  " };
        let suffix = if is_last { " (longest request)" } else { "" };
        let _ = writeln!(out, "{prefix}{percent}%  {value:5}{suffix}");
    }
}
