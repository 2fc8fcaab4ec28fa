//! What values look like as text.

use super::{NESTING, Vm};
use crate::error::{Eval, Throwable, throw};
use crate::value::{Callable, Value};
use brunt_java::number;
use std::rc::Rc;

/// The text of a number; `None` for other values.
pub(crate) fn number_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Int(number) => number.to_string(),
        Value::Long(number) => number.to_string(),
        Value::Double(number) => number::double(*number),
        Value::Float(number) => number::float(*number),
        Value::BigInt(number) => number.to_string(),
        Value::Decimal(number) => number.text(),
        _ => return None,
    })
}

impl Vm<'_> {
    /// `String.valueOf(value)`
    pub fn text(&mut self, value: &Value) -> Eval<Rc<str>> {
        if let Value::Str(text) = value {
            return Ok(Rc::clone(text));
        }
        let mut text = String::new();
        self.write(value, &mut text, NESTING)?;
        self.alloc(text.len())?;
        Ok(text.into())
    }

    /// `value.toString()`: maps as Java shows them.
    pub fn java_text(&mut self, value: &Value) -> Eval<Rc<str>> {
        let before = std::mem::replace(&mut self.java_maps, true);
        let text = self.text(value);
        self.java_maps = before;
        text
    }

    fn write(&mut self, value: &Value, to: &mut String, depth: u32) -> Eval<()> {
        self.tick(1)?;
        if depth == 0 {
            return Err(throw("java.lang.StackOverflowError", "values nest too deeply to be shown"));
        }
        match value {
            Value::Str(text) => {
                self.alloc(text.len())?;
                to.push_str(text);
            }
            Value::Null => to.push_str("null"),
            Value::Bool(flag) => to.push_str(if *flag { "true" } else { "false" }),
            Value::Char(letter) => to.push(*letter),
            Value::List(_) | Value::Range(_) | Value::Bytes(_) | Value::Set(_) => {
                let items = self.items(value)?;
                to.push('[');
                for (index, item) in items.iter().enumerate() {
                    to.push_str(if index > 0 { ", " } else { "" });
                    self.write(item, to, depth - 1)?;
                }
                to.push(']');
            }
            Value::Map(map) => {
                let pairs = map.pairs();
                // `"${map}"` is `[a:1]` in Groovy; Java's `toString` writes `{a=1}`.
                let (open, colon, close) = if self.java_maps { ("{", "=", "}") } else { ("[", ":", "]") };
                to.push_str(open);
                for (index, (key, item)) in pairs.iter().enumerate() {
                    to.push_str(if index > 0 { ", " } else { "" });
                    self.write(key, to, depth - 1)?;
                    to.push_str(colon);
                    self.write(item, to, depth - 1)?;
                }
                to.push_str(if pairs.is_empty() && !self.java_maps { ":" } else { "" });
                to.push_str(close);
            }
            other => {
                if let Some(text) = number_text(other) {
                    to.push_str(&text);
                } else {
                    let text = self.deeper(|vm| vm.object_text(other))?;
                    to.push_str(&text);
                }
            }
        }
        Ok(())
    }

    fn object_text(&mut self, value: &Value) -> Eval<String> {
        match value {
            Value::Class(class) => Ok(format!("class {}", class.name())),
            Value::Closure(closure) => Ok(match &closure.code {
                Callable::Script(..) => "Script1$_run_closure1@1b2c3d".to_owned(),
                _ => "org.codehaus.groovy.runtime.MethodClosure@1b2c3d".to_owned(),
            }),
            Value::Instance(instance) => match self.call_optional(value, "toString", &[])? {
                Some(Value::Str(text)) => Ok(text.to_string()),
                Some(other) => self.text(&other).map(|text| text.to_string()),
                None if self.is_instance(value, "Throwable") => {
                    let message = self.message_of(value);
                    let name = &instance.class.name;
                    Ok(if message.is_empty() { name.to_string() } else { format!("{name}: {message}") })
                }
                None => {
                    Ok(format!("{}@{:x}", instance.class.name, Rc::as_ptr(instance).cast::<u8>() as usize & 0xfff_ffff))
                }
            },
            Value::Native(object) => match object.text(self)? {
                Some(text) => Ok(text),
                None => {
                    Ok(format!("{}@{:x}", object.class_name(), Rc::as_ptr(object).cast::<u8>() as usize & 0xfff_ffff))
                }
            },
            _ => Ok(String::new()),
        }
    }
}

impl Throwable {
    /// The same exception as another object.
    pub fn copy(&self) -> Self {
        let Self { class, message, cause, line } = self;
        Self { class: Rc::clone(class), message: message.clone(), cause: cause.clone(), line: *line }
    }
}
