//! The objects `vars` and `props`.

use crate::classes::collections::Entry;
use crate::classes::{kinds, text_at};
use crate::error::{Eval, throw};
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::rc::Rc;

/// `vars`
pub(super) struct Vars;

/// `props`
pub(super) struct Props;

/// Text of a variable; null if absent.
fn variable(vm: &mut Vm, name: &str) -> Eval<Value> {
    if let Some(text) = vm.host.variable(name) {
        let text: Rc<str> = text.as_ref().into();
        vm.alloc(text.len())?;
        return Ok(Value::Str(text));
    }
    Ok(Value::Null)
}

/// Text or object of a variable. `set_object` removes the text, so a text is newer than the object:
/// an extractor has set it.
fn object(vm: &mut Vm, name: &str) -> Eval<Value> {
    match variable(vm, name)? {
        Value::Null => Ok(vm.host.object(name).unwrap_or_default()),
        text => Ok(text),
    }
}

fn set_object(vm: &mut Vm, name: &str, value: &Value) -> Eval<()> {
    match value {
        Value::Null => {
            vm.host.remove_variable(name);
            vm.host.set_object(name, None);
        }
        Value::Str(text) => {
            vm.host.set_object(name, None);
            vm.host.set_variable(name, text);
        }
        other => {
            vm.has_escaped |= keeps_code(other);
            vm.host.remove_variable(name);
            vm.host.set_object(name, Some(other.clone()));
        }
    }
    Ok(())
}

/// True if a value may hold closures or objects of the script, which need
/// the script's variables later.
fn keeps_code(value: &Value) -> bool {
    match value {
        Value::Closure(_) | Value::Instance(_) => true,
        Value::List(list) => list
            .items
            .borrow()
            .iter()
            .any(|item| matches!(item, Value::Closure(_) | Value::Instance(_))),
        Value::Map(map) => {
            map.values().iter().any(|item| matches!(item, Value::Closure(_) | Value::Instance(_)))
        }
        _ => false,
    }
}

/// All variables as a map.
fn all(vm: &mut Vm) -> Eval<Rc<crate::value::Map>> {
    let (_, map) = Value::map(MapKind::Linked);
    for (name, value) in vm.host.variables() {
        vm.alloc(name.len() + value.len() + 64)?;
        map.insert(Value::from(name), Value::from(value));
    }
    Ok(map)
}

