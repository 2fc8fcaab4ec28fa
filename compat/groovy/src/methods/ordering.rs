//! Methods of lists and maps that sort, choose, add up, reverse, shuffle or deduplicate elements.

use super::collection::apply;
use crate::error::Eval;
use crate::syntax::ast::Operator;
use crate::value::{ListKind, MapKind, Value};
use crate::vm::Vm;
use std::cmp::Ordering;

/// Sorts stably by the result of a closure with one parameter.
pub(super) fn sort_by(vm: &mut Vm, items: Vec<Value>, closure: &Value) -> Eval<Vec<Value>> {
    // The closure runs only once per element.
    let mut pairs = Vec::with_capacity(items.len());
    for item in items {
        let key = apply(vm, closure, &item)?;
        pairs.push(Value::list(vec![key, item]));
    }
    let sorted = vm.sort(pairs, &mut |vm, a, b| vm.compare(&pair_key(a), &pair_key(b)))?;
    Ok(sorted.into_iter().map(|pair| pair_item(&pair)).collect())
}

fn pair_key(pair: &Value) -> Value {
    match pair {
        Value::List(list) => list.items.borrow().first().cloned().unwrap_or_default(),
        _ => Value::Null,
    }
}

fn pair_item(pair: &Value) -> Value {
    match pair {
        Value::List(list) => list.items.borrow().last().cloned().unwrap_or_default(),
        _ => Value::Null,
    }
}

/// Sorts by a closure or comparator; in natural order without one.
fn sort_items(vm: &mut Vm, items: Vec<Value>, by: Option<&Value>) -> Eval<Vec<Value>> {
    match by {
        Some(closure @ Value::Closure(_)) if Vm::arity(closure) < 2 => sort_by(vm, items, closure),
        Some(comparator) if !comparator.is_null() => {
            vm.sort(items, &mut |vm, a, b| order(vm, comparator, a, b))
        }
        _ => vm.sort(items, &mut |vm, a, b| vm.compare(a, b)),
    }
}

/// Compares two values by a comparator (a closure with two parameters or an object with `compare`),
/// or by the results of a closure with one parameter.
pub(crate) fn order(vm: &mut Vm, comparator: &Value, a: &Value, b: &Value) -> Eval<Ordering> {
    let pair = [a.clone(), b.clone()];
    let result = match comparator {
        Value::Closure(_) if Vm::arity(comparator) < 2 => {
            let a = apply(vm, comparator, a)?;
            let b = apply(vm, comparator, b)?;
            return vm.compare(&a, &b);
        }
        Value::Closure(_) => vm.call_closure(comparator, &pair)?,
        other => vm.call_method(other, "compare", &pair)?,
    };
    Ok(vm.to_long(&result)?.cmp(&0))
}

/// Sum of items by `+`. With `start`, the items are added to it. Null without items and `start`.
pub(super) fn sum(vm: &mut Vm, items: &[Value], start: Option<&Value>) -> Eval<Value> {
    let mut items = items.iter();
    let Some(mut total) = start.or_else(|| items.next()).cloned() else { return Ok(Value::Null) };
    for item in items {
        total = vm.operate(Operator::Add, &total, item)?;
    }
    Ok(total)
}

