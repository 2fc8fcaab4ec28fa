//! The Huffman code of HPACK (RFC 7541, section 5.2 and appendix B).
//!
//! The code is canonical, so its lengths say all: codes of one length follow each other in the order of their symbols,
//! and each length goes on where the shorter ones ended.

use std::sync::LazyLock;

/// The length of each symbol's code in bits; the last symbol is EOS.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20,
    22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28,
    27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28,
    27, 27, 27, 27, 27, 26, 30,
];

/// The end of a string, which must not be coded.
const EOS: u16 = 256;

const LONGEST: usize = 30;

/// The codes of one length.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// The first code.
    first: u32,
    /// How many there are.
    count: u32,
    /// Where their symbols begin in [`Table::symbols`].
    at: usize,
}

#[derive(Debug)]
struct Table {
    groups: [Group; LONGEST + 1],
    symbols: Vec<u16>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (mut groups, mut symbols) = ([Group::default(); LONGEST + 1], Vec::with_capacity(LENGTHS.len()));
    let mut code = 0;
    for (length, group) in groups.iter_mut().enumerate() {
        code <<= 1;
        let at = symbols.len();
        symbols.extend((0..=EOS).filter(|&symbol| usize::from(LENGTHS[usize::from(symbol)]) == length));
        *group = Group { first: code, count: (symbols.len() - at) as u32, at };
        code += group.count;
    }
    Table { groups, symbols }
});

/// Appends the decoded string to `out`.
///
/// # Errors
///
/// If EOS is coded, or the padding is not the start of EOS or a byte and more.
pub fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let table = &*TABLE;
    let (mut code, mut length) = (0u32, 0usize);
    for byte in bytes {
        for bit in (0..8).rev() {
            code = code << 1 | u32::from(byte >> bit & 1);
            length += 1;
            let Some(group) = table.groups.get(length) else { return Err("a Huffman code that does not exist") };
            let place = code.wrapping_sub(group.first);
            if place < group.count {
                let symbol = table.symbols[group.at + place as usize];
                let Ok(symbol) = u8::try_from(symbol) else { return Err("a Huffman string with EOS") };
                out.push(symbol);
                (code, length) = (0, 0);
            }
        }
    }
    match length {
        8.. => Err("Huffman padding of a byte and more"),
        _ if code != (1 << length) - 1 => Err("Huffman padding that is not the start of EOS"),
        _ => Ok(()),
    }
}

/// Appends the code of `bytes` to `out`.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let (mut held, mut count) = (0u64, 0);
    for &byte in bytes {
        let length = usize::from(LENGTHS[usize::from(byte)]);
        let group = &TABLE.groups[length];
        let symbols = &TABLE.symbols[group.at..group.at + group.count as usize];
        let place = symbols.iter().position(|&symbol| symbol == u16::from(byte)).unwrap_or(0);
        held = held << length | u64::from(group.first + place as u32);
        count += length;
        while count >= 8 {
            count -= 8;
            out.push((held >> count) as u8);
        }
    }
    if count > 0 {
        out.push((held << (8 - count)) as u8 | (0xff >> count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Result<String, &'static str> {
        let mut out = Vec::new();
        decode(bytes, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_code_is_complete() {
        let sum: u64 = LENGTHS.iter().map(|&length| 1u64 << (LONGEST - usize::from(length))).sum();
        assert_eq!(sum, 1 << LONGEST, "Kraft's sum");
        let eos = &TABLE.groups[LONGEST];
        assert_eq!((TABLE.symbols[TABLE.symbols.len() - 1], eos.first + eos.count - 1), (EOS, 0x3fff_ffff));
    }

    #[test]
    fn the_strings_of_appendix_c() {
        for (hex, text) in [
            (&[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..], "www.example.com"),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f], "custom-key"),
            (&[0x64, 0x02], "302"),
            (&[0xae, 0xc3, 0x77, 0x1a, 0x4b], "private"),
        ] {
            assert_eq!(decoded(hex).as_deref(), Ok(text));
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            assert_eq!(out, hex);
        }
    }

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        let (mut coded, mut out) = (Vec::new(), Vec::new());
        encode(&all, &mut coded);
        decode(&coded, &mut out).unwrap();
        assert_eq!(out, all);
    }

    #[test]
    fn wrong_ends_are_refused() {
        // `0` is 00000, then padding.
        assert_eq!(decoded(&[0b0000_0111]).as_deref(), Ok("0"));
        assert!(decoded(&[0b0000_0000]).is_err() && decoded(&[0b0000_0110]).is_err());
        assert!(decoded(&[0b0000_0111, 0xff]).unwrap_err().contains("a byte and more"));
        assert!(decoded(&[0xff, 0xff, 0xff, 0xff]).unwrap_err().contains("EOS"));
    }
}
