//! `Date`, `Calendar`, `SimpleDateFormat`.

use super::zone::{Zone, zone_of};
use super::{Class, text_at};
use crate::error::{Eval, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use brunt_java::date::{DatePattern, Fields};
use chrono::{Datelike, Duration, Months, NaiveDateTime, Timelike};
use std::any::Any;
use std::cell::{Cell, RefCell};

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.util.Date", make_date).and_call(date_static),
    Class::with_static("java.util.Calendar", calendar_static).and_constants(calendar_constant),
    Class::with_constructor("java.util.GregorianCalendar", make_calendar)
        .and_constants(calendar_constant),
    Class::with_constructor("java.text.SimpleDateFormat", make_format),
    Class::name_only("java.text.DateFormat"),
    Class::with_static("org.apache.commons.lang3.time.DateUtils", date_utils),
    Class::with_static("org.apache.commons.lang.time.DateUtils", date_utils),
    Class::with_static("org.apache.commons.lang3.time.DateFormatUtils", format_utils),
    Class::with_constructor("java.sql.Timestamp", make_timestamp),
];

/// Date pattern of `Date.toString()`.
const TO_STRING: &str = "EEE MMM dd HH:mm:ss z yyyy";

/// A `java.util.Date` or `java.sql.Timestamp`.
pub(super) struct Date {
    /// Milliseconds since 1970.
    millis: Cell<i64>,
    is_timestamp: bool,
}

/// Creates a date from milliseconds since 1970.
pub(super) fn date(millis: i64) -> Value {
    Value::native(Date { millis: Cell::new(millis), is_timestamp: false })
}

/// Milliseconds since 1970 of a date, a calendar, a `java.time` moment or a number.
pub(super) fn millis_of(vm: &mut Vm, value: &Value) -> Eval<i64> {
    if let Some(date) = value.downcast::<Date>() {
        return Ok(date.millis.get());
    }
    if let Some(calendar) = value.downcast::<Calendar>() {
        return Ok(calendar.millis.get());
    }
    match super::time::millis_of(vm, value) {
        Some(millis) => Ok(millis),
        None => vm.to_long(value),
    }
}

fn make_date(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let millis = match arguments {
        [] => vm.host.now_millis(),
        [Value::Str(text)] => return parse_date(vm, "EEE MMM dd HH:mm:ss zzz yyyy", &text.clone()),
        [value] => millis_of(vm, value)?,
        _ => {
            // year − 1900, month from 0, day, hour, minute, second
            let mut parts = [0_i64; 6];
            for (part, value) in parts.iter_mut().zip(arguments) {
                *part = vm.to_long(value)?;
            }
            let first = chrono::NaiveDate::from_ymd_opt(
                (parts[0] + 1_900).clamp(-9_999, 9_999) as i32,
                1,
                1,
            )
            .unwrap_or_default();
            let month = shift(first.and_hms_opt(0, 0, 0).unwrap_or_default(), "MONTH", parts[1]);
            let seconds = (parts[2] - 1) * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5];
            month.and_utc().timestamp_millis().saturating_add(seconds.saturating_mul(1_000))
        }
    };
    Ok(date(millis))
}

fn make_timestamp(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let date = make_date(vm, class, arguments)?;
    let millis = millis_of(vm, &date)?;
    Ok(Value::native(Date { millis: Cell::new(millis), is_timestamp: true }))
}

fn date_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match (name, arguments) {
        ("from", [moment]) => Some(date(millis_of(vm, moment)?)),
        ("parse", [_, _]) => {
            let pattern = text_at(vm, arguments, 0)?;
            let text = text_at(vm, arguments, 1)?;
            Some(parse_date(vm, &pattern, &text)?)
        }
        _ => None,
    })
}

