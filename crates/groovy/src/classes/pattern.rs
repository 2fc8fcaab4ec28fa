//! Patterns of dates: `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`, for writing and reading.

use super::zone::{Moment, fixed_offset, offset_text};
use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

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
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A part of a pattern.
enum Part {
    Letter(char, usize),
    Text(String),
}

/// The parts of a pattern; letters in quotation marks are text. `[` and `]` of optional parts are left out.
fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\'' {
            let mut text = String::new();
            loop {
                match letters.next() {
                    Some('\'') if letters.peek() == Some(&'\'') => {
                        letters.next();
                        text.push('\'');
                    }
                    Some('\'') | None => break,
                    Some(other) => text.push(other),
                }
            }
            parts.push(Part::Text(if text.is_empty() { "'".to_owned() } else { text }));
        } else if letter.is_ascii_alphabetic() {
            let mut count = 1;
            while letters.peek() == Some(&letter) {
                letters.next();
                count += 1;
            }
            parts.push(Part::Letter(letter, count.min(20)));
        } else if !matches!(letter, '[' | ']') {
            parts.push(Part::Text(letter.to_string()));
        }
    }
    parts
}

/// Writes a moment; `Err` names a letter that means nothing.
pub(super) fn render(pattern: &str, moment: &Moment) -> Result<String, char> {
    let mut text = String::new();
    for part in parts(pattern) {
        match part {
            Part::Text(part) => text.push_str(&part),
            Part::Letter(letter, count) => text.push_str(&field(letter, count, moment).ok_or(letter)?),
        }
    }
    Ok(text)
}

fn name(names: &[&str], index: usize, count: usize) -> String {
    let name = names.get(index).copied().unwrap_or("");
    if count >= 4 { name.to_owned() } else { name[..3.min(name.len())].to_owned() }
}

fn field(letter: char, count: usize, moment: &Moment) -> Option<String> {
    let local = &moment.local;
    let number = |value: u32| format!("{value:0count$}");
    Some(match letter {
        'y' | 'u' | 'Y' => {
            if letter == 'u' && count == 1 {
                return Some(local.weekday().number_from_monday().to_string());
            }
            let year = if letter == 'Y' { local.iso_week().year() } else { local.year() };
            if count == 2 { format!("{:02}", year.rem_euclid(100)) } else { format!("{year:0count$}") }
        }
        'M' | 'L' if count >= 3 => name(&MONTHS, local.month0() as usize, count),
        'M' | 'L' => number(local.month()),
        'd' => number(local.day()),
        'D' => number(local.ordinal()),
        'E' => name(&DAYS, local.weekday().num_days_from_monday() as usize, count),
        'e' | 'c' => number(local.weekday().number_from_sunday()),
        'H' => number(local.hour()),
        'k' => number(if local.hour() == 0 { 24 } else { local.hour() }),
        'K' => number(local.hour() % 12),
        'h' => number(local.hour12().1),
        'm' => number(local.minute()),
        's' => number(local.second()),
        'S' => {
            let nanos = format!("{:09}", local.nanosecond() % 1_000_000_000);
            if count >= 9 { nanos } else { nanos[..count].to_owned() }
        }
        'n' => number(local.nanosecond()),
        'A' => number(local.num_seconds_from_midnight() * 1_000),
        'a' => {
            if local.hour() < 12 {
                "AM".to_owned()
            } else {
                "PM".to_owned()
            }
        }
        'w' => number(local.iso_week().week()),
        'W' => number(local.day().div_ceil(7)),
        'F' => number((local.day() - 1) / 7 + 1),
        'Q' | 'q' => number(local.month0() / 3 + 1),
        'G' => "AD".to_owned(),
        'X' if moment.offset == 0 => "Z".to_owned(),
        'X' | 'x' => match count {
            1 => {
                offset_text(moment.offset, "").trim_end_matches("00").to_owned()
                    + if moment.offset == 0 { "00" } else { "" }
            }
            2 => offset_text(moment.offset, ""),
            _ => offset_text(moment.offset, ":"),
        },
        'Z' if count < 4 => offset_text(moment.offset, ""),
        'Z' | 'O' => format!("GMT{}", if moment.offset == 0 { String::new() } else { offset_text(moment.offset, ":") }),
        'z' | 'V' | 'v' => moment.zone.clone(),
        _ => return None,
    })
}

