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
use async_nats::{Client, ConnectError, ConnectOptions, ServerError};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};
use tokio::time::{Instant, sleep};

pub use agent::agent_streams;
pub use controller::{AgentStreams, AgentWait, Continuation, NatsFleet};

/// Time for the first connection to a server.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// Pause before another attempt to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(200);

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
        let deadline = Instant::now() + CONNECT_WAIT;
        let client = loop {
            match self.connect_once().await {
                Ok(client) => break client,
                Err(error) if is_temporary(&error) && Instant::now() < deadline => {
                    sleep(CONNECT_PAUSE).await;
                }
                Err(error) => {
                    let error = error.to_string();
                    return Err(NatsError::Connect { servers: self.servers.clone(), error });
                }
            }
        };
        Ok(ContextBuilder::new().timeout(REQUEST_WAIT).build(client))
    }

    async fn connect_once(&self) -> Result<Client, ConnectError> {
        let options = ConnectOptions::new().name("brunt").connection_timeout(CONNECT_WAIT);
        let options = match &self.nkey_seed {
            Some(seed) => options.nkey(seed.0.clone()),
            None => options,
        };
        let servers: Vec<&str> = self.servers.split(',').map(str::trim).collect();
        options.connect(&servers[..]).await
    }
}

/// True if the server sent an error that is none about the user. It awaits the answer to its challenge for 2 s, which a
/// busy machine may miss.
fn is_temporary(error: &ConnectError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref());
    matches!(source, Some(ServerError::Other(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    const INFO: &str = r#"INFO {"server_id":"n","server_name":"n","version":"2.9.10","proto":1,"go":"go1.19","host":"127.0.0.1","port":4222,"headers":true,"max_payload":1048576,"client_id":1,"client_ip":"127.0.0.1"}"#;

    /// Reads the login of a client, and sends the answer.
    fn answer(mut client: &TcpStream, answer: &str) {
        write!(client, "{INFO}\r\n").unwrap();
        let mut received = Vec::new();
        let mut buffer = [0; 1024];
        while !received.ends_with(b"PING\r\n") {
            let length = client.read(&mut buffer).unwrap();
            assert!(length > 0, "the client ended");
            received.extend_from_slice(&buffer[..length]);
        }
        write!(client, "{answer}\r\n").unwrap();
    }

    /// Connects to a server that sends these answers to one login after the other.
    fn connect(answers: &'static [&'static str]) -> Result<(), NatsError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let access = NatsAccess {
            servers: listener.local_addr().unwrap().to_string(),
            nkey_seed: None,
            fleet: "lab".into(),
            key: FleetKey::random().unwrap(),
        };
        let server = thread::spawn(move || {
            let accept = |text: &&str| {
                let (client, _) = listener.accept().unwrap();
                answer(&client, text);
                client
            };
            answers.iter().map(accept).collect::<Vec<_>>()
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let connected = runtime.block_on(access.connect()).map(drop);
        server.join().unwrap();
        connected
    }

    #[test]
    fn a_login_that_was_too_late_is_repeated() {
        connect(&["-ERR 'Authentication Timeout'", "PONG"]).unwrap();
    }

    #[test]
    fn an_unknown_user_is_an_error() {
        let error = connect(&["-ERR 'Authorization Violation'"]).unwrap_err().to_string();
        assert!(error.contains("authorization violation"), "{error}");
    }
}
