//! Lists the `--hostile` rows of HTTP/2 (RFC 9113) and HPACK (RFC 7541): short sequences of frames.

pub mod fields;
pub mod frames;
pub mod rare;

use super::frame::{self, Http2ErrorCode, flag, kind};
pub(super) use super::hpack::block;
use crate::hostile::{HostileReply, HostileRow, Trigger};

/// Creates a row of frames.
const fn row_at(
    trigger: Trigger,
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    HostileRow { name, section, text, trigger, writer: HostileReply::Http2(write) }
}

/// Returns all rows for HTTP/2.
pub fn rows() -> impl Iterator<Item = &'static HostileRow> {
    frames::ROWS.iter().chain(fields::ROWS).chain(rare::ROWS)
}

/// Output of a row.
#[derive(Debug)]
pub struct Http2RowOutput<'a> {
    /// Buffer of the connection.
    pub out: &'a mut Vec<u8>,
    /// The stream of the request.
    pub stream: u32,
    /// Number of times that the row was sent on this connection before.
    pub round: u32,
    /// True if the row contains a complete reply.
    pub is_reply: bool,
    /// True if the connection closes after the row.
    pub closing: bool,
}

/// Body of the replies.
const BODY: &[u8] = b"abcdefghij";

impl Http2RowOutput<'_> {
    /// Appends a frame on any stream.
    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        frame::put_frame(self.out, kind, flags, stream, payload);
    }

    /// Appends HEADERS of the request's stream with this block.
    pub fn block(&mut self, block: &[u8]) {
        self.frame(kind::HEADERS, flag::END_HEADERS, self.stream, block);
    }

    /// Appends HEADERS of the request's stream with these fields.
    pub fn head(&mut self, fields: &[(&str, &str)]) {
        self.block(&block(fields));
    }

    /// Appends HEADERS with status 200 only.
    pub fn good_head(&mut self) {
        self.head(&[(":status", "200")]);
    }

    /// Appends DATA of the request's stream that ends it.
    pub fn last_data(&mut self, data: &[u8]) {
        self.frame(kind::DATA, flag::END_STREAM, self.stream, data);
    }

    /// Appends a complete reply with these fields in its head.
    pub fn fields(&mut self, fields: &[(&str, &str)]) {
        self.head(fields);
        self.last_data(BODY);
    }

    /// Appends a complete and correct reply.
    pub fn reply(&mut self) {
        self.good_head();
        self.end();
    }

    /// Appends the body of a correct reply, and its end.
    pub fn end(&mut self) {
        self.last_data(BODY);
        self.is_reply = true;
    }

    /// Appends `RST_STREAM` of the request's stream.
    pub fn reset(&mut self, code: Http2ErrorCode) {
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

    fn next_output(row: &HostileRow, round: u32) -> (Vec<u8>, bool, bool) {
        let HostileReply::Http2(write) = row.writer else {
            panic!("{} is not of HTTP/2", row.name)
        };
        let mut out = Vec::new();
        let mut output =
            Http2RowOutput { out: &mut out, stream: 1, round, is_reply: false, closing: false };
        write(&mut output);
        let is_reply = output.is_reply;
        let closing = output.closing;
        (out, is_reply, closing)
    }

    #[test]
    fn every_row_has_a_description() {
        assert!(frames::ROWS.len() + fields::ROWS.len() >= 40);
        for row in rows() {
            for round in [0, 1] {
                let (out, is_reply, closing) = next_output(row, round);
                assert!(row.trigger != Trigger::Endless || !(is_reply || closing), "{}", row.name);
                let silent = row.name == "headers-before-settings";
                assert!(silent || round == 0 || !out.is_empty(), "{}", row.name);
            }
        }
    }

    #[test]
    fn rare_rows_reply() {
        for row in rare::ROWS {
            assert!(next_output(row, 0).1, "{}", row.name);
        }
    }
}
