//! Other tools: their names, plans and result files.
//!
//! `dropins` runs brunt as another tool, and [`names`] installs links with the names of these tools.
//! `jmeter_plan` runs JMeter's plans, and [`export`] writes them. `result_files` summarizes
//! JMeter's result files. In a program without the feature `compat`, `absent` refuses them.

#[cfg(not(feature = "compat"))]
mod absent;
#[cfg(feature = "compat")]
mod dropins;
#[cfg(feature = "compat")]
pub mod export;
#[cfg(feature = "compat")]
mod jmeter_plan;
#[cfg(feature = "compat")]
pub mod names;
#[cfg(feature = "compat")]
mod result_files;

#[cfg(not(feature = "compat"))]
use absent::is_result_text;
#[cfg(feature = "compat")]
use brunt_jmx::jtl::is_result_file as is_result_text;

#[cfg(not(feature = "compat"))]
pub use absent::{RESULT_READERS, report_result_files, run_drop_in, run_jmeter_plan};
#[cfg(feature = "compat")]
pub use brunt_jmx::jtl::observations::RESULT_READERS;
#[cfg(feature = "compat")]
pub use dropins::run_drop_in;
#[cfg(feature = "compat")]
pub use jmeter_plan::run as run_jmeter_plan;
#[cfg(feature = "compat")]
pub use result_files::report as report_result_files;

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Number of bytes that identify the type of a file.
const PREFIX_BYTES: u64 = 4096;

/// Returns the path of a JMeter plan, or None for a URL.
pub fn jmeter_plan_path(word: &str) -> Option<&Path> {
    let path = Path::new(word);
    let is_plan = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"));
    (is_plan && !word.contains("://")).then_some(path)
}

/// True if the file begins like a result file of JMeter.
pub fn is_result_file(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(PREFIX_BYTES).read_to_end(&mut start));
    read.is_ok() && is_result_text(&String::from_utf8_lossy(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jmeter_plans_and_urls_are_distinguished() {
        for (word, is) in [
            ("plan.jmx", true),
            ("a/b.JMX", true),
            ("http://h/plan.jmx", false),
            ("plan.yaml", false),
        ] {
            assert_eq!(jmeter_plan_path(word).is_some(), is, "{word}");
        }
    }
}
