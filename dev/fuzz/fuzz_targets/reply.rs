//! Arbitrary bytes as a reply: no panic, an end, and the same outcome however they are cut or dropped unseen.
//!
//! The properties are those of `crates/wire/src/h1/parse_tests.rs`, searched by coverage instead of at random.

#![no_main]

use brunt_wire::replay::{NoReply, ReplyHead, ReplyParser, ReplySink, RequestKind};
use libfuzzer_sys::fuzz_target;

/// A sink that keeps all it is shown.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl ReplySink for Seen {
    fn header(&mut self, name: &str, value: &[u8]) {
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of the body");
        self.body.extend_from_slice(bytes);
    }
}

/// All that can be known of a parser that was given some bytes, and then the close.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// How many bytes the reply took, if it was one.
    verdict: Result<usize, NoReply>,
    head: Option<ReplyHead>,
    interim: u32,
    body_bytes: u64,
}

/// Whether what may be dropped is dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Fed,
    Dropped,
}

/// Sizes from 0 to 31, or by chance up to 255, told by a seed (Marsaglia's xorshift).
fn pieces(seed: u8) -> impl Iterator<Item = usize> {
    let mut state = u32::from(seed) | 0x9e37_0000;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let most = if state & 0x700 == 0 { 0xff } else { 0x1f };
        (state & most) as usize
    })
}

fn run(
    asked: RequestKind,
    bytes: &[u8],
    pieces: impl Iterator<Item = usize>,
    body: Body,
) -> (Outcome, Seen) {
    let mut parser = ReplyParser::new(asked);
    let mut seen = Seen::default();
    let verdict = play(&mut parser, &mut seen, bytes, pieces, body);
    let (head, interim, body_bytes) = (parser.head(), parser.interim(), parser.body_bytes());
    (Outcome { verdict, head, interim, body_bytes }, seen)
}

/// Plays a connection on which `bytes` come in `pieces` (the last piece is the rest), and is then closed.
fn play(
    parser: &mut ReplyParser,
    seen: &mut Seen,
    bytes: &[u8],
    mut pieces: impl Iterator<Item = usize>,
    body: Body,
) -> Result<usize, NoReply> {
    let (mut at, mut end) = (0, 0);
    while end < bytes.len() && !parser.done() {
        end = (end + pieces.next().unwrap_or(bytes.len())).min(bytes.len());
        let taken = parser.feed(&bytes[at..end], seen)?;
        assert!(taken <= end - at, "took more than was given");
        at += taken;
        assert_eq!(parser.feed(&bytes[at..end], seen), Ok(0), "took less than it could");
        if body == Body::Dropped {
            let unseen = parser.discardable().min((bytes.len() - at) as u64);
            parser.skip(unseen);
            at += unseen as usize;
            end = end.max(at);
        }
    }
    parser.close().map(|()| at)
}

fuzz_target!(|data: &[u8]| {
    let [asked, seed, bytes @ ..] = data else {
        return;
    };
    let asked = match asked % 3 {
        0 => RequestKind::Ordinary,
        1 => RequestKind::Head,
        _ => RequestKind::Connect,
    };
    let (whole, seen) = run(asked, bytes, std::iter::empty(), Body::Fed);
    let (cut, seen_cut) = run(asked, bytes, pieces(*seed), Body::Fed);
    assert_eq!((&cut, &seen_cut), (&whole, &seen), "cut");
    let (dropped, seen_dropped) = run(asked, bytes, pieces(*seed), Body::Dropped);
    assert_eq!((&dropped, &seen_dropped.fields), (&whole, &seen.fields), "dropped");
});
