//! Converts values to text.

use super::{NESTING, Vm};
use crate::error::{Eval, Throwable, throw};
use crate::value::{Callable, Value};
use brunt_java::number;
use std::rc::Rc;

/// Text of a number; `None` for other values.
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
    /// Text of a value, as `String.valueOf(value)` returns it.
    pub fn text(&mut self, value: &Value) -> Eval<Rc<str>> {
        if let Value::Str(text) = value {
            return Ok(Rc::clone(text));
        }
        let mut text = String::new();
        self.write(value, &mut text, NESTING)?;
        self.alloc(text.len())?;
        Ok(text.into())
    }

    /// Result of `value.toString()`, which formats maps as Java does.
    pub fn java_text(&mut self, value: &Value) -> Eval<Rc<str>> {
        let before = std::mem::replace(&mut self.java_maps, true);
        let text = self.text(value);
        self.java_maps = before;
        text
    }

    fn write(&mut self, value: &Value, out: &mut String, depth: u32) -> Eval<()> {
        self.tick(1)?;
        if depth == 0 {
            return Err(throw(
                "java.lang.StackOverflowError",
                "values nest too deeply to be shown",
            ));
        }
        match value {
            Value::Str(text) => {
                self.alloc(text.len())?;
                out.push_str(text);
            }
            Value::Null => out.push_str("null"),
            Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Value::Char(letter) => out.push(*letter),
            Value::List(_) | Value::Range(_) | Value::Bytes(_) | Value::Set(_) => {
                let items = self.items(value)?;
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.write(item, out, depth - 1)?;
                }
                out.push(']');
            }
            Value::Map(map) => {
                let pairs = map.pairs();
                // In Groovy, `"${map}"` is `[a:1]`; Java's `toString` writes `{a=1}`.
                let (open, colon, close) =
                    if self.java_maps { ("{", "=", "}") } else { ("[", ":", "]") };
                out.push_str(open);
                for (index, (key, item)) in pairs.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.write(key, out, depth - 1)?;
                    out.push_str(colon);
                    self.write(item, out, depth - 1)?;
                }
                // Groovy writes an empty map as `[:]`.
                out.push_str(if pairs.is_empty() && !self.java_maps { ":" } else { "" });
                out.push_str(close);
            }
            other => {
                if let Some(text) = number_text(other) {
                    out.push_str(&text);
                } else {
                    let text = self.nested(|vm| vm.object_text(other))?;
                    out.push_str(&text);
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
                    Ok(if message.is_empty() {
                        name.to_string()
                    } else {
                        format!("{name}: {message}")
                    })
                }
                None => Ok(format!(
                    "{}@{:x}",
                    instance.class.name,
                    Rc::as_ptr(instance).cast::<u8>() as usize & 0xfff_ffff
                )),
            },
            Value::Native(object) => match object.text(self)? {
                Some(text) => Ok(text),
                None => Ok(format!(
                    "{}@{:x}",
                    object.class_name(),
                    Rc::as_ptr(object).cast::<u8>() as usize & 0xfff_ffff
                )),
            },
            _ => Ok(String::new()),
        }
    }
}

impl Throwable {
    /// Creates an equal exception as a separate object.
    pub fn copy(&self) -> Self {
        let Self { class, message, cause, line } = self;
        Self {
            class: Rc::clone(class),
            message: message.clone(),
            cause: cause.clone(),
            line: *line,
        }
    }
}
