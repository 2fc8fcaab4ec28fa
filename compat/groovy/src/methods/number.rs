//! Methods of numbers and characters.

use crate::decimal::{Decimal, Rounding};
use crate::error::{Eval, illegal, throw};
use crate::syntax::ast::{Operator, Type};
use crate::value::Value;
use crate::vm::{Vm, double_of, long_of};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};

pub(super) fn call(
    vm: &mut Vm,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    if let Some(result) = conversions(vm, object, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = operators(vm, object, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = count_loop(vm, object, name, arguments)? {
        return Ok(Some(result));
    }
    // `3.days` in `use(TimeCategory) { … }`.
    if let (Some(unit), [], Value::Int(_) | Value::Long(_)) =
        (name.strip_prefix("get"), arguments, object)
    {
        return Ok(crate::classes::span(unit, long_of(object).unwrap_or(0)));
    }
    match object {
        Value::Decimal(number) => decimal(vm, &number.clone(), name, arguments),
        Value::BigInt(number) => big(vm, &number.clone(), name, arguments),
        Value::Double(_) | Value::Float(_) => Ok(real(object, name, arguments)),
        _ => Ok(None),
    }
}

fn conversions(
    vm: &mut Vm,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let ty = match name {
        "intValueExact" | "longValueExact" if arguments.is_empty() => {
            return exact(vm, object, name).map(Some);
        }
        "intValue" | "toInteger" => Type::Int,
        "longValue" | "toLong" => Type::Long,
        "doubleValue" | "toDouble" => Type::Double,
        "floatValue" | "toFloat" => Type::Float,
        "shortValue" => Type::Short,
        "byteValue" => Type::Byte,
        "charValue" | "toCharacter" => Type::Char,
        "toBigDecimal" => Type::BigDecimal,
        "toBigInteger" => Type::BigInteger,
        "toString" if arguments.is_empty() => Type::String,
        "booleanValue" => Type::Boolean,
        _ => return Ok(None),
    };
    if !arguments.is_empty() {
        return Ok(None);
    }
    vm.cast(object.clone(), &ty).map(Some)
}

/// Implements `intValueExact` and `longValueExact`.
fn exact(vm: &mut Vm, object: &Value, name: &str) -> Eval<Value> {
    let number = vm.to_decimal(object)?;
    let integer = number.truncate();
    if !Decimal::from_integer(&integer).compare(&number).is_eq() {
        return Err(throw("java.lang.ArithmeticException", "Rounding necessary"));
    }
    let result = if name == "intValueExact" {
        integer.to_i32().map(Value::Int)
    } else {
        integer.to_i64().map(Value::Long)
    };
    let kind = name.trim_end_matches("ValueExact");
    result.ok_or_else(|| {
        throw("java.lang.ArithmeticException", format!("BigInteger out of {kind} range"))
    })
}

fn operators(vm: &mut Vm, object: &Value, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let [other] = arguments else {
        return Ok(Some(match (name, arguments) {
            ("negate" | "unaryMinus", []) => vm.negate(object)?,
            ("next" | "previous", []) => {
                let operator = if name == "next" { Operator::Add } else { Operator::Subtract };
                vm.operate(operator, object, &Value::Int(1))?
            }
            ("abs", []) => {
                let is_negative = vm.compare(object, &Value::Int(0))? == std::cmp::Ordering::Less;
                if is_negative { vm.negate(object)? } else { object.clone() }
            }
            _ => return Ok(None),
        }));
    };
    let operator = match name {
        "plus" | "add" => Operator::Add,
        "minus" | "subtract" => Operator::Subtract,
        "multiply" => Operator::Multiply,
        "div" => Operator::Divide,
        "remainder" if matches!(object, Value::BigInt(_)) => {
            return remainder(vm, object, other).map(Some);
        }
        "mod" | "remainder" => Operator::Remainder,
        "power" => Operator::Power,
        "and" => Operator::And,
        "or" => Operator::Or,
        "xor" => Operator::Xor,
        "leftShift" | "shiftLeft" => Operator::ShiftLeft,
        "rightShift" | "shiftRight" => Operator::ShiftRight,
        "pow" => Operator::Power,
        // `BigInteger.divide` truncates its quotient.
        "divide" if matches!(object, Value::BigInt(_)) => {
            return intdiv(vm, object, other).map(Some);
        }
        "divide" if matches!(object, Value::Decimal(_)) => {
            return divide_exactly(vm, object, other).map(Some);
        }
        "divide" => Operator::Divide,
        "intdiv" => return intdiv(vm, object, other).map(Some),
        "compareTo" | "compare" => return Ok(Some(Value::Int(vm.compare(object, other)? as i32))),
        // Unlike `==`, Java's `equals` distinguishes types, and the scales of decimals.
        "equals" => {
            let is_same_type = std::mem::discriminant(object) == std::mem::discriminant(other);
            let is_same_scale = match (object, other) {
                (Value::Decimal(a), Value::Decimal(b)) => a.scale == b.scale,
                _ => true,
            };
            return Ok(Some(Value::Bool(
                is_same_type && is_same_scale && vm.equals(object, other)?,
            )));
        }
        "max" | "min" => {
            let order = vm.compare(object, other)?;
            let is_object = (order == std::cmp::Ordering::Greater) == (name == "max");
            return Ok(Some(if is_object { object.clone() } else { other.clone() }));
        }
        _ => return Ok(None),
    };
    match vm.numbers(operator, object, other)? {
        // The result of `BigInteger.pow` is a `BigInteger`.
        Some(result) => Ok(Some(result)),
        None if operator == Operator::Add => {
            let text = format!("{}{}", vm.text(object)?, vm.text(other)?);
            vm.string(text).map(Some)
        }
        None => Ok(None),
    }
}

/// `BigInteger.remainder`, which has the sign of the dividend. The operator `%` calls `mod`.
fn remainder(vm: &mut Vm, left: &Value, right: &Value) -> Eval<Value> {
    let a = vm.to_big(left)?;
    let b = vm.to_big(right)?;
    if b == BigInt::from(0) {
        return Err(throw("java.lang.ArithmeticException", "BigInteger divide by zero"));
    }
    Ok(Value::big(a % b))
}

/// `BigDecimal.divide` with one argument, which does not round. The operator `/` rounds.
fn divide_exactly(vm: &mut Vm, left: &Value, right: &Value) -> Eval<Value> {
    let a = vm.to_decimal(left)?;
    let b = vm.to_decimal(right)?;
    if b.is_zero() {
        return Err(throw("java.lang.ArithmeticException", "Division by zero"));
    }
    a.divide_exactly(&b).map(Value::decimal).ok_or_else(|| {
        throw(
            "java.lang.ArithmeticException",
            "Non-terminating decimal expansion; no exact representable decimal result.",
        )
    })
}

fn intdiv(vm: &mut Vm, left: &Value, right: &Value) -> Eval<Value> {
    if let (Value::Int(a), Value::Int(b)) = (left, right)
        && *b != 0
    {
        return Ok(Value::Int(a.wrapping_div(*b)));
    }
    if let (Value::Int(_) | Value::Long(_), Value::Int(_) | Value::Long(_)) = (left, right) {
        let a = vm.to_long(left)?;
        let b = vm.to_long(right)?;
        if b != 0 {
            return Ok(Value::Long(a.wrapping_div(b)));
        }
    }
    let a = vm.to_big(left)?;
    let b = vm.to_big(right)?;
    if b == BigInt::from(0) {
        return Err(throw("java.lang.ArithmeticException", "Division by zero"));
    }
    Ok(Value::big(a / b))
}

/// Loops such as `3.times { … }`.
fn count_loop(vm: &mut Vm, object: &Value, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(closure @ Value::Closure(_)) = arguments.last() else { return Ok(None) };
    let from = vm.to_long(object)?;
    if let ("upto" | "downto", [to, _]) = (name, arguments) {
        let order = vm.compare(to, object)?;
        let (is_wrong, relation) =
            if name == "upto" { (order.is_lt(), "less") } else { (order.is_gt(), "greater") };
        if is_wrong {
            let to = vm.text(to)?;
            let from = vm.text(object)?;
            let message = format!(
                "The argument ({to}) to {name}() cannot be {relation} than the value ({from}) it's called on."
            );
            return Err(throw("groovy.lang.GroovyRuntimeException", message));
        }
    }
    let (from, to, step) = match (name, arguments) {
        ("times", [_]) => (0, from - 1, 1),
        ("upto", [to, _]) => (from, vm.to_long(to)?, 1),
        ("downto", [to, _]) => (from, vm.to_long(to)?, -1),
        ("step", [to, step, _]) => {
            let to = vm.to_long(to)?;
            let step = vm.to_long(step)?;
            // `step` excludes its end.
            (from, to - step.signum(), step)
        }
        _ => return Ok(None),
    };
    if step == 0 {
        return Err(illegal("step() needs a number that is not 0"));
    }
    let mut position = from;
    while (step > 0 && position <= to) || (step < 0 && position >= to) {
        vm.tick(1)?;
        let number = if matches!(object, Value::Long(_)) {
            Value::Long(position)
        } else {
            Value::integer(position)
        };
        vm.call_closure(closure, &[number])?;
        position = position.saturating_add(step);
        // Further steps would not change the position.
        if position == i64::MAX || position == i64::MIN {
            break;
        }
    }
    Ok(Some(Value::Null))
}

/// A rounding mode by name or number.
fn rounding(vm: &mut Vm, value: &Value) -> Eval<Rounding> {
    let text = vm.text(value)?;
    Rounding::from_name(&text)
        .ok_or_else(|| illegal(format!("`{text}` is no rounding mode; use HALF_UP")))
}

/// Fails if the mode forbids rounding, but the result is rounded.
fn require_exact(mode: Rounding, is_exact: impl FnOnce() -> bool) -> Eval<()> {
    if mode == Rounding::Unnecessary && !is_exact() {
        return Err(throw("java.lang.ArithmeticException", "Rounding necessary"));
    }
    Ok(())
}

fn decimal(vm: &mut Vm, number: &Decimal, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("setScale", [scale, mode @ ..]) if mode.len() <= 1 => {
            let scale = vm.to_long(scale)? as i32;
            let mode = match mode.first() {
                Some(mode) => rounding(vm, mode)?,
                None => Rounding::Unnecessary,
            };
            let rounded = number.rescale(scale, mode);
            require_exact(mode, || rounded.compare(number).is_eq())?;
            Value::decimal(rounded)
        }
        ("divide", [other, mode] | [other, _, mode]) => {
            let other = vm.to_decimal(other)?;
            if other.is_zero() {
                return Err(throw("java.lang.ArithmeticException", "Division by zero"));
            }
            let scale = match arguments {
                [_, scale, _] => vm.to_long(scale)? as i32,
                // Without a scale, Java keeps that of the dividend.
                _ => number.scale,
            };
            let mode = rounding(vm, mode)?;
            let quotient = number.divide_at(&other, scale.clamp(-5_000, 5_000), mode);
            require_exact(mode, || quotient.multiply(&other).compare(number).is_eq())?;
            Value::decimal(quotient)
        }
        ("round", []) => Value::decimal(number.rescale(0, Rounding::HalfUp)),
        ("round", [places]) => {
            Value::decimal(number.rescale(vm.to_long(places)? as i32, Rounding::HalfUp))
        }
        ("scale" | "getScale", []) => Value::Int(number.scale),
        ("precision", []) => Value::count(number.precision()),
        ("signum", []) => Value::Int(number.unscaled.signum().try_into().unwrap_or(0)),
        ("stripTrailingZeros", []) => Value::decimal(number.without_trailing_zeros()),
        ("toPlainString", []) => Value::from(number.plain()),
        ("unscaledValue", []) => Value::big(number.unscaled.clone()),
        ("trunc", []) => Value::decimal(number.rescale(0, Rounding::Down)),
        ("trunc", [places]) => {
            Value::decimal(number.rescale(vm.to_long(places)? as i32, Rounding::Down))
        }
        _ => return Ok(None),
    }))
}

