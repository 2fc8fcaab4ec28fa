//! The program of a studio.

use brunt_spec::System;
use std::path::PathBuf;

/// The program of a studio, and its machine.
pub struct StudioProgram {
    /// The command line, as the source of comparisons.
    pub command: String,
    /// Path of brunt, for runs that the studio starts.
    pub program: PathBuf,
    /// The system, for checks of plan files.
    pub system: System,
    /// Shows the operator a warning.
    pub warn: fn(&str),
}
