//! `Duration`, `Period`, `ChronoUnit`, `DateTimeFormatter`, `DayOfWeek`.

use super::date::shift;
use super::time::{format_temporal, local_time};
use super::zone::{Zone, zone_of};
use super::{Class, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use chrono::{Datelike, NaiveDateTime, Weekday};
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.time.Duration", duration).and_constants(zero),
    Class::with_static("java.time.Period", period).and_constants(zero),
    Class::with_static("java.time.temporal.ChronoUnit", super::codec::no_static)
        .and_constants(unit),
    Class::with_static("java.time.format.DateTimeFormatter", formatter).and_constants(standard),
    Class::name_only("java.time.DayOfWeek").and_constants(day),
    Class::name_only("java.time.temporal.Temporal"),
    Class::name_only("java.time.temporal.TemporalUnit"),
];

/// A `Duration` or `Period`: milliseconds and months.
#[derive(Clone)]
pub(super) struct Span {
    millis: i64,
    months: i64,
    is_period: bool,
}

impl Span {
    /// Adds the span (`sign` 1) or subtracts it (`sign` -1).
    pub fn add_to(&self, local: NaiveDateTime, sign: i64) -> NaiveDateTime {
        // Months first, as in Java: a day that the new month lacks moves before days are added.
        let later = shift(local, "MONTH", self.months.saturating_mul(sign));
        shift(later, "MILLIS", self.millis.saturating_mul(sign))
    }
}

/// A span of an amount of `Days`, `Hours` or similar; None for an unknown unit.
pub(crate) fn span(unit: &str, amount: i64) -> Option<Value> {
    let plural =
        format!("{}S", unit.trim_end_matches('s').to_uppercase()).replace("MILLISECONDS", "MILLIS");
    let (_, factor) =
        UNITS.iter().find(|(unit_name, factor)| *unit_name == plural && *factor != 0)?;
    let total = amount.saturating_mul(factor.abs());
    let (millis, months) = if *factor > 0 { (total, 0) } else { (0, total) };
    Some(Value::native(Span { millis, months, is_period: months != 0 }))
}

/// A unit of `ChronoUnit`: name and milliseconds.
struct Unit(&'static str, i64);

/// Units with their milliseconds. Negative numbers are months, which the calendar counts.
const UNITS: [(&str, i64); 12] = [
    // A span has whole milliseconds, so smaller units have no factor.
    ("NANOS", 0),
    ("MICROS", 0),
    ("MILLIS", 1),
    ("SECONDS", 1_000),
    ("MINUTES", 60_000),
    ("HOURS", 3_600_000),
    ("HALF_DAYS", 43_200_000),
    ("DAYS", 86_400_000),
    ("WEEKS", 604_800_000),
    ("MONTHS", -1),
    ("YEARS", -12),
    ("DECADES", -120),
];

pub(super) struct Day(pub Weekday);

/// `DateTimeFormatter`
struct Formatter {
    pattern: String,
    zone: Option<Zone>,
}

fn unit(_vm: &mut Vm, name: &str) -> Option<Value> {
    UNITS
        .iter()
        .find(|(unit_name, _)| *unit_name == name)
        .map(|(name, millis)| Value::native(Unit(name, *millis)))
}

/// Name of the unit in an argument.
pub(super) fn unit_of(vm: &mut Vm, value: &Value) -> Eval<String> {
    match value.downcast::<Unit>() {
        Some(unit) => Ok(unit.0.to_owned()),
        None => Ok(vm.text(value)?.to_uppercase()),
    }
}

/// Number of complete units between two times.
pub(super) fn between(unit: &str, from: &NaiveDateTime, to: &NaiveDateTime) -> i64 {
    let factor =
        UNITS.iter().find(|(unit_name, _)| *unit_name == unit).map_or(1, |(_, millis)| *millis);
    let span = *to - *from;
    match factor {
        0 if unit == "NANOS" => span.num_nanoseconds().unwrap_or(i64::MAX),
        0 => span.num_microseconds().unwrap_or(i64::MAX),
        1.. => span.num_milliseconds() / factor,
        _ => {
            let mut months = (i64::from(to.year()) - i64::from(from.year())) * 12
                + i64::from(to.month())
                - i64::from(from.month());
            // A month is complete only if its day and time are reached.
            let reached = shift(*from, "MONTH", months);
            if months > 0 && reached > *to {
                months -= 1;
            } else if months < 0 && reached < *to {
                months += 1;
            }
            months / -factor
        }
    }
}

/// The local times of two arguments.
fn local_times(vm: &mut Vm, from: &Value, to: &Value) -> Eval<(NaiveDateTime, NaiveDateTime)> {
    if let (Some(a), Some(b)) = (local_time(from), local_time(to)) {
        return Ok((a, b));
    }
    let a = super::date::millis_of(vm, from)?;
    let b = super::date::millis_of(vm, to)?;
    Ok((super::zone::local_of(a), super::zone::local_of(b)))
}

impl Native for Unit {
    fn class_name(&self) -> &'static str {
        "java.time.temporal.ChronoUnit"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match (name, arguments) {
            ("between", [from, to]) => {
                let (from, to) = local_times(vm, from, to)?;
                Some(Value::Long(between(self.0, &from, &to)))
            }
            ("name", []) => Some(Value::str(self.0)),
            ("getDuration", []) => {
                Some(Value::native(Span { millis: self.1.max(0), months: 0, is_period: false }))
            }
            _ => None,
        })
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        // In Java, the name of a unit is `DAYS`, and its text is `Days`.
        let (first, rest) = self.0.split_at(1);
        Ok(Some(format!("{first}{}", rest.to_lowercase())))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::str(self.0))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn zero(_vm: &mut Vm, name: &str) -> Option<Value> {
    (name == "ZERO").then(|| Value::native(Span { millis: 0, months: 0, is_period: false }))
}

