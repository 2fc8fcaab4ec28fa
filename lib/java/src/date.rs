//! Dates in the patterns of Java: `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`, for writing and reading. Names are English.
//!
//! The patterns of `SimpleDateFormat` and of `DateTimeFormatter` in one: where they differ, a letter means what both can write.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

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

/// The longest run of one letter; a longer one is a mistake, and would make rows without bound.
const LONGEST_FIELD: usize = 20;

/// The letters that mean something.
const LETTERS: &str = "yuYMLdDEecHkKhmsSnAawWFQqGXxZOzVv";

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("date pattern `{pattern}`: {why} (example: yyyy-MM-dd HH:mm:ss.SSS)")]
pub struct BadDatePattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it, and what to write instead.
    pub why: String,
}

/// A date and time of day on a clock, and how far that clock is from UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// On the clock.
    pub local: NaiveDateTime,
    /// Seconds east of UTC.
    pub offset: i32,
    /// The name of the time zone.
    pub zone: String,
}

impl Moment {
    /// The moment of ms since 1970-01-01 UTC, on a clock so many seconds east of UTC. What cannot be written becomes 1970.
    pub fn new(unix_millis: i64, offset: i32, zone: String) -> Self {
        Self { local: local_of(unix_millis.saturating_add(i64::from(offset) * 1_000)), offset, zone }
    }
}

/// The date and time of ms since 1970, cut to what can be written.
pub fn local_of(millis: i64) -> NaiveDateTime {
    DateTime::from_timestamp_millis(millis).unwrap_or_default().naive_utc()
}

/// A pattern of `SimpleDateFormat` or `DateTimeFormatter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Field(char, usize),
    Text(String),
}

impl DatePattern {
    /// Reads a pattern. Text in `'…'` is literal, `''` is a quote; `[` and `]` of optional parts are left out.
    ///
    /// # Errors
    ///
    /// A letter that means nothing, a quote that is not closed, or a letter repeated more than 20 times.
    pub fn parse(pattern: &str) -> Result<Self, BadDatePattern> {
        let wrong = |why: String| BadDatePattern { pattern: pattern.to_owned(), why };
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            let taken = if first == '\'' {
                let (text, length) = quoted(rest).ok_or_else(|| wrong("a `'` is not closed".into()))?;
                push_text(&mut parts, &text);
                length
            } else if first.is_ascii_alphabetic() {
                let count = rest.chars().take_while(|one| *one == first).count();
                if !LETTERS.contains(first) || count > LONGEST_FIELD {
                    return Err(wrong(format!("`{}` is not supported; write literal text as 'text'", &rest[..count])));
                }
                parts.push(Part::Field(first, count));
                count
            } else {
                if !matches!(first, '[' | ']') {
                    push_text(&mut parts, first.encode_utf8(&mut [0; 4]));
                }
                first.len_utf8()
            };
            rest = &rest[taken..];
        }
        Ok(Self { parts })
    }

    /// Writes a moment.
    pub fn write(&self, moment: &Moment) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Field(letter, count) => text.push_str(&field(*letter, *count, moment)),
            }
        }
        text
    }

    /// The date of ms since 1970-01-01 UTC, on a clock so many seconds east of UTC.
    pub fn format(&self, unix_millis: i64, offset_seconds: i32) -> String {
        let zone = if offset_seconds == 0 { String::new() } else { offset_text(offset_seconds, ":") };
        self.write(&Moment::new(unix_millis, offset_seconds, format!("GMT{zone}")))
    }

    /// Reads a text; None if it does not fit the pattern.
    pub fn fields(&self, text: &str) -> Option<Fields> {
        let mut fields = Fields::default();
        let mut rest = text;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(wanted) => rest = rest.strip_prefix(wanted.as_str())?,
                Part::Field(letter, count) => {
                    // Digits without a separator have the width of the pattern.
                    let next = self.parts.get(index + 1);
                    let tight = matches!(next, Some(Part::Field(next, _)) if !matches!(next, 'Z' | 'X'));
                    rest = read_field(&mut fields, *letter, *count, tight, rest)?;
                }
            }
        }
        rest.trim().is_empty().then_some(fields)
    }

    /// The ms since 1970-01-01 UTC of a date that this pattern wrote. The offset holds where the text names none. None where it does
    /// not fit.
    pub fn read(&self, text: &str, offset_seconds: i32) -> Option<i64> {
        let fields = self.fields(text)?;
        let offset = fields.offset.unwrap_or(offset_seconds);
        Some(fields.local()?.and_utc().timestamp_millis() - i64::from(offset) * 1_000)
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
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

fn name(names: &[&str], index: usize, count: usize) -> String {
    let name = names.get(index).copied().unwrap_or("");
    if count >= 4 { name.to_owned() } else { name[..3.min(name.len())].to_owned() }
}

fn field(letter: char, count: usize, moment: &Moment) -> String {
    let local = &moment.local;
    let number = |value: u32| format!("{value:0count$}");
    match letter {
        'y' | 'u' | 'Y' => {
            if letter == 'u' && count == 1 {
                return local.weekday().number_from_monday().to_string();
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
            nanos.get(..count).map_or_else(|| format!("{nanos:0<count$}"), str::to_owned)
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
        'X' | 'x' if count == 1 && moment.offset % 3_600 == 0 => offset_text(moment.offset, "")[..3].to_owned(),
        'X' | 'x' => offset_text(moment.offset, if count < 3 { "" } else { ":" }),
        'Z' if count < 4 => offset_text(moment.offset, ""),
        'Z' | 'O' => format!("GMT{}", if moment.offset == 0 { String::new() } else { offset_text(moment.offset, ":") }),
        _ => moment.zone.clone(),
    }
}

/// What was read by a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
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
        self.local_in(1970)
    }

    /// Date and time, where a text without a year means this one.
    pub fn local_in(&self, year: i32) -> Option<NaiveDateTime> {
        let year = self.year.unwrap_or(year);
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

/// The offset in seconds of `Z`, `GMT+5`, `+02:00` and their like.
pub fn fixed_offset(name: &str) -> Option<i32> {
    let rest = ["UTC", "GMT", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    if matches!(name, "Z" | "Etc/UTC" | "Etc/GMT" | "Zulu" | "Universal") || (rest.is_empty() && !name.is_empty()) {
        return Some(0);
    }
    let sign = match rest.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits: String = rest[1..].chars().filter(|letter| *letter != ':').collect();
    if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = if digits.len() < 3 { format!("{digits:0>2}00") } else { format!("{digits:0>4}") };
    let (hours, minutes): (i32, i32) = (digits[..2].parse().ok()?, digits[2..4].parse().ok()?);
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// `+02:00`, with this between hours and minutes.
pub fn offset_text(offset: i32, separator: &str) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    format!("{sign}{:02}{separator}{:02}", offset.abs() / 3_600, offset.abs() / 60 % 60)
}

#[cfg(test)]
mod tests;
