//! The rows of `--hostile` of HTTP/3 (RFC 9114), QPACK (RFC 9204) and QUIC (RFC 9000 and 9001).
//!
//! | module | holds |
//! |---|---|
//! | [`streams`] | streams of one direction, settings, frames of the control stream |
//! | [`replies`] | frames on a request's stream, messages and their fields |
//! | [`qpack`] | header blocks, and instructions of QPACK |
//! | [`ends`] | resets and closes, with each code |
//! | [`packets`] | packets that no QUIC of a library would send |
//! | [`offers`] | what clients are offered before there is a connection |
//! | [`rare`] | what breaks no rule |

pub mod ends;
pub mod offers;
pub mod packets;
pub mod qpack;
pub mod rare;
pub mod replies;
pub mod streams;

use crate::hostile::{Row, Say, When};
pub use offers::Offer;
pub use packets::Exchange;

use super::qpack::encode as block;
use super::{End, number, put_frame, put_number};

/// A row of bytes on streams.
const fn row_at(
    when: When,
    (name, section, text): (&'static str, &'static str, &'static str),
    say: fn(&mut Stage),
) -> Row {
    Row { name, section, text, when, say: Say::Http3(say) }
}

/// A row that stands in place of a reply.
const fn row(name: &'static str, section: &'static str, text: &'static str, say: fn(&mut Stage)) -> Row {
    row_at(When::Request, (name, section, text), say)
}

/// A row that is sent without end.
const fn endless(name: &'static str, section: &'static str, text: &'static str, say: fn(&mut Stage)) -> Row {
    row_at(When::Endless, (name, section, text), say)
}

/// A row that stands in place of the control stream with SETTINGS.
const fn greeting(name: &'static str, section: &'static str, text: &'static str, say: fn(&mut Stage)) -> Row {
    row_at(When::Greeting, (name, section, text), say)
}

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let streams = streams::ROWS.iter().chain(replies::ROWS).chain(qpack::ROWS).chain(ends::ROWS);
    streams.chain(packets::ROWS).chain(offers::ROWS).chain(rare::ROWS)
}

/// What a row wants to be sent on a connection.
#[derive(Debug, Default)]
pub struct Stage {
    /// The number of the request's stream.
    pub stream: u64,
    /// How many times the row was sent on this connection before.
    pub round: u32,
    /// Bytes on the request's stream.
    pub out: Vec<u8>,
    /// How that stream ends; none: it ends where it has bytes.
    pub end: Option<End>,
    /// Bytes on the control stream.
    pub control: Vec<u8>,
    /// How the control stream ends.
    pub control_end: End,
    /// Further streams of one direction: their bytes, and how they end.
    pub opened: Vec<(Vec<u8>, End)>,
    /// The code of a `STOP_SENDING` for the request's stream.
    pub stop: Option<u32>,
    /// The code of a `STOP_SENDING` for the control stream of the client.
    pub stop_control: Option<u32>,
    /// The code with which the connection is closed.
    pub close: Option<u32>,
    /// Whether the request has a whole reply.
    pub replied: bool,
}

/// The body of replies here.
const BODY: &[u8] = b"abcdefghij";

/// The pseudo-header field of a good reply.
const OK: (&str, &str) = (":status", "200");

impl Stage {
    /// A frame on the request's stream.
    pub fn frame(&mut self, kind: u64, payload: &[u8]) {
        put_frame(&mut self.out, kind, payload);
    }

    /// HEADERS with this block.
    pub fn block(&mut self, block: &[u8]) {
        self.frame(number::HEADERS, block);
    }

    /// HEADERS with these fields.
    pub fn head(&mut self, fields: &[(&str, &str)]) {
        self.block(&block(fields));
    }

    /// DATA.
    pub fn data(&mut self, data: &[u8]) {
        self.frame(number::DATA, data);
    }

    /// A whole reply whose head has these fields.
    pub fn fields(&mut self, fields: &[(&str, &str)]) {
        self.head(fields);
        self.data(BODY);
    }

    /// A whole and right reply.
    pub fn reply(&mut self) {
        self.fields(&[OK]);
        self.replied = true;
    }

    /// A frame on the control stream.
    pub fn say(&mut self, kind: u64, payload: &[u8]) {
        put_frame(&mut self.control, kind, payload);
    }

    /// The control stream begins with these frames.
    pub fn greet(&mut self, frames: &[(u64, &[u8])]) {
        self.control.push(0);
        for (kind, payload) in frames {
            self.say(*kind, payload);
        }
    }

    /// Opens a stream of one direction, which begins with these bytes.
    pub fn open(&mut self, bytes: &[u8]) {
        self.opened.push((bytes.to_vec(), End::Open));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(row: &Row, round: u32) -> Option<Stage> {
        let Say::Http3(say) = row.say else { return None };
        let mut stage = Stage { round, ..Stage::default() };
        say(&mut stage);
        Some(stage)
    }

    #[test]
    fn rows_say_something_and_those_without_end_end_nothing() {
        assert!(rows().count() >= 60, "{}", rows().count());
        for (row, stage) in rows().filter_map(|row| Some((row, play(row, 1)?))) {
            let is_said = !(stage.out.is_empty() && stage.control.is_empty() && stage.opened.is_empty());
            let is_ended = stage.end.is_some() || stage.close.is_some() || stage.control_end != End::Open;
            assert!(
                is_said || is_ended || stage.stop_control.is_some() || row.name == "h3-rare-no-control",
                "{}",
                row.name
            );
            assert!(row.when != When::Endless || !(stage.replied || is_ended), "{}", row.name);
            assert_eq!(stage.replied, row.name.contains("-rare-") && row.when != When::Greeting, "{}", row.name);
        }
    }
}
