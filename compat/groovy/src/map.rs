//! Maps and sets with Java's equality.

use crate::value::{ListKind, Value, free, is_nested};
use indexmap::IndexMap;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Order and mutability of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MapKind {
    /// Insertion order. `HashMap` also has it, since scripts cannot rely on its order.
    Linked,
    Hash,
    Sorted,
    Immutable,
    /// Kind of parsed JSON objects.
    Lazy,
}

/// A map, or a set of its keys.
pub(crate) struct Map {
    entries: RefCell<IndexMap<Key, Value>>,
    pub kind: MapKind,
    /// The closure of `withDefault`.
    pub default: RefCell<Value>,
}

#[derive(Clone)]
pub(crate) struct Key(pub Value);

/// Maximum depth to which keys are compared and hashed.
// A list may contain itself, and the recursion would not end.
const DEPTH: usize = 32;

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        equals(&self.0, &other.0, DEPTH)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash(&self.0, state, DEPTH);
    }
}

/// Java's `equals`: numbers of different classes differ.
fn equals(left: &Value, right: &Value, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Long(a), Value::Long(b)) => a == b,
        // As in Java, NaN equals itself, and 0.0 differs from -0.0.
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Char(a), Value::Char(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::BigInt(a), Value::BigInt(b)) => a == b,
        // As in Java, the scale counts: 1.0 differs from 1.00.
        (Value::Decimal(a), Value::Decimal(b)) => a.unscaled == b.unscaled && a.scale == b.scale,
        (Value::List(a), Value::List(b)) if a.kind != ListKind::Array => {
            Rc::ptr_eq(a, b) || {
                let a = a.items.borrow();
                let b = b.items.borrow();
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equals(a, b, depth - 1))
            }
        }
        (Value::Map(a), Value::Map(b)) | (Value::Set(a), Value::Set(b)) => {
            Rc::ptr_eq(a, b) || a.equals(b, depth - 1)
        }
        (Value::Class(a), Value::Class(b)) => a.name() == b.name(),
        (Value::Native(a), Value::Native(b)) => {
            Rc::ptr_eq(a, b)
                || match (a.identity(), b.identity()) {
                    (Some(x), Some(y)) => {
                        a.class_name() == b.class_name() && equals(&x, &y, depth - 1)
                    }
                    _ => false,
                }
        }
        (Value::Instance(a), Value::Instance(b)) => Rc::ptr_eq(a, b),
        (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

fn hash<H: Hasher>(value: &Value, state: &mut H, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Bool(flag) => flag.hash(state),
        Value::Int(number) => number.hash(state),
        Value::Long(number) => number.hash(state),
        Value::Double(number) => number.to_bits().hash(state),
        Value::Float(number) => number.to_bits().hash(state),
        Value::Char(letter) => letter.hash(state),
        Value::Str(text) => text.hash(state),
        Value::BigInt(number) => number.hash(state),
        Value::Decimal(number) => number.unscaled.hash(state),
        Value::List(list) if list.kind != ListKind::Array => {
            // A part of the list is enough: equal lists have equal hashes.
            for item in list.items.borrow().iter().take(DEPTH) {
                hash(item, state, depth - 1);
            }
        }
        Value::Native(object) => {
            if let Some(value) = object.identity() {
                hash(&value, state, depth - 1);
            }
        }
        // All other values share one hash, so their equality alone decides.
        _ => {}
    }
}

/// Order of `TreeMap`: numbers by value, text by UTF-16 units. Values without an
/// order compare as equal.
pub(crate) fn natural_order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Str(a), Value::Str(b)) => a.encode_utf16().cmp(b.encode_utf16()),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Native(a), Value::Native(b)) => match (a.identity(), b.identity()) {
            (Some(a), Some(b)) => natural_order(&a, &b),
            _ => Ordering::Equal,
        },
        _ => crate::vm::compare_plain(left, right).unwrap_or(Ordering::Equal),
    }
}

impl Map {
    pub fn new(kind: MapKind) -> Self {
        Self { entries: RefCell::default(), kind, default: RefCell::default() }
    }

    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    pub fn get(&self, key: &Value) -> Option<Value> {
        self.entries.borrow().get(&Key(key.clone())).cloned()
    }

    pub fn get_text(&self, key: &str) -> Option<Value> {
        self.get(&Value::str(key))
    }

    pub fn contains(&self, key: &Value) -> bool {
        self.entries.borrow().contains_key(&Key(key.clone()))
    }

    /// Inserts a value and returns the key's previous value.
    pub fn insert(&self, key: Value, value: Value) -> Option<Value> {
        let key = Key(key);
        let mut entries = self.entries.borrow_mut();
        if self.kind == MapKind::Sorted && !entries.contains_key(&key) {
            let place = entries.as_slice().partition_point(|existing, _| {
                natural_order(&existing.0, &key.0) == Ordering::Less
            });
            entries.shift_insert(place, key, value);
            return None;
        }
        entries.insert(key, value)
    }

    pub fn remove(&self, key: &Value) -> Option<Value> {
        // Keeps the order of the other entries.
        self.entries.borrow_mut().shift_remove(&Key(key.clone()))
    }

    pub fn clear(&self) {
        // Dropped only after the borrow ends, because a drop may access the map.
        let old = std::mem::take(&mut *self.entries.borrow_mut());
        drop(old);
    }

    pub fn keys(&self) -> Vec<Value> {
        self.entries.borrow().keys().map(|key| key.0.clone()).collect()
    }

    pub fn values(&self) -> Vec<Value> {
        self.entries.borrow().values().cloned().collect()
    }

    pub fn pairs(&self) -> Vec<(Value, Value)> {
        self.entries.borrow().iter().map(|(key, value)| (key.0.clone(), value.clone())).collect()
    }

    /// Copies the entries and the default into a new map.
    pub fn copy(&self, kind: MapKind) -> Self {
        let map = Self::new(kind);
        for (key, value) in self.pairs() {
            map.insert(key, value);
        }
        map.default.replace(self.default.borrow().clone());
        map
    }

    fn equals(&self, other: &Self, depth: usize) -> bool {
        let a = self.entries.borrow();
        let b = other.entries.borrow();
        a.len() == b.len()
            && a.iter()
                .all(|(key, value)| b.get(key).is_some_and(|other| equals(value, other, depth)))
    }

    pub fn release(&mut self, to: &mut Vec<Value>) {
        to.push(self.default.take());
        for (key, value) in std::mem::take(self.entries.get_mut()) {
            to.push(key.0);
            to.push(value);
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        let has_nested = entries.iter().any(|(key, value)| is_nested(&key.0) || is_nested(value));
        if has_nested || is_nested(self.default.get_mut()) {
            // Values are released in a loop, because recursive drops of deep nesting
            // would overflow the stack.
            let mut values = Vec::new();
            self.release(&mut values);
            free(values);
        }
    }
}
