//! The object `sampler`: the request that pre-processors change.

use super::{cookies, headers};
use crate::classes::{net, text_at};
use crate::error::Eval;
use crate::host::{Argument, Request, UrlPart};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// `sampler`
pub(super) struct Sampler;

/// `sampler.getArguments()`, or a list that the script created.
#[derive(Clone)]
struct Arguments(List);

/// Arguments of a list that the script created; None for the arguments of the request.
type List = Option<Rc<RefCell<Vec<Argument>>>>;

/// An argument with its list and index, or a new argument.
struct ArgumentObject {
    argument: RefCell<Argument>,
    place: Option<(List, usize)>,
}

/// Result of `sampler.getProperty(name)` if it is a text.
struct Property(String);

fn part_of(name: &str) -> Option<UrlPart> {
    Some(match name {
        "Path" => UrlPart::Path,
        "Domain" => UrlPart::Domain,
        "Port" | "PortIfSpecified" => UrlPart::Port,
        "Protocol" => UrlPart::Protocol,
        "Method" => UrlPart::Method,
        "Name" => UrlPart::Name,
        "ContentEncoding" => UrlPart::Encoding,
        _ => return None,
    })
}

fn all(vm: &Vm, list: &List) -> Vec<Argument> {
    match list {
        Some(list) => list.borrow().clone(),
        None => vm.host.request().map(Request::arguments).unwrap_or_default(),
    }
}

fn set(vm: &mut Vm, list: &List, arguments: Vec<Argument>) {
    if let Some(list) = list {
        *list.borrow_mut() = arguments;
    } else if let Some(request) = vm.host.request_mut() {
        request.set_arguments(arguments);
    }
}

/// `new HTTPArgument(name, value, …)`, `new Argument(name, value)`
pub(super) fn make_argument(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    // JMeter encodes a new argument by default.
    let mut argument = Argument { encode: true, ..Argument::default() };
    for (place, value) in arguments.iter().take(2).enumerate() {
        let text = if value.is_null() { String::new() } else { vm.text(value)?.to_string() };
        if place == 0 { argument.name = text } else { argument.value = text }
    }
    Ok(Value::native(ArgumentObject { argument: RefCell::new(argument), place: None }))
}

pub(super) fn make_arguments(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Arguments(Some(Rc::default()))))
}

/// Adds an argument to a list.
fn add(vm: &mut Vm, list: &List, arguments: &[Value], encode: Encode) -> Eval<()> {
    let mut all = all(vm, list);
    match arguments {
        [value] => {
            if let Some(object) = value.downcast::<ArgumentObject>() {
                all.push(object.argument.borrow().clone());
            }
        }
        [name, value, ..] => {
            let name = vm.text(name)?.to_string();
            let value = vm.text(value)?.to_string();
            all.push(Argument { name, value, encode: encode == Encode::Yes });
        }
        [] => {}
    }
    set(vm, list, all);
    Ok(())
}

/// State of URL encoding: `Yes` if an argument must still be encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encode {
    Yes,
    No,
}

impl Sampler {
    fn special(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getUrl" | "getURL", []) => {
                let url = vm.host.request().map(Request::url).unwrap_or_default();
                net::make_url(vm, "java.net.URL", &[Value::from(url)])?
            }
            (
                "getPropertyAsString"
                | "getPropertyAsInt"
                | "getPropertyAsLong"
                | "getPropertyAsBoolean"
                | "getProperty",
                [_, ..],
            ) => {
                let property_name = text_at(vm, arguments, 0)?;
                match &*property_name {
                    "HTTPSampler.cookie_manager" => {
                        return Ok(Some(Value::native(cookies::Manager)));
                    }
                    "HTTPSampler.header_manager" => {
                        return Ok(Some(Value::native(headers::Manager)));
                    }
                    "HTTPsampler.Arguments" => return Ok(Some(Value::native(Arguments(None)))),
                    _ => {}
                }
                let text = property(vm, &property_name).unwrap_or_default();
                match name {
                    "getPropertyAsInt" => Value::Int(text.trim().parse().unwrap_or(0)),
                    "getPropertyAsLong" => Value::Long(text.trim().parse().unwrap_or(0)),
                    "getPropertyAsBoolean" => Value::Bool(text.trim() == "true"),
                    "getProperty" => Value::native(Property(text)),
                    _ => Value::from(text),
                }
            }
            ("setProperty", [name, value, ..]) => {
                let name = vm.text(name)?;
                let value = vm.text(value)?;
                set_property(vm, &name, &value);
                Value::Null
            }
            ("addArgument", rest) => {
                add(vm, &None, rest, Encode::Yes)?;
                Value::Null
            }
            ("addEncodedArgument", [name, value, ..]) => {
                // The request encodes its arguments when it is sent.
                let name = Value::from(net::url_decode(&vm.text(name)?));
                let value = Value::from(net::url_decode(&vm.text(value)?));
                add(vm, &None, &[name, value], Encode::Yes)?;
                Value::Null
            }
            ("addNonEncodedArgument", rest) => {
                add(vm, &None, rest, Encode::No)?;
                Value::Null
            }
            ("getArguments", []) => Value::native(Arguments(None)),
            ("setArguments", [list]) => {
                if let Some(Arguments(list @ Some(_))) = list.downcast::<Arguments>() {
                    let arguments = all(vm, list);
                    set(vm, &None, arguments);
                }
                Value::Null
            }
            ("removeArguments" | "clearArguments", []) => {
                set(vm, &None, Vec::new());
                Value::Null
            }
            ("setPostBodyRaw" | "getPostBodyRaw" | "isPostBodyRaw", rest) => {
                if let Some(flag) = rest.first() {
                    let flag = vm.truth(flag)?;
                    if let Some(request) = vm.host.request_mut() {
                        request.set_raw_body(flag);
                    }
                    return Ok(Some(Value::Null));
                }
                Value::Bool(vm.host.request().is_some_and(Request::raw_body))
            }
            ("getQueryString", _) => {
                let pairs = all(vm, &None).into_iter().map(|one| {
                    format!("{}={}", net::url_encode(&one.name), net::url_encode(&one.value))
                });
                Value::from(pairs.collect::<Vec<_>>().join("&"))
            }
            ("getHeaderManager", []) => Value::native(headers::Manager),
            ("getCookieManager", []) => Value::native(cookies::Manager),
            (
                "setHeaderManager" | "setCookieManager" | "addTestElement" | "setRunningVersion",
                _,
            ) => Value::Null,
            ("getThreadName", []) => Value::str(vm.host.thread_name()),
            ("getThreadContext", []) => Value::native(super::context::Context),
            ("getComment" | "getEmbeddedUrlRE", []) => Value::str(""),
            ("isEnabled", []) => Value::Bool(true),
            ("getHTTPFiles", []) => Value::array(Vec::new()),
            _ => return Ok(None),
        }))
    }
}

