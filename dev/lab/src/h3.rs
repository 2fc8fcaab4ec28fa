//! Serves HTTP/3 (RFC 9114): QUIC by `quinn-proto`, header compression by the crate `qpack`,
//! frames by this module.
//!
//! It uses a UDP socket in the same event loop. [`crate::planner`] plans the replies, as for
//! TCP. Replies leave when they are due, in any order between streams. It does not check
//! all rules for clients.
//!
//! | module | contents |
//! |---|---|
//! | `qpack`, `fields` | header blocks, and requests from them |
//! | `carrier` | one connection and its streams |
//! | `endpoint` | the socket, the connections, packets |
//! | `serve` | its part of the event loop |
//! | [`hostile`], `perform` | bytes that break rules on request |

mod carrier;
mod endpoint;
mod fields;
pub mod hostile;
mod perform;
mod qpack;
mod serve;

pub(crate) use endpoint::Http3;

use std::rc::Rc;

use crate::args::LabOptions;
use crate::h2::reply::Http2Replies;

/// Bit of a generation that distinguishes QUIC connections from TCP connections.
pub(crate) const IS_QUIC: u32 = 1 << 31;

/// Numbers of the standard: frames, streams, errors (RFC 9114, sections 6.2, 7.2 and 8.1).
mod number {
    pub(super) const DATA: u64 = 0;
    pub(super) const HEADERS: u64 = 1;
    pub(super) const SETTINGS: u64 = 4;
    pub(super) const GOAWAY: u64 = 7;
    /// A control stream with empty SETTINGS.
    pub(super) const CONTROL: &[u8] = &[0, 4, 0];
    pub(super) const NO_ERROR: u32 = 0x100;
    pub(super) const INTERNAL_ERROR: u32 = 0x102;
    pub(super) const EXCESSIVE_LOAD: u32 = 0x107;
    pub(super) const REQUEST_REJECTED: u32 = 0x10b;
    pub(super) const MESSAGE_ERROR: u32 = 0x10e;
}

/// End of a stream after its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamEnd {
    /// The stream stays open.
    #[default]
    Open,
    /// It ends with its last byte.
    Finished,
    /// It is reset with this code.
    Reset(u32),
}

/// Creates replies with header blocks of HTTP/3.
pub(crate) fn replies(options: &LabOptions) -> Http2Replies<Rc<[u8]>> {
    Http2Replies::of(options, qpack::encode)
}

/// Appends a QUIC number (RFC 9000, section 16).
fn put_number(out: &mut Vec<u8>, number: u64) {
    match number {
        0..0x40 => out.push(number as u8),
        0x40..0x4000 => out.extend_from_slice(&(number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(number as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

fn put_frame(out: &mut Vec<u8>, kind: u64, payload: &[u8]) {
    put_number(out, kind);
    put_number(out, payload.len() as u64);
    out.extend_from_slice(payload);
}

/// Removes the number at the start of `rest`, and returns it.
fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let length = 1usize << (rest.first()? >> 6);
    let (number, more) = rest.split_at_checked(length)?;
    *rest = more;
    let all = number.iter().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
    Some(all & (u64::MAX >> (66 - 8 * length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_standard() {
        for (bytes, number) in [
            (&[0x25][..], 37),
            (&[0x7b, 0xbd], 15_293),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        ] {
            let mut out = Vec::new();
            put_number(&mut out, number);
            assert_eq!((&out[..], take_number(&mut &bytes[..])), (bytes, Some(number)));
        }
        assert_eq!(take_number(&mut &[0x7b][..]), None);
    }
}
