//! The check on an agent: its route to the server, connections, and the load that one of its cores
//! carries.
//!
//! The plan has no secrets, so no request is sent.

use crate::calibration::requests_per_core_second;
use crate::route::addresses;
use brunt_engine::RunEpoch;
use brunt_model::agent::{AgentCheck, AgentCheckDepth, AgentConnection, CheckRequest};
use brunt_model::plan::HttpVersion;
use brunt_model::time::seconds_of;
use brunt_model::{Plan, Route};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Time limit of the name resolution.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time limit of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Number of connections; the shortest time is the round trip.
const CONNECTS: usize = 5;

/// Carries out a check.
pub fn check(request: &CheckRequest) -> AgentCheck {
    let plan: Plan = match serde_json::from_value(request.plan.clone()) {
        Ok(plan) => plan,
        Err(error) => {
            let failure = Some(format!("the plan cannot be read: {error}"));
            return AgentCheck { failure, ..AgentCheck::default() };
        }
    };
    let addresses = addresses(&plan, RESOLVE_TIMEOUT);
    let route = if plan.connection.unix_socket.is_some() {
        Some(Route { same_host: Some(true), ..Route::default() })
    } else {
        addresses.first().copied().map(brunt_probe::route)
    };
    let mut check = AgentCheck { route, ..AgentCheck::default() };
    if request.depth == AgentCheckDepth::All {
        match connect_to(&plan, &addresses) {
            Ok(connection) => check.connection = connection,
            Err(failure) => check.failure = Some(failure),
        }
        check.requests_per_core_second = requests_per_core_second();
    }
    check
}

/// Connects to the first address that accepts a connection. None if nothing can be tried.
fn connect_to(plan: &Plan, addresses: &[SocketAddr]) -> Result<Option<AgentConnection>, String> {
    // TCP shows nothing about QUIC or a Unix socket.
    if plan.connection.unix_socket.is_some() || plan.connection.http == HttpVersion::V3 {
        return Ok(None);
    }
    let mut failure = "the server's name has no address that may be loaded".to_owned();
    for address in addresses {
        match connections(*address) {
            Ok(connection) => return Ok(Some(connection)),
            Err(error) => failure = format!("{address}: {error}"),
        }
    }
    Err(failure)
}

fn connections(server: SocketAddr) -> io::Result<AgentConnection> {
    let mut shortest = u64::MAX;
    let mut local = server;
    for _ in 0..CONNECTS {
        let begin = RunEpoch::now().nanos();
        let stream = TcpStream::connect_timeout(&server, CONNECT_TIMEOUT)?;
        shortest = shortest.min(RunEpoch::now().nanos() - begin);
        local = stream.local_addr()?;
    }
    Ok(AgentConnection { local, server, round_trip_seconds: seconds_of(shortest) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_server_is_reached_or_the_reason_is_stated() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let connection = connections(server).unwrap();
        assert_eq!(connection.server, server);
        assert!(connection.local.ip().is_loopback());
        assert!(connection.round_trip_seconds < 2.0);
        drop(listener);
        assert_eq!(connections(server).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
