//! Recognizes files of other kinds where a plan file or a URL is expected.

use std::path::Path;

/// What to write for a file that is neither a plan file nor a list of URLs, by its name or its content; None
/// if it may be one of these.
pub fn command_for_file(file: &str) -> Option<String> {
    match Path::new(file).extension().and_then(|ending| ending.to_str()) {
        Some("events") => Some(format!("for its report write `brunt report {file}`")),
        Some("brunt") => Some(format!("to import it write `brunt runs import {file}`")),
        Some("jmx") => Some(format!("to run it write `brunt jmeter -n -t {file}`")),
        Some("js" | "mjs") => Some(format!("to run a script of k6 write `brunt k6 run {file}`")),
        Some("ts" | "py" | "scala" | "lua") => Some(
            "brunt runs no scripts of other tools; write a plan file (`brunt plan new plan.yaml`), or record one (`brunt record`)".to_owned(),
        ),
        Some("har") => Some(format!("to make a plan of it write `brunt import har {file} -o plan.yaml`")),
        #[cfg(feature = "import")]
        _ => crate::import::format_of_file(Path::new(file)).map(|format| {
            format!("to make a plan of it write `brunt import {format} {file} -o plan.yaml`")
        }),
        #[cfg(not(feature = "import"))]
        _ => None,
    }
}
