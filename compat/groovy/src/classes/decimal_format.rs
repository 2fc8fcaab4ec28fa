//! `DecimalFormat`, `NumberFormat`.

use super::{Class, text_at};
use crate::decimal::{Decimal, Rounding};
use crate::error::{Eval, clip, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::{Vm, double_of};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use std::any::Any;
use std::cell::{Cell, RefCell};

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.text.DecimalFormat", make),
    Class::with_static("java.text.NumberFormat", instance),
    Class::with_constructor("java.text.DecimalFormatSymbols", super::util::make_plain),
];

/// A parsed pattern such as `#,##0.00`.
struct Format {
    pattern: String,
    positive: Affixes,
    negative: Affixes,
    /// Number of digits in a group; 0 without groups.
    group: Cell<usize>,
    /// 100 for per cent, 1,000 for per mille.
    multiplier: i64,
    /// True to print the decimal point also without a fraction.
    always_point: bool,
    /// Minimum number of digits before the decimal point.
    whole: Cell<usize>,
    /// Minimum and maximum number of digits after the decimal point.
    fraction: Cell<(usize, usize)>,
    rounding: RefCell<Rounding>,
    parses_decimals: Cell<bool>,
}

/// Texts around the digits.
#[derive(Clone)]
struct Affixes {
    prefix: String,
    suffix: String,
}

/// One of the two parts of a pattern, which `;` separates.
#[derive(Default)]
struct SubPattern {
    prefix: String,
    digits: String,
    suffix: String,
    multiplier: i64,
}

impl SubPattern {
    /// Parses the next part, up to `;` or the end.
    fn parse(letters: &mut std::iter::Peekable<std::str::Chars>) -> Eval<Self> {
        let mut part = Self { multiplier: 1, ..Self::default() };
        let mut is_quoted = false;
        let mut has_suffix = false;
        while let Some(letter) = letters.next() {
            match letter {
                '\'' if letters.peek() == Some(&'\'') => {
                    letters.next();
                    part.push('\'', has_suffix);
                }
                '\'' => is_quoted = !is_quoted,
                ';' if !is_quoted => break,
                '#' | '0' | ',' | '.' if !is_quoted => {
                    if has_suffix {
                        return Err(illegal(format!(
                            "Unquoted special character '{letter}' in pattern"
                        )));
                    }
                    part.digits.push(letter);
                    continue;
                }
                'E' if !is_quoted && !part.digits.is_empty() && !has_suffix => {
                    return Err(illegal(
                        "number patterns with an exponent (`E0`) are not available to scripts here",
                    ));
                }
                '%' | '\u{2030}' if !is_quoted => {
                    part.multiplier = if letter == '%' { 100 } else { 1_000 };
                    part.push(letter, has_suffix || !part.digits.is_empty());
                }
                '\u{a4}' if !is_quoted => part.push('$', has_suffix || !part.digits.is_empty()),
                letter => part.push(letter, has_suffix || !part.digits.is_empty()),
            }
            has_suffix = !part.digits.is_empty();
        }
        Ok(part)
    }

    fn push(&mut self, letter: char, to_suffix: bool) {
        if to_suffix { self.suffix.push(letter) } else { self.prefix.push(letter) }
    }
}

fn make(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let pattern =
        if arguments.is_empty() { "#,##0.###".into() } else { text_at(vm, arguments, 0)? };
    Ok(Value::native(format(&pattern)?))
}

fn format(pattern: &str) -> Eval<Format> {
    let mut letters = if pattern.is_empty() { "#,##0.###" } else { pattern }.chars().peekable();
    let part = SubPattern::parse(&mut letters)?;
    let positive = Affixes { prefix: part.prefix, suffix: part.suffix };
    let mut negative =
        Affixes { prefix: format!("-{}", positive.prefix), suffix: positive.suffix.clone() };
    if letters.peek().is_some() {
        let part = SubPattern::parse(&mut letters)?;
        if (&part.prefix, &part.suffix) != (&positive.prefix, &positive.suffix) {
            negative = Affixes { prefix: part.prefix, suffix: part.suffix };
        }
    }
    let (whole, fraction) = part.digits.split_once('.').unwrap_or((&part.digits, ""));
    let has_point = part.digits.contains('.');
    // In a pattern of `#` and a point only, Java takes the digit before or after the point as `0`.
    let (implied_whole, implied_fraction) = match (part.digits.contains('0'), has_point) {
        (false, true) if whole.is_empty() => (0, 1),
        (false, true) => (1, 0),
        _ => (0, 0),
    };
    Ok(Format {
        pattern: pattern.to_owned(),
        positive,
        negative,
        group: Cell::new(whole.rsplit_once(',').map_or(0, |(_, group)| group.len())),
        multiplier: part.multiplier,
        always_point: has_point && fraction.is_empty(),
        whole: Cell::new(whole.matches('0').count().max(implied_whole)),
        fraction: Cell::new((fraction.matches('0').count().max(implied_fraction), fraction.len())),
        // Java's default.
        rounding: RefCell::new(Rounding::HalfEven),
        parses_decimals: Cell::new(false),
    })
}