/// A property of the element, or a part of the request under its property name.
fn property(vm: &Vm, name: &str) -> Option<String> {
    let request = vm.host.request()?;
    if let Some(text) = request.property(name) {
        return Some(text);
    }
    let part = match name {
        "HTTPSampler.path" => UrlPart::Path,
        "HTTPSampler.domain" => UrlPart::Domain,
        "HTTPSampler.port" => UrlPart::Port,
        "HTTPSampler.protocol" => UrlPart::Protocol,
        "HTTPSampler.method" => UrlPart::Method,
        "TestElement.name" => UrlPart::Name,
        _ => return None,
    };
    Some(request.part(part).into_owned())
}

fn set_property(vm: &mut Vm, name: &str, value: &str) {
    let Some(request) = vm.host.request_mut() else { return };
    match name {
        "HTTPSampler.path" => request.set_part(UrlPart::Path, value),
        "HTTPSampler.domain" => request.set_part(UrlPart::Domain, value),
        "HTTPSampler.port" => request.set_part(UrlPart::Port, value),
        "HTTPSampler.protocol" => request.set_part(UrlPart::Protocol, value),
        "HTTPSampler.method" => request.set_part(UrlPart::Method, value),
        "TestElement.name" => request.set_part(UrlPart::Name, value),
        _ => request.set_property(name, value),
    }
}

/// Name of the property of an accessor; None for accessors of request parts.
fn accessed_property(name: &str) -> Option<String> {
    let rest = name
        .strip_prefix("get")
        .or_else(|| name.strip_prefix("is"))
        .or_else(|| name.strip_prefix("set"))?;
    Some(match rest {
        "FollowRedirects" => "HTTPSampler.follow_redirects".to_owned(),
        "AutoRedirects" => "HTTPSampler.auto_redirects".to_owned(),
        "UseKeepAlive" => "HTTPSampler.use_keepalive".to_owned(),
        "ConnectTimeout" => "HTTPSampler.connect_timeout".to_owned(),
        "ResponseTimeout" => "HTTPSampler.response_timeout".to_owned(),
        "ImageParser" => "HTTPSampler.image_parser".to_owned(),
        "DoMultipart" => "HTTPSampler.DO_MULTIPART_POST".to_owned(),
        "Implementation" => "HTTPSampler.implementation".to_owned(),
        "MD5" => "HTTPSampler.md5".to_owned(),
        _ => return None,
    })
}

