//! Classes of `org.json`: `JSONObject`, `JSONArray`.

use super::json::{parse, pretty, to_json};
use super::{Class, text_at};
use crate::error::{Eval, throw};
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("org.json.JSONObject", make),
    Class::with_constructor("org.json.JSONArray", make),
    Class::with_constructor("org.json.JSONTokener", make_text),
    Class::with_constructor("net.minidev.json.JSONObject", make),
    Class::with_constructor("net.minidev.json.JSONArray", make),
    Class::with_constructor("org.json.simple.JSONObject", make),
    Class::with_constructor("org.json.simple.JSONArray", make),
    Class::with_constructor("org.json.simple.parser.JSONParser", make_parser),
    Class::with_constructor("net.minidev.json.parser.JSONParser", make_parser),
];

/// A JSON object or array.
struct Json {
    inner: Value,
}

fn make_text(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    text_at(vm, arguments, 0).map(Value::Str)
}

fn make(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let is_list = class.ends_with("JSONArray");
    let inner = match arguments.first() {
        Some(Value::Str(text)) => parse(vm, &text.clone()).map_err(|_| {
            throw("org.json.JSONException", format!("not JSON: {}", crate::error::clip(text)))
        })?,
        Some(value) if is_list => Value::list(vm.items(value)?),
        Some(Value::Map(map)) => Value::Map(std::rc::Rc::clone(map)),
        _ if is_list => Value::list(Vec::new()),
        _ => Value::map(MapKind::Linked).0,
    };
    if is_list != matches!(inner, Value::List(_)) {
        let message = if is_list {
            "A JSONArray text must start with '['"
        } else {
            "A JSONObject text must begin with '{'"
        };
        return Err(throw("org.json.JSONException", message));
    }
    Ok(Value::native(Json { inner }))
}

/// Wraps maps and lists in the classes of `org.json`.
fn wrap(value: Value) -> Value {
    match value {
        inner @ (Value::Map(_) | Value::List(_)) => Value::native(Json { inner }),
        other => other,
    }
}

/// Removes the wrapper of a value before it is stored.
fn unwrap_json(value: &Value) -> Value {
    value.downcast::<Json>().map_or_else(|| value.clone(), |json| json.inner.clone())
}

impl Json {
    /// Value of a key or an index.
    fn entry(&self, vm: &mut Vm, key: &Value) -> Eval<Option<Value>> {
        match &self.inner {
            Value::Map(map) => {
                let key = vm.text(key)?;
                Ok(map.get(&Value::Str(key)))
            }
            Value::List(list) => {
                let index = vm.to_long(key)?;
                Ok(usize::try_from(index)
                    .ok()
                    .and_then(|index| list.items.borrow().get(index).cloned()))
            }
            _ => Ok(None),
        }
    }

    /// Converts a value to the type in the name of a getter such as `getString`.
    fn convert(vm: &mut Vm, value: Value, kind: &str) -> Eval<Value> {
        Ok(match kind {
            "String" => Value::Str(vm.text(&wrap(value))?),
            "Int" => Value::Int(vm.to_long(&value)? as i32),
            "Long" => Value::Long(vm.to_long(&value)?),
            "Double" => Value::Double(vm.to_double(&value)?),
            "BigDecimal" => Value::decimal(vm.to_decimal(&value)?),
            "Boolean" => match &value {
                Value::Str(text) => Value::Bool(text.eq_ignore_ascii_case("true")),
                other => Value::Bool(vm.truth(other)?),
            },
            _ => wrap(value),
        })
    }

    /// Another reference to the same JSON.
    fn handle(&self) -> Value {
        Value::native(Self { inner: self.inner.clone() })
    }