/// Adds a number of units to a local date and time. Returns it unchanged on overflow.
pub(super) fn shift(local: NaiveDateTime, unit: &str, amount: i64) -> NaiveDateTime {
    let duration = match unit
        .trim_end_matches('S')
        .trim_end_matches("_OF_MONTH")
        .trim_end_matches("_OF_YEAR")
        .trim_end_matches("_OF_DAY")
    {
        "YEAR" => return add_months(local, amount.saturating_mul(12)),
        "DECADE" => return add_months(local, amount.saturating_mul(120)),
        "MONTH" => return add_months(local, amount),
        "WEEK" => Duration::try_days(amount.saturating_mul(7)),
        "DAY" | "DATE" | "DAY_OF_WEEK" => Duration::try_days(amount),
        "HALF_DAY" => Duration::try_hours(amount.saturating_mul(12)),
        "HOUR" => Duration::try_hours(amount),
        "MINUTE" => Duration::try_minutes(amount),
        "SECOND" => Duration::try_seconds(amount),
        "MILLISECOND" | "MILLI" => Duration::try_milliseconds(amount),
        "MICRO" => Some(Duration::microseconds(amount)),
        "NANO" => Some(Duration::nanoseconds(amount)),
        _ => None,
    };
    duration.and_then(|duration| local.checked_add_signed(duration)).unwrap_or(local)
}

fn add_months(local: NaiveDateTime, months: i64) -> NaiveDateTime {
    let count = Months::new(u32::try_from(months.unsigned_abs()).unwrap_or(u32::MAX));
    let moved =
        if months < 0 { local.checked_sub_months(count) } else { local.checked_add_months(count) };
    moved.unwrap_or(local)
}

/// Formats a moment. Fails on an invalid pattern.
pub(super) fn format(vm: &mut Vm, pattern: &str, millis: i64, zone: &Zone) -> Eval<Value> {
    let moment = zone.moment(vm, millis);
    match DatePattern::parse(pattern) {
        Ok(pattern) => vm.string(pattern.write(&moment)),
        Err(error) => Err(illegal(error.to_string())),
    }
}

fn parse_date(vm: &mut Vm, pattern: &str, text: &str) -> Eval<Value> {
    let zone = Zone::default(vm);
    parse_in(vm, pattern, text, &zone)
}

fn parse_in(vm: &mut Vm, pattern: &str, text: &str, zone: &Zone) -> Eval<Value> {
    let fields =
        DatePattern::parse(pattern).map_err(|error| illegal(error.to_string()))?.fields(text);
    let local = fields.as_ref().and_then(Fields::local);
    let (Some(fields), Some(local)) = (fields, local) else {
        return Err(throw(
            "java.text.ParseException",
            format!("Unparseable date: \"{}\"", crate::error::clip(text)),
        ));
    };
    let zone = match (fields.offset, &fields.zone) {
        (Some(offset), _) => Zone { name: "GMT".to_owned(), fixed: Some(offset) },
        (None, Some(name)) => Zone::from_name(vm, name).unwrap_or_else(|| zone.clone()),
        _ => zone.clone(),
    };
    Ok(date(zone.millis(vm, &local)))
}

/// Formats a date for `%tY` and similar conversions.
pub(super) fn format_time(vm: &mut Vm, value: &Value, letter: char) -> Eval<String> {
    let millis = millis_of(vm, value)?;
    let pattern = match letter {
        'Y' => "yyyy",
        'y' => "yy",
        'm' => "MM",
        'd' => "dd",
        'e' => "d",
        'H' => "HH",
        'I' => "hh",
        'M' => "mm",
        'S' => "ss",
        'L' => "SSS",
        'p' => "a",
        'B' => "MMMM",
        'b' | 'h' => "MMM",
        'A' => "EEEE",
        'a' => "EEE",
        'j' => "DDD",
        'F' => "yyyy-MM-dd",
        'T' => "HH:mm:ss",
        'R' => "HH:mm",
        'D' => "MM/dd/yy",
        'Z' => "z",
        'z' => "Z",
        's' => return Ok((millis / 1_000).to_string()),
        'Q' => return Ok(millis.to_string()),
        _ => TO_STRING,
    };
    let zone = Zone::default(vm);
    let text = format(vm, pattern, millis, &zone)?;
    Ok(vm.text(&text)?.to_string())
}

