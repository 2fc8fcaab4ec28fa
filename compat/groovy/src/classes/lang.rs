//! Classes of `java.lang`: numbers, characters, text, `Math`, `Objects`.

use super::charset::Charset;
use super::{Class, bytes_of, codec, format, text_at};
use crate::decimal::{Decimal, Rounding};
use crate::error::{Eval, number_format_error, throw};
use crate::value::Value;
use crate::vm::{Vm, double_of};
use num_bigint::BigInt;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.lang.Integer", integer)
        .and_constructor(make_boxed)
        .and_constants(integer_constant),
    Class::with_static("java.lang.Long", long)
        .and_constructor(make_boxed)
        .and_constants(long_constant),
    Class::with_static("java.lang.Short", integer)
        .and_constructor(make_boxed)
        .and_constants(short_constant),
    Class::with_static("java.lang.Byte", integer)
        .and_constructor(make_boxed)
        .and_constants(byte_constant),
    Class::with_static("java.lang.Double", double)
        .and_constructor(make_boxed)
        .and_constants(double_constant),
    Class::with_static("java.lang.Float", double)
        .and_constructor(make_boxed)
        .and_constants(double_constant),
    Class::with_static("java.lang.Boolean", boolean)
        .and_constructor(make_boxed)
        .and_constants(boolean_constant),
    Class::with_static("java.lang.Character", character).and_constructor(make_boxed),
    Class::with_static("java.lang.String", string)
        .and_constructor(make_string)
        .and_constants(string_constant),
    Class::name_only("java.lang.Object").and_constructor(make_object),
    Class::name_only("java.lang.Number"),
    Class::with_static("java.lang.Math", math).and_constants(math_constant),
    Class::with_static("java.lang.StrictMath", math),
    Class::with_static("java.math.BigDecimal", big_decimal)
        .and_constructor(make_boxed)
        .and_constants(decimal_constant),
    Class::with_static("java.math.BigInteger", big_decimal)
        .and_constructor(make_boxed)
        .and_constants(big_constant),
    Class::with_static("java.math.RoundingMode", codec::no_static).and_constants(rounding),
    Class::name_only("java.math.MathContext").and_constants(rounding),
    Class::with_static("java.util.Objects", objects),
    Class::with_static("int", integer),
    Class::with_static("long", long),
    Class::with_static("double", double),
];

fn first(arguments: &[Value]) -> Value {
    arguments.first().cloned().unwrap_or_default()
}

/// Parses an integer, optionally in a radix.
fn parse_integer(vm: &mut Vm, arguments: &[Value]) -> Eval<BigInt> {
    let Some(Value::Str(_) | Value::Native(_) | Value::Null) = arguments.first() else {
        return vm.to_big(&first(arguments));
    };
    if matches!(arguments.first(), Some(Value::Null)) {
        return Err(throw("java.lang.NumberFormatException", "Cannot parse null string: null"));
    }
    let text = text_at(vm, arguments, 0)?;
    let radix = match arguments.get(1) {
        Some(radix) => vm.to_long(radix)?.clamp(2, 36) as u32,
        None => 10,
    };
    // The time to parse is quadratic in the length.
    if text.len() > 10_000 {
        return Err(number_format_error(&text));
    }
    let digits = text.strip_prefix('+').unwrap_or(&text);
    // Java accepts no underscores, but `parse_bytes` does.
    let number =
        if digits.contains('_') { None } else { BigInt::parse_bytes(digits.as_bytes(), radix) };
    number.ok_or_else(|| number_format_error(&text))
}

fn integer(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "parseInt" | "valueOf" | "decode" | "parseShort" | "parseByte" => {
            if let Some(Value::Char(letter)) = arguments.first() {
                // Java widens a `char` to `int`: the value of the character `5` is 53.
                return Ok(Some(Value::Int(*letter as i32)));
            }
            let number = parse_integer(vm, arguments)?;
            Value::Int(
                i32::try_from(&number).map_err(|_| number_format_error(&number.to_string()))?,
            )
        }
        "toHexString" => Value::from(format!("{:x}", vm.to_long(&first(arguments))? as i32)),
        "toBinaryString" => Value::from(format!("{:b}", vm.to_long(&first(arguments))? as i32)),
        "toOctalString" => Value::from(format!("{:o}", vm.to_long(&first(arguments))? as i32)),
        "bitCount" => Value::Int((vm.to_long(&first(arguments))? as i32).count_ones() as i32),
        _ => return number_static(vm, name, arguments),
    }))
}

