//! Counters of an interval of a run. One row per counter generates its field, its sums, its message
//! and its figures in reports.
//!
//! A new counter needs a row here and the code that counts it. Counts and times of requests by
//! planned time are in a [`Tally`](crate::Tally).

use crate::Run;
use crate::time::seconds_of;

/// A counter of [`Flow`].
#[derive(Debug)]
pub struct FlowCounter {
    /// Name of its field.
    pub name: &'static str,
    /// The lines of the comment above its row.
    comment: &'static [&'static str],
    /// Number of its field in messages, which never changes.
    pub number: u32,
    /// Returns its value.
    pub value: fn(&Flow) -> u64,
    /// Figures of the counter in the report of a run.
    pub figures: &'static [FlowFigure],
}

/// A figure of a report, computed from one counter.
#[derive(Debug)]
pub struct FlowFigure {
    /// Key of the figure in JSON.
    pub key: &'static str,
    /// Definition, if it differs from that of the counter.
    description: Option<&'static str>,
    /// Computation of the figure.
    pub kind: FigureKind,
}

/// Computation of a figure from its counter.
#[derive(Debug, Clone, Copy)]
pub enum FigureKind {
    /// The count of the whole run.
    WholeRun,
    /// The count of the measured time.
    MeasuredTime,
    /// The highest level at the end of an interval.
    Peak,
    /// The nanoseconds of the whole run, in seconds.
    Seconds,
    /// The nanoseconds of the whole run divided by this count, in seconds; unknown if
    /// the count is 0.
    MeanSeconds(fn(&Flow) -> u64),
}

/// Value of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureValue {
    /// A number of occurrences.
    Count(u64),
    /// A time, in seconds.
    Seconds(f64),
    /// Unknown, since there are no data.
    Unknown,
}

impl FlowFigure {
    const fn new(key: &'static str, kind: FigureKind) -> Self {
        Self { key, description: None, kind }
    }

    const fn described(key: &'static str, kind: FigureKind, description: &'static str) -> Self {
        Self { key, description: Some(description), kind }
    }
}

impl FlowCounter {
    /// Returns its definition, in lines.
    pub fn description(&self) -> String {
        let lines: Vec<&str> = self.comment.iter().map(|line| line.trim()).collect();
        lines.join("\n")
    }

    /// Returns the definition of a figure of this counter, in lines.
    pub fn description_of(&self, figure: &FlowFigure) -> String {
        figure.description.map_or_else(|| self.description(), str::to_owned)
    }

    /// Returns the value of a figure of this counter in a run.
    pub fn value_of(&self, figure: &FlowFigure, run: &Run) -> FigureValue {
        let total = (self.value)(&run.flow_all);
        match figure.kind {
            FigureKind::WholeRun => FigureValue::Count(total),
            FigureKind::MeasuredTime => FigureValue::Count((self.value)(&run.flow)),
            FigureKind::Peak => FigureValue::Count((self.value)(&run.peak)),
            FigureKind::Seconds => FigureValue::Seconds(seconds_of(total)),
            FigureKind::MeanSeconds(count) => total
                // `checked_div` returns None if nothing was counted.
                .checked_div(count(&run.flow_all))
                .map_or(FigureValue::Unknown, |nanos| FigureValue::Seconds(seconds_of(nanos))),
        }
    }
}

