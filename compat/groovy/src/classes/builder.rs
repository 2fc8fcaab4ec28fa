//! `StringBuilder`, `StringBuffer`, `StringWriter`, `StringJoiner`.

use super::Class;
use crate::error::{Eval, no_text_index};
use crate::methods::string::{byte_index, length, unit_index};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("java.lang.StringBuilder", make),
    Class::with_constructor("java.lang.StringBuffer", make),
    Class::with_constructor("java.io.StringWriter", make),
    Class::with_constructor("java.util.StringJoiner", make_joiner),
];

/// A `StringBuilder`, `StringBuffer` or `StringWriter`.
struct Builder {
    class: &'static str,
    text: RefCell<String>,
}

/// Creates a builder with the text of the first argument. A number is a capacity and is ignored.
pub(crate) fn make(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let text = match arguments.first() {
        None | Some(Value::Int(_) | Value::Null) => String::new(),
        Some(value) => vm.text(value)?.to_string(),
    };
    vm.alloc(text.len() + 48)?;
    let class = super::by_full_name(class).map_or("java.lang.StringBuilder", |class| class.name);
    Ok(Value::native(Builder { class, text: RefCell::new(text) }))
}

impl Builder {
    fn push(&self, vm: &mut Vm, value: &Value) -> Eval<()> {
        let text = match value {
            Value::List(list)
                if list.items.borrow().iter().all(|item| matches!(item, Value::Char(_)))
                    && !list.items.borrow().is_empty() =>
            {
                // `append(char[])` appends the characters, without brackets.
                let letters = list
                    .items
                    .borrow()
                    .iter()
                    .filter_map(
                        |item| if let Value::Char(letter) = item { Some(*letter) } else { None },
                    )
                    .collect::<String>();
                letters.into()
            }
            other => vm.text(other)?,
        };
        vm.alloc(text.len())?;
        self.text.borrow_mut().push_str(&text);
        Ok(())
    }

    /// Converts a range of UTF-16 units to a range of bytes.
    fn range(&self, begin: i64, end: i64) -> Eval<(usize, usize)> {
        let text = self.text.borrow();
        let length = length(&text) as i64;
        let end = end.min(length);
        if begin < 0 || begin > end {
            return Err(no_text_index(begin, end, length as usize));
        }
        Ok((byte_index(&text, begin), byte_index(&text, end)))
    }

    fn change(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let size = self.text.borrow().len();
        // Each of these methods moves or copies the text.
        vm.tick(size / 64)?;
        Ok(Some(match (name, arguments) {
            ("insert", [position, value]) => {
                let position = vm.to_index(position)?;
                let (begin, _) = self.range(position, position)?;
                let text = vm.text(value)?;
                vm.alloc(text.len())?;
                self.text.borrow_mut().insert_str(begin, &text);
                Value::Null
            }
            ("delete", [begin, end]) => {
                let begin = vm.to_index(begin)?;
                let end = vm.to_index(end)?;
                let (begin, end) = self.range(begin, end)?;
                self.text.borrow_mut().replace_range(begin..end, "");
                Value::Null
            }
            ("deleteCharAt", [position]) => {
                let position = vm.to_index(position)?;
                let (begin, end) = self.range(position, position.saturating_add(1))?;
                if begin == end {
                    return Err(no_text_index(position, position, size));
                }
                self.text.borrow_mut().replace_range(begin..end, "");
                Value::Null
            }
            ("replace", [begin, end, value]) => {
                let begin = vm.to_index(begin)?;
                let end = vm.to_index(end)?;
                let (begin, end) = self.range(begin, end)?;
                let text = vm.text(value)?;
                vm.alloc(text.len())?;
                self.text.borrow_mut().replace_range(begin..end, &text);
                Value::Null
            }
            ("setLength", [length]) => {
                let length = vm.to_index(length)?;
                // Scripts clear a builder with `setLength(0)`; Java's padding of a longer text is
                // left out.
                let end = byte_index(&self.text.borrow(), length);
                self.text.borrow_mut().truncate(end);
                Value::Null
            }
            ("setCharAt" | "putAt", [position, value]) => {
                let position = vm.to_index(position)?;
                let (begin, end) = self.range(position, position.saturating_add(1))?;
                let text = vm.text(value)?;
                self.text.borrow_mut().replace_range(begin..end, &text);
                Value::Null
            }
            ("reverse", []) => {
                // Java keeps surrogate pairs in order, so whole characters are reversed, not UTF-16
                // units.
                let reversed: String = self.text.borrow().chars().rev().collect();
                self.text.replace(reversed);
                Value::Null
            }
            _ => return Ok(None),
        }))
    }
}

