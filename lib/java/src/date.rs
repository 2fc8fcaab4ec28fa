//! Writes and parses dates by the patterns of Java, such as
//! `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`. Names are English.
//!
//! One type covers the patterns of `SimpleDateFormat` and of `DateTimeFormatter`. If the two
//! differ, a letter means the field that both can write.

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
const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Maximum number of repetitions of a letter. More are a mistake, and would
/// write texts without bound.
const LONGEST_FIELD: usize = 20;

/// Letters of fields that are supported.
const LETTERS: &str = "yuYMLdDEecHkKhmsSnAawWFQqGXxZOzVv";

/// A date pattern that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("date pattern `{pattern}`: {reason} (example: yyyy-MM-dd HH:mm:ss.SSS)")]
pub struct DatePatternError {
    /// The pattern as given.
    pub pattern: String,
    /// Description of the error, with a correction.
    pub reason: String,
}

/// A local date and time, with the offset of its clock from UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Local date and time.
    pub local: NaiveDateTime,
    /// Offset in seconds east of UTC.
    pub offset: i32,
    /// Name of the time zone.
    pub zone: String,
}

impl Moment {
    /// Creates a moment from milliseconds since 1970-01-01 UTC and an offset in seconds east of
    /// UTC. A time out of range becomes 1970.
    pub fn new(unix_millis: i64, offset: i32, zone: String) -> Self {
        Self {
            local: local_of(unix_millis.saturating_add(i64::from(offset) * 1_000)),
            offset,
            zone,
        }
    }
}

/// Returns the date and time of milliseconds since 1970; 1970 for a time out of range.
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
    /// Parses a pattern. Text in `'…'` is literal, `''` is a quote; `[` and `]` of
    /// optional parts are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error for an unsupported letter, a quote that is not closed, or a letter repeated
    /// more than 20 times.
    pub fn parse(pattern: &str) -> Result<Self, DatePatternError> {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            let length = if first == '\'' {
                let (text, length) = quoted(rest)
                    .ok_or_else(|| bad_pattern(pattern, "a `'` is not closed".into()))?;
                push_text(&mut parts, &text);
                length
            } else if first.is_ascii_alphabetic() {
                let count = rest.chars().take_while(|one| *one == first).count();
                if !LETTERS.contains(first) || count > LONGEST_FIELD {
                    let reason = format!(
                        "`{}` is not supported; write literal text as 'text'",
                        &rest[..count]
                    );
                    return Err(bad_pattern(pattern, reason));
                }
                parts.push(Part::Field(first, count));
                count
            } else {
                if !matches!(first, '[' | ']') {
                    push_text(&mut parts, first.encode_utf8(&mut [0; 4]));
                }
                first.len_utf8()
            };
            rest = &rest[length..];
        }
        Ok(Self { parts })
    }

    /// Writes a moment as text.
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

    /// Writes the date of milliseconds since 1970-01-01 UTC, with an offset in seconds east of UTC.
    pub fn format(&self, unix_millis: i64, offset_seconds: i32) -> String {
        let zone =
            if offset_seconds == 0 { String::new() } else { offset_text(offset_seconds, ":") };
        self.write(&Moment::new(unix_millis, offset_seconds, format!("GMT{zone}")))
    }

    /// Parses a text; None if it does not fit the pattern.
    pub fn fields(&self, text: &str) -> Option<Fields> {
        let mut fields = Fields::default();
        let mut rest = text;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Field(letter, count) => {
                    // A number without a following separator has exactly the width of the pattern.
                    let next = self.parts.get(index + 1);
                    let is_tight =
                        matches!(next, Some(Part::Field(next, _)) if !matches!(next, 'Z' | 'X'));
                    rest = read_field(&mut fields, *letter, *count, is_tight, rest)?;
                }
            }
        }
        rest.trim().is_empty().then_some(fields)
    }

    /// Parses a date that this pattern wrote, as milliseconds since 1970-01-01 UTC. The given
    /// offset applies if the text has none. None if the text does not fit.
    pub fn read(&self, text: &str, offset_seconds: i32) -> Option<i64> {
        let fields = self.fields(text)?;
        let offset = fields.offset.unwrap_or(offset_seconds);
        Some(fields.local()?.and_utc().timestamp_millis() - i64::from(offset) * 1_000)
    }
}

