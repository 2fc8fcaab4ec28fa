//! ab's own counting: samples in, the numbers of its report out, with its rules and not ours.
//!
//! A request that failed is a complete one; one that was reset counts up to three times among the failed; the length that all
//! bodies are held to is that of the last one to end before a second went well. Scripts are used to all that.

use brunt_model::{Failure, Sample, Tick};

/// One request, as `-g` and the tables have it: microseconds, but for its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When it began.
    pub begun: Tick,
    /// Until its connection stood.
    pub connect: u64,
    /// From its request to the first byte of the reply.
    pub wait: u64,
    /// All of it.
    pub total: u64,
}

impl Record {
    /// What is not the connection's.
    pub fn processing(&self) -> u64 {
        self.total.saturating_sub(self.connect)
    }
}

/// What ab ends of, without a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fatal {
    /// What ab says.
    pub text: String,
    /// The number of the error, whose lowest byte is the exit code.
    pub number: i32,
}

impl Fatal {
    /// `what: text (number)`.
    pub fn new(what: &str, text: &str, number: i32) -> Self {
        Self { text: format!("{what}: {text} ({number})\n"), number }
    }
}

/// How failures are taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// `-r`: go on.
    pub survive: bool,
    /// `-l`: lengths may differ.
    pub any_length: bool,
}

/// ab's counts so far.
#[derive(Debug, Clone, Default)]
pub struct Classic {
    rules: Rules,
    /// Requests that ended, well or not.
    pub done: u64,
    /// Those whose connection came to an orderly end.
    good: u64,
    /// Events of failure, of which one request may bring about several.
    pub failed: u64,
    /// Connections that could not be begun.
    pub connect_errors: u64,
    /// Errors while reading.
    pub receive_errors: u64,
    /// Bodies of another length.
    pub length_errors: u64,
    /// Errors that the socket reported by itself.
    pub exceptions: u64,
    /// Replies whose status does not begin with 2.
    pub non_2xx: u64,
    /// Replies behind which the connection stayed open.
    pub kept_alive: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes of bodies among them.
    pub read_body: u64,
    /// Bytes written.
    pub sent: u64,
    /// The length that bodies are held to.
    pub document_length: u64,
    /// Handshakes that failed.
    pub handshakes_failed: u64,
    /// Every request that ended.
    pub records: Vec<Record>,
    /// When the last one ended.
    pub last: Tick,
    refused: u64,
}

/// So many connections may fail to begin.
const MOST_CONNECT_ERRORS: u64 = 10;

impl Classic {
    /// Nothing yet; there is room for so many requests.
    pub fn new(rules: Rules, requests: u64) -> Self {
        Self { rules, records: Vec::with_capacity(requests.min(1 << 16) as usize), ..Self::default() }
    }

    /// Takes in a sample; what ab ends of, where it is that.
    pub fn take(&mut self, sample: &Sample) -> Result<(), Fatal> {
        match sample.outcome.failure {
            // Whoever was under way when the time was up is not counted.
            Some(Failure::Cut | Failure::Dropped) => return Ok(()),
            Some(Failure::FdsExhausted) => return Err(Fatal::new("socket", "Too many open files", 24)),
            Some(Failure::PortsExhausted) => return self.take_unbegun("Cannot assign requested address", 99),
            Some(Failure::Unreachable) => return self.take_unbegun("Network is unreachable", 101),
            None | Some(Failure::Check | Failure::ClosedEarly | Failure::Protocol | Failure::Stale) => {
                self.take_orderly(sample);
            }
            Some(Failure::Tls | Failure::Resolve | Failure::Proxy) => self.handshakes_failed += 1,
            Some(failure) => self.take_broken(failure, sample)?,
        }
        self.done += 1;
        self.sent += sample.bytes_sent;
        self.last = self.last.max(sample.last_byte);
        self.records.push(record(sample));
        Ok(())
    }

    /// The server ended it, with or without a reply.
    fn take_orderly(&mut self, sample: &Sample) {
        self.good += 1;
        self.kept_alive += u64::from(sample.kept_alive);
        let odd = sample.outcome.status.is_some_and(|status| status / 100 != 2);
        self.non_2xx += u64::from(odd);
        self.take_bytes(sample);
    }

    fn take_bytes(&mut self, sample: &Sample) {
        // ab takes all that is read together for the reply.
        let read = sample.bytes_received + sample.extra_bytes;
        let body = if sample.head_bytes == 0 { 0 } else { read - sample.head_bytes };
        self.read += read;
        self.read_body += body;
        self.hold_to_length(body);
    }

    fn hold_to_length(&mut self, body: u64) {
        if self.good == 1 {
            self.document_length = body;
        } else if body != self.document_length && !self.rules.any_length {
            self.failed += 1;
            self.length_errors += 1;
        }
    }

    /// The socket failed.
    fn take_broken(&mut self, failure: Failure, sample: &Sample) -> Result<(), Fatal> {
        if !self.rules.survive {
            let (text, number) = error_of(failure);
            return Err(Fatal::new("apr_socket_recv", text, number));
        }
        if failure == Failure::Refused {
            self.take_refused();
        } else {
            self.failed += 2;
            self.receive_errors += 1;
            self.exceptions += 1;
        }
        self.take_bytes(sample);
        Ok(())
    }

    /// ab hears of refused connections in pairs: of the second while it still handles the first.
    fn take_refused(&mut self) {
        self.refused += 1;
        if self.refused % 2 == 1 {
            self.failed += 3;
            self.receive_errors += 2;
            self.exceptions += 1;
        }
    }

    /// The connection could not even be begun; some of these are borne.
    fn take_unbegun(&mut self, text: &str, number: i32) -> Result<(), Fatal> {
        self.connect_errors += 1;
        self.failed += 1;
        if self.connect_errors <= MOST_CONNECT_ERRORS {
            return Ok(());
        }
        let fatal = Fatal::new("apr_socket_connect()", text, number);
        Err(Fatal { text: format!("\nTest aborted after {MOST_CONNECT_ERRORS} failures\n\n{}", fatal.text), ..fatal })
    }
}

fn record(sample: &Sample) -> Record {
    let opening = &sample.opening;
    let opened = [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum::<u64>();
    let wait = if sample.first_byte == Tick::ZERO { 0 } else { sample.first_byte.nanos_since(sample.sent) };
    Record {
        begun: sample.begun,
        connect: if sample.opened { opened / 1000 } else { 0 },
        wait: wait / 1000,
        total: sample.last_byte.nanos_since(sample.begun) / 1000,
    }
}

/// The system's words and number for what a socket failed of.
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
