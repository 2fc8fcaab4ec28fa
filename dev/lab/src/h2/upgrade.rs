//! Reads the `Upgrade: h2c` of HTTP/1.1 requests (RFC 7540, section 3.2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The reply that announces HTTP/2 to the client.
pub const SWITCHING: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";

/// Decodes the payload of `HTTP2-Settings`; None if it is invalid.
pub fn settings(value: &[u8]) -> Option<Vec<u8>> {
    let value = value
        .trim_ascii()
        .strip_suffix(b"==")
        .or(value.trim_ascii().strip_suffix(b"="))
        .unwrap_or(value);
    URL_SAFE_NO_PAD
        .decode(value.trim_ascii())
        .ok()
        .filter(|payload| payload.len().is_multiple_of(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_base64url() {
        assert_eq!(
            settings(b" AAMAAABkAAQAAP__ "),
            Some(vec![0, 3, 0, 0, 0, 100, 0, 4, 0, 0, 0xff, 0xff])
        );
        assert_eq!(settings(b""), Some(Vec::new()));
        assert_eq!(settings(b"AAM"), None);
        assert_eq!(settings(b"?!"), None);
    }
}
