//! Replays bytes of a server without sockets and returns the outcome of requests, for fuzz targets
//! and tests with arbitrary bytes.
//!
//! Bytes are passed in pieces, and the outcome must not depend on how they are cut. For HTTP/1 it
//! exports the parser itself.

pub use crate::contract::{ReplyHead, ReplySink};
pub use crate::h1::parse::{NoReply, ReplyParser};
pub use crate::request::RequestKind;

use crate::collect::ReplyCollector;
use crate::contract::{Framing, SharedCounts, WantedDetails, WantedFields};
use crate::h2::Http2Session;
use crate::multiplexing::stream::MultiplexedRequest;
use crate::request::fields::RequestFields;
use crate::request::{RequestDraft, RequestParts};
use crate::websocket::{FrameReader, MessageCompression, WebSocketEvent};
use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;
use brunt_model::{Body, Failure, Tick};

/// Outcome of a request: status and bytes of the body, or the failure and its cause. `Cut`: the
/// reply has not ended.
pub type ReplayOutcome = Result<(u16, u64), (Failure, Option<MalformedReply>)>;

/// Number of requests in flight on a connection of HTTP/2.
const REQUESTS: u32 = 3;

/// Each message is compressed separately.
const COMPRESSION: MessageCompression =
    MessageCompression { window_bits: 15, keeps_context: false };

/// All parts of replies.
const WANTS: WantedDetails = WantedDetails {
    body: true,
    head: true,
    fields: WantedFields::All,
    status_line: true,
    location: true,
    server: true,
    cookie: true,
    matches: false,
    page: false,
    skipped: false,
};

fn outcome(stream: &MultiplexedRequest) -> ReplayOutcome {
    match stream.end {
        Some(Ok(())) => Ok((stream.head.map_or(0, |head| head.status), stream.body_bytes)),
        Some(Err(failure)) => Err((failure, stream.stamps.malformed)),
        None => Err((Failure::Cut, None)),
    }
}

/// Returns the outcome of three requests on a connection of HTTP/2 that receives these pieces.
pub fn http2<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<ReplayOutcome> {
    let url = "http://h/";
    let draft = RequestDraft {
        method: "GET",
        url,
        headers: &[],
        body: &Body::None,
        label: 0,
        reply_policy: 0,
        verbatim: None,
    };
    let fields =
        RequestParts::from_draft(&draft).and_then(|parts| RequestFields::from_request(&parts));
    let Ok(fields) = fields else { return Vec::new() };
    let mut session = Http2Session::new(SharedCounts::default());
    for number in 0..REQUESTS {
        let collector = (number > 0).then(|| ReplyCollector::new(WANTS, None, None)).flatten();
        // A session accepts three requests before it has received the server's settings.
        let _ =
            session.begin(&fields, MultiplexedRequest::new(RequestKind::Ordinary, collector, 0));
    }
    session.record_written(Tick(1));
    pieces.into_iter().for_each(|piece| session.receive(piece, Tick(2)));
    (0..REQUESTS)
        .filter_map(|number| session.take_stream(number * 2 + 1))
        .map(|stream| outcome(&stream))
        .collect()
}

/// Returns the outcome of an HTTP/3 request whose stream receives these pieces and then ends.
#[cfg(feature = "http3")]
pub fn http3_reply<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> ReplayOutcome {
    use crate::h3::request::{Http3Request, LastBlock, RuleViolation};
    let mut request =
        Http3Request::new(RequestKind::Ordinary, ReplyCollector::new(WANTS, None, None));
    let mut last = LastBlock::default();
    let received =
        pieces.into_iter().try_for_each(|piece| request.receive(piece, &mut last, Tick(2)));
    match received.and_then(|()| request.end()) {
        Ok(()) => outcome(&request.stream),
        Err(RuleViolation::Stream(_, cause) | RuleViolation::Connection(_, cause)) => {
            Err((Failure::Protocol, Some(cause)))
        }
    }
}

/// Processes the server's unidirectional streams of an HTTP/3 connection. Returns the first
/// unprocessed request, if a GOAWAY was received.
///
/// # Errors
///
/// The rule that they break. Each stream arrives in pieces of at most `size` bytes.
#[cfg(feature = "http3")]
pub fn http3_streams(streams: &[&[u8]], size: usize) -> Result<Option<u64>, MalformedReply> {
    use crate::h3::control::{ControlStream, Uni};
    use crate::h3::request::RuleViolation;
    let mut control = ControlStream::default();
    for bytes in streams {
        let mut uni = Uni::new();
        let received =
            bytes.chunks(size.max(1)).try_for_each(|piece| uni.receive(&mut control, piece));
        received.map_err(
            |(RuleViolation::Stream(_, cause) | RuleViolation::Connection(_, cause))| cause,
        )?;
    }
    Ok(control.goes_away_from)
}

