//! Formats times in the time zone of the machine.

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// Formats a time in milliseconds since 1970 by a format of strftime(3). Empty for a time beyond the year 9999.
pub fn format(unix_millis: i64, format: &str) -> String {
    Timestamp::from_millisecond(unix_millis)
        .and_then(|time| strtime::format(format, &time.to_zoned(TimeZone::system())))
        .unwrap_or_default()
}

/// Offset of the time zone in seconds east of UTC; 0 for a time beyond the year 9999.
pub fn offset(unix_millis: i64) -> i32 {
    Timestamp::from_millisecond(unix_millis)
        .map_or(0, |time| TimeZone::system().to_offset(time).seconds())
}
