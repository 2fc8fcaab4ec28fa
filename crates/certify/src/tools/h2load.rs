//! h2load over HTTP/1.1: closed, or a rate for each connection, which sends late while its last reply is missing.

use super::text::number_after;
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "h2load",
    program: Some("h2load"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::PerConnection,
    lead: 0,
    file: Some("h2load.log"),
    note: "`--h1 --log-file`, open: `--rps`; percentiles from the log, which has every request",
    ask,
    read,
};

fn ask(job: &Job) -> ToolCommand {
    let (connections, rate) = match job.way {
        LoadMode::Open => (job.sharing(), format!(" --rps={}", f64::from(job.rate) / f64::from(job.sharing()))),
        LoadMode::Closed => (job.connections, String::new()),
    };
    let (seconds, url) = (job.seconds, job.url());
    ToolCommand::line(&format!("h2load --h1 -t1 -c{connections}{rate} -D{seconds} --log-file=h2load.log {url}"))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let line = |begins: &str| told.out.lines().find(|line| line.starts_with(begins)).unwrap_or("");
    let finished = line("finished in");
    let throughput = number_after(finished, "s, ").ok_or("it printed no `finished in`")?;
    // Start in microseconds, status (-1: failed), microseconds to the end of the reply.
    let entry = |line: &str| {
        let mut fields = line.split('\t').skip(1);
        let status: i32 = fields.next()?.parse().ok()?;
        let micros: f64 = fields.next()?.trim().parse().ok()?;
        (status > 0).then_some(micros / 1e6)
    };
    let figures =
        Figures { throughput: Some(throughput), ..Figures::of_times(told.file.lines().filter_map(entry).collect()) };
    let before = |line: &str, label: &str| {
        line.split(", ").find_map(|part| part.trim().strip_suffix(label)?.rsplit(' ').next()?.parse::<f64>().ok())
    };
    let requests = line("requests:");
    let failed = before(requests, " errored").unwrap_or(0.0) + before(requests, " timeout").unwrap_or(0.0);
    let codes = line("status codes:");
    Ok(figures.with_errors(failed, before(codes, " 4xx").unwrap_or(0.0) + before(codes, " 5xx").unwrap_or(0.0)))
}
