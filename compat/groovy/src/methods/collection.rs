//! Methods of all values with elements: `each`, `collect`, `find` …

use super::{grouping, ordering};
use crate::error::{Eval, throw};
use crate::value::Value;
use crate::vm::Vm;

/// Names of the methods in this and the related modules. Other calls need not copy the elements.
const NAMES: [&str; 97] = [
    "each",
    "forEach",
    "forEachOrdered",
    "eachWithIndex",
    "reverseEach",
    "collect",
    "map",
    "collectMany",
    "flatMap",
    "collectEntries",
    "find",
    "findResult",
    "findResults",
    "findAll",
    "filter",
    "grep",
    "any",
    "anyMatch",
    "every",
    "allMatch",
    "none",
    "noneMatch",
    "inject",
    "reduce",
    "sum",
    "max",
    "min",
    "sort",
    "sorted",
    "toSorted",
    "unique",
    "toUnique",
    "distinct",
    "groupBy",
    "countBy",
    "reverse",
    "take",
    "takeWhile",
    "takeRight",
    "limit",
    "drop",
    "dropWhile",
    "dropRight",
    "skip",
    "first",
    "last",
    "head",
    "tail",
    "init",
    "flatten",
    "count",
    "join",
    "toSet",
    "toList",
    "indexOf",
    "lastIndexOf",
    "findIndexOf",
    "findLastIndexOf",
    "findIndexValues",
    "contains",
    "containsAll",
    "plus",
    "minus",
    "multiply",
    "intersect",
    "disjoint",
    "transpose",
    "withIndex",
    "indexed",
    "collate",
    "chop",
    "split",
    "partition",
    "combinations",
    "permutations",
    "stream",
    "parallelStream",
    "boxed",
    "mapToInt",
    "mapToObj",
    "mapToLong",
    "findFirst",
    "findAny",
    "average",
    "asList",
    "as",
    "asCollection",
    "spliterator",
    "shuffle",
    "shuffled",
    "getIndices",
    "size",
    "mean",
    "zip",
    "equalsIgnoreCase",
    "asReversed",
    "swap",
];

