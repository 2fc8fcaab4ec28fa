//! QUIC facts about a server: its versions and transport settings.

/// The transport parameters of a server that matter to a load generator (RFC 9000 section 18.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportSettings {
    /// Time without packets after which it closes a connection, in milliseconds; 0: never.
    pub idle_timeout_ms: u64,
    /// Largest UDP payload that it accepts, in bytes.
    pub max_udp_payload: u64,
    /// Bytes that may be sent on all streams of a connection before it grants more.
    pub connection_window: u64,
    /// Bytes of one request that may be sent before it grants more.
    pub stream_window: u64,
    /// Number of requests that may be started before it grants more.
    pub streams: u64,
    /// Maximum delay of its acknowledgments, in milliseconds.
    pub max_ack_delay_ms: u64,
    /// True if a connection may move to another local address
    /// or port (no `disable_active_migration`).
    pub allows_migration: bool,
}

impl Default for TransportSettings {
    /// Returns the values that apply if a server sends no parameters.
    fn default() -> Self {
        Self {
            idle_timeout_ms: 0,
            max_udp_payload: 65527,
            connection_window: 0,
            stream_window: 0,
            streams: 0,
            max_ack_delay_ms: 25,
            allows_migration: true,
        }
    }
}

/// Returns the name of a QUIC version: `v1`, `v2`, `draft-29`, `reserved`, or its number.
pub fn version_name(version: u32) -> String {
    match version {
        1 => "v1".to_owned(),
        0x6b33_43cf => "v2".to_owned(),
        0x709a_50c4 => "draft-v2".to_owned(),
        0xff00_0000..=0xff00_ffff => format!("draft-{}", version & 0xffff),
        _ if version & 0x0f0f_0f0f == 0x0a0a_0a0a => "reserved".to_owned(),
        _ => format!("{version:#010x}"),
    }
}

/// Returns the names of versions, without those that are reserved for exercising negotiation
/// (RFC 9000 section 15).
pub fn version_names(versions: &[u32]) -> Vec<String> {
    versions
        .iter()
        .map(|version| version_name(*version))
        .filter(|name| name != "reserved")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_the_names_of_their_standards() {
        let versions = [1, 0x6b33_43cf, 0xff00_001d, 0x5130_3530, 0x0a1a_2a3a, 0xfafa_fafa];
        assert_eq!(version_names(&versions), ["v1", "v2", "draft-29", "0x51303530"]);
    }
}
