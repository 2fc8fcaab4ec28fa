//! Methods of any object.

use crate::error::{Eval, throw};
use crate::host::LogLevel;
use crate::value::{MapKind, Value};
use crate::vm::Vm;
use num_bigint::BigInt;
use num_traits::Signed;

pub(super) fn call(
    vm: &mut Vm,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    if object.is_null() {
        return null_method(vm, name, arguments);
    }
    Ok(Some(match (name, arguments) {
        ("toString" | "inspect" | "dump", []) => {
            // Groovy formats maps itself, except maps of parsed JSON, which
            // have their own `toString`.
            let is_java = name == "toString"
                && !matches!(object, Value::List(_))
                && !matches!(object, Value::Map(map) if map.kind != MapKind::Lazy);
            let text = if is_java { vm.java_text(object)? } else { vm.text(object)? };
            Value::Str(text)
        }
        ("equals", [other]) => Value::Bool(vm.equals(object, other)?),
        ("is", [other]) => vm.operate(crate::syntax::ast::Operator::Identical, object, other)?,
        ("hashCode", []) => Value::Int(hash_code(vm, object)?),
        ("compareTo", [other]) => Value::Int(vm.compare(object, other)? as i32),
        ("getClass", []) => vm.class_of(object),
        ("getMetaClass", []) => vm.class_of(object),
        ("with", [closure]) => with(vm, object, closure)?,
        ("tap", [closure]) => {
            with(vm, object, closure)?;
            object.clone()
        }
        ("asType", [Value::Class(class)]) => {
            let ty = crate::classes::kinds::type_by_name(class.simple_name());
            vm.cast(object.clone(), &ty)?
        }
        ("println" | "print", _) => {
            let text = match arguments {
                [value] => vm.text(value)?,
                _ => "".into(),
            };
            vm.host.log(LogLevel::Info, &text);
            Value::Null
        }
        ("respondsTo", [Value::Str(_), ..]) => Value::list(vec![Value::Bool(true)]),
        ("hasProperty", [Value::Str(property)]) => {
            let value = vm.property_optional(object, property)?;
            Value::Bool(value.is_some())
        }
        ("getProperty", [Value::Str(property)]) => vm.property(object, property)?,
        ("setProperty", [Value::Str(property), value]) => {
            vm.set_property(object, property, value)?;
            Value::Null
        }
        ("invokeMethod", [Value::Str(method), arguments]) => {
            let arguments = vm.items(arguments)?;
            vm.call_method(object, method, &arguments)?
        }
        // A script runs in one thread, so it can neither wait nor wake another one.
        ("wait" | "notify" | "notifyAll" | "finalize", _) => Value::Null,
        ("sleep", [time]) => {
            let time = vm.to_long(time)?;
            vm.host.pause(u64::try_from(time).unwrap_or(0));
            Value::Null
        }
        ("identity", [closure]) => with(vm, object, closure)?,
        _ => return class_method(vm, object, name, arguments),
    }))
}

/// Methods that Groovy defines for null.
fn null_method(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("toString", []) => Value::str("null"),
        ("equals" | "is", [other]) => Value::Bool(other.is_null()),
        ("plus", [Value::Str(text)]) => vm.string(format!("null{text}"))?,
        ("asBoolean", []) => Value::Bool(false),
        ("each" | "eachWithIndex" | "any" | "find" | "with", _) => Value::Null,
        ("collect" | "findAll" | "iterator", _) => Value::list(Vec::new()),
        ("every", _) => Value::Bool(true),
        _ => return Ok(None),
    }))
}

/// Runs a closure with the object as its delegate for unknown names.
fn with(vm: &mut Vm, object: &Value, closure: &Value) -> Eval<Value> {
    if let Value::Closure(target) = closure {
        let before = target.delegate.replace(object.clone());
        let result = vm.call_closure(closure, std::slice::from_ref(object));
        target.delegate.replace(before);
        return result;
    }
    Err(throw("java.lang.IllegalArgumentException", "a closure is expected"))
}

/// Java's hash of simple values and collections; a hash of the text for other objects, where scripts
/// cannot notice the difference.
fn hash_code(vm: &mut Vm, object: &Value) -> Eval<i32> {
    Ok(match object {
        Value::Int(number) => *number,
        // Java's `Boolean.hashCode`.
        Value::Bool(flag) => {
            if *flag {
                1231
            } else {
                1237
            }
        }
        Value::Long(number) => folded(*number),
        // Java has only one NaN here.
        Value::Double(number) => {
            folded((if number.is_nan() { f64::NAN } else { *number }).to_bits() as i64)
        }
        Value::Float(number) => (if number.is_nan() { f32::NAN } else { *number }).to_bits() as i32,
        Value::BigInt(number) => big_hash(number),
        Value::Decimal(number) => {
            big_hash(&number.unscaled).wrapping_mul(31).wrapping_add(number.scale)
        }
        Value::Char(letter) => *letter as i32,
        Value::Map(map) => {
            let mut hash = 0_i32;
            for (key, value) in map.pairs() {
                let key = element_hash(vm, &key)?;
                hash = hash.wrapping_add(key ^ element_hash(vm, &value)?);
            }
            hash
        }
        Value::Set(set) => {
            let mut hash = 0_i32;
            for item in set.keys() {
                hash = hash.wrapping_add(element_hash(vm, &item)?);
            }
            hash
        }
        Value::List(_) => {
            let mut hash = 1_i32;
            for item in vm.items(object)? {
                hash = hash.wrapping_mul(31).wrapping_add(element_hash(vm, &item)?);
            }
            hash
        }
        _ => {
            let text = vm.text(object)?;
            vm.tick(text.len() / 8)?;
            text.encode_utf16()
                .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
        }
    })
}

/// Hash of an element; 0 for null.
fn element_hash(vm: &mut Vm, element: &Value) -> Eval<i32> {
    vm.tick(1)?;
    if element.is_null() { Ok(0) } else { vm.nested(|vm| hash_code(vm, element)) }
}

/// Java's `Long.hashCode`.
fn folded(number: i64) -> i32 {
    (number ^ ((number as u64) >> 32) as i64) as i32
}

/// Java's `BigInteger.hashCode`.
fn big_hash(number: &BigInt) -> i32 {
    let hash = number
        .iter_u32_digits()
        .rev()
        .fold(0_i32, |hash, digit| hash.wrapping_mul(31).wrapping_add(digit as i32));
    if number.is_negative() { hash.wrapping_neg() } else { hash }
}

/// Methods of a class object.
fn class_method(
    vm: &mut Vm,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let Value::Class(class) = object else { return Ok(None) };
    Ok(Some(match (name, arguments) {
        ("getName" | "getCanonicalName" | "getTypeName", []) => Value::str(class.name()),
        ("getSimpleName", []) => Value::str(class.simple_name()),
        ("isInstance", [value]) => Value::Bool(vm.is_instance(value, class.name())),
        ("newInstance" | "call", _) => match class {
            crate::value::ClassRef::Known(class) => match class.make {
                Some(make) => make(vm, class.name, arguments)?,
                None => return Ok(None),
            },
            _ => return Ok(None),
        },
        ("getClassLoader" | "getPackage" | "getConstructor", _) => object.clone(),
        ("desiredAssertionStatus", []) => Value::Bool(true),
        _ => return Ok(None),
    }))
}