pub(super) fn call(
    vm: &mut Vm,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    if !NAMES.contains(&name) {
        return Ok(None);
    }
    let has_closure = matches!(arguments.last(), Some(Value::Closure(_)));
    let items = match vm.elements(object)? {
        Some(items) => items,
        // `5.each { }` iterates over one element; `5.sum()` is an error.
        None if has_closure
            && matches!(
                name,
                "each"
                    | "collect"
                    | "find"
                    | "findAll"
                    | "any"
                    | "every"
                    | "eachWithIndex"
                    | "inject"
            ) =>
        {
            vec![object.clone()]
        }
        None => return Ok(None),
    };
    vm.tick(items.len())?;
    if let Some(closure) = arguments.last().filter(|_| has_closure) {
        if let Some(result) = with_closure(vm, object, &items, name, arguments, closure)? {
            return Ok(Some(result));
        }
        if let Some(result) = grouping::with_closure(vm, object, &items, name, closure)? {
            return Ok(Some(result));
        }
    }
    if let Some(result) = ordering::call(vm, object, &items, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = plain(vm, object, &items, name, arguments)? {
        return Ok(Some(result));
    }
    grouping::call(vm, items, name, arguments)
}

/// Calls a closure with an element. A closure with two parameters gets the key and
/// value of an entry.
pub(super) fn apply(vm: &mut Vm, closure: &Value, item: &Value) -> Eval<Value> {
    vm.call_closure(closure, std::slice::from_ref(item))
}

/// True if a closure returns a true value for an element.
pub(super) fn accepts(vm: &mut Vm, closure: &Value, item: &Value) -> Eval<bool> {
    let result = apply(vm, closure, item)?;
    vm.truth(&result)
}

fn with_closure(
    vm: &mut Vm,
    object: &Value,
    items: &[Value],
    name: &str,
    arguments: &[Value],
    closure: &Value,
) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "each" | "forEach" | "forEachOrdered" => {
            for item in items {
                apply(vm, closure, item)?;
            }
            object.clone()
        }
        "reverseEach" => {
            for item in items.iter().rev() {
                apply(vm, closure, item)?;
            }
            object.clone()
        }
        "eachWithIndex" => {
            for (index, item) in items.iter().enumerate() {
                // Groovy passes key, value and index of a map to a closure with three parameters.
                let takes_entry = matches!(object, Value::Map(_)) && Vm::arity(closure) == 3;
                let index = Value::count(index);
                if takes_entry {
                    let key = vm.property(item, "key")?;
                    let value = vm.property(item, "value")?;
                    vm.call_closure(closure, &[key, value, index])?;
                } else {
                    vm.call_closure(closure, &[item.clone(), index])?;
                }
            }
            object.clone()
        }
        "collect" | "map" | "mapToInt" | "mapToObj" | "mapToLong" => {
            let mut results = Vec::with_capacity(items.len());
            for item in items {
                results.push(apply(vm, closure, item)?);
            }
            vm.new_list(results)?
        }
        "collectMany" | "flatMap" => {
            let mut results = Vec::new();
            for item in items {
                let part = apply(vm, closure, item)?;
                let part = vm.items(&part)?;
                vm.alloc(part.len() * 24)?;
                results.extend(part);
            }
            Value::list(results)
        }
        "find" => {
            for item in items {
                if accepts(vm, closure, item)? {
                    return Ok(Some(item.clone()));
                }
            }
            Value::Null
        }
        "findResult" | "findResults" => {
            let mut results = Vec::new();
            for item in items {
                let result = apply(vm, closure, item)?;
                if !result.is_null() {
                    if name == "findResult" {
                        return Ok(Some(result));
                    }
                    results.push(result);
                }
            }
            if name == "findResult" { Value::Null } else { vm.new_list(results)? }
        }
        "findAll" | "filter" | "grep" => {
            let mut matches = Vec::new();
            for item in items {
                if accepts(vm, closure, item)? {
                    matches.push(item.clone());
                }
            }
            vm.new_list(matches)?
        }
        "any" | "anyMatch" | "every" | "allMatch" | "none" | "noneMatch" => {
            let (stop, on_stop) = match name {
                "any" | "anyMatch" => (true, true),
                "every" | "allMatch" => (false, false),
                _ => (true, false),
            };
            for item in items {
                if accepts(vm, closure, item)? == stop {
                    return Ok(Some(Value::Bool(on_stop)));
                }
            }
            Value::Bool(!on_stop)
        }
        "inject" | "reduce" => {
            let (mut total, rest) = match (arguments, items) {
                ([first, _], _) => (first.clone(), items),
                (_, [first, rest @ ..]) => (first.clone(), rest),
                _ => return Ok(Some(Value::Null)),
            };
            for item in rest {
                let takes_entry = matches!(object, Value::Map(_)) && Vm::arity(closure) == 3;
                total = if takes_entry {
                    let key = vm.property(item, "key")?;
                    let value = vm.property(item, "value")?;
                    vm.call_closure(closure, &[total, key, value])?
                } else {
                    vm.call_closure(closure, &[total, item.clone()])?
                };
            }
            total
        }
        "findIndexOf" | "findLastIndexOf" | "indexOf" => {
            let mut position = -1;
            for (index, item) in items.iter().enumerate() {
                if accepts(vm, closure, item)? {
                    position = index as i32;
                    if name != "findLastIndexOf" {
                        break;
                    }
                }
            }
            Value::Int(position)
        }
        "count" => {
            let mut count = 0;
            for item in items {
                count += usize::from(accepts(vm, closure, item)?);
            }
            Value::count(count)
        }
        "sum" => {
            let mut results = Vec::new();
            for item in items {
                results.push(apply(vm, closure, item)?);
            }
            ordering::sum(vm, &results, None)?
        }
        _ => return Ok(None),
    }))
}

