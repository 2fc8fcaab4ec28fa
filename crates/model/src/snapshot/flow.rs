//! Defines the counters of an interval of a run. One row per counter generates its field, its sums,
//! its field in messages and its figures in reports.
//!
//! A new counter needs a row here and the code that counts it. A [`Tally`](crate::Tally) has the
//! counts and times of requests by planned time.

use crate::Run;
use crate::time::seconds_of;

/// A counter of [`Flow`].
#[derive(Debug)]
pub struct FlowCounter {
    /// Name of the field.
    pub name: &'static str,
    /// Lines of the comment above the row of the counter.
    comment: &'static [&'static str],
    /// Number of the field in messages, which never changes.
    pub number: u32,
    /// Returns the value of the counter.
    pub value: fn(&Flow) -> u64,
    /// Figures of the counter in the report of a run.
    pub figures: &'static [FlowFigure],
}

/// A figure of a report, computed from one counter.
#[derive(Debug)]
pub struct FlowFigure {
    /// Key of the figure in JSON.
    pub key: &'static str,
    /// Definition of the figure, if it differs from that of the counter.
    description: Option<&'static str>,
    /// Computation of the figure.
    pub kind: FigureKind,
}

/// Computation of a figure from its counter.
#[derive(Debug, Clone, Copy)]
pub enum FigureKind {
    /// Count of the whole run.
    WholeRun,
    /// Count of the measured time.
    MeasuredTime,
    /// Highest level at the end of an interval.
    Peak,
    /// Nanoseconds of the whole run, converted to seconds.
    Seconds,
    /// Nanoseconds of the whole run divided by this count, converted to seconds. Unknown if the
    /// count is 0.
    MeanSeconds(fn(&Flow) -> u64),
}

/// Value of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureValue {
    /// A number of occurrences.
    Count(u64),
    /// A time, in seconds.
    Seconds(f64),
    /// Unknown, because there is no data.
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
    /// Returns the definition of the counter. It may have several lines.
    pub fn description(&self) -> String {
        let lines: Vec<&str> = self.comment.iter().map(|line| line.trim()).collect();
        lines.join("\n")
    }

    /// Returns the definition of a figure of this counter. It may have several lines.
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

/// Generates the struct, which is also a protobuf message, and the list of its rows. A row is
/// `name: rule = number => [figures]`. The rule is `total` (intervals add up) or `level`
/// (the last interval determines the value).
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

            /// Adds the counters of another worker for the same interval.
            // Levels add up as well: each worker has its own connections and users.
            pub fn merge(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
            }

            /// Adds a later interval: totals add up, levels take the later value.
            pub fn follow(&mut self, later: &Self) {
                $(counters!(@follow $rule, self.$name, later.$name);)*
            }

            /// Sets each counter to the maximum of its value and that of `other`.
            pub fn raise(&mut self, other: &Self) {
                $(self.$name = self.$name.max(other.$name);)*
            }
        }
    };
    (@follow total, $ours:expr, $later:expr) => { $ours += $later };
    (@follow level, $ours:expr, $later:expr) => { $ours = $later };
}

