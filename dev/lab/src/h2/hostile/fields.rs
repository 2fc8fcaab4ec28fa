//! Rows about header compression and messages.

use super::{HostileRow, Http2RowOutput, Trigger, block, row_at};
use crate::h2::frame::{flag, kind};

const fn row(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    row_at(Trigger::Request, name, section, text, write)
}

const fn endless(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    row_at(Trigger::Endless, name, section, text, write)
}

const OK: (&str, &str) = (":status", "200");

/// Appends HEADERS with status 200 and this raw field.
fn raw_field(output: &mut Http2RowOutput, field: &[u8]) {
    // RFC 7541, appendix A: index 8 of the static table is `:status: 200`.
    output.block(&[&[0x88], field].concat());
    output.last_data(b"data");
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    row("hpack-number-too-large", "7541 5.1", "an index of more than 32 bits", |s| {
        s.block(&[0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    }),
    row("hpack-number-cut", "7541 5.1", "a header block that ends within a number", |s| {
        s.block(&[0x88, 0xff]);
    }),
    row("hpack-string-cut", "7541 5.2", "a string longer than its header block", |s| {
        s.block(&[0x88, 0x00, 0x7f, 0x10, b'a']);
    }),
    row("hpack-huffman-padding", "7541 5.2", "a Huffman string whose padding is zeros", |s| {
        // `0x0f, 39` is a literal with the name of index 54, `server`.
        s.block(&[0x88, 0x0f, 39, 0x81, 0x00]);
    }),
    row(
        "hpack-huffman-padding-long",
        "7541 5.2",
        "a Huffman string with a whole byte of padding",
        |s| {
            s.block(&[0x88, 0x0f, 39, 0x82, 0x07, 0xff]);
        },
    ),
    row("hpack-huffman-eos", "7541 5.2", "a Huffman string that contains EOS", |s| {
        s.block(&[0x88, 0x0f, 39, 0x84, 0xff, 0xff, 0xff, 0xff]);
    }),
    row("hpack-index-0", "7541 6.1", "index 0 of the header table", |s| s.block(&[0x88, 0x80])),
    row("hpack-index-beyond", "7541 2.3.3", "an index beyond the header table", |s| {
        s.block(&[0x88, 0xff, 0x7f]);
    }),
    row(
        "hpack-name-beyond",
        "7541 2.3.3",
        "a literal whose name has an index beyond the header table",
        |s| {
            s.block(&[0x88, 0x7f, 0x7f, 1, b'a']);
        },
    ),
    row(
        "hpack-table-too-large",
        "7541 6.3",
        "a table size update beyond SETTINGS_HEADER_TABLE_SIZE",
        |s| {
            s.block(&[0x3f, 0xe1, 0xff, 0xff, 0x03, 0x88]);
        },
    ),
    row("hpack-table-update-late", "7541 4.2", "a table size update after a field", |s| {
        s.block(&[0x88, 0x20]);
    }),
    row("hpack-bomb", "9113 10.5.1", "an entry of 3900 bytes that is named 12000 times", |s| {
        let long = "a".repeat(3900);
        // `0x40` enters the field in the table; `0xbe` is index 62, the newest entry.
        let entry = [&[0x88, 0x40, 1, b'x', 0x7f, 0xbd, 0x1d][..], long.as_bytes()].concat();
        s.block(&[&entry[..], &[0xbe; 12_000]].concat());
    }),
    row("status-missing", "9113 8.3.2", "HEADERS without :status", |s| {
        s.fields(&[("server", "lab")]);
    }),
    row("head-empty", "9113 8.3.2", "HEADERS without any field", |s| s.fields(&[])),
    row("status-twice", "9113 8.3", ":status twice", |s| s.fields(&[OK, OK])),
    row("status-no-number", "9113 8.3.2", "a :status that is no number", |s| {
        s.fields(&[(":status", "abc")]);
    }),
    row("status-four-digits", "9113 8.3.2", "a :status of four digits", |s| {
        s.fields(&[(":status", "2000")]);
    }),
    row("status-101", "9113 8.6", "status 101", |s| s.fields(&[(":status", "101")])),
    row("pseudo-after-field", "9113 8.3", ":status after another field", |s| {
        s.fields(&[("server", "lab"), OK]);
    }),
    row("pseudo-unknown", "9113 8.3", "a pseudo-header field that does not exist", |s| {
        s.fields(&[OK, (":lab", "a")]);
    }),
    row("pseudo-of-request", "9113 8.3", ":path in a reply", |s| s.fields(&[OK, (":path", "/")])),
    row("name-upper-case", "9113 8.2.1", "a field name in upper case", |s| {
        s.fields(&[OK, ("X-Lab", "a")]);
    }),
    row("name-empty", "9113 8.2.1", "a field without a name", |s| raw_field(s, &[0, 0, 1, b'a'])),
    row("name-with-space", "9113 8.2.1", "a field name with a space", |s| {
        s.fields(&[OK, ("x lab", "a")]);
    }),
    row("name-with-colon", "9113 8.2.1", "a field name with a colon", |s| {
        s.fields(&[OK, ("x:lab", "a")]);
    }),
    row("value-with-newline", "9113 8.2.1", "a field value with CR and LF", |s| {
        s.fields(&[OK, ("x-lab", "a\r\nb: c")]);
    }),
    row("value-with-nul", "9113 8.2.1", "a field value with NUL", |s| {
        s.fields(&[OK, ("x-lab", "a\0b")]);
    }),
    row("field-connection", "9113 8.2.2", "the field connection", |s| {
        s.fields(&[OK, ("connection", "close")]);
    }),
    row("field-keep-alive", "9113 8.2.2", "the field keep-alive", |s| {
        s.fields(&[OK, ("keep-alive", "timeout=5")]);
    }),
    row("field-transfer-encoding", "9113 8.2.2", "the field transfer-encoding", |s| {
        s.fields(&[OK, ("transfer-encoding", "chunked")]);
    }),
    row("body-too-short", "9113 8.1.1", "fewer bytes than content-length", |s| {
        s.fields(&[OK, ("content-length", "11")]);
    }),
    row("body-too-long", "9113 8.1.1", "more bytes than content-length", |s| {
        s.fields(&[OK, ("content-length", "9")]);
    }),
    row("body-missing", "9113 8.1.1", "content-length and END_STREAM in HEADERS", |s| {
        let block = block(&[OK, ("content-length", "10")]);
        s.frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, s.stream, &block);
    }),
    row("content-length-no-number", "9113 8.1.1", "a content-length that is no number", |s| {
        s.fields(&[OK, ("content-length", "ten")]);
    }),
    row("content-length-twice", "9113 8.1.1", "two content-lengths that differ", |s| {
        s.fields(&[OK, ("content-length", "10"), ("content-length", "11")]);
    }),
    row("data-before-headers", "9113 8.1", "DATA before HEADERS", |s| s.last_data(b"data")),
    row("data-after-interim", "9113 8.1", "DATA after 103, without a final status", |s| {
        s.fields(&[(":status", "103")]);
    }),
    row("interim-ends", "9113 8.1", "status 103 with END_STREAM", |s| {
        let block = block(&[(":status", "103")]);
        s.frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, s.stream, &block);
    }),
    endless("interim-endless", "9113 10.5", "status 103 without end", |s| {
        s.head(&[(":status", "103")]);
    }),
    row("trailers-status", "9113 8.1", ":status in trailers", |s| {
        s.good_head();
        s.frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, s.stream, &block(&[OK]));
    }),
    row("trailers-without-end", "9113 8.1", "trailers without END_STREAM", |s| {
        s.good_head();
        s.frame(kind::DATA, 0, s.stream, b"data");
        s.head(&[("x-lab", "a")]);
    }),
];