impl Native for Builder {
    fn class_name(&self) -> &str {
        self.class
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("append" | "leftShift" | "write" | "print" | "plus" | "println", values) => {
                if let Some(value) = values.first() {
                    if let ("append", [_, begin, end]) = (name, values) {
                        let text = vm.text(value)?;
                        let part = vm.call_method(
                            &Value::Str(text),
                            "substring",
                            &[begin.clone(), end.clone()],
                        )?;
                        self.push(vm, &part)?;
                    } else {
                        self.push(vm, value)?;
                    }
                }
                if name == "println" {
                    self.text.borrow_mut().push('\n');
                }
                // `append` returns the builder, which the caller substitutes (see `chains`).
                return Ok(Some(Value::Null));
            }
            ("length" | "size", []) => return Ok(Some(Value::count(length(&self.text.borrow())))),
            ("toString" | "getBuffer", []) => {
                let text = self.text.borrow().clone();
                return vm.string(text).map(Some);
            }
            ("asBoolean", []) => return Ok(Some(Value::Bool(!self.text.borrow().is_empty()))),
            ("capacity", []) => return Ok(Some(Value::count(self.text.borrow().capacity()))),
            // Java documents `StringWriter.close` as without effect.
            ("flush" | "close" | "ensureCapacity" | "trimToSize", _) => {
                return Ok(Some(Value::Null));
            }
            _ => {}
        }
        if let Some(result) = self.change(vm, name, arguments)? {
            return Ok(Some(result));
        }
        // These are methods of the builder and not of its text.
        if matches!(name, "getClass" | "equals" | "hashCode" | "is" | "with" | "tap") {
            return Ok(None);
        }
        let text = self.text.borrow().clone();
        if name == "indexOf" && arguments.len() == 1 {
            let pattern = vm.text(&arguments[0])?;
            return Ok(Some(Value::Int(
                text.find(&*pattern).map_or(-1, |position| unit_index(&text, position) as i32),
            )));
        }
        // Groovy's methods of `CharSequence` apply to builders too.
        let text = vm.string(text)?;
        crate::methods::call(vm, &text, name, arguments)
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.text.borrow().clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// True if a method of a builder returns the builder.
pub(crate) fn chains(object: &Value, name: &str) -> bool {
    const CHAINS: [&str; 9] = [
        "append",
        "leftShift",
        "insert",
        "delete",
        "deleteCharAt",
        "replace",
        "reverse",
        "plus",
        "add",
    ];
    CHAINS.contains(&name)
        && (object.downcast::<Builder>().is_some() || object.downcast::<Joiner>().is_some())
}

/// `StringJoiner`
struct Joiner {
    separator: String,
    prefix: String,
    suffix: String,
    parts: RefCell<Vec<String>>,
}

fn make_joiner(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let mut texts = Vec::new();
    for argument in arguments {
        texts.push(vm.text(argument)?.to_string());
    }
    let mut texts = texts.into_iter();
    let separator = texts.next().unwrap_or_default();
    let prefix = texts.next().unwrap_or_default();
    let suffix = texts.next().unwrap_or_default();
    Ok(Value::native(Joiner { separator, prefix, suffix, parts: RefCell::default() }))
}

impl Native for Joiner {
    fn class_name(&self) -> &'static str {
        "java.util.StringJoiner"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("add", [part]) => {
                let part = vm.text(part)?;
                vm.alloc(part.len() + 24)?;
                self.parts.borrow_mut().push(part.to_string());
                Value::Null
            }
            ("length", []) => Value::count(self.text(vm)?.map_or(0, |text| length(&text))),
            _ => return Ok(None),
        }))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let joined = self.parts.borrow().join(&self.separator);
        vm.alloc(joined.len())?;
        Ok(Some(format!("{}{joined}{}", self.prefix, self.suffix)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
