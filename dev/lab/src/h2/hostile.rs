//! The rows of `--hostile` of HTTP/2 (RFC 9113) and HPACK (RFC 7541): short sequences of frames.

pub mod fields;
pub mod frames;
pub mod rare;

use super::frame::{self, Code, flag, kind};
pub(super) use super::hpack::block;
use crate::hostile::{Row, Say, When};

/// A row of frames.
const fn row_at(
    when: When,
    (name, section, text): (&'static str, &'static str, &'static str),
    say: fn(&mut Stage),
) -> Row {
    Row { name, section, text, when, say: Say::Http2(say) }
}

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    frames::ROWS.iter().chain(fields::ROWS).chain(rare::ROWS)
}

/// What a row is sent by.
#[derive(Debug)]
pub struct Stage<'a> {
    /// Where it goes.
    pub out: &'a mut Vec<u8>,
    /// The stream of the request.
    pub stream: u32,
    /// How many times the row was sent on this connection before.
    pub round: u32,
    /// Whether the stream is ended by a whole reply.
    pub replied: bool,
    /// Whether the connection is closed after it.
    pub closing: bool,
}

/// The body of replies here.
const BODY: &[u8] = b"abcdefghij";

impl Stage<'_> {
    /// A frame on any stream.
    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        frame::put(self.out, kind, flags, stream, payload);
    }

    /// HEADERS of the request's stream with this block.
    pub fn block(&mut self, block: &[u8]) {
        self.frame(kind::HEADERS, flag::END_HEADERS, self.stream, block);
    }

    /// HEADERS of the request's stream with these fields.
    pub fn head(&mut self, fields: &[(&str, &str)]) {
        self.block(&block(fields));
    }

    /// HEADERS with status 200, and nothing more.
    pub fn good_head(&mut self) {
        self.head(&[(":status", "200")]);
    }

    /// DATA of the request's stream that ends it.
    pub fn last_data(&mut self, data: &[u8]) {
        self.frame(kind::DATA, flag::END_STREAM, self.stream, data);
    }

    /// A whole reply whose head has these fields.
    pub fn fields(&mut self, fields: &[(&str, &str)]) {
        self.head(fields);
        self.last_data(BODY);
    }

    /// A whole and right reply.
    pub fn reply(&mut self) {
        self.good_head();
        self.end();
    }

    /// The body of a right reply, and its end.
    pub fn end(&mut self) {
        self.last_data(BODY);
        self.replied = true;
    }

    /// `RST_STREAM` of the request's stream.
    pub fn reset(&mut self, code: Code) {
        frame::put_reset(self.out, self.stream, code);
    }

    /// Closes the connection once everything is sent.
    pub fn close(&mut self) {
        self.closing = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(row: &Row, round: u32) -> (Vec<u8>, bool, bool) {
        let Say::Http2(say) = row.say else { panic!("{} is not of HTTP/2", row.name) };
        let mut out = Vec::new();
        let mut stage = Stage { out: &mut out, stream: 1, round, replied: false, closing: false };
        say(&mut stage);
        let (replied, closing) = (stage.replied, stage.closing);
        (out, replied, closing)
    }

    #[test]
    fn rows_say_something() {
        assert!(frames::ROWS.len() + fields::ROWS.len() >= 40);
        for row in rows() {
            for round in [0, 1] {
                let (out, replied, closing) = play(row, round);
                assert!(row.when != When::Endless || !(replied || closing), "{}", row.name);
                let silent = row.name == "headers-before-settings";
                assert!(silent || round == 0 || !out.is_empty(), "{}", row.name);
            }
        }
    }

    #[test]
    fn rare_rows_reply() {
        for row in rare::ROWS {
            assert!(play(row, 0).1, "{}", row.name);
        }
    }
}
