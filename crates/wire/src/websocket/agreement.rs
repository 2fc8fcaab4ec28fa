//! Checks the server's answer to a WebSocket handshake (RFC 6455 section 4.1), and
//! negotiates `permessage-deflate` (RFC 7692).

use crate::request::RequestParts;

/// The extension that compresses messages.
const DEFLATE: &str = "permessage-deflate";
/// Maximum window of DEFLATE, as a power of two.
const MAX_WINDOW_BITS: u8 = 15;

/// The offered parameters, which are those of browsers. Some servers accept no other ones. The
/// server may set a smaller window for this client's messages.
const OFFER: &str = "permessage-deflate; client_max_window_bits";

/// The negotiated compression of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageCompression {
    /// Window of messages to the server, as a power of two.
    pub window_bits: u8,
    /// True if messages of the server may refer to earlier ones (context takeover).
    pub keeps_context: bool,
}

/// True if compressed messages are accepted, as compressed replies are (`--compressed`).
fn accepts_compressed(parts: &RequestParts) -> bool {
    let mut encodings = values(&parts.headers, "accept-encoding");
    encodings.any(|value| value.contains("deflate"))
}

/// Returns the extension to offer in the request that opens a WebSocket, if any.
pub fn offer(parts: &RequestParts) -> Option<&'static str> {
    accepts_compressed(parts).then_some(OFFER)
}

/// Returns the values of the header fields with this name.
fn values<'f>(fields: &'f [(String, String)], wanted: &'f str) -> impl Iterator<Item = &'f str> {
    fields
        .iter()
        .filter(move |(name, _)| name.eq_ignore_ascii_case(wanted))
        .map(|(_, value)| value.trim())
}

/// Checks that the answer to a handshake over HTTP/1.1 accepts it. `accept` is the expected
/// answer to the key.
///
/// # Errors
///
/// The rule that the answer violates, in words.
pub fn check_answer(fields: &[(String, String)], accept: &str) -> Result<(), String> {
    let has_upgrade =
        values(fields, "upgrade").any(|value| value.eq_ignore_ascii_case("websocket"));
    if !has_upgrade {
        return Err(
            "the server's answer has no `Upgrade: websocket` (RFC 6455 section 4.1)".to_owned()
        );
    }
    let mut options = values(fields, "connection").flat_map(|value| value.split(','));
    if !options.any(|option| option.trim().eq_ignore_ascii_case("upgrade")) {
        return Err(
            "the server's answer has no `Connection: Upgrade` (RFC 6455 section 4.1)".to_owned()
        );
    }
    // The answer to the key shows that the server knows WebSocket, and that no cache answered.
    if !values(fields, "sec-websocket-accept").any(|value| value == accept) {
        return Err(
            "the server's Sec-WebSocket-Accept does not fit the key (RFC 6455 section 4.1)"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns the compression that the answer to a handshake agrees on, if any.
///
/// # Errors
///
/// The rule that the answer violates, in words.
pub fn negotiate(
    fields: &[(String, String)],
    parts: &RequestParts,
) -> Result<Option<MessageCompression>, String> {
    let mut protocols = values(fields, "sec-websocket-protocol");
    if let Some(other) = protocols.find(|protocol| !is_offered(parts, protocol)) {
        return Err(format!(
            "the server chose the subprotocol `{other}`, which was not offered (RFC 6455 section 4.1)"
        ));
    }
    let extensions = values(fields, "sec-websocket-extensions");
    let extensions: Vec<&str> = extensions.filter(|value| !value.is_empty()).collect();
    match extensions[..] {
        [] => Ok(None),
        [only] if accepts_compressed(parts) && extension(only) == DEFLATE => {
            compression(only).map(Some)
        }
        _ => {
            let all = extensions.join(", ");
            Err(format!(
                "the server wants an extension that was not offered: {all} (RFC 6455 section 9.1)"
            ))
        }
    }
}

fn is_offered(parts: &RequestParts, protocol: &str) -> bool {
    let offers = parts
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
    offers.flat_map(|(_, value)| value.split(',')).any(|offer| offer.trim() == protocol)
}

/// Returns the name of the first extension in a list.
fn extension(list: &str) -> &str {
    list.split([';', ',']).next().unwrap_or_default().trim()
}

/// Parses the parameters of `permessage-deflate` in the answer (RFC 7692 section 7.1).
fn compression(answer: &str) -> Result<MessageCompression, String> {
    parse_parameters(answer)
        .map_err(|why| format!("the server answers `{answer}`: {why} (RFC 7692 section 7.1)"))
}

fn parse_parameters(answer: &str) -> Result<MessageCompression, &'static str> {
    if answer.contains(',') {
        return Err("it may agree on the extension once");
    }
    let mut names: Vec<&str> = Vec::new();
    let mut window_bits = MAX_WINDOW_BITS;
    for parameter in answer.split(';').skip(1).map(str::trim) {
        let (name, value) = parameter
            .split_once('=')
            .map_or((parameter, None), |(name, value)| (name, Some(value)));
        if names.contains(&name) {
            return Err("a parameter is repeated");
        }
        names.push(name);
        match (name, value.and_then(window_bits_in)) {
            ("server_no_context_takeover" | "client_no_context_takeover", _) if value.is_none() => {
            }
            ("server_max_window_bits", Some(_)) => {}
            ("client_max_window_bits", Some(bits)) => window_bits = bits,
            _ => return Err("a parameter is unknown, or its value is wrong"),
        }
    }
    let keeps_context = !names.contains(&"server_no_context_takeover");
    Ok(MessageCompression { window_bits, keeps_context })
}

/// Parses a window of 8 to 15 bits, with or without quotes.
fn window_bits_in(value: &str) -> Option<u8> {
    let digits = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    // RFC 7692 section 7.1.2 forbids leading zeros, and `parse` would accept a sign.
    let is_plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|bits| is_plain && (8..=MAX_WINDOW_BITS).contains(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_standard() {
        let by_itself = "permessage-deflate; server_no_context_takeover";
        for (more, window_bits) in [
            ("", 15),
            ("; client_no_context_takeover", 15),
            ("; client_max_window_bits=9; server_max_window_bits=\"10\"", 9),
            (";client_max_window_bits=\"8\" ;client_no_context_takeover", 8),
        ] {
            assert_eq!(
                compression(&format!("{by_itself}{more}")),
                Ok(MessageCompression { window_bits, keeps_context: false }),
                "{more}"
            );
            assert_eq!(
                compression(&format!("{DEFLATE}{more}")),
                Ok(MessageCompression { window_bits, keeps_context: true }),
                "{more}"
            );
        }
        for more in [
            "; server_no_context_takeover",
            "; client_max_window_bits",
            "; client_max_window_bits=7",
            "; server_max_window_bits=16",
            "; server_max_window_bits=08",
            "; client_no_context_takeover=1",
            "; x",
            ";",
            ", permessage-deflate",
        ] {
            assert!(
                compression(&format!("{by_itself}{more}")).unwrap_err().contains("RFC 7692"),
                "{more}"
            );
        }
    }
}
