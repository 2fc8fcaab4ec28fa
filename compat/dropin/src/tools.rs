//! The table of drop-in tools, and their recognition on a command line.

use crate::caller::Caller;
use crate::{ab, autobench, bench2graph, httperf, jmeter, k6, siege};
use std::path::Path;
use std::sync::Arc;

/// A tool that brunt can replace.
#[derive(Debug, Clone, Copy)]
pub struct DropinTool {
    /// Name of the program and of brunt's subcommand.
    pub name: &'static str,
    /// Description in the list of commands.
    pub about: &'static str,
    /// Runs a command line: the name as the user typed it, the arguments, the
    /// caller. Returns the exit code.
    pub run: fn(&str, &[String], &Arc<Caller>) -> u8,
}

/// One row for each tool.
pub const COMPAT: &[DropinTool] = &[
    DropinTool {
        name: "ab",
        about: "ApacheBench 2.3, of Apache 2.4.71: its options, its bytes, its report",
        run: ab::run,
    },
    DropinTool {
        name: "siege",
        about: "siege 4.0.7: its options and siegerc, its URL files, its report in three forms",
        run: siege::run,
    },
    DropinTool {
        name: "jmeter",
        about: "Apache JMeter 5.6.3 without its window: its plans, result files, summary lines and dashboard",
        run: jmeter::run,
    },
    DropinTool {
        name: "k6",
        about: "k6 2.2: its scripts, options, thresholds and summary",
        run: k6::run,
    },
    DropinTool {
        name: "httperf",
        about: "httperf 0.9.0 with what 0.9.1 added: connections and sessions at a rate",
        run: httperf::run,
    },
    DropinTool {
        name: "autobench",
        about: "autobench 2.1: httperf at one rate after the other, as a table",
        run: autobench::run,
    },
    DropinTool {
        name: "autobench_admin",
        about: "the same from several machines that run autobenchd",
        run: autobench::admin,
    },
    DropinTool {
        name: "autobenchd",
        about: "runs httperf for autobench_admin",
        run: autobench::daemon,
    },
    DropinTool {
        name: "bench2graph",
        about: "a chart of autobench's table: PNG, SVG or PostScript",
        run: bench2graph::run,
    },
];

/// Finds the tool that a command line calls, by the program's name or as a subcommand.
///
/// Returns the tool, its name as the user typed it, and its arguments.
pub fn find_tool(words: &[String]) -> Option<(&'static DropinTool, &str, &[String])> {
    let (program, rest) = words.split_first()?;
    let name = Path::new(program).file_name()?.to_str()?;
    // The name of the program counts first, since a link has it.
    if let Some(tool) = by_name(name) {
        return Some((tool, program, rest));
    }
    let (first, rest) = rest.split_first()?;
    Some((by_name(first)?, first, rest))
}

fn by_name(name: &str) -> Option<&'static DropinTool> {
    COMPAT.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_tool_is_selected_by_program_name_or_first_argument() {
        let program_name = |line: &str| {
            find_tool(&words(line))
                .map(|(tool, _, rest)| format!("{} {}", tool.name, rest.join(" ")))
        };
        assert_eq!(program_name("/usr/bin/ab -n 1 u").as_deref(), Some("ab -n 1 u"));
        assert_eq!(program_name("ab ab").as_deref(), Some("ab ab"));
        assert_eq!(program_name("/bin/brunt ab -V").as_deref(), Some("ab -V"));
        assert_eq!(program_name("brunt run ab"), None);
        assert_eq!(program_name("brunt"), None);
    }
}
