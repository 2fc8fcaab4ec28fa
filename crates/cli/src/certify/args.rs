//! Arguments of `brunt certify`.

use crate::suggestions::{names, of_suggestions};
use brunt_certify::{CASES, CertifySettings, FORMATS, LoadMode, TOOLS};
use brunt_spec::words::WordError;
use brunt_spec::words::named::{NamedValue, Suggestion, suggestions, value_named};
use brunt_spec::words::values::{self, Output};
use clap::{Args, value_parser};

/// Arguments of `brunt certify`.
#[derive(Debug, Clone, Args)]
pub struct CertifyArgs {
    /// Tools to score: brunt, brunt-http2, brunt-http3, brunt-ws, brunt-ws-h2, brunt-grpc, wrk, wrk2, ab, siege, httperf,
    /// h2load, oha, k6, vegeta, hey, bombardier, jmeter, or all. Those that this machine has not are told and left out
    #[arg(long = "tool", value_name = "LIST", value_delimiter = ',', default_value = "brunt", value_parser = tool, add = of_suggestions(tools))]
    pub tools: Vec<String>,

    /// Cases to run [default: all of const, exp, lognormal, queue, stall, drip, resets, freeze]
    #[arg(long = "case", value_name = "LIST", value_delimiter = ',', value_parser = case, add = of_suggestions(cases))]
    pub cases: Vec<String>,

    /// Loops to run: open, closed [default: both, where the tool can]
    #[arg(long = "loop", value_name = "LIST", value_delimiter = ',', value_parser = load_mode, add = of_suggestions(load_modes))]
    pub ways: Vec<LoadMode>,

    /// Duration of each run; a p99.9 needs some thousand requests, so 8 s or more
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(2..=600))]
    pub seconds: u32,

    /// Runs of each tool in each case; the median is shown
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=20))]
    pub rounds: u32,

    /// League table in FORMAT (text, json, markdown), to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, add = of_suggestions(formats))]
    pub outputs: Vec<Output>,
}

impl CertifyArgs {
    /// Settings of the league.
    pub fn settings(&self) -> CertifySettings {
        CertifySettings {
            tools: self.tools.clone(),
            cases: self.cases.clone(),
            load_modes: self.ways.clone(),
            seconds: self.seconds,
            rounds: self.rounds,
            search_path: std::env::var_os("PATH"),
        }
    }
}

/// The loops of a league.
const LOAD_MODES: [NamedValue<LoadMode>; 2] = [
    NamedValue { names: &["open"], about: "arrivals do not wait", value: LoadMode::Open },
    NamedValue { names: &["closed"], about: "users wait for replies", value: LoadMode::Closed },
];

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt certify                                        score brunt in every case
  brunt certify --tool brunt,wrk,ab,siege,httperf      score several tools
  brunt certify --tool all -o text -o markdown=honesty.md
  brunt certify --case stall,freeze --loop open        only cases that show coordinated omission

Use an idle machine: on a busy one the reference server rejects its own figures.
With real-time priority (root) it rejects them less often. Method: docs/honesty.md.";

fn tools() -> Vec<Suggestion> {
    names(TOOLS.iter().map(|tool| tool.name).chain(["all"]))
}

fn cases() -> Vec<Suggestion> {
    names(CASES.iter().map(|case| case.name))
}

fn load_modes() -> Vec<Suggestion> {
    suggestions(&LOAD_MODES)
}

fn formats() -> Vec<Suggestion> {
    names(FORMATS.iter().map(|format| format.name))
}

fn tool(word: &str) -> Result<String, WordError> {
    let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
    parse_name(word, "tool", &names, word == "all")
}

fn case(word: &str) -> Result<String, WordError> {
    let names: Vec<_> = CASES.iter().map(|case| case.name).collect();
    parse_name(word, "case", &names, false)
}

fn load_mode(word: &str) -> Result<LoadMode, WordError> {
    value_named(&LOAD_MODES, word)
        .ok_or_else(|| WordError::new(word, "not a loop", "open, closed, or both as open,closed"))
}

fn parse_name(word: &str, kind: &str, names: &[&str], special: bool) -> Result<String, WordError> {
    if special || names.contains(&word) {
        return Ok(word.to_owned());
    }
    let wrong = format!("unknown {kind}");
    Err(WordError::new(
        word,
        wrong,
        format!("one or more of {}, with commas between", names.join(",")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_valid_values() {
        assert!(tool("brunt").is_ok() && tool("all").is_ok());
        assert!(tool("locust").unwrap_err().to_string().contains("wrk,"));
        assert!(case("all").unwrap_err().to_string().contains("stall"));
        assert_eq!(load_mode("open"), Ok(LoadMode::Open));
        assert!(load_mode("half").unwrap_err().to_string().contains("closed"));
    }
}
