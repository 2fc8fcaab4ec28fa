//! The time, its formats, and dates. Formats are date patterns of Java; times are those of the machine's time zone.

use super::{Call, Function};
use crate::texts::machine::local_offset;
use brunt_java::date::{DatePattern, local_of};
use chrono::{Datelike, Local, NaiveDate, NaiveDateTime, TimeZone};
use rand::RngExt;

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["time"],
        arguments: 0..=2,
        about: "the time: milliseconds since 1970, or by a format; variable",
        call: time,
    },
    Function {
        names: &["timestamp"],
        arguments: 0..=0,
        about: "seconds since 1970",
        call: |call| (millis(call) / 1000).to_string(),
    },
    Function {
        names: &["timeShift"],
        arguments: 3..=5,
        about: "a time by a format, shifted by a duration: format, date (now), shift such as P1DT2H, locale, variable",
        call: shifted,
    },
    Function {
        names: &["dateTimeConvert"],
        arguments: 3..=4,
        about: "a date in another format: date, its format (milliseconds since 1970), format, variable",
        call: converted,
    },
    Function {
        names: &["RandomDate"],
        arguments: 3..=5,
        about: "a random day: format (yyyy-MM-dd), first (today), the day behind the last, locale, variable",
        call: random_date,
    },
];

fn millis(call: &Call<'_>) -> u64 {
    call.user.worker.surroundings.unix_millis()
}

fn now(call: &Call<'_>) -> i64 {
    millis(call) as i64
}

/// The ms since 1970 of a date and time of the machine's time zone.
fn of_local(local: NaiveDateTime) -> i64 {
    let found = Local.from_local_datetime(&local).earliest();
    found.map_or_else(|| local.and_utc().timestamp_millis(), |time| time.timestamp_millis())
}

fn written(unix_millis: i64, pattern: &DatePattern) -> String {
    pattern.format(unix_millis, local_offset(unix_millis))
}

/// The ms since 1970 of a text; without a year in it, of this year.
fn read(text: &str, pattern: &DatePattern, now: i64) -> Option<i64> {
    let fields = pattern.fields(text)?;
    let local = fields.local_in(local_of(now).year())?;
    match fields.offset {
        Some(offset) => Some(local.and_utc().timestamp_millis() - i64::from(offset) * 1_000),
        None => Some(of_local(local)),
    }
}

fn time(call: &Call<'_>) -> String {
    let format = match call.text(0).trim() {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        other => other,
    };
    let text = match format.strip_prefix('/') {
        _ if format.is_empty() => millis(call).to_string(),
        Some(divisor) => millis(call).checked_div(divisor.parse().unwrap_or(1)).unwrap_or_default().to_string(),
        None => DatePattern::parse(format).map_or_else(|_| String::new(), |pattern| written(now(call), &pattern)),
    };
    call.into_variable(1, text)
}

/// Why the first argument of a call makes no sense, where it is a format.
pub fn check(function: &Function, text: &str) -> Result<(), String> {
    let text = text.trim();
    match function.names[0] {
        "time" if text.starts_with('/') || matches!(text, "YMD" | "HMS" | "YMDHMS") => Ok(()),
        "time" | "timeShift" | "RandomDate" => DatePattern::parse(text).map(|_| ()).map_err(|error| error.to_string()),
        _ => Ok(()),
    }
}

fn shifted(call: &Call<'_>) -> String {
    let variable = if call.arguments.len() == 4 { 3 } else { 4 };
    let (format, date) = (call.text(0).trim(), call.text(1).trim());
    let Ok(pattern) = DatePattern::parse(format) else { return String::new() };
    let given = if format.is_empty() { date.parse().ok() } else { read(date, &pattern, now(call)) };
    // As in JMeter, what cannot be read is now, and shifts by nothing.
    let time = given.filter(|_| !date.is_empty()).unwrap_or_else(|| now(call));
    let time = time.saturating_add(duration_millis(call.text(2).trim()).unwrap_or(0));
    let text = if format.is_empty() { time.to_string() } else { written(time, &pattern) };
    call.into_variable(variable, text)
}

fn converted(call: &Call<'_>) -> String {
    let (date, from) = (call.text(0), call.text(1));
    let time = match DatePattern::parse(from) {
        _ if from.is_empty() => date.trim().parse().ok(),
        Ok(from) => read(date, &from, now(call)),
        Err(_) => None,
    };
    match (time, DatePattern::parse(call.text(2))) {
        (Some(time), Ok(to)) => call.into_variable(3, written(time, &to)),
        _ => String::new(),
    }
}

fn random_date(call: &Call<'_>) -> String {
    let format = if call.text(0).trim().is_empty() { "yyyy-MM-dd" } else { call.text(0).trim() };
    let Ok(pattern) = DatePattern::parse(format) else { return String::new() };
    let today = local_of(now(call).saturating_add(i64::from(local_offset(now(call))) * 1_000)).date();
    let day = |text: &str| Some(pattern.fields(text)?.local_in(today.year())?.date());
    let first = if call.text(1).trim().is_empty() { Some(today) } else { day(call.text(1).trim()) };
    let (Some(first), Some(end)) = (first, day(call.text(2).trim())) else { return String::new() };
    let days = (end - first).num_days();
    if days < 1 {
        return String::new();
    }
    let drawn: i64 = call.user.worker.random.borrow_mut().random_range(0..days);
    let date: Option<NaiveDate> = first.checked_add_signed(chrono::Duration::days(drawn));
    let text = date.and_then(|date| date.and_hms_opt(0, 0, 0)).map(|date| date.and_utc().timestamp_millis());
    call.into_variable(4, text.map_or_else(String::new, |time| pattern.format(time, 0)))
}

/// The milliseconds of an ISO 8601 duration as Java reads it: `P10DT-1H-5M5.5S`, `-PT1H`.
fn duration_millis(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(&text)),
    };
    let rest = rest.strip_prefix('P').filter(|rest| !rest.is_empty() && *rest != "T")?;
    let (days, times) = rest.split_once('T').unwrap_or((rest, ""));
    let mut sum = parts(days, "D", &[86_400.0])?;
    sum += parts(times, "HMS", &[3_600.0, 60.0, 1.0])?;
    Some((sign * sum * 1e3).round() as i64)
}

/// The seconds of numbers, each before its unit; units come in order.
fn parts(text: &str, units: &str, seconds: &[f64]) -> Option<f64> {
    let (mut sum, mut rest, mut from) = (0.0, text, 0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let unit = from + units[from..].find(&rest[end..=end])?;
        let number: f64 = rest[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
        sum += number * seconds[unit];
        (rest, from) = (&rest[end + 1..], unit + 1);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_java_reads_them() {
        for (text, expected) in [
            ("P1D", Some(86_400_000)),
            ("PT1H30M", Some(5_400_000)),
            ("P10DT-1H-5M5.5S", Some(860_105_500)),
            ("-PT0.25S", Some(-250)),
            ("pt6h3m", Some(21_780_000)),
            ("P", None),
            ("PT", None),
            ("PT1M1H", None),
            ("1D", None),
            ("P1", None),
            ("PTé1S", None),
        ] {
            assert_eq!(duration_millis(text), expected, "{text}");
        }
    }
}
