//! Equality and order of values.

use super::arithmetic::is_number;
use super::{NESTING, Vm, compare_plain};
use crate::error::{Eval, throw};
use crate::value::Value;
use std::cmp::Ordering;
use std::rc::Rc;

/// Evaluates `===`: true for the same object.
pub(super) fn identical(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) | (Value::Set(a), Value::Set(b)) => Rc::ptr_eq(a, b),
        (Value::Native(a), Value::Native(b)) => Rc::ptr_eq(a, b),
        (Value::Instance(a), Value::Instance(b)) => Rc::ptr_eq(a, b),
        (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
        (Value::Bytes(a), Value::Bytes(b)) => Rc::ptr_eq(a, b),
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        // Java shares equal literals, so most equal texts of a script are identical there too.
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Class(a), Value::Class(b)) => a.name() == b.name(),
        _ => compare_plain(left, right) == Some(Ordering::Equal),
    }
}

impl Vm<'_> {
    /// Evaluates the operator `==` of Groovy.
    pub fn equals(&mut self, left: &Value, right: &Value) -> Eval<bool> {
        self.equals_at(left, right, NESTING)
    }

    fn equals_at(&mut self, left: &Value, right: &Value, depth: u32) -> Eval<bool> {
        if depth == 0 {
            return Err(throw(
                "java.lang.StackOverflowError",
                "values nest too deeply to be compared",
            ));
        }
        self.tick(1)?;
        match (left, right) {
            (Value::Null, _) | (_, Value::Null) => Ok(left.is_null() && right.is_null()),
            (Value::Str(a), Value::Str(b)) => Ok(a == b),
            (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
            (Value::Char(a), Value::Str(b)) | (Value::Str(b), Value::Char(a)) => {
                Ok(b.chars().eq([*a]))
            }
            (Value::Map(a), Value::Map(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (key, value) in a.pairs() {
                    let Some(other) = b.get(&key) else { return Ok(false) };
                    if !self.equals_at(&value, &other, depth - 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Set(a), Value::Set(b)) => {
                self.tick(a.len())?;
                Ok(a.len() == b.len() && a.keys().iter().all(|key| b.contains(key)))
            }
            (
                Value::List(_) | Value::Range(_) | Value::Bytes(_),
                Value::List(_) | Value::Range(_) | Value::Bytes(_),
            ) => {
                if identical(left, right) {
                    return Ok(true);
                }
                let a = self.items(left)?;
                let b = self.items(right)?;
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(&b) {
                    if !self.equals_at(a, b, depth - 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Instance(_), _) => {
                match self.call_optional(left, "equals", std::slice::from_ref(right))? {
                    Some(result) => Ok(matches!(result, Value::Bool(true))),
                    None => Ok(identical(left, right)),
                }
            }
            (Value::Native(a), Value::Native(b)) => {
                if Rc::ptr_eq(a, b) {
                    return Ok(true);
                }
                match (a.identity(), b.identity()) {
                    (Some(x), Some(y)) if a.class_name() == b.class_name() => {
                        self.equals_at(&x, &y, depth - 1)
                    }
                    _ => Ok(false),
                }
            }
            // In Groovy, an XML node equals its text.
            (Value::Native(object), Value::Str(text))
            | (Value::Str(text), Value::Native(object))
                if object.class_name().starts_with("groovy.util.slurpersupport") =>
            {
                Ok(object.text(self)?.as_deref() == Some(text))
            }
            _ if is_number(left) && is_number(right) => {
                Ok(compare_plain(left, right) == Some(Ordering::Equal))
            }
            _ => Ok(identical(left, right)),
        }
    }

    /// Evaluates the operator `<=>` of Groovy.
    pub fn compare(&mut self, left: &Value, right: &Value) -> Eval<Ordering> {
        if let Some(order) = compare_plain(left, right) {
            return Ok(order);
        }
        match (left, right) {
            (Value::Instance(_), _) => {
                let order = self.call_method(left, "compareTo", std::slice::from_ref(right))?;
                return Ok(self.to_long(&order)?.cmp(&0));
            }
            (Value::Native(a), Value::Native(b)) => {
                if let (Some(a), Some(b)) = (a.identity(), b.identity()) {
                    return self.nested(|vm| vm.compare(&a, &b));
                }
            }
            _ => {}
        }
        if self.equals(left, right)? {
            return Ok(Ordering::Equal);
        }
        let a = self.class_name(left);
        let b = self.class_name(right);
        let message = format!(
            "Cannot compare {a} with value '{}' and {b}",
            crate::error::clip(&self.text(left)?)
        );
        Err(throw("java.lang.IllegalArgumentException", message))
    }

    /// Sorts stably. Merge sort, because a script's comparator may be inconsistent, which makes
    /// the standard sort panic.
    pub fn sort(
        &mut self,
        items: Vec<Value>,
        order: &mut dyn FnMut(&mut Self, &Value, &Value) -> Eval<Ordering>,
    ) -> Eval<Vec<Value>> {
        if items.len() < 2 {
            return Ok(items);
        }
        let mut second_half = items;
        let first_half = second_half.drain(..second_half.len() / 2).collect::<Vec<_>>();
        let first_half = self.sort(first_half, order)?;
        let second_half = self.sort(second_half, order)?;
        let mut merged = Vec::with_capacity(first_half.len() + second_half.len());
        let mut first_half = first_half.into_iter().peekable();
        let mut second_half = second_half.into_iter().peekable();
        while let (Some(a), Some(b)) = (first_half.peek(), second_half.peek()) {
            self.tick(1)?;
            let next = if order(self, a, b)? == Ordering::Greater {
                second_half.next()
            } else {
                first_half.next()
            };
            merged.extend(next);
        }
        merged.extend(first_half);
        merged.extend(second_half);
        Ok(merged)
    }
}
