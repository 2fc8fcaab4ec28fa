//! `java.time`'s dates and times: one object for all, which knows its class.

use super::date::shifted;
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
    Class::with_static("java.time.LocalDate", |vm, name, arguments| make(vm, Kind::Date, name, arguments)),
    Class::with_static("java.time.LocalTime", |vm, name, arguments| make(vm, Kind::Time, name, arguments)),
    Class::with_static("java.time.LocalDateTime", |vm, name, arguments| make(vm, Kind::DateTime, name, arguments)),
    Class::with_static("java.time.ZonedDateTime", |vm, name, arguments| make(vm, Kind::Zoned, name, arguments)),
    Class::with_static("java.time.OffsetDateTime", |vm, name, arguments| make(vm, Kind::Offset, name, arguments)),
    Class::with_static("java.time.Instant", |vm, name, arguments| make(vm, Kind::Instant, name, arguments)),
];

/// Which class a time has.
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

/// The ms since 1970 of a time, if the value is one.
pub(super) fn millis_of(vm: &Vm, value: &Value) -> Option<i64> {
    value.downcast::<Time>().map(|time| time.zone.millis(vm, &time.local))
}

/// What `date.toInstant()` and its like give.
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

fn make(vm: &mut Vm, kind: Kind, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let home = if matches!(kind, Kind::Instant) { Zone::utc() } else { Zone::default(vm) };
    let made = |local, zone| Ok(Some(Value::native(Time { kind, local, zone })));
    match (name, arguments) {
        ("now", rest) => {
            let zone = match rest.first() {
                Some(zone) => zone_of(vm, zone)?,
                None => home,
            };
            let local = zone.moment(vm, vm.host.now_millis()).local;
            made(local, zone)
        }
        ("parse", [_, rest @ ..]) => {
            let text = text_at(vm, arguments, 0)?;
            let pattern = match rest.first() {
                Some(format) => Some(pattern_of(vm, format)?),
                None => None,
            };
            parse(vm, kind, &text, pattern.as_deref(), home)
        }
        ("ofEpochMilli" | "ofEpochSecond" | "ofEpochDay", [count, ..]) => {
            let count = vm.to_long(count)?;
            let factor = match name {
                "ofEpochMilli" => 1,
                "ofEpochSecond" => 1_000,
                _ => 86_400_000,
            };
            made(local_of(count.saturating_mul(factor)), if kind == Kind::Date { home } else { Zone::utc() })
        }
        ("ofInstant" | "of", [time, zone]) if time.downcast::<Time>().is_some() => {
            let zone = zone_of(vm, zone).or_else(|fault| if name == "of" { Ok(home) } else { Err(fault) })?;
            let Some(time) = time.downcast::<Time>() else { return Ok(None) };
            let local = if time.kind == Kind::Instant {
                zone.moment(vm, time.zone.millis(vm, &time.local)).local
            } else {
                time.local
            };
            made(local, zone)
        }
        ("from", [time]) => {
            let millis = super::date::millis_of(vm, time)?;
            made(home.moment(vm, millis).local, home)
        }
        ("of", rest) => {
            let mut numbers = Vec::new();
            for part in rest.iter().take(7) {
                numbers.push(if part.downcast::<Zone>().is_some() { 0 } else { vm.to_long(part)? });
            }
            let zone = rest.last().and_then(|zone| zone.downcast::<Zone>()).cloned().unwrap_or(home);
            let local = of(kind, &numbers)
                .ok_or_else(|| throw("java.time.DateTimeException", format!("Invalid date or time: {numbers:?}")))?;
            made(local, zone)
        }
        _ => Ok(None),
    }
}

/// Year, month, day, hour, minute, second, nanosecond; of a time, from the hour on.
fn of(kind: Kind, numbers: &[i64]) -> Option<NaiveDateTime> {
    let at = |index: usize, default: i64| numbers.get(index).copied().unwrap_or(default);
    let from = if kind == Kind::Time { 0 } else { 3 };
    let date = if kind == Kind::Time {
        NaiveDate::from_ymd_opt(1970, 1, 1)?
    } else {
        NaiveDate::from_ymd_opt(
            i32::try_from(at(0, 1970)).ok()?,
            u32::try_from(at(1, 1)).ok()?,
            u32::try_from(at(2, 1)).ok()?,
        )?
    };
    let part = |index: usize| u32::try_from(at(from + index, 0)).ok();
    Some(date.and_time(NaiveTime::from_hms_nano_opt(part(0)?, part(1)?, part(2)?, part(3)?)?))
}

