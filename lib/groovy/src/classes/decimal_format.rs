//! `DecimalFormat`, `NumberFormat`.

use super::{Class, text_at};
use crate::decimal::Rounding;
use crate::error::Eval;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::{Cell, RefCell};

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.text.DecimalFormat", make),
    Class::with_static("java.text.NumberFormat", instance),
    Class::with_constructor("java.text.DecimalFormatSymbols", super::util::make_plain),
];

/// A parsed pattern such as `#,##0.00`.
struct Format {
    prefix: String,
    suffix: String,
    grouped: bool,
    percent: bool,
    /// Minimum number of digits before the decimal point.
    whole: Cell<usize>,
    /// Minimum and maximum number of digits after the decimal point.
    fraction: Cell<(usize, usize)>,
    rounding: RefCell<Rounding>,
}

fn make(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let pattern = if arguments.is_empty() { "#,##0.###".into() } else { text_at(vm, arguments, 0)? };
    Ok(Value::native(format(&pattern)))
}

fn format(pattern: &str) -> Format {
    let pattern = pattern.split(';').next().unwrap_or("");
    let begin = pattern.find(is_digit).unwrap_or(pattern.len());
    let end = pattern.rfind(is_digit).map_or(begin, |end| end + 1);
    let (whole, fraction) = pattern[begin..end].split_once('.').unwrap_or((&pattern[begin..end], ""));
    Format {
        prefix: pattern[..begin].replace('\'', ""),
        suffix: pattern[end..].replace('\'', ""),
        grouped: whole.contains(','),
        percent: pattern.contains('%'),
        whole: Cell::new(whole.matches('0').count()),
        fraction: Cell::new((fraction.matches('0').count(), fraction.len())),
        // Java's default.
        rounding: RefCell::new(Rounding::HalfEven),
    }
}

fn is_digit(letter: char) -> bool {
    "#0,.".contains(letter)
}

fn instance(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    let pattern = match name {
        "getInstance" | "getNumberInstance" => "#,##0.###",
        "getIntegerInstance" => "#,##0",
        "getPercentInstance" => "#,##0%",
        "getCurrencyInstance" => "$#,##0.00",
        _ => return Ok(None),
    };
    Ok(Some(Value::native(format(pattern))))
}

impl Format {
    fn format_number(&self, vm: &mut Vm, value: &Value) -> Eval<String> {
        let mut number = vm.to_decimal(value)?;
        if self.percent {
            number = number.multiply(&crate::decimal::Decimal::new(100.into(), 0));
        }
        let (least, most) = self.fraction.get();
        let text = number.rescale(most.min(340) as i32, *self.rounding.borrow()).plain();
        let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut fraction = fraction.to_owned();
        while fraction.len() > least && fraction.ends_with('0') {
            fraction.pop();
        }
        let missing = self.whole.get().min(340).saturating_sub(whole.len());
        let whole = if whole == "0" && self.whole.get() == 0 && !fraction.is_empty() {
            String::new()
        } else {
            "0".repeat(missing) + whole
        };
        let whole = if self.grouped { super::format::group_digits(&whole) } else { whole };
        let point = if fraction.is_empty() { "" } else { "." };
        let is_zero = whole.chars().chain(fraction.chars()).all(|digit| matches!(digit, '0' | ','));
        Ok(format!("{}{}{whole}{point}{fraction}{}", if is_zero { "" } else { sign }, self.prefix, self.suffix))
    }
}

fn digit_count(vm: &mut Vm, arguments: &[Value]) -> Eval<usize> {
    // Java's maximum number of digits of a double.
    Ok(vm.to_long(arguments.first().unwrap_or(&Value::Null))?.clamp(0, 340) as usize)
}

impl Native for Format {
    fn class_name(&self) -> &'static str {
        "java.text.DecimalFormat"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "format" => {
                let text = self.format_number(vm, arguments.first().unwrap_or(&Value::Null))?;
                vm.string(text)?
            }
            "parse" => {
                let text = text_at(vm, arguments, 0)?.replace(',', "");
                let number = vm.to_decimal(&Value::from(text))?;
                if number.scale <= 0 { Value::Long(number.to_i64_wrapping()) } else { Value::Double(number.to_f64()) }
            }
            "setRoundingMode" => {
                let mode = text_at(vm, arguments, 0)?;
                self.rounding.replace(Rounding::from_name(&mode).unwrap_or(Rounding::HalfEven));
                Value::Null
            }
            "setMaximumFractionDigits" => {
                let most = digit_count(vm, arguments)?;
                self.fraction.set((self.fraction.get().0.min(most), most));
                Value::Null
            }
            "setMinimumFractionDigits" => {
                let least = digit_count(vm, arguments)?;
                self.fraction.set((least, self.fraction.get().1.max(least)));
                Value::Null
            }
            "setMinimumIntegerDigits" => {
                self.whole.set(digit_count(vm, arguments)?);
                Value::Null
            }
            "setGroupingUsed" | "setDecimalFormatSymbols" | "setParseBigDecimal" => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
