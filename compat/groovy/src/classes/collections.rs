//! Collections of `java.util`: constructors, entries, iterators, `Arrays`, `Collections`.

use super::Class;
use crate::error::{Eval, throw};
use crate::value::{List, ListKind, Map, MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.util.ArrayList", new_list),
    Class::with_constructor("java.util.LinkedList", new_list),
    Class::with_constructor("java.util.Vector", new_list),
    Class::with_constructor("java.util.Stack", new_list),
    Class::with_constructor("java.util.ArrayDeque", new_list),
    Class::with_constructor("java.util.PriorityQueue", new_list),
    Class::with_constructor("java.util.concurrent.CopyOnWriteArrayList", new_list),
    Class::with_constructor("java.util.concurrent.ConcurrentLinkedQueue", new_list),
    Class::with_constructor("java.util.concurrent.ConcurrentLinkedDeque", new_list),
    Class::with_constructor("java.util.concurrent.LinkedBlockingQueue", new_list),
    Class::with_constructor("java.util.concurrent.LinkedBlockingDeque", new_list),
    Class::with_constructor("java.util.concurrent.ArrayBlockingQueue", new_list),
    Class::with_static("java.util.List", list_of),
    Class::name_only("java.util.Collection"),
    Class::name_only("java.util.Queue"),
    Class::name_only("java.util.Deque"),
    Class::name_only("java.util.Iterator"),
    Class::name_only("java.util.ListIterator"),
    Class::name_only("java.util.Enumeration"),
    Class::name_only("java.util.concurrent.BlockingQueue"),
    Class::with_constructor("java.util.HashMap", new_map),
    Class::with_constructor("java.util.LinkedHashMap", new_map),
    Class::with_constructor("java.util.TreeMap", new_map),
    Class::with_constructor("java.util.Hashtable", new_map),
    Class::with_constructor("java.util.Properties", new_map),
    Class::with_constructor("java.util.WeakHashMap", new_map),
    Class::with_constructor("groovy.util.Expando", new_map),
    Class::with_constructor("java.util.concurrent.ConcurrentHashMap", new_map),
    Class::with_static("java.util.Map", map_of),
    Class::name_only("java.util.Map$Entry").and_call(map_of),
    Class::with_constructor("java.util.AbstractMap.SimpleEntry", new_entry),
    Class::with_constructor("java.util.HashSet", new_set),
    Class::with_constructor("java.util.LinkedHashSet", new_set),
    Class::with_constructor("java.util.TreeSet", new_set),
    Class::with_static("java.util.Set", set_of),
    Class::with_static("java.util.Arrays", arrays),
    Class::with_static("java.util.Collections", collections),
];

fn new_list(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let items = match arguments.first() {
        // A number is a capacity, and a closure is a comparator.
        None | Some(Value::Int(_) | Value::Long(_) | Value::Closure(_)) => Vec::new(),
        Some(other) => vm.items(other)?,
    };
    vm.alloc(items.len() * 24 + 48)?;
    let queue = class.contains("Queue") || class.contains("Deque") || class.ends_with("LinkedList");
    Ok(Value::listing(if queue { ListKind::Linked } else { ListKind::List }, items))
}

/// Order and mutability of a map or set by its class.
fn map_kind(class: &str) -> MapKind {
    match class {
        _ if class.ends_with("TreeMap") || class.ends_with("TreeSet") => MapKind::Sorted,
        "java.util.HashMap" | "java.util.HashSet" => MapKind::Hash,
        _ => MapKind::Linked,
    }
}

fn new_map(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    vm.alloc(96)?;
    let (value, map) = Value::map(map_kind(class));
    if let Some(Value::Map(other)) = arguments.first() {
        for (key, value) in other.pairs() {
            vm.put(&map, key, value)?;
        }
    }
    Ok(value)
}

fn new_set(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let items = match arguments.first() {
        None | Some(Value::Int(_) | Value::Closure(_)) => Vec::new(),
        Some(other) => vm.items(other)?,
    };
    vm.alloc(items.len() * 48 + 96)?;
    Ok(Value::set(map_kind(class), items))
}

fn new_entry(_vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let key = arguments.first().cloned().unwrap_or_default();
    let value = arguments.get(1).cloned().unwrap_or_default();
    Ok(Entry::make(key, value, None))
}

fn list_of(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match name {
        "of" => {
            let items = spread(vm, arguments)?;
            Some(Value::listing(ListKind::Immutable, items))
        }
        "copyOf" => {
            let items = vm.items(arguments.first().unwrap_or(&Value::Null))?;
            Some(Value::listing(ListKind::Immutable, items))
        }
        _ => None,
    })
}

