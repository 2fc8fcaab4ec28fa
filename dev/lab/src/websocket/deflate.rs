//! Negotiates compression (`permessage-deflate`, RFC 7692), and
//! compresses and decompresses messages.
//!
//! Messages to the client are compressed independently. Those of the client may refer to earlier
//! ones, unless the negotiation forbids it.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Name of the extension.
const NAME: &str = "permessage-deflate";

/// Maximum window, as a power of two.
const MAX_BITS: u8 = 15;

/// End of a compressed message, which is not sent (section 7.2.1).
const MESSAGE_END: [u8; 4] = [0, 0, 0xff, 0xff];

/// Parameters of the client's offer.
#[derive(Debug, Default)]
struct Offer {
    no_server_context: bool,
    no_client_context: bool,
    /// Maximum window to which the client may be limited; None if the offer lacks the parameter.
    client_bits: Option<u8>,
}

/// Result of the negotiation.
#[derive(Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Value of `Sec-WebSocket-Extensions` in the response.
    pub answer: String,
}

/// Accepts the first valid offer. `bits` is the window of clients that support a limit.
pub fn agree(offers: &[u8], bits: Option<u8>) -> Option<Agreement> {
    let offers = str::from_utf8(offers).ok()?;
    let offer = offers.split(',').find_map(offer)?;
    let mut answer = NAME.to_owned();
    if offer.no_server_context {
        answer += "; server_no_context_takeover";
    }
    if offer.no_client_context {
        answer += "; client_no_context_takeover";
    }
    if let (Some(max), Some(bits)) = (offer.client_bits, bits) {
        answer += "; client_max_window_bits=";
        answer += &bits.min(max).to_string();
    }
    Some(Agreement { answer })
}

/// Parses an offer. None if it must be declined (section 7): a parameter is unknown, invalid or
/// repeated, or asks for a smaller server window.
fn offer(text: &str) -> Option<Offer> {
    let mut parts = text.split(';').map(str::trim);
    if parts.next() != Some(NAME) {
        return None;
    }
    let mut offer = Offer::default();
    let mut names = Vec::new();
    for part in parts {
        let (name, value) =
            part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
        if names.contains(&name) {
            return None;
        }
        names.push(name);
        match (name, value) {
            ("server_no_context_takeover", None) => offer.no_server_context = true,
            ("client_no_context_takeover", None) => offer.no_client_context = true,
            ("client_max_window_bits", None) => offer.client_bits = Some(MAX_BITS),
            ("client_max_window_bits", Some(value)) => offer.client_bits = Some(bits(value)?),
            ("server_max_window_bits", Some(value)) if bits(value)? == MAX_BITS => {}
            _ => return None,
        }
    }
    Some(offer)
}

fn bits(value: &str) -> Option<u8> {
    let digits = value.trim_matches('"');
    digits
        .parse()
        .ok()
        .filter(|bits| (8..=MAX_BITS).contains(bits) && !digits.starts_with(['0', '+']))
}

/// Returns the payload of a compressed message.
pub fn deflate(message: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::default(), false);
    let mut out = Vec::new();
    let mut is_over = false;
    while !is_over {
        out.reserve(message.len() / 2 + 64);
        let consumed = compress.total_in() as usize;
        let status = compress.compress_vec(&message[consumed..], &mut out, FlushCompress::Sync);
        let has_room = out.len() < out.capacity();
        is_over = !matches!(status, Ok(Status::Ok))
            || (compress.total_in() as usize == message.len() && has_room);
    }
    out.truncate(out.len() - if out.ends_with(&MESSAGE_END) { MESSAGE_END.len() } else { 0 });
    // RFC 7692, section 7.2.3.6: an empty message is a single zero byte.
    if out.is_empty() { vec![0] } else { out }
}

/// Decompresses the messages of one client.
#[derive(Debug)]
pub struct Inflater {
    decompress: Decompress,
}

impl Default for Inflater {
    fn default() -> Self {
        Self { decompress: Decompress::new(false) }
    }
}

impl Inflater {
    /// Decompresses a message of at most `most` bytes.
    pub fn inflate(&mut self, packed: &[u8], most: usize) -> Result<Vec<u8>, &'static str> {
        let packed = [packed, &MESSAGE_END].concat();
        let mut out = Vec::new();
        let mut consumed = 0;
        loop {
            out.reserve(4096);
            let before = self.decompress.total_in();
            let status = self.decompress.decompress_vec(
                &packed[consumed..],
                &mut out,
                FlushDecompress::Sync,
            );
            consumed += (self.decompress.total_in() - before) as usize;
            let status = status.map_err(|_| "a compressed message that is no DEFLATE")?;
            if out.len() > most {
                return Err("a compressed message too long to echo");
            }
            if status == Status::StreamEnd {
                // A message may end with a final block; then a new stream begins (section 7.2.3.5).
                self.decompress.reset(false);
                return Ok(out);
            }
            if consumed == packed.len() && out.len() < out.capacity() {
                return Ok(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(offers: &str, bits: Option<u8>) -> Option<String> {
        agree(offers.as_bytes(), bits).map(|agreed| agreed.answer)
    }

    #[test]
    fn the_first_acceptable_offer_is_chosen() {
        let name = || Some(NAME.to_owned());
        assert_eq!(answer("permessage-deflate,", None), name());
        assert_eq!(answer("x-other, permessage-deflate; x-odd, permessage-deflate", None), name());
        let all = "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits";
        let expected = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        assert_eq!(answer(all, None).unwrap(), expected);
        assert_eq!(answer(all, Some(9)).unwrap(), format!("{expected}; client_max_window_bits=9"));
        let eight = "permessage-deflate; client_max_window_bits=\"8\"";
        assert_eq!(answer(eight, Some(9)).unwrap(), "permessage-deflate; client_max_window_bits=8");
        assert_eq!(
            answer("permessage-deflate", Some(9)),
            name(),
            "the client did not offer to keep a window"
        );
        for refused in [
            "",
            "permessage-bzip2",
            "permessage-deflate; server_max_window_bits=10",
            "permessage-deflate; client_max_window_bits=16",
            "permessage-deflate; client_no_context_takeover=1",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        ] {
            assert_eq!(answer(refused, None), None, "{refused}");
        }
    }

    #[test]
    fn the_messages_of_the_standard() {
        // RFC 7692, sections 7.2.3.1 to 7.2.3.5.
        let mut inflater = Inflater::default();
        for packed in [
            &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..],
            &[0xf2, 0x00, 0x11, 0x00, 0x00],
            &[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
            &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
            &[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
        ] {
            assert_eq!(inflater.inflate(packed, 100).as_deref(), Ok(&b"Hello"[..]), "{packed:x?}");
        }
        assert_eq!(deflate(b"Hello"), [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
        for length in [0, 1, 100, 100_000] {
            let message = crate::reply::filler(length);
            assert_eq!(inflater.inflate(&deflate(&message), 1 << 20), Ok(message));
        }
        assert!(inflater.inflate(&[0xff, 0xff, 0xff], 100).is_err());
        assert!(Inflater::default().inflate(&deflate(&[0; 10_000]), 5000).is_err());
    }
}
