//! What requests would have waited that were planned and perhaps never sent.
//!
//! The same desk, draws and recursion as in a run of the server, fed with arrivals out of a plan instead of arrivals on a
//! socket: the truth for a load generator that did not keep to the load it was asked for. Pure.

use crate::args::Options;
use crate::desk::Desk;
use crate::fail::FailKind;
use crate::freeze::Freeze;
use crate::h2;
use crate::reply::{Replies, filler};
use crate::request::{Request, Shape};
use crate::serve::tail;
use crate::truth::{Summary, sojourns};
use crate::websocket;

/// What the requests are sent by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.x.
    Http1,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
    /// Messages of `WebSocket`s.
    WebSocket,
    /// Calls of gRPC, over HTTP/2.
    Grpc,
}

/// The computed response times of a server with these options, for arrivals at these ticks, in order. `freezes` are in
/// the same ticks; requests that arrive before tick `from` are served and not summarised.
///
/// # Errors
///
/// Which option makes no sense.
pub fn planned(
    options: &Options,
    protocol: Protocol,
    (arrivals, freezes): (&[u64], &[Freeze]),
    from: u64,
) -> Result<Option<Summary>, String> {
    let mut desk = Desk::new(&Options { record: true, ..options.clone() })?;
    desk.freezes = freezes.to_vec();
    let mut replies = Replies::new(options.status, &options.headers, options.body, options.chunked);
    let message = (protocol == Protocol::WebSocket).then_some(websocket::frames::TEXT);
    let shape = Shape { keep_alive: true, message, ..Shape::default() };
    let request = || Request { shape, ..Request::default() };
    // Of HTTP/2 and HTTP/3 only the body drips.
    let length = match protocol {
        Protocol::Http2 | Protocol::Http3 => options.body,
        Protocol::Grpc => h2::reply::message(&filler(options.body)).len(),
        Protocol::Http1 | Protocol::WebSocket => replies.to(&request(), None).bytes.len(),
    };
    for &arrival in arrivals {
        let plan = desk.admit(arrival, request());
        if let (Some(FailKind::Slow), Some(ticket)) = (plan.failing, plan.ticket) {
            desk.ledger.visits.tails.insert(ticket, tail(length, options.drip));
        }
    }
    let visits = &desk.ledger.visits;
    let times = sojourns(&desk.model(), &visits.arrivals, &visits.services);
    let counted = visits.arrivals.iter().zip(&visits.written).zip(times);
    let answered =
        |&((arrival, written), _): &((&u64, &u64), u64)| *arrival >= from && *written == crate::ledger::UNWRITTEN;
    Ok(Summary::of(counted.filter(answered).map(|(_, time)| time).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::units::{MILLISECOND as MS, SECOND};

    fn of(line: &str, protocol: Protocol, arrivals: &[u64], freezes: &[Freeze], from: u64) -> Summary {
        let options = Options::try_parse_from(["lab"].into_iter().chain(line.split(' '))).unwrap();
        planned(&options, protocol, (arrivals, freezes), from).unwrap().unwrap()
    }

    fn every(gap: u64, count: u64) -> Vec<u64> {
        (0..count).map(|n| n * gap).collect()
    }

    #[test]
    fn a_stall_of_a_second_in_five() {
        let told = of("--service const:1ms --stall 1s/5s", Protocol::Http1, &every(5 * MS, 2000), &[], 0);
        assert_eq!((told.count, told.p50), (2000, 0.001));
        assert!((told.p90 - 0.5).abs() < 0.01 && (told.p99 - 0.95).abs() < 0.01, "{told:?}");
    }

    #[test]
    fn a_freeze_and_what_came_before_the_measured_time() {
        let freeze = Freeze { from: 4 * SECOND, to: 6 * SECOND };
        let told = of("--service const:5ms", Protocol::Http1, &every(10 * MS, 800), &[freeze], 4 * SECOND);
        assert_eq!((told.count, told.p50), (400, 0.005));
        assert!((told.max - 2.0).abs() < 0.02, "{told:?}");
    }

    #[test]
    fn dripping_replies_and_those_that_never_come() {
        let line = "--service const:5ms --fail 10%:slow --fail 20%:reset --drip 1ms";
        let told = of(line, Protocol::Http1, &every(MS, 10_000), &[], 0);
        assert!((7_800..8_200).contains(&told.count), "{told:?}");
        assert_eq!(told.p50, 0.005);
        // A head and a body of some sixty bytes, one a millisecond.
        assert!(told.p99 > 0.05 && told.p99 < 0.1, "{told:?}");
        let max = |protocol| of(line, protocol, &every(MS, 1000), &[], 0).max;
        assert_eq!(max(Protocol::Http2), 0.014, "ten bytes of body");
        assert_eq!(max(Protocol::WebSocket), 0.016, "and two bytes of head");
        assert_eq!(max(Protocol::Grpc), 0.021, "ten bytes in a field of two more, in a message of five more");
    }
}