/// Calls a method of this module on a list, set or map; `items` are its elements. None if the
/// method is not one of this module.
pub(super) fn call(
    vm: &mut Vm,
    object: &Value,
    items: &[Value],
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "sort" | "sorted" | "toSorted" => {
            let (in_place, by) = match arguments {
                [Value::Bool(flag), rest @ ..] => (*flag, rest.first()),
                rest => (name == "sort", rest.first()),
            };
            let sorted = sort_items(vm, items.to_vec(), by)?;
            match object {
                Value::List(list) if in_place && list.kind != ListKind::Immutable => {
                    *list.items.borrow_mut() = sorted;
                    object.clone()
                }
                _ => vm.new_list(sorted)?,
            }
        }
        "max" | "min" => {
            let target_order = if name == "max" { Ordering::Greater } else { Ordering::Less };
            let mut best: Option<&Value> = None;
            for item in items {
                let is_better = match (best, arguments.first()) {
                    (None, _) => true,
                    (Some(best), Some(by)) => order(vm, by, item, best)? == target_order,
                    (Some(best), None) => vm.compare(item, best)? == target_order,
                };
                if is_better {
                    best = Some(item);
                }
            }
            best.cloned().unwrap_or_default()
        }
        "sum" => sum(vm, items, arguments.first())?,
        "average" | "mean" => {
            let total = sum(vm, items, None)?;
            if items.is_empty() {
                Value::Null
            } else {
                vm.operate(Operator::Divide, &total, &Value::count(items.len()))?
            }
        }
        "reverse" | "asReversed" => {
            let reversed: Vec<Value> = items.iter().rev().cloned().collect();
            match (object, arguments) {
                (Value::List(list), [Value::Bool(true)]) => {
                    *list.items.borrow_mut() = reversed;
                    object.clone()
                }
                (Value::Map(_), _) => {
                    let (result, map) = Value::map(MapKind::Linked);
                    for entry in reversed {
                        let key = vm.property(&entry, "key")?;
                        let value = vm.property(&entry, "value")?;
                        map.insert(key, value);
                    }
                    result
                }
                _ => vm.new_list(reversed)?,
            }
        }
        "unique" | "toUnique" | "distinct" => {
            let unique =
                unique(vm, items, arguments.iter().rfind(|one| matches!(one, Value::Closure(_))))?;
            let keeps_original =
                matches!(arguments.first(), Some(Value::Bool(false))) || name != "unique";
            match object {
                Value::List(list) if !keeps_original && list.kind == ListKind::List => {
                    *list.items.borrow_mut() = unique;
                    object.clone()
                }
                _ => vm.new_list(unique)?,
            }
        }
        "shuffle" | "shuffled" => {
            let shuffled = shuffle(vm, items.to_vec(), arguments.first())?;
            match object {
                Value::List(list) if name == "shuffle" => {
                    *list.items.borrow_mut() = shuffled;
                    Value::Null
                }
                _ => vm.new_list(shuffled)?,
            }
        }
        _ => return Ok(None),
    }))
}

/// Removes later duplicates: equal items, items for which a closure with one parameter returns
/// equal keys, or items for which a closure with two parameters returns 0.
fn unique(vm: &mut Vm, items: &[Value], by: Option<&Value>) -> Eval<Vec<Value>> {
    let keys = crate::value::Map::new(MapKind::Hash);
    let mut retained: Vec<Value> = Vec::new();
    for item in items {
        if let Some(closure) = by.filter(|closure| Vm::arity(closure) > 1) {
            let mut is_duplicate = false;
            for other in &retained {
                if order(vm, closure, other, item)? == Ordering::Equal {
                    is_duplicate = true;
                    break;
                }
            }
            if !is_duplicate {
                retained.push(item.clone());
            }
            continue;
        }
        let key = match by {
            Some(closure) => apply(vm, closure, item)?,
            None => item.clone(),
        };
        vm.alloc(48)?;
        if keys.insert(key, Value::Null).is_none() {
            retained.push(item.clone());
        }
    }
    Ok(retained)
}

/// Shuffles the elements (Fisher-Yates) with the numbers of `random`; without it, with those of the
/// host.
fn shuffle(vm: &mut Vm, mut items: Vec<Value>, random: Option<&Value>) -> Eval<Vec<Value>> {
    for end in (1..items.len()).rev() {
        let other = match random {
            Some(random) => {
                let index = vm.call_method(random, "nextInt", &[Value::count(end + 1)])?;
                vm.to_index(&index)? as usize
            }
            None => vm.host.random() as usize,
        };
        items.swap(end, other % (end + 1));
    }
    Ok(items)
}
