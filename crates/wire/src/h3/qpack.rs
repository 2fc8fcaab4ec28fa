//! Compresses and decompresses header fields (RFC 9204) without a dynamic table: with the static
//! table, literals and Huffman codes.
//!
//! This client's table has no room, so a server cannot refer to it, and this client inserts nothing
//! into the server's table. A block therefore depends only on its fields: equal requests have equal
//! bytes on every connection.

use crate::multiplexing::field_block::{BadBlock, integer, put_integer, put_text, text};
use crate::request::fields::{HeaderField, Indexing};

/// The static table (RFC 9204 appendix A). The first field has index 0.
#[rustfmt::skip]
const STATIC: [(&str, &str); 99] = [
    (":authority", ""),
    (":path", "/"),
    ("age", "0"),
    ("content-disposition", ""),
    ("content-length", "0"),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("referer", ""),
    ("set-cookie", ""),
    (":method", "CONNECT"),
    (":method", "DELETE"),
    (":method", "GET"),
    (":method", "HEAD"),
    (":method", "OPTIONS"),
    (":method", "POST"),
    (":method", "PUT"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "103"),
    (":status", "200"),
    (":status", "304"),
    (":status", "404"),
    (":status", "503"),
    ("accept", "*/*"),
    ("accept", "application/dns-message"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-ranges", "bytes"),
    ("access-control-allow-headers", "cache-control"),
    ("access-control-allow-headers", "content-type"),
    ("access-control-allow-origin", "*"),
    ("cache-control", "max-age=0"),
    ("cache-control", "max-age=2592000"),
    ("cache-control", "max-age=604800"),
    ("cache-control", "no-cache"),
    ("cache-control", "no-store"),
    ("cache-control", "public, max-age=31536000"),
    ("content-encoding", "br"),
    ("content-encoding", "gzip"),
    ("content-type", "application/dns-message"),
    ("content-type", "application/javascript"),
    ("content-type", "application/json"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("content-type", "image/gif"),
    ("content-type", "image/jpeg"),
    ("content-type", "image/png"),
    ("content-type", "text/css"),
    ("content-type", "text/html; charset=utf-8"),
    ("content-type", "text/plain"),
    ("content-type", "text/plain;charset=utf-8"),
    ("range", "bytes=0-"),
    ("strict-transport-security", "max-age=31536000"),
    ("strict-transport-security", "max-age=31536000; includesubdomains"),
    ("strict-transport-security", "max-age=31536000; includesubdomains; preload"),
    ("vary", "accept-encoding"),
    ("vary", "origin"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
    (":status", "100"),
    (":status", "204"),
    (":status", "206"),
    (":status", "302"),
    (":status", "400"),
    (":status", "403"),
    (":status", "421"),
    (":status", "425"),
    (":status", "500"),
    ("accept-language", ""),
    ("access-control-allow-credentials", "FALSE"),
    ("access-control-allow-credentials", "TRUE"),
    ("access-control-allow-headers", "*"),
    ("access-control-allow-methods", "get"),
    ("access-control-allow-methods", "get, post, options"),
    ("access-control-allow-methods", "options"),
    ("access-control-expose-headers", "content-length"),
    ("access-control-request-headers", "content-type"),
    ("access-control-request-method", "get"),
    ("access-control-request-method", "post"),
    ("alt-svc", "clear"),
    ("authorization", ""),
    ("content-security-policy", "script-src 'none'; object-src 'none'; base-uri 'none'"),
    ("early-data", "1"),
    ("expect-ct", ""),
    ("forwarded", ""),
    ("if-range", ""),
    ("origin", ""),
    ("purpose", "prefetch"),
    ("server", ""),
    ("timing-allow-origin", "*"),
    ("upgrade-insecure-requests", "1"),
    ("user-agent", ""),
    ("x-forwarded-for", ""),
    ("x-frame-options", "deny"),
    ("x-frame-options", "sameorigin"),
];

/// Passes the fields of a block to `field`, in order: name and value.
///
/// # Errors
///
/// The error in the block. The connection is unusable afterwards.
pub fn decode(block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), BadBlock> {
    let mut rest = block;
    // Required insert count and base: without a dynamic table no insertions can be required.
    if integer(&mut rest, 8)? != 0 {
        return Err(BadBlock::Index);
    }
    integer(&mut rest, 7)?;
    let mut name = Vec::new();
    let mut value = Vec::new();
    while let Some(first) = rest.first() {
        value.clear();
        match first {
            // A field of the static table.
            0xc0.. => {
                let (name, value) = entry(integer(&mut rest, 6)?)?;
                field(name.as_bytes(), value.as_bytes());
            }
            // A name of the static table, and a literal value.
            0x50..0x60 | 0x70..0x80 => {
                let (name, _) = entry(integer(&mut rest, 4)?)?;
                text(&mut rest, 7, &mut value)?;
                field(name.as_bytes(), &value);
            }
            // A literal name and a literal value.
            0x20..0x40 => {
                name.clear();
                text(&mut rest, 3, &mut name)?;
                text(&mut rest, 7, &mut value)?;
                field(&name, &value);
            }
            // Anything else refers to the dynamic table.
            _ => return Err(BadBlock::Index),
        }
    }
    Ok(())
}

fn entry(index: usize) -> Result<(&'static str, &'static str), BadBlock> {
    STATIC.get(index).copied().ok_or(BadBlock::Index)
}

/// Appends the block of these fields.
pub fn encode<'a>(fields: impl Iterator<Item = &'a HeaderField>, out: &mut Vec<u8>) {
    // Required insert count and base: no dynamic table is used.
    out.extend_from_slice(&[0, 0]);
    for field in fields {
        put_field(field, out);
    }
}

fn put_field(field: &HeaderField, out: &mut Vec<u8>) {
    // A secret field is sent as a literal, so that no node indexes it (RFC 9204 section 4.5.4).
    let is_never = field.indexing == Indexing::Never;
    let whole =
        STATIC.iter().position(|(name, value)| **name == *field.name && **value == *field.value);
    if let Some(index) = whole.filter(|_| !is_never) {
        return put_integer(out, 0xc0, 6, index);
    }
    if let Some(index) = STATIC.iter().position(|(name, _)| **name == *field.name) {
        put_integer(out, if is_never { 0x70 } else { 0x50 }, 4, index);
    } else {
        put_text(out, if is_never { 0x30 } else { 0x20 }, 3, field.name.as_bytes());
    }
    put_text(out, 0, 7, field.value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(block: &[u8]) -> Result<Vec<(String, String)>, BadBlock> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decode(block, |name, value| fields.push((text(name), text(value))))?;
        Ok(fields)
    }

    fn field(name: &str, value: &str, indexing: Indexing) -> HeaderField {
        HeaderField { name: name.into(), value: value.into(), indexing }
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    /// RFC 9204 appendix B.1.
    #[test]
    fn the_block_of_the_standard_without_a_dynamic_table() {
        let block = b"\x00\x00\x51\x0b/index.html";
        assert_eq!(decoded(block).unwrap(), [pair(":path", "/index.html")]);
    }

    #[test]
    fn fields_use_the_static_table() {
        let fields = [
            field(":method", "GET", Indexing::Index),
            field(":scheme", "https", Indexing::Index),
            field(":path", "/", Indexing::Without),
            field("authorization", "x", Indexing::Never),
        ];
        let mut block = Vec::new();
        encode(fields.iter(), &mut block);
        assert_eq!(block, [0, 0, 0xc0 + 17, 0xc0 + 23, 0xc1, 0x7f, 84 - 15, 1, b'x']);
        let expected =
            [(":method", "GET"), (":scheme", "https"), (":path", "/"), ("authorization", "x")];
        assert_eq!(decoded(&block).unwrap(), expected.map(|(name, value)| pair(name, value)));
    }

    #[test]
    fn blocks_that_need_a_dynamic_table_or_end_early_are_refused() {
        let wrong: [(&[u8], BadBlock); 9] = [
            (b"", BadBlock::Short),
            (b"\x00", BadBlock::Short),
            (b"\x01\x00", BadBlock::Index),
            (b"\x00\x00\x80", BadBlock::Index),
            (b"\x00\x00\x10", BadBlock::Index),
            (b"\x00\x00\x40\x00", BadBlock::Index),
            (b"\x00\x00\xff\x24", BadBlock::Index),
            (b"\x00\x00\x51\x05abc", BadBlock::Short),
            (b"\x00\x00\x51\x81\x00", BadBlock::Huffman),
        ];
        for (block, cause) in wrong {
            assert_eq!(decoded(block), Err(cause), "{block:x?}");
        }
    }

    proptest! {
        #[test]
        fn encoded_fields_are_decoded(list in prop::collection::vec(("[a-z-]{1,20}", "[ -~]{0,40}"), 0..20)) {
            let fields: Vec<HeaderField> = list.iter().map(|(name, value)| field(name, value, Indexing::Index)).collect();
            let mut block = Vec::new();
            encode(fields.iter(), &mut block);
            prop_assert_eq!(decoded(&block), Ok(list));
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(block: Vec<u8>) {
            let _ = decoded(&block);
        }
    }
}
