//! Outcomes of requests.
//!
//! `check_failure`: failed checks with a sample of each. `malformed`: causes of protocol errors.
//! `status`: statuses of HTTP and gRPC as one number.

mod check_failure;
mod malformed;
mod status;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use check_failure::CheckFailure;
pub use malformed::MalformedReply;
pub use status::{CLOSE_STATUS, GRPC_STATUS, grpc_code_status, grpc_status, status_text};

/// Reason why a request has no good reply. The order is that of the tables in reports and of the
/// arrays in a tally.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Failure {
    /// Name resolution found no address.
    Resolve,
    /// No process listens on the port.
    Refused,
    /// No route to the server, or rejected by the network.
    Unreachable,
    /// No connection within the connect timeout.
    ConnectTimeout,
    /// The TLS handshake failed.
    Tls,
    /// The proxy is unreachable, or refused to connect.
    Proxy,
    /// The connection was reset before the reply was complete.
    Reset,
    /// A kept-alive connection was already closed or reset before the first byte of the reply.
    Stale,
    /// No complete reply within the timeout.
    Timeout,
    /// The bytes received are not an HTTP reply.
    Protocol,
    /// The connection ended before the reply was complete.
    ClosedEarly,
    /// The reply is complete, but a check failed.
    Check,
    /// The process reached its limit on open files.
    FdsExhausted,
    /// No local port is free on any local address.
    PortsExhausted,
    /// Due by the schedule, but never begun: too many requests were in flight, or no connection
    /// became free in time.
    Dropped,
    /// Begun, but not finished when the run ended.
    Cut,
    /// brunt could not build the request, or the local system could not send it.
    System,
    /// The server reset the request's stream before the reply was complete (HTTP/2 and 3).
    StreamReset,
    /// The server did not process the request: it refused the stream, or excluded it by GOAWAY
    /// (HTTP/2 and 3). The request is sent again once.
    Unprocessed,
    /// The plan does not allow connections to the host, or to an address of it. Nothing was sent.
    NotAllowed,
}

/// The texts of a kind of failure for users.
#[derive(Debug, Clone, Copy)]
pub struct FailureRow {
    /// The kind of failure.
    pub failure: Failure,
    /// Name in JSON and CSV.
    pub key: &'static str,
    /// Name in text output.
    pub name: &'static str,
    /// Meaning of the failure.
    pub meaning: &'static str,
    /// Usual remedy for the failure.
    pub remedy: &'static str,
}

macro_rules! failures {
    ($($kind:ident $key:literal $name:literal: $meaning:literal; $remedy:literal)*) => {
        /// Texts of all kinds, in the order of [`Failure`].
        pub const FAILURES: [FailureRow; Failure::COUNT] = [$(FailureRow {
            failure: Failure::$kind, key: $key, name: $name, meaning: $meaning, remedy: $remedy,
        }),*];
        impl Failure {
            /// Number of kinds.
            pub const COUNT: usize = [$(Failure::$kind),*].len();
        }
    };
}

