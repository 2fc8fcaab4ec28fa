//! Writes header blocks of hostile rows: literals only (RFC 7541, sections 5 and 6.2.2).
//!
//! The crate `h2` makes the blocks of the correct server, and reads those of clients.

/// Appends a number after the bits `pattern` of its first byte.
pub fn put_number(out: &mut Vec<u8>, pattern: u8, prefix: u32, value: usize) {
    // Numbers from the maximum on continue in groups of 7 bits (RFC 7541, section 5.1).
    let max = (1usize << prefix) - 1;
    if value < max {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | max as u8);
    let mut remaining = value - max;
    while remaining >= 0x80 {
        out.push(remaining as u8 | 0x80);
        remaining >>= 7;
    }
    out.push(remaining as u8);
}

/// Appends a string without the Huffman code.
pub fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, 0, 7, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends a literal field that is not entered in the dynamic table.
pub fn put_field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(0);
    put_string(out, name.as_bytes());
    put_string(out, value.as_bytes());
}

/// `every byte: éÿ~{}|^<>` in the Huffman code (RFC 7541, appendix B).
pub const EVERY_BYTE_CODED: [u8; 32] = [
    0x2f, 0x72, 0xd9, 0xe9, 0x48, 0xfd, 0x24, 0xb7, 0x14, 0xff, 0xfe, 0x3f, 0xff, 0xee, 0xff, 0xff,
    0x1f, 0xff, 0xfe, 0x3f, 0xfd, 0xff, 0xfd, 0xff, 0xef, 0xfc, 0xff, 0xf3, 0xff, 0xe7, 0xfd, 0xff,
];

/// Returns a header block of these fields.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        put_field(&mut block, name, value);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_appendix_c_1() {
        for (prefix, value, expected) in
            [(5, 10, &[0x0a][..]), (5, 1337, &[0x1f, 0x9a, 0x0a]), (8, 42, &[0x2a])]
        {
            let mut out = Vec::new();
            put_number(&mut out, 0, prefix, value);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn another_decoder_reads_the_fields() {
        let long = "x".repeat(300);
        let fields = [(":status", "200"), ("content-length", "10"), ("x-a", ""), ("x-b", &long)];
        let decoded = fluke_hpack::Decoder::new().decode(&block(&fields)).unwrap();
        let expected =
            fields.map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        assert_eq!(decoded, expected);
    }
}