fn long(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "parseLong" | "valueOf" => {
            let number = parse_integer(vm, arguments)?;
            Value::Long(
                i64::try_from(&number).map_err(|_| number_format_error(&number.to_string()))?,
            )
        }
        "toHexString" => Value::from(format!("{:x}", vm.to_long(&first(arguments))?)),
        "toBinaryString" => Value::from(format!("{:b}", vm.to_long(&first(arguments))?)),
        "bitCount" => Value::Int(vm.to_long(&first(arguments))?.count_ones() as i32),
        _ => return number_static(vm, name, arguments),
    }))
}

/// Static methods that all number classes share.
fn number_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("toString", [value]) => {
            let text = vm.text(value)?;
            Value::Str(text)
        }
        ("toString", [value, radix]) => {
            let number = vm.to_big(value)?;
            let radix = vm.to_long(radix)?;
            vm.string(number.to_str_radix(radix.clamp(2, 36) as u32))?
        }
        ("compare", [a, b]) => Value::Int(vm.compare(a, b)? as i32),
        ("max" | "min", [_, _]) => return math(vm, name, arguments),
        ("sum", [a, b]) => vm.operate(crate::syntax::ast::Operator::Add, a, b)?,
        ("signum", [a]) => Value::Int(vm.compare(a, &Value::Int(0))? as i32),
        ("hashCode", [a]) => vm.call_method(a, "hashCode", &[])?,
        _ => return Ok(None),
    }))
}

fn double(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "parseDouble" | "valueOf" => Value::Double(vm.to_double(&first(arguments))?),
        "parseFloat" => Value::Float(vm.to_double(&first(arguments))? as f32),
        "isNaN" => Value::Bool(vm.to_double(&first(arguments))?.is_nan()),
        "isInfinite" => Value::Bool(vm.to_double(&first(arguments))?.is_infinite()),
        _ => return number_static(vm, name, arguments),
    }))
}

fn boolean(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    match name {
        "parseBoolean" | "valueOf" => {
            let truth = !first(arguments).is_null()
                && vm.text(&first(arguments))?.eq_ignore_ascii_case("true");
            Ok(Some(Value::Bool(truth)))
        }
        _ => number_static(vm, name, arguments),
    }
}

fn integer_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(match name {
        "MAX_VALUE" => Value::Int(i32::MAX),
        "MIN_VALUE" => Value::Int(i32::MIN),
        _ => return None,
    })
}

fn short_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(Value::Int(match name {
        "MAX_VALUE" => i32::from(i16::MAX),
        "MIN_VALUE" => i32::from(i16::MIN),
        _ => return None,
    }))
}

fn byte_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(Value::Int(match name {
        "MAX_VALUE" => i32::from(i8::MAX),
        "MIN_VALUE" => i32::from(i8::MIN),
        _ => return None,
    }))
}

fn long_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(match name {
        "MAX_VALUE" => Value::Long(i64::MAX),
        "MIN_VALUE" => Value::Long(i64::MIN),
        _ => return None,
    })
}

fn double_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(Value::Double(match name {
        "MAX_VALUE" => f64::MAX,
        // In Java, this is the smallest positive number.
        "MIN_VALUE" => 5e-324,
        "NaN" => f64::NAN,
        "POSITIVE_INFINITY" => f64::INFINITY,
        "NEGATIVE_INFINITY" => f64::NEG_INFINITY,
        _ => return None,
    }))
}

fn boolean_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "TRUE" => Some(Value::Bool(true)),
        "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// Constructor of a boxed value such as `new Integer("5")`.
