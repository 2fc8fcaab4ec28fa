//! Formats httperf's report.

use super::counts::{HttperfCounts, WindowSpread};
use super::lifetimes::{Lifetimes, histogram, lifetimes, longest_burst, max_concurrent};
use brunt_model::Tick;

/// Input of a report.
pub struct HttperfReportInput<'a> {
    pub counts: &'a HttperfCounts,
    /// End of the load.
    pub ended: Tick,
    /// Duration of the load in seconds.
    pub seconds: f64,
    /// CPU time (user, system) of this process, in seconds.
    pub cpu: (f64, f64),
    /// True if the load consists of sessions, not single connections.
    pub has_sessions: bool,
    /// True if the histogram of lifetimes is printed.
    pub histogram: bool,
}

/// Quotient of `a` and `b`; 0 if `b` is 0.
fn per(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Mean number of bytes, by integer division.
fn mean(bytes: u64, count: u64) -> u64 {
    bytes.checked_div(count).unwrap_or(0)
}

/// Formats the report, without the line of the command.
pub fn report(subject: &HttperfReportInput) -> String {
    let lifetimes = lifetimes(&subject.counts.connections);
    let mut out =
        format!("Maximum connect burst length: {}\n", longest_burst(&subject.counts.connections));
    if subject.histogram {
        out += &histogram(&subject.counts.connections);
    }
    out += &connections(subject, &lifetimes);
    out += &requests(subject);
    out += &replies(subject);
    out += &cost(subject);
    out += &errors(subject);
    if subject.has_sessions {
        out += &sessions(subject);
    }
    out
}

fn connections(subject: &HttperfReportInput, lifetimes: &Lifetimes) -> String {
    let HttperfReportInput { counts, seconds, .. } = subject;
    let total = counts.connections.len() as f64;
    let (established, time) = counts.connected;
    format!(
        "\nTotal: connections {total} requests {} replies {} test-duration {seconds:.3} s\n\n\
         Connection rate: {:.1} conn/s ({:.1} ms/conn, <={} concurrent connections)\n\
         Connection time [ms]: min {:.1} avg {:.1} max {:.1} median {:.1} stddev {:.1}\n\
         Connection time [ms]: connect {:.1}\n\
         Connection length [replies/conn]: {:.3}\n",
        counts.requests,
        counts.replies,
        per(total, *seconds),
        per(1e3 * seconds, total),
        max_concurrent(&counts.connections),
        lifetimes.min,
        lifetimes.avg,
        lifetimes.max,
        lifetimes.median,
        lifetimes.stddev,
        per(time as f64 / 1e6, established as f64),
        per(counts.replies as f64, lifetimes.successful as f64),
    )
}

fn requests(subject: &HttperfReportInput) -> String {
    let HttperfReportInput { counts, seconds, .. } = subject;
    let total = counts.requests as f64;
    format!(
        "\nRequest rate: {:.1} req/s ({:.1} ms/req)\nRequest size [B]: {}.0\n",
        per(total, *seconds),
        per(1e3 * seconds, total),
        mean(counts.request_bytes, counts.requests),
    )
}

fn replies(subject: &HttperfReportInput) -> String {
    let counts = subject.counts;
    let WindowSpread { min, avg, max, stddev, samples } =
        WindowSpread::of(&counts.reply_windows.rates(subject.ended));
    let total = counts.replies;
    let [head, body, footer] =
        [counts.head_bytes, counts.body_bytes, counts.footer_bytes].map(|b| mean(b, total));
    let [a, b, c, d, e] = counts.statuses;
    format!(
        "\nReply rate [replies/s]: min {min:.1} avg {avg:.1} max {max:.1} stddev {stddev:.1} ({samples} samples)\n\
         Reply time [ms]: response {:.1} transfer {:.1}\n\
         Reply size [B]: header {head}.0 content {body}.0 footer {footer}.0 (total {}.0)\n\
         Reply status: 1xx={a} 2xx={b} 3xx={c} 4xx={d} 5xx={e}\n",
        per(counts.response as f64 / 1e6, total as f64),
        per(counts.transfer as f64 / 1e6, total as f64),
        head + body + footer,
    )
}

fn cost(subject: &HttperfReportInput) -> String {
    let HttperfReportInput { counts, seconds, cpu: (user, system), .. } = subject;
    let bytes = (counts.request_bytes + counts.head_bytes + counts.body_bytes) as f64;
    format!(
        "\nCPU time [s]: user {user:.2} system {system:.2} (user {:.1}% system {:.1}% total {:.1}%)\n\
         Net I/O: {:.1} KB/s ({:.1}*10^6 bps)\n",
        per(100.0 * user, *seconds),
        per(100.0 * system, *seconds),
        per(100.0 * (user + system), *seconds),
        per(bytes / 1024.0, *seconds),
        per(bytes * 8e-6, *seconds),
    )
}

fn errors(subject: &HttperfReportInput) -> String {
    let errors = subject.counts.errors;
    format!(
        "\nErrors: total {} client-timo {} socket-timo {} connrefused {} connreset {}\n\
         Errors: fd-unavail {} addrunavail {} ftab-full 0 other {}\n",
        errors.total(),
        errors.client_timeout,
        errors.socket_timeout,
        errors.refused,
        errors.reset,
        errors.descriptors,
        errors.ports,
        errors.other,
    )
}

fn sessions(subject: &HttperfReportInput) -> String {
    let sessions = &subject.counts.sessions;
    let rates = WindowSpread::of(&sessions.windows.rates(subject.ended));
    let good = sessions.good as f64;
    let failed = sessions.failed as f64;
    let lengths: Vec<_> = sessions.lengths.iter().map(u64::to_string).collect();
    format!(
        "\nSession rate [sess/s]: min {:.2} avg {:.2} max {:.2} stddev {:.2} ({}/{})\n\
         Session: avg {:.2} connections/session\n\
         Session lifetime [s]: {:.1}\n\
         Session failtime [s]: {:.1}\n\
         Session length histogram: {}\n",
        rates.min,
        per(good, subject.seconds),
        rates.max,
        rates.stddev,
        sessions.good,
        sessions.good + sessions.failed,
        per(sessions.connections as f64, good),
        per(sessions.lifetime as f64 / 1e9, good),
        per(sessions.failtime as f64 / 1e9, failed),
        lengths.join(" "),
    )
}
