//! Methods that order and sum up elements.

use super::collection::apply;
use crate::error::Eval;
use crate::syntax::ast::Operator;
use crate::value::{ListKind, MapKind, Value};
use crate::vm::Vm;
use std::cmp::Ordering;

/// Sorts by what a closure of one parameter gives.
pub(super) fn sort_by(vm: &mut Vm, items: Vec<Value>, closure: &Value) -> Eval<Vec<Value>> {
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        let key = apply(vm, closure, &item)?;
        keyed.push(Value::list(vec![key, item]));
    }
    let key = |pair: &Value| match pair {
        Value::List(list) => list.items.borrow().first().cloned().unwrap_or_default(),
        _ => Value::Null,
    };
    let sorted = vm.sort(keyed, &mut |vm, a, b| vm.compare(&key(a), &key(b)))?;
    let item = |pair: Value| match pair {
        Value::List(list) => list.items.borrow().last().cloned().unwrap_or_default(),
        _ => Value::Null,
    };
    Ok(sorted.into_iter().map(item).collect())
}

/// Sorts as the closure or comparator says; without one, naturally.
fn sorted(vm: &mut Vm, items: Vec<Value>, by: Option<&Value>) -> Eval<Vec<Value>> {
    match by {
        Some(closure @ Value::Closure(_)) if Vm::arity(closure) < 2 => sort_by(vm, items, closure),
        Some(comparator) if !comparator.is_null() => vm.sort(items, &mut |vm, a, b| order(vm, comparator, a, b)),
        _ => vm.sort(items, &mut |vm, a, b| vm.compare(a, b)),
    }
}

/// What a comparator says.
pub(crate) fn order(vm: &mut Vm, comparator: &Value, a: &Value, b: &Value) -> Eval<Ordering> {
    let pair = [a.clone(), b.clone()];
    let order = match comparator {
        Value::Closure(_) if Vm::arity(comparator) < 2 => {
            let (a, b) = (apply(vm, comparator, a)?, apply(vm, comparator, b)?);
            return vm.compare(&a, &b);
        }
        Value::Closure(_) => vm.call_closure(comparator, &pair)?,
        other => vm.call_method(other, "compare", &pair)?,
    };
    Ok(vm.to_long(&order)?.cmp(&0))
}

/// The sum of values by `+`, from a first one on.
pub(super) fn sum(vm: &mut Vm, items: &[Value], first: Option<&Value>) -> Eval<Value> {
    let mut items = items.iter();
    let Some(mut total) = first.or_else(|| items.next()).cloned() else { return Ok(Value::Null) };
    for item in items {
        total = vm.operate(Operator::Add, &total, item)?;
    }
    Ok(total)
}

pub(super) fn call(
    vm: &mut Vm,
    object: &Value,
    items: &[Value],
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "sort" | "sorted" | "toSorted" => {
            let (flag, by) = match arguments {
                [Value::Bool(flag), rest @ ..] => (*flag, rest.first()),
                rest => (name == "sort", rest.first()),
            };
            let sorted = sorted(vm, items.to_vec(), by)?;
            match object {
                Value::List(list) if flag && list.kind != ListKind::Immutable => {
                    *list.items.borrow_mut() = sorted;
                    object.clone()
                }
                _ => vm.new_list(sorted)?,
            }
        }
        "max" | "min" => {
            let wanted = if name == "max" { Ordering::Greater } else { Ordering::Less };
            let mut best: Option<&Value> = None;
            for item in items {
                let better = match (best, arguments.first()) {
                    (None, _) => true,
                    (Some(best), Some(by)) => order(vm, by, item, best)? == wanted,
                    (Some(best), None) => vm.compare(item, best)? == wanted,
                };
                if better {
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
                        let (key, value) = (vm.property(&entry, "key")?, vm.property(&entry, "value")?);
                        map.insert(key, value);
                    }
                    result
                }
                _ => vm.new_list(reversed)?,
            }
        }
        "unique" | "toUnique" | "distinct" => {
            let unique = unique(vm, items, arguments.iter().rfind(|one| matches!(one, Value::Closure(_))))?;
            let keep = matches!(arguments.first(), Some(Value::Bool(false))) || name != "unique";
            match object {
                Value::List(list) if !keep && list.kind == ListKind::List => {
                    *list.items.borrow_mut() = unique;
                    object.clone()
                }
                _ => vm.new_list(unique)?,
            }
        }
        "shuffle" | "shuffled" => {
            let shuffled = shuffled(vm, items.to_vec());
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

/// The elements without those that were there before; by the result of the closure if there is one.
fn unique(vm: &mut Vm, items: &[Value], by: Option<&Value>) -> Eval<Vec<Value>> {
    let seen = crate::value::Map::new(MapKind::Hash);
    let mut unique: Vec<Value> = Vec::new();
    for item in items {
        if let Some(closure) = by.filter(|closure| Vm::arity(closure) > 1) {
            let mut known = false;
            for other in &unique {
                if order(vm, closure, other, item)? == Ordering::Equal {
                    known = true;
                    break;
                }
            }
            if !known {
                unique.push(item.clone());
            }
            continue;
        }
        let key = match by {
            Some(closure) => apply(vm, closure, item)?,
            None => item.clone(),
        };
        vm.alloc(48)?;
        if seen.insert(key, Value::Null).is_none() {
            unique.push(item.clone());
        }
    }
    Ok(unique)
}

/// The elements in random order.
pub(super) fn shuffled(vm: &mut Vm, mut items: Vec<Value>) -> Vec<Value> {
    for end in (1..items.len()).rev() {
        let other = vm.host.random() as usize % (end + 1);
        items.swap(end, other);
    }
    items
}
