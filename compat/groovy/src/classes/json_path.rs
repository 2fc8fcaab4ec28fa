//! Jayway's `JsonPath`, as far as scripts read values with it. The host evaluates the paths.

use super::{Class, json, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

pub(crate) const CLASSES: &[Class] = &[
    Class::with_static("com.jayway.jsonpath.JsonPath", call),
    Class::name_only("com.jayway.jsonpath.DocumentContext"),
    Class::name_only("com.jayway.jsonpath.ReadContext"),
    Class::name_only("com.jayway.jsonpath.PathNotFoundException"),
];

/// `JsonPath.parse(text)`
struct Context {
    json: String,
}

fn call(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("read", [source, path, ..]) => {
            let json = source_text(vm, source)?;
            let path = vm.text(path)?;
            read(vm, &json, &path)?
        }
        ("parse", [source, ..]) => Value::native(Context { json: source_text(vm, source)? }),
        _ => return Ok(None),
    }))
}

/// JSON as text. Parsed JSON is formatted again.
fn source_text(vm: &mut Vm, source: &Value) -> Eval<String> {
    match source {
        Value::Map(_) | Value::List(_) => json::to_json(vm, source),
        other => Ok(vm.text(other)?.to_string()),
    }
}

fn read(vm: &mut Vm, json: &str, path: &str) -> Eval<Value> {
    vm.tick(json.len() / 16)?;
    match vm.host.json_path(json, path) {
        Ok(Some(result)) => json::parse(vm, &result),
        Ok(None) => Err(throw(
            "com.jayway.jsonpath.PathNotFoundException",
            format!("No results for path: {path}"),
        )),
        Err(reason) => Err(throw("com.jayway.jsonpath.InvalidPathException", reason)),
    }
}

impl Native for Context {
    fn class_name(&self) -> &'static str {
        "com.jayway.jsonpath.internal.JsonContext"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("read", [_, ..]) => {
                let path = text_at(vm, arguments, 0)?;
                read(vm, &self.json, &path)?
            }
            ("jsonString", []) => Value::str(&self.json),
            ("json", []) => json::parse(vm, &self.json)?,
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.json.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
