//! What a plan of JMeter is as runs: thread groups that run at the same time are a stage, one behind the other.

use brunt_model::TestStage;
use brunt_model::live_output::LiveOutput;

/// A plan that can be run.
#[derive(Debug, Clone)]
pub struct TestRun {
    /// One after the other; never empty.
    pub stages: Vec<TestStage>,
    /// What of the plan was left out, or is done otherwise than JMeter does it: a sentence each.
    pub notices: Vec<String>,
    /// Systems that receive the figures of all stages while they run.
    pub live_outputs: Vec<LiveOutput>,
}
