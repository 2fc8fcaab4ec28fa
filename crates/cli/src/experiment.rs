//! Experiments: `brunt sweep`, and `brunt run` of a plan file.

use crate::exit::Exit;
use crate::{Failed, usage};
use clap::Args;

/// Examples for the help.
pub const SWEEP_EXAMPLES: &str = "Examples:";

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// Its subject
    pub subject: Vec<String>,
}

/// Carries it out.
pub fn sweep(args: &SweepArgs) -> Result<Exit, Failed> {
    Err(usage(anyhow::anyhow!("{:?}: not there yet", args.subject)))
}
