//! Facts that functions and scripts read outside of the plan: environment variables, the time zone, and the plan's file.

use brunt_java::date::local_of;
use chrono::{Local, Offset, TimeZone};

/// The property with the name of the JMeter plan's file.
pub const PLAN_FILE: &str = "brunt.plan.file";

/// The value of an environment variable.
pub fn environment(name: &str) -> Option<String> {
    std::env::var_os(name).filter(|_| !name.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

/// Seconds east of UTC of the machine's time zone, at a time in milliseconds since 1970.
pub fn local_offset(unix_millis: i64) -> i32 {
    Local.offset_from_utc_datetime(&local_of(unix_millis)).fix().local_minus_utc()
}
