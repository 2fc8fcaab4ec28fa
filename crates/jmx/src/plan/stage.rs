//! The stages of a plan: thread groups that run at the same time, one stage after the other.

use brunt_model::Plan;

/// A plan that can be run.
#[derive(Debug, Clone)]
pub struct TestRun {
    /// One after the other; never empty.
    pub stages: Vec<TestStage>,
    /// What of the plan was left out, or is done otherwise than JMeter does it: a sentence each.
    pub notices: Vec<String>,
}

/// Thread groups that run at the same time.
#[derive(Debug, Clone)]
pub struct TestStage {
    /// Purpose of its thread groups.
    pub kind: StageKind,
    /// The run.
    pub plan: Plan,
    /// It runs also where a step, a script or a failure has ended the test in the thread groups before.
    pub runs_after_stop: bool,
}

/// What a stage is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StageKind {
    /// setUp thread groups.
    SetUp,
    /// Thread groups.
    Main,
    /// tearDown thread groups.
    TearDown,
}

impl TestStage {
    /// Whether it runs where a stage of this kind has ended the test; null: the test goes on.
    pub fn runs_behind(&self, ended: Option<StageKind>) -> bool {
        match ended {
            None => true,
            Some(StageKind::SetUp) => false,
            Some(StageKind::Main | StageKind::TearDown) => self.runs_after_stop,
        }
    }

    /// The most users, or arrivals per second, of all its groups together.
    pub fn peak_users(&self) -> u64 {
        let peaks = self.plan.populations.iter().map(|population| population.load.peak());
        peaks.sum::<f64>().ceil() as u64
    }

    /// Lets it begin with the properties that the stage before ended with.
    pub fn begin_with(&mut self, properties: &[(String, String)]) {
        for population in &mut self.plan.populations {
            population.scenario.properties = properties.to_vec();
        }
    }

    /// Takes away worker threads that would have no user.
    pub fn limit_threads(&mut self) {
        let users = u32::try_from(self.peak_users()).unwrap_or(u32::MAX);
        self.plan.threads = self.plan.threads.min(users).max(1);
    }
}
