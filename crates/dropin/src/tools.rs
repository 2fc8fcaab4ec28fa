//! Which tools there are, and which of them a command line calls.

use crate::caller::Caller;
use crate::{ab, autobench, bench2graph, httperf, jmeter, siege};
use std::path::Path;
use std::sync::Arc;

/// A tool whose name we answer to.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name: of the program, and of our subcommand.
    pub name: &'static str,
    /// What it is, for the list of commands.
    pub about: &'static str,
    /// Carries out its command line: the name as it was typed, and what it is told; how the process is to exit.
    pub run: fn(&str, &[String], &Arc<Caller>) -> u8,
}

/// One row a tool.
pub const COMPAT: &[Tool] = &[
    Tool { name: "ab", about: "ApacheBench 2.3, of Apache 2.4.71: its options, its bytes, its report", run: ab::run },
    Tool {
        name: "siege",
        about: "siege 4.0.7: its options and siegerc, its URL files, its report in three forms",
        run: siege::run,
    },
    Tool {
        name: "jmeter",
        about: "Apache JMeter 5.6.3 without its window: its plans, result files, summary lines and dashboard",
        run: jmeter::run,
    },
    Tool {
        name: "httperf",
        about: "httperf 0.9.0 with what 0.9.1 added: connections and sessions at a rate",
        run: httperf::run,
    },
    Tool {
        name: "autobench",
        about: "autobench 2.1: httperf at one rate after the other, as a table",
        run: autobench::run,
    },
    Tool {
        name: "autobench_admin",
        about: "the same from several machines that run autobenchd",
        run: autobench::admin,
    },
    Tool { name: "autobenchd", about: "runs httperf for autobench_admin", run: autobench::daemon },
    Tool { name: "bench2graph", about: "a chart of autobench's table: PNG, SVG or PostScript", run: bench2graph::run },
];

/// The tool that these words of a command line call, by the name of the program or as a subcommand; that name as it was
/// typed, and what it is told.
pub fn asked(words: &[String]) -> Option<(&'static Tool, &str, &[String])> {
    let (program, rest) = words.split_first()?;
    let name = Path::new(program).file_name()?.to_str()?;
    let by = |name: &str| COMPAT.iter().find(|tool| tool.name == name);
    if let Some(tool) = by(name) {
        return Some((tool, program, rest));
    }
    let (first, rest) = rest.split_first()?;
    Some((by(first)?, first, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_tool_is_called_by_the_program_or_by_the_first_word() {
        let called =
            |line: &str| asked(&words(line)).map(|(tool, _, rest)| format!("{} {}", tool.name, rest.join(" ")));
        assert_eq!(called("/usr/bin/ab -n 1 u").as_deref(), Some("ab -n 1 u"));
        assert_eq!(called("ab ab").as_deref(), Some("ab ab"));
        assert_eq!(called("/bin/brunt ab -V").as_deref(), Some("ab -V"));
        assert_eq!(called("brunt run ab"), None);
        assert_eq!(called("brunt"), None);
    }
}