fn duration(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let millis = match (name, arguments) {
        ("between", [from, to]) => {
            let (from, to) = local_times(vm, from, to)?;
            (to - from).num_milliseconds()
        }
        ("of", [amount, unit]) => {
            let amount = vm.to_long(amount)?;
            let unit = unit_of(vm, unit)?;
            amount.saturating_mul(
                UNITS.iter().find(|(name, _)| *name == unit).map_or(0, |(_, millis)| *millis),
            )
        }
        // A span has whole milliseconds.
        ("ofNanos", [amount]) => vm.to_long(amount)? / 1_000_000,
        (_, [amount]) => {
            let unit = name.strip_prefix("of").unwrap_or("").to_uppercase();
            let Some((_, factor)) =
                UNITS.iter().find(|(unit_name, factor)| *unit_name == unit && *factor > 0)
            else {
                return Ok(None);
            };
            vm.to_long(amount)?.saturating_mul(*factor)
        }
        _ => return Ok(None),
    };
    Ok(Some(Value::native(Span { millis, months: 0, is_period: false })))
}

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

fn period(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let mut numbers = Vec::new();
    if name != "between" {
        for argument in arguments {
            numbers.push(vm.to_long(argument)?);
        }
    }
    let (months, millis) = match (name, &numbers[..]) {
        ("ofDays", [days]) => (0, days.saturating_mul(DAY)),
        ("ofWeeks", [weeks]) => (0, weeks.saturating_mul(7 * DAY)),
        ("ofMonths", [months]) => (*months, 0),
        ("ofYears", [years]) => (years.saturating_mul(12), 0),
        ("of", [years, months, days]) => {
            (years.saturating_mul(12).saturating_add(*months), days.saturating_mul(DAY))
        }
        ("between", _) if arguments.len() == 2 => {
            let (from, to) = local_times(vm, &arguments[0], &arguments[1])?;
            let months = between("MONTHS", &from, &to);
            (months, (to - shift(from, "MONTH", months)).num_milliseconds())
        }
        _ => return Ok(None),
    };
    Ok(Some(Value::native(Span { millis, months, is_period: true })))
}

