//! Dates and times of `java.time`: one type for all classes.

use super::date::shift;
use super::temporal::{Span, pattern_of, unit_of};
use super::zone::{Moment, Zone, local_of, zone_of};
use super::{Class, text_at};
use crate::error::{Eval, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use brunt_java::date::{DatePattern, Fields, offset_text};
use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.time.LocalDate", |vm, name, arguments| {
        make(vm, Kind::Date, name, arguments)
    }),
    Class::with_static("java.time.LocalTime", |vm, name, arguments| {
        make(vm, Kind::Time, name, arguments)
    }),
    Class::with_static("java.time.LocalDateTime", |vm, name, arguments| {
        make(vm, Kind::DateTime, name, arguments)
    }),
    Class::with_static("java.time.ZonedDateTime", |vm, name, arguments| {
        make(vm, Kind::Zoned, name, arguments)
    }),
    Class::with_static("java.time.OffsetDateTime", |vm, name, arguments| {
        make(vm, Kind::Offset, name, arguments)
    }),
    Class::with_static("java.time.Instant", |vm, name, arguments| {
        make(vm, Kind::Instant, name, arguments)
    }),
];

/// Class of a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Date,
    Time,
    DateTime,
    Zoned,
    Offset,
    Instant,
}

/// A date, a time, or both; with a zone if its class has one.
#[derive(Clone)]
struct Time {
    kind: Kind,
    local: NaiveDateTime,
    zone: Zone,
}

/// Milliseconds since 1970 of a time; None for other values.
pub(super) fn millis_of(vm: &Vm, value: &Value) -> Option<i64> {
    value.downcast::<Time>().map(|time| time.zone.millis(vm, &time.local))
}

/// Converts milliseconds since 1970 by `date.toInstant()` and similar methods.
pub(super) fn from_millis(vm: &mut Vm, name: &str, millis: i64) -> Value {
    let kind = match name {
        "toInstant" => Kind::Instant,
        "toLocalDate" => Kind::Date,
        "toLocalDateTime" => Kind::DateTime,
        "toOffsetDateTime" => Kind::Offset,
        _ => Kind::Zoned,
    };
    let zone = if kind == Kind::Instant { Zone::utc() } else { Zone::default(vm) };
    let local = zone.moment(vm, millis).local;
    Value::native(Time { kind, local, zone })
}

fn new_time(kind: Kind, local: NaiveDateTime, zone: Zone) -> Value {
    Value::native(Time { kind, local, zone })
}

fn make(vm: &mut Vm, kind: Kind, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let default_zone = if matches!(kind, Kind::Instant) { Zone::utc() } else { Zone::default(vm) };
    match (name, arguments) {
        ("now", rest) => {
            let zone = match rest.first() {
                Some(zone) => zone_of(vm, zone)?,
                None => default_zone,
            };
            let local = zone.moment(vm, vm.host.now_millis()).local;
            Ok(Some(new_time(kind, local, zone)))
        }
        ("parse", [_, rest @ ..]) => {
            let text = text_at(vm, arguments, 0)?;
            let pattern = match rest.first() {
                Some(format) => Some(pattern_of(vm, format)?),
                None => None,
            };
            parse(vm, kind, &text, pattern.as_deref(), default_zone)
        }
        ("ofEpochMilli" | "ofEpochSecond" | "ofEpochDay", [count, ..]) => {
            let count = vm.to_long(count)?;
            let factor = match name {
                "ofEpochMilli" => 1,
                "ofEpochSecond" => 1_000,
                _ => 86_400_000,
            };
            let zone = if kind == Kind::Date { default_zone } else { Zone::utc() };
            Ok(Some(new_time(kind, local_of(count.saturating_mul(factor)), zone)))
        }
        ("ofInstant" | "of", [time, zone]) if time.downcast::<Time>().is_some() => {
            let zone = zone_of(vm, zone)
                .or_else(|fault| if name == "of" { Ok(default_zone) } else { Err(fault) })?;
            let Some(time) = time.downcast::<Time>() else { return Ok(None) };
            let local = if time.kind == Kind::Instant {
                zone.moment(vm, time.zone.millis(vm, &time.local)).local
            } else {
                time.local
            };
            Ok(Some(new_time(kind, local, zone)))
        }
        ("from", [time]) => {
            let millis = super::date::millis_of(vm, time)?;
            let local = default_zone.moment(vm, millis).local;
            Ok(Some(new_time(kind, local, default_zone)))
        }
        ("of", rest) => {
            let mut numbers = Vec::new();
            for part in rest.iter().take(7) {
                numbers.push(if part.downcast::<Zone>().is_some() { 0 } else { vm.to_long(part)? });
            }
            let zone = rest
                .last()
                .and_then(|zone| zone.downcast::<Zone>())
                .cloned()
                .unwrap_or(default_zone);
            let local = from_parts(kind, &numbers).ok_or_else(|| {
                throw("java.time.DateTimeException", format!("Invalid date or time: {numbers:?}"))
            })?;
            Ok(Some(new_time(kind, local, zone)))
        }
        _ => Ok(None),
    }
}

