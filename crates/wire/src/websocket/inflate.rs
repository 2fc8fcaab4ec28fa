//! Decompresses the messages of a server that keeps its context between them (RFC 7692
//! section 7.2.2).

use brunt_model::outcome::MalformedReply;
use flate2::{Decompress, FlushDecompress, Status};

/// The end of a compressed message that is not sent: an empty stored block.
pub const MESSAGE_END: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes that are decompressed at once.
const INFLATED: usize = 16 * 1024;

/// Decompresses the messages of a server that keeps its context: each may refer to earlier ones, so
/// all are decompressed, in order.
#[derive(Debug)]
pub struct Inflater {
    decompress: Decompress,
    out: Vec<u8>,
}

impl Default for Inflater {
    fn default() -> Self {
        // The window of the decompressor has the maximum size.
        Self { decompress: Decompress::new(false), out: Vec::with_capacity(INFLATED) }
    }
}

impl Inflater {
    /// Decompresses a piece, and passes the result to `each` in pieces. [`MESSAGE_END`] must follow
    /// each message.
    ///
    /// # Errors
    ///
    /// If the piece is not compressed correctly.
    pub fn push(
        &mut self,
        mut piece: &[u8],
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), MalformedReply> {
        loop {
            self.out.clear();
            let consumed_before = self.decompress.total_in();
            let status =
                self.decompress.decompress_vec(piece, &mut self.out, FlushDecompress::Sync);
            let status = status.map_err(|_| MalformedReply::WebSocketDeflate)?;
            let consumed = (self.decompress.total_in() - consumed_before) as usize;
            piece = &piece[consumed..];
            if !self.out.is_empty() {
                each(&self.out);
            }
            if status == Status::StreamEnd {
                // A message may end with a final block (RFC 7692 section 7.2.3.4).
                self.decompress.reset(false);
            }
            let has_room = self.out.len() < self.out.capacity();
            if piece.is_empty() && has_room {
                return Ok(());
            }
            if consumed == 0 && self.out.is_empty() && status != Status::StreamEnd {
                return Err(MalformedReply::WebSocketDeflate);
            }
        }
    }
}
