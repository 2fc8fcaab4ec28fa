//! Methods of values: text, numbers, collections, and any object.

mod bytes;
mod collection;
mod grouping;
mod list;
mod map;
mod number;
mod object;
mod ordering;
pub(crate) mod string;
mod string_more;

pub(crate) use ordering::order;
pub(crate) use string_more::execute;

use crate::error::Eval;
use crate::value::Value;
use crate::vm::Vm;

/// Calls a method of a value; `None` if it does not exist.
pub(crate) fn call(
    vm: &mut Vm,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let result = match object {
        Value::Str(text) => string::call(vm, text, name, arguments)?,
        Value::Char(letter) => {
            let text = letter.to_string();
            match number::call(vm, object, name, arguments)? {
                None => string::call(vm, &text.into(), name, arguments)?,
                result => result,
            }
        }
        Value::List(list) => list::call(vm, list, object, name, arguments)?,
        Value::Map(map) => map::call(vm, map, object, name, arguments)?,
        Value::Set(set) => map::call_set(vm, set, object, name, arguments)?,
        Value::Range(range) => list::call_range(vm, range, name, arguments)?,
        Value::Bytes(cells) => bytes::call(vm, cells, name, arguments)?,
        Value::Null => None,
        Value::Bool(_)
        | Value::Native(_)
        | Value::Instance(_)
        | Value::Closure(_)
        | Value::Class(_) => None,
        _ => number::call(vm, object, name, arguments)?,
    };
    if result.is_some() {
        return Ok(result);
    }
    if !matches!(object, Value::Class(_) | Value::Closure(_))
        && let Some(result) = collection::call(vm, object, name, arguments)?
    {
        return Ok(Some(result));
    }
    object::call(vm, object, name, arguments)
}

/// True if every class has a method of this name.
pub(crate) fn is_class_method(name: &str) -> bool {
    matches!(
        name,
        "getName"
            | "getSimpleName"
            | "toString"
            | "getClass"
            | "isInstance"
            | "equals"
            | "hashCode"
    )
}
