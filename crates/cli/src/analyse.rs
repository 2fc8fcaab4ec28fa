//! Results, analysed: `brunt analyse`.

use crate::exit::Exit;
use crate::{Failed, usage};
use clap::Args;

/// Examples for the help.
pub const EXAMPLES: &str = "Examples:";

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct AnalyseArgs {
    /// Its subject
    pub subject: Vec<String>,
}

/// Carries it out.
pub fn analyse(args: &AnalyseArgs) -> Result<Exit, Failed> {
    Err(usage(anyhow::anyhow!("{:?}: not there yet", args.subject)))
}
