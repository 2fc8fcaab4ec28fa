//! Methods of maps and sets.

use crate::classes::collections::Cursor;
use crate::error::{Eval, throw};
use crate::value::{Map, MapKind, Value};
use crate::vm::Vm;
use std::rc::Rc;

/// Calls a closure with an entry, or with key and value if it has two parameters.
pub(crate) fn with_entry(vm: &mut Vm, closure: &Value, key: &Value, value: &Value) -> Eval<Value> {
    if Vm::arity(closure) > 1 {
        return vm.call_closure(closure, &[key.clone(), value.clone()]);
    }
    let entry = crate::classes::collections::Entry::make(key.clone(), value.clone(), None);
    vm.call_closure(closure, &[entry])
}

pub(super) fn call(
    vm: &mut Vm,
    map: &Rc<Map>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    vm.tick(1)?;
    if let Some(result) = read_method(vm, map, object, name, arguments)? {
        return Ok(Some(result));
    }
    if let Some(result) = change_method(vm, map, object, name, arguments)? {
        return Ok(Some(result));
    }
    // The map may hold a closure under the name of the method.
    let stored = map.get_text(name);
    if let Some(closure @ Value::Closure(_)) = stored {
        return vm.call_closure(&closure, arguments).map(Some);
    }
    closure_method(vm, map, object, name, arguments)
}

fn read_method(
    vm: &mut Vm,
    map: &Rc<Map>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("get" | "getAt", [key]) => match map.get(key) {
            Some(value) => value,
            None => vm.missing_key(object, key)?,
        },
        ("getOrDefault", [key, default]) => map.get(key).unwrap_or_else(|| default.clone()),
        ("getProperty", [key]) => map.get(key).unwrap_or_default(),
        ("get" | "getProperty", [key, default]) => match map.get(key) {
            Some(value) => value,
            // In Groovy, `get` with a default also stores the default.
            None if name == "getProperty" => default.clone(),
            None => {
                vm.put(map, key.clone(), default.clone())?;
                default.clone()
            }
        },
        ("containsKey" | "contains", [key]) => Value::Bool(map.contains(key)),
        ("containsValue", [value]) => {
            let values = Value::list(map.values());
            Value::Bool(vm.contains(&values, value)?)
        }
        ("size", []) => Value::count(map.len()),
        ("isEmpty", []) => Value::Bool(map.len() == 0),
        ("keySet" | "navigableKeySet", []) => {
            vm.alloc(map.len() * 48)?;
            Value::set(
                if map.kind == MapKind::Sorted { MapKind::Sorted } else { MapKind::Linked },
                map.keys(),
            )
        }
        ("keys", []) => Cursor::make(map.keys(), None),
        ("values", []) => vm.new_list(map.values())?,
        ("entrySet", []) => {
            let entries = vm.items(object)?;
            vm.new_list(entries)?
        }
        ("iterator", []) => Cursor::make(vm.items(object)?, None),
        ("firstKey" | "lastKey" | "firstEntry" | "lastEntry", []) => {
            let pairs = map.pairs();
            let pair = if name.starts_with("first") { pairs.first() } else { pairs.last() };
            match pair {
                Some((key, _)) if name.ends_with("Key") => key.clone(),
                Some((key, value)) => {
                    crate::classes::collections::Entry::make(key.clone(), value.clone(), Some(map))
                }
                None if name.ends_with("Key") => {
                    return Err(throw("java.util.NoSuchElementException", "the map is empty"));
                }
                None => Value::Null,
            }
        }
        ("clone", []) => Value::Map(Rc::new(map.copy(map.kind))),
        ("asImmutable" | "asUnmodifiable", []) => Value::Map(Rc::new(map.copy(MapKind::Immutable))),
        ("withDefault", [closure]) => {
            let copy = map.copy(map.kind);
            copy.default.replace(closure.clone());
            Value::Map(Rc::new(copy))
        }
        ("subMap", [keys, ..]) => {
            let (value, part) = Value::map(map.kind);
            for key in vm.items(keys)? {
                if let Some(value) = map.get(&key) {
                    part.insert(key, value);
                }
            }
            value
        }
        ("plus", [other @ Value::Map(_)]) => {
            vm.alloc(map.len() * 64)?;
            // The sum is a new map, which can be changed.
            let kind = if map.kind == MapKind::Immutable { MapKind::Linked } else { map.kind };
            let joined = Rc::new(map.copy(kind));
            put_all(vm, &joined, other)?;
            Value::Map(joined)
        }
        ("minus", [Value::Map(other)]) => {
            let copy = map.copy(map.kind);
            for (key, value) in other.pairs() {
                if copy
                    .get(&key)
                    .is_some_and(|existing| vm.equals(&existing, &value).unwrap_or(false))
                {
                    copy.remove(&key);
                }
            }
            Value::Map(Rc::new(copy))
        }
        ("spread", []) => object.clone(),
        _ => return Ok(None),
    }))
}

