//! Header compression (RFC 9204) without a dynamic table, kept apart from the load generator's.

use crate::h2::huffman;

/// The static table (RFC 9204, appendix A).
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

/// What a block without a dynamic table begins with.
pub const PREFIX: [u8; 2] = [0, 0];

/// The longest string.
const LONGEST: u64 = 64 * 1024;

/// Hands over the fields of a block, in order.
///
/// # Errors
///
/// Why the block is none.
pub fn decode(block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), &'static str> {
    let mut rest = block;
    if integer(&mut rest, 8)? != 0 || integer(&mut rest, 7)? != 0 {
        return Err("a field block that needs a dynamic table");
    }
    let (mut name, mut value) = (Vec::new(), Vec::new());
    while let Some(&first) = rest.first() {
        name.clear();
        value.clear();
        match first {
            0xc0.. => {
                let entry = entry(integer(&mut rest, 6)?)?;
                field(entry.0.as_bytes(), entry.1.as_bytes());
                continue;
            }
            0x50..0x60 | 0x70..0x80 => name.extend_from_slice(entry(integer(&mut rest, 4)?)?.0.as_bytes()),
            0x20..0x40 => string(&mut rest, 3, &mut name)?,
            _ => return Err("a field line that needs a dynamic table"),
        }
        string(&mut rest, 7, &mut value)?;
        field(&name, &value);
    }
    Ok(())
}

/// Appends a field.
pub fn put_field(out: &mut Vec<u8>, name: &str, value: &str) {
    if let Some(place) = STATIC.iter().position(|field| *field == (name, value)) {
        return put_integer(out, 0xc0, 6, place);
    }
    if let Some(place) = STATIC.iter().position(|field| field.0 == name) {
        put_integer(out, 0x50, 4, place);
    } else {
        put_integer(out, 0x20, 3, name.len());
        out.extend_from_slice(name.as_bytes());
    }
    put_integer(out, 0, 7, value.len());
    out.extend_from_slice(value.as_bytes());
}

fn entry(index: u64) -> Result<(&'static str, &'static str), &'static str> {
    let entry = usize::try_from(index).ok().and_then(|index| STATIC.get(index));
    entry.copied().ok_or("an index beyond the static table")
}

/// A string whose length has so many bits in its first byte; the bit above them tells of Huffman codes.
fn string(rest: &mut &[u8], bits: u32, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let is_huffman = rest.first().is_some_and(|first| first >> bits & 1 == 1);
    let length = integer(rest, bits)?;
    let text =
        usize::try_from(length).ok().filter(|_| length <= LONGEST).and_then(|length| rest.split_at_checked(length));
    let (text, more) = text.ok_or("a string that is longer than its block")?;
    *rest = more;
    if is_huffman {
        return huffman::decode(text, out);
    }
    out.extend_from_slice(text);
    Ok(())
}

fn integer(rest: &mut &[u8], bits: u32) -> Result<u64, &'static str> {
    const SHORT: &str = "a field block that ends early";
    let most = (1u64 << bits) - 1;
    let (&first, mut more) = rest.split_first().ok_or(SHORT)?;
    let mut value = u64::from(first) & most;
    let mut shift = 0;
    let mut goes_on = value == most;
    while goes_on {
        let (&byte, after) = more.split_first().ok_or(SHORT)?;
        if shift > 28 {
            return Err("a number that is too long");
        }
        (value, shift, more) = (value + (u64::from(byte & 0x7f) << shift), shift + 7, after);
        goes_on = byte & 0x80 != 0;
    }
    *rest = more;
    Ok(value)
}

fn put_integer(out: &mut Vec<u8>, pattern: u8, bits: u32, value: usize) {
    let most = (1usize << bits) - 1;
    if value < most {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | most as u8);
    let mut left = value - most;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(block: &[u8]) -> Result<String, &'static str> {
        let mut text = Vec::new();
        decode(block, |name, value| text.extend([name, b"=", value, b";"].concat()))?;
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn the_block_of_the_standard() {
        // RFC 9204, appendix B.1.
        assert_eq!(decoded(b"\x00\x00\x51\x0b/index.html"), Ok(":path=/index.html;".to_owned()));
    }

    #[test]
    fn fields_come_back() {
        let mut block = PREFIX.to_vec();
        for (name, value) in
            [(":status", "200"), (":status", "418"), ("server", "brunt-lab"), ("x-long", &"v".repeat(300))]
        {
            put_field(&mut block, name, value);
        }
        assert_eq!(block[2], 0xd9, "index 25");
        let expected = format!(":status=200;:status=418;server=brunt-lab;x-long={};", "v".repeat(300));
        assert_eq!(decoded(&block), Ok(expected));
    }

    #[test]
    fn blocks_that_need_a_dynamic_table_or_end_early_are_refused() {
        for (block, said) in [
            (&b"\x01\0"[..], "dynamic"),
            (b"\0\0\x80", "dynamic"),
            (b"\0\0\xff\x40", "beyond"),
            (b"\0", "early"),
            (b"\0\0\x51\x05/", "longer"),
        ] {
            assert!(decoded(block).unwrap_err().contains(said), "{block:?}");
        }
    }
}