/// Generates the struct, which is its own message, and the list of its rows. A row is
/// `name: rule = number => [figures]`. The rule is `total` (intervals add up) or `level`
/// (the last interval counts).
macro_rules! counters {
    (
        $(#[$about:meta])*
        pub struct $group:ident {
            $($(#[doc = $line:literal])+ $name:ident: $rule:ident = $number:tt $(=> [$($figure:expr),+ $(,)?])?,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
        pub struct $group {
            $($(#[doc = $line])+ #[prost(uint64, tag = $number)] pub $name: u64,)*
        }

        impl $group {
            /// All counters, in the order of reports.
            pub const COUNTERS: &[FlowCounter] = &[$(FlowCounter {
                name: stringify!($name),
                comment: &[$($line),+],
                number: $number,
                value: |counters| counters.$name,
                figures: &[$($($figure),+)?],
            }),*];

            /// Adds the same interval of another worker.
            // Levels add up as well: each worker has its own connections and users.
            pub fn merge(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
            }

            /// Adds a later interval: totals add up, levels are those of the later one.
            pub fn follow(&mut self, later: &Self) {
                $(counters!(@follow $rule, self.$name, later.$name);)*
            }

            /// Raises each counter to that of `other`, if that is greater.
            pub fn raise(&mut self, other: &Self) {
                $(self.$name = self.$name.max(other.$name);)*
            }
        }
    };
    (@follow total, $ours:expr, $later:expr) => { $ours += $later };
    (@follow level, $ours:expr, $later:expr) => { $ours = $later };
}

counters! {
    /// Counters of an interval, and levels at its end. Bytes are those of heads and bodies, before TLS.
    pub struct Flow {
        /// Requests that became due.
        planned: total = 1,
        /// Arrivals of the open loop among them: the first request of each.
        arrivals: total = 2,
        /// Requests begun.
        begun: total = 3,
        /// Whole replies.
        completed: total = 4,
        /// Good replies among them.
        good: total = 5,
        /// Requests begun or dropped that ended without a good reply.
        errors: total = 6,
        /// Bytes of requests.
        bytes_sent: total = 7,
        /// Bytes of replies.
        bytes_received: total = 8,
        /// Nanoseconds that requests were in flight: the integral over time of their number.
        // Rows are in the order of reports, numbers in the order in which fields were added.
        in_flight_nanos: total = 13,
        /// Nanoseconds that virtual users spent between a reply and their next request, to the end of the load.
        thought_nanos: total = 14,
        /// Nanoseconds by which requests of one virtual user overlapped: for each of its parallel steps, the integral over
        /// time of the requests that had not ended, less one.
        // Little's law needs it: a user with parallel requests counts once per request in flight.
        overlap_nanos: total = 21,
        /// Bytes of body that replies with a Content-Length announced, of whole replies.
        announced_bytes: total = 15,
        /// Bytes received of these bodies.
        // A consistency check compares it with the row above: whole replies have whole bodies.
        announced_came_bytes: total = 16,
        /// Requests in flight at the end.
        in_flight: level = 17,
        /// Arrivals that wait for a free connection at the end.
        waiting: level = 18,
        /// Virtual users at the end (closed loop).
        users: level = 20,
        /// Connections opened.
        opened: total = 9 => [
            FlowFigure::described("opened", FigureKind::WholeRun, "Opened in the whole run, setup and warm-up included."),
            FlowFigure::described("opened_in_measured_time", FigureKind::MeasuredTime, "Opened in the measured time."),
        ],
        /// Requests sent on a connection that had been used before.
        reused: total = 10 => [FlowFigure::new("reused", FigureKind::WholeRun)],
        /// Connections open at the end.
        connections: level = 19 => [
            FlowFigure::described("peak", FigureKind::Peak, "Most connections open at the end of an interval."),
        ],
        /// Idle connections that the server closed.
        closed_idle: total = 11 => [FlowFigure::new("closed_idle", FigureKind::WholeRun)],
        /// Connections closed because the server sent bytes that belong to no reply.
        unsolicited: total = 12 => [FlowFigure::new("unsolicited", FigureKind::WholeRun)],
        /// QUIC packets that brunt sent; 0 without HTTP/3.
        packets_sent: total = 22 => [FlowFigure::new("packets_sent", FigureKind::WholeRun)],
        /// QUIC packets that brunt sent and that QUIC declared lost.
        packets_lost: total = 23 => [FlowFigure::new("packets_lost", FigureKind::WholeRun)],
        /// QUIC packets received after the handshake, each number once; 0 without HTTP/3.
        packets_received: total = 30 => [FlowFigure::new("packets_received", FigureKind::WholeRun)],
        /// QUIC packets of the server that are missing among those received: lost on the way, or their numbers skipped by
        /// the server on purpose, which servers do rarely.
        server_packets_lost: total = 31 => [FlowFigure::new("server_packets_lost", FigureKind::WholeRun)],
        /// QUIC connections with a Retry packet in the handshake: the server validated the address first.
        quic_retries: total = 32 => [FlowFigure::new("quic_retries", FigureKind::WholeRun)],
        /// Nanoseconds from the first packet of these connections to the Retry, summed up.
        quic_retry_nanos: total = 33 => [FlowFigure::described(
            "quic_retry_seconds",
            FigureKind::MeanSeconds(|flow| flow.quic_retries),
            "Mean time from the first packet of these connections to the Retry, in seconds; null without one.",
        )],
        /// Round trips of QUIC connections as these estimate them, one for each connection and snapshot, summed up, in
        /// nanoseconds.
        rtt_nanos: total = 28 => [FlowFigure::described(
            "quic_rtt_seconds",
            FigureKind::MeanSeconds(|flow| flow.rtts),
            "Mean round-trip time of QUIC connections, as these estimate it, in seconds; null without HTTP/3.",
        )],
        /// Number of round trips in `rtt_nanos`.
        rtts: total = 29,
        /// Resumed connections with early data (0-RTT) that the server accepted.
        early_accepted: total = 24 => [FlowFigure::new("early_accepted", FigureKind::WholeRun)],
        /// Resumed connections with early data that the server refused: the requests were sent again.
        early_refused: total = 25 => [FlowFigure::new("early_refused", FigureKind::WholeRun)],
        /// Requests over HTTP/2 with a body that had to wait because the server's window was full.
        stalled: total = 26 => [FlowFigure::new("stalled_requests", FigureKind::WholeRun)],
        /// Nanoseconds for which these requests waited, summed up.
        stalled_nanos: total = 27 => [FlowFigure::described(
            "stalled_seconds",
            FigureKind::Seconds,
            "Time for which these requests waited, summed up, in seconds.",
        )],
        /// WebSocket messages that no request awaited: they came before their request, or did not match its pattern.
        pushes: total = 34 => [FlowFigure::new("websocket_pushes", FigureKind::WholeRun)],
        /// TLS handshakes that took a further round trip because the server asked for another key share
        /// (`HelloRetryRequest`).
        hello_retries: total = 35 => [FlowFigure::new("hello_retries", FigureKind::WholeRun)],
    }
}
