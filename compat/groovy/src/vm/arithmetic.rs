//! Arithmetic by the rules of Groovy and Java.

use super::Vm;
use super::convert::{big_of, decimal_of, double_of, long_of};
use crate::decimal::Decimal;
use crate::error::{Eval, throw};
use crate::script::Dialect;
use crate::syntax::ast::Operator;
use crate::value::Value;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// Maximum size of an integer, in bits.
// Java's limit is 2^31 bits, with which a single operation could block a worker.
const BITS: u64 = 100_000;

/// Type of the result of an operation, from narrow to wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Int,
    Long,
    Big,
    Decimal,
    Double,
}

fn width(value: &Value) -> Option<Width> {
    Some(match value {
        Value::Int(_) | Value::Char(_) => Width::Int,
        Value::Long(_) => Width::Long,
        Value::BigInt(_) => Width::Big,
        Value::Decimal(_) => Width::Decimal,
        Value::Float(_) | Value::Double(_) => Width::Double,
        _ => return None,
    })
}

/// The wider type of two numbers; `None` if one is not a number.
fn common(left: &Value, right: &Value) -> Option<Width> {
    Some(width(left)?.max(width(right)?))
}

/// True for a number or a character.
pub(super) fn is_number(value: &Value) -> bool {
    width(value).is_some()
}

/// Order of numbers, characters, texts and booleans; `None` for others.
pub(crate) fn compare_plain(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        // Java compares UTF-16 units. Their order differs from that of code points.
        (Value::Str(a), Value::Str(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Null, _) => Some(Ordering::Less),
        (_, Value::Null) => Some(Ordering::Greater),
        (Value::Char(a), Value::Str(b)) => Some(a.to_string().as_str().cmp(b)),
        (Value::Str(a), Value::Char(b)) => Some((**a).cmp(b.to_string().as_str())),
        _ => match common(left, right)? {
            Width::Int | Width::Long => Some(long_of(left)?.cmp(&long_of(right)?)),
            Width::Big => Some(big_of(left)?.cmp(&big_of(right)?)),
            Width::Decimal => Some(decimal_of(left)?.compare(&decimal_of(right)?)),
            Width::Double => {
                double_of(left)?.partial_cmp(&double_of(right)?).or(Some(Ordering::Less))
            }
        },
    }
}

/// Creates an integer. Fails above the maximum size.
fn bounded(value: BigInt) -> Eval<Value> {
    if value.bits() > BITS {
        return Err(throw(
            "java.lang.ArithmeticException",
            format!("number has more than {BITS} bits"),
        ));
    }
    Ok(Value::big(value))
}

fn bounded_decimal(value: Decimal) -> Eval<Value> {
    if value.unscaled.bits() > BITS {
        return Err(throw(
            "java.lang.ArithmeticException",
            format!("number has more than {BITS} bits"),
        ));
    }
    Ok(Value::decimal(value))
}

fn division_by_zero() -> Box<crate::error::Fault> {
    throw("java.lang.ArithmeticException", "Division by zero")
}