fn instance(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    let pattern = match name {
        "getInstance" | "getNumberInstance" => "#,##0.###",
        "getIntegerInstance" => "#,##0",
        "getPercentInstance" => "#,##0%",
        "getCurrencyInstance" => "$#,##0.00",
        _ => return Ok(None),
    };
    Ok(Some(Value::native(format(pattern)?)))
}

impl Format {
    fn format_number(&self, vm: &mut Vm, value: &Value) -> Eval<String> {
        let (is_negative, number) = match value {
            Value::Double(_) | Value::Float(_) => {
                // Java multiplies a binary number before the conversion, which it makes exactly.
                let number = double_of(value).unwrap_or(f64::NAN) * self.multiplier as f64;
                if number.is_nan() {
                    return Ok("NaN".to_owned());
                }
                (number.is_sign_negative(), Decimal::from_f64_exactly(number))
            }
            Value::Str(_) | Value::Null => {
                return Err(illegal("Cannot format given Object as a Number"));
            }
            value => {
                let number =
                    vm.to_decimal(value)?.multiply(&Decimal::new(self.multiplier.into(), 0));
                (number.unscaled.is_negative(), Some(number))
            }
        };
        let digits =
            number.map_or_else(|| Ok("\u{221e}".to_owned()), |number| self.digits(&number))?;
        // A negative number that rounds to zero keeps its sign.
        let affixes = if is_negative { &self.negative } else { &self.positive };
        Ok(format!("{}{digits}{}", affixes.prefix, affixes.suffix))
    }

    /// Digits of a number, without its sign.
    fn digits(&self, number: &Decimal) -> Eval<String> {
        let (least, most) = self.fraction.get();
        let rounding = *self.rounding.borrow();
        let rounded = number.rescale(most.min(340) as i32, rounding);
        if rounding == Rounding::Unnecessary && rounded.compare(number).is_ne() {
            return Err(throw(
                "java.lang.ArithmeticException",
                "Rounding needed with the rounding mode being set to RoundingMode.UNNECESSARY",
            ));
        }
        let text = rounded.plain();
        let digits = text.trim_start_matches('-');
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
        let mut grouped = String::new();
        for (index, digit) in whole.chars().enumerate() {
            // `is_multiple_of(0)` is false for all but 0, so without groups there is no separator.
            if index > 0 && (whole.len() - index).is_multiple_of(self.group.get()) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let point = if fraction.is_empty() && !self.always_point { "" } else { "." };
        Ok(format!("{grouped}{point}{fraction}"))
    }

    /// Parses the number at the begin of a text, as Java does.
    fn parse(&self, text: &str) -> Eval<Value> {
        let unparseable =
            || throw("java.text.ParseException", format!("Unparseable number: \"{}\"", clip(text)));
        let rest =
            text.strip_prefix(&*self.negative.prefix).filter(|_| !self.negative.prefix.is_empty());
        let is_negative = rest.is_some();
        let rest =
            rest.or_else(|| text.strip_prefix(&*self.positive.prefix)).ok_or_else(unparseable)?;
        let mut has_point = false;
        let mut digits = String::new();
        for letter in rest.chars() {
            match letter {
                '0'..='9' => digits.push(letter),
                ',' if self.group.get() > 0 && !has_point => {}
                '.' if !has_point => {
                    has_point = true;
                    digits.push(letter);
                }
                _ => break,
            }
        }
        let number = Decimal::parse(&digits).ok_or_else(unparseable)?;
        let suffix = if is_negative { &self.negative.suffix } else { &self.positive.suffix };
        if !suffix.is_empty() && !rest.contains(&**suffix) {
            return Err(unparseable());
        }
        let number = if is_negative { number.negate() } else { number };
        let number = if self.multiplier == 1 {
            number
        } else {
            number.divide(&Decimal::new(self.multiplier.into(), 0))
        };
        if self.parses_decimals.get() {
            return Ok(Value::decimal(number));
        }
        let integer: BigInt = number.truncate();
        let is_integer = Decimal::from_integer(&integer).compare(&number).is_eq();
        Ok(match integer.to_i64().filter(|_| is_integer) {
            Some(integer) => Value::Long(integer),
            None => Value::Double(number.to_f64()),
        })
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
                let text = text_at(vm, arguments, 0)?;
                self.parse(&text)?
            }
            "toPattern" => Value::str(&self.pattern),
            "setParseBigDecimal" => {
                self.parses_decimals.set(vm.truth(arguments.first().unwrap_or(&Value::Null))?);
                Value::Null
            }
            "setGroupingUsed" => {
                let is_used = vm.truth(arguments.first().unwrap_or(&Value::Null))?;
                // Java's default group has three digits.
                self.group.set(if is_used { self.group.get().max(3) } else { 0 });
                Value::Null
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
            "setDecimalFormatSymbols" => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
