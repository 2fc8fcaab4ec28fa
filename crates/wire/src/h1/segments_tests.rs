//! Tests replies that arrive in segments, cut at every pair of places, and read with buffers of all
//! sizes. The socket has edge-triggered readiness. No exchange waits for available bytes, and the
//! outcome does not depend on the cuts.

use super::exchange::{H1Exchanges, OutgoingRequest, PipelineState};
use crate::collect::ReplyCollector;
use crate::link::{Link, Received, SocketReadiness};
use crate::request::RequestBytes;
use crate::request::RequestKind;
use crate::still_timer::Still;
use crate::stream::{ByteStream, IdleEnd};
use crate::worker_io::WorkerIo;
use crate::{Stamps, WantedDetails};
use brunt_model::Failure;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The instant at which a segment arrives at the socket.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Comes {
    /// When no task can continue.
    Late,
    /// After the next read, before the reader processes its bytes.
    AfterRead,
}

/// A model of a socket, the kernel and the runtime. New bytes cause an event, which the runtime
/// sees only while no task runs.
#[derive(Default)]
struct Socket {
    there: VecDeque<u8>,
    coming: VecDeque<(Comes, Vec<u8>)>,
    low_water_mark: usize,
    /// True if the kernel has an event that the runtime has not seen.
    event: bool,
    ready: bool,
    sent: usize,
    reads: u32,
    /// True if `TCP_INQ` is enabled. None: the kernel does not support it.
    reports_remaining: Option<bool>,
    /// Number of bytes that can be sent without waiting. None: any number.
    room: Option<usize>,
}

#[derive(Clone, Default)]
struct Edge(Rc<RefCell<Socket>>);

impl Socket {
    fn arrive(&mut self) -> bool {
        let Some((_, bytes)) = self.coming.pop_front() else { return false };
        self.there.extend(bytes);
        self.event |= self.there.len() >= self.low_water_mark;
        true
    }

    fn read(&mut self, most: usize) -> io::Result<Vec<u8>> {
        self.reads += 1;
        let n = most.min(self.there.len());
        let bytes: Vec<u8> = self.there.drain(..n).collect();
        if self.coming.front().is_some_and(|(comes, _)| *comes == Comes::AfterRead) {
            self.arrive();
        }
        if bytes.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(bytes) }
    }
}

struct Seen(Rc<RefCell<Socket>>);

impl SocketReadiness for Seen {
    fn clear(&mut self) {
        self.0.borrow_mut().ready = false;
    }
}

impl Link for Edge {
    type Ready<'a> = Seen;

    fn poll_read_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<Seen>> {
        if self.0.borrow().ready {
            Poll::Ready(Ok(Seen(Rc::clone(&self.0))))
        } else {
            Poll::Pending
        }
    }

    fn poll_write_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<Seen>> {
        Poll::Pending
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.borrow_mut().read(buffer.len())?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn discard(&self, spare: &mut [u8], most: u64) -> io::Result<Received> {
        let mut socket = self.0.borrow_mut();
        let most = spare.len().min(most as usize);
        let remaining = socket.there.len().saturating_sub(most) as u32;
        let bytes = socket.read(most)?.len();
        Ok(Received {
            bytes,
            timestamp: None,
            remaining: socket.reports_remaining.and_then(|is_on| is_on.then_some(remaining)),
        })
    }

    fn report_remaining(&self) {
        let reports_remaining = &mut self.0.borrow_mut().reports_remaining;
        *reports_remaining = reports_remaining.map(|_| true);
    }

    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut socket = self.0.borrow_mut();
        let n = socket
            .room
            .map_or(bytes.len(), |room| bytes.len().min(room.saturating_sub(socket.sent)));
        socket.sent += n;
        if n == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(n) }
    }

    fn set_low_water_mark(&self, bytes: u32) {
        let mut socket = self.0.borrow_mut();
        socket.low_water_mark = bytes as usize;
        socket.event |= socket.there.len() >= socket.low_water_mark && !socket.there.is_empty();
    }
}

