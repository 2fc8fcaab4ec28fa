//! Character sets of Java, by the names that Java accepts.

use super::{Class, text_at};
use crate::error::{Eval, Fault, clip, throw};
use crate::value::Value;
use crate::vm::Vm;
use encoding_rs::Encoding;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.nio.charset.StandardCharsets", super::codec::no_static)
        .and_constants(standard),
    Class::with_static("java.nio.charset.Charset", charset_static),
];

/// A character set.
#[derive(Clone, Copy)]
pub(crate) struct Charset {
    /// Java's name of it.
    name: &'static str,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Utf8,
    Latin1,
    Ascii,
    Utf16(ByteOrder),
    Utf32(ByteOrder),
    SingleByte(&'static Encoding),
    MultiByte(&'static Encoding),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Big,
    Little,
    /// That of the byte-order mark; big-endian without one.
    Marked,
}

/// Sets that `encoding_rs` does not have as Java defines them: name, aliases, form.
const BUILT_IN: [(&str, &str, Form); 9] = [
    ("UTF-8", "unicode-1-1-utf-8 utf8", Form::Utf8),
    (
        "ISO-8859-1",
        "819 8859_1 cp819 csisolatin1 ibm-819 ibm819 iso-ir-100 iso8859-1 iso8859_1 iso_8859-1 iso_8859-1:1987 iso_8859_1 l1 latin1",
        Form::Latin1,
    ),
    (
        "US-ASCII",
        "646 ansi_x3.4-1968 ansi_x3.4-1986 ascii ascii7 cp367 csascii default ibm367 iso-ir-6 iso646-us iso_646.irv:1983 iso_646.irv:1991 us",
        Form::Ascii,
    ),
    ("UTF-16", "unicode unicodebig utf16 utf_16", Form::Utf16(ByteOrder::Marked)),
    (
        "UTF-16BE",
        "iso-10646-ucs-2 unicodebigunmarked utf_16be x-utf-16be",
        Form::Utf16(ByteOrder::Big),
    ),
    ("UTF-16LE", "unicodelittleunmarked utf_16le x-utf-16le", Form::Utf16(ByteOrder::Little)),
    ("UTF-32", "utf32 utf_32", Form::Utf32(ByteOrder::Marked)),
    ("UTF-32BE", "utf_32be x-utf-32be", Form::Utf32(ByteOrder::Big)),
    ("UTF-32LE", "utf_32le x-utf-32le", Form::Utf32(ByteOrder::Little)),
];

/// Sets of `encoding_rs`: name, aliases in Java, label of the WHATWG if it differs. In the East Asian sets, a few
/// characters differ from Java's tables.
const TABLES: [(&str, &str, &str); 38] = [
    ("windows-1250", "cp1250 cp5346", ""),
    ("windows-1251", "ansi-1251 cp1251 cp5347", ""),
    ("windows-1252", "cp1252 cp5348 ibm-1252 ibm1252", ""),
    ("windows-1253", "cp1253 cp5349", ""),
    ("windows-1254", "cp1254 cp5350", ""),
    ("windows-1255", "cp1255", ""),
    ("windows-1256", "cp1256", ""),
    ("windows-1257", "cp1257 cp5353", ""),
    ("windows-1258", "cp1258", ""),
    ("x-windows-874", "ms-874 ms874 windows-874", "windows-874"),
    (
        "ISO-8859-2",
        "8859_2 912 cp912 csisolatin2 ibm-912 ibm912 iso-ir-101 iso8859-2 iso8859_2 iso_8859-2 iso_8859-2:1987 l2 latin2",
        "",
    ),
    (
        "ISO-8859-3",
        "8859_3 913 cp913 csisolatin3 ibm-913 ibm913 iso-ir-109 iso8859-3 iso8859_3 iso_8859-3 iso_8859-3:1988 l3 latin3",
        "",
    ),
    (
        "ISO-8859-4",
        "8859_4 914 cp914 csisolatin4 ibm-914 ibm914 iso-ir-110 iso8859-4 iso8859_4 iso_8859-4 iso_8859-4:1988 l4 latin4",
        "",
    ),
    (
        "ISO-8859-5",
        "8859_5 915 cp915 csisolatincyrillic cyrillic ibm-915 ibm915 iso-ir-144 iso8859-5 iso8859_5 iso_8859-5 iso_8859-5:1988",
        "",
    ),
    (
        "ISO-8859-6",
        "1089 8859_6 arabic asmo-708 cp1089 csisolatinarabic ecma-114 ibm-1089 ibm1089 iso-ir-127 iso8859-6 iso8859_6 iso_8859-6 iso_8859-6:1987",
        "",
    ),
    (
        "ISO-8859-7",
        "813 8859_7 cp813 csisolatingreek ecma-118 elot_928 greek greek8 ibm-813 ibm813 iso-ir-126 iso8859-7 iso8859_7 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
        "",
    ),
    (
        "ISO-8859-8",
        "8859_8 916 cp916 csisolatinhebrew hebrew ibm-916 ibm916 iso-ir-138 iso8859-8 iso8859_8 iso_8859-8 iso_8859-8:1988",
        "",
    ),
    (
        "ISO-8859-9",
        "8859_9 920 cp920 csisolatin5 ibm-920 ibm920 iso-ir-148 iso8859-9 iso8859_9 iso_8859-9 iso_8859-9:1989 l5 latin5",
        "windows-1254",
    ),
    ("ISO-8859-13", "8859_13 iso8859-13 iso8859_13 iso_8859-13", ""),
    (
        "ISO-8859-15",
        "8859_15 923 cp923 csiso885915 csisolatin0 csisolatin9 ibm-923 ibm923 iso8859-15 iso8859_15 iso8859_15_fdis iso_8859-15 l9 latin-9 latin0 latin9",
        "",
    ),
    (
        "ISO-8859-16",
        "csiso885916 iso-ir-226 iso8859_16 iso_8859-16 iso_8859-16:2001 l10 latin10",
        "",
    ),
    ("KOI8-R", "cskoi8r koi8 koi8_r", ""),
    ("KOI8-U", "koi8_u", ""),
    ("IBM866", "866 cp866 csibm866 ibm-866", ""),
    ("x-MacRoman", "macroman", "macintosh"),
    ("Shift_JIS", "csshiftjis ms_kanji shift-jis sjis x-sjis", ""),
    ("windows-31j", "cswindows31j ms932 windows-932", ""),
    (
        "EUC-JP",
        "cseucpkdfmtjapanese euc_jp eucjis eucjp extended_unix_code_packed_format_for_japanese x-euc-jp x-eucjp",
        "",
    ),
    ("ISO-2022-JP", "csiso2022jp csjisencoding iso2022jp jis jis_encoding", ""),
    ("GBK", "cp936 windows-936", ""),
    ("GB2312", "euc-cn euc_cn euccn gb2312-1980 gb2312-80 x-euc-cn", ""),
    ("x-mswin-936", "ms936 ms_936", "gbk"),
    ("GB18030", "gb18030-2022", ""),
    ("Big5", "csbig5", ""),
    ("x-windows-950", "ms950 windows-950", "big5"),
    ("Big5-HKSCS", "big5_hkscs big5hk big5hkscs", ""),
    (
        "EUC-KR",
        "5601 cseuckr euc_kr euckr ks_c_5601-1987 ksc5601 ksc5601-1987 ksc5601_1987 ksc_5601",
        "",
    ),
    ("x-windows-949", "ms949 ms_949 windows-949 windows949", "windows-949"),
];

impl Charset {
    pub const UTF_8: Self = Self { name: "UTF-8", form: Form::Utf8 };

    /// Finds a character set by a name that Java accepts.
    pub fn find(name: &str) -> Option<Self> {
        let built_in =
            BUILT_IN.iter().find(|(canonical, aliases, _)| is_named(name, canonical, aliases));
        if let Some((name, _, form)) = built_in {
            return Some(Self { name, form: *form });
        }
        let (name, _, label) =
            TABLES.iter().find(|(canonical, aliases, _)| is_named(name, canonical, aliases))?;
        let encoding = Encoding::for_label(if label.is_empty() { name } else { label }.as_bytes())?;
        let form = if encoding.is_single_byte() {
            Form::SingleByte(encoding)
        } else {
            Form::MultiByte(encoding)
        };
        Some(Self { name, form })
    }

    /// Character set of an argument: a name, or a `Charset`.
    pub fn of(vm: &mut Vm, value: &Value) -> Eval<Self> {
        let name = text_at(vm, std::slice::from_ref(value), 0)?;
        Self::find(&name).ok_or_else(|| throw("java.io.UnsupportedEncodingException", clip(&name)))
    }

    /// Character set of an optional argument. The default is UTF-8.
    pub fn of_optional(vm: &mut Vm, value: Option<&Value>) -> Eval<Self> {
        value.map_or(Ok(Self::UTF_8), |value| Self::of(vm, value))
    }

    /// Character set of the first text among arguments, whose others are flags. The default is UTF-8.
    pub fn among(vm: &mut Vm, arguments: &[Value]) -> Eval<Self> {
        Self::of_optional(vm, arguments.iter().find(|argument| matches!(argument, Value::Str(_))))
    }

    /// Character set for the text after the first part, which has the byte-order mark.
    pub fn after_start(self) -> Self {
        match self.form {
            Form::Utf16(ByteOrder::Marked) => Self { form: Form::Utf16(ByteOrder::Big), ..self },
            _ => self,
        }
    }

    /// Encodes text. Characters that the set lacks become `?`.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self.form {
            Form::Utf8 => text.as_bytes().to_vec(),
            Form::Latin1 => {
                text.chars().map(|letter| u8::try_from(letter as u32).unwrap_or(b'?')).collect()
            }
            Form::Ascii => text
                .chars()
                .map(|letter| if letter.is_ascii() { letter as u8 } else { b'?' })
                .collect(),
            Form::Utf16(ByteOrder::Little) => {
                text.encode_utf16().flat_map(u16::to_le_bytes).collect()
            }
            Form::Utf16(ByteOrder::Big) => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            // In Java, only `UTF-16` writes a byte-order mark.
            Form::Utf16(ByteOrder::Marked) => [0xfe, 0xff]
                .into_iter()
                .chain(text.encode_utf16().flat_map(u16::to_be_bytes))
                .collect(),
            Form::Utf32(ByteOrder::Little) => {
                text.chars().flat_map(|letter| (letter as u32).to_le_bytes()).collect()
            }
            Form::Utf32(_) => {
                text.chars().flat_map(|letter| (letter as u32).to_be_bytes()).collect()
            }
            Form::SingleByte(encoding) => {
                let upper_half = self.upper_half(encoding);
                text.chars().map(|letter| single_byte(letter, &upper_half)).collect()
            }
            Form::MultiByte(encoding) => {
                let (bytes, _, has_unmappable) = encoding.encode(text);
                if !has_unmappable {
                    return bytes.into_owned();
                }
                let clean: String = text
                    .chars()
                    .map(|letter| if has_letter(encoding, letter) { letter } else { '?' })
                    .collect();
                encoding.encode(&clean).0.into_owned()
            }
        }
    }