impl Native for Date {
    fn class_name(&self) -> &'static str {
        if self.is_timestamp { "java.sql.Timestamp" } else { "java.util.Date" }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let millis = self.millis.get();
        let zone = Zone::default(vm);
        let local = zone.moment(vm, millis).local;
        Ok(Some(match (name, arguments) {
            ("getTime", []) => Value::Long(millis),
            ("setTime", [value]) => {
                self.millis.set(vm.to_long(value)?);
                Value::Null
            }
            ("format", [_, rest @ ..]) => {
                let pattern = text_at(vm, arguments, 0)?;
                let zone = match rest.first() {
                    Some(zone) => zone_of(vm, zone)?,
                    None => zone,
                };
                format(vm, &pattern, millis, &zone)?
            }
            // In Groovy, a number added to a date is a number of days.
            ("plus" | "minus", [Value::Int(_) | Value::Long(_)]) => {
                let days = vm.to_long(&arguments[0])?.saturating_mul(86_400_000);
                date(if name == "plus" {
                    millis.saturating_add(days)
                } else {
                    millis.saturating_sub(days)
                })
            }
            ("plus" | "minus", [span]) if span.downcast::<super::temporal::Span>().is_some() => {
                let later = span.downcast::<super::temporal::Span>();
                let later =
                    later.map(|span| span.add_to(local, if name == "plus" { 1 } else { -1 }));
                date(zone.millis(vm, &later.unwrap_or(local)))
            }
            // In Groovy, the difference of two dates is a number of days.
            ("minus", [other]) => {
                Value::Int(((millis - millis_of(vm, other)?) / 86_400_000) as i32)
            }
            ("next" | "previous", []) => {
                date(millis + if name == "next" { 86_400_000 } else { -86_400_000 })
            }
            ("before", [other]) => Value::Bool(millis < millis_of(vm, other)?),
            ("after", [other]) => Value::Bool(millis > millis_of(vm, other)?),
            (
                "toInstant" | "toZonedDateTime" | "toLocalDateTime" | "toLocalDate"
                | "toOffsetDateTime",
                [],
            ) => super::time::from_millis(vm, name, millis),
            ("toCalendar", []) => {
                Value::native(Calendar { millis: Cell::new(millis), zone: RefCell::new(zone) })
            }
            ("clearTime", []) => {
                let day = local.date().and_hms_opt(0, 0, 0).unwrap_or(local);
                self.millis.set(zone.millis(vm, &day));
                date(self.millis.get())
            }
            // Java counts these years from 1900.
            ("getYear", []) => Value::Int(local.year() - 1_900),
            ("getMonth", []) => Value::Int(local.month0() as i32),
            ("getDate", []) => Value::Int(local.day() as i32),
            ("getDay", []) => Value::Int(local.weekday().num_days_from_sunday() as i32),
            ("getHours", []) => Value::Int(local.hour() as i32),
            ("getMinutes", []) => Value::Int(local.minute() as i32),
            ("getSeconds", []) => Value::Int(local.second() as i32),
            ("getAt", [field]) => {
                let field = vm.to_long(field)?;
                Value::Int(calendar_field(&local, field))
            }
            // Groovy's formats of the English locale.
            ("getDateString", []) => format(vm, "M/d/yy", millis, &zone)?,
            ("getTimeString", []) => format(vm, "h:mm:ss a", millis, &zone)?,
            ("getDateTimeString", []) => format(vm, "M/d/yy, h:mm:ss a", millis, &zone)?,
            ("toLocaleString", []) => format(vm, "MMM d, yyyy, h:mm:ss a", millis, &zone)?,
            ("toGMTString", []) => format(vm, "d MMM yyyy HH:mm:ss 'GMT'", millis, &Zone::utc())?,
            ("clone", []) => date(millis),
            _ => return Ok(None),
        }))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let moment = Zone::default(vm).moment(vm, self.millis.get());
        let pattern = if self.is_timestamp { "yyyy-MM-dd HH:mm:ss.SSS" } else { TO_STRING };
        let text = DatePattern::parse(pattern).ok().map(|pattern| pattern.write(&moment));
        // A timestamp keeps one digit of its fraction.
        Ok(text.map(|text| match text.strip_suffix("00").or_else(|| text.strip_suffix('0')) {
            Some(short) if self.is_timestamp => short.to_owned(),
            _ => text,
        }))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::Long(self.millis.get()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Calendar fields by Java's numbers. The names are those of [`shift`].
const FIELDS: [(&str, i64); 14] = [
    ("YEAR", 1),
    ("MONTH", 2),
    ("WEEK_OF_YEAR", 3),
    ("WEEK_OF_MONTH", 4),
    ("DATE", 5),
    ("DAY_OF_MONTH", 5),
    ("DAY_OF_YEAR", 6),
    ("DAY_OF_WEEK", 7),
    ("DAY_OF_WEEK_IN_MONTH", 8),
    ("HOUR", 10),
    ("HOUR_OF_DAY", 11),
    ("MINUTE", 12),
    ("SECOND", 13),
    ("MILLISECOND", 14),
];

struct Calendar {
    millis: Cell<i64>,
    zone: RefCell<Zone>,
}

fn calendar_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    const MONTHS: &str =
        "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER";
    const DAYS: &str = "SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY";
    if let Some((_, number)) = FIELDS.iter().find(|(field_name, _)| *field_name == name) {
        return Some(Value::integer(*number));
    }
    let other = match name {
        "AM" | "ERA" => Some(0),
        "PM" => Some(1),
        "AM_PM" => Some(9),
        _ => None,
    };
    if let Some(number) = other {
        return Some(Value::Int(number));
    }
    let month = MONTHS.split(' ').position(|month_name| month_name == name);
    let day = DAYS.split(' ').position(|day_name| day_name == name).map(|day| day + 1);
    month.or(day).map(Value::count)
}

/// Week of a day, which is counted from 0, in the period that begins on `first`. In the English locale, the week
/// of the first day is week 1, and weeks begin on Sunday.
fn week(day: u32, first: Option<NaiveDateTime>) -> u32 {
    (day + first.map_or(0, |first| first.weekday().num_days_from_sunday())) / 7 + 1
}

fn week_of_year(local: &NaiveDateTime) -> u32 {
    let days_to_saturday = 6 - local.weekday().num_days_from_sunday();
    // A week that has days of the next year is its week 1.
    if local.month() == 12 && local.day() + days_to_saturday > 31 {
        return 1;
    }
    week(local.ordinal0(), local.with_ordinal(1))
}

fn calendar_field(local: &NaiveDateTime, field: i64) -> i32 {
    (match field {
        // The era of all years from 1.
        0 => 1,
        1 => return local.year(),
        2 => local.month0(),
        3 => week_of_year(local),
        4 => week(local.day0(), local.with_day(1)),
        5 => local.day(),
        6 => local.ordinal(),
        7 => local.weekday().number_from_sunday(),
        8 => local.day0() / 7 + 1,
        9 => u32::from(local.hour() >= 12),
        10 => local.hour() % 12,
        11 => local.hour(),
        12 => local.minute(),
        13 => local.second(),
        14 => local.nanosecond() / 1_000_000,
        _ => 0,
    }) as i32
}

fn make_calendar(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let calendar = calendar_static(vm, "getInstance", arguments)?.unwrap_or_default();
    // `new GregorianCalendar(2024, Calendar.MAY, 17)`
    if let [Value::Int(_), _, _, ..] = arguments {
        vm.call_method(&calendar, "clear", &[])?;
        vm.call_method(&calendar, "set", arguments)?;
    }
    Ok(calendar)
}

fn calendar_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "getInstance" {
        return Ok(None);
    }
    let zone = arguments
        .iter()
        .find_map(|value| value.downcast::<Zone>())
        .cloned()
        .unwrap_or_else(|| Zone::default(vm));
    Ok(Some(Value::native(Calendar {
        millis: Cell::new(vm.host.now_millis()),
        zone: RefCell::new(zone),
    })))
}