fn put_all(vm: &mut Vm, map: &Map, other: &Value) -> Eval<()> {
    match other {
        Value::Map(other) => {
            for (key, value) in other.pairs() {
                vm.put(map, key, value)?;
            }
        }
        other => {
            for entry in vm.items(other)? {
                let key = vm.property(&entry, "key")?;
                let value = vm.property(&entry, "value")?;
                vm.put(map, key, value)?;
            }
        }
    }
    Ok(())
}

fn change_method(
    vm: &mut Vm,
    map: &Rc<Map>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("load", [reader @ Value::Native(_)]) => {
            let text = vm.call_method(reader, "getText", &[])?;
            for line in
                vm.text(&text)?.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']))
            {
                if let Some((key, value)) = line.split_once(['=', ':']) {
                    vm.put(map, Value::str(key.trim()), Value::str(value.trim()))?;
                }
            }
            Value::Null
        }
        ("put" | "setProperty", [key, value]) => {
            vm.put(map, key.clone(), value.clone())?.unwrap_or_default()
        }
        ("putAt", [key, value]) => {
            vm.put(map, key.clone(), value.clone())?;
            Value::Null
        }
        ("putAll", [other]) => {
            put_all(vm, map, other)?;
            Value::Null
        }
        ("leftShift", [other]) => {
            put_all(vm, map, other)?;
            object.clone()
        }
        ("putIfAbsent", [key, value]) => {
            if let Some(existing) = map.get(key) {
                existing
            } else {
                vm.put(map, key.clone(), value.clone())?;
                Value::Null
            }
        }
        ("computeIfAbsent", [key, closure]) => {
            if let Some(existing) = map.get(key) {
                existing
            } else {
                let value = vm.call_closure(closure, std::slice::from_ref(key))?;
                vm.put(map, key.clone(), value.clone())?;
                value
            }
        }
        ("computeIfPresent" | "compute", [key, closure]) => {
            let old = map.get(key);
            if old.is_none() && name == "computeIfPresent" {
                return Ok(Some(Value::Null));
            }
            let value = vm.call_closure(closure, &[key.clone(), old.unwrap_or_default()])?;
            vm.put(map, key.clone(), value.clone())?;
            value
        }
        ("merge", [key, value, closure]) => {
            let value = match map.get(key) {
                Some(old) => vm.call_closure(closure, &[old, value.clone()])?,
                None => value.clone(),
            };
            vm.put(map, key.clone(), value.clone())?;
            value
        }
        ("remove", [key] | [key, _]) => {
            if map.kind == MapKind::Immutable {
                return Err(throw(
                    "java.lang.UnsupportedOperationException",
                    "the map cannot be changed",
                ));
            }
            vm.tick(map.len() / 16)?;
            map.remove(key).unwrap_or_default()
        }
        ("clear", []) => {
            map.clear();
            Value::Null
        }
        ("replace", [key, value]) => match map.get(key) {
            Some(_) => vm.put(map, key.clone(), value.clone())?.unwrap_or_default(),
            None => Value::Null,
        },
        _ => return Ok(None),
    }))
}