    /// Decodes bytes. Invalid ones become U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> String {
        match self.form {
            Form::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Form::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
            Form::Ascii => bytes
                .iter()
                .map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' })
                .collect(),
            Form::Utf16(order) => decode_utf16(bytes, order),
            Form::Utf32(order) => decode_utf32(bytes, order),
            Form::SingleByte(encoding) => {
                let upper_half = self.upper_half(encoding);
                let letters = bytes.iter().map(|byte| match byte {
                    0..0x80 => char::from(*byte),
                    _ => upper_half[usize::from(byte & 0x7f)],
                });
                letters.collect()
            }
            Form::MultiByte(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
        }
    }

    /// Characters of the bytes 0x80 to 0xff in Java's table.
    fn upper_half(self, encoding: &'static Encoding) -> [char; 128] {
        let mut letters = ['\u{fffd}'; 128];
        for (byte, letter) in (0x80_u8..=0xff).zip(&mut letters) {
            let decoded = encoding.decode_without_bom_handling(&[byte]).0.chars().next();
            *letter = match decoded {
                // The WHATWG defines this set as windows-1254, which lacks the control characters.
                _ if self.name == "ISO-8859-9" && byte < 0xa0 => char::from(byte),
                _ if self.name == "windows-1255" && byte == 0xca => '\u{fffd}',
                // The WHATWG defines this set with two Belarusian letters.
                _ if self.name == "KOI8-U" && byte == 0xae => '\u{255d}',
                _ if self.name == "KOI8-U" && byte == 0xbe => '\u{256c}',
                // The WHATWG maps unused bytes to control characters, Java to none.
                Some('\u{80}'..='\u{9f}') if !self.name.starts_with("ISO") => '\u{fffd}',
                letter => letter.unwrap_or('\u{fffd}'),
            };
        }
        letters
    }
}

