//! Messages between the controller of a run and its agents.
//!
//! `docs/agent-protocol.proto` documents them; [`codec`](crate::codec) encodes them. Out of scope: the
//! carriers (a pipe, ssh, NATS), and what a message makes the engine do ([`crate::part`]).
//!
//! Every message has the number of a run. An agent ignores commands of an earlier run, so that a
//! late or repeated message starts and stops nothing. The controller ignores results of an earlier
//! run.
//!
//! The order: the agent sends [`Hello`](AgentReport::Hello). The controller reads its clock many
//! times, asks for the way to the server, then sends secrets, files and the assignment. The agent
//! prepares its share, and the rest are the commands and results of [`crate::part`]. After
//! [`Finished`](AgentReport::Finished) the agent waits for the next assignment.

use crate::fleet::AgentFacts;
use crate::{PartCommand, Plan, ProcessMessage, ProcessShares, Route, StageOutput};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Version of these messages. Programs with different versions do not work together.
pub const PROTOCOL_VERSION: u32 = 2;

/// Number of a run among all runs of a fleet; later runs have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RunNumber(pub u64);

/// Message from the controller to an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ControllerMessage {
    /// Run that the message belongs to.
    pub run: RunNumber,
    /// Content of the message.
    pub request: ControllerRequest,
}

/// Content of a message from the controller.
#[derive(Debug, Clone, PartialEq)]
pub enum ControllerRequest {
    /// Values that the plan of the next assignment lacks: where each belongs in the plan's JSON, as a
    /// JSON Pointer (RFC 6901), and the JSON value.
    // Apart from the assignment, so that a carrier that stores messages need not store secrets.
    Secrets(Vec<(String, String)>),
    /// A file that the plan of the next assignment names.
    File(FileCopy),
    /// Asks for the way to the server.
    Check(Box<CheckRequest>),
    /// The agent's share of a run.
    Assign(Box<Assignment>),
    /// Asks for the time of the agent's clock. The value is the controller's time, in nanoseconds.
    ReadClock(u64),
    /// A command to the run in progress.
    Command(PartCommand),
}

/// A file of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCopy {
    /// Path of the file as the plan has it.
    pub path: PathBuf,
    /// Content of the file.
    pub content: Vec<u8>,
}

/// A check of the way from an agent to the server.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckRequest {
    /// Plan with the server, without its secrets.
    pub plan: serde_json::Value,
    /// Extent of the check.
    pub depth: AgentCheckDepth,
}

/// Extent of a check on an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentCheckDepth {
    /// The route, without a connection.
    Route,
    /// The route, connections to the server, and the load that a core carries.
    All,
}

/// What an agent found out about the way to the server, and about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentCheck {
    /// Route to the server; null if it was not determined.
    pub route: Option<Route>,
    /// Connections to the server; null if none was tried, or none succeeded.
    pub connection: Option<AgentConnection>,
    /// Why there is no connection; null if there is one, or if none was tried.
    pub failure: Option<String>,
    /// Requests per second that a core of the agent carries: measured against a server in the same
    /// process, with the smallest reply. Null if it was not measured.
    pub requests_per_core_second: Option<f64>,
}

/// Connections from an agent to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentConnection {
    /// Address and port of the agent, as its machine shows them.
    pub local: SocketAddr,
    /// Address and port of the server.
    pub server: SocketAddr,
    /// Shortest time to establish a connection, in seconds: a round trip.
    pub round_trip_seconds: f64,
}

impl AgentConnection {
    /// True if an address translation (NAT) is certain: the agent's address is private, and the
    /// server's is not.
    pub fn is_translated(&self) -> bool {
        !is_private(self.server.ip()) && is_private(self.local.ip())
    }
}

/// True for an address that is not routed on the Internet (RFC 1918, 6598, 4193, 3927 and 4291).
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            v4.is_private() || v4.is_loopback() || v4.is_link_local() || is_shared
        }
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// An agent's share of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// Plan of the whole run, without its secrets.
    pub plan: serde_json::Value,
    /// Shares of this agent.
    pub shares: ProcessShares,
    /// Start of the run, in nanoseconds of the agent's monotonic clock.
    pub epoch_nanos: u64,
    /// The agent stops its load if it receives nothing for this time; None: only when its
    /// connection to the controller closes.
    pub lease: Option<Duration>,
    /// Bytes per second above which the agent sends figures of labels less often; 0: no limit.
    pub bytes_per_second: u64,
    /// Route from the agent to the server, if it is known. The agent does not count the server's
    /// processes on its own machine as other ones.
    pub route: Option<Route>,
}

/// Message from an agent to the controller.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentMessage {
    /// Run that the message belongs to; 0 before the first one.
    pub run: RunNumber,
    /// Content of the message.
    pub report: AgentReport,
}

/// Content of a message from an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentReport {
    /// The first message: the version of its messages, and facts about the agent.
    Hello(u32, Box<AgentFacts>),
    /// Times of a [`ControllerRequest::ReadClock`], in nanoseconds.
    Clock(ClockReading),
    /// Result of a [`ControllerRequest::Check`].
    Checked(Box<AgentCheck>),
    /// Its share of the run: ready, an event, or the end of the run.
    Part(ProcessMessage),
    /// The run has ended on this agent.
    Finished(RunEnd),
    /// The agent ends, for this reason.
    Gone(String),
}

