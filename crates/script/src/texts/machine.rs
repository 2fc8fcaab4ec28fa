//! Reads facts outside of the plan for functions and scripts: environment variables, the time zone,
//! and the plan's file.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

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
    TimeZone::system().to_offset(timestamp(unix_millis)).seconds()
}

/// Returns the milliseconds since 1970 of a local date and time, which are given as if they were in UTC.
pub fn unix_millis_of_local(local_millis: i64) -> i64 {
    let local = Offset::UTC.to_datetime(timestamp(local_millis));
    // When clocks change, a local time exists twice, or not at all.
    let time = TimeZone::system().to_ambiguous_timestamp(local).compatible();
    time.map_or(local_millis, Timestamp::as_millisecond)
}

/// Returns the offset of a time zone such as `Europe/Berlin` in seconds east of UTC, at a time in milliseconds since
/// 1970. None: the zone is unknown. A machine without files of zones has those in brunt.
pub fn zone_offset(name: &str, unix_millis: i64) -> Option<i32> {
    let zone = TimeZone::get(name).ok()?;
    // Names of Java are case-sensitive.
    (zone.iana_name() == Some(name)).then(|| zone.to_offset(timestamp(unix_millis)).seconds())
}

/// A time within the years that have offsets, -9999 to 9999.
fn timestamp(unix_millis: i64) -> Timestamp {
    let last = if unix_millis < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(unix_millis).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZoneDatabase;
    use std::process::Command;
    use std::{env, str};

    #[test]
    fn a_zone_has_its_offsets() {
        // Winter, summer; a summer that follows from the rule for years to come; beyond all years.
        for (millis, offset) in [
            (1_577_869_200_000, 3600),
            (1_590_000_000_000, 7200),
            (4_118_083_200_000, 7200),
            (i64::MAX, 3600),
        ] {
            assert_eq!(zone_offset("Europe/Berlin", millis), Some(offset), "{millis}");
        }
        // Local mean time: 53 min 28 s.
        assert_eq!(zone_offset("Europe/Berlin", i64::MIN), Some(3208));
        for name in ["", "/etc/passwd", "../passwd", "No/Such", "europe/berlin"] {
            assert_eq!(zone_offset(name, 0), None, "{name}");
        }
    }

    #[test]
    fn a_local_time_that_exists_twice_is_the_first() {
        if env::var_os("TZ").is_none_or(|zone| zone != "Europe/Berlin") {
            return in_process("a_local_time_that_exists_twice_is_the_first", &[]);
        }
        for (local, unix) in [
            (1_577_872_800_000, 1_577_869_200_000),
            // 2020-10-25 02:30, in summer time.
            (1_603_593_000_000, 1_603_585_800_000),
            // 2020-03-29 02:30 does not exist: 03:30.
            (1_585_449_000_000, 1_585_445_400_000),
        ] {
            assert_eq!(unix_millis_of_local(local), unix, "{local}");
            assert!(local_offset(unix) >= 3600);
        }
    }

    #[test]
    fn zones_are_known_without_files() {
        // If `TZDIR` has no zones, jiff reads those of the system, and its copy if there are none.
        assert!(TimeZoneDatabase::bundled().get("Europe/Berlin").is_ok());
        let folder = tempfile::tempdir().unwrap();
        let without_files = [("TZDIR", folder.path().to_str().unwrap())];
        in_process("a_zone_has_its_offsets", &without_files);
        in_process("a_local_time_that_exists_twice_is_the_first", &without_files);
    }

    /// Runs a test in a child process with the time zone of Berlin.
    fn in_process(test: &str, environment: &[(&str, &str)]) {
        let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", &name])
            .env("TZ", "Europe/Berlin")
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let text = str::from_utf8(&output.stdout).unwrap();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}
