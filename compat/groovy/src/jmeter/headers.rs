//! The header manager of a sampler, and its headers.

use crate::classes::text_at;
use crate::error::Eval;
use crate::host::Header;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;

/// `sampler.getHeaderManager()`
pub(super) struct Manager;

/// `new Header(name, value)`, or a header of the manager.
pub(super) struct Entry {
    name: RefCell<String>,
    value: RefCell<String>,
    /// Index in the manager; None for a new header.
    place: Option<usize>,
}

pub(super) fn make(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let mut texts = Vec::new();
    for argument in arguments {
        texts.push(vm.text(argument)?.to_string());
    }
    let mut texts = texts.into_iter();
    let name = RefCell::new(texts.next().unwrap_or_default());
    let value = RefCell::new(texts.next().unwrap_or_default());
    Ok(Value::native(Entry { name, value, place: None }))
}

pub(super) fn make_manager(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Manager))
}

fn all(vm: &Vm) -> Vec<Header> {
    vm.host.request().map(crate::host::Request::headers).unwrap_or_default()
}

fn set(vm: &mut Vm, headers: Vec<Header>) {
    if let Some(request) = vm.host.request_mut() {
        request.set_headers(headers);
    }
}

fn entry(place: usize, header: &Header) -> Value {
    Value::native(Entry {
        name: RefCell::new(header.name.clone()),
        value: RefCell::new(header.value.clone()),
        place: Some(place),
    })
}

impl Native for Manager {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.control.HeaderManager"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let mut headers = all(vm);
        Ok(Some(match (name, arguments) {
            ("add", [header]) => {
                let name = vm.property(header, "name")?;
                let value = vm.property(header, "value")?;
                headers.push(Header {
                    name: vm.text(&name)?.to_string(),
                    value: vm.text(&value)?.to_string(),
                });
                set(vm, headers);
                Value::Null
            }
            ("removeHeaderNamed", [_]) => {
                let header_name = text_at(vm, arguments, 0)?;
                // RFC 9110, section 5.1: names of fields are case-insensitive.
                headers.retain(|one| !one.name.eq_ignore_ascii_case(&header_name));
                set(vm, headers);
                Value::Null
            }
            ("remove", [index]) => {
                let index = vm.to_long(index)?;
                if let Some(index) =
                    usize::try_from(index).ok().filter(|index| *index < headers.len())
                {
                    headers.remove(index);
                    set(vm, headers);
                }
                Value::Null
            }
            ("getFirstHeaderNamed", [_]) => {
                let header_name = text_at(vm, arguments, 0)?;
                let place =
                    headers.iter().position(|one| one.name.eq_ignore_ascii_case(&header_name));
                place.map_or(Value::Null, |place| entry(place, &headers[place]))
            }
            ("get" | "getHeader" | "getAt", [index]) => {
                let place = vm.to_long(index)?;
                let place = usize::try_from(place).ok().filter(|place| *place < headers.len());
                place.map_or(Value::Null, |place| entry(place, &headers[place]))
            }
            ("size", []) => Value::count(headers.len()),
            ("getHeaders", []) => Value::list(
                headers.iter().enumerate().map(|(place, one)| entry(place, one)).collect(),
            ),
            ("clear", []) => {
                set(vm, Vec::new());
                Value::Null
            }
            ("setName" | "setProperty", _) => Value::Null,
            ("getObjectValue", []) => Value::native(Self),
            _ => return Ok(None),
        }))
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        Ok(Some(all(vm).iter().enumerate().map(|(place, one)| entry(place, one)).collect()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Entry {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.control.Header"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getName", []) => Value::str(&*self.name.borrow()),
            // In JMeter, a header of the manager is a property whose object value is the header.
            ("getValue" | "getStringValue" | "getObjectValue", []) => {
                Value::str(&*self.value.borrow())
            }
            ("setName" | "setValue", [text]) => {
                let text = vm.text(text)?.to_string();
                if name == "setName" {
                    self.name.replace(text);
                } else {
                    self.value.replace(text);
                }
                let mut headers = all(vm);
                if let Some(header) = self.place.and_then(|place| headers.get_mut(place)) {
                    header.name.clone_from(&self.name.borrow());
                    header.value.clone_from(&self.value.borrow());
                    set(vm, headers);
                }
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(format!("{}\t{}", self.name.borrow(), self.value.borrow())))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
