//! What is to be certified: which tools, in which cases, in which ways.

use crate::tools::LoadMode;
use std::ffi::OsString;

/// What is to be certified.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Names of tools to score, or `all`.
    pub tools: Vec<String>,
    /// Names of cases to run; none: all.
    pub cases: Vec<String>,
    /// Ways of putting load to run; none: all that a tool can.
    pub ways: Vec<LoadMode>,
    /// Load in each run, in seconds.
    pub seconds: u32,
    /// Runs of each tool in each case.
    pub rounds: u32,
    /// Folders in which tools are looked for, written as `PATH` is.
    pub search_path: Option<OsString>,
}

impl Settings {
    /// Whether a case was asked for.
    pub fn wants_case(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|case| case == name)
    }

    /// Whether a tool was asked for.
    pub fn wants_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool == name || tool == "all")
    }

    /// Whether a way of putting load was asked for.
    pub fn wants_way(&self, way: LoadMode) -> bool {
        self.ways.is_empty() || self.ways.contains(&way)
    }
}