/// Combines year, month, day, hour, minute, second and nanosecond; for a time, from the hour on.
fn from_parts(kind: Kind, numbers: &[i64]) -> Option<NaiveDateTime> {
    let is_time = kind == Kind::Time;
    let date = if is_time {
        NaiveDate::from_ymd_opt(1970, 1, 1)?
    } else {
        NaiveDate::from_ymd_opt(
            i32::try_from(numbers.first().copied().unwrap_or(1970)).ok()?,
            number_at(numbers, 1, 1)?,
            number_at(numbers, 2, 1)?,
        )?
    };
    let from = if is_time { 0 } else { 3 };
    let time = NaiveTime::from_hms_nano_opt(
        number_at(numbers, from, 0)?,
        number_at(numbers, from + 1, 0)?,
        number_at(numbers, from + 2, 0)?,
        number_at(numbers, from + 3, 0)?,
    )?;
    Some(date.and_time(time))
}

fn number_at(numbers: &[i64], index: usize, default: i64) -> Option<u32> {
    u32::try_from(numbers.get(index).copied().unwrap_or(default)).ok()
}

fn parse(
    vm: &mut Vm,
    kind: Kind,
    text: &str,
    pattern: Option<&str>,
    default_zone: Zone,
) -> Eval<Option<Value>> {
    // The zone name in brackets repeats the offset.
    let without_zone_name = text.split('[').next().unwrap_or(text);
    let patterns: &[&str] = match (pattern, kind) {
        (Some(_), _) => &[],
        (None, Kind::Date) => &["yyyy-MM-dd"],
        (None, Kind::Time) => &["HH:mm", "HH:mm:ss", "HH:mm:ss.S"],
        (None, Kind::DateTime) => {
            &["yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.S"]
        }
        (None, _) => &["yyyy-MM-dd'T'HH:mm:ss.SX", "yyyy-MM-dd'T'HH:mm:ssX", "yyyy-MM-dd'T'HH:mmX"],
    };
    let fields = match pattern {
        Some("ISO" | "INSTANT") => [
            "yyyy-MM-dd",
            "yyyy-MM-dd'T'HH:mm:ss",
            "yyyy-MM-dd'T'HH:mm:ss.S",
            "yyyy-MM-dd'T'HH:mm:ss.SX",
            "yyyy-MM-dd'T'HH:mm:ssX",
        ]
        .iter()
        .find_map(|pattern| read(pattern, without_zone_name)),
        Some(pattern) => read(pattern, text),
        None => patterns.iter().find_map(|pattern| read(pattern, without_zone_name)),
    };
    let local = fields.as_ref().and_then(Fields::local);
    let (Some(fields), Some(local)) = (fields, local) else {
        let message = format!("Text '{}' could not be parsed at index 0", crate::error::clip(text));
        return Err(throw("java.time.format.DateTimeParseException", message));
    };
    let zone = match (fields.offset, &fields.zone) {
        (Some(offset), _) => Zone {
            name: if offset == 0 { "Z".to_owned() } else { offset_text(offset, ":") },
            fixed: Some(offset),
        },
        (None, Some(name)) => Zone::from_name(vm, name).unwrap_or(default_zone),
        _ => default_zone,
    };
    let (local, zone) = match kind {
        Kind::Instant => (local_of(zone.millis(vm, &local)), Zone::utc()),
        _ => (local, zone),
    };
    // A local time has no zone of its own; conversions take the default zone.
    let zone = if matches!(kind, Kind::Date | Kind::Time | Kind::DateTime) {
        Zone::default(vm)
    } else {
        zone
    };
    Ok(Some(Value::native(Time { kind, local, zone })))
}

impl Time {
    fn with(&self, local: NaiveDateTime) -> Value {
        Value::native(Self { local, ..self.clone() })
    }

    fn moment(&self, vm: &Vm) -> Moment {
        self.zone.moment(vm, self.zone.millis(vm, &self.local))
    }

