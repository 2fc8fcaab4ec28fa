//! Defines rows of the fault table: the behavior of a server, the command line of brunt, and the
//! expected outcome.

use super::script::{ServerScript, ServerStep, always, answering, closing};
use super::server::Accepts;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A fault or an unusual reply, and the expected outcome.
#[derive(Clone)]
pub struct FaultRow {
    pub name: &'static str,
    pub accepts: Accepts,
    pub script: ServerScript,
    pub is_tls: bool,
    pub load: RowLoad,
    pub options: Vec<String>,
    /// Expected body of the replies. If present, brunt runs a second time and checks it.
    pub body: Option<&'static str>,
    pub expected: Expected,
}

/// Kind of load.
#[derive(Debug, Clone, Copy)]
pub enum RowLoad {
    /// A number of requests, on one connection at a time.
    Requests(u64),
    /// Requests without a reachable server: brunt reports the reason, and begins no request.
    Unreachable,
    /// `brunt httperf` with these options, and the total number of requests.
    Httperf(u64, &'static str),
}

/// Expected outcome of all requests of a row.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Status of completed requests; None if none completes.
    pub status: Option<u16>,
    /// Kinds of failure of the other requests; empty if all complete.
    pub kinds: &'static [&'static str],
    /// Number of completed requests, if the row defines it.
    pub completed: Option<u64>,
    /// Number of completed requests that fail a check of the body.
    pub checks: u64,
    /// Number of bytes of replies that brunt counts.
    pub bytes: ExpectedBytes,
    pub connections: ExpectedConnections,
    pub read: ExpectedReads,
    /// Limit on the time of a request, as configured in brunt or the server.
    pub deadline: Option<Deadline>,
    /// Minimum number of bytes sent.
    pub sent: u64,
}

/// Expected number of opened connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedConnections {
    /// One for all requests.
    Kept,
    /// One for each request.
    Each,
    /// The number that the server accepted.
    Accepted,
    /// At least the number that the server accepted.
    Unaccepted,
}

/// Number of bytes of replies that brunt counts if no request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedBytes {
    /// The bytes of all complete replies, and no others.
    AllSent,
    Any,
}

/// Number of requests that the server has read completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedReads {
    /// All sent requests.
    All,
    /// All completed requests.
    Completed,
    Nothing,
    /// At most all: the client may have closed before.
    Some,
}

/// A limit on the time of a request, and the key of its time in the JSON.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    pub limit: Duration,
    pub times: &'static str,
}

/// Default number of requests of a row.
const REQUESTS: u64 = 3;

/// Returns a row whose server answers each request with these bytes, and keeps the connection.
pub fn keep_alive_row(name: &'static str, reply: impl AsRef<[u8]>) -> FaultRow {
    FaultRow::new(name, answering(reply.as_ref())).connections(ExpectedConnections::Kept)
}

/// Returns a row whose server answers one request with these bytes, and closes the connection.
pub fn closing_row(name: &'static str, reply: impl AsRef<[u8]>) -> FaultRow {
    FaultRow::new(name, closing(reply.as_ref()))
}

/// Returns a row whose server sends a complete reply and unsolicited bytes in the same segment: the
/// request completes, and the connection is not reused.
pub fn trailing_bytes_row(name: &'static str, reply: impl AsRef<[u8]>, bytes: &str) -> FaultRow {
    let step = ServerStep::ReplyAnd(reply.as_ref().to_vec(), bytes.into());
    FaultRow::new(name, vec![ServerStep::Request, step, ServerStep::Again])
}

/// Returns a row whose server sends these bytes, an incomplete reply, and then waits until the
/// client closes.
pub fn malformed_row(name: &'static str, bytes: impl AsRef<[u8]>) -> FaultRow {
    let steps =
        vec![ServerStep::Request, ServerStep::Send(bytes.as_ref().to_vec()), ServerStep::Drain];
    FaultRow::new(name, steps).fails(&["protocol"])
}

/// Returns a row whose server sends these bytes, an incomplete reply, and closes the connection.
pub fn truncated_row(name: &'static str, bytes: impl AsRef<[u8]>) -> FaultRow {
    let steps = vec![ServerStep::Request, ServerStep::Send(bytes.as_ref().to_vec())];
    FaultRow::new(name, steps).fails(&["closed_early"])
}

/// Returns a row whose server sends these bytes, an incomplete reply, and keeps the connection
/// open.
pub fn stalled_row(name: &'static str, bytes: impl AsRef<[u8]>) -> FaultRow {
    let steps =
        vec![ServerStep::Request, ServerStep::Send(bytes.as_ref().to_vec()), ServerStep::Drain];
    FaultRow::new(name, steps).times_out(300)
}

impl FaultRow {
    /// Creates a row whose server takes the same steps on every connection. All requests complete
    /// with 200, one connection each.
    pub fn new(name: &'static str, steps: Vec<ServerStep>) -> Self {
        Self::scripted(name, always(steps))
    }

