//! Lists the rows about header blocks, and instructions on the streams of QPACK.

use super::{BODY, Http3RowOutput, row};
use crate::hostile::HostileRow;

/// Appends HEADERS with status 200 and these raw field lines, then a body.
fn lines(s: &mut Http3RowOutput, lines: &[u8]) {
    block(s, &[&[0, 0, 0xd9], lines].concat());
}

fn block(s: &mut Http3RowOutput, block: &[u8]) {
    s.block(block);
    s.data(BODY);
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    row("h3-qpack-block-empty", "9204 4.5.1", "a header block of no bytes", |s| block(s, &[])),
    row("h3-qpack-prefix-cut", "9204 4.5.1", "a header block that ends within its prefix", |s| {
        block(s, &[0]);
    }),
    row(
        "h3-qpack-required-insert-count",
        "9204 4.5.1.1",
        "a block that needs an entry of the dynamic table",
        |s| {
            block(s, &[2, 0, 0x80]);
        },
    ),
    row(
        "h3-qpack-insert-count-too-large",
        "9204 4.5.1.1",
        "a required insert count of more than 32 bits",
        |s| {
            block(s, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0xd9]);
        },
    ),
    row("h3-qpack-index-beyond", "9204 3.1", "an index beyond the static table", |s| {
        lines(s, &[0xff, 36]);
    }),
    row(
        "h3-qpack-name-beyond",
        "9204 4.5.4",
        "a literal whose name has an index beyond the static table",
        |s| {
            lines(s, &[0x5f, 100, 1, b'a']);
        },
    ),
    row(
        "h3-qpack-dynamic-index",
        "9204 4.5.2",
        "an index of the dynamic table, which has no room",
        |s| {
            lines(s, &[0x80]);
        },
    ),
    row(
        "h3-qpack-post-base-index",
        "9204 4.5.3",
        "an index of the dynamic table behind the base",
        |s| {
            lines(s, &[0x10]);
        },
    ),
    row("h3-qpack-dynamic-name", "9204 4.5.4", "a name of the dynamic table", |s| {
        lines(s, &[0x40, 1, b'a']);
    }),
    row(
        "h3-qpack-post-base-name",
        "9204 4.5.5",
        "a name of the dynamic table behind the base",
        |s| {
            lines(s, &[0, 1, b'a']);
        },
    ),
    row("h3-qpack-number-too-large", "9204 4.1.1", "an index of more than 62 bits", |s| {
        lines(s, &[&[0xff][..], &[0xff; 10], &[0x7f]].concat());
    }),
    row("h3-qpack-number-cut", "9204 4.1.1", "a block that ends within a number", |s| {
        lines(s, &[0xff]);
    }),
    row("h3-qpack-string-cut", "9204 4.1.2", "a string longer than its block", |s| {
        lines(s, &[0x21, b'x', 0x7e, b'a']);
    }),
    row("h3-qpack-value-missing", "9204 4.5.6", "a name, and the end of the block", |s| {
        lines(s, &[0x21, b'x']);
    }),
    row("h3-qpack-huffman-padding", "7541 5.2", "a Huffman string whose padding is zeros", |s| {
        lines(s, &[0x21, b'x', 0x81, 0x00]);
    }),
    row(
        "h3-qpack-huffman-padding-long",
        "7541 5.2",
        "a Huffman string with a whole byte of padding",
        |s| {
            lines(s, &[0x21, b'x', 0x82, 0x07, 0xff]);
        },
    ),
    row("h3-qpack-huffman-eos", "7541 5.2", "a Huffman string that contains EOS", |s| {
        lines(s, &[0x21, b'x', 0x84, 0xff, 0xff, 0xff, 0xff]);
    }),
    row(
        "h3-qpack-capacity",
        "9204 4.3.1",
        "an encoder stream that sets a capacity above the client's limit",
        |s| {
            s.open(&[2, 0x3f, 0xe1, 0x1f]);
        },
    ),
    row(
        "h3-qpack-insert-name",
        "9204 4.3.2",
        "an encoder stream that inserts by a name of the static table",
        |s| {
            s.open(&[2, 0xc1, 1, b'a']);
        },
    ),
    row("h3-qpack-insert-literal", "9204 4.3.3", "an encoder stream that inserts a literal", |s| {
        s.open(&[2, 0x41, b'x', 1, b'a']);
    }),
    row(
        "h3-qpack-duplicate",
        "9204 4.3.4",
        "an encoder stream that duplicates an entry that is not there",
        |s| {
            s.open(&[2, 0]);
        },
    ),
    row(
        "h3-qpack-acknowledgment",
        "9204 4.4.1",
        "a decoder stream that acknowledges a block without entries",
        |s| {
            s.open(&[3, 0x80]);
        },
    ),
    row(
        "h3-qpack-increment-0",
        "9204 4.4.3",
        "a decoder stream that raises the insert count by 0",
        |s| {
            s.open(&[3, 0]);
        },
    ),
    row(
        "h3-qpack-increment",
        "9204 4.4.3",
        "a decoder stream that counts entries that were not sent",
        |s| {
            s.open(&[3, 5]);
        },
    ),
];
