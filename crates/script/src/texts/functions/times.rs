//! Functions for the time, its formats, and dates. Formats are Java's date patterns; times are in
//! the machine's time zone.

use super::{Call, Function};
use crate::texts::machine::{local_offset, unix_millis_of_local};
use brunt_java::date::{DatePattern, local_of};
use chrono::{Datelike, NaiveDate};
use rand::RngExt;

/// Functions of this module.
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
        call: shift_time,
    },
    Function {
        names: &["dateTimeConvert"],
        arguments: 3..=4,
        about: "a date in another format: date, its format (milliseconds since 1970), format, variable",
        call: convert_date,
    },
    Function {
        names: &["RandomDate"],
        arguments: 3..=5,
        about: "a random day: format (yyyy-MM-dd), first (today), the day after the last, locale, variable",
        call: random_date,
    },
];

fn millis(call: &Call<'_>) -> u64 {
    call.user.worker.run_state.unix_millis()
}

fn now(call: &Call<'_>) -> i64 {
    millis(call) as i64
}

fn format_time(unix_millis: i64, pattern: &DatePattern) -> String {
    pattern.format(unix_millis, local_offset(unix_millis))
}

/// Parses a date to milliseconds since 1970. A date without a year is in this year.
fn parse(text: &str, pattern: &DatePattern, now: i64) -> Option<i64> {
    let fields = pattern.fields(text)?;
    let local = fields.local_in(local_of(now).year())?;
    match fields.offset {
        Some(offset) => Some(local.and_utc().timestamp_millis() - i64::from(offset) * 1_000),
        None => Some(unix_millis_of_local(local.and_utc().timestamp_millis())),
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
        Some(divisor) => {
            millis(call).checked_div(divisor.parse().unwrap_or(1)).unwrap_or_default().to_string()
        }
        None => DatePattern::parse(format)
            .map_or_else(|_| String::new(), |pattern| format_time(now(call), &pattern)),
    };
    call.into_variable(1, text)
}

/// Checks the first argument of a call, if it is a format.
pub fn check(function: &Function, text: &str) -> Result<(), String> {
    let text = text.trim();
    match function.names[0] {
        "time" if text.starts_with('/') || matches!(text, "YMD" | "HMS" | "YMDHMS") => Ok(()),
        "time" | "timeShift" | "RandomDate" => {
            DatePattern::parse(text).map(|_| ()).map_err(|error| error.to_string())
        }
        _ => Ok(()),
    }
}

fn shift_time(call: &Call<'_>) -> String {
    // With four arguments, the locale is missing.
    let variable = if call.arguments.len() == 4 { 3 } else { 4 };
    let format = call.text(0).trim();
    let date = call.text(1).trim();
    let Ok(pattern) = DatePattern::parse(format) else { return String::new() };
    let parsed =
        if format.is_empty() { date.parse().ok() } else { parse(date, &pattern, now(call)) };
    // As in JMeter, an unreadable date is replaced by now, and an unreadable shift by 0.
    let time = parsed.filter(|_| !date.is_empty()).unwrap_or_else(|| now(call));
    let time = time.saturating_add(duration_millis(call.text(2).trim()).unwrap_or(0));
    let text = if format.is_empty() { time.to_string() } else { format_time(time, &pattern) };
    call.into_variable(variable, text)
}

fn convert_date(call: &Call<'_>) -> String {
    let date = call.text(0);
    let from = call.text(1);
    let time = match DatePattern::parse(from) {
        _ if from.is_empty() => date.trim().parse().ok(),
        Ok(from) => parse(date, &from, now(call)),
        Err(_) => None,
    };
    match (time, DatePattern::parse(call.text(2))) {
        (Some(time), Ok(to)) => call.into_variable(3, format_time(time, &to)),
        _ => String::new(),
    }
}

fn random_date(call: &Call<'_>) -> String {
    let format = if call.text(0).trim().is_empty() { "yyyy-MM-dd" } else { call.text(0).trim() };
    let Ok(pattern) = DatePattern::parse(format) else { return String::new() };
    let today =
        local_of(now(call).saturating_add(i64::from(local_offset(now(call))) * 1_000)).date();
    let year = today.year();
    let first = if call.text(1).trim().is_empty() {
        Some(today)
    } else {
        day(&pattern, call.text(1).trim(), year)
    };
    let (Some(first), Some(end)) = (first, day(&pattern, call.text(2).trim(), year)) else {
        return String::new();
    };
    let days = (end - first).num_days();
    if days < 1 {
        return String::new();
    }
    let offset: i64 = call.user.worker.random.borrow_mut().random_range(0..days);
    let date: Option<NaiveDate> = first.checked_add_signed(chrono::Duration::days(offset));
    let text = date
        .and_then(|date| date.and_hms_opt(0, 0, 0))
        .map(|date| date.and_utc().timestamp_millis());
    // A day has no time zone.
    call.into_variable(4, text.map_or_else(String::new, |time| pattern.format(time, 0)))
}

/// Parses a day; a day without a year is in `year`.
fn day(pattern: &DatePattern, text: &str, year: i32) -> Option<NaiveDate> {
    Some(pattern.fields(text)?.local_in(year)?.date())
}

/// Parses an ISO 8601 duration to milliseconds, as Java does: `P10DT-1H-5M5.5S`, `-PT1H`.
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

/// Sums numbers with units, in seconds. Units must be in order.
fn parts(text: &str, units: &str, seconds: &[f64]) -> Option<f64> {
    let mut sum = 0.0;
    let mut rest = text;
    let mut from = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let unit = from + units[from..].find(&rest[end..=end])?;
        let number: f64 = rest[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
        sum += number * seconds[unit];
        rest = &rest[end + 1..];
        from = unit + 1;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_like_java() {
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
