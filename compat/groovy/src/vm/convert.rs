//! Groovy truth, casts and coercions.

use super::{Frame, Vm};
use crate::decimal::Decimal;
use crate::error::{Eval, number_format_error, throw};
use crate::syntax::ast::Type;
use crate::value::{ListKind, MapKind, Value};
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::rc::Rc;

/// The lowest 64 bits of a number's integer part; None for other values.
pub(crate) fn long_of(value: &Value) -> Option<i64> {
    Some(match value {
        Value::Int(number) => i64::from(*number),
        Value::Long(number) => *number,
        Value::Char(letter) => i64::from(*letter as u32),
        Value::Double(number) => *number as i64,
        Value::Float(number) => *number as i64,
        Value::BigInt(number) => crate::decimal::wrap(number),
        Value::Decimal(number) => number.to_i64_wrapping(),
        _ => return None,
    })
}

pub(crate) fn double_of(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Int(number) => f64::from(*number),
        Value::Long(number) => *number as f64,
        Value::Char(letter) => f64::from(*letter as u32),
        Value::Double(number) => *number,
        Value::Float(number) => f64::from(*number),
        Value::BigInt(number) => number.to_f64().unwrap_or(f64::NAN),
        Value::Decimal(number) => number.to_f64(),
        _ => return None,
    })
}

/// Implements `Double.parseDouble`.
pub(crate) fn double_of_text(text: &str) -> Option<f64> {
    let text = text.trim();
    if matches!(text.trim_start_matches(['+', '-']), "NaN" | "Infinity") {
        return text.parse().ok();
    }
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    // Rust also reads `inf`, `infinity` and `nan` of any case.
    if digits.contains(|letter: char| letter.is_alphabetic() && !matches!(letter, 'e' | 'E')) {
        return None;
    }
    digits.parse().ok()
}

pub(crate) fn big_of(value: &Value) -> Option<BigInt> {
    Some(match value {
        Value::BigInt(number) => (**number).clone(),
        Value::Decimal(number) => number.truncate(),
        Value::Double(number) => Decimal::from_f64(*number)?.truncate(),
        Value::Float(number) => Decimal::from_f64(f64::from(*number))?.truncate(),
        other => BigInt::from(long_of(other)?),
    })
}

pub(crate) fn decimal_of(value: &Value) -> Option<Decimal> {
    Some(match value {
        Value::Decimal(number) => (**number).clone(),
        Value::Double(number) => Decimal::from_f64(*number)?,
        // Its shortest decimal form, which Java's `String.valueOf` returns.
        Value::Float(number) => Decimal::parse(&number.to_string())?,
        other => Decimal::from_integer(&big_of(other)?),
    })
}