/// Runs `work` like a runtime. None: it waits, and nothing will wake it.
fn run<T>(edge: &Edge, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut cx) {
            return Some(done);
        }
        let mut socket = edge.0.borrow_mut();
        if !std::mem::take(&mut socket.event) {
            // There is no event, so the next segment arrives.
            if !socket.arrive() {
                return None;
            }
            socket.event = false;
            if socket.there.len() < socket.low_water_mark {
                continue;
            }
        }
        socket.ready = true;
    }
}

/// A connection that receives `segments`, and its reader, which has a buffer of `room` bytes.
struct World {
    edge: Edge,
    stream: ByteStream<Edge>,
    pipeline: PipelineState,
    exchanges: H1Exchanges<Still>,
}

type ReplySummary = Result<(u16, u64, u64, bool), Failure>;

impl World {
    fn new(segments: Vec<(Comes, Vec<u8>)>, room: Option<usize>) -> Self {
        let edge = Edge::default();
        *edge.0.borrow_mut() =
            Socket { coming: segments.into(), low_water_mark: 1, ..Socket::default() };
        let receive_rate = room.map(|room| room as u64 * 20);
        let exchanges = H1Exchanges::new(WorkerIo::new(Still), receive_rate);
        Self {
            stream: ByteStream::new(edge.clone()),
            edge,
            pipeline: PipelineState::default(),
            exchanges,
        }
    }

    fn ask(&mut self, wants: WantedDetails) -> Option<ReplySummary> {
        let mut stamps = Stamps::default();
        let edge = self.edge.clone();
        let pattern = regex::bytes::Regex::new("cd").unwrap();
        let collector = ReplyCollector::new(wants, Some(&pattern), None);
        let exchange = self.exchanges.exchange(
            &mut self.stream,
            &mut self.pipeline,
            request(b"GET"),
            collector,
            &mut stamps,
        );
        let reply = run(&edge, exchange)?;
        Some(reply.map(|r| (r.status, r.body_bytes, stamps.bytes_received, r.unsolicited)))
    }

    fn send_ahead(&mut self, requests: usize) {
        for _ in 0..requests {
            let edge = self.edge.clone();
            run(
                &edge,
                self.exchanges.send_ahead(
                    &mut self.stream,
                    &mut self.pipeline,
                    RequestBytes::from(&b"GET"[..]),
                ),
            )
            .expect("sent");
        }
    }

    fn idle(&mut self) -> Option<IdleEnd> {
        let edge = self.edge.clone();
        run(&edge, std::future::poll_fn(|cx| self.stream.poll_idle(cx)))
    }
}

fn request(bytes: &[u8]) -> OutgoingRequest<'_> {
    OutgoingRequest { bytes: bytes.into(), kind: RequestKind::Ordinary, is_reused: false }
}

const REPLIES: [&str; 4] = [
    "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nabcde",
    "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    "HTTP/1.1 204 \r\n\r\n",
    "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nfg",
];

/// Buffer sizes: smaller than any part, than a head, than all bytes, and the real size.
const ROOMS: [Option<usize>; 4] = [Some(1), Some(3), Some(40), None];

/// Returns `bytes` in three segments, for all pairs of cuts and both instants of arrival.
fn cuts(bytes: &[u8]) -> impl Iterator<Item = Vec<(Comes, Vec<u8>)>> {
    let instants = [Comes::Late, Comes::AfterRead];
    (0..bytes.len()).flat_map(move |a| {
        (a..bytes.len()).flat_map(move |b| {
            instants.into_iter().map(move |comes| {
                let pieces =
                    [(Comes::Late, &bytes[..a]), (comes, &bytes[a..b]), (comes, &bytes[b..])];
                pieces
                    .into_iter()
                    .filter(|p| !p.1.is_empty())
                    .map(|(comes, piece)| (comes, piece.to_vec()))
                    .collect()
            })
        })
    })
}