/// True if a name is the canonical one, or one of the aliases.
fn is_named(name: &str, canonical: &str, aliases: &str) -> bool {
    canonical.eq_ignore_ascii_case(name)
        || aliases.split(' ').any(|alias| alias.eq_ignore_ascii_case(name))
}

fn single_byte(letter: char, upper_half: &[char; 128]) -> u8 {
    if letter.is_ascii() {
        return letter as u8;
    }
    let position = upper_half.iter().position(|one| *one == letter && letter != '\u{fffd}');
    position.map_or(b'?', |position| position as u8 | 0x80)
}

fn has_letter(encoding: &'static Encoding, letter: char) -> bool {
    letter.is_ascii() || !encoding.encode(letter.encode_utf8(&mut [0; 4])).2
}

fn decode_utf16(bytes: &[u8], order: ByteOrder) -> String {
    let (is_little, bytes) = match (order, bytes) {
        (ByteOrder::Marked, [0xff, 0xfe, rest @ ..]) => (true, rest),
        (ByteOrder::Marked, [0xfe, 0xff, rest @ ..]) => (false, rest),
        _ => (order == ByteOrder::Little, bytes),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs
        .iter()
        .map(|pair| if is_little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) })
        .collect();
    let text = String::from_utf16_lossy(&units);
    if rest.is_empty() { text } else { text + "\u{fffd}" }
}

