//! Formats bytes as hexadecimal digits.

use std::fmt::Write;

/// Returns two lower-case digits for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // a String takes anything
        text
    })
}