impl Native for Span {
    fn class_name(&self) -> &'static str {
        if self.is_period { "java.time.Period" } else { "java.time.Duration" }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let millis = self.millis;
        if let (Some(unit), [amount]) =
            (name.strip_prefix("plus").or(name.strip_prefix("minus")), arguments)
        {
            let sign = if name.starts_with("minus") { -1 } else { 1 };
            let added = if let Some(other) = amount.downcast::<Self>() {
                other.millis
            } else {
                let factor = UNITS
                    .iter()
                    .find(|(unit_name, _)| *unit_name == unit.to_uppercase())
                    .map_or(0, |(_, factor)| *factor);
                vm.to_long(amount)?.saturating_mul(factor)
            };
            return Ok(Some(Value::native(Self {
                millis: millis.saturating_add(added.saturating_mul(sign)),
                ..self.clone()
            })));
        }
        Ok(Some(match name {
            "toMillis" => Value::Long(millis),
            "toNanos" => Value::Long(millis.saturating_mul(1_000_000)),
            // Java rounds down: a `Duration` is a number of seconds plus nanoseconds that are never
            // negative.
            "getSeconds" | "toSeconds" => Value::Long(millis.div_euclid(1_000)),
            "toMinutes" => Value::Long(millis / 60_000),
            "toHours" => Value::Long(millis / 3_600_000),
            "toDays" => Value::Long(millis / 86_400_000),
            "getDays" => Value::Int((millis / 86_400_000) as i32),
            "getMonths" => Value::Int((self.months % 12) as i32),
            "getYears" => Value::Int((self.months / 12) as i32),
            "toTotalMonths" => Value::Long(self.months),
            "toMinutesPart" => Value::Int((millis / 60_000 % 60) as i32),
            "toSecondsPart" => Value::Int((millis / 1_000 % 60) as i32),
            "toHoursPart" => Value::Int((millis / 3_600_000 % 24) as i32),
            "toMillisPart" => Value::Int((millis % 1_000) as i32),
            "isNegative" => Value::Bool(millis < 0),
            "isZero" => Value::Bool(millis == 0),
            "abs" => Value::native(Self { millis: millis.saturating_abs(), ..self.clone() }),
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        if self.is_period {
            return Ok(Some(period_text(self.months, self.millis / 86_400_000)));
        }
        Ok(Some(duration_text(self.millis)))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::list(vec![Value::Long(self.months), Value::Long(self.millis)]))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `PT1H2M3.5S`
fn duration_text(millis: i64) -> String {
    let hours = millis / 3_600_000;
    let minutes = millis / 60_000 % 60;
    let rest = millis % 60_000;
    let seconds = match rest {
        // Java omits zero seconds, except in `PT0S`.
        0 if millis != 0 => String::new(),
        rest => format!("{}S", rest as f64 / 1_000.0),
    };
    format!("PT{}{}{seconds}", nonzero(hours, "H"), nonzero(minutes, "M"))
}

/// An amount with its unit; empty for 0.
fn nonzero(amount: i64, unit: &str) -> String {
    if amount == 0 { String::new() } else { format!("{amount}{unit}") }
}

/// `P1Y2M3D`
fn period_text(months: i64, days: i64) -> String {
    let text = format!(
        "P{}{}{}",
        nonzero(months / 12, "Y"),
        nonzero(months % 12, "M"),
        nonzero(days, "D")
    );
    if text == "P" { "P0D".to_owned() } else { text }
}

fn day(_vm: &mut Vm, name: &str) -> Option<Value> {
    name.parse::<Weekday>().ok().map(|day| Value::native(Day(day)))
}

impl Native for Day {
    fn class_name(&self) -> &'static str {
        "java.time.DayOfWeek"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match (name, arguments) {
            ("getValue", []) => Some(Value::Int(self.0.number_from_monday() as i32)),
            ("name", []) => self.text(vm)?.map(Value::from),
            ("ordinal", []) => Some(Value::Int(self.0.num_days_from_monday() as i32)),
            _ => None,
        })
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        const NAMES: [&str; 7] =
            ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
        Ok(NAMES.get(self.0.num_days_from_monday() as usize).map(|name| (*name).to_owned()))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::Int(self.0.num_days_from_monday() as i32))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn formatter(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "ofPattern" {
        return Ok(None);
    }
    let pattern = text_at(vm, arguments, 0)?.to_string();
    Ok(Some(Value::native(Formatter { pattern, zone: None })))
}

fn standard(_vm: &mut Vm, name: &str) -> Option<Value> {
    let pattern = match name {
        "ISO_LOCAL_DATE" => "yyyy-MM-dd",
        "BASIC_ISO_DATE" => "yyyyMMdd",
        "ISO_LOCAL_TIME" => "HH:mm:ss",
        "ISO_LOCAL_DATE_TIME" => "yyyy-MM-dd'T'HH:mm:ss.SSS",
        "ISO_INSTANT" => "INSTANT",
        "ISO_DATE_TIME"
        | "ISO_OFFSET_DATE_TIME"
        | "ISO_ZONED_DATE_TIME"
        | "ISO_DATE"
        | "ISO_TIME" => "ISO",
        // Java writes the day of the month without a leading zero.
        "RFC_1123_DATE_TIME" => "EEE, d MMM yyyy HH:mm:ss 'GMT'",
        _ => return None,
    };
    Some(Value::native(Formatter { pattern: pattern.to_owned(), zone: None }))
}

/// Pattern of a formatter, or a text as a pattern.
pub(super) fn pattern_of(vm: &mut Vm, value: &Value) -> Eval<String> {
    match value.downcast::<Formatter>() {
        Some(formatter) => Ok(formatter.pattern.clone()),
        None => Ok(vm.text(value)?.to_string()),
    }
}

/// Zone of a formatter.
pub(super) fn zone_in(value: &Value) -> Option<Zone> {
    value.downcast::<Formatter>().and_then(|formatter| formatter.zone.clone())
}

impl Native for Formatter {
    fn class_name(&self) -> &'static str {
        "java.time.format.DateTimeFormatter"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("format", [time]) => format_temporal(vm, time, &self.pattern, self.zone.as_ref())?,
            ("withZone", [zone]) => Value::native(Self {
                pattern: self.pattern.clone(),
                zone: Some(zone_of(vm, zone)?),
            }),
            ("withLocale" | "withResolverStyle", [_]) => {
                Value::native(Self { pattern: self.pattern.clone(), zone: self.zone.clone() })
            }
            ("parse", _) => {
                return Err(throw(
                    "java.lang.UnsupportedOperationException",
                    "use LocalDate.parse(text, formatter) or its like",
                ));
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.pattern.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
