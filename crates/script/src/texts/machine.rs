//! Reads facts outside of the plan for functions and scripts: environment variables, the time zone,
//! and the plan's file.

use brunt_java::date::local_of;
use chrono::{Local, Offset, TimeZone};

/// Name of the property with the name of the JMeter plan's file.
pub const PLAN_FILE: &str = "brunt.plan.file";

/// Returns the value of an environment variable.
pub fn environment(name: &str) -> Option<String> {
    std::env::var_os(name)
        .filter(|_| !name.is_empty())
        .map(|value| value.to_string_lossy().into_owned())
}

/// Returns the offset of the machine's time zone in seconds east of UTC, at a time
/// in milliseconds since 1970.
pub fn local_offset(unix_millis: i64) -> i32 {
    Local.offset_from_utc_datetime(&local_of(unix_millis)).fix().local_minus_utc()
}