impl Vm<'_> {
    /// Evaluates an operator for numbers; `None` if one operand is not a number.
    pub fn numbers(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Eval<Option<Value>> {
        let Some(width) = common(left, right) else { return Ok(None) };
        let width = match operator {
            // In Groovy, the quotient of integers is a decimal; in Java, it is an integer.
            Operator::Divide if width < Width::Decimal && self.divides_exactly() => Width::Decimal,
            Operator::Power => return self.power(left, right).map(Some),
            _ => width,
        };
        let result = match width {
            Width::Int => int_result(operator, long_of(left), long_of(right))?,
            Width::Long => long_result(operator, long_of(left), long_of(right))?,
            Width::Big => big_result(operator, big_of(left), big_of(right))?,
            Width::Decimal => decimal_result(operator, decimal_of(left), decimal_of(right))?,
            Width::Double => double_result(operator, double_of(left), double_of(right)),
        };
        Ok(result)
    }

    fn divides_exactly(&self) -> bool {
        self.dialect == Dialect::Groovy
    }

    fn power(&mut self, left: &Value, right: &Value) -> Eval<Value> {
        // Groovy computes powers with negative or fractional exponents as doubles.
        let exponent = long_of(right).filter(|exponent| {
            *exponent >= 0
                && !matches!(right, Value::Double(_) | Value::Float(_) | Value::Decimal(_))
        });
        let (Some(exponent), false) =
            (exponent, matches!(left, Value::Double(_) | Value::Float(_)))
        else {
            let power =
                double_of(left).unwrap_or(f64::NAN).powf(double_of(right).unwrap_or(f64::NAN));
            return Ok(Value::Double(power));
        };
        if let Value::Decimal(base) = left {
            return bounded_decimal(base.power(u32::try_from(exponent).unwrap_or(u32::MAX)));
        }
        let base = big_of(left).unwrap_or_default();
        if base.bits().saturating_mul(exponent as u64) > BITS && base.bits() > 1 {
            return Err(throw(
                "java.lang.ArithmeticException",
                format!("number has more than {BITS} bits"),
            ));
        }
        self.tick(100)?;
        let power = if base.bits() <= 1 {
            // −1, 0, 1
            let is_odd = exponent % 2 == 1;
            if exponent == 0 {
                BigInt::from(1)
            } else if is_odd {
                base
            } else {
                &base * &base
            }
        } else {
            base.pow(exponent as u32)
        };
        // Groovy returns the narrowest type that holds the power, but none narrower than the base.
        Ok(match (power.to_i32(), power.to_i64()) {
            (Some(small), _) if !matches!(left, Value::Long(_) | Value::BigInt(_)) => {
                Value::Int(small)
            }
            (_, Some(long)) if !matches!(left, Value::BigInt(_)) => Value::Long(long),
            _ => Value::big(power),
        })
    }

    pub fn negate(&mut self, value: &Value) -> Eval<Value> {
        Ok(match value {
            Value::Int(number) => Value::Int(number.wrapping_neg()),
            Value::Char(letter) => Value::Int(-(*letter as i32)),
            Value::Long(number) => Value::Long(number.wrapping_neg()),
            Value::Double(number) => Value::Double(-number),
            Value::Float(number) => Value::Float(-number),
            Value::BigInt(number) => Value::big(-&**number),
            Value::Decimal(number) => Value::decimal(number.negate()),
            other => return self.call_method(other, "negative", &[]),
        })
    }

    pub fn invert(&mut self, value: &Value) -> Eval<Value> {
        match value {
            Value::Int(number) => Ok(Value::Int(!number)),
            Value::Long(number) => Ok(Value::Long(!number)),
            Value::BigInt(number) => Ok(Value::big(-&**number - 1)),
            // `~text` is Groovy's operator for a compiled pattern.
            Value::Str(text) => crate::classes::regex::pattern(self, text, 0),
            other => self.call_method(other, "bitwiseNegate", &[]),
        }
    }

    /// Evaluates an operator for any values.
    pub fn operate(&mut self, operator: Operator, left: &Value, right: &Value) -> Eval<Value> {
        self.tick(1)?;
        match operator {
            Operator::Equal => return Ok(Value::Bool(self.equals(left, right)?)),
            Operator::NotEqual => return Ok(Value::Bool(!self.equals(left, right)?)),
            Operator::Identical => return Ok(Value::Bool(super::equality::identical(left, right))),
            Operator::NotIdentical => {
                return Ok(Value::Bool(!super::equality::identical(left, right)));
            }
            Operator::Less => {
                return Ok(Value::Bool(self.partial_order(left, right)? == Some(Ordering::Less)));
            }
            Operator::LessEqual => {
                let order = self.partial_order(left, right)?;
                return Ok(Value::Bool(order.is_some_and(|order| order != Ordering::Greater)));
            }
            Operator::Greater => {
                return Ok(Value::Bool(
                    self.partial_order(left, right)? == Some(Ordering::Greater),
                ));
            }
            Operator::GreaterEqual => {
                let order = self.partial_order(left, right)?;
                return Ok(Value::Bool(order.is_some_and(|order| order != Ordering::Less)));
            }
            Operator::Compare => return Ok(Value::Int(self.compare(left, right)? as i32)),
            Operator::In => return Ok(Value::Bool(self.is_case(right, left)?)),
            Operator::NotIn => return Ok(Value::Bool(!self.is_case(right, left)?)),
            Operator::Find => return crate::classes::regex::find(self, left, right),
            Operator::Match => return crate::classes::regex::full_match(self, left, right),
            _ => {}
        }
        if let Some(result) = self.numbers(operator, left, right)? {
            return Ok(result);
        }
        self.objects(operator, left, right)
    }

    /// Order for `<` and similar operators: numbers by value; `NaN` has none.
    fn partial_order(&mut self, left: &Value, right: &Value) -> Eval<Option<Ordering>> {
        if let (Value::Double(_) | Value::Float(_), _) | (_, Value::Double(_) | Value::Float(_)) =
            (left, right)
            && let (Some(a), Some(b)) = (double_of(left), double_of(right))
        {
            return Ok(a.partial_cmp(&b));
        }
        self.compare(left, right).map(Some)
    }

    /// Evaluates an operator as a method, for text and collections.
    fn objects(&mut self, operator: Operator, left: &Value, right: &Value) -> Eval<Value> {
        if operator == Operator::Add {
            // `+` concatenates if the left operand is text, or the right one is and the left one
            // is not a collection.
            let is_text = matches!(left, Value::Str(_))
                || (matches!(right, Value::Str(_)) && !is_collection(left));
            if is_text {
                let a = self.text(left)?;
                let b = self.text(right)?;
                self.alloc(a.len() + b.len() + 16)?;
                let mut joined = String::with_capacity(a.len() + b.len());
                joined.push_str(&a);
                joined.push_str(&b);
                return Ok(Value::Str(joined.into()));
            }
        }
        if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
            match operator {
                Operator::And => return Ok(Value::Bool(a & b)),
                Operator::Or => return Ok(Value::Bool(a | b)),
                Operator::Xor => return Ok(Value::Bool(a ^ b)),
                _ => {}
            }
        }
        let name = match operator {
            Operator::Add => "plus",
            Operator::Subtract => "minus",
            Operator::Multiply => "multiply",
            Operator::Divide => "div",
            Operator::Remainder => "mod",
            Operator::Power => "power",
            Operator::ShiftLeft => "leftShift",
            Operator::ShiftRight => "rightShift",
            Operator::ShiftRightUnsigned => "rightShiftUnsigned",
            Operator::And => "and",
            Operator::Or => "or",
            _ => "xor",
        };
        self.call_method(left, name, std::slice::from_ref(right))
    }
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Set(_) | Value::Range(_))
}

