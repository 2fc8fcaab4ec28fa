//! Recognizes the texts that tools print on the terminal, and files that only the tool can read.
//!
//! They have no samples; some have no percentiles. A row names the command whose results can be read.

/// Output of a tool that cannot be read.
pub struct ConsoleOutput {
    /// Name of the tool.
    pub tool: &'static str,
    /// Texts that the output contains, all of them.
    marks: &'static [&'static str],
    /// Command that writes a file with results.
    pub remedy: &'static str,
}

const CONSOLE_OUTPUTS: &[ConsoleOutput] = &[
    ConsoleOutput {
        tool: "k6",
        marks: &["http_req_duration..", "iterations.."],
        remedy: "k6 run --out json=result.json script.js",
    },
    ConsoleOutput {
        tool: "Locust",
        marks: &["# reqs", "# fails", "Aggregated"],
        remedy: "locust --csv result …, then analyse result_stats_history.csv",
    },
    ConsoleOutput {
        tool: "Gatling",
        marks: &["Global Information", "request count"],
        remedy: "the file simulation.log or js/global_stats.json in the folder of the report",
    },
    ConsoleOutput {
        tool: "Gatling (a binary simulation.log)",
        marks: &["\0", "Simulation", "3."],
        remedy: "the file js/global_stats.json in the folder of the report",
    },
    ConsoleOutput {
        tool: "vegeta (its binary results)",
        marks: &["Attack", "Seq", "Latency", "BytesOut"],
        remedy: "vegeta encode results.bin > results.json",
    },
    ConsoleOutput {
        tool: "h2load",
        marks: &["finished in ", "time for request:"],
        remedy: "h2load --log-file=result.tsv …",
    },
    ConsoleOutput {
        tool: "oha",
        marks: &["Success rate:", "Response time histogram:"],
        remedy: "oha --output-format json -o result.json …",
    },
    ConsoleOutput {
        tool: "hey",
        marks: &["Requests/sec:", "Response time histogram:"],
        remedy: "hey -o csv … > result.csv",
    },
    ConsoleOutput {
        tool: "fortio",
        marks: &["# target 50%", "Sockets used:"],
        remedy: "fortio load -json result.json …",
    },
    ConsoleOutput {
        tool: "JMeter",
        marks: &["summary =", "Avg:", "Err:"],
        remedy: "jmeter -n -t plan.jmx -l result.jtl",
    },
    ConsoleOutput {
        tool: "siege",
        marks: &["Transaction rate:", "Availability:"],
        remedy: "siege --json-output … > result.json",
    },
    ConsoleOutput {
        tool: "httperf",
        marks: &["Total: connections", "Reply rate [replies/s]"],
        remedy: "autobench --file result.tsv …, or a table `rate achieved response_ms`",
    },
];

/// Returns the row of a text; None if no tool is known to print it.
pub fn console_output(text: &str) -> Option<&'static ConsoleOutput> {
    CONSOLE_OUTPUTS.iter().find(|row| row.marks.iter().all(|mark| text.contains(mark)))
}