    /// Formats the time as `toString` does.
    fn java_text(&self, vm: &Vm) -> String {
        let time = self.local.time();
        let seconds = if time.nanosecond() == 0 {
            // Java's `toString` omits zero seconds, except for an `Instant`.
            if time.second() == 0 && self.kind != Kind::Instant {
                time.format("%H:%M")
            } else {
                time.format("%H:%M:%S")
            }
        } else if time.nanosecond().is_multiple_of(1_000_000) {
            time.format("%H:%M:%S%.3f")
        } else {
            time.format("%H:%M:%S%.9f")
        };
        let offset = self.zone.offset(vm, self.zone.millis(vm, &self.local));
        let offset = if offset == 0 { "Z".to_owned() } else { offset_text(offset, ":") };
        let date = self.local.date();
        match self.kind {
            Kind::Date => date.to_string(),
            Kind::Time => seconds.to_string(),
            Kind::DateTime => format!("{date}T{seconds}"),
            Kind::Instant => format!("{date}T{seconds}Z"),
            // A zone that is only an offset is not repeated in brackets.
            Kind::Zoned if self.zone.name.starts_with(['Z', '+', '-']) => {
                format!("{date}T{seconds}{offset}")
            }
            Kind::Zoned => format!("{date}T{seconds}{offset}[{}]", self.zone.name),
            Kind::Offset => format!("{date}T{seconds}{offset}"),
        }
    }

    /// Result of a getter such as `getYear`.
    fn part(&self, name: &str) -> Option<Value> {
        let local = &self.local;
        Some(Value::Int(match name {
            "getYear" => local.year(),
            "getMonthValue" => local.month() as i32,
            "getDayOfMonth" => local.day() as i32,
            "getDayOfYear" => local.ordinal() as i32,
            "getHour" => local.hour() as i32,
            "getMinute" => local.minute() as i32,
            "getSecond" => local.second() as i32,
            "getNano" => local.nanosecond() as i32,
            "lengthOfMonth" => (shift(local.with_day(1).unwrap_or(*local), "MONTH", 1)
                - chrono::Duration::days(1))
            .day() as i32,
            "lengthOfYear" => {
                if local.date().leap_year() {
                    366
                } else {
                    365
                }
            }
            "getMonth" => return Some(Value::str(local.format("%B").to_string().to_uppercase())),
            "getDayOfWeek" => return Some(Value::native(super::temporal::Day(local.weekday()))),
            "isLeapYear" => return Some(Value::Bool(local.date().leap_year())),
            _ => return None,
        }))
    }

    /// Methods that return a modified time: `plusDays(1)`,
    /// `minus(duration)`, `withHour(0)`, `truncatedTo(unit)`.
    fn modified(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let sign = if name.starts_with("minus") { -1 } else { 1 };
        if let (Some(unit), [amount]) =
            (name.strip_prefix("plus").or(name.strip_prefix("minus")), arguments)
        {
            if unit.is_empty() {
                return Ok(amount
                    .downcast::<Span>()
                    .map(|span| self.with(span.add_to(self.local, sign))));
            }
            let amount = vm.to_long(amount)?.saturating_mul(sign);
            return Ok(Some(self.with(shift(self.local, &unit.to_uppercase(), amount))));
        }
        if let ("plus" | "minus", [amount, unit]) = (name, arguments) {
            let amount = vm.to_long(amount)?.saturating_mul(sign);
            let unit = unit_of(vm, unit)?;
            return Ok(Some(self.with(shift(self.local, &unit, amount))));
        }
        if let (Some(field), [value]) = (name.strip_prefix("with"), arguments) {
            if field.starts_with("Zone") || field.starts_with("Offset") {
                let zone = zone_of(vm, value)?;
                let keeps_instant = field.ends_with("Instant");
                let local = if keeps_instant {
                    zone.moment(vm, self.zone.millis(vm, &self.local)).local
                } else {
                    self.local
                };
                return Ok(Some(Value::native(Self { kind: self.kind, local, zone })));
            }
            let value = vm.to_long(value)?;
            let number = u32::try_from(value).unwrap_or(u32::MAX);
            let local = match field {
                "Year" => i32::try_from(value).ok().and_then(|year| self.local.with_year(year)),
                "Month" => self.local.with_month(number),
                "DayOfMonth" => self.local.with_day(number),
                "DayOfYear" => self.local.with_ordinal(number),
                "Hour" => self.local.with_hour(number),
                "Minute" => self.local.with_minute(number),
                "Second" => self.local.with_second(number),
                "Nano" => self.local.with_nanosecond(number),
                _ => return Ok(None),
            };
            return local.map(|local| Some(self.with(local))).ok_or_else(|| {
                throw("java.time.DateTimeException", format!("Invalid value for {field}: {value}"))
            });
        }
        if let ("truncatedTo", [unit]) = (name, arguments) {
            let unit = unit_of(vm, unit)?;
            let time = self.local.time();
            let h = time.hour();
            let m = time.minute();
            let s = time.second();
            let n = time.nanosecond();
            let truncated = match &*unit {
                "DAYS" => NaiveTime::from_hms_nano_opt(0, 0, 0, 0),
                "HOURS" => NaiveTime::from_hms_nano_opt(h, 0, 0, 0),
                "MINUTES" => NaiveTime::from_hms_nano_opt(h, m, 0, 0),
                "SECONDS" => NaiveTime::from_hms_nano_opt(h, m, s, 0),
                _ => NaiveTime::from_hms_nano_opt(h, m, s, n / 1_000_000 * 1_000_000),
            };
            return Ok(Some(self.with(self.local.date().and_time(truncated.unwrap_or(time)))));
        }
        Ok(None)
    }

