//! ab's `-w`: the report as HTML tables. Like ab's, they have fewer fields than the text report.

use super::args::Html;
use super::classic::{AbReport, RequestTimes};
use super::order::{Ordered, millis};
use super::print::{AbReportInput, document_length};
use std::fmt::{Display, Write};

/// First lines of ab's output with `-w`.
pub const BANNER: &str = "\
<p>
 This is ApacheBench, Version 2.3 <i>&lt;$Revision$&gt;</i><br>
 Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/<br>
 Licensed to The Apache Software Foundation, http://www.apache.org/<br>
</p>
<p>
";

pub fn report(subject: AbReportInput<'_>, html: &Html) -> String {
    let mut table = Table { out: format!("\n\n<table {}>\n", html.table), html };
    server(&mut table, subject);
    counts(&mut table, subject);
    rates(&mut table, subject);
    times(&mut table, subject);
    table.out.push_str("</table>\n");
    table.out
}

struct Table<'a> {
    out: String,
    html: &'a Html,
}

impl Table<'_> {
    fn line(&mut self, label: &str, value: impl Display) {
        let Html { row, cell, .. } = self.html;
        let _ = writeln!(
            self.out,
            "<tr {row}><th colspan=2 {cell}>{label}:</th><td colspan=2 {cell}>{value}</td></tr>"
        );
    }

    fn nameless(&mut self, value: impl Display) {
        let Html { row, cell, .. } = self.html;
        let _ = writeln!(
            self.out,
            "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{value}</td></tr>"
        );
    }
}

fn server(table: &mut Table<'_>, AbReportInput { args, classic, software, .. }: AbReportInput<'_>) {
    table.line("Server Software", software);
    table.line("Server Hostname", &args.target.host);
    table.line("Server Port", args.target.port);
    table.line("Document Path", &args.target.path);
    table.line("Document Length", document_length(args, classic));
}

fn counts(table: &mut Table<'_>, AbReportInput { args, classic, seconds, .. }: AbReportInput<'_>) {
    table.line("Concurrency Level", args.connections);
    table.line("Time taken for tests", format_args!("{seconds:.3} seconds"));
    table.line("Complete requests", classic.completed);
    table.line("Failed requests", classic.failed);
    if classic.failed > 0 {
        let Html { row, cell, .. } = table.html;
        let _ = writeln!(
            table.out,
            "<tr {row}><td colspan=4 {cell} >   (Connect: {}, Length: {}, Exceptions: {})</td></tr>",
            classic.connect_errors, classic.length_errors, classic.exceptions
        );
    }
    if classic.non_2xx > 0 {
        table.line("Non-2xx responses", classic.non_2xx);
    }
    if args.keep_alive {
        table.line("Keep-Alive requests", classic.kept_alive);
    }
    table.line("Total transferred", format_args!("{} bytes", classic.read));
    if args.body.is_some() {
        table.line("Total body sent", classic.sent);
    }
    table.line("HTML transferred", format_args!("{} bytes", classic.read_body));
}

fn rates(table: &mut Table<'_>, subject: AbReportInput<'_>) {
    if !subject.has_rates() {
        return;
    }
    let AbReportInput { args, classic, .. } = subject;
    table.line(
        "Requests per second",
        format_args!("{:.2}", subject.per_second(classic.completed as f64)),
    );
    table.line(
        "Transfer rate",
        format_args!("{:.2} kb/s received", subject.kilobytes_per_second(classic.read)),
    );
    if args.body.is_some() {
        table.nameless(format_args!("{:.2} kb/s sent", subject.kilobytes_per_second(classic.sent)));
        table.nameless(format_args!(
            "{:.2} kb/s total",
            subject.kilobytes_per_second(classic.read + classic.sent)
        ));
    }
}

/// Writes the table of times.
///
/// ab subtracts the minimum (maximum) connect time from the minimum (maximum) total time to get
/// that of processing, although they belong to different requests.
fn times(table: &mut Table<'_>, AbReportInput { classic, .. }: AbReportInput<'_>) {
    let connect = min_mean_max(classic, |r| r.connect);
    let total = min_mean_max(classic, |r| r.total);
    let processing = std::array::from_fn(|i| total[i] - connect[i]);
    let Html { row, cell, .. } = table.html;
    let _ = writeln!(table.out, "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>");
    let _ = writeln!(
        table.out,
        "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th {cell}>max</th></tr>"
    );
    for (label, [min, mean, max]) in
        [("Connect", connect), ("Processing", processing), ("Total", total)]
    {
        let _ = writeln!(
            table.out,
            "<tr {row}><th {cell}>{label}:</th><td {cell}>{min:5}</td><td {cell}>{mean:5}</td><td {cell}>{max:5}</td></tr>"
        );
    }
}

fn min_mean_max(classic: &AbReport, value: fn(&RequestTimes) -> u64) -> [i64; 3] {
    let row = Ordered::new(classic.records.iter().map(value)).row();
    [row.min, row.mean, row.max].map(|value| millis(value) as i64)
}
