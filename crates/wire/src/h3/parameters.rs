//! Reads the transport parameters of a server (RFC 9000 section 18).

use super::frame::number;
use crate::quic::TransportSettings;

const MAX_IDLE_TIMEOUT: u64 = 0x01;
const MAX_UDP_PAYLOAD_SIZE: u64 = 0x03;
const INITIAL_MAX_DATA: u64 = 0x04;
/// Applies to streams that the receiver of the parameters opens, from the sender's point of view.
const INITIAL_MAX_STREAM_DATA_BIDI_REMOTE: u64 = 0x06;
const INITIAL_MAX_STREAMS_BIDI: u64 = 0x08;
const MAX_ACK_DELAY: u64 = 0x0b;
const DISABLE_ACTIVE_MIGRATION: u64 = 0x0c;

/// Decodes transport parameters. Unknown ones are ignored.
pub fn read(mut rest: &[u8]) -> TransportSettings {
    let mut settings = TransportSettings::default();
    while let Some((name, value)) = next(&mut rest) {
        let size = number(value).map_or(0, |(size, _)| size);
        match name {
            MAX_IDLE_TIMEOUT => settings.idle_timeout_ms = size,
            MAX_UDP_PAYLOAD_SIZE => settings.max_udp_payload = size,
            INITIAL_MAX_DATA => settings.connection_window = size,
            INITIAL_MAX_STREAM_DATA_BIDI_REMOTE => settings.stream_window = size,
            INITIAL_MAX_STREAMS_BIDI => settings.streams = size,
            MAX_ACK_DELAY => settings.max_ack_delay_ms = size,
            DISABLE_ACTIVE_MIGRATION => settings.allows_migration = false,
            _ => {}
        }
    }
    settings
}

/// Returns the next parameter: its id, and the bytes of its value.
fn next<'b>(rest: &mut &'b [u8]) -> Option<(u64, &'b [u8])> {
    let (name, first) = number(rest)?;
    let (length, second) = number(rest.get(first..)?)?;
    let begin = first + second;
    let end = begin.checked_add(usize::try_from(length).ok()?)?;
    let value = rest.get(begin..end)?;
    *rest = &rest[end..];
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_read_by_their_numbers() {
        let written = [
            &[0x01, 2, 0x40, 0x64][..],   // max_idle_timeout 100
            &[0x04, 4, 0x80, 0x10, 0, 0], // initial_max_data 1 MiB
            &[0x06, 2, 0x44, 0],          // 1 kiB
            &[0x05, 1, 9],                // streams of the sender
            &[0x08, 1, 7],
            &[0x0c, 0],
            &[0x1b, 3, 1, 2, 3], // reserved
        ];
        let expected = TransportSettings {
            idle_timeout_ms: 100,
            connection_window: 1 << 20,
            stream_window: 1024,
            streams: 7,
            allows_migration: false,
            ..TransportSettings::default()
        };
        assert_eq!(read(&written.concat()), expected);
        assert_eq!(read(&[]), TransportSettings::default());
        assert_eq!(read(&[0x08, 4, 1]), TransportSettings::default(), "cut off");
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            read(&bytes);
        }
    }
}
