//! h2load over HTTP/1.1: a closed loop, or a rate for each connection, which sends late while its
//! last reply is missing.

use super::text::number_after;
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "h2load",
    program: Some("h2load"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::PerConnection,
    lead: 0,
    file: Some("h2load.log"),
    note: "`--h1 --log-file`, open: `--rps`; percentiles from the log, which has every request",
    command,
    read,
};

fn command(job: &LoadParameters) -> ToolCommand {
    let (connections, rate) = match job.way {
        // `--rps` is the rate of each connection.
        LoadMode::Open => {
            (job.sharing(), format!(" --rps={}", f64::from(job.rate) / f64::from(job.sharing())))
        }
        LoadMode::Closed => (job.connections, String::new()),
    };
    let seconds = job.seconds;
    let url = job.url();
    ToolCommand::line(&format!(
        "h2load --h1 -t1 -c{connections}{rate} -D{seconds} --log-file=h2load.log {url}"
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let finished = line_with_start(&report.out, "finished in");
    let throughput = number_after(finished, "s, ").ok_or("it printed no `finished in`")?;
    let times =
        CertifiedFigures::from_times(report.file.lines().filter_map(response_time).collect());
    let figures = CertifiedFigures { throughput: Some(throughput), ..times };
    let requests = line_with_start(&report.out, "requests:");
    let failed = count_before(requests, " errored") + count_before(requests, " timeout");
    let codes = line_with_start(&report.out, "status codes:");
    Ok(figures.with_errors(failed, count_before(codes, " 4xx") + count_before(codes, " 5xx")))
}

fn line_with_start<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or("")
}

/// Response time in seconds of a log line: start in microseconds, status (-1: failed), microseconds
/// to the end of the reply. None for a failed request.
fn response_time(line: &str) -> Option<f64> {
    let mut fields = line.split('\t').skip(1);
    let status: i32 = fields.next()?.parse().ok()?;
    let micros: f64 = fields.next()?.trim().parse().ok()?;
    (status > 0).then_some(micros / 1e6)
}

/// The number before a label, such as 7 in `7 errored`; 0 if there is none.
fn count_before(line: &str, label: &str) -> f64 {
    let count = line
        .split(", ")
        .find_map(|part| part.trim().strip_suffix(label)?.rsplit(' ').next()?.parse::<f64>().ok());
    count.unwrap_or(0.0)
}