/// Instants of a clock reading, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// When the controller sent the request, on its clock.
    pub sent: u64,
    /// When the agent received it, on the agent's clock.
    pub received: u64,
    /// When the agent replied, on the agent's clock.
    pub replied: u64,
}

/// End of a run on an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunEnd {
    /// Why the agent could not carry the run out.
    pub error: Option<String>,
    /// Properties and variables for later stages of the test.
    pub output: StageOutput,
    /// True if a step, a script or a failure has ended the test.
    pub has_ended_test: bool,
}

impl Assignment {
    /// Returns the plan with its secrets.
    ///
    /// # Errors
    ///
    /// A place of a secret does not exist, a secret is no JSON, or the result is no plan.
    pub fn plan(&self, secrets: &[(String, String)]) -> Result<Plan, String> {
        let mut plan = self.plan.clone();
        for (pointer, value) in secrets {
            let place = plan.pointer_mut(pointer);
            let place = place.ok_or_else(|| format!("the plan has no place {pointer}"))?;
            // The value is not named, because it is secret.
            *place = serde_json::from_str(value).map_err(|_| format!("no JSON for {pointer}"))?;
        }
        serde_json::from_value(plan).map_err(|error| error.to_string())
    }
}

/// Moves the values in which a plan differs from its redacted form out of it. Returns the plan
/// without them, and their places and values, as [`ControllerRequest::Secrets`] has them.
pub fn split_secrets(
    plan: &Plan,
    redacted: &Plan,
) -> Result<(serde_json::Value, Vec<(String, String)>), serde_json::Error> {
    let exact = serde_json::to_value(plan)?;
    let mut public = serde_json::to_value(redacted)?;
    let mut secrets = Vec::new();
    move_differences(&exact, &mut public, "", &mut secrets);
    Ok((public, secrets))
}

fn move_differences(
    exact: &serde_json::Value,
    public: &mut serde_json::Value,
    pointer: &str,
    secrets: &mut Vec<(String, String)>,
) {
    use serde_json::Value::{Array, Null, Object};
    match (exact, public) {
        (Array(exact), Array(public)) if exact.len() == public.len() => {
            for (number, (exact, public)) in exact.iter().zip(public).enumerate() {
                move_differences(exact, public, &format!("{pointer}/{number}"), secrets);
            }
        }
        (Object(exact), Object(public)) if exact.keys().eq(public.keys()) => {
            for ((key, exact), (_, public)) in exact.iter().zip(public) {
                // RFC 6901 section 3: `~` and `/` are escaped.
                let key = key.replace('~', "~0").replace('/', "~1");
                move_differences(exact, public, &format!("{pointer}/{key}"), secrets);
            }
        }
        (exact, public) if exact != public => {
            secrets.push((pointer.to_owned(), exact.to_string()));
            *public = Null;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessPart;
    use serde_json::json;

    #[test]
    fn secrets_are_moved_out_of_a_plan_and_back() {
        let exact = json!({"a": ["x", "hunter2"], "b": {"to/ken~": "s3cret", "n": 1}, "c": null});
        let mut public =
            json!({"a": ["x", "redacted:1"], "b": {"to/ken~": "redacted:2", "n": 1}, "c": null});
        let mut secrets = Vec::new();
        move_differences(&exact, &mut public, "", &mut secrets);
        assert_eq!(public, json!({"a": ["x", null], "b": {"to/ken~": null, "n": 1}, "c": null}));
        assert_eq!(secrets[1], ("/b/to~1ken~0".to_owned(), "\"s3cret\"".to_owned()));
        for (pointer, value) in &secrets {
            *public.pointer_mut(pointer).unwrap() = serde_json::from_str(value).unwrap();
        }
        assert_eq!(public, exact);
    }

    #[test]
    fn a_secret_without_a_place_is_an_error_that_does_not_name_it() {
        let assignment = Assignment {
            plan: json!({"a": 1}),
            shares: ProcessShares { process: ProcessPart::WHOLE, populations: Vec::new() },
            epoch_nanos: 0,
            lease: None,
            bytes_per_second: 0,
            route: None,
        };
        let error = assignment.plan(&[("/x".into(), "\"hunter2\"".into())]).unwrap_err();
        assert_eq!(error, "the plan has no place /x");
        let error = assignment.plan(&[("/a".into(), "hunter2".into())]).unwrap_err();
        assert_eq!(error, "no JSON for /a");
    }

    #[test]
    fn a_translation_is_stated_only_if_it_is_certain() {
        let is_translated = |local: &str, server: &str| {
            let address = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 80);
            let (local, server) = (address(local), address(server));
            AgentConnection { local, server, round_trip_seconds: 0.0 }.is_translated()
        };
        for local in ["10.0.0.5", "192.168.1.1", "172.16.3.4", "100.64.0.9", "fd00::1"] {
            assert!(is_translated(local, "192.0.2.1"), "{local}");
            assert!(!is_translated(local, "10.0.0.7"), "{local}");
        }
        assert!(!is_translated("192.0.2.9", "192.0.2.1"));
        assert!(!is_translated("192.0.2.9", "10.0.0.1"));
        assert!(!is_translated("100.128.0.1", "192.0.2.1"));
        assert!(!is_translated("2001:db8::1", "2001:db8::2"));
    }
}
