//! Splits a reply into events (server-sent events, lines, messages) and records when each one ends.
//!
//! State machines accept the body in pieces of any size. The times of the events are summed up by
//! label. The content of events is ignored.

use brunt_model::reply_policy::{EventFormat, Events};
use brunt_model::{Clock, Tick};
use brunt_stats::Histogram;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The instant that event times are measured from, and where they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventOrigin {
    /// When the request was due.
    pub planned: Tick,
    /// True if the request was due in the measured time. Otherwise its events are not counted.
    pub is_measured: bool,
    /// Index of the request's population.
    pub population: usize,
}

/// The times of the events of one label.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventTimes {
    /// Nanoseconds from the planned instant of the request to its first event.
    pub first: Histogram,
    /// Nanoseconds from each event to the next one of the same reply.
    pub next: Histogram,
}

/// Event times of a transport, by population and label.
#[derive(Debug, Default)]
pub struct EventCounts(RefCell<BTreeMap<(usize, u32), EventTimes>>);

impl EventCounts {
    /// Returns the times of a population since the last call, by label.
    pub fn take(&self, population: usize) -> Vec<(u32, EventTimes)> {
        let mut all = self.0.borrow_mut();
        let of_population = all.extract_if((population, 0)..=(population, u32::MAX), |_, _| true);
        of_population.map(|((_, label), times)| (label, times)).collect()
    }
}

/// Measures the times of the events of one reply.
pub struct EventMeter {
    splitter: Splitter,
    rules: Events,
    label: u32,
    origin: EventOrigin,
    clock: Rc<dyn Clock>,
    counts: Rc<EventCounts>,
    count: u64,
    /// When the last event ended, or when the piece of the request that it answers was sent.
    last: Tick,
    is_over: bool,
}

impl EventMeter {
    /// Creates a meter for the reply to a request with this label.
    pub fn new(
        rules: Events,
        label: u32,
        origin: EventOrigin,
        clock: Rc<dyn Clock>,
        counts: Rc<EventCounts>,
    ) -> Self {
        let splitter = Splitter::new(rules.format);
        Self {
            splitter,
            rules,
            label,
            origin,
            clock,
            counts,
            count: 0,
            last: Tick::ZERO,
            is_over: false,
        }
    }

    /// Receives bytes of the decoded body.
    pub fn push(&mut self, bytes: &[u8]) {
        let now = self.clock.now();
        let ended = self.splitter.push(bytes);
        self.record_events(ended, now);
        self.is_over |= self.has_lasted(now);
    }

    /// Records a WebSocket message.
    pub fn message(&mut self) {
        let now = self.clock.now();
        self.record_events(1, now);
        self.is_over |= self.has_lasted(now);
    }

    /// Records the end of the body.
    pub fn finish(&mut self) {
        let rest = u64::from(self.splitter.has_rest());
        self.splitter = Splitter::new(self.rules.format);
        self.record_events(rest, self.clock.now());
    }

    /// Records when a piece of the request was sent. The event that answers it is timed from here,
    /// unless it is the first one.
    pub fn record_sent(&mut self, now: Tick) {
        self.last = now;
    }

    /// True if no further event is awaited.
    pub fn is_over(&self) -> bool {
        self.is_over || self.rules.most.is_some_and(|most| self.count >= most)
    }

    fn has_lasted(&self, now: Tick) -> bool {
        self.rules.longest.is_some_and(|longest| now >= self.origin.planned + longest)
    }

    fn record_events(&mut self, count: u64, now: Tick) {
        for _ in 0..count {
            // Events after the last awaited one are not counted.
            if self.is_over() {
                return;
            }
            self.count += 1;
            let previous = std::mem::replace(&mut self.last, now);
            if self.origin.is_measured {
                let mut all = self.counts.0.borrow_mut();
                let times = all.entry((self.origin.population, self.label)).or_default();
                if self.count == 1 {
                    times.first.record(now.nanos_since(self.origin.planned));
                } else {
                    times.next.record(now.nanos_since(previous));
                }
            }
        }
    }
}

