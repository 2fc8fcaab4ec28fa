//! siege 4: a closed loop. It prints the mean and the longest time in hundredths of a
//! second, and no percentiles.

use super::text::{json, number_at};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "siege",
    program: Some("siege"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "`-b`, keep-alive, JSON; it prints mean and maximum in steps of 10 ms, no percentiles, and the sum of all errors",
    command,
    read,
};

const CONF: &str = "\
verbose = false
color = off
json_output = true
logging = false
show-logfile = false
protocol = HTTP/1.1
connection = keep-alive
parser = false
limit = 10000
failures = 1000000
";

fn command(job: &LoadParameters) -> ToolCommand {
    let LoadParameters { connections, seconds, .. } = job;
    let url = job.url();
    ToolCommand::line(&format!("siege -R siege.conf -b -c {connections} -t {seconds}S {url}"))
        .with_file("siege.conf", CONF.to_owned())
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let json = json(&report.out)?;
    Ok(CertifiedFigures {
        mean: number_at(&json, "/response_time"),
        max: number_at(&json, "/longest_transaction"),
        throughput: number_at(&json, "/transaction_rate"),
        // siege counts failed and refused requests in one sum.
        errors: number_at(&json, "/failed_transactions"),
        ..CertifiedFigures::default()
    })
}
