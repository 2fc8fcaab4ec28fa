//! Implements `--hostile NAME`: sends bytes instead of a reply that break a rule, or keep to it
//! in a rare way.
//!
//! Each row of the tables is one of them, with its RFC section. A client must report a failure
//! for each row that breaks a rule, and must accept rows with `rare-` in their name as
//! replies. The rows are in [`crate::h2::hostile`], `h3::hostile` (names that begin with
//! `h3-`) and [`crate::websocket::hostile`] (`ws-`).

use crate::h2;
use crate::websocket;

/// Maximum number of bytes that an endless row sends on a connection.
// A client that detects nothing must not receive bytes without end.
pub const MAX_FLOOD: u64 = 64 << 20;

/// A row of the table.
#[derive(Debug)]
pub struct HostileRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Section of the RFC.
    pub section: &'static str,
    /// Description of the bytes.
    pub text: &'static str,
    /// When the row is sent.
    pub trigger: Trigger,
    /// Function that writes the row.
    pub writer: HostileReply,
}

/// When a row is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// Before there is a connection: the row changes the server's offer.
    Setup,
    /// When a packet of a client is received, instead of QUIC's response or before it.
    Packet,
    /// Instead of the server's first bytes: SETTINGS, or the response to a WebSocket handshake.
    Greeting,
    /// When the head of a request is received, with or without a body to follow.
    Head,
    /// When a request is complete.
    Request,
    /// When a request is complete, and again whenever it has left, endlessly.
    Endless,
}

/// Function that writes a row, by protocol.
#[derive(Debug, Clone, Copy)]
pub enum HostileReply {
    /// Writes frames of HTTP/2.
    Http2(fn(&mut h2::hostile::Http2RowOutput)),
    /// Writes bytes on streams of HTTP/3.
    #[cfg(feature = "http3")]
    Http3(fn(&mut crate::h3::hostile::Http3RowOutput)),
    /// Writes packets of QUIC.
    #[cfg(feature = "http3")]
    Packets(fn(&mut crate::h3::hostile::DatagramExchange)),
    /// Changes the offer to QUIC clients.
    #[cfg(feature = "http3")]
    Setup(fn(&mut crate::h3::hostile::Offer)),
    /// Writes frames of a WebSocket.
    WebSocket(fn(&mut websocket::hostile::WebSocketRowOutput)),
}

/// Parsed value of `--hostile`.
#[derive(Debug, Clone, Copy)]
pub enum Hostile {
    /// Prints the table of rows and exits.
    List,
    /// Sends this row to clients.
    Row(&'static HostileRow),
}

impl Hostile {
    /// Parses the name of a row, or `list`.
    ///
    /// # Errors
    ///
    /// If there is no such row.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "list" {
            return Ok(Self::List);
        }
        let row = rows().find(|row| row.name == text);
        row.map(Self::Row).ok_or_else(|| {
            format!("`{text}` is not in the list; print it with: brunt-lab --hostile list")
        })
    }

    /// Returns the row, if one was named.
    pub fn row(self) -> Option<&'static HostileRow> {
        match self {
            Self::List => None,
            Self::Row(row) => Some(row),
        }
    }
}

impl HostileRow {
    /// True if the row is sent on HTTP/3 connections.
    pub fn is_of_http3(&self) -> bool {
        !matches!(self.writer, HostileReply::Http2(_) | HostileReply::WebSocket(_))
    }
}

/// Returns the rows of all protocols.
pub fn rows() -> impl Iterator<Item = &'static HostileRow> {
    let rows = h2::hostile::rows();
    #[cfg(feature = "http3")]
    let rows = rows.chain(crate::h3::hostile::rows());
    rows.chain(websocket::hostile::ROWS)
}

/// Returns the table as text, one row per line.
pub fn table() -> String {
    let lines = rows().map(|row| format!("{:<32} {:<12} {}\n", row.name, row.section, row.text));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_have_distinct_names_and_a_section() {
        let names: BTreeSet<&str> = rows().map(|row| row.name).collect();
        assert_eq!((names.len(), table().lines().count()), (rows().count(), rows().count()));
        for row in rows() {
            let (rfc, section) = row.section.split_once(' ').unwrap();
            let known = ["9113", "7541", "9110", "9114", "9204", "9000", "9001", "6455", "7692"];
            assert!(
                known.contains(&rfc) && section.starts_with(|digit: char| digit.is_ascii_digit()),
                "{}",
                row.name
            );
            let prefix = match row.writer {
                HostileReply::Http2(_) => "",
                HostileReply::WebSocket(_) => "ws-",
                #[cfg(feature = "http3")]
                _ => "h3-",
            };
            assert!(row.name.starts_with(prefix) && !row.text.is_empty(), "{}", row.name);
        }
    }
}
