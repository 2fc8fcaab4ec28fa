//! Decodes bodies of replies: compression, then the character set.

use crate::exchange::{MAX_BODY_BYTES, ReplyBody, field};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::Encoding;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// Media types without values for later requests; their bodies are not recorded.
const OPAQUE_TYPES: [&str; 5] = ["image/", "font/", "video/", "audio/", "text/css"];

/// True if bodies of this media type are not recorded.
pub(super) fn is_opaque(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    OPAQUE_TYPES.iter().any(|kind| media_type.starts_with(kind))
}

/// Returns a body as HAR contains it; None if it is too large without its compression.
pub(super) fn decoded(body: &[u8], headers: &[(String, String)]) -> Option<ReplyBody> {
    let bytes = decompressed(body, field(headers, "content-encoding"))?;
    Some(match text_of(bytes, headers) {
        Ok(text) => ReplyBody { text, is_base64: false },
        Err(bytes) => ReplyBody { text: STANDARD.encode(bytes), is_base64: true },
    })
}

/// Returns the text of a body, or its bytes if it is no text.
fn text_of(bytes: Vec<u8>, headers: &[(String, String)]) -> Result<String, Vec<u8>> {
    let media_type = field(headers, "content-type").to_ascii_lowercase();
    if let Some(encoding) = charset(&media_type) {
        return Ok(encoding.decode(&bytes).0.into_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => Ok(rest.to_owned()),
            None => Ok(text),
        },
        // HTML without a charset is in Windows-1252 for browsers.
        Err(error) if media_type.starts_with("text/") => {
            Ok(encoding_rs::WINDOWS_1252.decode(error.as_bytes()).0.into_owned())
        }
        Err(error) => Err(error.into_bytes()),
    }
}

fn charset(media_type: &str) -> Option<&'static Encoding> {
    let (_, label) = media_type.split_once("charset=")?;
    let label = label.split(';').next().unwrap_or_default().trim_matches([' ', '"', '\'']);
    Encoding::for_label(label.as_bytes())
}

/// Returns the decompressed body, or as much of it as is valid. Other encodings stay as they are. None if it is too
/// large.
fn decompressed(body: &[u8], encoding: &str) -> Option<Vec<u8>> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(body)),
        "deflate" => {
            // RFC 9110 means zlib, and some servers send raw deflate.
            let bytes = read(ZlibDecoder::new(body))?;
            if bytes.is_empty() { read(DeflateDecoder::new(body)) } else { Some(bytes) }
        }
        _ => Some(body.to_vec()),
    }
}

/// Reads a body that may become much larger; None beyond the maximum size of a body.
fn read(decoder: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Bytes before an error are kept.
    let _ = decoder.take(MAX_BODY_BYTES + 1).read_to_end(&mut bytes);
    (bytes.len() as u64 <= MAX_BODY_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn headers(encoding: &str, media_type: &str) -> Vec<(String, String)> {
        let fields = [("content-encoding", encoding), ("content-type", media_type)];
        fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    fn body_text(body: &[u8], headers: &[(String, String)]) -> Result<String, Vec<u8>> {
        let bytes = decompressed(body, field(headers, "content-encoding")).unwrap();
        text_of(bytes, headers)
    }

    #[test]
    fn bodies_are_decompressed_and_decoded() {
        let text = "Grüße";
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(text.as_bytes()).unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflate.write_all(text.as_bytes()).unwrap();
        for (body, encoding) in [
            (gzip.clone(), "gzip"),
            (zlib.finish().unwrap(), "deflate"),
            (deflate.finish().unwrap(), "deflate"),
            (text.as_bytes().to_vec(), ""),
        ] {
            let decoded = body_text(&body, &headers(encoding, "text/plain"));
            assert_eq!(decoded.as_deref(), Ok(text), "{encoding}");
        }
        let latin = headers("", "text/html; charset=ISO-8859-1");
        assert_eq!(body_text(b"Gr\xfc\xdfe", &latin).as_deref(), Ok(text));
        assert_eq!(body_text(b"Gr\xfc\xdfe", &headers("", "text/html")).as_deref(), Ok(text));
        assert_eq!(
            body_text(b"\xff\xfe", &headers("", "application/octet-stream")),
            Err(vec![255, 254])
        );
        // Half of a body that an aborted client received.
        let half = body_text(&gzip[..gzip.len() - 9], &headers("gzip", "text/plain"));
        assert!(half.is_ok_and(|half| text.starts_with(&half)));
    }

    #[test]
    fn a_small_body_cannot_become_a_huge_one() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&vec![b'a'; 3 * MAX_BODY_BYTES as usize]).unwrap();
        assert!(decoded(&gzip.finish().unwrap(), &headers("gzip", "text/plain")).is_none());
        let bytes = decoded(&[255, 254], &headers("", "font/woff"));
        assert!(bytes.is_some_and(|bytes| bytes.is_base64 && bytes.text == "//4="));
    }
}
