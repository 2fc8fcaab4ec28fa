//! The cookie manager of a sampler, and its cookies.

use crate::error::Eval;
use crate::host;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;

/// `sampler.getCookieManager()`
pub(super) struct Manager;

/// A stored cookie of the virtual user, or a new cookie.
struct Cookie {
    cookie: RefCell<host::Cookie>,
    is_stored: bool,
}

/// `new Cookie(name, value, domain, path, secure, expires)`
pub(super) fn make(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let mut texts: [String; 4] = std::array::from_fn(|_| String::new());
    for (text, argument) in texts.iter_mut().zip(arguments) {
        if !argument.is_null() {
            *text = vm.text(argument)?.to_string();
        }
    }
    let is_secure = match arguments.get(4) {
        Some(secure) => vm.truth(secure)?,
        None => false,
    };
    let [name, value, domain, path] = texts;
    let cookie = host::Cookie { name, value, domain, path, is_secure };
    Ok(Value::native(Cookie { cookie: RefCell::new(cookie), is_stored: false }))
}

pub(super) fn make_manager(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Manager))
}

fn all(vm: &Vm) -> Vec<Value> {
    let cookies = vm.host.cookies().into_iter();
    cookies
        .map(|cookie| Value::native(Cookie { cookie: RefCell::new(cookie), is_stored: true }))
        .collect()
}

fn remove(vm: &mut Vm, index: i64) {
    let cookie =
        usize::try_from(index).ok().and_then(|index| vm.host.cookies().into_iter().nth(index));
    if let Some(cookie) = cookie {
        vm.host.remove_cookie(&cookie);
    }
}

impl Native for Manager {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.control.CookieManager"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("add" | "addCookieFromHeader", [cookie, ..]) => {
                if let Some(cookie) = cookie.downcast::<Cookie>() {
                    vm.host.add_cookie(&cookie.cookie.borrow());
                }
                Value::Null
            }
            ("getCookieCount" | "size", []) => Value::count(vm.host.cookies().len()),
            ("get", [index]) => {
                let index = vm.to_long(index)?;
                usize::try_from(index)
                    .ok()
                    .and_then(|index| all(vm).into_iter().nth(index))
                    .unwrap_or_default()
            }
            ("getCookies", []) => Value::list(all(vm)),
            ("clear" | "clearCookies", []) => {
                vm.host.clear_cookies();
                Value::Null
            }
            ("remove", [index]) => {
                let index = vm.to_long(index)?;
                remove(vm, index);
                Value::Null
            }
            (
                "removeMatchingCookies"
                | "setName"
                | "testStarted"
                | "testEnded"
                | "setClearEachIteration",
                _,
            ) => Value::Null,
            ("getObjectValue", []) => Value::native(Self),
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

impl Cookie {
    /// Changes a part of the cookie, also in the store if the cookie is stored.
    fn set(&self, vm: &mut Vm, part: &str, text: String, truth: bool) {
        let before = self.cookie.borrow().clone();
        let mut after = before.clone();
        match part {
            "Name" => after.name = text,
            "Value" => after.value = text,
            "Domain" => after.domain = text,
            "Path" => after.path = text,
            "Secure" => after.is_secure = truth,
            _ => return,
        }
        if self.is_stored {
            // The change may affect the name, domain or path, which identify a cookie.
            vm.host.remove_cookie(&before);
            vm.host.add_cookie(&after);
        }
        self.cookie.replace(after);
    }
}

impl Native for Cookie {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.control.Cookie"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let (Some(part), [value]) = (name.strip_prefix("set"), arguments) {
            let text = vm.text(value)?.to_string();
            let truth = vm.truth(value)?;
            self.set(vm, part, text, truth);
            return Ok(Some(Value::Null));
        }
        let cookie = self.cookie.borrow();
        Ok(Some(match name {
            "getName" => Value::str(&cookie.name),
            "getValue" | "getStringValue" => Value::str(&cookie.value),
            "getDomain" => Value::str(&cookie.domain),
            "getPath" => Value::str(&cookie.path),
            "getSecure" | "isSecure" => Value::Bool(cookie.is_secure),
            "getExpires" => Value::Long(0),
            "getObjectValue" => {
                Value::native(Self { cookie: self.cookie.clone(), is_stored: self.is_stored })
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        let host::Cookie { name, value, domain, path, is_secure } = &*self.cookie.borrow();
        // JMeter prints a cookie as a line of Netscape's `cookies.txt`.
        let secure = if *is_secure { "TRUE" } else { "FALSE" };
        Ok(Some(format!("{domain}\tTRUE\t{path}\t{secure}\t0\t{name}\t{value}")))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
