//! brunt, as a child of itself: even arrivals as the others have them, and its JSON report.

use super::text::{at, is_refusal, json, sum};
use super::{Asked, Job, Spacing, Told, Tool, Way};
use crate::figures::Figures;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "brunt",
    program: None,
    ways: &[Way::Open, Way::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("brunt.json"),
    note: "open: `-r RATE --arrivals even`, closed: `-c N`; JSON report",
    ask,
    read,
};

fn ask(job: &Job) -> Asked {
    let load = match job.way {
        Way::Open => format!("-r {} --arrivals even", job.rate),
        Way::Closed => format!("-c {}", job.connections),
    };
    Asked::line(&format!("brunt run {} {load} -d {}s -q --no-store -o json=brunt.json", job.url(), job.seconds))
}

fn read(told: &Told) -> Result<Figures, String> {
    let json = json(&told.file)?;
    let times = Figures::of_summary(&json["response_time_seconds"]);
    let failed = at(&json, "/requests/failed").ok_or("its JSON counts no requests")?;
    let figures = Figures { throughput: at(&json, "/throughput_per_second"), ..times };
    Ok(figures.with_errors(failed, sum(&json["outcomes"], is_refusal)))
}
