//! The encodings of plans: UTF-8, UTF-16, ISO-8859-1 and windows-1252, read and written again without loss.
//!
//! A file whose bytes are UTF-8 is read as that, whatever it declares, as JMeter 5.6.3 reads all files. Otherwise its first bytes tell
//! UTF-16, and its XML declaration tells the rest.

use crate::document::lines::Lines;
use crate::error::JmxError;
use std::borrow::Cow;

/// How the characters of a plan are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the upper byte first.
    Utf16Be,
    /// A byte is the character of its number.
    Latin1,
    /// The same, but for the bytes from 80 to 9F.
    Windows1252,
}

/// The characters of the bytes 80 to 9F in windows-1252 (WHATWG Encoding Standard, index windows-1252).
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// The names that declarations have for an encoding, in lower case, without `-` and `_`.
const NAMES: [(&str, Encoding); 9] = [
    ("iso88591", Encoding::Latin1),
    ("88591", Encoding::Latin1),
    ("latin1", Encoding::Latin1),
    ("l1", Encoding::Latin1),
    ("usascii", Encoding::Latin1),
    ("ascii", Encoding::Latin1),
    ("windows1252", Encoding::Windows1252),
    ("cp1252", Encoding::Windows1252),
    ("ansi", Encoding::Windows1252),
];

/// The text of a file, a byte-order mark included.
///
/// # Errors
///
/// It is in none of these encodings, with what to do instead.
pub fn read(bytes: &[u8]) -> Result<(Cow<'_, str>, Encoding), JmxError> {
    match bytes {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => return wide(bytes, Encoding::Utf16Le),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => return wide(bytes, Encoding::Utf16Be),
        _ => {}
    }
    let at = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok((Cow::Borrowed(text), Encoding::Utf8)),
        Err(error) => error.valid_up_to(),
    };
    let declared = declared(bytes);
    let wanted = declared.map(|name| name.to_ascii_lowercase().replace(['-', '_'], ""));
    match NAMES.iter().find(|(name, _)| Some(*name) == wanted.as_deref()) {
        Some((_, encoding)) => {
            let text = bytes.iter().map(|byte| encoding.character(*byte)).collect::<String>();
            Ok((Cow::Owned(text), *encoding))
        }
        None => Err(unknown(bytes, at, declared)),
    }
}

fn unknown(bytes: &[u8], at: usize, declared: Option<&str>) -> JmxError {
    let valid = std::str::from_utf8(&bytes[..at]).unwrap_or_default();
    let message = match declared {
        Some(name) if !name.eq_ignore_ascii_case("utf-8") => {
            format!("the plan declares the encoding `{name}`, which is not known; save it as UTF-8 and declare `UTF-8`")
        }
        _ => "the plan is not UTF-8; declare its encoding in its first line, such as `<?xml version=\"1.0\" \
              encoding=\"ISO-8859-1\"?>`, or save it as UTF-8 (iconv -f ISO-8859-1 -t UTF-8 plan.jmx)"
            .to_owned(),
    };
    JmxError::at(Lines::of(valid).position(valid, at), message)
}

fn wide(bytes: &[u8], encoding: Encoding) -> Result<(Cow<'_, str>, Encoding), JmxError> {
    let pairs = bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    let units = pairs
        .map(|pair| if encoding == Encoding::Utf16Le { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if bytes.len().is_multiple_of(2) => Ok((Cow::Owned(text), encoding)),
        _ => Err(JmxError::new("the plan begins as UTF-16 and is none; save it as UTF-8")),
    }
}

/// The encoding that the XML declaration names.
fn declared(bytes: &[u8]) -> Option<&str> {
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
        let special = WINDOWS.iter().position(|own| *own == character).filter(|_| self == Self::Windows1252);
        special.map_or(u32::from(character) as u8, |at| 0x80 + at as u8)
    }

    /// The bytes of a text that [`read`] returned with this encoding.
    pub fn write(self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8 => text.into_bytes(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Latin1 | Self::Windows1252 => text.chars().map(|character| self.byte(character)).collect(),
        }
    }
}