fn bad_pattern(pattern: &str, reason: String) -> DatePatternError {
    DatePatternError { pattern: pattern.to_owned(), reason }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// Returns the text of a quoted part, and its length including the quotes; `''` is one quote.
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
    match letter {
        'y' | 'u' | 'Y' => {
            // In `SimpleDateFormat`, a single `u` is the day of the week.
            if letter == 'u' && count == 1 {
                return local.weekday().number_from_monday().to_string();
            }
            // `Y` is the year of the week, which differs around New Year.
            let year = if letter == 'Y' { local.iso_week().year() } else { local.year() };
            if count == 2 {
                format!("{:02}", year.rem_euclid(100))
            } else {
                format!("{year:0count$}")
            }
        }
        'M' | 'L' if count >= 3 => name(&MONTHS, local.month0() as usize, count),
        'M' | 'L' => padded(local.month(), count),
        'd' => padded(local.day(), count),
        'D' => padded(local.ordinal(), count),
        'E' => name(&DAYS, local.weekday().num_days_from_monday() as usize, count),
        'e' | 'c' => padded(local.weekday().number_from_sunday(), count),
        'H' => padded(local.hour(), count),
        'k' => padded(if local.hour() == 0 { 24 } else { local.hour() }, count),
        'K' => padded(local.hour() % 12, count),
        'h' => padded(local.hour12().1, count),
        'm' => padded(local.minute(), count),
        's' => padded(local.second(), count),
        'S' => {
            let nanos = format!("{:09}", local.nanosecond() % 1_000_000_000);
            nanos.get(..count).map_or_else(|| format!("{nanos:0<count$}"), str::to_owned)
        }
        'n' => padded(local.nanosecond(), count),
        'A' => padded(local.num_seconds_from_midnight() * 1_000, count),
        'a' => {
            if local.hour() < 12 {
                "AM".to_owned()
            } else {
                "PM".to_owned()
            }
        }
        'w' => padded(local.iso_week().week(), count),
        'W' => padded(local.day().div_ceil(7), count),
        'F' => padded((local.day() - 1) / 7 + 1, count),
        'Q' | 'q' => padded(local.month0() / 3 + 1, count),
        'G' => "AD".to_owned(),
        'X' if moment.offset == 0 => "Z".to_owned(),
        'X' | 'x' if count == 1 && moment.offset % 3_600 == 0 => {
            offset_text(moment.offset, "")[..3].to_owned()
        }
        'X' | 'x' => offset_text(moment.offset, if count < 3 { "" } else { ":" }),
        'Z' if count < 4 => offset_text(moment.offset, ""),
        'Z' | 'O' => format!(
            "GMT{}",
            if moment.offset == 0 { String::new() } else { offset_text(moment.offset, ":") }
        ),
        _ => moment.zone.clone(),
    }
}

fn padded(value: u32, count: usize) -> String {
    format!("{value:0count$}")
}

/// Fields that were parsed by a pattern.
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
    /// Offset in seconds east of UTC, if the text has one.
    pub offset: Option<i32>,
    /// Named time zone, if the text has one.
    pub zone: Option<String>,
}

impl Fields {
    /// Returns the date and time; the date defaults to the first of January 1970.
    pub fn local(&self) -> Option<NaiveDateTime> {
        self.local_in(1970)
    }

    /// Returns the date and time, with `year` as the default year.
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
        Some(NaiveDateTime::new(
            date,
            NaiveTime::from_hms_nano_opt(hour, self.minute, self.second, self.nanos)?,
        ))
    }
}

fn read_field<'t>(
    fields: &mut Fields,
    letter: char,
    count: usize,
    is_tight: bool,
    rest: &'t str,
) -> Option<&'t str> {
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
    let most = if is_tight { count } else { 19 };
    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let value: u32 = rest.get(..digits)?.parse().ok().or(if letter == 'S' && digits > 9 {
        Some(0)
    } else {
        None
    })?;
    match letter {
        'y' | 'u' | 'Y' => {
            let year = i32::try_from(value).ok()?;
            fields.year = Some(if count == 2 && digits == 2 {
                // Years of two digits are those from 1970 to 2069.
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
    let end = rest
        .find(|letter: char| !(letter.is_alphanumeric() || "+-:/_".contains(letter)))
        .unwrap_or(rest.len());
    let zone = &rest[..end];
    match fixed_offset(zone) {
        Some(offset) => fields.offset = Some(offset),
        None if zone.is_empty() => return None,
        None => fields.zone = Some(zone.to_owned()),
    }
    Some(&rest[end..])
}

/// Returns the offset in seconds of `Z`, `GMT+5`, `+02:00` and similar texts.
pub fn fixed_offset(name: &str) -> Option<i32> {
    let rest =
        ["UTC", "GMT", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    if matches!(name, "Z" | "Etc/UTC" | "Etc/GMT" | "Zulu" | "Universal")
        || (rest.is_empty() && !name.is_empty())
    {
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
    let hours: i32 = digits[..2].parse().ok()?;
    let minutes: i32 = digits[2..4].parse().ok()?;
    // Java allows offsets of up to 18 hours.
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Writes an offset as `+02:00`, with `separator` between hours and minutes.
pub fn offset_text(offset: i32, separator: &str) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    format!("{sign}{:02}{separator}{:02}", offset.abs() / 3_600, offset.abs() / 60 % 60)
}

#[cfg(test)]
mod tests;
