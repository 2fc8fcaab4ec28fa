//! Tests chunked bodies (RFC 9112 section 7.1): unusual sizes, extensions, trailers, and missing
//! parts.

use super::row::{Row, cut_off, kept, malformed, stalled};
use super::script::Step;
use std::time::Duration;

pub fn rows() -> Vec<Row> {
    [good(), bad(), endless()].concat()
}

/// Returns a reply with this chunked body.
fn chunked(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
}

fn good() -> Vec<Row> {
    let zeros = "0".repeat(1000);
    vec![
        kept("an empty chunked body", chunked("0\r\n\r\n")).body(""),
        kept("three chunks", chunked("2\r\nhe\r\n1\r\nl\r\n2\r\nlo\r\n0\r\n\r\n")).body("hello"),
        kept("1000 chunks of a byte", chunked(&("1\r\nx\r\n".repeat(1000) + "0\r\n\r\n"))),
        kept("chunk extensions", chunked("2;a=b;c\r\nhe\r\n3;d=\"e;f\"\r\nllo\r\n0;z\r\n\r\n")).body("hello"),
        kept("a chunk extension behind blanks", chunked("5 ; a = b\r\nhello\r\n0\r\n\r\n")).body("hello"),
        kept("a chunk size in lower case", chunked("a\r\nhellohello\r\n0\r\n\r\n")).body("hellohello"),
        kept("a chunk size in upper case", chunked("A\r\nhellohello\r\n0\r\n\r\n")).body("hellohello"),
        kept("a chunk size with zeros before", chunked("00000000000000000005\r\nhello\r\n00\r\n\r\n")).body("hello"),
        kept("a chunk size with 1000 zeros before", chunked(&format!("{zeros}5\r\nhello\r\n0\r\n\r\n"))).body("hello"),
        kept("a chunk size filled with blanks", chunked("5     \r\nhello\r\n0  \r\n\r\n")).body("hello"),
        kept("chunk lines that end with line feeds", chunked("5\nhello\n0\n\n")).body("hello"),
        kept("chunk data like the last chunk", chunked("5\r\n0\r\n\r\n\r\n0\r\n\r\n")),
        kept("trailers", chunked("5\r\nhello\r\n0\r\nDigest: x\r\nServer-Timing: y\r\n\r\n")).body("hello"),
        kept("a trailer that is no field", chunked("5\r\nhello\r\n0\r\nhello\r\n\r\n")).body("hello"),
        kept("a Content-Length in a trailer", chunked("5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n")).body("hello"),
    ]
}

fn bad() -> Vec<Row> {
    vec![
        malformed("a chunk size of 65 bits", chunked("10000000000000000\r\nhello\r\n")),
        malformed("a chunk size that is not hexadecimal", chunked("xyz\r\nhello\r\n")),
        malformed("a chunk size with 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n")),
        malformed("a chunk size -5", chunked("-5\r\nhello\r\n0\r\n\r\n")),
        malformed("a chunk size +5", chunked("+5\r\nhello\r\n0\r\n\r\n")),
        malformed("a blank before a chunk size", chunked(" 5\r\nhello\r\n0\r\n\r\n")),
        malformed("two chunk sizes in a line", chunked("5 5\r\nhello\r\n0\r\n\r\n")),
        malformed("no chunk size", chunked("\r\nhello\r\n0\r\n\r\n")),
        malformed("an extension without a chunk size", chunked(";a=b\r\nhello\r\n0\r\n\r\n")),
        malformed("no line end behind a chunk", chunked("5\r\nhello0\r\n\r\n")),
        malformed("a chunk that is too long", chunked("3\r\nhello\r\n0\r\n\r\n")),
        malformed("a chunk line that ends with a carriage return", chunked("5\rhello\r0\r\r")),
        cut_off("the end instead of the last chunk", chunked("5\r\nhello\r\n")),
        cut_off("the end in a chunk size", chunked("5")),
        cut_off("the end in a chunk", chunked("5\r\nhel")),
        cut_off("the end behind the last chunk", chunked("5\r\nhello\r\n0\r\n")),
        cut_off("the end in a trailer", chunked("5\r\nhello\r\n0\r\nDigest: x")),
        cut_off("a chunk of 2^64 - 1 bytes", chunked("ffffffffffffffff\r\nhello")),
        stalled("nothing instead of the last chunk", chunked("5\r\nhello\r\n")),
        stalled("nothing behind the last chunk", chunked("5\r\nhello\r\n0\r\n")),
        stalled("a chunk of 2^63 bytes, then nothing", chunked("8000000000000000\r\nhello")),
    ]
}

fn endless() -> Vec<Row> {
    let flood = |name, first: &str, then: &[u8]| {
        let steps =
            vec![Step::Request, Step::Send(chunked(first).into()), Step::Endless(then.to_vec(), Duration::ZERO)];
        Row::new(name, steps).fails(&["protocol"]).with("--timeout 5s")
    };
    vec![
        flood("trailers without end", "0\r\n", b"X-Trailer: hello\r\n"),
        flood("a trailer without end", "0\r\nX: ", b"hello"),
        flood("a chunk extension without end", "5;", b"hello"),
        flood("a chunk size without end", "", b"00000000"),
    ]
}