    /// Methods that only read.
    fn read_method(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let (Some(kind), [key, ..]) =
            (name.strip_prefix("get").or(name.strip_prefix("opt")), arguments)
        {
            if !matches!(
                kind,
                "" | "String"
                    | "Int"
                    | "Long"
                    | "Double"
                    | "BigDecimal"
                    | "Boolean"
                    | "JSONObject"
                    | "JSONArray"
                    | "AsString"
                    | "OrDefault"
            ) {
                return Ok(None);
            }
            let kind = if kind == "AsString" { "String" } else { kind };
            let entry = self.entry(vm, key)?.filter(|value| !value.is_null());
            return match entry {
                Some(value) => Self::convert(vm, value, kind).map(Some),
                None if kind == "OrDefault" || (name.starts_with("opt") && arguments.len() > 1) => {
                    Ok(arguments.get(1).cloned())
                }
                // `optString` has the empty text as its default.
                None if name.starts_with("opt") && kind == "String" => Ok(Some(Value::str(""))),
                None if name.starts_with("opt") => Ok(Some(Value::Null)),
                None => {
                    let key = vm.text(key)?;
                    Err(throw(
                        "org.json.JSONException",
                        format!("JSONObject[\"{key}\"] not found."),
                    ))
                }
            };
        }
        Ok(Some(match (name, arguments) {
            ("has" | "containsKey", [key]) => Value::Bool(self.entry(vm, key)?.is_some()),
            ("isNull", [key]) => {
                Value::Bool(self.entry(vm, key)?.is_none_or(|value| value.is_null()))
            }
            ("length" | "size", []) => vm.call_method(&self.inner, "size", &[])?,
            ("toString" | "toJSONString" | "toStringPretty", rest) => {
                let text = if rest.is_empty() {
                    to_json(vm, &self.inner)?
                } else {
                    pretty(vm, &self.inner)?
                };
                vm.string(text)?
            }
            ("keys", []) => {
                let keys = vm.call_method(&self.inner, "keySet", &[])?;
                vm.call_method(&keys, "iterator", &[])?
            }
            ("names", []) => {
                let keys = vm.call_method(&self.inner, "keySet", &[])?;
                let keys = vm.items(&keys)?;
                Value::native(Self { inner: Value::list(keys) })
            }
            ("toMap" | "toList" | ".json", []) => self.inner.clone(),
            _ => return Ok(None),
        }))
    }
}

impl Native for Json {
    fn class_name(&self) -> &'static str {
        if matches!(self.inner, Value::List(_)) {
            "org.json.JSONArray"
        } else {
            "org.json.JSONObject"
        }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let Some(result) = self.read_method(vm, name, arguments)? {
            return Ok(Some(result));
        }
        Ok(Some(match (name, arguments, &self.inner) {
            ("put" | "accumulate" | "putOpt", [key, value], Value::Map(_)) => {
                let key = Value::Str(vm.text(key)?);
                let value = unwrap_json(value);
                vm.call_method(&self.inner, "put", &[key, value])?;
                self.handle()
            }
            ("put" | "add", [value], Value::List(_)) => {
                vm.call_method(&self.inner, "add", &[unwrap_json(value)])?;
                self.handle()
            }
            ("put", [index, value], Value::List(_)) => {
                vm.set_index(&self.inner, index, unwrap_json(value))?;
                self.handle()
            }
            ("remove", [key], _) => {
                wrap(vm.call_method(&self.inner, "remove", std::slice::from_ref(key))?)
            }
            (
                "keySet" | "values" | "entrySet" | "isEmpty" | "each" | "iterator" | "findAll"
                | "collect" | "find" | "join" | "addAll" | "putAll" | "clear",
                _,
                _,
            ) => vm.call_method(&self.inner, name, arguments)?,
            _ => return Ok(None),
        }))
    }

    fn property(&self, vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        match &self.inner {
            Value::Map(_) if name != "class" => Ok(self.entry(vm, &Value::str(name))?.map(wrap)),
            _ => Ok(None),
        }
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let items = vm.items(&self.inner)?;
        Ok(Some(items.into_iter().map(wrap).collect()))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        to_json(vm, &self.inner).map(Some)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        to.push(std::mem::take(&mut self.inner));
    }
}

/// `JSONParser`
struct Parser;

fn make_parser(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Parser))
}

impl Native for Parser {
    fn class_name(&self) -> &'static str {
        "org.json.simple.parser.JSONParser"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if name != "parse" {
            return Ok(None);
        }
        let text = text_at(vm, arguments, 0)?;
        parse(vm, &text).map(|value| Some(wrap(value)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