/// Counts complete gRPC messages in bytes that arrive in pieces of any size: a flag byte, four bytes
/// of length, and that number of bytes.
#[derive(Debug, Default)]
pub(crate) struct MessageEnds {
    head: [u8; MESSAGE_HEAD],
    /// Number of bytes of the head that were received.
    head_bytes: usize,
    /// Number of bytes of the message that are missing.
    rest: u64,
}

impl MessageEnds {
    /// Returns the number of messages that end in these bytes.
    pub fn push(&mut self, mut bytes: &[u8]) -> u64 {
        let mut ends = 0;
        while !bytes.is_empty() {
            if self.head_bytes < MESSAGE_HEAD {
                let room = &mut self.head[self.head_bytes..];
                let (prefix, after) = bytes.split_at(bytes.len().min(room.len()));
                room[..prefix.len()].copy_from_slice(prefix);
                self.head_bytes += prefix.len();
                bytes = after;
                if self.head_bytes < MESSAGE_HEAD {
                    return ends;
                }
                let length = &self.head[1..];
                self.rest = length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
            } else {
                let available = self.rest.min(bytes.len() as u64);
                self.rest -= available;
                bytes = &bytes[available as usize..];
            }
            if self.rest == 0 {
                ends += 1;
                self.head_bytes = 0;
            }
        }
        ends
    }
}

/// Counts complete events in bytes that arrive in pieces of any size.
#[derive(Debug)]
enum Splitter {
    /// Events of `text/event-stream` (HTML, section 9.2). An event ends at a blank line after
    /// a line of data.
    ServerSent {
        /// The first bytes of the current line: enough to decide its kind.
        line: Vec<u8>,
        /// True if the current event has data.
        has_data: bool,
        /// True if the last byte was a carriage return, which a line feed may follow.
        after_return: bool,
        /// Expected rest of the byte order mark at the start of the body.
        mark: &'static [u8],
    },
    /// Lines that are not blank.
    Lines {
        /// True if the current line is not blank.
        has_text: bool,
    },
    /// gRPC messages.
    Messages(MessageEnds),
}

/// Field name at the start of a data line.
const DATA: &[u8] = b"data";
/// Byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Length of the prefix of a gRPC message, in bytes.
const MESSAGE_HEAD: usize = 5;

impl Splitter {
    fn new(format: EventFormat) -> Self {
        match format {
            EventFormat::ServerSent => Self::ServerSent {
                line: Vec::new(),
                has_data: false,
                after_return: false,
                mark: MARK,
            },
            EventFormat::Lines => Self::Lines { has_text: false },
            EventFormat::Messages => Self::Messages(MessageEnds::default()),
        }
    }

    /// Returns the number of events that end in these bytes.
    fn push(&mut self, bytes: &[u8]) -> u64 {
        match self {
            Self::ServerSent { line, has_data, after_return, mark } => {
                let mut ends = 0;
                for byte in bytes {
                    if let [next, rest @ ..] = std::mem::take(mark)
                        && next == byte
                    {
                        *mark = rest;
                        continue;
                    }
                    let follows_return = std::mem::replace(after_return, *byte == b'\r');
                    match byte {
                        b'\n' if follows_return => {}
                        b'\n' | b'\r' => {
                            if line.is_empty() {
                                ends += u64::from(std::mem::take(has_data));
                            } else if line == DATA
                                || line.strip_prefix(DATA).is_some_and(|rest| rest == b":")
                            {
                                *has_data = true;
                            }
                            line.clear();
                        }
                        _ if line.len() <= DATA.len() => line.push(*byte),
                        _ => {}
                    }
                }
                ends
            }
            Self::Lines { has_text } => {
                let mut ends = 0;
                for byte in bytes {
                    match byte {
                        b'\n' => ends += u64::from(std::mem::take(has_text)),
                        _ => *has_text |= !byte.is_ascii_whitespace(),
                    }
                }
                ends
            }
            Self::Messages(messages) => messages.push(bytes),
        }
    }

