//! Compresses messages to a server that agreed on `permessage-deflate` (RFC 7692 section 7.2.1).

use super::agreement::MessageCompression;
use super::frames;
use super::inflate::MESSAGE_END;
use brunt_model::Body;
use flate2::{Compress, FlushCompress, Status};

/// Compresses each message separately. Keeps the last one, because most plans send
/// the same message again.
pub struct Deflater {
    compress: Compress,
    /// Window of the server, in bytes. No reference reaches further back.
    window: usize,
    /// The last message.
    last: Vec<u8>,
    /// The compressed payload of the last message.
    packed: Vec<u8>,
    frame: Vec<u8>,
    /// Number of frames so far. Each frame needs a different mask.
    count: u64,
}

impl Deflater {
    /// Creates a compressor for the negotiated parameters.
    pub fn new(compression: MessageCompression) -> Self {
        Self {
            compress: Compress::new(flate2::Compression::default(), false),
            window: 1 << compression.window_bits,
            last: Vec::new(),
            packed: Vec::new(),
            frame: Vec::new(),
            count: 0,
        }
    }

    /// Returns the compressed frame of a message. None if the body cannot be compressed.
    pub fn frame(&mut self, body: &Body) -> Option<&[u8]> {
        let (opcode, message) = frames::payload(body)?;
        self.deflate(message)?;
        self.count += 1;
        self.frame.clear();
        frames::put_frame(&mut self.frame, opcode | frames::COMPRESSED, &self.packed, self.count);
        Some(&self.frame)
    }

    /// Returns the compressed payload of a message. None if compression failed.
    fn deflate(&mut self, message: &[u8]) -> Option<&[u8]> {
        if self.packed.is_empty() || self.last != message {
            self.packed.clear();
            self.pack(message)?;
            self.last.clear();
            self.last.extend_from_slice(message);
        }
        Some(&self.packed)
    }

    /// Compresses a message. The compressor's window is at least 32 KiB, so for a smaller one it is
    /// flushed after each window.
    fn pack(&mut self, message: &[u8]) -> Option<()> {
        self.compress.reset();
        let mut pieces = message.chunks(self.window).peekable();
        loop {
            let piece = pieces.next().unwrap_or_default();
            let is_last = pieces.peek().is_none();
            self.pack_piece(
                piece,
                if is_last { FlushCompress::Sync } else { FlushCompress::Full },
            )?;
            if is_last {
                break;
            }
        }
        self.packed
            .ends_with(&MESSAGE_END)
            .then(|| self.packed.truncate(self.packed.len() - MESSAGE_END.len()))?;
        if self.packed.is_empty() {
            // An empty message is an empty block (RFC 7692 section 7.2.3.6).
            self.packed.push(0);
        }
        Some(())
    }

    fn pack_piece(&mut self, mut piece: &[u8], flush: FlushCompress) -> Option<()> {
        loop {
            self.packed.reserve(piece.len() / 2 + 64);
            let consumed_before = self.compress.total_in();
            let status = self.compress.compress_vec(piece, &mut self.packed, flush).ok()?;
            piece = &piece[(self.compress.total_in() - consumed_before) as usize..];
            let has_room = self.packed.len() < self.packed.capacity();
            if piece.is_empty() && (has_room || status == Status::BufError) {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::DeflateDecoder;
    use proptest::prelude::*;
    use std::io::Write;

    fn inflated(packed: &[u8]) -> Vec<u8> {
        let mut decoder = DeflateDecoder::new(Vec::new());
        decoder.write_all(packed).unwrap();
        decoder.write_all(&MESSAGE_END).unwrap();
        decoder.finish().unwrap()
    }

    #[test]
    fn no_reference_exceeds_the_window() {
        // Marsaglia's xorshift: its output contains no repetitions.
        let mut state = 0x9e37_79b9_u32;
        let noise = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as u8
        });
        let once: Vec<u8> = noise.take(700).collect();
        let packed = |bits| {
            let message = once.repeat(4);
            let packed =
                Deflater::new(MessageCompression { window_bits: bits, keeps_context: false })
                    .deflate(&message)
                    .unwrap()
                    .to_vec();
            assert_eq!(inflated(&packed), message);
            packed.len()
        };
        assert!(packed(10) < 2300, "a window of 1024 bytes reaches to the same bytes before");
        assert!(packed(9) > 2700, "that of 512 does not");
    }

    #[test]
    fn the_messages_of_the_standard() {
        let mut deflater =
            Deflater::new(MessageCompression { window_bits: 15, keeps_context: false });
        // The message of RFC 7692 section 7.2.3.1 as a fixed block, and the empty
        // message of section 7.2.3.6.
        assert_eq!(deflater.deflate(b"Hello").unwrap(), [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
        assert_eq!(inflated(deflater.deflate(b"").unwrap()), b"");
        let again = deflater.deflate(b"Hello").unwrap().to_vec();
        assert_eq!(again, deflater.deflate(b"Hello").unwrap(), "it depends on no message before");
    }

    proptest! {
        #[test]
        fn compressed_messages_are_decompressed(word: Vec<u8>, times in 0_usize..2000, bits in 8_u8..16) {
            let message = word.repeat(times);
            let mut deflater =
                Deflater::new(MessageCompression { window_bits: bits, keeps_context: false });
            for _ in 0..2 {
                let packed = deflater.deflate(&message).unwrap();
                prop_assert_eq!(&inflated(packed), &message);
            }
        }
    }
}
