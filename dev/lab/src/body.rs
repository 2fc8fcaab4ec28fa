//! Reads request bodies: counts `Content-Length` bytes and decodes chunks.
//! Only `--echo` stores them.

use crate::request::MalformedRequest;

/// Maximum number of body bytes that `--echo` stores.
const MAX_ECHO: usize = 64 << 20;

/// Maximum number of digits of a chunk size, so that it fits into 64 bits.
const MAX_DIGITS: u8 = 15;

/// The part of a body that has not arrived yet.
#[derive(Debug, PartialEq, Eq)]
pub enum UnreadBody {
    /// There is no body.
    Absent,
    /// This number of bytes.
    Counted(u64),
    /// Chunks (RFC 9112, section 7.1).
    Chunked(Chunk),
}

/// Position of the next byte in the chunked coding.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunk {
    /// In the digits of a size: the value and the number of digits so far.
    Size(u64, u8),
    /// Between the digits and the end of their line.
    Extension(u64),
    /// In the data, with this number of remaining bytes.
    Data(u64),
    /// In the line end after the data.
    DataEnd,
    /// In the trailer. True if the current line is empty so far.
    Trailer(bool),
}

impl UnreadBody {
    /// Creates a chunked body at its start.
    pub fn chunked() -> Self {
        Self::Chunked(Chunk::Size(0, 0))
    }

    /// Takes the bytes of this body from `input`, and appends them to `echo`. Returns true once
    /// the body is complete.
    ///
    /// # Errors
    ///
    /// [`MalformedRequest`] if the framing is wrong.
    pub fn take(
        &mut self,
        input: &mut &[u8],
        mut echo: Option<&mut Vec<u8>>,
    ) -> Result<bool, MalformedRequest> {
        match self {
            Self::Absent => Ok(true),
            Self::Counted(remaining) => {
                take_data(remaining, input, echo)?;
                Ok(*remaining == 0)
            }
            Self::Chunked(chunk) => {
                while !input.is_empty() {
                    if let Chunk::Data(remaining) = chunk {
                        take_data(remaining, input, echo.as_deref_mut())?;
                        if *remaining == 0 {
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
    /// Takes one byte of the framing. Returns true after the last byte of the body.
    fn advance(&mut self, byte: u8, input: &mut &[u8]) -> Result<bool, MalformedRequest> {
        *input = &input[1..];
        *self = match *self {
            Self::Size(size, digits) => match (byte as char).to_digit(16) {
                Some(digit) if digits < MAX_DIGITS => {
                    Self::Size(size * 16 + u64::from(digit), digits + 1)
                }
                None if digits > 0 => Self::after_size_line(size, byte),
                _ => return Err(MalformedRequest("a bad chunk size")),
            },
            Self::Extension(size) => Self::after_size_line(size, byte),
            // `take` reads the data itself.
            Self::Data(remaining) => Self::Data(remaining),
            Self::DataEnd => match byte {
                b'\r' => Self::DataEnd,
                b'\n' => Self::Size(0, 0),
                _ => return Err(MalformedRequest("a chunk longer than its size")),
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

fn take_data(
    remaining: &mut u64,
    input: &mut &[u8],
    echo: Option<&mut Vec<u8>>,
) -> Result<(), MalformedRequest> {
    let count = (*remaining).min(input.len() as u64);
    let (data, rest) = input.split_at(count as usize);
    if let Some(echo) = echo {
        if echo.len() + data.len() > MAX_ECHO {
            return Err(MalformedRequest("a body too long to echo"));
        }
        echo.extend_from_slice(data);
    }
    *remaining -= count;
    *input = rest;
    Ok(())
}