fn parse(vm: &mut Vm, kind: Kind, text: &str, pattern: Option<&str>, home: Zone) -> Eval<Option<Value>> {
    // The zone's name in brackets repeats what the offset says.
    let bare = text.split('[').next().unwrap_or(text);
    let patterns: &[&str] = match (pattern, kind) {
        (Some(_), _) => &[],
        (None, Kind::Date) => &["yyyy-MM-dd"],
        (None, Kind::Time) => &["HH:mm", "HH:mm:ss", "HH:mm:ss.S"],
        (None, Kind::DateTime) => &["yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.S"],
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
        .find_map(|pattern| read(pattern, bare)),
        Some(pattern) => read(pattern, text),
        None => patterns.iter().find_map(|pattern| read(pattern, bare)),
    };
    let local = fields.as_ref().and_then(Fields::local);
    let (Some(fields), Some(local)) = (fields, local) else {
        let message = format!("Text '{}' could not be parsed at index 0", crate::error::clip(text));
        return Err(throw("java.time.format.DateTimeParseException", message));
    };
    let zone = match (fields.offset, &fields.zone) {
        (Some(offset), _) => {
            Zone { name: if offset == 0 { "Z".to_owned() } else { offset_text(offset, ":") }, fixed: Some(offset) }
        }
        (None, Some(name)) => Zone::named(vm, name).unwrap_or(home),
        _ => home,
    };
    let (local, zone) =
        if kind == Kind::Instant { (local_of(zone.millis(vm, &local)), Zone::utc()) } else { (local, zone) };
    let zone = if matches!(kind, Kind::Date | Kind::Time | Kind::DateTime) { Zone::default(vm) } else { zone };
    Ok(Some(Value::native(Time { kind, local, zone })))
}

impl Time {
    fn with(&self, local: NaiveDateTime) -> Value {
        Value::native(Self { local, ..self.clone() })
    }

    fn moment(&self, vm: &Vm) -> Moment {
        self.zone.moment(vm, self.zone.millis(vm, &self.local))
    }

    /// As `toString` writes it.
    fn shown(&self, vm: &Vm) -> String {
        let time = self.local.time();
        let seconds = if time.nanosecond() == 0 {
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
            Kind::Zoned if self.zone.name.starts_with(['Z', '+', '-']) => format!("{date}T{seconds}{offset}"),
            Kind::Zoned => format!("{date}T{seconds}{offset}[{}]", self.zone.name),
            Kind::Offset => format!("{date}T{seconds}{offset}"),
        }
    }

    /// `getYear` and its like.
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
            "lengthOfMonth" => {
                (shifted(local.with_day(1).unwrap_or(*local), "MONTH", 1) - chrono::Duration::days(1)).day() as i32
            }
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