impl Calendar {
    fn local(&self, vm: &Vm) -> NaiveDateTime {
        self.zone.borrow().moment(vm, self.millis.get()).local
    }

    fn set_local(&self, vm: &Vm, local: &NaiveDateTime) {
        self.millis.set(self.zone.borrow().millis(vm, local));
    }

    /// Adds an amount to a field.
    fn add(&self, vm: &Vm, field: i64, amount: i64) {
        let unit = match field {
            10 | 11 => "HOUR",
            3 | 4 => "WEEK",
            5..=7 => "DAY",
            9 => "HALF_DAY",
            _ => FIELDS.iter().find(|(_, number)| *number == field).map_or("", |(name, _)| name),
        };
        let local = shift(self.local(vm), unit, amount);
        self.set_local(vm, &local);
    }
}

impl Calendar {
    /// Adds an amount to a field, which wraps around without a change of the larger fields.
    fn roll(&self, vm: &Vm, field: i64, amount: i64) {
        let local = self.local(vm);
        let days_of_month =
            shift(local.with_day(1).unwrap_or(local), "MONTH", 1) - Duration::days(1);
        let (first, count) = match field {
            2 => (0, 12),
            5 => (1, i64::from(days_of_month.day())),
            10 => (0, 12),
            9 => (0, 2),
            11 => (0, 24),
            12 | 13 => (0, 60),
            14 => (0, 1_000),
            _ => return self.add(vm, field, amount),
        };
        let now = i64::from(calendar_field(&local, field)) - first;
        let rolled = now.saturating_add(amount).rem_euclid(count);
        self.add(vm, field, rolled - now);
    }
}

