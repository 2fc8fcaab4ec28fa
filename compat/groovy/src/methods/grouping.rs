//! Methods that group and regroup elements.

use super::collection::{accepts, apply};
use crate::error::{Eval, illegal};
use crate::value::{MapKind, Value};
use crate::vm::Vm;
use std::rc::Rc;

pub(super) fn with_closure(
    vm: &mut Vm,
    object: &Value,
    items: &[Value],
    name: &str,
    closure: &Value,
) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "collectEntries" => collect_entries(vm, object, items, closure)?,
        "groupBy" | "countBy" | "partition" => {
            let (result, map) = Value::map(MapKind::Linked);
            for item in items {
                vm.alloc(64)?;
                let key = apply(vm, closure, item)?;
                let current = map.get(&key);
                match (name, current) {
                    ("countBy", Some(Value::Int(count))) => {
                        drop(map.insert(key, Value::Int(count + 1)));
                    }
                    ("countBy", _) => drop(map.insert(key, Value::Int(1))),
                    (_, Some(Value::List(list))) => list.items.borrow_mut().push(item.clone()),
                    _ => drop(map.insert(key, Value::list(vec![item.clone()]))),
                }
            }
            // Groovy groups the entries of a map into maps.
            if matches!(object, Value::Map(_)) && name == "groupBy" {
                entries_to_maps(vm, &map)?
            } else {
                result
            }
        }
        "split" => {
            let mut yes = Vec::new();
            let mut no = Vec::new();
            for item in items {
                if accepts(vm, closure, item)? {
                    yes.push(item.clone());
                } else {
                    no.push(item.clone());
                }
            }
            Value::list(vec![Value::list(yes), Value::list(no)])
        }
        "takeWhile" | "dropWhile" => {
            let mut end = items.len();
            for (index, item) in items.iter().enumerate() {
                if !accepts(vm, closure, item)? {
                    end = index;
                    break;
                }
            }
            let part = if name == "takeWhile" { &items[..end] } else { &items[end..] };
            vm.new_list(part.to_vec())?
        }
        "findIndexValues" => {
            let mut indices = Vec::new();
            for (index, item) in items.iter().enumerate() {
                if accepts(vm, closure, item)? {
                    indices.push(Value::Long(index as i64));
                }
            }
            vm.new_list(indices)?
        }
        _ => return Ok(None),
    }))
}

/// Converts each group of a grouped map from a list of entries to a map.
fn entries_to_maps(vm: &mut Vm, groups: &Rc<crate::value::Map>) -> Eval<Value> {
    let (result, map) = Value::map(MapKind::Linked);
    for (key, entries) in groups.pairs() {
        let (group, inner) = Value::map(MapKind::Linked);
        for entry in vm.items(&entries)? {
            let key = vm.property(&entry, "key")?;
            let value = vm.property(&entry, "value")?;
            inner.insert(key, value);
        }
        map.insert(key, group);
    }
    Ok(result)
}

fn collect_entries(vm: &mut Vm, object: &Value, items: &[Value], closure: &Value) -> Eval<Value> {
    let (result, map) = Value::map(MapKind::Linked);
    for item in items {
        vm.alloc(64)?;
        let entry = if matches!(object, Value::Map(_)) {
            let key = vm.property(item, "key")?;
            let value = vm.property(item, "value")?;
            super::map::with_entry(vm, closure, &key, &value)?
        } else {
            apply(vm, closure, item)?
        };
        add_entry(vm, &map, &entry)?;
    }
    Ok(result)
}

/// Adds `[key, value]`, an entry, or a map to a map.
fn add_entry(vm: &mut Vm, map: &crate::value::Map, entry: &Value) -> Eval<()> {
    match entry {
        Value::Map(part) => {
            for (key, value) in part.pairs() {
                map.insert(key, value);
            }
        }
        Value::List(pair) => {
            let pair = pair.items.borrow().clone();
            map.insert(
                pair.first().cloned().unwrap_or_default(),
                pair.get(1).cloned().unwrap_or_default(),
            );
        }
        other => {
            let key = vm.property(other, "key")?;
            let value = vm.property(other, "value")?;
            map.insert(key, value);
        }
    }
    Ok(())
}

/// Appends elements, flattening nested lists.
fn flatten(vm: &mut Vm, items: &[Value], out: &mut Vec<Value>) -> Eval<()> {
    for item in items {
        match item {
            Value::List(_) | Value::Set(_) | Value::Range(_) => {
                let inner = vm.items(item)?;
                vm.nested(|vm| flatten(vm, &inner, out))?;
            }
            other => {
                vm.alloc(24)?;
                out.push(other.clone());
            }
        }
    }
    Ok(())
}

