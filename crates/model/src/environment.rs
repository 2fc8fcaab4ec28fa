//! Where and with what a run was made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where and with what a run was made: what somebody needs to judge whether two runs may be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The command line.
    pub command: String,
    /// The version of brunt.
    pub brunt: String,
    /// Operating system and kernel release.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu: String,
    /// Cores that we may use.
    pub cores: u32,
    /// Limits of our process, by name.
    pub limits: Vec<(String, String)>,
    /// Kernel settings that bear on a load test, by name.
    pub sysctls: Vec<(String, String)>,
    /// The addresses that the target's name had.
    pub addresses: Vec<String>,
    /// What the server calls itself.
    pub server: Option<String>,
}