impl Native for Calendar {
    fn class_name(&self) -> &'static str {
        "java.util.GregorianCalendar"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let mut numbers = Vec::new();
        if matches!(name, "get" | "getAt" | "add" | "set" | "roll" | "getActualMaximum" | "putAt") {
            for argument in arguments {
                numbers.push(vm.to_long(argument)?);
            }
        }
        let local = self.local(vm);
        Ok(Some(match (name, &numbers[..]) {
            ("get" | "getAt", [field]) => Value::Int(calendar_field(&local, *field)),
            ("add", [field, amount]) => {
                self.add(vm, *field, *amount);
                Value::Null
            }
            ("roll", [field, amount]) => {
                self.roll(vm, *field, *amount);
                Value::Null
            }
            ("set" | "putAt", [field, value]) => {
                let now = i64::from(calendar_field(&local, *field));
                self.add(vm, *field, value.saturating_sub(now));
                Value::Null
            }
            ("set", [year, month, day, rest @ ..]) => {
                // First the day 1, because the new month may lack the current day.
                for (field, value) in [(5, 1), (1, *year), (2, *month), (5, *day)]
                    .into_iter()
                    .chain([11, 12, 13].into_iter().zip(rest.iter().copied()))
                {
                    let now = i64::from(calendar_field(&self.local(vm), field));
                    self.add(vm, field, value.saturating_sub(now));
                }
                Value::Null
            }
            ("getActualMaximum", [5]) => {
                let next = shift(local.with_day(1).unwrap_or(local), "MONTH", 1);
                Value::Int((next - Duration::days(1)).day() as i32)
            }
            _ => return self.others(vm, name, arguments),
        }))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let moment = self.zone.borrow().moment(vm, self.millis.get());
        Ok(DatePattern::parse(TO_STRING).ok().map(|pattern| pattern.write(&moment)))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::Long(self.millis.get()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Calendar {
    fn others(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let millis = self.millis.get();
        Ok(Some(match (name, arguments) {
            ("getTime", []) => date(millis),
            ("getTimeInMillis", []) => Value::Long(millis),
            ("setTime" | "setTimeInMillis", [value]) => {
                self.millis.set(millis_of(vm, value)?);
                Value::Null
            }
            ("setTimeZone", [zone]) => {
                let zone = zone_of(vm, zone)?;
                self.zone.replace(zone);
                Value::Null
            }
            ("getTimeZone", []) => Value::native(self.zone.borrow().clone()),
            ("format", [_]) => {
                let pattern = text_at(vm, arguments, 0)?;
                let zone = self.zone.borrow().clone();
                format(vm, &pattern, millis, &zone)?
            }
            ("before", [other]) => Value::Bool(millis < millis_of(vm, other)?),
            ("after", [other]) => Value::Bool(millis > millis_of(vm, other)?),
            ("clone", []) => {
                Value::native(Self { millis: self.millis.clone(), zone: self.zone.clone() })
            }
            ("toInstant", []) => super::time::from_millis(vm, name, millis),
            ("clear", []) => {
                self.set_local(vm, &chrono::DateTime::UNIX_EPOCH.naive_utc());
                Value::Null
            }
            // Of the other fields, Java does not clear each by itself.
            ("clear", [field]) => {
                let field = vm.to_long(field)?;
                if (10..=14).contains(&field) {
                    let now = i64::from(calendar_field(&self.local(vm), field));
                    self.add(vm, field, -now);
                }
                Value::Null
            }
            ("setLenient" | "setFirstDayOfWeek", _) => Value::Null,
            _ => return Ok(None),
        }))
    }
}

/// `SimpleDateFormat`
struct Format {
    pattern: RefCell<String>,
    zone: RefCell<Zone>,
}

fn make_format(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let pattern =
        if arguments.is_empty() { "M/d/yy, h:mm a".into() } else { text_at(vm, arguments, 0)? };
    let zone = Zone::default(vm);
    // Java rejects an unknown letter here, before the first date is formatted.
    format(vm, &pattern, 0, &zone)?;
    Ok(Value::native(Format {
        pattern: RefCell::new(pattern.to_string()),
        zone: RefCell::new(zone),
    }))
}

impl Native for Format {
    fn class_name(&self) -> &'static str {
        "java.text.SimpleDateFormat"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let pattern = self.pattern.borrow().clone();
        let zone = self.zone.borrow().clone();
        Ok(Some(match (name, arguments) {
            ("format", [value, ..]) => {
                let millis = millis_of(vm, value)?;
                format(vm, &pattern, millis, &zone)?
            }
            ("parse", [_, ..]) => {
                let text = text_at(vm, arguments, 0)?;
                parse_in(vm, &pattern, &text, &zone)?
            }
            ("setTimeZone", [zone]) => {
                let zone = zone_of(vm, zone)?;
                self.zone.replace(zone);
                Value::Null
            }
            ("getTimeZone", []) => Value::native(zone),
            ("applyPattern", [_]) => {
                let text = text_at(vm, arguments, 0)?;
                self.pattern.replace(text.to_string());
                Value::Null
            }
            ("toPattern", []) => Value::from(pattern),
            ("setLenient" | "setCalendar", _) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn date_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let (Some(unit), [moment, amount]) = (name.strip_prefix("add"), arguments) else {
        return Ok(None);
    };
    let millis = millis_of(vm, moment)?;
    let amount = vm.to_long(amount)?;
    let zone = Zone::default(vm);
    let local = shift(zone.moment(vm, millis).local, &unit.to_ascii_uppercase(), amount);
    Ok(Some(date(zone.millis(vm, &local))))
}

fn format_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let ([moment, pattern, ..], "format" | "formatUTC") = (arguments, name) else {
        return Ok(None);
    };
    let millis = millis_of(vm, moment)?;
    let pattern = vm.text(pattern)?;
    let zone = if name == "format" { Zone::default(vm) } else { Zone::utc() };
    format(vm, &pattern, millis, &zone).map(Some)
}