pub(super) fn call(
    vm: &mut Vm,
    items: Vec<Value>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("flatten", []) => {
            let mut flat = Vec::new();
            flatten(vm, &items, &mut flat)?;
            Value::list(flat)
        }
        ("collectEntries", []) => {
            let (result, map) = Value::map(MapKind::Linked);
            for item in &items {
                add_entry(vm, &map, item)?;
            }
            result
        }
        ("withIndex" | "indexed", rest) => {
            let offset = match rest.first() {
                Some(offset) => vm.to_long(offset)?,
                None => 0,
            };
            vm.alloc(items.len() * 96)?;
            let numbered = items
                .into_iter()
                .enumerate()
                .map(|(index, item)| (Value::integer(index as i64 + offset), item));
            if name == "withIndex" {
                Value::list(numbered.map(|(index, item)| Value::list(vec![item, index])).collect())
            } else {
                let (result, map) = Value::map(MapKind::Linked);
                for (index, item) in numbered {
                    map.insert(index, item);
                }
                result
            }
        }
        ("collate", [size, rest @ ..]) => collate(vm, &items, size, rest)?,
        ("chop", sizes) => {
            let mut parts = Vec::new();
            let mut begin = 0_usize;
            for size in sizes {
                // -1 takes the rest.
                let size = usize::try_from(vm.to_long(size)?).unwrap_or(usize::MAX);
                let end = begin.saturating_add(size).min(items.len());
                parts.push(vm.new_list(items[begin..end].to_vec())?);
                begin = end;
            }
            vm.new_list(parts)?
        }
        ("partition", [size]) => {
            let size = usize::try_from(vm.to_long(size)?)
                .ok()
                .filter(|size| *size > 0)
                .ok_or_else(|| illegal("the size of parts must be positive"))?;
            vm.alloc(items.len() * 48)?;
            Value::list(items.chunks(size).map(|part| Value::list(part.to_vec())).collect())
        }
        ("transpose", []) => transpose(vm, &items)?,
        ("getIndices", []) => Value::Range(Rc::new(crate::value::Range {
            from: 0,
            to: items.len() as i64 - 1,
            empty: items.is_empty(),
        })),
        ("combinations", []) => combinations(vm, &items)?,
        ("findFirst" | "findAny", []) => {
            crate::classes::util::OptionalObject::make(items.into_iter().next())
        }
        ("find", []) => {
            for item in items {
                if vm.truth(&item)? {
                    return Ok(Some(item));
                }
            }
            Value::Null
        }
        ("findAll" | "grep", rest) => {
            let mut matches = Vec::new();
            for item in items {
                let is_match = match rest.first() {
                    Some(filter) => vm.is_case(filter, &item)?,
                    None => vm.truth(&item)?,
                };
                if is_match {
                    matches.push(item);
                }
            }
            vm.new_list(matches)?
        }
        ("any" | "every", []) => {
            let mut truths = Vec::new();
            for item in &items {
                truths.push(vm.truth(item)?);
            }
            Value::Bool(if name == "any" {
                truths.contains(&true)
            } else {
                !truths.contains(&false)
            })
        }
        ("collect", [Value::Native(_)]) => crate::classes::util::collect(vm, items, &arguments[0])?,
        _ => return Ok(None),
    }))
}

/// Implements `collate(size, [step], [keepRemainder])`.
fn collate(vm: &mut Vm, items: &[Value], size: &Value, rest: &[Value]) -> Eval<Value> {
    let size = vm.to_long(size)?;
    let step = match rest {
        [step @ (Value::Int(_) | Value::Long(_)), ..] => vm.to_long(step)?,
        _ => size,
    };
    let keeps_remainder = !matches!(rest.last(), Some(Value::Bool(false)));
    let whole = vec![Value::list(items.to_vec())];
    let (Ok(size), Ok(step)) = (usize::try_from(size), usize::try_from(step)) else {
        return Ok(Value::list(whole));
    };
    // In Groovy, a size of 0 keeps the list whole.
    if size == 0 {
        return Ok(Value::list(whole));
    }
    if step == 0 {
        return Err(illegal("step cannot be zero"));
    }
    let mut parts = Vec::new();
    for begin in (0..items.len()).step_by(step) {
        let end = begin.saturating_add(size);
        if end > items.len() && !keeps_remainder {
            break;
        }
        parts.push(vm.new_list(items[begin..end.min(items.len())].to_vec())?);
    }
    vm.new_list(parts)
}

fn transpose(vm: &mut Vm, items: &[Value]) -> Eval<Value> {
    let mut rows = Vec::new();
    for item in items {
        rows.push(vm.items(item)?);
    }
    // Groovy cuts the columns at the shortest list.
    let width = rows.iter().map(Vec::len).min().unwrap_or(0);
    vm.alloc(width.saturating_mul(rows.len()).saturating_mul(24))?;
    let columns =
        (0..width).map(|index| Value::list(rows.iter().map(|row| row[index].clone()).collect()));
    Ok(Value::list(columns.collect()))
}

fn combinations(vm: &mut Vm, items: &[Value]) -> Eval<Value> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for item in items {
        let choices = vm.items(item)?;
        let mut next = Vec::new();
        // The result grows exponentially, so its memory is counted before it is used.
        vm.alloc(
            all.len()
                .saturating_mul(choices.len())
                .saturating_mul(24 * (all.first().map_or(0, Vec::len) + 1)),
        )?;
        for choice in &choices {
            for prefix in &all {
                let mut longer = prefix.clone();
                longer.push(choice.clone());
                next.push(longer);
            }
        }
        all = next;
    }
    Ok(Value::list(all.into_iter().map(Value::list).collect()))
}