    /// Creates a row whose steps depend on the number of the connection.
    pub fn by_connection(
        name: &'static str,
        script: impl Fn(u64) -> Vec<ServerStep> + Send + Sync + 'static,
    ) -> Self {
        Self::scripted(name, Arc::new(script))
    }

    fn scripted(name: &'static str, script: ServerScript) -> Self {
        let expected = Expected {
            status: Some(200),
            kinds: &[],
            completed: None,
            checks: 0,
            bytes: ExpectedBytes::AllSent,
            connections: ExpectedConnections::Each,
            read: ExpectedReads::All,
            deadline: None,
            sent: 0,
        };
        let accepts = Accepts::All;
        let load = RowLoad::Requests(REQUESTS);
        Self {
            name,
            accepts,
            script,
            is_tls: false,
            load,
            options: Vec::new(),
            body: None,
            expected,
        }
    }

    pub fn accepts(self, accepts: Accepts) -> Self {
        Self { accepts, ..self }
    }

    /// The server uses TLS.
    pub fn tls(self) -> Self {
        Self { is_tls: true, ..self }.with("-k")
    }

    pub fn requests(self, requests: u64) -> Self {
        Self { load: RowLoad::Requests(requests), ..self }
    }

    /// No connection can be opened, and brunt reports one of these kinds.
    pub fn unreachable(self, kinds: &'static [&'static str]) -> Self {
        let row =
            Self { load: RowLoad::Unreachable, ..self }.fails(kinds).read(ExpectedReads::Nothing);
        row.connections(ExpectedConnections::Unaccepted)
    }

    /// `brunt httperf` sends the requests.
    pub fn httperf(self, requests: u64, options: &'static str) -> Self {
        Self { load: RowLoad::Httperf(requests, options), ..self }
    }

    /// Adds options of brunt, separated by spaces.
    pub fn with(mut self, options: &str) -> Self {
        self.options.extend(options.split_whitespace().map(str::to_owned));
        self
    }

    /// Adds an option whose value contains spaces.
    pub fn with_value(mut self, option: &str, value: &str) -> Self {
        self.options.extend([option.to_owned(), value.to_owned()]);
        self
    }

    /// Each request has a body of 20 MB, more than the buffers of a connection.
    pub fn large_body(self) -> Self {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zeros-20-mb");
        let body = File::create(&file).and_then(|body| body.set_len(20_000_000));
        body.expect("a file of zeros");
        self.with_value("--data", &format!("@{}", file.display()))
    }

    /// The replies have this body.
    pub fn body(self, body: &'static str) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Requests complete with this status.
    pub fn status(self, status: u16) -> Self {
        self.expect(|expected| expected.status = Some(status))
    }

    /// All requests fail, each with one of these kinds.
    pub fn fails(self, kinds: &'static [&'static str]) -> Self {
        self.expect(|expected| (expected.status, expected.kinds) = (None, kinds))
    }

    /// Some requests complete. The others fail, each with one of these kinds.
    pub fn also_fails(self, kinds: &'static [&'static str]) -> Self {
        self.expect(|expected| expected.kinds = kinds)
    }

    /// This number of requests completes.
    pub fn completes(self, completed: u64) -> Self {
        self.expect(|expected| expected.completed = Some(completed))
    }

    /// All replies fail a check of their body.
    pub fn fails_checks(self) -> Self {
        let RowLoad::Requests(n) = self.load else { return self };
        self.expect(|expected| expected.checks = n)
    }

    /// Bytes between replies may be counted or not.
    pub fn any_bytes(self) -> Self {
        self.expect(|expected| expected.bytes = ExpectedBytes::Any)
    }

    pub fn connections(self, connections: ExpectedConnections) -> Self {
        self.expect(|expected| expected.connections = connections)
    }

    pub fn read(self, read: ExpectedReads) -> Self {
        self.expect(|expected| expected.read = read)
    }

    /// At least this number of bytes is sent.
    pub fn sends(self, bytes: u64) -> Self {
        self.expect(|expected| expected.sent = bytes)
    }

    /// All requests time out after this time.
    pub fn times_out(self, milliseconds: u64) -> Self {
        let row = self.fails(&["timeout"]).with(&format!("--timeout {milliseconds}ms"));
        row.deadline(milliseconds, "/response_time_seconds")
    }

    /// No connection is established within this timeout.
    pub fn connects_too_late(self, milliseconds: u64) -> Self {
        self.unreachable(&["connect_timeout"]).with(&format!("--connect-timeout {milliseconds}ms"))
    }

    /// The maximum of the times at this JSON key is at least this limit, and not much longer.
    pub fn deadline(self, milliseconds: u64, times: &'static str) -> Self {
        let limit = Duration::from_millis(milliseconds);
        self.expect(|expected| expected.deadline = Some(Deadline { limit, times }))
    }

    fn expect(mut self, change: impl FnOnce(&mut Expected)) -> Self {
        change(&mut self.expected);
        self
    }
}
