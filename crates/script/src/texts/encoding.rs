//! Encodes forms, and generates random UUIDs.

use rand::Rng;
use std::fmt::Write;

/// The content type of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// True if a content type, without its parameters, is that of a form.
pub fn is_form(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(FORM))
}

/// Encodes a text for a form or query (WHATWG URL section 5.2).
pub fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Appends a random UUID (RFC 9562 section 5.4).
pub fn push_uuid<R: Rng + ?Sized>(out: &mut String, rng: &mut R) {
    let high = rng.next_u64();
    let low = rng.next_u64();
    let a = high >> 32;
    let b = high >> 16 & 0xffff;
    // Version 4.
    let c = high & 0x0fff | 0x4000;
    // Variant 10.
    let d = low >> 48 & 0x3fff | 0x8000;
    let e = low & 0xffff_ffff_ffff;
    let _ = write!(out, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}"); // a String takes anything
}