fn plain(
    vm: &mut Vm,
    object: &Value,
    items: &[Value],
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("size" | "count", []) => Value::count(items.len()),
        ("count", [value]) => {
            let mut count = 0;
            for item in items {
                count += usize::from(vm.equals(item, value)?);
            }
            Value::count(count)
        }
        ("first" | "head" | "last", []) => {
            let item = if name == "last" { items.last() } else { items.first() };
            item.cloned().ok_or_else(|| {
                throw(
                    "java.util.NoSuchElementException",
                    format!("Cannot access {name}() element from an empty List"),
                )
            })?
        }
        ("tail", []) => vm.new_list(items.get(1..).unwrap_or(&[]).to_vec())?,
        ("init", []) => vm.new_list(items[..items.len().saturating_sub(1)].to_vec())?,
        ("take" | "limit" | "drop" | "skip" | "takeRight" | "dropRight", [count]) => {
            let count = (vm.to_long(count)?.max(0) as usize).min(items.len());
            let part = match name {
                "take" | "limit" => &items[..count],
                "drop" | "skip" => &items[count..],
                "takeRight" => &items[items.len() - count..],
                _ => &items[..items.len() - count],
            };
            vm.new_list(part.to_vec())?
        }
        ("join", rest) => {
            let separator = match rest.first() {
                Some(separator) => vm.text(separator)?,
                None => "".into(),
            };
            let mut text = String::new();
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { &separator } else { "" });
                vm.alloc(separator.len())?;
                text.push_str(&vm.text(item)?);
            }
            vm.string(text)?
        }
        ("toList" | "asList" | "stream" | "parallelStream" | "boxed" | "asCollection", []) => {
            vm.new_list(items.to_vec())?
        }
        ("toSet", []) => {
            vm.alloc(items.len() * 48)?;
            Value::set(crate::value::MapKind::Linked, items.to_vec())
        }
        ("indexOf" | "lastIndexOf", [value]) => {
            let mut position = -1;
            for (index, item) in items.iter().enumerate() {
                if vm.equals(item, value)? {
                    position = index as i32;
                    if name == "indexOf" {
                        break;
                    }
                }
            }
            Value::Int(position)
        }
        ("contains", [value]) => Value::Bool(vm.contains(object, value)?),
        ("containsAll" | "disjoint", [values]) => {
            let mut results = Vec::new();
            for value in vm.items(values)? {
                results.push(vm.contains(object, &value)?);
            }
            Value::Bool(if name == "disjoint" {
                !results.contains(&true)
            } else {
                !results.contains(&false)
            })
        }
        ("plus", [other]) => {
            let mut joined = items.to_vec();
            match other {
                Value::List(_) | Value::Set(_) | Value::Range(_) => joined.extend(vm.items(other)?),
                other => joined.push(other.clone()),
            }
            vm.new_list(joined)?
        }
        ("minus" | "intersect", [other]) => {
            let keeps_found = name == "intersect";
            let mut retained = Vec::new();
            let single = !matches!(other, Value::List(_) | Value::Set(_) | Value::Range(_));
            for item in items {
                let is_found =
                    if single { vm.equals(item, other)? } else { vm.contains(other, item)? };
                if is_found == keeps_found {
                    retained.push(item.clone());
                }
            }
            if matches!(object, Value::List(list) if list.kind == crate::value::ListKind::Array) {
                Value::array(retained)
            } else {
                vm.new_list(retained)?
            }
        }
        ("multiply", [count]) => {
            let count = vm.to_long(count)?.max(0) as usize;
            vm.alloc(items.len().saturating_mul(count).saturating_mul(24))?;
            Value::list(std::iter::repeat_n(items, count).flatten().cloned().collect())
        }
        _ => return Ok(None),
    }))
}