/// Processes the bytes of a WebSocket with compression. Returns for each message the number of
/// bytes kept of it, decoded.
///
/// # Errors
///
/// The rule that is broken.
pub fn websocket<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<usize>, MalformedReply> {
    let mut incoming = FrameReader::new(Some(COMPRESSION));
    let mut messages = Vec::new();
    let mut collector = ReplyCollector::new(WANTS, None, None);
    for mut rest in pieces {
        while !rest.is_empty() {
            let (used, event) =
                incoming.parse(rest, &mut |piece: &[u8], is_compressed: bool| {
                    if let Some(collector) = &mut collector {
                        collector.push_message(piece, is_compressed);
                    }
                })?;
            rest = &rest[used..];
            if event == Some(WebSocketEvent::Message) {
                let details = collector.take().map(|collector| collector.finish(HEAD));
                messages.push(details.map_or(0, |details| details.body.len()));
                collector = ReplyCollector::new(WANTS, None, None);
            }
        }
    }
    Ok(messages)
}

/// The head of a WebSocket message in the figures; the message itself has none.
const HEAD: ReplyHead = ReplyHead {
    status: crate::websocket::STATUS,
    version: HttpVersion::V1_1,
    framing: Framing::None,
    keep_alive: true,
    length: 0,
    encoded: false,
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    /// Returns the stored inputs of a fuzz target, without their last byte, which is
    /// the size of pieces.
    fn corpus(target: &str) -> Vec<Vec<u8>> {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/fuzz/corpus").join(target);
        let files = fs::read_dir(folder).expect("a corpus").flatten();
        let inputs = files.map(|file| fs::read(file.path()).expect("an input"));
        inputs.map(|input| input.split_last().expect("a size").1.to_vec()).collect()
    }

    fn holds_http2(bytes: &[u8], size: usize) {
        assert_eq!(http2([bytes]), http2(bytes.chunks(size)));
    }

    #[cfg(feature = "http3")]
    fn holds_http3(bytes: &[u8], size: usize) {
        assert_eq!(http3_reply([bytes]), http3_reply(bytes.chunks(size)));
        let streams: Vec<&[u8]> = bytes.split(|byte| *byte == 0xfe).collect();
        assert_eq!(http3_streams(&streams, usize::MAX), http3_streams(&streams, size));
    }

    fn holds_websocket(bytes: &[u8], size: usize) {
        assert_eq!(websocket([bytes]), websocket(bytes.chunks(size)));
    }

    #[test]
    fn inputs_of_the_corpus_give_the_same_result_in_any_pieces() {
        for size in [1, 2, 7, 100] {
            for bytes in corpus("http2") {
                holds_http2(&bytes, size);
            }
            for bytes in corpus("websocket") {
                holds_websocket(&bytes, size);
            }
            #[cfg(feature = "http3")]
            for bytes in corpus("http3") {
                holds_http3(&bytes, size);
            }
        }
        let replies = corpus("http2")
            .iter()
            .filter(|bytes| http2([&bytes[..]]).iter().any(Result::is_ok))
            .count();
        assert!(replies > 0, "no input is a reply");
    }

    #[test]
    fn a_large_decompressed_message_is_recorded_up_to_a_limit() {
        // 256 MiB of zeros in 260 kB.
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        (0..256).for_each(|_| std::io::Write::write_all(&mut packed, &vec![0; 1 << 20]).unwrap());
        let packed = packed.finish().unwrap();
        let head = [&[0xc2, 127][..], &(packed.len() as u64).to_be_bytes()].concat();
        let kept = websocket([&head[..], &packed]).unwrap();
        assert!(kept[0] <= crate::collect::body::MAX_RETAINED, "{kept:?}");
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_same_result_in_any_pieces(bytes: Vec<u8>, size in 1_usize..20) {
            holds_websocket(&bytes, size);
            holds_http2(&[&corpus("http2")[0], &bytes[..]].concat(), size);
            #[cfg(feature = "http3")]
            holds_http3(&bytes, size);
        }
    }
}