/// What was read by a pattern.
#[derive(Default)]
pub(super) struct Fields {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: u32,
    minute: u32,
    second: u32,
    nanos: u32,
    half_day: Option<bool>,
    /// Seconds east of UTC, if the text said so.
    pub offset: Option<i32>,
    /// A named zone, if the text said so.
    pub zone: Option<String>,
}

impl Fields {
    /// Date and time; the date defaults to the first of January 1970.
    pub fn local(&self) -> Option<NaiveDateTime> {
        let year = self.year.unwrap_or(1970);
        let date = match self.day_of_year {
            Some(day) => NaiveDate::from_yo_opt(year, day)?,
            None => NaiveDate::from_ymd_opt(year, self.month.unwrap_or(1), self.day.unwrap_or(1))?,
        };
        let hour = match self.half_day {
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
            None => self.hour % 24,
        };
        Some(NaiveDateTime::new(date, NaiveTime::from_hms_nano_opt(hour, self.minute, self.second, self.nanos)?))
    }
}

/// Reads a text; `None` if it does not fit the pattern.
pub(super) fn read(pattern: &str, text: &str) -> Option<Fields> {
    let mut fields = Fields::default();
    let mut rest = text;
    let parts = parts(pattern);
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(wanted) => rest = rest.strip_prefix(wanted.as_str())?,
            Part::Letter(letter, count) => {
                // Digits without a separator have the width of the pattern.
                let tight = matches!(parts.get(index + 1), Some(Part::Letter(next, _)) if next.is_ascii_alphabetic() && *next != 'Z' && *next != 'X');
                rest = read_field(&mut fields, *letter, *count, tight, rest)?;
            }
        }
    }
    rest.trim().is_empty().then_some(fields)
}

fn read_field<'t>(fields: &mut Fields, letter: char, count: usize, tight: bool, rest: &'t str) -> Option<&'t str> {
    match letter {
        'M' | 'L' if count >= 3 => {
            let (index, rest) = read_name(&MONTHS, rest)?;
            fields.month = Some(index as u32 + 1);
            return Some(rest);
        }
        'E' => return read_name(&DAYS, rest).map(|(_, rest)| rest),
        'a' => {
            let half = rest.get(..2)?.to_ascii_uppercase();
            fields.half_day = Some(half == "PM");
            return Some(&rest[2..]);
        }
        'X' | 'x' | 'Z' | 'z' | 'V' | 'O' => return read_zone(fields, rest),
        _ => {}
    }
    let most = if tight { count } else { 19 };
    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let value: u32 = rest.get(..digits)?.parse().ok().or(if letter == 'S' && digits > 9 { Some(0) } else { None })?;
    match letter {
        'y' | 'u' | 'Y' => {
            let year = i32::try_from(value).ok()?;
            fields.year = Some(if count == 2 && digits == 2 {
                if year < 70 { 2_000 + year } else { 1_900 + year }
            } else {
                year
            });
        }
        'M' | 'L' => fields.month = Some(value),
        'd' => fields.day = Some(value),
        'D' => fields.day_of_year = Some(value),
        'H' | 'k' | 'h' | 'K' => fields.hour = value,
        'm' => fields.minute = value,
        's' => fields.second = value,
        'S' | 'n' => {
            let nanos = format!("{:0<9}", &rest[..digits.min(9)]);
            fields.nanos = nanos.parse().ok()?;
        }
        _ => {}
    }
    Some(&rest[digits..])
}

fn read_name<'t>(names: &[&str], rest: &'t str) -> Option<(usize, &'t str)> {
    for short in [false, true] {
        for (index, name) in names.iter().enumerate() {
            let name = if short { &name[..3] } else { name };
            if rest.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name)) {
                return Some((index, &rest[name.len()..]));
            }
        }
    }
    None
}

fn read_zone<'t>(fields: &mut Fields, rest: &'t str) -> Option<&'t str> {
    let end = rest.find(|letter: char| !(letter.is_alphanumeric() || "+-:/_".contains(letter))).unwrap_or(rest.len());
    let zone = &rest[..end];
    match fixed_offset(zone) {
        Some(offset) => fields.offset = Some(offset),
        None if zone.is_empty() => return None,
        None => fields.zone = Some(zone.to_owned()),
    }
    Some(&rest[end..])
}