impl Vm<'_> {
    /// Groovy truth of a value.
    pub fn truth(&mut self, value: &Value) -> Eval<bool> {
        Ok(match value {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Str(text) => !text.is_empty(),
            Value::Int(number) => *number != 0,
            Value::Long(number) => *number != 0,
            Value::Char(letter) => *letter != '\0',
            Value::Double(number) => *number != 0.0,
            Value::Float(number) => *number != 0.0,
            Value::BigInt(number) => number.bits() != 0,
            Value::Decimal(number) => !number.is_zero(),
            Value::List(list) => !list.items.borrow().is_empty(),
            Value::Bytes(bytes) => !bytes.borrow().is_empty(),
            Value::Range(range) => !range.empty,
            Value::Map(map) | Value::Set(map) => map.len() > 0,
            Value::Closure(_) | Value::Class(_) => true,
            Value::Instance(_) => match self.call_optional(value, "asBoolean", &[])? {
                Some(truth) => matches!(truth, Value::Bool(true)),
                None => true,
            },
            Value::Native(object) => match object.call(self, "asBoolean", &[])? {
                Some(Value::Bool(truth)) => truth,
                _ => true,
            },
        })
    }

    /// Converts an argument of a library method to an integer.
    pub fn to_long(&mut self, value: &Value) -> Eval<i64> {
        match value {
            Value::Str(text) => text.trim().parse().map_err(|_| number_format_error(text)),
            other => long_of(other).ok_or_else(|| self.cast_error(other, "int")),
        }
    }

    /// Converts an argument of a library method to an index or a count.
    pub fn to_index(&mut self, value: &Value) -> Eval<i64> {
        self.to_long(value)
    }

    pub fn to_double(&mut self, value: &Value) -> Eval<f64> {
        match value {
            Value::Str(text) => double_of_text(text).ok_or_else(|| number_format_error(text)),
            other => double_of(other).ok_or_else(|| self.cast_error(other, "double")),
        }
    }

    pub fn to_decimal(&mut self, value: &Value) -> Eval<Decimal> {
        match value {
            Value::Str(text) => {
                Decimal::parse(text.trim()).ok_or_else(|| number_format_error(text))
            }
            other => {
                decimal_of(other).ok_or_else(|| self.cast_error(other, "java.math.BigDecimal"))
            }
        }
    }

    pub fn to_big(&mut self, value: &Value) -> Eval<BigInt> {
        match value {
            Value::Str(text) => {
                let digits = text.trim();
                // Bounds the time of the conversion.
                if digits.len() > 10_000 {
                    return Err(number_format_error(text));
                }
                digits.parse().map_err(|_| number_format_error(text))
            }
            other => big_of(other).ok_or_else(|| self.cast_error(other, "java.math.BigInteger")),
        }
    }

    /// Creates the fault for an impossible cast.
    pub fn cast_error(&mut self, value: &Value, target: &str) -> Box<crate::error::Fault> {
        let class = self.class_name(value);
        let text =
            self.text(value).map(|text| crate::error::clip(&text).to_owned()).unwrap_or_default();
        let message =
            format!("Cannot cast object '{text}' with class '{class}' to class '{target}'");
        throw("org.codehaus.groovy.runtime.typehandling.GroovyCastException", message)
    }

    /// Converts a value for a variable of a declared type.
    pub fn coerce(&mut self, value: Value, ty: &Type) -> Eval<Value> {
        match (ty, &value) {
            (Type::Any | Type::Void | Type::Class(_), _) => Ok(value),
            // In Java, a primitive variable cannot hold null. Scripts with `int x =
            // null` mean no value.
            (_, Value::Null) => Ok(value),
            (Type::Int, Value::Int(_))
            | (Type::Long, Value::Long(_))
            | (Type::String, Value::Str(_))
            | (Type::Double, Value::Double(_))
            | (Type::Boolean, Value::Bool(_)) => Ok(value),
            (Type::List, Value::List(list)) if list.kind != ListKind::Array => Ok(value),
            (
                Type::List,
                Value::Set(_) | Value::Native(_) | Value::Range(_) | Value::Instance(_),
            ) => Ok(value),
            (Type::Set, Value::Set(_) | Value::Native(_)) => Ok(value),
            (Type::String, Value::List(list)) if list.kind == ListKind::Array => Ok(value),
            (Type::Int | Type::Long | Type::Short | Type::Byte, Value::Str(text))
                if text.chars().count() != 1 || text.is_empty() =>
            {
                Err(self.cast_error(&value, type_name(ty)))
            }
            _ => self.cast(value, ty),
        }
    }

    /// Evaluates the cast `(type) value`.
    pub fn cast(&mut self, value: Value, ty: &Type) -> Eval<Value> {
        if value.is_null() {
            return Ok(Value::Null);
        }
        match ty {
            Type::Any | Type::Void => Ok(value),
            Type::Boolean => self.truth(&value).map(Value::Bool),
            Type::String => self.text(&value).map(Value::Str),
            Type::Char => self.to_char(&value),
            Type::Byte | Type::Short | Type::Int | Type::Long => {
                let number = self.number_for_cast(&value, ty)?;
                Ok(match ty {
                    Type::Byte => Value::Int(i32::from(number as i8)),
                    Type::Short => Value::Int(i32::from(number as i16)),
                    Type::Int => Value::Int(match value {
                        // Java saturates fractions, but truncates integers.
                        Value::Double(number) => number as i32,
                        Value::Float(number) => number as i32,
                        _ => number as i32,
                    }),
                    _ => Value::Long(number),
                })
            }
            Type::Float => self.to_double(&value).map(|number| Value::Float(number as f32)),
            Type::Double => self.to_double(&value).map(Value::Double),
            Type::BigInteger => self.to_big(&value).map(Value::big),
            Type::BigDecimal => self.to_decimal(&value).map(Value::decimal),
            Type::List => match &value {
                Value::List(list) if list.kind != ListKind::Array => Ok(value),
                Value::Native(_) | Value::Set(_) => Ok(value),
                _ => {
                    let items = self.items(&value)?;
                    self.new_list(items)
                }
            },
            Type::Set => {
                let items = self.items(&value)?;
                self.alloc(items.len() * 48)?;
                Ok(Value::set(MapKind::Linked, items))
            }
            Type::Array(element) => self.to_array(value, element),
            Type::Class(_) => Ok(value),
        }
    }

    fn number_for_cast(&mut self, value: &Value, ty: &Type) -> Eval<i64> {
        match value {
            // In Groovy, a cast converts a text of one character to its code.
            Value::Str(text) => {
                if let Ok(number) = text.trim().parse() {
                    Ok(number)
                } else {
                    let mut letters = text.chars();
                    match (letters.next(), letters.next()) {
                        (Some(letter), None) => Ok(i64::from(letter as u32)),
                        _ => Err(self.cast_error(value, type_name(ty))),
                    }
                }
            }
            Value::Bool(_) => Err(self.cast_error(value, type_name(ty))),
            other => long_of(other).ok_or_else(|| self.cast_error(other, type_name(ty))),
        }
    }

    fn to_char(&mut self, value: &Value) -> Eval<Value> {
        let letter = match value {
            Value::Str(text) if text.chars().count() == 1 => text.chars().next(),
            Value::Str(_) => None,
            // A Java `char` has 16 bits.
            other => long_of(other).and_then(|code| char::from_u32(code as u32 & 0xffff)),
        };
        letter.map(Value::Char).ok_or_else(|| self.cast_error(value, "char"))
    }

    /// Converts a value to an array with elements of a type.
    pub fn to_array(&mut self, value: Value, element: &Type) -> Eval<Value> {
        if *element == Type::Byte {
            return Ok(match &value {
                Value::Bytes(_) => value,
                Value::Str(text) => Value::bytes(text.as_bytes().to_vec()),
                _ => {
                    let items = self.items(&value)?;
                    let bytes = items.iter().map(|item| self.to_long(item).map(|byte| byte as u8));
                    Value::bytes(bytes.collect::<Eval<Vec<u8>>>()?)
                }
            });
        }
        if let Value::List(list) = &value
            && list.kind == ListKind::Array
        {
            return Ok(value);
        }
        if matches!(value, Value::Native(_) | Value::Bytes(_)) {
            return Ok(value);
        }
        let items = self.items(&value)?;
        self.alloc(items.len() * 24)?;
        let items =
            items.into_iter().map(|item| self.coerce(item, element)).collect::<Eval<Vec<_>>>()?;
        Ok(Value::array(items))
    }

    /// Evaluates `value as type`.
    pub fn convert_as(&mut self, value: Value, ty: &Type, frame: &Rc<Frame>) -> Eval<Value> {
        let Type::Class(name) = ty else {
            if let (Type::Int | Type::Long | Type::Short | Type::Byte, Value::Str(text)) =
                (ty, &value)
            {
                // `as int` parses digits. Only a cast converts one character to its code.
                return text
                    .trim()
                    .parse::<i64>()
                    .map_err(|_| number_format_error(text))
                    .and_then(|n| self.cast(Value::Long(n), ty));
            }
            return self.cast(value, ty);
        };
        let simple = name.rsplit('.').next().unwrap_or(name);
        match (simple, &value) {
            (_, Value::Null) => Ok(value),
            ("LinkedList" | "Queue" | "Deque" | "Stack" | "Vector", _) => {
                let items = self.items(&value)?;
                self.new_list(items)
            }
            ("TreeSet" | "SortedSet", _) => {
                let items = self.items(&value)?;
                Ok(Value::set(MapKind::Sorted, items))
            }
            ("TreeMap" | "SortedMap", Value::Map(map)) => {
                Ok(Value::Map(Rc::new(map.copy(MapKind::Sorted))))
            }
            ("File" | "URL" | "URI", Value::Str(_)) => self.construct(name, frame, &[value]),
            ("Number", Value::Str(_)) => self.to_decimal(&value).map(Value::decimal),
            _ => {
                let class =
                    frame.globals.code.classes.iter().find(|class| *class.name == **name).cloned();
                match (class, &value) {
                    (Some(_), Value::Map(_)) => self.construct(name, frame, &[value]),
                    _ => Ok(value),
                }
            }
        }
    }
}

/// Name of a type in messages.
pub(super) fn type_name(ty: &Type) -> &str {
    match ty {
        Type::Any => "java.lang.Object",
        Type::Void => "void",
        Type::Boolean => "boolean",
        Type::Byte => "byte",
        Type::Short => "short",
        Type::Int => "int",
        Type::Long => "long",
        Type::Float => "float",
        Type::Double => "double",
        Type::Char => "char",
        Type::String => "java.lang.String",
        Type::BigInteger => "java.math.BigInteger",
        Type::BigDecimal => "java.math.BigDecimal",
        Type::List => "java.util.List",
        Type::Set => "java.util.Set",
        Type::Array(_) => "[Ljava.lang.Object;",
        Type::Class(name) => name,
    }
}
