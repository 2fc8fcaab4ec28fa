//! Replies that come in events (server-sent events, lines, messages): where each event ends, and when it came.
//!
//! What it is: state machines that take in bodies in any pieces, and the times of their events summed up by label. Out of
//! scope: what an event says.

use brunt_model::reply_policy::{EventFormat, Events};
use brunt_model::{Clock, Tick};
use brunt_stats::Histogram;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What the times of events are measured from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventOrigin {
    /// When the request was due.
    pub planned: Tick,
    /// It was due in the measured time; otherwise its events are counted nowhere.
    pub is_measured: bool,
    /// The number of the population that it belongs to.
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

/// The times of the events that came on a transport, by population and label.
#[derive(Debug, Default)]
pub struct EventCounts(RefCell<BTreeMap<(usize, u32), EventTimes>>);

impl EventCounts {
    /// What came for a population since the last call, by label.
    pub fn take(&self, population: usize) -> Vec<(u32, EventTimes)> {
        let mut all = self.0.borrow_mut();
        let its = all.extract_if((population, 0)..=(population, u32::MAX), |_, _| true);
        its.map(|((_, label), times)| (label, times)).collect()
    }
}

/// Times the events of one reply.
pub struct EventMeter {
    splitter: Splitter,
    rules: Events,
    label: u32,
    origin: EventOrigin,
    clock: Rc<dyn Clock>,
    counts: Rc<EventCounts>,
    count: u64,
    /// When the last one came.
    last: Tick,
    is_over: bool,
}

impl EventMeter {
    /// Of a reply to a request of this label.
    pub fn new(
        (rules, label): (Events, u32),
        origin: EventOrigin,
        clock: Rc<dyn Clock>,
        counts: Rc<EventCounts>,
    ) -> Self {
        let splitter = Splitter::new(rules.format);
        Self { splitter, rules, label, origin, clock, counts, count: 0, last: Tick::ZERO, is_over: false }
    }

    /// Bytes of the body, decoded.
    pub fn push(&mut self, bytes: &[u8]) {
        let now = self.clock.now();
        let came = self.splitter.push(bytes);
        self.came(came, now);
        self.is_over |= self.has_lasted(now);
    }

    /// A message of a WebSocket came.
    pub fn message(&mut self) {
        let now = self.clock.now();
        self.came(1, now);
        self.is_over |= self.has_lasted(now);
    }

    /// The body is over.
    pub fn finish(&mut self) {
        let rest = u64::from(self.splitter.has_rest());
        self.splitter = Splitter::new(self.rules.format);
        self.came(rest, self.clock.now());
    }

    /// A piece of the request was written, to which the next event is the answer: it is timed from here, unless it is the first.
    pub fn sent(&mut self, now: Tick) {
        self.last = now;
    }

    /// No further event is awaited.
    pub fn is_over(&self) -> bool {
        self.is_over || self.rules.most.is_some_and(|most| self.count >= most)
    }

    fn has_lasted(&self, now: Tick) -> bool {
        self.rules.longest.is_some_and(|longest| now >= self.origin.planned + longest)
    }

    fn came(&mut self, count: u64, now: Tick) {
        for _ in 0..count {
            // What comes behind the last awaited one is nobody's.
            if self.is_over() {
                return;
            }
            self.count += 1;
            let before = std::mem::replace(&mut self.last, now);
            if self.origin.is_measured {
                let mut all = self.counts.0.borrow_mut();
                let times = all.entry((self.origin.population, self.label)).or_default();
                if self.count == 1 {
                    times.first.record(now.nanos_since(self.origin.planned));
                } else {
                    times.next.record(now.nanos_since(before));
                }
            }
        }
    }
}

/// Finds the ends of messages of gRPC in bytes that come in any pieces.
#[derive(Debug)]
pub(crate) struct MessageEnds(Splitter);

impl Default for MessageEnds {
    fn default() -> Self {
        Self(Splitter::new(EventFormat::Messages))
    }
}

impl MessageEnds {
    /// How many messages end in these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> u64 {
        self.0.push(bytes)
    }
}