fn int_result(operator: Operator, left: Option<i64>, right: Option<i64>) -> Eval<Option<Value>> {
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    let a = left as i32;
    let b = right as i32;
    let result = match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Subtract => a.wrapping_sub(b),
        Operator::Multiply => a.wrapping_mul(b),
        Operator::Divide | Operator::Remainder if b == 0 => return Err(division_by_zero()),
        Operator::Divide => a.wrapping_div(b),
        Operator::Remainder => a.wrapping_rem(b),
        // Java uses only the lowest five bits of the distance, as the wrapping shifts do.
        Operator::ShiftLeft => a.wrapping_shl(b as u32),
        Operator::ShiftRight => a.wrapping_shr(b as u32),
        Operator::ShiftRightUnsigned => (a as u32).wrapping_shr(b as u32) as i32,
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        _ => return Ok(None),
    };
    Ok(Some(Value::Int(result)))
}

fn long_result(operator: Operator, left: Option<i64>, right: Option<i64>) -> Eval<Option<Value>> {
    let (Some(a), Some(b)) = (left, right) else { return Ok(None) };
    let result = match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Subtract => a.wrapping_sub(b),
        Operator::Multiply => a.wrapping_mul(b),
        Operator::Divide | Operator::Remainder if b == 0 => return Err(division_by_zero()),
        Operator::Divide => a.wrapping_div(b),
        Operator::Remainder => a.wrapping_rem(b),
        // Java uses only the lowest six bits of the distance.
        Operator::ShiftLeft => a.wrapping_shl(b as u32),
        Operator::ShiftRight => a.wrapping_shr(b as u32),
        Operator::ShiftRightUnsigned => (a as u64).wrapping_shr(b as u32) as i64,
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        _ => return Ok(None),
    };
    Ok(Some(Value::Long(result)))
}

/// Shift distance; None if it is negative or above the maximum size.
fn shift_amount(distance: &BigInt) -> Option<u64> {
    distance.to_u64().filter(|shift| *shift <= BITS)
}

fn big_result(
    operator: Operator,
    left: Option<BigInt>,
    right: Option<BigInt>,
) -> Eval<Option<Value>> {
    let (Some(a), Some(b)) = (left, right) else { return Ok(None) };
    let result = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide | Operator::Remainder if b.is_zero() => return Err(division_by_zero()),
        Operator::Divide => a / b,
        // `BigInteger.mod`, whose result is never negative.
        Operator::Remainder if b.is_negative() => {
            return Err(throw("java.lang.ArithmeticException", "BigInteger: modulus not positive"));
        }
        Operator::Remainder => a.mod_floor(&b),
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::ShiftLeft => match shift_amount(&b) {
            Some(shift) => a << shift,
            // Fails like any number that is too large.
            None => return bounded(BigInt::from(1) << (BITS + 1)).map(Some),
        },
        Operator::ShiftRight => a >> shift_amount(&b).unwrap_or(BITS),
        _ => return Ok(None),
    };
    bounded(result).map(Some)
}

fn decimal_result(
    operator: Operator,
    left: Option<Decimal>,
    right: Option<Decimal>,
) -> Eval<Option<Value>> {
    let (Some(a), Some(b)) = (left, right) else { return Ok(None) };
    let result = match operator {
        Operator::Add => a.add(&b),
        Operator::Subtract => a.subtract(&b),
        Operator::Multiply => a.multiply(&b),
        Operator::Divide | Operator::Remainder if b.is_zero() => return Err(division_by_zero()),
        Operator::Divide => a.divide(&b),
        Operator::Remainder => a.remainder(&b),
        _ => return Ok(None),
    };
    bounded_decimal(result).map(Some)
}

fn double_result(operator: Operator, left: Option<f64>, right: Option<f64>) -> Option<Value> {
    let a = left?;
    let b = right?;
    Some(Value::Double(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Remainder => a % b,
        _ => return None,
    }))
}