/// Methods with a closure.
fn closure_method(
    vm: &mut Vm,
    map: &Rc<Map>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let Some(closure @ Value::Closure(_)) = arguments.last() else {
        return sort_by_key(vm, map, name);
    };
    let (result, part) = Value::map(map.kind);
    match name {
        "each" | "forEach" => {
            for (key, value) in map.pairs() {
                with_entry(vm, closure, &key, &value)?;
            }
            return Ok(Some(object.clone()));
        }
        "reverseEach" => {
            for (key, value) in map.pairs().into_iter().rev() {
                with_entry(vm, closure, &key, &value)?;
            }
            return Ok(Some(object.clone()));
        }
        "findAll" | "filter" | "removeAll" | "retainAll" | "removeIf" => {
            for (key, value) in map.pairs() {
                let result = with_entry(vm, closure, &key, &value)?;
                let is_match = vm.truth(&result)?;
                match name {
                    "findAll" | "filter" if is_match => {
                        vm.alloc(64)?;
                        part.insert(key, value);
                    }
                    "removeAll" | "removeIf" if is_match => drop(map.remove(&key)),
                    "retainAll" if !is_match => drop(map.remove(&key)),
                    _ => {}
                }
            }
        }
        "sort" | "toSorted" => {
            let entries = vm.items(object)?;
            let sorted = if Vm::arity(closure) > 1 {
                vm.sort(entries, &mut |vm, a, b| {
                    let order = vm.call_closure(closure, &[a.clone(), b.clone()])?;
                    Ok(vm.to_long(&order)?.cmp(&0))
                })?
            } else {
                super::ordering::sort_by(vm, entries, closure)?
            };
            let (result, part) = Value::map(MapKind::Linked);
            for entry in sorted {
                let key = vm.property(&entry, "key")?;
                let value = vm.property(&entry, "value")?;
                part.insert(key, value);
            }
            return Ok(Some(result));
        }
        _ => return Ok(None),
    }
    // The methods that change the map have names with `re`: `removeAll`, `retainAll`, `removeIf`.
    Ok(Some(if name.starts_with("re") { Value::Bool(true) } else { result }))
}

fn sort_by_key(vm: &mut Vm, map: &Rc<Map>, name: &str) -> Eval<Option<Value>> {
    match name {
        "sort" | "toSorted" => {
            vm.tick(map.len() * 8)?;
            Ok(Some(Value::Map(Rc::new(map.copy(MapKind::Sorted)))))
        }
        _ => Ok(None),
    }
}

/// Calls a method of a set.
pub(super) fn call_set(
    vm: &mut Vm,
    set: &Rc<Map>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("size", []) => Value::count(set.len()),
        ("isEmpty", []) => Value::Bool(set.len() == 0),
        ("contains", [value]) => Value::Bool(set.contains(value)),
        ("add", [value]) => {
            let is_new = !set.contains(value);
            if is_new {
                vm.put(set, value.clone(), Value::Bool(true))?;
            }
            Value::Bool(is_new)
        }
        ("leftShift", [value]) => {
            vm.put(set, value.clone(), Value::Bool(true))?;
            object.clone()
        }
        ("addAll", [values]) => {
            let before = set.len();
            for value in vm.items(values)? {
                vm.put(set, value, Value::Bool(true))?;
            }
            Value::Bool(set.len() > before)
        }
        ("remove", [value]) => Value::Bool(set.remove(value).is_some()),
        ("removeAll" | "retainAll" | "removeIf", [criterion]) => {
            let before = set.len();
            for item in set.keys() {
                let is_match = match criterion {
                    Value::Closure(_) => {
                        let result = vm.call_closure(criterion, std::slice::from_ref(&item))?;
                        vm.truth(&result)?
                    }
                    _ => vm.contains(criterion, &item)?,
                };
                if is_match == (name != "retainAll") {
                    set.remove(&item);
                }
            }
            Value::Bool(set.len() != before)
        }
        ("clear", []) => {
            set.clear();
            Value::Null
        }
        ("iterator", []) => Cursor::make(set.keys(), None),
        ("toArray", _) => Value::array(set.keys()),
        ("clone", []) => Value::Set(Rc::new(set.copy(set.kind))),
        ("asImmutable", []) => Value::Set(Rc::new(set.copy(MapKind::Immutable))),
        ("plus" | "minus" | "intersect", [other]) => {
            let copy = Value::Set(Rc::new(set.copy(set.kind)));
            let method = match name {
                "plus" => "addAll",
                "minus" => "removeAll",
                _ => "retainAll",
            };
            vm.alloc(set.len() * 48)?;
            vm.call_method(&copy, method, std::slice::from_ref(other))?;
            copy
        }
        ("findAll", [closure]) => {
            let mut matches = Vec::new();
            for item in set.keys() {
                let result = vm.call_closure(closure, std::slice::from_ref(&item))?;
                if vm.truth(&result)? {
                    matches.push(item);
                }
            }
            Value::set(set.kind, matches)
        }
        _ => return Ok(None),
    }))
}