impl Native for Vars {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.threads.JMeterVariables"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("get", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                variable(vm, &name)?
            }
            ("getObject" | "getAt", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                object(vm, &name)?
            }
            ("put", [name, value]) => {
                let name = vm.text(name)?;
                let text = match value {
                    Value::Str(_) | Value::Null => value.clone(),
                    other if kinds::is_a(other, "StringBuilder") => Value::Str(vm.text(other)?),
                    // Like JMeter, `put` accepts only text; the error tells the author.
                    _ => return Ok(None),
                };
                set_object(vm, &name, &text)?;
                Value::Null
            }
            ("putObject" | "putAt", [name, value]) => {
                let name = vm.text(name)?;
                set_object(vm, &name, value)?;
                Value::Null
            }
            ("putAll", [other]) => {
                for entry in vm.items(other)? {
                    let key = vm.property(&entry, "key")?;
                    let value = vm.property(&entry, "value")?;
                    let key = vm.text(&key)?;
                    set_object(vm, &key, &value)?;
                }
                Value::Null
            }
            ("remove", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                let old = object(vm, &name)?;
                vm.host.remove_variable(&name);
                vm.host.set_object(&name, None);
                old
            }
            ("containsKey", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                Value::Bool(!object(vm, &name)?.is_null())
            }
            ("entrySet" | "getEntrySet", []) => Value::list(self.elements(vm)?.unwrap_or_default()),
            ("iterator" | "getIterator", []) => crate::classes::collections::Cursor::make(
                self.elements(vm)?.unwrap_or_default(),
                None,
            ),
            (
                "keySet" | "values" | "size" | "isEmpty" | "each" | "findAll" | "collect" | "any"
                | "find" | "every",
                _,
            ) => {
                let map = Value::Map(all(vm)?);
                vm.call_method(&map, name, arguments)?
            }
            ("getIteration", []) => {
                Value::Int(i32::try_from(vm.host.iteration()).unwrap_or(i32::MAX))
            }
            ("getThreadName", []) => Value::str(vm.host.thread_name()),
            ("incIteration", []) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn property(&self, vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        if matches!(name, "iteration" | "class" | "threadName" | "entrySet" | "iterator") {
            return Ok(None);
        }
        object(vm, name).map(Some)
    }

    fn set_property(&self, vm: &mut Vm, name: &str, value: &Value) -> Eval<bool> {
        set_object(vm, name, value)?;
        Ok(true)
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let map = all(vm)?;
        Ok(Some(
            map.pairs().into_iter().map(|(key, value)| Entry::make(key, value, None)).collect(),
        ))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Name under which an object in `props` is stored for the virtual user, in addition to its
/// text for all users.
fn shared_name(name: &str) -> String {
    format!("props:{name}")
}

fn prop(vm: &mut Vm, name: &str) -> Eval<Value> {
    if let Some(value) = vm.host.object(&shared_name(name)) {
        return Ok(value);
    }
    let text = vm.host.property(name).map(|text| Rc::<str>::from(&*text));
    match text {
        Some(text) => {
            vm.alloc(text.len())?;
            Ok(Value::Str(text))
        }
        None => Ok(Value::Null),
    }
}

pub(super) fn set_prop(vm: &mut Vm, name: &str, value: &Value) -> Eval<Value> {
    let old = prop(vm, name)?;
    match value {
        // Java's `Properties` rejects null.
        Value::Null => {
            return Err(throw(
                "java.lang.NullPointerException",
                format!("props.put(\"{name}\", null)"),
            ));
        }
        Value::Str(text) => {
            vm.host.set_object(&shared_name(name), None);
            vm.host.set_property(name, Some(text));
        }
        other => {
            let text = vm.text(other)?;
            vm.has_escaped |= keeps_code(other);
            vm.host.set_object(&shared_name(name), Some(other.clone()));
            vm.host.set_property(name, Some(&text));
        }
    }
    Ok(old)
}

impl Native for Props {
    fn class_name(&self) -> &'static str {
        "java.util.Properties"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("get" | "getProperty" | "getAt", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                prop(vm, &name)?
            }
            ("getProperty" | "getOrDefault" | "get", [_, default]) => {
                let name = text_at(vm, arguments, 0)?;
                let value = prop(vm, &name)?;
                if value.is_null() { default.clone() } else { value }
            }
            ("put" | "setProperty" | "putAt", [name, value]) => {
                let name = vm.text(name)?;
                set_prop(vm, &name, value)?
            }
            ("putIfAbsent", [name, value]) => {
                let name = vm.text(name)?;
                let old = prop(vm, &name)?;
                if old.is_null() {
                    set_prop(vm, &name, value)?;
                }
                old
            }
            ("computeIfAbsent", [name, closure]) => {
                let text = vm.text(name)?;
                let old = prop(vm, &text)?;
                if old.is_null() {
                    let value = vm.call_closure(closure, std::slice::from_ref(name))?;
                    set_prop(vm, &text, &value)?;
                    value
                } else {
                    old
                }
            }
            ("remove", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                let old = prop(vm, &name)?;
                vm.host.set_object(&shared_name(&name), None);
                vm.host.set_property(&name, None);
                old
            }
            ("containsKey" | "contains", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                Value::Bool(!prop(vm, &name)?.is_null())
            }
            ("putAll", [other]) => {
                for entry in vm.items(other)? {
                    let key = vm.property(&entry, "key")?;
                    let value = vm.property(&entry, "value")?;
                    let key = vm.text(&key)?;
                    set_prop(vm, &key, &value)?;
                }
                Value::Null
            }
            ("stringPropertyNames" | "propertyNames", []) => {
                let names: Vec<Value> =
                    vm.host.properties().into_iter().map(|(name, _)| Value::from(name)).collect();
                Value::set(MapKind::Linked, names)
            }
            (
                "keySet" | "values" | "entrySet" | "size" | "isEmpty" | "each" | "findAll"
                | "collect" | "any" | "find",
                _,
            ) => {
                let (map, inner) = Value::map(MapKind::Linked);
                for (name, value) in vm.host.properties() {
                    inner.insert(Value::from(name), Value::from(value));
                }
                vm.call_method(&map, name, arguments)?
            }
            _ => return Ok(None),
        }))
    }

    fn property(&self, vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        if name == "class" {
            return Ok(None);
        }
        prop(vm, name).map(Some)
    }

    fn set_property(&self, vm: &mut Vm, name: &str, value: &Value) -> Eval<bool> {
        set_prop(vm, name, value)?;
        Ok(true)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
