//! ab's text: the banner, the report with its labels, widths and units, the tables.
//!
//! It prints nothing and decides nothing; it writes what [`Classic`] counted.

use super::args::Args;
use super::classic::{Classic, Record};
use super::order::{Ordered, Row, millis};
use std::fmt::Write;

/// What ab prints before all else.
pub const BANNER: &str = "\
This is ApacheBench, Version 2.3 <$Revision$>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/

";

/// The percentiles of the table.
const SERVED: [usize; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// All that a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What was asked for.
    pub args: &'a Args,
    /// What was counted.
    pub classic: &'a Classic,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What the server calls itself.
    pub software: &'a str,
    /// What TLS was agreed on.
    pub tls: &'a Tls,
}

/// What the report says of TLS; lines that were not learnt are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Version, cipher suite, bits of the server's key and of the cipher.
    pub protocol: Option<String>,
    /// The key that the server made for the handshake.
    pub temporary_key: Option<String>,
    /// The name that was asked for.
    pub server_name: Option<String>,
}

impl Subject<'_> {
    /// Requests per second, and the like: `n` of them.
    pub fn per_second(&self, n: f64) -> f64 {
        n / self.seconds
    }

    /// Whether there is anything to divide by.
    pub fn has_rates(&self) -> bool {
        self.classic.done > 0 && self.seconds > 0.0
    }
}

/// The report.
pub fn report(subject: Subject<'_>) -> String {
    let mut out = String::from("\n\n");
    server(&mut out, subject);
    counts(&mut out, subject);
    rates(&mut out, subject);
    let classic = subject.classic;
    if classic.done > 0 {
        times(&mut out, subject);
        if classic.done > 1 && !subject.args.no_percentiles {
            served(&mut out, &Ordered::new(classic.records.iter().map(|r| r.total)));
        }
    }
    out
}

/// A line whose value begins in the 25th column.
fn line(out: &mut String, label: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{:<24}{value}", format!("{label}:"));
}

fn server(out: &mut String, Subject { args, classic, software, tls, .. }: Subject<'_>) {
    line(out, "Server Software", software);
    line(out, "Server Hostname", &args.target.host);
    line(out, "Server Port", args.target.port);
    let told = [
        ("SSL/TLS Protocol", &tls.protocol),
        ("Server Temp Key", &tls.temporary_key),
        ("TLS Server Name", &tls.server_name),
    ];
    for (label, value) in told {
        if let Some(value) = value {
            line(out, label, value);
        }
    }
    out.push('\n');
    line(out, "Document Path", &args.target.path);
    line(out, "Document Length", document_length(args, classic));
    out.push('\n');
}

/// How long the document is, with the unit.
pub fn document_length(args: &Args, classic: &Classic) -> String {
    if args.any_length { "Variable".into() } else { format!("{} bytes", classic.document_length) }
}

fn counts(out: &mut String, Subject { args, classic, seconds, .. }: Subject<'_>) {
    line(out, "Concurrency Level", args.connections);
    line(out, "Time taken for tests", format_args!("{seconds:.3} seconds"));
    line(out, "Complete requests", classic.done);
    line(out, "Failed requests", classic.failed);
    if classic.failed > 0 {
        let Classic { connect_errors, receive_errors, length_errors, exceptions, .. } = classic;
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

fn rates(out: &mut String, subject: Subject<'_>) {
    if !subject.has_rates() {
        return;
    }
    let Subject { args, classic, seconds, .. } = subject;
    let (done, connections) = (classic.done as f64, args.connections as f64);
    let kilobytes = |bytes: u64| subject.per_second(bytes as f64 / 1024.0);
    line(out, "Requests per second", format_args!("{:.2} [#/sec] (mean)", subject.per_second(done)));
    line(out, "Time per request", format_args!("{:.3} [ms] (mean)", connections * seconds * 1000.0 / done));
    let across = "[ms] (mean, across all concurrent requests)";
    line(out, "Time per request", format_args!("{:.3} {across}", seconds * 1000.0 / done));
    line(out, "Transfer rate", format_args!("{:.2} [Kbytes/sec] received", kilobytes(classic.read)));
    if args.body.is_some() {
        let _ = writeln!(out, "{:24}{:.2} kb/s sent", "", kilobytes(classic.sent));
        let _ = writeln!(out, "{:24}{:.2} kb/s total", "", kilobytes(classic.read + classic.sent));
    }
}

/// What of a request a row is of, in microseconds.
type Of = fn(&Record) -> u64;

/// The rows of the table of times: label, what the warnings call it, what of a request it is.
const TIMES: [(&str, &str, Of); 4] = [
    ("Connect:", "initial connection", |r| r.connect),
    ("Processing:", "processing", Record::processing),
    ("Waiting:", "waiting", |r| r.wait),
    ("Total:", "total", |r| r.total),
];

fn times(out: &mut String, Subject { args, classic, .. }: Subject<'_>) {
    let rows = TIMES.map(|(label, what, of)| (label, what, Ordered::new(classic.records.iter().map(of)).row()));
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
        let _ = writeln!(out, "{label:<12}{min:5} {mean:4} {:5.1} {median:6} {max:7}", row.deviation);
    }
    for (_, what, row) in &rows {
        sane(out, what, row);
    }
}

/// Tells where mean and median are far apart, in rounded milliseconds.
fn sane(out: &mut String, what: &str, row: &Row) {
    let apart = millis(row.mean).abs_diff(millis(row.median)) as f64;
    if apart > 2.0 * row.deviation {
        let _ = write!(
            out,
            "ERROR: The median and mean for the {what} time are more than twice the standard\n       deviation apart. These results are NOT reliable.\n"
        );
    } else if apart > row.deviation {
        let _ = write!(
            out,
            "WARNING: The median and mean for the {what} time are not within a normal deviation\n        These results are probably not that reliable.\n"
        );
    }
}

fn served(out: &mut String, total: &Ordered) {
    out.push_str("\nPercentage of the requests served within a certain time (ms)\n");
    for percent in SERVED {
        let value = millis(total.served(percent));
        let (before, behind) = if percent == 100 { (" ", " (longest request)") } else { ("  ", "") };
        let _ = writeln!(out, "{before}{percent}%  {value:5}{behind}");
    }
}
