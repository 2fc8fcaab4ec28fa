//! ab's counting: computes the figures of its report from samples, by ab's rules.
//!
//! A failed request counts as complete. A reset one counts up to three times among the failed. The
//! expected length of all bodies is set by the last request that ended before a second one
//! succeeded. Scripts rely on these rules.

use brunt_model::{Failure, Sample, Tick};

/// Times of one request for `-g` and the tables, in microseconds except for the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTimes {
    pub begun: Tick,
    /// Time to open the connection.
    pub connect: u64,
    /// From sending the request to the first byte of the reply.
    pub wait: u64,
    /// From the start to the last byte.
    pub total: u64,
}

impl RequestTimes {
    /// Time without the connection's part.
    pub fn processing(&self) -> u64 {
        self.total.saturating_sub(self.connect)
    }
}

/// An error that ends ab without a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fatal {
    pub text: String,
    /// Number of the error. Its lowest byte is the exit code.
    pub number: i32,
}

impl Fatal {
    /// Formats the message as `source: text (number)`.
    pub fn new(source: &str, text: &str, number: i32) -> Self {
        Self { text: format!("{source}: {text} ({number})\n"), number }
    }
}

/// Options that change how failures count.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailureRules {
    /// `-r`: continue after socket errors.
    pub survive: bool,
    /// `-l`: accept bodies of different lengths.
    pub any_length: bool,
}

#[derive(Debug, Clone, Default)]
pub struct AbReport {
    rules: FailureRules,
    /// Requests that ended, successfully or not.
    pub completed: u64,
    /// Requests with an orderly end of the connection.
    orderly: u64,
    /// Failure events. One request may cause several.
    pub failed: u64,
    /// Connections that could not be opened.
    pub connect_errors: u64,
    pub receive_errors: u64,
    /// Bodies of a different length.
    pub length_errors: u64,
    /// Errors reported by the socket itself.
    pub exceptions: u64,
    /// Replies with a status other than 2xx.
    pub non_2xx: u64,
    /// Replies after which the connection stayed open.
    pub kept_alive: u64,
    pub read: u64,
    /// Bytes of bodies among them.
    pub read_body: u64,
    pub sent: u64,
    /// Expected length of bodies.
    pub document_length: u64,
    pub handshakes_failed: u64,
    /// One record for each ended request.
    pub records: Vec<RequestTimes>,
    /// Time at which the last request ended.
    pub last: Tick,
    refused: u64,
}

/// ab gives up after more failures to open a connection than this.
const MAX_CONNECT_ERRORS: u64 = 10;

impl AbReport {
    /// Creates empty counters with space for this many requests.
    pub fn new(rules: FailureRules, requests: u64) -> Self {
        Self {
            rules,
            records: Vec::with_capacity(requests.min(1 << 16) as usize),
            ..Self::default()
        }
    }

    /// Counts a sample. Returns an error if ab would end here.
    pub fn take(&mut self, sample: &Sample) -> Result<(), Fatal> {
        match sample.outcome.failure {
            // ab does not count requests that are in flight at the end.
            Some(Failure::Cut | Failure::Dropped) => return Ok(()),
            // The system's error numbers, since scripts read the exit code.
            Some(Failure::FdsExhausted) => {
                return Err(Fatal::new("socket", "Too many open files", 24));
            }
            Some(Failure::PortsExhausted) => {
                return self.add_connect_error("Cannot assign requested address", 99);
            }
            Some(Failure::Unreachable) => {
                return self.add_connect_error("Network is unreachable", 101);
            }
            None
            | Some(Failure::Check | Failure::ClosedEarly | Failure::Protocol | Failure::Stale) => {
                self.add_orderly_end(sample);
            }
            Some(Failure::Tls | Failure::Resolve | Failure::Proxy) => self.handshakes_failed += 1,
            Some(failure) => self.add_socket_error(failure, sample)?,
        }
        self.completed += 1;
        self.sent += sample.bytes_sent;
        self.last = self.last.max(sample.last_byte);
        self.records.push(record(sample));
        Ok(())
    }

    /// Counts a connection that the server closed in order, with or without a reply.
    fn add_orderly_end(&mut self, sample: &Sample) {
        self.orderly += 1;
        self.kept_alive += u64::from(sample.kept_alive);
        let is_not_2xx = sample.outcome.status.is_some_and(|status| status / 100 != 2);
        self.non_2xx += u64::from(is_not_2xx);
        self.add_bytes(sample);
    }

    fn add_bytes(&mut self, sample: &Sample) {
        // ab counts all bytes that arrive together as part of the reply.
        let read = sample.bytes_received + sample.extra_bytes;
        // Without a head, ab knows no body.
        let body = if sample.head_bytes == 0 { 0 } else { read - sample.head_bytes };
        self.read += read;
        self.read_body += body;
        self.check_length(body);
    }

    fn check_length(&mut self, body: u64) {
        // Set by the first good reply, or by a broken one directly after it.
        if self.orderly == 1 {
            self.document_length = body;
        } else if body != self.document_length && !self.rules.any_length {
            self.failed += 1;
            self.length_errors += 1;
        }
    }

    /// Counts a socket error.
    fn add_socket_error(&mut self, failure: Failure, sample: &Sample) -> Result<(), Fatal> {
        if !self.rules.survive {
            let (text, number) = error_of(failure);
            return Err(Fatal::new("apr_socket_recv", text, number));
        }
        if failure == Failure::Refused {
            self.add_refusal();
        } else {
            self.failed += 2;
            self.receive_errors += 1;
            self.exceptions += 1;
        }
        self.add_bytes(sample);
        Ok(())
    }

    /// ab learns of refused connections in pairs: of the second while it handles the first.
    fn add_refusal(&mut self) {
        self.refused += 1;
        if self.refused % 2 == 1 {
            self.failed += 3;
            self.receive_errors += 2;
            self.exceptions += 1;
        }
    }

    /// Counts a connection that could not be opened. ab tolerates the first few.
    fn add_connect_error(&mut self, text: &str, number: i32) -> Result<(), Fatal> {
        self.connect_errors += 1;
        self.failed += 1;
        if self.connect_errors <= MAX_CONNECT_ERRORS {
            return Ok(());
        }
        let fatal = Fatal::new("apr_socket_connect()", text, number);
        Err(Fatal {
            text: format!("\nTest aborted after {MAX_CONNECT_ERRORS} failures\n\n{}", fatal.text),
            ..fatal
        })
    }
}

fn record(sample: &Sample) -> RequestTimes {
    let opening = &sample.opening;
    let opening_nanos =
        [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum::<u64>();
    let wait = if sample.first_byte == Tick::ZERO {
        0
    } else {
        sample.first_byte.nanos_since(sample.sent)
    };
    RequestTimes {
        begun: sample.begun,
        connect: if sample.opened { opening_nanos / 1000 } else { 0 },
        wait: wait / 1000,
        total: sample.last_byte.nanos_since(sample.begun) / 1000,
    }
}

/// Error message and number of the system for a socket failure.
fn error_of(failure: Failure) -> (&'static str, i32) {
    match failure {
        Failure::Refused => ("Connection refused", 111),
        Failure::Reset => ("Connection reset by peer", 104),
        Failure::ConnectTimeout | Failure::Timeout => ("Connection timed out", 110),
        _ => ("Input/output error", 5),
    }
}

#[cfg(test)]
mod tests;