fn make_boxed(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let value = first(arguments);
    Ok(match class {
        "java.lang.Integer" | "java.lang.Short" | "java.lang.Byte" => {
            integer(vm, "valueOf", arguments)?.unwrap_or_default()
        }
        "java.lang.Long" => long(vm, "valueOf", arguments)?.unwrap_or_default(),
        "java.lang.Double" => Value::Double(vm.to_double(&value)?),
        "java.lang.Float" => Value::Float(vm.to_double(&value)? as f32),
        "java.lang.Boolean" => boolean(vm, "valueOf", arguments)?.unwrap_or_default(),
        // In Java, `new BigDecimal(0.1d)` has all digits of the binary number; `valueOf` has the shortest ones.
        "java.math.BigDecimal" if matches!(value, Value::Double(_) | Value::Float(_)) => {
            let number = double_of(&value).and_then(Decimal::from_f64_exactly);
            Value::decimal(
                number
                    .ok_or_else(|| throw("java.lang.NumberFormatException", "Infinite or NaN"))?,
            )
        }
        "java.math.BigDecimal" => Value::decimal(vm.to_decimal(&value)?),
        "java.math.BigInteger" => match arguments {
            [Value::Int(bits), Value::Native(_)] => {
                // `new BigInteger(bits, random)`. The bound limits the time of later operations.
                let bytes: Vec<u8> =
                    (0..(*bits).clamp(0, 8_192) / 8).map(|_| vm.host.random() as u8).collect();
                Value::big(BigInt::from_bytes_be(num_bigint::Sign::Plus, &bytes))
            }
            [Value::Bytes(bytes)] => Value::big(BigInt::from_signed_bytes_be(&bytes.borrow())),
            [Value::Int(sign), Value::Bytes(bytes)] => {
                let sign = if *sign < 0 { num_bigint::Sign::Minus } else { num_bigint::Sign::Plus };
                Value::big(BigInt::from_bytes_be(sign, &bytes.borrow()))
            }
            _ => Value::big(parse_integer(vm, arguments)?),
        },
        _ => value,
    })
}

fn make_object(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(super::util::PlainObject))
}

fn character(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let value = first(arguments);
    let letter = match &value {
        Value::Str(text) => text.chars().next().unwrap_or('\0'),
        Value::Char(letter) => *letter,
        other => char::from_u32(vm.to_long(other)? as u32).unwrap_or('\u{fffd}'),
    };
    Ok(Some(match name {
        "isDigit" => Value::Bool(letter.is_numeric()),
        "isLetter" | "isAlphabetic" => Value::Bool(letter.is_alphabetic()),
        "isLetterOrDigit" => Value::Bool(letter.is_alphanumeric()),
        "isWhitespace" | "isSpaceChar" => Value::Bool(letter.is_whitespace()),
        "isUpperCase" => Value::Bool(letter.is_uppercase()),
        "isLowerCase" => Value::Bool(letter.is_lowercase()),
        "toUpperCase" => Value::Char(letter.to_uppercase().next().unwrap_or(letter)),
        "toLowerCase" => Value::Char(letter.to_lowercase().next().unwrap_or(letter)),
        "getNumericValue" | "digit" => {
            Value::Int(letter.to_digit(36).map_or(-1, |digit| digit as i32))
        }
        "toString" => Value::from(letter.to_string()),
        "valueOf" => Value::Char(letter),
        "toChars" => Value::array(vec![Value::Char(letter)]),
        "forDigit" => {
            let digit = vm.to_long(&value)?;
            Value::Char(char::from_digit(digit as u32 % 36, 36).unwrap_or('\0'))
        }
        _ => return Ok(None),
    }))
}

fn string(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("valueOf" | "copyValueOf", [value @ Value::List(list)])
            if list.kind == crate::value::ListKind::Array =>
        {
            make_string(vm, "", std::slice::from_ref(value))?
        }
        ("valueOf" | "copyValueOf", [value, ..]) => Value::Str(vm.java_text(value)?),
        ("format", rest) => {
            // The first argument may be a locale.
            let skip =
                usize::from(rest.first().is_some_and(|value| matches!(value, Value::Native(_))));
            let template = text_at(vm, rest, skip)?;
            let text = format::format(vm, &template, rest.get(skip + 1..).unwrap_or(&[]))?;
            vm.string(text)?
        }
        ("join", [separator, rest @ ..]) => {
            let items = match rest {
                [one @ (Value::List(_) | Value::Set(_))] => one.clone(),
                _ => Value::list(rest.to_vec()),
            };
            vm.call_method(&items, "join", std::slice::from_ref(separator))?
        }
        _ => return Ok(None),
    }))
}

