//! Carries the messages between a controller and its agents through NATS JetStream.
//!
//! One stream has the messages of a fleet, so that neither side loses any if a server of NATS fails
//! or a connection breaks. Each packet is sealed ([`crate::seal`]). An agent announces itself once per
//! second until the controller answers.
//!
//! | subject | content |
//! |---|---|
//! | `brunt.FLEET.from.AGENT` | packets of an agent: its name, then its bytes |
//! | `brunt.FLEET.to.AGENT` | packets for an agent: a greeting (`lead`), then the bytes |
//!
//! AGENT is the identity of the agent's process. A process that is started again has another
//! identity, so it receives nothing of the first one's, and the controller ignores it.
//!
//! The controller writes the packets of agents to its disk, and then removes them from the stream. If it dies, another
//! process takes its place: it reads the packets on the disk, then those in the stream, and agents obey it
//! instead of the first one, because its greeting has a later generation ([`crate::handover`]).

mod agent;
mod controller;
mod lead;
mod publish;
mod receive;

use crate::seal::FleetKey;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::{Client, ConnectOptions};
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

pub use agent::agent_streams;
pub use controller::{AgentStreams, AgentWait, Continuation, NatsFleet};

/// Time for the first connection to a server.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// Time for a reply of JetStream. A server that failed gives none.
const REQUEST_WAIT: Duration = Duration::from_secs(2);

/// Time for which a packet is published again and again. The election of a new leader takes up to
/// 7 s.
const PUBLISH_WAIT: Duration = Duration::from_secs(20);

/// A side that receives nothing for this time considers the other one lost, unless the lease is longer. Both
/// send something every 0.2 s.
const SILENCE: Duration = Duration::from_secs(30);

/// Access to the fleet's messages.
#[derive(Debug, Clone)]
pub struct NatsAccess {
    /// URLs of the servers, separated by commas.
    pub servers: String,
    /// Seed of the user's nkey; None if the servers need none.
    pub nkey_seed: Option<NkeySeed>,
    /// Name of the fleet: letters, digits, `-` and `_`.
    pub fleet: String,
    /// Key of the fleet.
    pub key: FleetKey,
}

/// Seed of an nkey.
#[derive(Clone)]
pub struct NkeySeed(pub String);

impl fmt::Debug for NkeySeed {
    /// Does not show the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NkeySeed")
    }
}

/// Why the carrier cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// The name of the fleet cannot be part of a subject.
    #[error("the fleet's name `{0}` has other characters than letters, digits, `-` and `_`")]
    Name(String),
    /// No server can be reached, or none accepts the user.
    #[error("NATS at {servers}: {error}; correct --nats URL, or --nats-nkey FILE")]
    Connect {
        /// URLs of the servers.
        servers: String,
        /// Reason of the client.
        error: String,
    },
    /// The stream of the fleet cannot be created.
    #[error("NATS at {servers} has no JetStream for the fleet {fleet}: {error}")]
    Stream {
        /// URLs of the servers.
        servers: String,
        /// Name of the fleet.
        fleet: String,
        /// Reason of the server.
        error: String,
    },
    /// Agents are missing at the deadline.
    #[error("{present} of {wanted} agents announced themselves within {seconds} s")]
    Missing {
        /// Number of agents that announced themselves.
        present: usize,
        /// Number of agents of the run.
        wanted: usize,
        /// Seconds until the deadline.
        seconds: u64,
    },
    /// Another controller uses the fleet.
    #[error("the fleet {0} is in use by another brunt; wait for its end, or use another fleet")]
    InUse(String),
    /// The messages of a fleet no longer exist.
    #[error("the fleet {0} has ended, and its messages are gone")]
    Ended(String),
    /// Messages cannot be kept on the controller's disk.
    #[error("{path} cannot be written: {error}")]
    Keep {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The user stopped the start.
    #[error("stopped before all agents had announced themselves")]
    Stopped,
    /// The system provides no thread or no random numbers.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl NatsAccess {
    fn check_name(&self) -> Result<(), NatsError> {
        let is_valid = !self.fleet.is_empty()
            && self.fleet.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if is_valid { Ok(()) } else { Err(NatsError::Name(self.fleet.clone())) }
    }

    fn stream_name(&self) -> String {
        format!("brunt-{}", self.fleet)
    }

    fn subject(&self, direction: &str, agent: &str) -> String {
        format!("brunt.{}.{direction}.{agent}", self.fleet)
    }

    fn stream_error(&self, error: String) -> NatsError {
        NatsError::Stream { servers: self.servers.clone(), fleet: self.fleet.clone(), error }
    }

    async fn connect(&self) -> Result<Context, NatsError> {
        let options = ConnectOptions::new().name("brunt").connection_timeout(CONNECT_WAIT);
        let options = match &self.nkey_seed {
            Some(seed) => options.nkey(seed.0.clone()),
            None => options,
        };
        let servers: Vec<&str> = self.servers.split(',').map(str::trim).collect();
        let client: Client = options.connect(&servers[..]).await.map_err(|error| {
            NatsError::Connect { servers: self.servers.clone(), error: error.to_string() }
        })?;
        Ok(ContextBuilder::new().timeout(REQUEST_WAIT).build(client))
    }
}
