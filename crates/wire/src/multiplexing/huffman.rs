//! Encodes and decodes the Huffman code of HPACK (RFC 7541 section 5.2).
//!
//! The code is canonical: the lengths in appendix B determine it.

use std::sync::LazyLock;

/// Code length of each byte and of the end of a string, in bits.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const END: u16 = 256;
const MAX_LENGTH: usize = 30;

static CODE: LazyLock<Code> = LazyLock::new(Code::new);

/// The bytes are not valid in this code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadHuffman;

struct Code {
    /// Code of each byte.
    codes: [u32; 257],
    /// Symbols in the order of their codes.
    symbols: Vec<u16>,
    /// For each length: the first code, and the index of its symbol.
    firsts: [(u32, u16); MAX_LENGTH + 2],
}

impl Code {
    fn new() -> Self {
        let mut symbols: Vec<u16> = (0..=END).collect();
        symbols.sort_by_key(|symbol| (LENGTHS[usize::from(*symbol)], *symbol));
        let mut codes = [0; 257];
        let mut firsts = [(0, 0); MAX_LENGTH + 2];
        let mut code = 0_u32;
        let mut place = 0_usize;
        for (length, first) in firsts.iter_mut().enumerate().skip(1) {
            code <<= 1;
            *first = (code, place as u16);
            while place < symbols.len()
                && usize::from(LENGTHS[usize::from(symbols[place])]) == length
            {
                codes[usize::from(symbols[place])] = code;
                code += 1;
                place += 1;
            }
        }
        Self { codes, symbols, firsts }
    }

    /// Returns the symbol with this code, if the code is complete.
    fn symbol(&self, code: u32, length: usize) -> Option<u16> {
        let (first, place) = self.firsts[length];
        let count = self.firsts[length + 1].1 - place;
        let offset = code.checked_sub(first).filter(|offset| *offset < u32::from(count))?;
        Some(self.symbols[usize::from(place) + offset as usize])
    }
}

/// Returns the length of the encoded text, in bytes.
pub fn encoded_length(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum::<usize>().div_ceil(8)
}

/// Appends the encoded text.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    let code = &*CODE;
    let mut bits = 0_u64;
    let mut pending = 0_u32;
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(code.codes[usize::from(*byte)]);
        pending += length;
        while pending >= 8 {
            pending -= 8;
            out.push((bits >> pending) as u8);
        }
    }
    if pending > 0 {
        // The last byte is padded with the first bits of the end's code, which are ones.
        out.push((bits << (8 - pending)) as u8 | (0xff >> pending) as u8);
    }
}

/// Appends the decoded text.
///
/// # Errors
///
/// If the text contains the end's code, or if its padding is not fewer than eight ones.
pub fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), BadHuffman> {
    let code = &*CODE;
    let mut bits = 0_u32;
    let mut length = 0;
    for byte in bytes {
        for shift in (0..8).rev() {
            bits = bits << 1 | u32::from(byte >> shift & 1);
            length += 1;
            if length > MAX_LENGTH {
                return Err(BadHuffman);
            }
            match code.symbol(bits, length) {
                Some(END) => return Err(BadHuffman),
                Some(symbol) => {
                    out.push(symbol as u8);
                    bits = 0;
                    length = 0;
                }
                None => {}
            }
        }
    }
    if length < 8 && bits == (1 << length) - 1 { Ok(()) } else { Err(BadHuffman) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(text, &mut out);
        assert_eq!(out.len(), encoded_length(text));
        out
    }

    fn decoded(bytes: &[u8]) -> Result<Vec<u8>, BadHuffman> {
        let mut out = Vec::new();
        decode(bytes, &mut out).map(|()| out)
    }

    #[test]
    fn texts_of_the_standard_are_encoded_as_in_it() {
        assert_eq!(
            encoded(b"www.example.com"),
            b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"
        );
        assert_eq!(encoded(b"no-cache"), b"\xa8\xeb\x10\x64\x9c\xbf");
        let date = b"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff";
        assert_eq!(encoded(b"Mon, 21 Oct 2013 20:13:21 GMT"), date);
    }

    #[test]
    fn the_code_is_complete() {
        let sum: u64 = LENGTHS.iter().map(|length| 1 << (MAX_LENGTH - usize::from(*length))).sum();
        assert_eq!(sum, 1 << MAX_LENGTH);
    }

    #[test]
    fn invalid_padding_is_refused() {
        assert_eq!(decoded(b"\xff\xff\xff\xff"), Err(BadHuffman), "the end's code");
        assert_eq!(decoded(b"\x1f\xff"), Err(BadHuffman), "a byte of padding");
        assert_eq!(decoded(b"\x18"), Err(BadHuffman), "padding with zeros");
        assert_eq!(decoded(b"\x1f"), Ok(b"a".to_vec()));
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip(text: Vec<u8>) {
            prop_assert_eq!(decoded(&encoded(&text)), Ok(text));
        }

        #[test]
        fn any_bits_are_decoded_or_refused(bytes: Vec<u8>) {
            if let Ok(text) = decoded(&bytes) {
                prop_assert_eq!(encoded(&text), bytes);
            }
        }
    }
}
