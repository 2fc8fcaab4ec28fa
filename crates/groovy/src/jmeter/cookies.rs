//! The cookie manager of a sampler, and cookies.

use crate::error::Eval;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// `sampler.getCookieManager()`
pub(super) struct Manager;

/// `new Cookie(name, value, domain, path, secure, expires)`
pub(super) struct Cookie {
    parts: [String; 4],
}

pub(super) fn make(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let mut parts: [String; 4] = std::array::from_fn(|_| String::new());
    for (part, argument) in parts.iter_mut().zip(arguments) {
        if !argument.is_null() {
            *part = vm.text(argument)?.to_string();
        }
    }
    Ok(Value::native(Cookie { parts }))
}

pub(super) fn make_manager(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Manager))
}

fn all(vm: &Vm) -> Vec<Value> {
    vm.host
        .cookies()
        .into_iter()
        .map(|(name, value, domain, path)| Value::native(Cookie { parts: [name, value, domain, path] }))
        .collect()
}

impl Native for Manager {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.control.CookieManager"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("add" | "addCookieFromHeader", [cookie, ..]) => {
                if let Some(cookie) = cookie.downcast::<Cookie>() {
                    let [name, value, domain, path] = &cookie.parts;
                    vm.host.add_cookie(name, value, domain, path);
                }
                Value::Null
            }
            ("getCookieCount" | "size", []) => Value::count(vm.host.cookies().len()),
            ("get", [index]) => {
                let index = vm.to_long(index)?;
                usize::try_from(index).ok().and_then(|index| all(vm).into_iter().nth(index)).unwrap_or_default()
            }
            ("getCookies", []) => Value::list(all(vm)),
            ("clear" | "clearCookies", []) => {
                vm.host.clear_cookies();
                Value::Null
            }
            (
                "remove" | "removeMatchingCookies" | "setName" | "testStarted" | "testEnded" | "setClearEachIteration",
                _,
            ) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        Ok(Some(all(vm)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Cookie {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.control.Cookie"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        let place = match name {
            "getName" => 0,
            "getValue" | "getStringValue" => 1,
            "getDomain" => 2,
            "getPath" => 3,
            "getSecure" | "isSecure" => return Ok(Some(Value::Bool(false))),
            "getExpires" => return Ok(Some(Value::Long(0))),
            "getObjectValue" => return Ok(Some(Value::native(Self { parts: self.parts.clone() }))),
            _ if name.starts_with("set") => return Ok(Some(Value::Null)),
            _ => return Ok(None),
        };
        Ok(Some(Value::str(&self.parts[place])))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        let [name, value, domain, path] = &self.parts;
        Ok(Some(format!("{domain}\tTRUE\t{path}\tFALSE\t0\t{name}\t{value}")))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
