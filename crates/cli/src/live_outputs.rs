//! Live outputs: starts them with messages on the terminal, and makes their secrets known to another redactor.

use crate::live::say;
use crate::redact;
use anyhow::{Result, bail};
use brunt_model::live_output::LiveOutput;
use brunt_runner::LiveOutputs;
use brunt_spec::settings::OutputSettings;
use std::sync::Arc;

/// Prepares them; nothing is sent before a run begins.
pub fn start(outputs: &[LiveOutput]) -> Result<LiveOutputs> {
    Ok(LiveOutputs::new(outputs, redact::current(), Arc::new(|line: &str| say(line)))?)
}

/// Makes their secrets known to the redactor of this process, which another store replaces.
pub fn know(outputs: &[LiveOutput]) {
    for secret in outputs.iter().flat_map(LiveOutput::secrets) {
        redact::current().secret(secret);
    }
}

/// Refuses them where no load runs.
pub fn refuse(settings: &OutputSettings, what: &str) -> Result<()> {
    match settings.live_outputs.first() {
        Some(output) => bail!("-o: {} receives figures while a load runs, and {what}; leave it out", output.sink),
        None => Ok(()),
    }
}
