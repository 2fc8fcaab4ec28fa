//! Settings of a league: the tools, cases and load modes to certify.

use crate::tools::LoadMode;
use std::ffi::OsString;

/// The trials that were requested.
#[derive(Debug, Clone)]
pub struct CertifySettings {
    /// Names of tools to score, or `all`.
    pub tools: Vec<String>,
    /// Names of cases to run; empty means all.
    pub cases: Vec<String>,
    /// Load modes to run; empty means every mode of a tool.
    pub load_modes: Vec<LoadMode>,
    /// Length of the load of each run in seconds.
    pub seconds: u32,
    /// Number of runs of each tool in each case.
    pub rounds: u32,
    /// Directories to search for tools, in the format of `PATH`.
    pub search_path: Option<OsString>,
}

impl CertifySettings {
    /// True if a case was requested.
    pub fn wants_case(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|case| case == name)
    }

    /// True if a tool was requested.
    pub fn wants_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool == name || tool == "all")
    }

    /// True if a load mode was requested.
    pub fn wants_way(&self, way: LoadMode) -> bool {
        self.load_modes.is_empty() || self.load_modes.contains(&way)
    }
}
