//! Lists the rows that change the offer before there is a connection:
//! transport parameters and ALPN.

use std::time::Duration;

use quinn_proto::{TransportConfig, VarInt};

use crate::hostile::{HostileReply, HostileRow, Trigger};

/// The server's offer to QUIC clients.
pub struct Offer<'a> {
    /// Transport parameters that the server offers.
    pub transport: &'a mut TransportConfig,
    /// Protocols offered by ALPN.
    pub alpn: &'a mut Vec<Vec<u8>>,
}

impl std::fmt::Debug for Offer<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Offer").field("alpn", &self.alpn).finish_non_exhaustive()
    }
}

const fn offer(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    make: fn(&mut Offer),
) -> HostileRow {
    HostileRow { name, section, text, trigger: Trigger::Setup, writer: HostileReply::Setup(make) }
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    offer("h3-alpn-h2", "9001 8.1", "h2 as the only protocol by ALPN", |offer| {
        *offer.alpn = vec![b"h2".to_vec()];
    }),
    offer("h3-alpn-draft", "9114 3.1", "a draft of HTTP/3 as the only protocol by ALPN", |offer| {
        *offer.alpn = vec![b"h3-29".to_vec()];
    }),
    offer(
        "h3-no-request-stream",
        "9114 6.1",
        "transport parameters that allow no request",
        |offer| {
            offer.transport.max_concurrent_bidi_streams(VarInt::from_u32(0));
        },
    ),
    offer(
        "h3-no-control-stream",
        "9114 6.2",
        "transport parameters that allow no control stream",
        |offer| {
            offer.transport.max_concurrent_uni_streams(VarInt::from_u32(0));
        },
    ),
    offer(
        "h3-no-stream-data",
        "9000 4.1",
        "transport parameters that allow 0 bytes a stream",
        |offer| {
            offer.transport.stream_receive_window(VarInt::from_u32(0));
        },
    ),
    offer(
        "h3-no-data",
        "9000 4.1",
        "transport parameters that allow 0 bytes a connection",
        |offer| {
            offer.transport.receive_window(VarInt::from_u32(0));
        },
    ),
    offer(
        "h3-idle-timeout",
        "9000 10.1",
        "an idle timeout of 50 ms, and no request stream",
        |offer| {
            offer.transport.max_concurrent_bidi_streams(VarInt::from_u32(0));
            offer.transport.max_idle_timeout(Duration::from_millis(50).try_into().ok());
        },
    ),
];
