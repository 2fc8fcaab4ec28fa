//! Versions of HTTP that brunt supports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/1.0.
    #[serde(rename = "1.0")]
    V1_0,
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
    /// HTTP/2: over TLS if the server selects it (ALPN), in cleartext with prior knowledge.
    #[serde(rename = "2")]
    V2,
    /// HTTP/3, over QUIC.
    #[serde(rename = "3")]
    V3,
}

impl HttpVersion {
    /// True if a connection can carry several requests at once.
    pub fn has_streams(self) -> bool {
        matches!(self, Self::V2 | Self::V3)
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_0 => "HTTP/1.0",
            Self::V1_1 => "HTTP/1.1",
            Self::V2 => "HTTP/2",
            Self::V3 => "HTTP/3",
        })
    }
}