fn big(vm: &mut Vm, number: &BigInt, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("toString", [radix]) => {
            let radix = vm.to_long(radix)?;
            let radix =
                u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
            vm.string(number.to_str_radix(radix))?
        }
        ("signum", []) => Value::Int(number.signum().try_into().unwrap_or(0)),
        ("bitLength", []) => Value::count(number.bits() as usize),
        ("testBit", [bit]) => Value::Bool(number.bit(u64::try_from(vm.to_long(bit)?).unwrap_or(0))),
        ("gcd", [other]) => Value::big(number.gcd(&vm.to_big(other)?)),
        ("modPow", [exponent, modulus]) => {
            let exponent = vm.to_big(exponent)?;
            let modulus = vm.to_big(modulus)?;
            // The sizes bound the time of the computation.
            if modulus <= BigInt::from(0)
                || exponent.is_negative()
                || modulus.bits() > 8_192
                || exponent.bits() > 8_192
            {
                return Err(throw(
                    "java.lang.ArithmeticException",
                    "modPow needs a positive modulus and exponent of at most 8192 bits",
                ));
            }
            vm.tick(10_000)?;
            Value::big(number.modpow(&exponent, &modulus))
        }
        ("toByteArray", []) => Value::bytes(number.to_signed_bytes_be()),
        _ => return Ok(None),
    }))
}

/// A number of the same type as a `float` or `double`.
fn real_like(object: &Value, number: f64) -> Value {
    if matches!(object, Value::Float(_)) {
        Value::Float(number as f32)
    } else {
        Value::Double(number)
    }
}

fn real(object: &Value, name: &str, arguments: &[Value]) -> Option<Value> {
    let number = double_of(object)?;
    let is_float = matches!(object, Value::Float(_));
    Some(match (name, arguments) {
        ("isNaN", []) => Value::Bool(number.is_nan()),
        ("isInfinite", []) => Value::Bool(number.is_infinite()),
        ("round", []) if is_float => Value::Int((number + 0.5).floor() as i32),
        ("round", []) => Value::Long((number + 0.5).floor() as i64),
        ("round" | "trunc", [places]) => {
            let places = long_of(places)?.clamp(0, 300) as i32;
            let factor = 10_f64.powi(places);
            let scaled = number * factor;
            real_like(
                object,
                if name == "round" { (scaled + 0.5).floor() } else { scaled.trunc() } / factor,
            )
        }
        ("trunc", []) => real_like(object, number.trunc()),
        ("floor", []) => Value::Double(number.floor()),
        ("ceil", []) => Value::Double(number.ceil()),
        _ => return None,
    })
}
