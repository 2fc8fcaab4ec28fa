//! Methods that only lists, arrays and ranges have.

use crate::error::{Eval, no_index, throw};
use crate::value::{List, ListKind, Range, Value};
use crate::vm::Vm;
use std::rc::Rc;

pub(super) fn call(
    vm: &mut Vm,
    list: &Rc<List>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    if let Some(result) = read_method(vm, list, name, arguments)? {
        return Ok(Some(result));
    }
    if list.kind == ListKind::Immutable && CHANGES.contains(&name) {
        return Err(throw(
            "java.lang.UnsupportedOperationException",
            format!("{name}: the list cannot be changed"),
        ));
    }
    change_method(vm, list, object, name, arguments)
}

/// Methods that change a list.
const CHANGES: [&str; 24] = [
    "add",
    "addAll",
    "remove",
    "removeAt",
    "removeLast",
    "removeFirst",
    "pop",
    "push",
    "poll",
    "put",
    "putLast",
    "offer",
    "clear",
    "set",
    "leftShift",
    "removeAll",
    "retainAll",
    "removeIf",
    "addFirst",
    "addLast",
    "removeElement",
    "pollFirst",
    "pollLast",
    "putAt",
];

fn read_method(
    vm: &mut Vm,
    list: &Rc<List>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let length = list.items.borrow().len();
    Ok(Some(match (name, arguments) {
        ("size" | "length" | "getLength", []) => Value::count(length),
        ("isEmpty" | "empty", []) => Value::Bool(length == 0),
        ("get" | "elementAt", [index]) => {
            let position = vm.to_index(index)?;
            let item = usize::try_from(position)
                .ok()
                .and_then(|position| list.items.borrow().get(position).cloned());
            item.ok_or_else(|| no_index(position, length))?
        }
        ("getAt", [index]) => vm.index(&Value::List(Rc::clone(list)), index)?,
        ("getFirst" | "element" | "firstElement", []) => list
            .items
            .borrow()
            .first()
            .cloned()
            .ok_or_else(|| throw("java.util.NoSuchElementException", "the list is empty"))?,
        ("getLast" | "lastElement", []) => list
            .items
            .borrow()
            .last()
            .cloned()
            .ok_or_else(|| throw("java.util.NoSuchElementException", "the list is empty"))?,
        // The top of a stack is its end; the head of a queue is its start.
        ("peek" | "peekFirst", []) => {
            let items = list.items.borrow();
            let item = if list.kind == ListKind::Linked { items.first() } else { items.last() };
            item.cloned().unwrap_or_default()
        }
        ("peekLast", []) => list.items.borrow().last().cloned().unwrap_or_default(),
        ("toArray", _) => {
            vm.alloc(length * 24)?;
            Value::array(list.items.borrow().clone())
        }
        ("clone", []) => {
            vm.alloc(length * 24)?;
            Value::listing(list.kind, list.items.borrow().clone())
        }
        ("subList", [begin, end]) => {
            let begin = vm.to_index(begin)?;
            let end = vm.to_index(end)?;
            if begin < 0 || end > length as i64 || begin > end {
                return Err(no_index(if begin < 0 { begin } else { end }, length));
            }
            let part = list.items.borrow()[begin as usize..end as usize].to_vec();
            vm.new_list(part)?
        }
        ("asImmutable" | "asUnmodifiable", []) => {
            Value::listing(ListKind::Immutable, list.items.borrow().clone())
        }
        ("iterator" | "listIterator", []) => {
            let items = list.items.borrow().clone();
            // An array cannot lose elements.
            let source = (list.kind != ListKind::Array).then(|| Rc::clone(list));
            crate::classes::collections::Cursor::make(items, source)
        }
        ("trimToSize" | "ensureCapacity", _) => Value::Null,
        _ => return Ok(None),
    }))
}