impl Native for Sampler {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let (Some(part), []) = (name.strip_prefix("get").and_then(part_of), arguments) {
            let text = vm
                .host
                .request()
                .map(|request| request.part(part).into_owned())
                .unwrap_or_default();
            return Ok(Some(match (name, text.trim()) {
                // JMeter's `getPort` returns the default of the protocol; `getPortIfSpecified` does
                // not.
                ("getPort", "" | "0") => {
                    let is_https = vm.host.request().is_some_and(|request| {
                        request.part(UrlPart::Protocol).eq_ignore_ascii_case("https")
                    });
                    Value::Int(if is_https { 443 } else { 80 })
                }
                ("getPort" | "getPortIfSpecified", digits) => {
                    Value::Int(digits.parse().unwrap_or(0))
                }
                _ => vm.string(text)?,
            }));
        }
        if let (Some(part), [value, ..]) = (name.strip_prefix("set").and_then(part_of), arguments) {
            let text = if value.is_null() { "".into() } else { vm.text(value)? };
            if let Some(request) = vm.host.request_mut() {
                request.set_part(part, &text);
            }
            return Ok(Some(Value::Null));
        }
        if let Some(result) = Self::special(vm, name, arguments)? {
            return Ok(Some(result));
        }
        let Some(property_name) = accessed_property(name) else { return Ok(None) };
        match arguments {
            [] if name.starts_with("set") => Ok(None),
            [] => {
                let text = property(vm, &property_name).unwrap_or_default();
                Ok(Some(match text.parse::<bool>() {
                    Ok(flag) => Value::Bool(flag),
                    Err(_) => Value::from(text),
                }))
            }
            [value, ..] => {
                let text = vm.text(value)?;
                set_property(vm, &property_name, &text);
                Ok(Some(Value::Null))
            }
        }
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        Ok(vm.host.request().map(Request::url))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Arguments {
    fn object(&self, place: usize, argument: Argument) -> Value {
        Value::native(ArgumentObject {
            argument: RefCell::new(argument),
            place: Some((self.0.clone(), place)),
        })
    }
}

impl Native for Arguments {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.config.Arguments"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let list = &self.0;
        let mut list_arguments = all(vm, list);
        Ok(Some(match (name, arguments) {
            ("getArgument" | "get", [index]) => {
                let place = vm.to_long(index)?;
                let place =
                    usize::try_from(place).ok().filter(|place| *place < list_arguments.len());
                place.map_or(Value::Null, |place| {
                    self.object(place, list_arguments.swap_remove(place))
                })
            }
            ("getArgumentCount" | "size", []) => Value::count(list_arguments.len()),
            ("addArgument" | "addHTTPArgument", rest) => {
                add(vm, list, rest, Encode::Yes)?;
                Value::Null
            }
            ("removeAllArguments" | "clear" | "removeAll", []) => {
                set(vm, list, Vec::new());
                Value::Null
            }
            ("removeArgument", [selector, ..]) => {
                match selector {
                    Value::Int(place) => {
                        if let Some(place) = usize::try_from(*place)
                            .ok()
                            .filter(|place| *place < list_arguments.len())
                        {
                            list_arguments.remove(place);
                        }
                    }
                    other => {
                        let name = vm.text(other)?;
                        list_arguments.retain(|one| one.name != *name);
                    }
                }
                set(vm, list, list_arguments);
                Value::Null
            }
            ("getArgumentsAsMap", []) => {
                let (map, inner) = Value::map(crate::value::MapKind::Linked);
                for argument in list_arguments {
                    inner.insert(Value::from(argument.name), Value::from(argument.value));
                }
                map
            }
            ("getArguments" | "iterator", []) => {
                let items = self.elements(vm)?.unwrap_or_default();
                if name == "iterator" {
                    crate::classes::collections::Cursor::make(items, None)
                } else {
                    Value::list(items)
                }
            }
            ("getObjectValue", []) => Value::native(self.clone()),
            _ => return Ok(None),
        }))
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let all = all(vm, &self.0).into_iter().enumerate();
        Ok(Some(all.map(|(place, argument)| self.object(place, argument)).collect()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for ArgumentObject {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.util.HTTPArgument"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("getName", []) => Value::str(&self.argument.borrow().name),
            ("getValue" | "getStringValue" | "getEncodedValue", []) => {
                Value::str(&self.argument.borrow().value)
            }
            ("getObjectValue", []) => {
                Value::native(Self { argument: self.argument.clone(), place: self.place.clone() })
            }
            ("setName" | "setValue" | "setAlwaysEncoded" | "setAlwaysEncode", [value]) => {
                let text = vm.text(value)?.to_string();
                let truth = vm.truth(value)?;
                match name {
                    "setName" => self.argument.borrow_mut().name = text,
                    "setValue" => self.argument.borrow_mut().value = text,
                    _ => self.argument.borrow_mut().encode = truth,
                }
                if let Some((list, place)) = &self.place {
                    let mut arguments = all(vm, list);
                    if let Some(argument) = arguments.get_mut(*place) {
                        *argument = self.argument.borrow().clone();
                        set(vm, list, arguments);
                    }
                }
                Value::Null
            }
            ("setMetaData" | "setUseEquals" | "setContentType" | "setDescription", _) => {
                Value::Null
            }
            ("isAlwaysEncoded", []) => Value::Bool(self.argument.borrow().encode),
            ("getMetaData", []) => Value::str("="),
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        let argument = self.argument.borrow();
        Ok(Some(format!("{}={}", argument.name, argument.value)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Property {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.testelement.property.StringProperty"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getStringValue" | "getObjectValue" => Value::str(&self.0),
            "getIntValue" => Value::Int(self.0.trim().parse().unwrap_or(0)),
            "getLongValue" => Value::Long(self.0.trim().parse().unwrap_or(0)),
            "getBooleanValue" => Value::Bool(self.0.trim() == "true"),
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.0.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