fn decode_utf32(bytes: &[u8], order: ByteOrder) -> String {
    let (is_little, bytes) = match (order, bytes) {
        (ByteOrder::Marked, [0xff, 0xfe, 0, 0, rest @ ..]) => (true, rest),
        (ByteOrder::Marked, [0, 0, 0xfe, 0xff, rest @ ..]) => (false, rest),
        _ => (order == ByteOrder::Little, bytes),
    };
    let (units, rest) = bytes.as_chunks::<4>();
    let codes = units
        .iter()
        .map(|unit| if is_little { u32::from_le_bytes(*unit) } else { u32::from_be_bytes(*unit) });
    let text: String = codes.map(|code| char::from_u32(code).unwrap_or('\u{fffd}')).collect();
    if rest.is_empty() { text } else { text + "\u{fffd}" }
}

fn standard(_vm: &mut Vm, name: &str) -> Option<Value> {
    // A charset is represented by its name.
    let name = match name {
        "UTF_8" => "UTF-8",
        "ISO_8859_1" => "ISO-8859-1",
        "US_ASCII" => "US-ASCII",
        "UTF_16" => "UTF-16",
        "UTF_16BE" => "UTF-16BE",
        "UTF_16LE" => "UTF-16LE",
        _ => return None,
    };
    Some(Value::str(name))
}

fn charset_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match name {
        "forName" | "isSupported" => {
            let requested = text_at(vm, arguments, 0)?;
            let charset = Charset::find(&requested);
            if charset.is_none() && !is_legal_name(&requested) {
                return Err(throw(
                    "java.nio.charset.IllegalCharsetNameException",
                    clip(&requested),
                ));
            }
            match (name, charset) {
                ("isSupported", charset) => Some(Value::Bool(charset.is_some())),
                (_, Some(charset)) => Some(Value::str(charset.name)),
                (_, None) => return Err(unsupported(&requested)),
            }
        }
        "defaultCharset" => Some(Value::str("UTF-8")),
        _ => None,
    })
}

fn unsupported(name: &str) -> Box<Fault> {
    throw("java.nio.charset.UnsupportedCharsetException", clip(name))
}

fn is_legal_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-+:_.".contains(letter))
}
