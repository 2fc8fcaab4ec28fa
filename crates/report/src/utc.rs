//! Formats dates in RFC 3339. Out of scope: a clock.

use crate::texts::message;
use brunt_model::Text;

/// Formats seconds since 1970-01-01 UTC as `2026-07-01T12:00:00.250Z`, to the millisecond.
pub fn rfc3339(unix_seconds: f64) -> String {
    let millis = (unix_seconds.max(0.0) * 1e3).round() as u64;
    let seconds = millis / 1000;
    let of_day = seconds % 86_400;
    let (year, month, day) = civil((seconds / 86_400) as i64);
    let hour = of_day / 3600;
    let minute = of_day / 60 % 60;
    let second = of_day % 60;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", millis % 1000)
}

/// Formats seconds since 1970 as a date with hour and minute: `2026-07-01 12:00`.
pub fn date_and_minute(unix_seconds: f64) -> String {
    // Its 16 characters before the seconds.
    rfc3339(unix_seconds).replace('T', " ").chars().take(16).collect()
}

/// Formats seconds since 1970 as a day and a time: `Nov 26 14:05:07`.
pub fn day_and_time(unix_seconds: f64) -> String {
    format!(
        "{} {}:{:02}",
        day(unix_seconds),
        hour_and_minute(unix_seconds),
        unix_seconds.rem_euclid(60.0).floor()
    )
}

/// Formats the day of an instant: `Nov 26`.
pub fn day(unix_seconds: f64) -> Text {
    let (_, month, day) = civil_of(unix_seconds);
    message!("day", month = month as u64, day = day.to_string())
}

/// Formats the date of an instant: `Nov 26, 2026`.
pub fn date(unix_seconds: f64) -> Text {
    let (year, ..) = civil_of(unix_seconds);
    message!("date", day = day(unix_seconds), year = year.to_string())
}

/// Formats the time of day of an instant: `14:05`.
pub fn hour_and_minute(unix_seconds: f64) -> String {
    let minutes = (unix_seconds.rem_euclid(86_400.0) / 60.0).floor();
    format!("{:02}:{:02}", (minutes / 60.0).floor(), minutes % 60.0)
}

/// Returns year, month and day of an instant.
fn civil_of(unix_seconds: f64) -> (i64, i64, i64) {
    civil((unix_seconds / 86_400.0).floor() as i64)
}

/// Returns year, month and day of a day counted from 1970-01-01. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the leap day is the last of its year.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        // From `date -u -d @N`.
        assert_eq!(rfc3339(0.0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(951_782_400.0), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(1_782_907_200.25), "2026-07-01T12:00:00.250Z");
        assert_eq!(rfc3339(1_735_689_599.0), "2024-12-31T23:59:59.000Z");
    }

    #[test]
    fn a_time_has_its_date() {
        assert_eq!(day_and_time(1_782_907_207.9), "Jul 1 12:00:07");
        assert_eq!((day(-1.0).as_str(), hour_and_minute(-1.0).as_str()), ("Dec 31", "23:59"));
    }

    #[test]
    fn any_time_is_formatted() {
        day_and_time(f64::NAN);
        assert_eq!(rfc3339(f64::NAN), rfc3339(0.0));
        assert!(rfc3339(f64::INFINITY).ends_with('Z'));
    }
}
