//! A JMeter plan as stages that run one after another. Thread groups of one stage run
//! at the same time.

use brunt_model::TestStage;
use brunt_model::live_output::LiveOutput;

/// A plan that brunt can run.
#[derive(Debug, Clone)]
pub struct TestRun {
    /// Stages in the order in which they run; never empty.
    pub stages: Vec<TestStage>,
    /// Omitted elements and differences from JMeter, one sentence each.
    pub notices: Vec<String>,
    /// Systems that receive live figures of all stages.
    pub live_outputs: Vec<LiveOutput>,
}
