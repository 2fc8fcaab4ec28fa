//! Prints the request and its reply for `-g` and `-p`.

use super::settings::Look;
use crate::caller::Caller;
use crate::witness::Witness;
use brunt_wire::tls::Handshake;
use brunt_wire::{Prepared, ReplyDetails};
use std::sync::Arc;

/// The witness that prints an exchange.
pub struct ReplyPrinter(pub Look, pub Arc<Caller>);

impl Witness for ReplyPrinter {
    fn on_handshake(&self, _: &Handshake) {}

    fn needs_heads(&self) -> bool {
        true
    }

    fn on_reply(&self, request: &Prepared, details: &ReplyDetails) {
        let head = details
            .first_bytes
            .windows(4)
            .position(|part| part == b"\r\n\r\n")
            .map_or(details.first_bytes.len(), |position| position + 4);
        let reply = match self.0 {
            Look::Heads => &details.first_bytes[..head],
            Look::Page => &details.body[..],
        };
        let text = [&request.bytes()[..], b"\n", reply, b"\n"].concat();
        self.1.out_bytes(&text);
    }
}