    /// `plusDays(1)`, `minus(duration)`, `withHour(0)`, `truncatedTo(unit)`
    fn changed(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let sign = if name.starts_with("minus") { -1 } else { 1 };
        if let (Some(unit), [amount]) = (name.strip_prefix("plus").or(name.strip_prefix("minus")), arguments) {
            if unit.is_empty() {
                return Ok(amount.downcast::<Span>().map(|span| self.with(span.added_to(self.local, sign))));
            }
            let amount = vm.to_long(amount)?.saturating_mul(sign);
            return Ok(Some(self.with(shifted(self.local, &unit.to_uppercase(), amount))));
        }
        if let ("plus" | "minus", [amount, unit]) = (name, arguments) {
            let (amount, unit) = (vm.to_long(amount)?.saturating_mul(sign), unit_of(vm, unit)?);
            return Ok(Some(self.with(shifted(self.local, &unit, amount))));
        }
        if let (Some(field), [value]) = (name.strip_prefix("with"), arguments) {
            if field.starts_with("Zone") || field.starts_with("Offset") {
                let zone = zone_of(vm, value)?;
                let same_instant = field.ends_with("Instant");
                let local =
                    if same_instant { zone.moment(vm, self.zone.millis(vm, &self.local)).local } else { self.local };
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
            return local
                .map(|local| Some(self.with(local)))
                .ok_or_else(|| throw("java.time.DateTimeException", format!("Invalid value for {field}: {value}")));
        }
        if let ("truncatedTo", [unit]) = (name, arguments) {
            let unit = unit_of(vm, unit)?;
            let time = self.local.time();
            let (h, m, s, n) = (time.hour(), time.minute(), time.second(), time.nanosecond());
            let cut = match &*unit {
                "DAYS" => NaiveTime::from_hms_nano_opt(0, 0, 0, 0),
                "HOURS" => NaiveTime::from_hms_nano_opt(h, 0, 0, 0),
                "MINUTES" => NaiveTime::from_hms_nano_opt(h, m, 0, 0),
                "SECONDS" => NaiveTime::from_hms_nano_opt(h, m, s, 0),
                _ => NaiveTime::from_hms_nano_opt(h, m, s, n / 1_000_000 * 1_000_000),
            };
            return Ok(Some(self.with(self.local.date().and_time(cut.unwrap_or(time)))));
        }
        Ok(None)
    }

    fn to(&self, kind: Kind) -> Value {
        let local = match kind {
            Kind::Date => self.local.date().and_time(NaiveTime::MIN),
            Kind::Time => NaiveDate::default().and_time(self.local.time()),
            _ => self.local,
        };
        Value::native(Self { kind, local, zone: self.zone.clone() })
    }

    fn converted(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let millis = self.zone.millis(vm, &self.local);
        Ok(Some(match (name, arguments) {
            ("toInstant", _) => Value::native(Self { kind: Kind::Instant, local: local_of(millis), zone: Zone::utc() }),
            ("toLocalDate", []) => self.to(Kind::Date),
            ("toLocalTime", []) => self.to(Kind::Time),
            ("toLocalDateTime", []) => self.to(Kind::DateTime),
            ("toOffsetDateTime", []) => self.to(Kind::Offset),
            ("toZonedDateTime", []) => self.to(Kind::Zoned),
            ("atStartOfDay", rest) => {
                let zone = match rest.first() {
                    Some(zone) => zone_of(vm, zone)?,
                    None => self.zone.clone(),
                };
                let kind = if rest.is_empty() { Kind::DateTime } else { Kind::Zoned };
                Value::native(Self { kind, local: self.local.date().and_time(NaiveTime::MIN), zone })
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
                let time = NaiveTime::from_hms_opt(numbers[0], numbers[1], numbers[2]).unwrap_or(NaiveTime::MIN);
                Value::native(Self {
                    kind: Kind::DateTime,
                    local: self.local.date().and_time(time),
                    zone: self.zone.clone(),
                })
            }
            ("atZone" | "atOffset", [zone]) => {
                let zone = zone_of(vm, zone)?;
                let local = if self.kind == Kind::Instant { zone.moment(vm, millis).local } else { self.local };
                Value::native(Self { kind: if name == "atZone" { Kind::Zoned } else { Kind::Offset }, local, zone })
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

/// The local date and time of a value of these classes.
pub(super) fn local_time(value: &Value) -> Option<NaiveDateTime> {
    value.downcast::<Time>().map(|time| time.local)
}

/// Writes a time by a pattern; `ISO` is what `toString` writes.
pub(super) fn written(vm: &mut Vm, value: &Value, pattern: &str, zone: Option<&Zone>) -> Eval<Value> {
    let Some(time) = value.downcast::<Time>() else {
        let millis = super::date::millis_of(vm, value)?;
        let zone = zone.cloned().unwrap_or_else(|| Zone::default(vm));
        return super::date::format(vm, pattern, millis, &zone);
    };
    if pattern == "INSTANT" {
        let local = local_of(time.zone.millis(vm, &time.local));
        return vm.string(Time { kind: Kind::Instant, local, zone: Zone::utc() }.shown(vm));
    }
    if pattern == "ISO" {
        return vm.string(with_seconds(time.shown(vm)));
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
                let (a, b) = (self.zone.millis(vm, &self.local), other.zone.millis(vm, &other.local));
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
                let (pattern, zone) = (pattern_of(vm, format)?, super::temporal::zone_in(format));
                return written(vm, &Value::native(self.clone()), &pattern, zone.as_ref()).map(Some);
            }
            ("plus" | "minus", [Value::Int(_) | Value::Long(_)]) => {
                let unit = if matches!(self.kind, Kind::Date) { "Days" } else { "Seconds" };
                return self.changed(vm, &format!("{name}{unit}"), arguments);
            }
            _ => {}
        }
        match self.converted(vm, name, arguments)? {
            Some(value) => Ok(Some(value)),
            None => self.changed(vm, name, arguments),
        }
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.shown(vm)))
    }

    fn identity(&self) -> Option<Value> {
        let nanos = Value::Int(self.local.nanosecond() as i32 % 1_000_000);
        let fixed = i64::from(self.zone.fixed.unwrap_or(0)) * 1_000;
        let shift = if matches!(self.kind, Kind::Zoned | Kind::Offset) { fixed } else { 0 };
        let _ = nanos;
        Some(Value::Long(self.local.and_utc().timestamp_millis() - shift))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A time as formatters write it, with its seconds; `toString` leaves out those that are none.
fn with_seconds(shown: String) -> String {
    match shown.split_once('T').map(|(date, time)| (date.len() + 1, time)) {
        Some((begin, time)) if time.len() >= 5 && time.as_bytes().get(5) != Some(&b':') => {
            let (before, behind) = shown.split_at(begin + 5);
            format!("{before}:00{behind}")
        }
        _ => shown,
    }
}
