//! Lists the `--hostile` rows of HTTP/3 (RFC 9114), QPACK (RFC 9204) and QUIC (RFC 9000 and 9001).
//!
//! | module | contents |
//! |---|---|
//! | [`streams`] | unidirectional streams, settings, frames of the control stream |
//! | [`replies`] | frames on a request's stream, messages and their fields |
//! | [`qpack`] | header blocks, and instructions of QPACK |
//! | [`ends`] | resets and closes, with each code |
//! | [`packets`] | packets that no QUIC library sends |
//! | [`offers`] | the offer before there is a connection |
//! | [`rare`] | rows that break no rule |

pub mod ends;
pub mod offers;
pub mod packets;
pub mod qpack;
pub mod rare;
pub mod replies;
pub mod streams;

use crate::hostile::{HostileReply, HostileRow, Trigger};
pub use offers::Offer;
pub use packets::DatagramExchange;

use super::qpack::encode as block;
use super::{StreamEnd, number, put_frame, put_number};

/// Creates a row of bytes on streams.
const fn row_at(
    trigger: Trigger,
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http3RowOutput),
) -> HostileRow {
    HostileRow { name, section, text, trigger, writer: HostileReply::Http3(write) }
}

/// Creates a row that replaces a reply.
const fn row(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http3RowOutput),
) -> HostileRow {
    row_at(Trigger::Request, name, section, text, write)
}

/// Creates a row that is sent endlessly.
const fn endless(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http3RowOutput),
) -> HostileRow {
    row_at(Trigger::Endless, name, section, text, write)
}

/// Creates a row that replaces the control stream with SETTINGS.
const fn greeting(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http3RowOutput),
) -> HostileRow {
    row_at(Trigger::Greeting, name, section, text, write)
}

/// Returns all rows for HTTP/3.
pub fn rows() -> impl Iterator<Item = &'static HostileRow> {
    let streams = streams::ROWS.iter().chain(replies::ROWS).chain(qpack::ROWS).chain(ends::ROWS);
    streams.chain(packets::ROWS).chain(offers::ROWS).chain(rare::ROWS)
}

/// Output of a row on a connection.
#[derive(Debug, Default)]
pub struct Http3RowOutput {
    /// Number of the request's stream.
    pub stream: u64,
    /// Number of times that the row was sent on this connection before.
    pub round: u32,
    /// Bytes for the request's stream.
    pub out: Vec<u8>,
    /// End of that stream. None ends it if it has bytes.
    pub end: Option<StreamEnd>,
    /// Bytes for the control stream.
    pub control: Vec<u8>,
    /// End of the control stream.
    pub control_end: StreamEnd,
    /// Further unidirectional streams: their bytes and ends.
    pub opened: Vec<(Vec<u8>, StreamEnd)>,
    /// Code of a `STOP_SENDING` for the request's stream.
    pub stop: Option<u32>,
    /// Code of a `STOP_SENDING` for the client's control stream.
    pub stop_control: Option<u32>,
    /// Code with which the connection is closed.
    pub close: Option<u32>,
    /// True if the row contains a complete reply.
    pub is_reply: bool,
}

/// Body of the replies.
const BODY: &[u8] = b"abcdefghij";

/// Pseudo-header field of a correct reply.
const OK: (&str, &str) = (":status", "200");

impl Http3RowOutput {
    /// Appends a frame to the request's stream.
    pub fn frame(&mut self, kind: u64, payload: &[u8]) {
        put_frame(&mut self.out, kind, payload);
    }

    /// Appends HEADERS with this block.
    pub fn block(&mut self, block: &[u8]) {
        self.frame(number::HEADERS, block);
    }

    /// Appends HEADERS with these fields.
    pub fn head(&mut self, fields: &[(&str, &str)]) {
        self.block(&block(fields));
    }

    /// Appends a DATA frame.
    pub fn data(&mut self, data: &[u8]) {
        self.frame(number::DATA, data);
    }

    /// Appends a complete reply with these fields in its head.
    pub fn fields(&mut self, fields: &[(&str, &str)]) {
        self.head(fields);
        self.data(BODY);
    }

    /// Appends a complete and correct reply.
    pub fn reply(&mut self) {
        self.fields(&[OK]);
        self.is_reply = true;
    }

    /// Appends a frame to the control stream.
    pub fn control_frame(&mut self, kind: u64, payload: &[u8]) {
        put_frame(&mut self.control, kind, payload);
    }

    /// Begins the control stream with these frames.
    pub fn greet(&mut self, frames: &[(u64, &[u8])]) {
        self.control.push(0);
        for (kind, payload) in frames {
            self.control_frame(*kind, payload);
        }
    }

    /// Opens a unidirectional stream with these first bytes.
    pub fn open(&mut self, bytes: &[u8]) {
        self.opened.push((bytes.to_vec(), StreamEnd::Open));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_output(row: &HostileRow, round: u32) -> Option<Http3RowOutput> {
        let HostileReply::Http3(write) = row.writer else { return None };
        let mut output = Http3RowOutput { round, ..Http3RowOutput::default() };
        write(&mut output);
        Some(output)
    }

    #[test]
    fn rows_have_a_description_and_endless_ones_end_nothing() {
        assert!(rows().count() >= 60, "{}", rows().count());
        for (row, output) in rows().filter_map(|row| Some((row, next_output(row, 1)?))) {
            let is_said =
                !(output.out.is_empty() && output.control.is_empty() && output.opened.is_empty());
            let is_ended = output.end.is_some()
                || output.close.is_some()
                || output.control_end != StreamEnd::Open;
            assert!(
                is_said
                    || is_ended
                    || output.stop_control.is_some()
                    || row.name == "h3-rare-no-control",
                "{}",
                row.name
            );
            assert!(
                row.trigger != Trigger::Endless || !(output.is_reply || is_ended),
                "{}",
                row.name
            );
            assert_eq!(
                output.is_reply,
                row.name.contains("-rare-") && row.trigger != Trigger::Greeting,
                "{}",
                row.name
            );
        }
    }
}
