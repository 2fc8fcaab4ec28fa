//! What all users of a scenario share.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What all users of a scenario share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioFacts {
    /// Name of the scenario.
    pub name: String,
    /// Name of its executor.
    pub executor: String,
    /// Begin of the scenario, after that of the test.
    pub start: Duration,
    /// Length of the scenario, if it is known.
    pub length: Option<Duration>,
    /// All options of the test, as JSON.
    pub options: String,
    /// Tags of the test and of the scenario.
    pub tags: Vec<(String, String)>,
    /// Value of the header `User-Agent`.
    pub user_agent: String,
    /// Maximum number of redirects.
    pub redirects: u32,
    /// Maximum number of requests of a batch at once.
    pub batch: usize,
    /// True: bodies of replies are dropped, unless a request asks for them.
    pub drops_bodies: bool,
    /// True: cookies are kept from one iteration to the next.
    pub keeps_cookies: bool,
    /// True: a request without a reply is an exception.
    pub throws: bool,
    /// Group of everything that the function does: `::setup` and `::teardown`.
    pub group: String,
}
