//! Reads and writes the integers and texts in the header blocks of HPACK and QPACK
//! (RFC 7541 section 5).

use super::huffman::{self, BadHuffman};

/// Why a block cannot be decoded, with its section of RFC 7541.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadBlock {
    /// The block ends within a field.
    #[error("it ends in the middle of a field (RFC 7541 section 5)")]
    Short,
    /// An integer has more than 32 bits.
    #[error("an integer is too large (RFC 7541 section 5.1)")]
    Integer,
    /// A text has an invalid Huffman code.
    #[error("a Huffman code is wrong (RFC 7541 section 5.2)")]
    Huffman,
    /// An index is in neither table.
    #[error("an index is in neither table (RFC 7541 section 2.3.3)")]
    Index,
    /// A table size exceeds the announced one, or is not at the beginning of a block.
    #[error("a table size is too large or late (RFC 7541 section 6.3)")]
    TableSize,
}

impl From<BadHuffman> for BadBlock {
    fn from(_: BadHuffman) -> Self {
        Self::Huffman
    }
}

/// Reads an integer. `bits` of it are in the first byte.
#[inline]
pub fn integer(rest: &mut &[u8], bits: u32) -> Result<usize, BadBlock> {
    let (first, mut tail) = rest.split_first().ok_or(BadBlock::Short)?;
    let max_in_prefix = (1_usize << bits) - 1;
    let mut value = usize::from(*first) & max_in_prefix;
    if value == max_in_prefix {
        for shift in (0..).step_by(7) {
            let (byte, after) = tail.split_first().ok_or(BadBlock::Short)?;
            tail = after;
            if shift > 21 {
                return Err(BadBlock::Integer);
            }
            value += usize::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
        }
    }
    *rest = tail;
    Ok(value)
}

/// Reads a text. `bits` of its length are in the first byte, below the bit that
/// marks a Huffman code.
#[inline]
pub fn text(rest: &mut &[u8], bits: u32, out: &mut Vec<u8>) -> Result<(), BadBlock> {
    let is_huffman = rest.first().ok_or(BadBlock::Short)? & (1 << bits) != 0;
    let length = integer(rest, bits)?;
    let (bytes, after) = rest.split_at_checked(length).ok_or(BadBlock::Short)?;
    *rest = after;
    if is_huffman {
        huffman::decode(bytes, out)?;
    } else {
        out.extend_from_slice(bytes);
    }
    Ok(())
}

/// Appends an integer. `bits` of it are in the first byte, below those of `pattern`.
#[inline]
pub fn put_integer(out: &mut Vec<u8>, pattern: u8, bits: u32, value: usize) {
    let max_in_prefix = (1 << bits) - 1;
    if value < max_in_prefix {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | max_in_prefix as u8);
    let mut rest = value - max_in_prefix;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a text. `bits` of its length are in the first byte, below the bit that
/// marks a Huffman code.
#[inline]
pub fn put_text(out: &mut Vec<u8>, pattern: u8, bits: u32, text: &[u8]) {
    let length = huffman::encoded_length(text);
    if length < text.len() {
        put_integer(out, pattern | 1 << bits, bits, length);
        huffman::encode(text, out);
    } else {
        put_integer(out, pattern, bits, text.len());
        out.extend_from_slice(text);
    }
}
