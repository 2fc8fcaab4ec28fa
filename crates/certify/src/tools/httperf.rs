//! httperf: an open loop of connections with one request each; `-v -v` prints a histogram in bins of a millisecond.

use super::text::{first_number, number_after};
use super::{Job, LoadMode, Spacing, Tool, ToolCommand, ToolReport};
use crate::figures::Figures;
use brunt_lab::planned::Protocol;

/// See the module.
pub const TOOL: Tool = Tool {
    name: "httperf",
    program: Some("httperf"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open],
    spacing: Spacing::Even,
    lead: 0,
    file: None,
    note: "`--rate RATE --num-calls 1 -v -v`; percentiles from its histogram, which has bins of 1 ms",
    ask,
    read,
};

fn ask(job: &Job) -> ToolCommand {
    let Job { port, rate, seconds, .. } = job;
    let many = rate * seconds;
    ToolCommand::line(&format!(
        "httperf --hog --server 127.0.0.1 --port {port} --uri / --rate {rate} --num-conns {many} --num-calls 1 --timeout 20 \
         -v -v"
    ))
}

fn read(told: &ToolReport) -> Result<Figures, String> {
    let text = &told.out;
    let line = |begins: &str| text.lines().find(|line| line.starts_with(begins)).unwrap_or("");
    let total = line("Total: connections");
    let replies = number_after(total, "replies ").ok_or("it printed no number of replies")?;
    let lifetime = line("Connection time [ms]: min");
    let ms = |label: &str| number_after(lifetime, label).map(|ms| ms / 1e3);
    let figures = Figures {
        mean: ms("avg "),
        max: ms("max "),
        throughput: number_after(total, "test-duration ").map(|duration| replies / duration),
        ..Figures::of_times(histogram(text))
    };
    let status = line("Reply status:");
    let refused = ["4xx=", "5xx="].map(|class| number_after(status, class).unwrap_or(0.0)).iter().sum();
    Ok(figures.with_errors(number_after(line("Errors: total"), "total ").unwrap_or(0.0), refused))
}

/// The middle of each bin, in seconds, as often as it was met.
fn histogram(text: &str) -> Vec<f64> {
    let lines = text.lines().skip_while(|line| !line.starts_with("Connection lifetime histogram")).skip(1);
    let bins = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| {
        let (middle, count) = line.trim().split_once(' ')?;
        Some((first_number(middle)? / 1e3, count.trim().parse::<usize>().ok()?))
    });
    bins.flat_map(|(middle, count)| std::iter::repeat_n(middle, count)).collect()
}