    fn with_kind(&self, kind: Kind) -> Value {
        let local = match kind {
            Kind::Date => self.local.date().and_time(NaiveTime::MIN),
            Kind::Time => NaiveDate::default().and_time(self.local.time()),
            _ => self.local,
        };
        Value::native(Self { kind, local, zone: self.zone.clone() })
    }

    /// Methods that convert to another class or to a number.
    fn conversion(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let millis = self.zone.millis(vm, &self.local);
        Ok(Some(match (name, arguments) {
            ("toInstant", _) => Value::native(Self {
                kind: Kind::Instant,
                local: local_of(millis),
                zone: Zone::utc(),
            }),
            ("toLocalDate", []) => self.with_kind(Kind::Date),
            ("toLocalTime", []) => self.with_kind(Kind::Time),
            ("toLocalDateTime", []) => self.with_kind(Kind::DateTime),
            ("toOffsetDateTime", []) => self.with_kind(Kind::Offset),
            ("toZonedDateTime", []) => self.with_kind(Kind::Zoned),
            ("atStartOfDay", rest) => {
                let zone = match rest.first() {
                    Some(zone) => zone_of(vm, zone)?,
                    None => self.zone.clone(),
                };
                let kind = if rest.is_empty() { Kind::DateTime } else { Kind::Zoned };
                Value::native(Self {
                    kind,
                    local: self.local.date().and_time(NaiveTime::MIN),
                    zone,
                })
            }
            ("atTime", [time]) if time.downcast::<Self>().is_some() => {
                let time = time.downcast::<Self>().map_or(NaiveTime::MIN, |time| time.local.time());
                Value::native(Self {
                    kind: Kind::DateTime,
                    local: self.local.date().and_time(time),
                    zone: self.zone.clone(),
                })
            }
            ("atTime", rest) => {
                let mut numbers = [0_u32; 3];
                for (number, value) in numbers.iter_mut().zip(rest) {
                    *number = u32::try_from(vm.to_long(value)?).unwrap_or(0);
                }
                let time = NaiveTime::from_hms_opt(numbers[0], numbers[1], numbers[2])
                    .unwrap_or(NaiveTime::MIN);
                Value::native(Self {
                    kind: Kind::DateTime,
                    local: self.local.date().and_time(time),
                    zone: self.zone.clone(),
                })
            }
            ("atZone" | "atOffset", [zone]) => {
                let zone = zone_of(vm, zone)?;
                let local = if self.kind == Kind::Instant {
                    zone.moment(vm, millis).local
                } else {
                    self.local
                };
                Value::native(Self {
                    kind: if name == "atZone" { Kind::Zoned } else { Kind::Offset },
                    local,
                    zone,
                })
            }
            ("toEpochMilli", []) => Value::Long(millis),
            ("getEpochSecond" | "toEpochSecond", _) => Value::Long(millis.div_euclid(1_000)),
            ("toEpochDay", []) => Value::Long(self.local.and_utc().timestamp().div_euclid(86_400)),
            ("getZone" | "getOffset", []) => Value::native(self.zone.clone()),
            ("toSecondOfDay", []) => Value::Int(self.local.num_seconds_from_midnight() as i32),
            ("until", [other, unit]) => {
                let unit = unit_of(vm, unit)?;
                let other = other.downcast::<Self>().map_or(self.local, |other| other.local);
                Value::Long(super::temporal::between(&unit, &self.local, &other))
            }
            _ => return Ok(None),
        }))
    }
}

