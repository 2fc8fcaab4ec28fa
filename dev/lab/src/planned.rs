//! Computes the response times of planned requests, which were perhaps never sent.
//!
//! It uses the same planner, draws and recursion as the server, with arrivals from a plan instead
//! of a socket. This is the truth for a load generator that did not keep to its load. No I/O.

use crate::args::LabOptions;
use crate::fail::FailKind;
use crate::freeze::Freeze;
use crate::h2;
use crate::planner::Planner;
use crate::reply::{ReplyCache, filler};
use crate::request::{ReplyShape, RequestedReply};
use crate::serve::tail;
use crate::truth::{Summary, sojourns};
use crate::websocket;

/// Protocol of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0 or HTTP/1.1.
    Http1,
    /// HTTP/2, over TCP.
    Http2,
    /// HTTP/3, over QUIC.
    Http3,
    /// `WebSocket`s, whose messages count as requests.
    WebSocket,
    /// Calls of gRPC, over HTTP/2.
    Grpc,
}

/// Returns the computed response times of a server with these options, for arrivals at these ticks,
/// in order. `freezes` are in the same ticks. Requests that arrive before tick `from` are served,
/// but not part of the summary.
pub fn planned(
    options: &LabOptions,
    protocol: Protocol,
    arrivals_and_freezes: (&[u64], &[Freeze]),
    from: u64,
) -> Result<Option<Summary>, String> {
    let (arrivals, freezes) = arrivals_and_freezes;
    // Without due times, the planner would record nothing.
    let mut planner = Planner::new(&LabOptions { record: true, ..options.clone() })?;
    planner.freezes = freezes.to_vec();
    let mut replies =
        ReplyCache::new(options.status, &options.headers, options.body, options.chunked);
    let message = (protocol == Protocol::WebSocket).then_some(websocket::frames::TEXT);
    let shape = ReplyShape { keep_alive: true, message, ..ReplyShape::default() };
    let request = RequestedReply { shape, ..RequestedReply::default() };
    // For HTTP/2 and HTTP/3, only the body drips.
    let length = match protocol {
        Protocol::Http2 | Protocol::Http3 => options.body,
        Protocol::Grpc => h2::reply::message(&filler(options.body)).len(),
        Protocol::Http1 | Protocol::WebSocket => replies.to(&request, None).bytes.len(),
    };
    for &arrival in arrivals {
        let plan = planner.admit(arrival, request.clone());
        if let (Some(FailKind::Slow), Some(ticket)) = (plan.failure, plan.ticket) {
            planner.ledger.visits.tails.insert(ticket, tail(length, options.drip));
        }
    }
    let visits = &planner.ledger.visits;
    let times = sojourns(&planner.model(), &visits.arrivals, &visits.services);
    let visits = visits.arrivals.iter().zip(&visits.written).zip(times);
    let answered = visits.filter(|((arrival, written), _)| {
        **arrival >= from && **written == crate::ledger::UNWRITTEN
    });
    Ok(Summary::of(answered.map(|(_, time)| time).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::units::{MILLISECOND as MS, SECOND};

    fn of(
        line: &str,
        protocol: Protocol,
        arrivals: &[u64],
        freezes: &[Freeze],
        from: u64,
    ) -> Summary {
        let options =
            LabOptions::try_parse_from(["lab"].into_iter().chain(line.split(' '))).unwrap();
        planned(&options, protocol, (arrivals, freezes), from).unwrap().unwrap()
    }

    fn every(gap: u64, count: u64) -> Vec<u64> {
        (0..count).map(|n| n * gap).collect()
    }

    #[test]
    fn a_stall_of_a_second_in_five() {
        let statistics =
            of("--service const:1ms --stall 1s/5s", Protocol::Http1, &every(5 * MS, 2000), &[], 0);
        assert_eq!((statistics.count, statistics.p50), (2000, 0.001));
        assert!(
            (statistics.p90 - 0.5).abs() < 0.01 && (statistics.p99 - 0.95).abs() < 0.01,
            "{statistics:?}"
        );
    }

    #[test]
    fn a_freeze_and_requests_before_the_measured_time() {
        let freeze = Freeze { from: 4 * SECOND, to: 6 * SECOND };
        let statistics =
            of("--service const:5ms", Protocol::Http1, &every(10 * MS, 800), &[freeze], 4 * SECOND);
        assert_eq!((statistics.count, statistics.p50), (400, 0.005));
        assert!((statistics.max - 2.0).abs() < 0.02, "{statistics:?}");
    }

    #[test]
    fn slow_replies_and_missing_replies() {
        let line = "--service const:5ms --fail 10%:slow --fail 20%:reset --drip 1ms";
        let statistics = of(line, Protocol::Http1, &every(MS, 10_000), &[], 0);
        assert!((7_800..8_200).contains(&statistics.count), "{statistics:?}");
        assert_eq!(statistics.p50, 0.005);
        // A head and a body of about 60 bytes, one byte per millisecond.
        assert!(statistics.p99 > 0.05 && statistics.p99 < 0.1, "{statistics:?}");
        let max = |protocol| of(line, protocol, &every(MS, 1000), &[], 0).max;
        assert_eq!(max(Protocol::Http2), 0.014, "ten bytes of body");
        assert_eq!(max(Protocol::WebSocket), 0.016, "and two bytes of head");
        assert_eq!(
            max(Protocol::Grpc),
            0.021,
            "ten bytes in a field of two more, in a message of five more"
        );
    }
}
