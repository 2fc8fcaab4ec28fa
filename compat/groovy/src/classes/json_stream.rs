//! `StreamingJsonBuilder`, which writes each value at once.

use super::Class;
use super::json::{member, to_json};
use super::markup::is_getter;
use crate::error::Eval;
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;

pub(super) static CLASSES: &[Class] =
    &[Class::with_constructor("groovy.json.StreamingJsonBuilder", make)];

struct Builder {
    writer: Value,
}

fn make(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let builder = Builder { writer: arguments.first().cloned().unwrap_or_default() };
    if let Some(content) = arguments.get(1) {
        builder.write(vm, content)?;
    }
    Ok(Value::native(builder))
}

impl Builder {
    fn write(&self, vm: &mut Vm, value: &Value) -> Eval<()> {
        let text = to_json(vm, value)?;
        vm.call_method(&self.writer, "write", &[Value::from(text)]).map(|_| ())
    }
}

impl Native for Builder {
    fn class_name(&self) -> &'static str {
        "groovy.json.StreamingJsonBuilder"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("getWriter", []) => return Ok(Some(self.writer.clone())),
            (
                "with" | "tap" | "getClass" | "equals" | "hashCode" | "is" | "asBoolean"
                | "toString",
                _,
            ) => {
                return Ok(None);
            }
            ("call", []) => self.write(vm, &Value::map(MapKind::Linked).0)?,
            ("call", rest) => {
                let value = member(vm, rest)?;
                self.write(vm, &value)?;
            }
            (root, rest) if !rest.is_empty() || !is_getter(root) => {
                let value =
                    if rest.is_empty() { Value::map(MapKind::Linked).0 } else { member(vm, rest)? };
                let (object, map) = Value::map(MapKind::Linked);
                map.insert(Value::str(root), value);
                self.write(vm, &object)?;
            }
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, writer: &mut Vec<Value>) {
        writer.push(std::mem::take(&mut self.writer));
    }
}