/// The arguments, or the elements of a single array argument.
fn spread(vm: &mut Vm, arguments: &[Value]) -> Eval<Vec<Value>> {
    vm.alloc(arguments.len() * 24)?;
    match arguments {
        [array @ Value::List(list)] if list.kind == ListKind::Array => vm.items(array),
        _ => Ok(arguments.to_vec()),
    }
}

fn set_of(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "of" && name != "copyOf" {
        return Ok(None);
    }
    let items = if name == "of" {
        spread(vm, arguments)?
    } else {
        vm.items(arguments.first().unwrap_or(&Value::Null))?
    };
    Ok(Some(Value::set(MapKind::Immutable, items)))
}

fn map_of(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    vm.alloc(64 * arguments.len())?;
    let (value, map) = Value::map(MapKind::Immutable);
    match name {
        "of" => {
            for pair in arguments.chunks(2) {
                map.insert(pair[0].clone(), pair.get(1).cloned().unwrap_or_default());
            }
        }
        "entry" => return new_entry(vm, "", arguments).map(Some),
        "ofEntries" => {
            for entry in arguments {
                let key = vm.property(entry, "key")?;
                let value = vm.property(entry, "value")?;
                map.insert(key, value);
            }
        }
        "comparingByValue" | "comparingByKey" => {
            return Ok(Some(super::util::Comparator::by_property(if name.ends_with("Key") {
                "key"
            } else {
                "value"
            })));
        }
        "copyOf" => return Ok(arguments.first().cloned()),
        _ => return Ok(None),
    }
    Ok(Some(value))
}

fn arrays(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("asList", _) => {
            let items = spread(vm, arguments)?;
            Value::list(items)
        }
        ("toString" | "deepToString", [array]) => {
            let text = vm.java_text(array)?;
            Value::Str(text)
        }
        ("equals" | "deepEquals", [a, b]) => Value::Bool(vm.equals(a, b)?),
        ("sort", [array, rest @ ..]) => {
            vm.call_method(array, "sort", rest)?;
            Value::Null
        }
        ("stream", [array]) => {
            let items = vm.items(array)?;
            Value::list(items)
        }
        ("fill", [Value::Bytes(bytes), value]) => {
            let byte = vm.to_long(value)? as u8;
            bytes.borrow_mut().fill(byte);
            Value::Null
        }
        ("fill", [Value::List(list), value]) => {
            list.items.borrow_mut().fill(value.clone());
            Value::Null
        }
        ("copyOf", [array, length]) => copy_range(vm, array, 0, length)?,
        ("copyOfRange", [array, from, to]) => {
            let from = vm.to_long(from)?;
            copy_range(vm, array, from, to)?
        }
        ("hashCode", [array]) => vm.call_method(array, "hashCode", &[])?,
        _ => return Ok(None),
    }))
}

fn copy_range(vm: &mut Vm, array: &Value, from: i64, to: &Value) -> Eval<Value> {
    let to = vm.to_long(to)?;
    let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) else {
        return Err(throw("java.lang.NegativeArraySizeException", "a negative size"));
    };
    vm.alloc(to.saturating_sub(from).saturating_mul(24))?;
    if let Value::Bytes(bytes) = array {
        let mut part: Vec<u8> = bytes.borrow().get(from..).unwrap_or(&[]).to_vec();
        part.resize(to.saturating_sub(from), 0);
        return Ok(Value::bytes(part));
    }
    let mut items: Vec<Value> = vm.items(array)?.into_iter().skip(from).collect();
    // `Arrays.copyOf` pads a longer copy with nulls.
    items.resize(to.saturating_sub(from), Value::Null);
    Ok(Value::array(items))
}

