//! What `--hostile NAME` says in place of an answer: short sequences of frames that break a rule, or keep to it in a way
//! that is rare.
//!
//! Each row of the tables is one of them, with the section of RFC 9113 (HTTP/2) or RFC 7541 (HPACK) that it is about. A
//! client must tell each that breaks a rule by a failure, and must take those of [`rare`] as replies.

pub mod fields;
pub mod frames;
pub mod rare;

use super::frame::{self, Code, flag, kind};
use super::hpack::put_field;

/// The most bytes that a row which never ends sends on a connection.
pub const MOST_FLOOD: u64 = 64 << 20;

/// One entry of the list.
#[derive(Debug)]
pub struct Row {
    /// What the command line calls it.
    pub name: &'static str,
    /// The section of the RFC.
    pub section: &'static str,
    /// What is sent.
    pub text: &'static str,
    /// When it is sent.
    pub when: When,
    /// Sends it.
    pub say: fn(&mut Stage),
}

/// When a row is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// In place of the SETTINGS with which a server begins.
    Greeting,
    /// When the head of a request is there, whether or not a body is to come.
    Head,
    /// When a request is complete.
    Request,
    /// When a request is complete, and again whenever it has left, without end.
    Endless,
}

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    frames::ROWS.iter().chain(fields::ROWS).chain(rare::ROWS)
}

/// The table as text: a line each.
pub fn table() -> String {
    let lines = rows().map(|row| format!("{:<28} {:<12} {}\n", row.name, row.section, row.text));
    lines.collect()
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

/// A header block of fields.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        put_field(&mut block, name, value);
    }
    block
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_have_names_of_their_own_and_say_something() {
        let names: BTreeSet<&str> = rows().map(|row| row.name).collect();
        assert_eq!(names.len(), rows().count());
        assert!(frames::ROWS.len() + fields::ROWS.len() >= 40);
        for row in rows() {
            let (mut first, mut out) = (Vec::new(), Vec::new());
            let sections = row.section.split_once(' ').unwrap();
            assert!(["9113", "7541", "9110"].contains(&sections.0), "{}", row.name);
            for (round, bytes) in [(0, &mut first), (1, &mut out)] {
                let mut stage = Stage { out: bytes, stream: 1, round, replied: false, closing: false };
                (row.say)(&mut stage);
                assert!(row.when != When::Endless || !(stage.replied || stage.closing), "{}", row.name);
            }
            let silent = row.name == "headers-before-settings";
            assert!(silent || !out.is_empty(), "{}", row.name);
        }
        assert_eq!(table().lines().count(), names.len());
    }

    #[test]
    fn rare_rows_reply() {
        for row in rare::ROWS {
            let mut out = Vec::new();
            let mut stage = Stage { out: &mut out, stream: 1, round: 0, replied: false, closing: false };
            (row.say)(&mut stage);
            assert!(stage.replied, "{}", row.name);
        }
    }
}
