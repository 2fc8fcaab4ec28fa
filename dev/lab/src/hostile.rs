//! What `--hostile NAME` sends in place of an answer: bytes that break a rule, or keep to it in a way that is rare.
//!
//! Each row of the tables is one of them, with the section of the RFC that it is about. A client must tell each that breaks a
//! rule by a failure, and must take those whose name has `rare-` as replies. The rows are those of [`crate::h2::hostile`],
//! `h3::hostile` (names that begin with `h3-`) and [`crate::websocket::hostile`] (`ws-`).

use crate::h2;
use crate::websocket;

/// The most bytes that a row which never ends sends on a connection.
pub const MOST_FLOOD: u64 = 64 << 20;

/// One entry of the list.
#[derive(Debug)]
pub struct Row {
    /// What the command line calls it.
    pub name: &'static str,
    /// The section of the RFC.
    pub section: &'static str,
    /// What is sent.
    pub text: &'static str,
    /// When it is sent.
    pub when: When,
    /// Sends it.
    pub say: Say,
}

/// When a row is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before there is a connection: it changes what the server offers.
    Setup,
    /// When a packet of a client has come, in place of QUIC's answer or before it.
    Packet,
    /// In place of that with which a server begins: SETTINGS, or the answer to the handshake of a WebSocket.
    Greeting,
    /// When the head of a request is there, whether or not a body is to come.
    Head,
    /// When a request is complete.
    Request,
    /// When a request is complete, and again whenever it has left, without end.
    Endless,
}

/// What a row sends, by the protocol.
#[derive(Debug, Clone, Copy)]
pub enum Say {
    /// Frames of HTTP/2.
    Http2(fn(&mut h2::hostile::Stage)),
    /// Bytes on streams of HTTP/3.
    #[cfg(feature = "http3")]
    Http3(fn(&mut crate::h3::hostile::Stage)),
    /// Packets of QUIC.
    #[cfg(feature = "http3")]
    Packets(fn(&mut crate::h3::hostile::Exchange)),
    /// What is offered to clients of QUIC.
    #[cfg(feature = "http3")]
    Setup(fn(&mut crate::h3::hostile::Offer)),
    /// Frames of a WebSocket.
    WebSocket(fn(&mut websocket::hostile::Stage)),
}

/// What `--hostile` asks for.
#[derive(Debug, Clone, Copy)]
pub enum Hostile {
    /// Print the table.
    List,
    /// Do as this row says.
    Row(&'static Row),
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
        row.map(Self::Row)
            .ok_or_else(|| format!("`{text}` is not in the list; print it with: brunt-lab --hostile list"))
    }

    /// The row, if one was named.
    pub fn row(self) -> Option<&'static Row> {
        match self {
            Self::List => None,
            Self::Row(row) => Some(row),
        }
    }
}

impl Row {
    /// Whether it is sent on connections of HTTP/3.
    pub fn is_of_http3(&self) -> bool {
        !matches!(self.say, Say::Http2(_) | Say::WebSocket(_))
    }
}

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let rows = h2::hostile::rows();
    #[cfg(feature = "http3")]
    let rows = rows.chain(crate::h3::hostile::rows());
    rows.chain(websocket::hostile::ROWS)
}

/// The table as text: a line each.
pub fn table() -> String {
    let lines = rows().map(|row| format!("{:<32} {:<12} {}\n", row.name, row.section, row.text));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_have_names_of_their_own_and_a_section() {
        let names: BTreeSet<&str> = rows().map(|row| row.name).collect();
        assert_eq!((names.len(), table().lines().count()), (rows().count(), rows().count()));
        for row in rows() {
            let (rfc, section) = row.section.split_once(' ').unwrap();
            let known = ["9113", "7541", "9110", "9114", "9204", "9000", "9001", "6455", "7692"];
            assert!(known.contains(&rfc) && section.starts_with(|digit: char| digit.is_ascii_digit()), "{}", row.name);
            let prefix = match row.say {
                Say::Http2(_) => "",
                Say::WebSocket(_) => "ws-",
                #[cfg(feature = "http3")]
                _ => "h3-",
            };
            assert!(row.name.starts_with(prefix) && !row.text.is_empty(), "{}", row.name);
        }
    }
}
