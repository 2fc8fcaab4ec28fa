//! Compresses headers (RFC 9204) with the crate `qpack`, without a dynamic table.

use std::rc::Rc;

use qpack::{DecoderError, HeaderField};

/// Maximum size of the header list, in bytes.
const MAX_HEADER_LIST: u64 = 64 * 1024;

/// Decodes a block, and passes its fields to `field`, in order.
///
/// # Errors
///
/// The reason why the block cannot be read.
pub fn decode(mut block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), &'static str> {
    // Without a table, the crate takes any required insert count for 0 (RFC 9204, section 4.5.1.1).
    if block.first().is_some_and(|count| *count != 0) {
        return Err("a field block that needs a dynamic table");
    }
    let decoded =
        qpack::decode_stateless(&mut block, MAX_HEADER_LIST).map_err(|error| match error {
            DecoderError::MissingRefs(_) => "a field block that needs a dynamic table",
            DecoderError::HeaderTooLong(_) => "a field block above 64 KiB",
            _ => "a field block that breaks RFC 9204",
        })?;
    decoded.fields.iter().for_each(|decoded| field(&decoded.name, &decoded.value));
    Ok(())
}

/// Returns a block of these fields.
pub fn encode(fields: &[(&str, &str)]) -> Rc<[u8]> {
    let mut block = Vec::new();
    let fields = fields.iter().map(|(name, value)| HeaderField::new(*name, *value));
    // Writing to a `Vec` does not fail.
    let _ = qpack::encode_stateless(&mut block, fields);
    block.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(block: &[u8]) -> Result<String, &'static str> {
        let mut text = Vec::new();
        decode(block, |name, value| text.extend([name, b"=", value, b";"].concat()))?;
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn the_block_of_the_standard() {
        // RFC 9204, appendix B.1.
        assert_eq!(decoded(b"\x00\x00\x51\x0b/index.html"), Ok(":path=/index.html;".to_owned()));
    }

    #[test]
    fn fields_round_trip() {
        let long = "v".repeat(300);
        let block = encode(&[
            (":status", "200"),
            (":status", "418"),
            ("server", "brunt-lab"),
            ("x-long", &long),
        ]);
        assert_eq!(block[2], 0xd9, "index 25");
        assert_eq!(
            decoded(&block),
            Ok(format!(":status=200;:status=418;server=brunt-lab;x-long={long};"))
        );
    }

    #[test]
    fn blocks_that_need_a_dynamic_table_or_end_early_are_refused() {
        for (block, reason) in [
            (&b"\x01\0"[..], "dynamic"),
            (b"\0\0\x80", "dynamic"),
            (b"\0\0\xff\x40", "RFC 9204"),
            (b"\0", "RFC 9204"),
            (b"\0\0\x51\x05/", "RFC 9204"),
        ] {
            assert!(decoded(block).unwrap_err().contains(reason), "{block:?}");
        }
    }
}