    /// True if an event has begun that ends with the body.
    fn has_rest(&self) -> bool {
        // A server-sent event without its blank line does not count, nor does a partial message.
        matches!(self, Self::Lines { has_text: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::time::Duration;

    fn count(format: EventFormat, bytes: &[u8], piece: usize) -> (u64, bool) {
        let mut splitter = Splitter::new(format);
        let ends = bytes.chunks(piece.max(1)).map(|piece| splitter.push(piece)).sum();
        (ends, splitter.has_rest())
    }

    #[test]
    fn events_end_as_the_standard_requires() {
        let sse = |text: &str| {
            (1..8).map(|piece| count(EventFormat::ServerSent, text.as_bytes(), piece).0).max()
        };
        assert_eq!(sse("data: a\n\ndata: b\ndata: c\n\n"), Some(2));
        assert_eq!(sse("data: a\r\n\r\ndata\r\n\r\n"), Some(2));
        assert_eq!(sse("data:a\r\rdata:b\r\r"), Some(2));
        assert_eq!(sse(": a comment\n\nevent: x\nid: 1\n\n"), Some(0), "no data, no event");
        assert_eq!(sse("database: a\n\n\n\n"), Some(0), "another field");
        assert_eq!(sse("data: a\n"), Some(0), "the blank line is missing");
        assert_eq!(sse("\u{feff}data: a\n\n"), Some(1), "a byte order mark begins no line");
        assert_eq!(
            sse("data: a\n\n\u{feff}data: b\n\n"),
            Some(1),
            "it is one at the beginning only"
        );
        for piece in 1..9 {
            assert_eq!(count(EventFormat::Lines, b"{}\n\n \n{\"a\":1}\r\nend", piece), (2, true));
            let messages = b"\0\0\0\0\x02hi\0\0\0\0\0\x01\0\0\0\x03abc\0\0\0";
            assert_eq!(count(EventFormat::Messages, messages, piece), (3, false));
        }
    }

    struct Fake(Cell<u64>);
    impl Clock for Fake {
        fn now(&self) -> Tick {
            Tick(self.0.get())
        }
    }

    fn meter(rules: Events) -> (EventMeter, Rc<Fake>, Rc<EventCounts>) {
        let (clock, counts) = (Rc::new(Fake(Cell::new(0))), Rc::new(EventCounts::default()));
        let origin = EventOrigin { planned: Tick(100), is_measured: true, population: 2 };
        let meter = EventMeter::new(
            rules,
            7,
            origin,
            Rc::clone(&clock) as Rc<dyn Clock>,
            Rc::clone(&counts),
        );
        (meter, clock, counts)
    }

    #[test]
    fn the_first_event_is_timed_from_the_planned_instant_and_each_other_from_the_one_before() {
        let (mut meter, clock, counts) =
            meter(Events { format: EventFormat::Lines, most: Some(3), longest: None });
        for (at, text) in [(300, "a"), (400, "\n"), (450, "b\n"), (900, "c\nd\n")] {
            clock.0.set(at);
            assert!(!meter.is_over());
            meter.push(text.as_bytes());
        }
        assert!(meter.is_over(), "the fourth is nobody's");
        let mut wanted = EventTimes::default();
        wanted.first.record(300);
        for nanos in [50, 450] {
            wanted.next.record(nanos);
        }
        assert!(counts.take(1).is_empty());
        assert_eq!(counts.take(2), [(7, wanted)]);
        assert!(counts.take(2).is_empty());
    }

    #[test]
    fn a_stream_ends_after_its_maximum_time() {
        let longest = Some(Duration::from_nanos(500));
        let (mut meter, clock, _) =
            meter(Events { format: EventFormat::ServerSent, most: None, longest });
        clock.0.set(599);
        meter.push(b"data: a\n\n");
        assert!(!meter.is_over());
        clock.0.set(600);
        meter.push(b": still here\n\n");
        assert!(meter.is_over());
    }

    proptest! {
        #[test]
        fn pieces_do_not_change_the_events(bytes in "[da:t\r\n ]{0,40}", piece in 1_usize..9) {
            for format in [EventFormat::ServerSent, EventFormat::Lines, EventFormat::Messages] {
                prop_assert_eq!(count(format, bytes.as_bytes(), piece), count(format, bytes.as_bytes(), 100));
            }
        }
    }
}
