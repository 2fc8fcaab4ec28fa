//! Outcomes of requests.
//!
//! `call_error`: messages and details of errors of gRPC calls. `check_failure`: failed checks with a sample of each. `malformed`: causes of protocol errors.
//! `status`: statuses of HTTP and gRPC as one number.

mod call_error;
mod check_failure;
mod malformed;
mod status;

use crate::text;
use crate::text::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::LazyLock;

pub use call_error::{CallError, CallErrorFields, DETAILS_FIELD, details};
pub use check_failure::CheckFailure;
pub use malformed::MalformedReply;
pub use status::{
    CANCELLED_STATUS, CLOSE_STATUS, DEADLINE_STATUS, GRPC_STATUS, grpc_code_status, grpc_status,
    status_text,
};

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
    /// The deadline of a gRPC call passed, by our clock or the server's. It is a status of gRPC, and
    /// no whole reply.
    DeadlineExceeded,
}

/// A kind of failure with its texts for users.
#[derive(Debug, Clone)]
pub struct FailureRow {
    /// The kind of failure.
    pub failure: Failure,
    /// Name in JSON and CSV.
    pub key: &'static str,
    /// Name in reports.
    pub name: Text,
    /// Meaning of the failure.
    pub meaning: Text,
    /// Usual remedy for the failure.
    pub remedy: Text,
}

macro_rules! failures {
    ($($kind:ident $key:literal $name:literal $meaning:literal $remedy:literal)*) => {
        /// All kinds with their texts, in the order of [`Failure`].
        static FAILURES: LazyLock<[FailureRow; Failure::COUNT]> = LazyLock::new(|| [$(FailureRow {
            failure: Failure::$kind,
            key: $key,
            name: text!($name),
            meaning: text!($meaning),
            remedy: text!($remedy),
        }),*]);
        impl Failure {
            /// Number of kinds.
            pub const COUNT: usize = [$(Failure::$kind),*].len();
        }
    };
}

// A name in files, and the messages with the name, the meaning and the remedy.
failures! {
    Resolve "resolve" "failure-resolve" "failure-resolve.meaning" "failure-resolve.remedy"
    Refused "refused" "failure-refused" "failure-refused.meaning" "failure-refused.remedy"
    Unreachable "unreachable" "failure-unreachable" "failure-unreachable.meaning" "failure-unreachable.remedy"
    // Linux drops a SYN while the accept queue is full, so the client sees a timeout, not a
    // refusal.
    ConnectTimeout "connect_timeout" "failure-connect-timeout" "failure-connect-timeout.meaning" "failure-connect-timeout.remedy"
    Tls "tls" "failure-tls" "failure-tls.meaning" "failure-tls.remedy"
    Proxy "proxy" "failure-proxy" "failure-proxy.meaning" "failure-proxy.remedy"
    Reset "reset" "failure-reset" "failure-reset.meaning" "failure-reset.remedy"
    // A server may close an idle connection at any time, so the request races with its FIN.
    Stale "stale" "failure-stale" "failure-stale.meaning" "failure-stale.remedy"
    Timeout "timeout" "failure-timeout" "failure-timeout.meaning" "failure-timeout.remedy"
    Protocol "protocol" "failure-protocol" "failure-protocol.meaning" "failure-protocol.remedy"
    ClosedEarly "closed_early" "failure-closed-early" "failure-closed-early.meaning" "failure-closed-early.remedy"
    Check "check" "failure-check" "failure-check.meaning" "failure-check.remedy"
    FdsExhausted "fds_exhausted" "failure-fds-exhausted" "failure-fds-exhausted.meaning" "failure-fds-exhausted.remedy"
    PortsExhausted "ports_exhausted" "failure-ports-exhausted" "failure-ports-exhausted.meaning" "failure-ports-exhausted.remedy"
    Dropped "dropped" "failure-dropped" "failure-dropped.meaning" "failure-dropped.remedy"
    Cut "cut" "failure-cut" "failure-cut.meaning" "failure-cut.remedy"
    System "system" "failure-system" "failure-system.meaning" "failure-system.remedy"
    StreamReset "stream_reset" "failure-stream-reset" "failure-stream-reset.meaning" "failure-stream-reset.remedy"
    Unprocessed "unprocessed" "failure-unprocessed" "failure-unprocessed.meaning" "failure-unprocessed.remedy"
    NotAllowed "not_allowed" "failure-not-allowed" "failure-not-allowed.meaning" "failure-not-allowed.remedy"
    DeadlineExceeded "deadline_exceeded" "failure-deadline-exceeded" "failure-deadline-exceeded.meaning" "failure-deadline-exceeded.remedy"
}

impl Failure {
    /// Returns its row in the table.
    pub fn row(self) -> &'static FailureRow {
        &FAILURES[self as usize]
    }

    /// Returns the status with which a failure of this kind is counted; None for most kinds.
    pub fn status(self) -> Option<u16> {
        (self == Self::DeadlineExceeded).then_some(DEADLINE_STATUS)
    }

    /// Returns all kinds, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        FAILURES.iter().map(|row| row.failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.row().name)
    }
}

/// Outcome of a request: a status if the reply is complete, and a failure if it is not
/// good for another reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Status of a complete reply, or of a failure that has one: of HTTP, of gRPC (see [`GRPC_STATUS`]), or the code of a
    /// WebSocket close frame (see [`CLOSE_STATUS`]).
    pub status: Option<u16>,
    /// Kind of failure; together with a status only if a check failed, or if the kind has a
    /// [status](Failure::status).
    pub failure: Option<Failure>,
    /// True if the plan counts the status as good.
    pub expected: bool,
}

impl Outcome {
    /// Creates the outcome of a request without a complete reply.
    pub fn failed(failure: Failure) -> Self {
        Self { status: failure.status(), failure: Some(failure), expected: false }
    }

    /// True if the reply is complete, whatever its status.
    pub fn is_completed(&self) -> bool {
        self.status.is_some() && self.failure != Some(Failure::DeadlineExceeded)
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