/// Local date and time of a value; None for values of other classes.
pub(super) fn local_time(value: &Value) -> Option<NaiveDateTime> {
    value.downcast::<Time>().map(|time| time.local)
}

/// Formats a time by a pattern; `ISO` is the format of `toString`.
pub(super) fn format_temporal(
    vm: &mut Vm,
    value: &Value,
    pattern: &str,
    zone: Option<&Zone>,
) -> Eval<Value> {
    let Some(time) = value.downcast::<Time>() else {
        let millis = super::date::millis_of(vm, value)?;
        let zone = zone.cloned().unwrap_or_else(|| Zone::default(vm));
        return super::date::format(vm, pattern, millis, &zone);
    };
    if pattern == "INSTANT" {
        let local = local_of(time.zone.millis(vm, &time.local));
        return vm.string(Time { kind: Kind::Instant, local, zone: Zone::utc() }.java_text(vm));
    }
    if pattern == "ISO" {
        return vm.string(with_seconds(time.java_text(vm)));
    }
    let moment = match zone {
        Some(zone) => zone.moment(vm, time.zone.millis(vm, &time.local)),
        None => time.moment(vm),
    };
    match DatePattern::parse(pattern) {
        Ok(pattern) => vm.string(pattern.write(&moment)),
        Err(error) => Err(illegal(error.to_string())),
    }
}

fn read(pattern: &str, text: &str) -> Option<Fields> {
    DatePattern::parse(pattern).ok()?.fields(text)
}

impl Native for Time {
    fn class_name(&self) -> &'static str {
        match self.kind {
            Kind::Date => "java.time.LocalDate",
            Kind::Time => "java.time.LocalTime",
            Kind::DateTime => "java.time.LocalDateTime",
            Kind::Zoned => "java.time.ZonedDateTime",
            Kind::Offset => "java.time.OffsetDateTime",
            Kind::Instant => "java.time.Instant",
        }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let (Some(part), []) = (self.part(name), arguments) {
            return Ok(Some(part));
        }
        let other = arguments.first().and_then(|value| value.downcast::<Self>());
        match (name, other) {
            ("isBefore" | "isAfter" | "isEqual", Some(other)) => {
                let a = self.zone.millis(vm, &self.local);
                let b = other.zone.millis(vm, &other.local);
                return Ok(Some(Value::Bool(match name {
                    "isBefore" => a < b,
                    "isAfter" => a > b,
                    _ => a == b,
                })));
            }
            ("minus", Some(other)) => {
                let days = (self.local - other.local).num_days();
                return Ok(Some(Value::Long(days)));
            }
            _ => {}
        }
        match (name, arguments) {
            ("format", [format, ..]) => {
                let pattern = pattern_of(vm, format)?;
                let zone = super::temporal::zone_in(format);
                return format_temporal(vm, &Value::native(self.clone()), &pattern, zone.as_ref())
                    .map(Some);
            }
            ("plus" | "minus", [Value::Int(_) | Value::Long(_)]) => {
                // Groovy adds numbers as days to a date, and as seconds to other times.
                let unit = if matches!(self.kind, Kind::Date) { "Days" } else { "Seconds" };
                return self.modified(vm, &format!("{name}{unit}"), arguments);
            }
            _ => {}
        }
        match self.conversion(vm, name, arguments)? {
            Some(value) => Ok(Some(value)),
            None => self.modified(vm, name, arguments),
        }
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.java_text(vm)))
    }

    fn identity(&self) -> Option<Value> {
        let fixed = i64::from(self.zone.fixed.unwrap_or(0)) * 1_000;
        let shift = if matches!(self.kind, Kind::Zoned | Kind::Offset) { fixed } else { 0 };
        Some(Value::Long(self.local.and_utc().timestamp_millis() - shift))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Adds the seconds that `toString` omits if they are 0, but formatters write.
fn with_seconds(text: String) -> String {
    match text.split_once('T').map(|(date, time)| (date.len() + 1, time)) {
        Some((begin, time)) if time.len() >= 5 && time.as_bytes().get(5) != Some(&b':') => {
            let (before, after) = text.split_at(begin + 5);
            format!("{before}:00{after}")
        }
        _ => text,
    }
}