fn change_method(
    vm: &mut Vm,
    list: &Rc<List>,
    object: &Value,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let length = list.items.borrow().len();
    let fixed = list.kind == ListKind::Array;
    Ok(Some(match (name, arguments) {
        ("set", [index, value]) => {
            let position = vm.to_index(index)?;
            let place = usize::try_from(position)
                .ok()
                .filter(|place| *place < length)
                .ok_or_else(|| no_index(position, length))?;
            std::mem::replace(&mut list.items.borrow_mut()[place], value.clone())
        }
        ("putAt", [index, value]) => {
            vm.set_index(object, index, value.clone())?;
            Value::Null
        }
        ("leftShift", [value]) if !fixed => {
            vm.alloc(24)?;
            list.items.borrow_mut().push(value.clone());
            object.clone()
        }
        ("add" | "addLast" | "put" | "putLast" | "offer" | "offerLast" | "addElement", [value])
        | ("offer", [value, _, _])
            if !fixed =>
        {
            vm.alloc(24)?;
            list.items.borrow_mut().push(value.clone());
            Value::Bool(true)
        }
        // `push` appends to a stack, but prepends to a queue; scripts pair it with `pop`.
        ("push", [value]) if list.kind == ListKind::List => {
            vm.alloc(24)?;
            list.items.borrow_mut().push(value.clone());
            value.clone()
        }
        ("push" | "addFirst" | "offerFirst", [value]) if !fixed => {
            vm.alloc(24)?;
            // All elements move by one.
            vm.tick(length / 16)?;
            list.items.borrow_mut().insert(0, value.clone());
            Value::Null
        }
        ("add", [index, value]) if !fixed => {
            let position = vm.to_index(index)?;
            let place = usize::try_from(position)
                .ok()
                .filter(|place| *place <= length)
                .ok_or_else(|| no_index(position, length))?;
            vm.alloc(24)?;
            vm.tick(length / 16)?;
            list.items.borrow_mut().insert(place, value.clone());
            Value::Bool(true)
        }
        ("addAll", [others]) if !fixed => {
            let others = vm.items(others)?;
            vm.alloc(others.len() * 24)?;
            let changed = !others.is_empty();
            list.items.borrow_mut().extend(others);
            Value::Bool(changed)
        }
        ("addAll", [index, others]) if !fixed => {
            let position = vm.to_index(index)?;
            let others = vm.items(others)?;
            let place = usize::try_from(position)
                .ok()
                .filter(|place| *place <= length)
                .ok_or_else(|| no_index(position, length))?;
            vm.alloc(others.len() * 24)?;
            list.items.borrow_mut().splice(place..place, others);
            Value::Bool(true)
        }
        ("remove" | "removeAt", [Value::Int(index)]) if !fixed => {
            remove_at(list, i64::from(*index))?
        }
        ("remove" | "removeElement" | "removeFirstOccurrence", [value]) if !fixed => {
            // An `equals` of the script may change the list meanwhile.
            let items = list.items.borrow().clone();
            let mut position = None;
            for (place, item) in items.iter().enumerate() {
                if vm.equals(item, value)? {
                    position = Some(place);
                    break;
                }
            }
            Value::Bool(position.is_some_and(|place| remove_at(list, place as i64).is_ok()))
        }
        ("removeLast" | "pollLast" | "pop", [])
            if !fixed && (name != "pop" || list.kind == ListKind::List) =>
        {
            let item = list.items.borrow_mut().pop();
            item_or_missing(item, name)?
        }
        ("removeFirst" | "poll" | "pollFirst" | "pop" | "remove" | "take", [])
        | ("poll", [_, _])
            if !fixed =>
        {
            let item = if length == 0 { None } else { Some(remove_at(list, 0)?) };
            item_or_missing(item, name)?
        }
        ("clear" | "removeAllElements", []) if !fixed => {
            let old = std::mem::take(&mut *list.items.borrow_mut());
            crate::value::free(old);
            Value::Null
        }
        ("removeAll" | "retainAll" | "removeIf", [criterion]) if !fixed => {
            let keeps_found = name == "retainAll";
            let mut retained = Vec::new();
            for item in vm.items(object)? {
                let is_found = match criterion {
                    Value::Closure(_) => {
                        let result = vm.call_closure(criterion, std::slice::from_ref(&item))?;
                        vm.truth(&result)?
                    }
                    _ => vm.contains(criterion, &item)?,
                };
                if is_found == keeps_found {
                    retained.push(item);
                }
            }
            let changed = retained.len() != length;
            *list.items.borrow_mut() = retained;
            Value::Bool(changed)
        }
        ("replaceAll", [closure @ Value::Closure(_)]) => {
            let mut items = Vec::new();
            for item in vm.items(object)? {
                items.push(vm.call_closure(closure, &[item])?);
            }
            *list.items.borrow_mut() = items;
            Value::Null
        }
        ("swap", [a, b]) => {
            let a = vm.to_index(a)?;
            let b = vm.to_index(b)?;
            let a = checked_place(a, length)?;
            let b = checked_place(b, length)?;
            list.items.borrow_mut().swap(a, b);
            object.clone()
        }
        _ => return Ok(None),
    }))
}

fn checked_place(index: i64, length: usize) -> Eval<usize> {
    usize::try_from(index)
        .ok()
        .filter(|place| *place < length)
        .ok_or_else(|| no_index(index, length))
}

fn remove_at(list: &List, index: i64) -> Eval<Value> {
    let length = list.items.borrow().len();
    match usize::try_from(index).ok().filter(|place| *place < length) {
        Some(place) => Ok(list.items.borrow_mut().remove(place)),
        None => Err(no_index(index, length)),
    }
}

fn item_or_missing(item: Option<Value>, name: &str) -> Eval<Value> {
    match item {
        Some(item) => Ok(item),
        // In Java, `poll` returns null for an empty queue, and `remove` throws.
        None if name.starts_with("poll") => Ok(Value::Null),
        None => Err(throw("java.util.NoSuchElementException", "the list is empty")),
    }
}

/// Calls a method of a range.
pub(super) fn call_range(
    vm: &mut Vm,
    range: &Rc<Range>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("size", []) => Value::count(range.len()),
        ("isEmpty", []) => Value::Bool(range.empty),
        ("getFrom" | "getFromInt", []) => Value::integer(range.from.min(range.to)),
        ("getTo" | "getToInt", []) => Value::integer(range.from.max(range.to)),
        ("isReverse", []) => Value::Bool(range.from > range.to),
        ("contains" | "containsWithinBounds", [value]) => {
            Value::Bool(vm.contains(&Value::Range(Rc::clone(range)), value)?)
        }
        ("get" | "getAt", [index]) => vm.index(&Value::Range(Rc::clone(range)), index)?,
        ("step", [step]) => {
            let step = vm.to_long(step)?;
            if step <= 0 {
                return Err(crate::error::illegal("step() needs a positive number"));
            }
            let count = range.len().div_ceil(step as usize);
            vm.tick(count)?;
            let items =
                (0..count).map(|index| range.at(index.saturating_mul(step as usize))).collect();
            vm.new_list(items)?
        }
        ("step", [step, closure]) => {
            let items =
                call_range(vm, range, "step", std::slice::from_ref(step))?.unwrap_or_default();
            for item in vm.items(&items)? {
                vm.call_closure(closure, &[item])?;
            }
            Value::Null
        }
        ("toArray", _) => Value::array(vm.range_items(range)?),
        _ => return Ok(None),
    }))
}