fn string_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    (name == "CASE_INSENSITIVE_ORDER").then(super::util::Comparator::ignoring_case)
}

/// Constructor of `String` from bytes, characters or text.
fn make_string(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    match arguments {
        [] => Ok(Value::str("")),
        [Value::Bytes(bytes), rest @ ..] => {
            let charset =
                rest.last().filter(|charset| matches!(charset, Value::Str(_) | Value::Null));
            let charset = Charset::of_optional(vm, charset)?;
            let range =
                rest.get(..2).filter(|range| matches!(range, [Value::Int(_), Value::Int(_)]));
            let bytes =
                super::bytes_within(vm, &Value::Bytes(Rc::clone(bytes)), range.unwrap_or(&[]))?;
            vm.string(charset.decode(&bytes))
        }
        [Value::List(list), ..] => {
            let mut text = String::new();
            let items = list.items.borrow().clone();
            for item in &items {
                match item {
                    Value::Int(_) => {
                        let bytes = bytes_of(vm, &arguments[0])?;
                        return vm.string(String::from_utf8_lossy(&bytes));
                    }
                    other => text.push_str(&vm.text(other)?),
                }
            }
            vm.string(text)
        }
        [Value::Null, ..] => Err(throw("java.lang.NullPointerException", "new String(null)")),
        [value, ..] => vm.text(value).map(Value::Str),
    }
}

fn math(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if let [a] = arguments {
        return math_of_one(vm, name, a);
    }
    Ok(Some(match (name, arguments) {
        ("random", []) => Value::Double(super::util::unit(vm.host.random())),
        ("max" | "min", [a, b]) => {
            // Java converts both arguments to the wider type before it compares them.
            let wider = double_of(a).is_some() && matches!(b, Value::Double(_) | Value::Long(_));
            let order = vm.compare(a, b)?;
            let chosen =
                if (order == std::cmp::Ordering::Greater) == (name == "max") { a } else { b };
            match (chosen, wider || matches!(a, Value::Long(_)), b) {
                (Value::Int(number), true, Value::Double(_)) => Value::Double(f64::from(*number)),
                (Value::Int(number), true, Value::Long(_) | Value::Int(_)) => {
                    Value::Long(i64::from(*number))
                }
                _ => chosen.clone(),
            }
        }
        ("pow", [a, b]) => Value::Double(vm.to_double(a)?.powf(vm.to_double(b)?)),
        ("atan2", [a, b]) => Value::Double(vm.to_double(a)?.atan2(vm.to_double(b)?)),
        ("hypot", [a, b]) => Value::Double(vm.to_double(a)?.hypot(vm.to_double(b)?)),
        ("floorDiv" | "floorMod", [a, b]) => {
            let x = vm.to_long(a)?;
            let y = vm.to_long(b)?;
            if y == 0 {
                return Err(throw("java.lang.ArithmeticException", "Division by zero"));
            }
            let result = if name == "floorDiv" {
                // In 64 bits, the quotient of `Long.MIN_VALUE` and -1 would overflow.
                num_integer::Integer::div_floor(&i128::from(x), &i128::from(y)) as i64
            } else {
                x.wrapping_rem(y).wrapping_add(y).wrapping_rem(y)
            };
            if matches!((a, b), (Value::Int(_), Value::Int(_))) {
                Value::Int(result as i32)
            } else {
                Value::Long(result)
            }
        }
        ("addExact" | "subtractExact" | "multiplyExact", [a, b]) => {
            let operator = match name {
                "addExact" => crate::syntax::ast::Operator::Add,
                "subtractExact" => crate::syntax::ast::Operator::Subtract,
                _ => crate::syntax::ast::Operator::Multiply,
            };
            vm.operate(operator, a, b)?
        }
        _ => return Ok(None),
    }))
}

