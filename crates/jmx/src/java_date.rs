//! Dates in the patterns of Java: `yyyy-MM-dd'T'HH:mm:ss.SSSZ`.
//!
//! Instants are milliseconds since 1970-01-01 UTC; the offset of the time zone is handed in. Names are English.

mod civil;

use crate::error::JmxError;
use civil::Civil;
use std::fmt::Write as _;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// The longest run of one letter; a longer one is a mistake, and would make rows without bound.
const LONGEST_FIELD: usize = 20;

/// A pattern of `DateTimeFormatter` or `SimpleDateFormat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Field(char, usize),
}

impl DatePattern {
    /// Reads a pattern. Letters: `y u M L d D H h k K m s S a E Z X z`; text in `'…'` is literal, `''` is a quote.
    ///
    /// # Errors
    ///
    /// Another letter, a quote that is not closed, or a letter repeated more than 20 times.
    pub fn parse(pattern: &str) -> Result<Self, JmxError> {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            let taken = if first == '\'' {
                let (literal, length) = quoted(rest).ok_or_else(|| wrong(pattern, "a `'` is not closed"))?;
                push_literal(&mut parts, &literal);
                length
            } else if first.is_ascii_alphabetic() {
                let count = rest.chars().take_while(|&one| one == first).count();
                if !"yuMLdDHhkKmsSaEZXz".contains(first) || count > LONGEST_FIELD {
                    return Err(wrong(
                        pattern,
                        &format!("`{}` is not supported; write literal text as 'text'", &rest[..count]),
                    ));
                }
                parts.push(Part::Field(first, count));
                count
            } else {
                push_literal(&mut parts, first.encode_utf8(&mut [0; 4]));
                first.len_utf8()
            };
            rest = &rest[taken..];
        }
        Ok(Self { parts })
    }

    /// The date of an instant, in the time zone of an offset in seconds east of UTC.
    pub fn format(&self, unix_millis: i64, offset_seconds: i32) -> String {
        let civil = Civil::of(unix_millis, offset_seconds);
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Field(letter, count) => field(&mut out, *letter, *count, &civil, offset_seconds),
            }
        }
        out
    }

    /// The instant of a date that this pattern wrote. The offset holds where the text names none. None where it does not fit.
    pub fn read(&self, text: &str, offset_seconds: i32) -> Option<i64> {
        let mut civil = Civil::epoch();
        let (mut offset, mut afternoon, mut rest) = (offset_seconds, None, text);
        for (at, part) in self.parts.iter().enumerate() {
            let (letter, count) = match part {
                Part::Literal(literal) => {
                    rest = rest.strip_prefix(literal.as_str())?;
                    continue;
                }
                Part::Field(letter, count) => (*letter, *count),
            };
            match letter {
                'M' | 'L' if count >= 3 => civil.month = name(&mut rest, &MONTHS)? as u32 + 1,
                'E' => drop(name(&mut rest, &DAYS)?),
                'a' => afternoon = Some(name(&mut rest, &["AM", "PM"])? == 1),
                'Z' | 'X' | 'z' => offset = read_offset(&mut rest)?,
                _ => {
                    let adjacent =
                        matches!(self.parts.get(at + 1), Some(Part::Field(next, _)) if next.is_ascii_alphabetic());
                    let number = digits(&mut rest, if adjacent || letter == 'S' { count } else { 9 })?;
                    set(&mut civil, letter, count, number)?;
                }
            }
        }
        if let Some(afternoon) = afternoon {
            civil.hour = civil.hour % 12 + if afternoon { 12 } else { 0 };
        }
        rest.is_empty().then(|| civil.unix_millis(offset)).flatten()
    }
}

fn wrong(pattern: &str, why: &str) -> JmxError {
    JmxError::new(format!("date pattern `{pattern}`: {why} (example: yyyy-MM-dd HH:mm:ss.SSS)"))
}

fn push_literal(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Literal(last)) => last.push_str(text),
        _ => parts.push(Part::Literal(text.to_owned())),
    }
}

/// The text of a part in quotes, and its length with them; `''` is one quote.
fn quoted(text: &str) -> Option<(String, usize)> {
    if text.starts_with("''") {
        return Some(("'".to_owned(), 2));
    }
    let mut literal = String::new();
    let mut rest = &text[1..];
    loop {
        let end = rest.find('\'')?;
        literal.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(next) => rest = next,
            None => return Some((literal, text.len() - rest.len())),
        }
        literal.push('\'');
    }
}