fn expected() -> Vec<ReplySummary> {
    let body = [5, 5, 0, 2];
    REPLIES
        .iter()
        .zip(body)
        .map(|(r, body)| Ok((r[9..12].parse().unwrap(), body, r.len() as u64, false)))
        .collect()
}

#[test]
fn pipelined_replies_never_wait_for_available_bytes() {
    let all = REPLIES.concat();
    for room in ROOMS {
        for segments in cuts(all.as_bytes()) {
            let mut world = World::new(segments.clone(), room);
            world.send_ahead(REPLIES.len());
            let replies: Vec<_> =
                REPLIES.iter().map_while(|_| world.ask(WantedDetails::default())).collect();
            assert_eq!(replies, expected(), "room {room:?}, segments {segments:?}");
        }
    }
}

#[test]
fn recorded_replies_never_wait_for_available_bytes() {
    let all = REPLIES.concat();
    let wants = WantedDetails { body: true, matches: true, ..WantedDetails::default() };
    for segments in cuts(all.as_bytes()) {
        let mut world = World::new(segments.clone(), Some(3));
        world.send_ahead(REPLIES.len());
        let replies: Vec<_> = REPLIES.iter().map_while(|_| world.ask(wants)).collect();
        assert_eq!(replies, expected(), "segments {segments:?}");
    }
}

