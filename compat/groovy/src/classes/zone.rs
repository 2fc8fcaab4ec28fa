//! Time zones and moments, shared by all date classes.

use super::{Class, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
pub(super) use brunt_java::date::{Moment, local_of};
use brunt_java::date::{fixed_offset, offset_text};
use chrono::NaiveDateTime;
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.util.TimeZone", zone_static),
    Class::with_static("java.time.ZoneId", zone_static),
    Class::with_static("java.time.ZoneOffset", zone_static).and_constants(zone_constant),
];

/// A time zone with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    pub name: String,
    /// Constant offset in seconds east of UTC; None if the offset changes over time.
    pub fixed: Option<i32>,
}

impl Zone {
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), fixed: Some(0) }
    }

    /// Finds a zone by name; `None` if it is unknown.
    pub fn from_name(vm: &Vm, name: &str) -> Option<Self> {
        let fixed = fixed_offset(name);
        // Any time will do: the host returns no offset for an unknown zone.
        if fixed.is_some() || vm.host.zone_offset(name, 0).is_some() {
            return Some(Self { name: name.to_owned(), fixed });
        }
        None
    }

    /// The host's default zone.
    pub fn default(vm: &Vm) -> Self {
        Self::from_name(vm, &vm.host.default_zone()).unwrap_or_else(Self::utc)
    }

    /// Offset in seconds east of UTC, at a time in milliseconds since 1970.
    pub fn offset(&self, vm: &Vm, millis: i64) -> i32 {
        self.fixed.or_else(|| vm.host.zone_offset(&self.name, millis)).unwrap_or(0)
    }

    /// Local date and time in this zone, from milliseconds since 1970.
    pub fn moment(&self, vm: &Vm, millis: i64) -> Moment {
        let offset = self.offset(vm, millis);
        Moment::new(millis, offset, self.name.clone())
    }

    /// Milliseconds since 1970 of a local date and time in this zone.
    pub fn millis(&self, vm: &Vm, local: &NaiveDateTime) -> i64 {
        let local_millis = local.and_utc().timestamp_millis();
        // The offset depends on the result, so the first one may be wrong near a change.
        let guess = local_millis - i64::from(self.offset(vm, local_millis)) * 1_000;
        local_millis - i64::from(self.offset(vm, guess)) * 1_000
    }
}

/// Zone of an argument: a zone object or a name.
pub(super) fn zone_of(vm: &mut Vm, value: &Value) -> Eval<Zone> {
    if let Some(zone) = value.downcast::<Zone>() {
        return Ok(zone.clone());
    }
    let name = vm.text(value)?;
    Zone::from_name(vm, &name).ok_or_else(|| {
        throw(
            "java.time.DateTimeException",
            format!("Unknown time-zone ID: {}", crate::error::clip(&name)),
        )
    })
}

fn zone_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(Value::native(match name {
        "getTimeZone" => {
            let name = text_at(vm, arguments, 0)?;
            // Java falls back to GMT. An error is more helpful to the script's author.
            Zone::from_name(vm, &name).ok_or_else(|| {
                throw(
                    "java.lang.IllegalArgumentException",
                    format!("time zone `{name}` is unknown here"),
                )
            })?
        }
        "of" => {
            let name = text_at(vm, arguments, 0)?;
            zone_of(vm, &Value::Str(name))?
        }
        "systemDefault" | "getDefault" => Zone::default(vm),
        "ofHours" | "ofHoursMinutes" | "ofTotalSeconds" => {
            // The bound keeps the number of seconds below within 32 bits.
            let first = vm
                .to_long(arguments.first().unwrap_or(&Value::Null))?
                .clamp(-100_000, 100_000) as i32;
            let second =
                arguments.get(1).map_or(Ok(0), |value| vm.to_long(value))?.clamp(-59, 59) as i32;
            let offset = if name == "ofTotalSeconds" { first } else { first * 3_600 + second * 60 };
            Zone { name: offset_text(offset, ":"), fixed: Some(offset) }
        }
        "setDefault" => return Ok(Some(Value::Null)),
        _ => return Ok(None),
    })))
}

fn zone_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    // Java prints `ZoneOffset.UTC` as `Z`.
    (name == "UTC").then(|| Value::native(Zone { name: "Z".to_owned(), fixed: Some(0) }))
}

impl Native for Zone {
    fn class_name(&self) -> &'static str {
        "java.util.TimeZone"
    }

    fn call(&self, vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getID" | "getId" | "getDisplayName" => Value::str(&self.name),
            "getRawOffset" | "getOffset" => {
                let now = vm.host.now_millis();
                Value::Int(self.offset(vm, now) * 1_000)
            }
            "toZoneId" | "normalized" => Value::native(self.clone()),
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.name.clone()))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::str(&self.name))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
