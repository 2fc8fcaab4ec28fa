//! Iterates over values, for `for` loops and methods of collections.

use super::Vm;
use crate::classes::collections::Entry;
use crate::error::{Eval, throw};
use crate::value::{List, Range, Value};
use std::rc::Rc;

/// Iterator over elements. A list may change during the iteration.
pub(crate) enum Walk {
    Items(std::vec::IntoIter<Value>),
    Range(Rc<Range>, usize),
    List(Rc<List>, usize),
}

impl Walk {
    pub fn next(&mut self) -> Option<Value> {
        match self {
            Self::Items(items) => items.next(),
            Self::Range(range, position) => {
                *position += 1;
                (*position <= range.len()).then(|| range.at(*position - 1))
            }
            Self::List(list, position) => {
                *position += 1;
                list.items.borrow().get(*position - 1).cloned()
            }
        }
    }
}

impl Vm<'_> {
    /// Returns an iterator over the elements of any value.
    pub fn walk(&mut self, value: &Value) -> Eval<Walk> {
        Ok(match value {
            Value::Range(range) => Walk::Range(Rc::clone(range), 0),
            Value::List(list) => Walk::List(Rc::clone(list), 0),
            other => Walk::Items(self.items(other)?.into_iter()),
        })
    }

    /// Elements of any value: entries of a map, letters of a text, nothing for `null`,
    /// else the value itself.
    pub fn items(&mut self, value: &Value) -> Eval<Vec<Value>> {
        match self.elements(value)? {
            Some(items) => Ok(items),
            None => Ok(vec![value.clone()]),
        }
    }

    /// Elements of a collection; `None` for other values.
    pub fn elements(&mut self, value: &Value) -> Eval<Option<Vec<Value>>> {
        let items = match value {
            Value::Null => Vec::new(),
            Value::List(list) => {
                self.tick(list.items.borrow().len())?;
                list.items.borrow().clone()
            }
            Value::Range(range) => self.range_items(range)?,
            Value::Set(set) => {
                self.tick(set.len())?;
                set.keys()
            }
            Value::Map(map) => {
                self.tick(map.len())?;
                self.alloc(map.len() * 64)?;
                map.pairs()
                    .into_iter()
                    .map(|(key, value)| Entry::make(key, value, Some(map)))
                    .collect()
            }
            Value::Bytes(bytes) => {
                self.tick(bytes.borrow().len())?;
                self.alloc(bytes.borrow().len() * 24)?;
                // Java's bytes are signed.
                bytes.borrow().iter().map(|byte| Value::Int(i32::from(*byte as i8))).collect()
            }
            Value::Str(text) => {
                self.tick(text.len())?;
                self.alloc(text.len() * 40)?;
                text.chars().map(|letter| Value::str(letter.encode_utf8(&mut [0; 4]))).collect()
            }
            Value::Native(object) => return object.elements(self),
            Value::Instance(_) => match self.call_optional(value, "iterator", &[])? {
                Some(items) => return self.elements(&items),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(items))
    }

    /// True if a collection contains a value.
    pub fn contains(&mut self, collection: &Value, value: &Value) -> Eval<bool> {
        match collection {
            Value::Range(range) => Ok(match super::long_of(value) {
                Some(number) => range.contains(number),
                None => false,
            }),
            Value::Set(set) => Ok(set.contains(value)),
            other => {
                for item in self.items(other)? {
                    if self.equals(&item, value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Position in a sequence; negative indices count from the end. `None` if beyond the end.
    pub fn place(&mut self, index: i64, length: usize) -> Eval<Option<usize>> {
        let length = length as i64;
        let position = if index < 0 { index + length } else { index };
        if position < 0 {
            let message =
                format!("Negative array index [{index}] too large for array size {length}");
            return Err(throw("java.lang.ArrayIndexOutOfBoundsException", message));
        }
        Ok((position < length).then_some(position as usize))
    }
}
