//! Reads and writes plans in UTF-8, UTF-16, ISO-8859-1 and windows-1252 without loss.
//!
//! Valid UTF-8 is read as UTF-8 whatever the file declares, as JMeter 5.6.3 reads all files. The
//! first bytes identify UTF-16, and the XML declaration identifies the other encodings.

use crate::document::lines::LineIndex;
use crate::error::JmxError;
use std::borrow::Cow;

/// Character encoding of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, the default of XML.
    Utf8,
    /// UTF-16, lower byte first.
    Utf16Le,
    /// UTF-16, upper byte first.
    Utf16Be,
    /// Each byte is the code point of its character.
    Latin1,
    /// Latin-1 except for the bytes 80 to 9F.
    Windows1252,
}

/// Characters of the bytes 80 to 9F in windows-1252 (WHATWG Encoding Standard, index windows-1252).
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// Names of encodings in XML declarations, in lower case, without `-` and `_`.
const NAMES: [(&str, Encoding); 9] = [
    ("iso88591", Encoding::Latin1),
    ("88591", Encoding::Latin1),
    ("latin1", Encoding::Latin1),
    ("l1", Encoding::Latin1),
    // A file that reaches this table is not valid UTF-8, so it is not ASCII, whatever it declares.
    ("usascii", Encoding::Latin1),
    ("ascii", Encoding::Latin1),
    ("windows1252", Encoding::Windows1252),
    ("cp1252", Encoding::Windows1252),
    ("ansi", Encoding::Windows1252),
];

/// Decodes a file, including its byte-order mark.
///
/// # Errors
///
/// Fails if the file has none of these encodings; the message suggests a fix.
pub fn read(bytes: &[u8]) -> Result<(Cow<'_, str>, Encoding), JmxError> {
    match bytes {
        // UTF-16 begins with a byte-order mark, or with `<` in two bytes.
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => return wide(bytes, Encoding::Utf16Le),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => return wide(bytes, Encoding::Utf16Be),
        _ => {}
    }
    let position = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok((Cow::Borrowed(text), Encoding::Utf8)),
        Err(error) => error.valid_up_to(),
    };
    let declared = declared(bytes);
    let normalized_name = declared.map(|name| name.to_ascii_lowercase().replace(['-', '_'], ""));
    match NAMES.iter().find(|(name, _)| Some(*name) == normalized_name.as_deref()) {
        Some((_, encoding)) => {
            let text = bytes.iter().map(|byte| encoding.character(*byte)).collect::<String>();
            Ok((Cow::Owned(text), *encoding))
        }
        None => Err(unknown(bytes, position, declared)),
    }
}

fn unknown(bytes: &[u8], position: usize, declared: Option<&str>) -> JmxError {
    let valid = std::str::from_utf8(&bytes[..position]).unwrap_or_default();
    let message = match declared {
        Some(name) if !name.eq_ignore_ascii_case("utf-8") => {
            format!("the plan declares the encoding `{name}`, which is not known; save it as UTF-8 and declare `UTF-8`")
        }
        _ => "the plan is not UTF-8; declare its encoding in its first line, such as `<?xml version=\"1.0\" \
              encoding=\"ISO-8859-1\"?>`, or save it as UTF-8 (iconv -f ISO-8859-1 -t UTF-8 plan.jmx)"
            .to_owned(),
    };
    JmxError::at(LineIndex::new(valid).position(valid, position), message)
}

fn wide(bytes: &[u8], encoding: Encoding) -> Result<(Cow<'_, str>, Encoding), JmxError> {
    let pairs = bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    let units = pairs.map(|pair| {
        if encoding == Encoding::Utf16Le {
            u16::from_le_bytes(pair)
        } else {
            u16::from_be_bytes(pair)
        }
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if bytes.len().is_multiple_of(2) => Ok((Cow::Owned(text), encoding)),
        _ => Err(JmxError::new("the plan begins as UTF-16 and is none; save it as UTF-8")),
    }
}

/// Encoding named by the XML declaration.
pub fn declared(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let end = rest.windows(2).position(|two| two == b"?>")?;
    let declaration = std::str::from_utf8(&rest[..end]).ok()?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split_once(quote).map(|(name, _)| name.trim())
}

impl Encoding {
    fn character(self, byte: u8) -> char {
        match byte {
            0x80..=0x9F if self == Self::Windows1252 => WINDOWS[usize::from(byte - 0x80)],
            _ => char::from(byte),
        }
    }

    /// Inverse of [`character`](Self::character).
    fn byte(self, character: char) -> u8 {
        let index = WINDOWS
            .iter()
            .position(|special| *special == character)
            .filter(|_| self == Self::Windows1252);
        index.map_or(u32::from(character) as u8, |position| 0x80 + position as u8)
    }

    /// Encodes a text that [`read`] returned with this encoding.
    pub fn write(self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8 => text.into_bytes(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Latin1 | Self::Windows1252 => {
                text.chars().map(|character| self.byte(character)).collect()
            }
        }
    }
}
