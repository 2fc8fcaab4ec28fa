//! brunt, as a child of itself: even arrivals as the others have them, and its JSON report.

use super::text::{at, is_refusal, json, sum};
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "brunt",
    program: None,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("brunt.json"),
    note: "open: `-r RATE --arrivals even`, closed: `-c N`; JSON report",
    ask,
    read,
};

/// The same over HTTP/2.
pub const HTTP2: Tool = Tool {
    name: "brunt-http2",
    note: "open: `--http 2 -c 4 --streams N -r RATE --arrivals even`, closed: `--http 2 -c 1 --streams N`; JSON report",
    ask: ask_http2,
    ..TOOL
};

/// Connections of the open loop over HTTP/2.
const H2_CONNECTIONS: u32 = 4;

fn ask(job: &Job) -> ToolCommand {
    let load = match job.way {
        LoadMode::Open => format!("-r {} --arrivals even", job.rate),
        LoadMode::Closed => format!("-c {}", job.connections),
    };
    measure(job, &load)
}

fn ask_http2(job: &Job) -> ToolCommand {
    let load = match job.way {
        LoadMode::Open => {
            let streams = job.most.div_ceil(H2_CONNECTIONS);
            format!("--http 2 -c {H2_CONNECTIONS} --streams {streams} -r {} --arrivals even", job.rate)
        }
        LoadMode::Closed => format!("--http 2 -c 1 --streams {}", job.connections),
    };
    measure(job, &load)
}

fn measure(job: &Job, load: &str) -> ToolCommand {
    ToolCommand::line(&format!("brunt run {} {load} -d {}s -q --no-store -o json=brunt.json", job.url(), job.seconds))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let json = json(&told.file)?;
    let times = Figures::of_summary(&json["response_time_seconds"]);
    let failed = at(&json, "/requests/failed").ok_or("its JSON counts no requests")?;
    let figures = Figures { throughput: at(&json, "/throughput_per_second"), ..times };
    Ok(figures.with_errors(failed, sum(&json["outcomes"], is_refusal)))
}