/// Long enough to be discarded in the kernel with a low-water mark.
#[test]
fn long_pipelined_replies_never_wait_for_available_bytes() {
    for length in [7_000, 8_192, 40_000, 300_000] {
        let body = "x".repeat(length);
        let fixed = format!("HTTP/1.1 200 \r\nContent-Length: {length}\r\n\r\n{body}");
        let chunked = format!(
            "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"
        );
        let all = format!("{fixed}{chunked}{fixed}");
        let points =
            [0, 1, 20, 60, 8_191, 8_192, 8_193, length - 1, length, fixed.len() - 1, fixed.len()];
        let behind = |p: &usize| fixed.len() + chunked.len() + p;
        let points = points.iter().copied().chain(points.iter().map(behind));
        let points: Vec<usize> = points.map(|point| point.min(all.len())).collect();
        for (a, b) in
            points.iter().flat_map(|a| points.iter().map(move |b| (*a, *b))).filter(|(a, b)| a < b)
        {
            for (comes, can_report) in [Comes::Late, Comes::AfterRead]
                .into_iter()
                .flat_map(|comes| [(comes, false), (comes, true)])
            {
                let pieces = [&all[..a], &all[a..b], &all[b..]]
                    .map(|piece| (comes, piece.as_bytes().to_vec()));
                let mut world =
                    World::new(pieces.into_iter().filter(|p| !p.1.is_empty()).collect(), None);
                world.edge.0.borrow_mut().reports_remaining = can_report.then_some(false);
                world.send_ahead(3);
                let replies: Vec<_> =
                    (0..3).map_while(|_| world.ask(WantedDetails::default())).collect();
                let whole = |reply: &str| Ok((200, length as u64, reply.len() as u64, false));
                assert_eq!(
                    replies,
                    [whole(&fixed), whole(&chunked), whole(&fixed)],
                    "{length} cut at {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn bytes_after_a_reply_are_handled_in_any_pieces() {
    for reply in REPLIES {
        for (behind, unasked) in [
            ("\r\n", false),
            ("\r\n\r\n", false),
            ("GARBAGE", true),
            ("\r\nHTTP/1.1 200 \r\n\r\n", true),
        ] {
            let all = format!("{reply}{behind}");
            for (room, segments) in
                ROOMS.iter().flat_map(|room| cuts(all.as_bytes()).map(move |s| (*room, s)))
            {
                let mut world = World::new(segments.clone(), room);
                let (status, _, bytes, at_once) =
                    world.ask(WantedDetails::default()).expect("no hang").expect("a reply");
                assert_eq!((status, bytes), (reply[9..12].parse().unwrap(), reply.len() as u64));
                let later = !at_once && world.idle() == Some(IdleEnd::Unsolicited);
                assert_eq!(
                    at_once || later,
                    unasked,
                    "room {room:?}, {behind:?}, segments {segments:?}"
                );
            }
        }
    }
}

/// If the kernel reports how much remains, no read looks for bytes after a discarded body.
#[test]
fn bytes_after_a_discarded_body_are_found_with_and_without_the_kernel_count() {
    let reply = format!("HTTP/1.1 200 \r\nContent-Length: 40000\r\n\r\n{}", "x".repeat(40_000));
    for (behind, unasked) in [("", false), ("\r\n", false), ("X", true)] {
        let all = format!("{reply}{behind}");
        for (cut, comes) in [8_192, 20_000, reply.len(), all.len()]
            .into_iter()
            .flat_map(|at| [Comes::Late, Comes::AfterRead].map(|comes| (at, comes)))
        {
            let reads = [false, true].map(|can_report| {
                let pieces =
                    [&all[..cut], &all[cut..]].map(|piece| (comes, piece.as_bytes().to_vec()));
                let mut world =
                    World::new(pieces.into_iter().filter(|p| !p.1.is_empty()).collect(), None);
                world.edge.0.borrow_mut().reports_remaining = can_report.then_some(false);
                let (_, _, _, at_once) =
                    world.ask(WantedDetails::default()).expect("no hang").expect("a reply");
                let reads = world.edge.0.borrow().reads;
                let later = !at_once && world.idle() == Some(IdleEnd::Unsolicited);
                assert_eq!(
                    at_once || later,
                    unasked,
                    "{behind:?} cut at {cut}, {comes:?}, told {can_report}"
                );
                reads
            });
            assert!(reads[1] + u32::from(behind.is_empty()) <= reads[0], "{reads:?}");
        }
    }
}

#[test]
fn a_connection_is_reusable_after_a_blank_line_after_a_reply() {
    let all = format!("{}\r\n{}", REPLIES[0], REPLIES[0]);
    for segments in cuts(all.as_bytes()) {
        let mut world = World::new(Vec::new(), None);
        world.send_ahead(2);
        world.edge.0.borrow_mut().coming = segments.into();
        for _ in 0..2 {
            assert_eq!(
                world.ask(WantedDetails::default()).expect("no hang").expect("a reply").0,
                200
            );
        }
    }
}

#[test]
fn a_refusal_received_during_a_long_body_ends_the_exchange() {
    let refusal = b"HTTP/1.1 413 \r\nContent-Length: 2\r\n\r\nno".to_vec();
    for segments in cuts(&refusal) {
        let mut world = World::new(segments, None);
        world.edge.0.borrow_mut().room = Some(1000);
        let mut stamps = Stamps::default();
        let edge = world.edge.clone();
        let request = request(&[b'x'; 5000]);
        let exchange = world.exchanges.exchange(
            &mut world.stream,
            &mut world.pipeline,
            request,
            None,
            &mut stamps,
        );
        let reply = run(&edge, exchange);
        let reply = reply.expect("no hang").expect("a reply");
        assert_eq!((reply.status, reply.keep_alive, stamps.bytes_sent), (413, false, 1000));
    }
}

#[test]
fn sent_bytes_are_reported_without_a_reply() {
    let mut world = World::new(Vec::new(), None);
    world.edge.0.borrow_mut().room = Some(1000);
    let mut stamps = Stamps::default();
    let edge = world.edge.clone();
    let request = request(&[b'x'; 5000]);
    let exchange = world.exchanges.exchange(
        &mut world.stream,
        &mut world.pipeline,
        request,
        None,
        &mut stamps,
    );
    let waits = run(&edge, exchange).is_none();
    assert!(waits);
    assert_eq!(stamps.bytes_sent, 1000);
}