failures! {
    Resolve "resolve" "name not resolved": "the host's name has no address";
        "check the spelling, or give the address with --resolve host:port:addr"
    Refused "refused" "connection refused": "no process listens on this port";
        "is the server running, and on this port? Under load: its accept queue is full and tcp_abort_on_overflow is set"
    Unreachable "unreachable" "unreachable": "no route to the server, or a firewall rejected the connection";
        "check the address, the route and the firewall"
    // Linux drops a SYN while the accept queue is full, so the client sees a timeout, not a
    // refusal.
    ConnectTimeout "connect_timeout" "connect timeout": "connecting timed out";
        "the server's accept queue may be full (its backlog, net.core.somaxconn) or a firewall drops packets; see --connect-timeout"
    Tls "tls" "TLS handshake failed": "the TLS handshake failed";
        "check the certificate (--cacert FILE, or --insecure), the name (--sni) and the versions the server speaks"
    Proxy "proxy" "proxy error": "the proxy cannot be reached, or refused to connect";
        "check that the proxy of --proxy runs and permits this target"
    Reset "reset" "connection reset": "the server reset the connection before a whole reply came";
        "check the server's error log: possible causes are a crash, a limit or a full accept queue"
    // A server may close an idle connection at any time, so the request races with its FIN.
    Stale "stale" "stale connection": "the server closed the kept-alive connection when it was used again";
        "raise the server's keep-alive timeout and request limit, or ask again with --retry-stale, as browsers do"
    Timeout "timeout" "response timeout": "no whole reply within the timeout";
        "the server is overloaded or hangs; --timeout sets how long to wait"
    Protocol "protocol" "protocol error": "the reply is not valid in this version of HTTP";
        "does the server speak this version of HTTP on this port (--http), and not TLS?"
    ClosedEarly "closed_early" "closed early": "the connection ended before the whole reply had arrived";
        "check the server's error log: possible causes are a dying worker, or a limit on time or size"
    Check "check" "check failed": "a whole reply came, but not the one expected";
        "look at a reply with curl; see --expect-status, --expect-body, --expect-same-length"
    FdsExhausted "fds_exhausted" "out of file descriptors": "the process reached its limit on open files";
        "raise the limit (ulimit -n, LimitNOFILE=) or use fewer connections"
    PortsExhausted "ports_exhausted" "out of local ports": "no free local port left";
        "reuse connections, add --source addresses, widen net.ipv4.ip_local_port_range, or wait for TIME_WAIT to pass"
    Dropped "dropped" "dropped": "due by the schedule, but never begun";
        "the server is slower than the load: lower --rate, or raise --max-in-flight or --connections"
    Cut "cut" "cut off": "not finished when the run ended";
        "a longer --grace lets them finish"
    System "system" "local error": "brunt could not build the request, or this machine could not send it; a warning gives the reason";
        "read the warning with the reason"
    StreamReset "stream_reset" "stream reset": "the server reset the stream before a whole reply came";
        "check the server's error log; the code of the reset is shown with it"
    Unprocessed "unprocessed" "not processed": "the server refused the stream, or ended the connection before it, twice";
        "raise the server's limits on streams and on requests per connection (nginx: http2_max_concurrent_streams, keepalive_requests)"
    NotAllowed "not_allowed" "target not allowed": "the host is not among the allowed targets";
        "if it may be loaded, allow it with --allow-target HOST, or `allow: [HOST]` in a plan file; a warning names the host"
}

impl Failure {
    /// Returns its row in the table.
    pub fn row(self) -> &'static FailureRow {
        &FAILURES[self as usize]
    }

    /// Returns all kinds, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        FAILURES.iter().map(|row| row.failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

/// Outcome of a request: a status if the reply is complete, and a failure if it is not
/// good for another reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Status of a complete reply: of HTTP, of gRPC (see [`GRPC_STATUS`]), or the code of a
    /// WebSocket close frame (see [`CLOSE_STATUS`]).
    pub status: Option<u16>,
    /// Kind of failure; together with a status only if a check failed.
    pub failure: Option<Failure>,
    /// True if the plan counts the status as good.
    pub expected: bool,
}

impl Outcome {
    /// Creates the outcome of a request without a complete reply.
    pub fn failed(failure: Failure) -> Self {
        Self { status: None, failure: Some(failure), expected: false }
    }

    /// True if the reply is complete, whatever its status.
    pub fn is_completed(&self) -> bool {
        self.status.is_some()
    }

    /// True if the reply is complete, its status is good, and its checks passed.
    pub fn is_good(&self) -> bool {
        // A reply with a good status is still a failure if a check failed.
        self.expected && self.failure.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, row) in FAILURES.iter().enumerate() {
            assert_eq!(row.failure as usize, i);
            let json = serde_json::to_string(&row.failure).unwrap();
            assert_eq!(json, format!("\"{}\"", row.key));
        }
    }
}