fn field(out: &mut String, letter: char, count: usize, civil: &Civil, offset: i32) {
    let short = |name: &'static str| if count >= 4 { name } else { &name[..3] };
    let number = match letter {
        'M' | 'L' if count >= 3 => return out.push_str(short(MONTHS[civil.month as usize - 1])),
        'E' => return out.push_str(short(DAYS[civil.weekday()])),
        'a' => return out.push_str(if civil.hour < 12 { "AM" } else { "PM" }),
        'Z' | 'X' | 'z' => return write_offset(out, letter, count, offset),
        'S' => return write_fraction(out, civil.millis, count),
        'y' | 'u' if count == 2 => civil.year.rem_euclid(100),
        'y' | 'u' => civil.year,
        'M' | 'L' => i64::from(civil.month),
        'd' => i64::from(civil.day),
        'D' => civil.day_of_year(),
        'H' => i64::from(civil.hour),
        'k' => i64::from((civil.hour + 23) % 24 + 1),
        'K' => i64::from(civil.hour % 12),
        'h' => i64::from((civil.hour + 11) % 12 + 1),
        'm' => i64::from(civil.minute),
        _ => i64::from(civil.second),
    };
    let _ = write!(out, "{number:0count$}");
}

fn write_fraction(out: &mut String, millis: u32, count: usize) {
    let all = format!("{millis:03}{}", "0".repeat(LONGEST_FIELD));
    out.push_str(&all[..count]);
}

fn write_offset(out: &mut String, letter: char, count: usize, offset: i32) {
    if letter == 'X' && offset == 0 {
        return out.push('Z');
    }
    let minutes = offset.abs() / 60;
    let colon = if (letter == 'X' && count >= 3) || letter == 'z' { ":" } else { "" };
    let sign = if offset < 0 { '-' } else { '+' };
    let _ = write!(out, "{sign}{:02}", minutes / 60);
    if !(letter == 'X' && count == 1 && minutes % 60 == 0) {
        let _ = write!(out, "{colon}{:02}", minutes % 60);
    }
}

fn read_offset(rest: &mut &str) -> Option<i32> {
    if let Some(after) = rest.strip_prefix('Z') {
        *rest = after;
        return Some(0);
    }
    let sign = if rest.starts_with('-') { -1 } else { 1 };
    *rest = rest.strip_prefix(['+', '-'])?;
    let hours = digits(rest, 2)?;
    *rest = rest.strip_prefix(':').unwrap_or(rest);
    let minutes = if rest.starts_with(|one: char| one.is_ascii_digit()) { digits(rest, 2)? } else { 0 };
    (hours <= 18 && minutes < 60).then_some(sign * (hours as i32 * 3600 + minutes as i32 * 60))
}

fn digits(rest: &mut &str, most: usize) -> Option<i64> {
    let length = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let number = rest[..length].parse().ok()?;
    *rest = &rest[length..];
    Some(number)
}

fn name(rest: &mut &str, names: &[&str]) -> Option<usize> {
    let found = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let short = |wanted: &str| names.iter().position(|name| name.len() > 3 && name[..3].eq_ignore_ascii_case(wanted));
    let word = &rest[..rest.find(|one: char| !one.is_ascii_alphabetic()).unwrap_or(rest.len())];
    let index = found(word).or_else(|| short(word))?;
    *rest = &rest[word.len()..];
    Some(index)
}

fn set(civil: &mut Civil, letter: char, count: usize, number: i64) -> Option<()> {
    let within = |low: i64, high: i64| (low..=high).contains(&number).then_some(number as u32);
    match letter {
        'y' | 'u' if count == 2 => civil.year = 2000 + i64::from(within(0, 99)?),
        'y' | 'u' => civil.year = i64::from(within(0, 9999)?),
        'M' | 'L' => civil.month = within(1, 12)?,
        'd' => civil.day = within(1, 31)?,
        'H' | 'K' => civil.hour = within(0, 23)?,
        'k' | 'h' => civil.hour = within(1, 24)? % 24,
        'm' => civil.minute = within(0, 59)?,
        's' => civil.second = within(0, 59)?,
        'S' if count >= 3 => civil.millis = (number / 10_i64.pow(count.min(18) as u32 - 3)).min(999) as u32,
        'S' => civil.millis = number as u32 * 10_u32.pow(3 - count as u32),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests;