counters! {
    /// Counters of an interval, and levels at its end. Bytes include heads and bodies, without the overhead of TLS.
    pub struct Flow {
        /// Requests that became due.
        planned: total = 1,
        /// Open-loop arrivals: due requests that are the first of their arrival.
        arrivals: total = 2,
        /// Requests begun.
        begun: total = 3,
        /// Complete replies.
        completed: total = 4,
        /// Complete replies that are good.
        good: total = 5,
        /// Requests begun or dropped that ended without a good reply.
        errors: total = 6,
        /// Complete replies that failed a check.
        failed_checks: total = 37,
        /// Bytes of requests sent.
        bytes_sent: total = 7,
        /// Bytes of replies received.
        bytes_received: total = 8,
        /// Nanoseconds in flight of all requests: integral over time of the number of requests in flight.
        // Rows are in the order of reports, numbers in the order in which fields were added.
        in_flight_nanos: total = 13,
        /// Think time in nanoseconds: time of virtual users between a reply and their next request, until the load ends.
        thought_nanos: total = 14,
        /// Nanoseconds by which the last requests of virtual users (closed loop) ended after the load.
        overtime_nanos: total = 36,
        /// Nanoseconds by which requests of the same virtual user overlapped. It is the sum over parallel steps of an
        /// integral over time: number of unfinished requests of the step, minus one.
        // Little's law needs it, because a user with parallel requests counts once per request in flight.
        overlap_nanos: total = 21,
        /// Sum of the Content-Length of complete replies that have one, in bytes.
        announced_bytes: total = 15,
        /// Bytes received of the bodies of these replies.
        // A consistency check compares it with the row above: complete replies have complete bodies.
        announced_came_bytes: total = 16,
        /// Requests in flight at the end of the interval.
        in_flight: level = 17,
        /// Arrivals that wait for a free connection at the end of the interval.
        waiting: level = 18,
        /// Virtual users at the end of the interval (closed loop).
        users: level = 20,
        /// Connections opened.
        opened: total = 9 => [
            FlowFigure::described("opened", FigureKind::WholeRun, "Connections opened in the whole run, including setup and warm-up."),
            FlowFigure::described("opened_in_measured_time", FigureKind::MeasuredTime, "Connections opened in the measured time."),
        ],
        /// Requests sent on a connection that an earlier request had used.
        reused: total = 10 => [FlowFigure::new("reused", FigureKind::WholeRun)],
        /// Connections open at the end of the interval.
        connections: level = 19 => [
            FlowFigure::described("peak", FigureKind::Peak, "Maximum number of connections open at the end of an interval."),
        ],
        /// Idle connections that the server closed.
        closed_idle: total = 11 => [FlowFigure::new("closed_idle", FigureKind::WholeRun)],
        /// Connections closed because the server sent unsolicited bytes, which belong to no reply.
        unsolicited: total = 12 => [FlowFigure::new("unsolicited", FigureKind::WholeRun)],
        /// QUIC packets sent by brunt; 0 without HTTP/3.
        packets_sent: total = 22 => [FlowFigure::new("packets_sent", FigureKind::WholeRun)],
        /// QUIC packets sent by brunt that QUIC declared lost.
        packets_lost: total = 23 => [FlowFigure::new("packets_lost", FigureKind::WholeRun)],
        /// QUIC packets received after the handshake, each packet number counted once; 0 without HTTP/3.
        packets_received: total = 30 => [FlowFigure::new("packets_received", FigureKind::WholeRun)],
        /// QUIC packet numbers of the server that were not received: lost packets, and numbers that the server skipped on
        /// purpose, which is rare.
        server_packets_lost: total = 31 => [FlowFigure::new("server_packets_lost", FigureKind::WholeRun)],
        /// QUIC connections with a Retry packet in the handshake, by which the server validated the address of brunt.
        quic_retries: total = 32 => [FlowFigure::new("quic_retries", FigureKind::WholeRun)],
        /// Sum of the times from the first packet of these connections to the Retry packet, in nanoseconds.
        quic_retry_nanos: total = 33 => [FlowFigure::described(
            "quic_retry_seconds",
            FigureKind::MeanSeconds(|flow| flow.quic_retries),
            "Mean time from the first packet of these connections to the Retry packet, in seconds; null without a Retry packet.",
        )],
        /// Sum of the round-trip times that QUIC connections estimate, one value per connection and snapshot, in nanoseconds.
        rtt_nanos: total = 28 => [FlowFigure::described(
            "quic_rtt_seconds",
            FigureKind::MeanSeconds(|flow| flow.rtts),
            "Mean round-trip time that QUIC connections estimate, in seconds; null without HTTP/3.",
        )],
        /// Number of round-trip times in `rtt_nanos`.
        rtts: total = 29,
        /// Resumed connections with early data (0-RTT) that the server accepted.
        early_accepted: total = 24 => [FlowFigure::new("early_accepted", FigureKind::WholeRun)],
        /// Resumed connections with early data (0-RTT) that the server rejected; their requests were sent again.
        early_refused: total = 25 => [FlowFigure::new("early_refused", FigureKind::WholeRun)],
        /// HTTP/2 requests whose body waited because the flow-control window of the server was exhausted.
        stalled: total = 26 => [FlowFigure::new("stalled_requests", FigureKind::WholeRun)],
        /// Sum of the waiting times of these requests, in nanoseconds.
        stalled_nanos: total = 27 => [FlowFigure::described(
            "stalled_seconds",
            FigureKind::Seconds,
            "Sum of the waiting times of these requests, in seconds.",
        )],
        /// WebSocket messages that no request awaited: they arrived before a request, or did not match its pattern.
        pushes: total = 34 => [FlowFigure::new("websocket_pushes", FigureKind::WholeRun)],
        /// TLS handshakes with an additional round trip, because the server requested another key share
        /// (`HelloRetryRequest`).
        hello_retries: total = 35 => [FlowFigure::new("hello_retries", FigureKind::WholeRun)],
        /// Messages of gRPC calls that were sent.
        grpc_sent: total = 38 => [FlowFigure::new("grpc_messages_sent", FigureKind::WholeRun)],
        /// Messages of gRPC calls that were received.
        grpc_received: total = 39 => [FlowFigure::new("grpc_messages_received", FigureKind::WholeRun)],
    }
}
