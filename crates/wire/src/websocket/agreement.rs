//! What a handshake of WebSocket agrees on (RFC 6455 section 4.1), and the parameters of `permessage-deflate` (RFC 7692).

use crate::request::RequestParts;

/// The extension by which messages are compressed.
const DEFLATE: &str = "permessage-deflate";
/// The largest window of DEFLATE, as a power of two.
const MOST_BITS: u8 = 15;

/// What is offered: the server compresses each message by itself, so that those nobody looks at need not be decoded; it may
/// name a smaller window for messages of ours.
const OFFER: &str =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits";

/// How messages are compressed, where that was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// The window of messages to the server, as a power of two.
    pub window_bits: u8,
}

/// Whether compressed messages are taken: where compressed replies are (`--compressed`).
fn takes_compressed(parts: &RequestParts) -> bool {
    let is_it =
        |(name, value): &(String, String)| name.eq_ignore_ascii_case("accept-encoding") && value.contains("deflate");
    parts.headers.iter().any(is_it)
}

/// The offer of an extension in the request that opens a WebSocket, where there is one.
pub fn offer(parts: &RequestParts) -> Option<&'static str> {
    takes_compressed(parts).then_some(OFFER)
}

/// The values of the header fields of this name.
fn values<'f>(fields: &'f [(String, String)], wanted: &'f str) -> impl Iterator<Item = &'f str> {
    fields.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
}

/// Whether the answer to a handshake over HTTP/1.1 accepts it: its header fields, and the answer to the key.
///
/// # Errors
///
/// The rule that the answer breaks, in words.
pub fn accepts(fields: &[(String, String)], accept: &str) -> Result<(), String> {
    let named = |wanted| values(fields, wanted);
    let has_token = |name, token: &str| {
        named(name).flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case(token))
    };
    if !named("upgrade").any(|value| value.eq_ignore_ascii_case("websocket")) {
        return Err("the server's answer has no `Upgrade: websocket` (RFC 6455 section 4.1)".to_owned());
    }
    if !has_token("connection", "upgrade") {
        return Err("the server's answer has no `Connection: Upgrade` (RFC 6455 section 4.1)".to_owned());
    }
    if !named("sec-websocket-accept").any(|value| value == accept) {
        return Err("the server's Sec-WebSocket-Accept does not fit the key (RFC 6455 section 4.1)".to_owned());
    }
    Ok(())
}

/// What the answer to a handshake agrees on: its header fields, and the request.
///
/// # Errors
///
/// The rule that the answer breaks, in words.
pub fn agree(fields: &[(String, String)], parts: &RequestParts) -> Result<Option<Compression>, String> {
    let named = |wanted| values(fields, wanted);
    let offered = |protocol: &str| {
        let offers = parts.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
        offers.flat_map(|(_, value)| value.split(',')).any(|one| one.trim() == protocol)
    };
    if let Some(other) = named("sec-websocket-protocol").find(|protocol| !offered(protocol)) {
        return Err(format!(
            "the server chose the subprotocol `{other}`, which was not offered (RFC 6455 section 4.1)"
        ));
    }
    let extensions: Vec<&str> = named("sec-websocket-extensions").filter(|value| !value.is_empty()).collect();
    match extensions[..] {
        [] => Ok(None),
        [only] if takes_compressed(parts) && extension(only) == DEFLATE => compression(only).map(Some),
        _ => {
            let all = extensions.join(", ");
            Err(format!("the server wants an extension that was not offered: {all} (RFC 6455 section 9.1)"))
        }
    }
}

/// The name of the first extension of a list.
fn extension(list: &str) -> &str {
    list.split([';', ',']).next().unwrap_or_default().trim()
}

/// The parameters of `permessage-deflate` in an answer to our offer (RFC 7692 section 7.1).
fn compression(answer: &str) -> Result<Compression, String> {
    let refuse = |why: &str| Err(format!("the server answers `{answer}`: {why} (RFC 7692 section 7.1)"));
    if answer.contains(',') {
        return refuse("it may agree on the extension once");
    }
    let mut names: Vec<&str> = Vec::new();
    let mut window_bits = MOST_BITS;
    for parameter in answer.split(';').skip(1).map(str::trim) {
        let (name, value) = parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)));
        if names.contains(&name) {
            return refuse("a parameter comes twice");
        }
        names.push(name);
        match (name, value.and_then(bits)) {
            ("server_no_context_takeover" | "client_no_context_takeover", _) if value.is_none() => {}
            ("server_max_window_bits", Some(_)) => {}
            ("client_max_window_bits", Some(bits)) => window_bits = bits,
            _ => return refuse("a parameter is unknown, or its value is wrong"),
        }
    }
    if !names.contains(&"server_no_context_takeover") {
        return refuse("the server must keep server_no_context_takeover, which was offered");
    }
    Ok(Compression { window_bits })
}

/// A window of 8 to 15 bits, perhaps in quotes.
fn bits(value: &str) -> Option<u8> {
    let digits = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let is_plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|bits| is_plain && (8..=MOST_BITS).contains(bits))
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
            assert_eq!(compression(&format!("{by_itself}{more}")), Ok(Compression { window_bits }), "{more}");
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
            assert!(compression(&format!("{by_itself}{more}")).unwrap_err().contains("RFC 7692"), "{more}");
        }
        assert!(compression(DEFLATE).unwrap_err().contains("must keep"));
    }
}
