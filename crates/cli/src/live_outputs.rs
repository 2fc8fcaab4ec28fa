//! Starts live outputs, with messages on the terminal, and redacts their secrets.

use crate::live::print_line;
use crate::redact;
use anyhow::{Result, bail};
use brunt_live::LiveOutputs;
use brunt_model::live_output::LiveOutput;
use brunt_spec::settings::OutputSettings;
use std::sync::Arc;

/// Prepares the live outputs. Nothing is sent before a run starts.
pub fn start(outputs: &[LiveOutput]) -> Result<LiveOutputs> {
    Ok(LiveOutputs::new(outputs, redact::current(), Arc::new(|line: &str| print_line(line)))?)
}

/// Refuses live outputs for a command without a load.
pub fn refuse(settings: &OutputSettings, reason: &str) -> Result<()> {
    match settings.live_outputs.first() {
        Some(output) => bail!(
            "-o: {} receives figures while a load runs, and {reason}; leave it out",
            output.sink
        ),
        None => Ok(()),
    }
}