/// Finds the ends of events in bytes that come in any pieces.
#[derive(Debug)]
enum Splitter {
    /// Of `text/event-stream` (HTML, section 9.2): an event ends at a blank line behind a line of data.
    ServerSent {
        /// The first bytes of the line that is coming, as many as decide what it is.
        line: Vec<u8>,
        /// The event has data.
        has_data: bool,
        /// The last byte was a carriage return, whose line feed may follow.
        after_return: bool,
        /// What may still come of the byte order mark that the body may begin with.
        mark: &'static [u8],
    },
    /// Lines that are not blank.
    Lines {
        /// The line that is coming is not blank.
        has_text: bool,
    },
    /// Messages of gRPC: a byte, four of length, and so many.
    Messages { head: Vec<u8>, rest: u64 },
}

/// A line of data begins with it.
const DATA: &[u8] = b"data";
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// The length of what stands before a message of gRPC.
const MESSAGE_HEAD: usize = 5;

impl Splitter {
    fn new(format: EventFormat) -> Self {
        match format {
            EventFormat::ServerSent => {
                Self::ServerSent { line: Vec::new(), has_data: false, after_return: false, mark: MARK }
            }
            EventFormat::Lines => Self::Lines { has_text: false },
            EventFormat::Messages => Self::Messages { head: Vec::new(), rest: 0 },
        }
    }

    /// How many events end in these bytes.
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
                            } else if line == DATA || line.strip_prefix(DATA).is_some_and(|rest| rest == b":") {
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
            Self::Messages { head, rest } => {
                let (mut ends, mut bytes) = (0, bytes);
                while !bytes.is_empty() {
                    if head.len() < MESSAGE_HEAD {
                        let (taken, after) = bytes.split_at(bytes.len().min(MESSAGE_HEAD - head.len()));
                        head.extend_from_slice(taken);
                        bytes = after;
                        let Some(length) = head.get(1..MESSAGE_HEAD) else { return ends };
                        *rest = length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
                    } else {
                        let taken = (*rest).min(bytes.len() as u64);
                        *rest -= taken;
                        bytes = &bytes[taken as usize..];
                    }
                    if *rest == 0 {
                        ends += 1;
                        head.clear();
                    }
                }
                ends
            }
        }
    }

    /// Whether an event has begun that ends with the body.
    fn has_rest(&self) -> bool {
        // An event without its blank line is none, and half a message is none.
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
    fn events_end_where_the_standard_says() {
        let sse = |text: &str| (1..8).map(|piece| count(EventFormat::ServerSent, text.as_bytes(), piece).0).max();
        assert_eq!(sse("data: a\n\ndata: b\ndata: c\n\n"), Some(2));
        assert_eq!(sse("data: a\r\n\r\ndata\r\n\r\n"), Some(2));
        assert_eq!(sse("data:a\r\rdata:b\r\r"), Some(2));
        assert_eq!(sse(": a comment\n\nevent: x\nid: 1\n\n"), Some(0), "no data, no event");
        assert_eq!(sse("database: a\n\n\n\n"), Some(0), "another field");
        assert_eq!(sse("data: a\n"), Some(0), "the blank line is missing");
        assert_eq!(sse("\u{feff}data: a\n\n"), Some(1), "a byte order mark begins no line");
        assert_eq!(sse("data: a\n\n\u{feff}data: b\n\n"), Some(1), "it is one at the beginning only");
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
        let meter = EventMeter::new((rules, 7), origin, Rc::clone(&clock) as Rc<dyn Clock>, Rc::clone(&counts));
        (meter, clock, counts)
    }

    #[test]
    fn the_first_event_is_timed_from_the_planned_instant_and_each_other_from_the_one_before() {
        let (mut meter, clock, counts) = meter(Events { format: EventFormat::Lines, most: Some(3), longest: None });
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
    fn a_stream_that_lasted_long_enough_is_over() {
        let longest = Some(Duration::from_nanos(500));
        let (mut meter, clock, _) = meter(Events { format: EventFormat::ServerSent, most: None, longest });
        clock.0.set(599);
        meter.push(b"data: a\n\n");
        assert!(!meter.is_over());
        clock.0.set(600);
        meter.push(b": still here\n\n");
        assert!(meter.is_over());
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(bytes in "[da:t\r\n ]{0,40}", piece in 1_usize..9) {
            for format in [EventFormat::ServerSent, EventFormat::Lines, EventFormat::Messages] {
                prop_assert_eq!(count(format, bytes.as_bytes(), piece), count(format, bytes.as_bytes(), 100));
            }
        }
    }
}
