//! The command line of the suite. [`crate::session`] runs it.

use std::path::PathBuf;

use clap::Parser;

use crate::cases::{BenchCase, CASES};
use crate::tools::BenchTool;

/// Measure brunt in comparison with wrk, ab and h2load, and with the minimum work of any load
/// generator.
#[derive(Clone, Debug, Parser)]
#[command(name = "brunt-bench")]
pub struct BenchOptions {
    /// Number of runs of each case with each tool
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub rounds: usize,
    /// Length of one run in seconds
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// 2 rounds of 2 s, and a tenth of the requests in the memory case
    #[arg(long, conflicts_with_all = ["rounds", "seconds"])]
    pub quick: bool,
    /// Measure this case only (repeatable); pacing and overload are measured only if they are named
    #[arg(long, value_name = "NAME", value_parser = CASES.map(|case| case.name))]
    pub case: Vec<String>,
    /// Measure with this tool only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub tool: Vec<BenchTool>,
    /// The brunt to measure [default: next to this program, otherwise target/release/brunt]
    #[arg(long, value_name = "PATH")]
    pub brunt: Option<PathBuf>,
    /// The brunt-lab that counts arrivals in the pacing case [default: next to brunt]
    #[arg(long, value_name = "PATH")]
    pub lab: Option<PathBuf>,
    /// Write the page here, as Markdown
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write everything measured here, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Compare brunt with its targets; print missed ones and exit with 1
    #[arg(long)]
    pub check: bool,
    /// Keep the server on the first CPU and the tools on the second
    #[arg(long)]
    pub pin: bool,
}

impl BenchOptions {
    /// Number of rounds, with `--quick` applied.
    pub fn rounds(&self) -> usize {
        if self.quick { 2 } else { self.rounds }
    }

    /// Length of one run in seconds, with `--quick` applied.
    pub fn seconds(&self) -> u64 {
        if self.quick { 2 } else { self.seconds }
    }

    /// The cases to measure, in the order of [`CASES`].
    pub fn cases(&self) -> Vec<BenchCase> {
        CASES.into_iter().filter(|case| self.wants_case(case)).collect()
    }

    /// True if `--case` names the case, or names none and the case is a default one.
    fn wants_case(&self, case: &BenchCase) -> bool {
        if self.case.is_empty() {
            case.is_default()
        } else {
            self.case.iter().any(|name| name == case.name)
        }
    }

    /// True if `--tool` names the tool, or names none.
    pub fn wants(&self, tool: BenchTool) -> bool {
        self.tool.is_empty() || self.tool.contains(&tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<BenchOptions, clap::Error> {
        BenchOptions::try_parse_from([&["brunt-bench"], words].concat())
    }

    #[test]
    fn all_cases_are_measured_by_default() {
        let all = parse(&[]).unwrap();
        assert_eq!((all.rounds(), all.seconds(), all.cases().len()), (7, 7, CASES.len() - 2));
        assert!(all.wants(BenchTool::Ab));
        let some = parse(&["--case", "tls-10b", "--tool", "wrk", "--quick"]).unwrap();
        assert_eq!((some.rounds(), some.seconds(), some.cases().len()), (2, 2, 1));
        assert!(some.wants(BenchTool::Wrk) && !some.wants(BenchTool::Ab));
    }

    #[test]
    fn pacing_is_measured_if_it_is_selected() {
        let names = |words: &[&str]| {
            parse(words).unwrap().cases().iter().map(|case| case.name).collect::<Vec<_>>()
        };
        assert!(!names(&[]).contains(&"pacing") && !names(&[]).contains(&"overload"));
        assert_eq!(names(&["--case", "pacing", "--case", "memory"]), ["pacing", "memory"]);
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(parse(&["--case", "no-such-case"]).is_err());
        assert!(parse(&["--tool", "siege"]).is_err());
        assert!(parse(&["--quick", "--rounds", "3"]).is_err());
        assert!(parse(&["--seconds", "0"]).is_err());
    }
}
