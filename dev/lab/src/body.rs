//! Request bodies: counting off `Content-Length` bytes and decoding chunks, without keeping what nobody wants.

use crate::request::Malformed;

/// The most bytes of a body that `--echo` keeps.
const MOST_KEPT: usize = 64 << 20;

/// The most digits of a chunk size, so that it fits 64 bits.
const MOST_DIGITS: u8 = 15;

/// What of a body is still to come.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    Absent,
    /// This many bytes.
    Counted(u64),
    /// Chunks (RFC 9112, section 7.1).
    Chunked(Chunk),
}

/// Where in the chunked coding the next byte is.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunk {
    /// In the digits of a size: the value and the number of digits so far.
    Size(u64, u8),
    /// Between the digits and the end of their line.
    Extension(u64),
    /// In the data, with this many bytes to come.
    Data(u64),
    /// In the line end after the data.
    DataEnd,
    /// In the trailer; the flag says whether the line is empty so far.
    Trailer(bool),
}

impl Body {
    /// A chunked body at its start.
    pub fn chunked() -> Self {
        Self::Chunked(Chunk::Size(0, 0))
    }

    /// Takes from `input` what belongs to this body, into `kept` if wanted; true once the body is complete.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if its framing is wrong.
    pub fn take(&mut self, input: &mut &[u8], mut kept: Option<&mut Vec<u8>>) -> Result<bool, Malformed> {
        match self {
            Self::Absent => Ok(true),
            Self::Counted(left) => {
                take_data(left, input, kept)?;
                Ok(*left == 0)
            }
            Self::Chunked(chunk) => {
                while !input.is_empty() {
                    if let Chunk::Data(left) = chunk {
                        take_data(left, input, kept.as_deref_mut())?;
                        if *left == 0 {
                            *chunk = Chunk::DataEnd;
                        }
                    } else if chunk.advance(input[0], input)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

impl Chunk {
    /// Takes one byte of the coding's own; true after the last.
    fn advance(&mut self, byte: u8, input: &mut &[u8]) -> Result<bool, Malformed> {
        *input = &input[1..];
        *self = match *self {
            Self::Size(size, digits) => match (byte as char).to_digit(16) {
                Some(digit) if digits < MOST_DIGITS => Self::Size(size * 16 + u64::from(digit), digits + 1),
                None if digits > 0 => Self::after_size_line(size, byte),
                _ => return Err(Malformed("a bad chunk size")),
            },
            Self::Extension(size) => Self::after_size_line(size, byte),
            Self::Data(left) => Self::Data(left),
            Self::DataEnd => match byte {
                b'\r' => Self::DataEnd,
                b'\n' => Self::Size(0, 0),
                _ => return Err(Malformed("a chunk longer than its size")),
            },
            Self::Trailer(true) if byte == b'\n' => return Ok(true),
            Self::Trailer(empty) => Self::Trailer(byte == b'\n' || (empty && byte == b'\r')),
        };
        Ok(false)
    }

    fn after_size_line(size: u64, byte: u8) -> Self {
        match (byte, size) {
            (b'\n', 0) => Self::Trailer(true),
            (b'\n', _) => Self::Data(size),
            _ => Self::Extension(size),
        }
    }
}

fn take_data(left: &mut u64, input: &mut &[u8], kept: Option<&mut Vec<u8>>) -> Result<(), Malformed> {
    let count = (*left).min(input.len() as u64);
    let (data, rest) = input.split_at(count as usize);
    if let Some(kept) = kept {
        if kept.len() + data.len() > MOST_KEPT {
            return Err(Malformed("a body too long to echo"));
        }
        kept.extend_from_slice(data);
    }
    *left -= count;
    *input = rest;
    Ok(())
}