fn math_of_one(vm: &mut Vm, name: &str, value: &Value) -> Eval<Option<Value>> {
    if name == "abs" {
        return match value {
            Value::Double(number) => Ok(Some(Value::Double(number.abs()))),
            _ => crate::methods::call(vm, value, "abs", &[]),
        };
    }
    let number = vm.to_double(value)?;
    Ok(Some(match name {
        // Java rounds halves up, also negative ones; Rust's `round` rounds them away from 0.
        "round" if matches!(value, Value::Float(_)) => Value::Int((number + 0.5).floor() as i32),
        "round" => Value::Long((number + 0.5).floor() as i64),
        "toIntExact" => Value::Int(number as i32),
        "floor" => Value::Double(number.floor()),
        "ceil" => Value::Double(number.ceil()),
        "rint" => Value::Double(number.round_ties_even()),
        "sqrt" => Value::Double(number.sqrt()),
        "cbrt" => Value::Double(number.cbrt()),
        "log" => Value::Double(number.ln()),
        "log10" => Value::Double(number.log10()),
        "log1p" => Value::Double(number.ln_1p()),
        "exp" => Value::Double(number.exp()),
        "sin" => Value::Double(number.sin()),
        "cos" => Value::Double(number.cos()),
        "tan" => Value::Double(number.tan()),
        "asin" => Value::Double(number.asin()),
        "acos" => Value::Double(number.acos()),
        "atan" => Value::Double(number.atan()),
        "sinh" => Value::Double(number.sinh()),
        "cosh" => Value::Double(number.cosh()),
        "tanh" => Value::Double(number.tanh()),
        // Rust's `signum` of 0.0 is 1.
        "signum" => Value::Double(if number == 0.0 { 0.0 } else { number.signum() }),
        "toRadians" => Value::Double(number.to_radians()),
        "toDegrees" => Value::Double(number.to_degrees()),
        _ => return Ok(None),
    }))
}

fn math_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "PI" => Some(Value::Double(std::f64::consts::PI)),
        "E" => Some(Value::Double(std::f64::consts::E)),
        _ => None,
    }
}

fn big_decimal(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    match (name, arguments) {
        ("valueOf", [value @ (Value::Double(_) | Value::Float(_) | Value::Decimal(_))]) => {
            Ok(Some(Value::decimal(vm.to_decimal(value)?)))
        }
        ("valueOf", [value]) => Ok(Some(Value::big(vm.to_big(value)?))),
        ("valueOf", [value, scale]) => {
            let unscaled = vm.to_big(value)?;
            let scale = vm.to_long(scale)?;
            Ok(Some(Value::decimal(Decimal::new(unscaled, scale.clamp(-5_000, 5_000) as i32))))
        }
        _ => Ok(None),
    }
}

fn decimal_constant(vm: &mut Vm, name: &str) -> Option<Value> {
    let number = match name {
        "ZERO" => 0,
        "ONE" => 1,
        "TEN" => 10,
        _ => return rounding(vm, name),
    };
    Some(Value::decimal(Decimal::new(number.into(), 0)))
}

fn big_constant(_vm: &mut Vm, name: &str) -> Option<Value> {
    let number = match name {
        "ZERO" => 0,
        "ONE" => 1,
        "TWO" => 2,
        "TEN" => 10,
        _ => return None,
    };
    Some(Value::big(number.into()))
}

/// A rounding mode, represented by its name.
fn rounding(_vm: &mut Vm, name: &str) -> Option<Value> {
    let is_known = Rounding::from_name(name).is_some() || name.starts_with("DECIMAL");
    is_known.then(|| Value::str(name.trim_start_matches("ROUND_")))
}

fn objects(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("equals", [a, b]) => Value::Bool(vm.equals(a, b)?),
        ("isNull", [a]) => Value::Bool(a.is_null()),
        ("nonNull", [a]) => Value::Bool(!a.is_null()),
        ("toString", [a, default]) if a.is_null() => default.clone(),
        ("toString", [a, ..]) => Value::Str(vm.java_text(a)?),
        ("requireNonNull", [a, rest @ ..]) => {
            if a.is_null() {
                let message = rest.first().map_or(Ok("".into()), |message| vm.text(message))?;
                return Err(throw("java.lang.NullPointerException", message));
            }
            a.clone()
        }
        ("requireNonNullElse", [a, b]) => {
            if a.is_null() {
                b.clone()
            } else {
                a.clone()
            }
        }
        ("hash", _) => vm.call_method(&Value::list(arguments.to_vec()), "hashCode", &[])?,
        _ => return Ok(None),
    }))
}