fn collections(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("shuffle", [list, random @ ..]) => vm.call_method(list, "shuffle", random)?,
        ("sort", [list, rest @ ..]) => {
            vm.call_method(list, "sort", rest)?;
            Value::Null
        }
        ("reverse", [list]) => {
            // Groovy's `reverse(true)` changes the list in place, as `Collections.reverse` does.
            vm.call_method(list, "reverse", &[Value::Bool(true)])?;
            Value::Null
        }
        ("swap", [list, a, b]) => vm.call_method(list, "swap", &[a.clone(), b.clone()])?,
        ("max" | "min", [list, rest @ ..]) => vm.call_method(list, name, rest)?,
        ("addAll", [list, rest @ ..]) => {
            for item in spread(vm, rest)? {
                vm.call_method(list, "add", &[item])?;
            }
            Value::Bool(true)
        }
        ("frequency", [list, value]) => {
            vm.call_method(list, "count", std::slice::from_ref(value))?
        }
        ("emptyList", []) => Value::listing(ListKind::Immutable, Vec::new()),
        ("emptyMap", []) => Value::map(MapKind::Immutable).0,
        ("emptySet", []) => Value::set(MapKind::Immutable, Vec::new()),
        ("singletonList" | "singleton", [value]) => {
            Value::listing(ListKind::Immutable, vec![value.clone()])
        }
        ("singletonMap", [_, _]) => map_of(vm, "of", arguments)?.unwrap_or_default(),
        ("nCopies", [count, value]) => {
            let count = usize::try_from(vm.to_long(count)?).unwrap_or(0);
            vm.alloc(count.saturating_mul(24))?;
            Value::listing(ListKind::Immutable, vec![value.clone(); count])
        }
        ("unmodifiableList" | "unmodifiableMap" | "unmodifiableSet", [value]) => {
            vm.call_method(value, "asImmutable", &[])?
        }
        // A script runs in one thread.
        (_, [value]) if name.starts_with("synchronized") || name == "list" => value.clone(),
        ("reverseOrder", rest) => super::util::Comparator::reversed(rest.first().cloned()),
        ("binarySearch", [list, value]) => {
            vm.call_method(list, "indexOf", std::slice::from_ref(value))?
        }
        _ => return Ok(None),
    }))
}

pub(crate) struct Entry {
    key: Value,
    value: RefCell<Value>,
    map: Option<Rc<Map>>,
}

impl Entry {
    pub fn make(key: Value, value: Value, map: Option<&Rc<Map>>) -> Value {
        Value::native(Self { key, value: RefCell::new(value), map: map.cloned() })
    }
}

impl Native for Entry {
    fn class_name(&self) -> &'static str {
        "java.util.Map$Entry"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getKey", []) => self.key.clone(),
            ("getValue", []) => self.value.borrow().clone(),
            ("setValue", [value]) => {
                if let Some(map) = &self.map {
                    vm.put(map, self.key.clone(), value.clone())?;
                }
                self.value.replace(value.clone())
            }
            _ => return Ok(None),
        }))
    }

    fn property(&self, _vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        Ok(match name {
            "key" => Some(self.key.clone()),
            "value" => Some(self.value.borrow().clone()),
            _ => None,
        })
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let value = self.value.borrow().clone();
        Ok(Some(format!("{}={}", vm.text(&self.key)?, vm.text(&value)?)))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::list(vec![self.key.clone(), self.value.borrow().clone()]))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        to.push(std::mem::take(&mut self.key));
        to.push(self.value.take());
    }
}

pub(crate) struct Cursor {
    items: RefCell<Vec<Value>>,
    position: Cell<usize>,
    /// The list from which `remove` deletes.
    source: Option<Rc<List>>,
    removed: Cell<usize>,
}

impl Cursor {
    pub fn make(items: Vec<Value>, source: Option<Rc<List>>) -> Value {
        Value::native(Self {
            items: RefCell::new(items),
            position: Cell::new(0),
            source,
            removed: Cell::new(0),
        })
    }
}

impl Native for Cursor {
    fn class_name(&self) -> &'static str {
        "java.util.Iterator"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        let position = self.position.get();
        Ok(Some(match name {
            "hasNext" | "hasMoreElements" | "hasMoreTokens" => {
                Value::Bool(position < self.items.borrow().len())
            }
            "next" | "nextElement" | "nextToken" => {
                self.position.set(position + 1);
                let item = self.items.borrow().get(position).cloned();
                item.ok_or_else(|| throw("java.util.NoSuchElementException", "no more elements"))?
            }
            "countTokens" => Value::count(self.items.borrow().len().saturating_sub(position)),
            "remove" => {
                // Earlier removals moved the rest of the list to the left.
                if let (Some(list), Some(place)) =
                    (&self.source, position.checked_sub(1 + self.removed.get()))
                    && place < list.items.borrow().len()
                {
                    list.items.borrow_mut().remove(place);
                    self.removed.set(self.removed.get() + 1);
                }
                Value::Null
            }
            "asBoolean" => Value::Bool(position < self.items.borrow().len()),
            _ => return Ok(None),
        }))
    }

    fn elements(&self, _vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let rest = self.items.borrow().get(self.position.get()..).unwrap_or(&[]).to_vec();
        // A loop consumes an iterator: a second loop finds no elements.
        self.position.set(self.items.borrow().len());
        Ok(Some(rest))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        to.append(self.items.get_mut());
    }
}
