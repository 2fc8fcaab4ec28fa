//! The Java and Groovy library. Each module has a table of classes.

pub(crate) mod builder;
pub(crate) mod charset;
mod cipher;
pub(crate) mod codec;
pub(crate) mod collections;
mod commons;
mod crypto;
mod date;
mod decimal_format;
pub(crate) mod exceptions;
pub(crate) mod format;
pub(crate) mod io;
pub(crate) mod json;
mod json_object;
mod json_path;
mod json_stream;
pub(crate) mod kinds;
mod lang;
mod markup;
pub(crate) mod net;
pub(crate) mod regex;
mod streams;
mod system;
mod template;
mod temporal;
mod time;
mod tuple;
pub(crate) mod util;
mod xml;
mod zip;
mod zone;

pub(crate) use system::Output;
pub(crate) use temporal::span;

use crate::error::Eval;
use crate::value::Value;
use crate::vm::Vm;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Constructor of a class, which is given by its full name.
pub(crate) type Constructor = fn(&mut Vm, &str, &[Value]) -> Eval<Value>;

/// Static methods of a class; returns `None` for an unknown name.
pub(crate) type StaticMethod = fn(&mut Vm, &str, &[Value]) -> Eval<Option<Value>>;

/// Static fields of a class; returns `None` for an unknown name.
pub(crate) type StaticField = fn(&mut Vm, &str) -> Option<Value>;

/// A class of the library.
pub(crate) struct Class {
    pub name: &'static str,
    pub make: Option<Constructor>,
    pub call: Option<StaticMethod>,
    pub constant: Option<StaticField>,
}

impl Class {
    /// A class without members, for casts, `instanceof` and `catch`.
    pub const fn name_only(name: &'static str) -> Self {
        Self { name, make: None, call: None, constant: None }
    }

    pub const fn with_constructor(name: &'static str, make: Constructor) -> Self {
        Self { name, make: Some(make), call: None, constant: None }
    }

    pub const fn with_static(name: &'static str, call: StaticMethod) -> Self {
        Self { name, make: None, call: Some(call), constant: None }
    }

    pub const fn and_constructor(mut self, make: Constructor) -> Self {
        self.make = Some(make);
        self
    }

    pub const fn and_call(mut self, call: StaticMethod) -> Self {
        self.call = Some(call);
        self
    }

    pub const fn and_constants(mut self, constant: StaticField) -> Self {
        self.constant = Some(constant);
        self
    }
}

/// Tables of all modules. If two classes share a simple name, the first one needs no import.
fn tables() -> [&'static [Class]; 30] {
    [
        lang::CLASSES,
        system::CLASSES,
        builder::CLASSES,
        collections::CLASSES,
        util::CLASSES,
        streams::CLASSES,
        regex::CLASSES,
        date::CLASSES,
        time::CLASSES,
        temporal::CLASSES,
        zone::CLASSES,
        decimal_format::CLASSES,
        json::CLASSES,
        json_object::CLASSES,
        json_path::CLASSES,
        json_stream::CLASSES,
        xml::CLASSES,
        markup::CLASSES,
        template::CLASSES,
        tuple::CLASSES,
        codec::CLASSES,
        charset::CLASSES,
        crypto::CLASSES,
        cipher::CLASSES,
        zip::CLASSES,
        net::CLASSES,
        io::CLASSES,
        commons::CLASSES,
        kinds::CLASSES,
        crate::jmeter::CLASSES,
    ]
}

struct Index {
    full: HashMap<&'static str, &'static Class>,
    simple: HashMap<&'static str, &'static Class>,
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = Index { full: HashMap::new(), simple: HashMap::new() };
        for class in tables().into_iter().flatten().chain(exceptions::classes()) {
            index.full.entry(class.name).or_insert(class);
            let simple = class.name.rsplit(['.', '$']).next().unwrap_or(class.name);
            index.simple.entry(simple).or_insert(class);
        }
        index
    })
}

/// Finds a class by its full name.
pub(crate) fn by_full_name(name: &str) -> Option<&'static Class> {
    index().full.get(name).copied()
}

/// Finds a class by its simple name, imported or not. A script that lacks a necessary import would
/// not run in Java, so this leniency is harmless.
pub(crate) fn by_simple_name(name: &str) -> Option<&'static Class> {
    index().simple.get(name).copied()
}

/// An argument as text. Fails if it is null or absent.
pub(crate) fn text_at(vm: &mut Vm, arguments: &[Value], index: usize) -> Eval<std::rc::Rc<str>> {
    match arguments.get(index) {
        Some(Value::Null) | None => Err(crate::error::throw(
            "java.lang.NullPointerException",
            "a text is expected, and the argument is null",
        )),
        Some(value) => vm.text(value),
    }
}

/// Bytes of an argument: a byte array, or a text in UTF-8.
pub(crate) fn bytes_of(vm: &mut Vm, value: &Value) -> Eval<Vec<u8>> {
    match value {
        Value::Bytes(bytes) => {
            vm.alloc(bytes.borrow().len())?;
            Ok(bytes.borrow().clone())
        }
        Value::Null => Err(crate::error::throw(
            "java.lang.NullPointerException",
            "bytes are expected, and the argument is null",
        )),
        Value::List(_) => {
            let mut bytes = Vec::new();
            for item in vm.items(value)? {
                bytes.push(vm.to_long(&item)? as u8);
            }
            Ok(bytes)
        }
        other => Ok(vm.text(other)?.as_bytes().to_vec()),
    }
}

/// Like [`bytes_of`], limited to `range`, an offset and a length.
fn bytes_within(vm: &mut Vm, value: &Value, range: &[Value]) -> Eval<Vec<u8>> {
    let bytes = bytes_of(vm, value)?;
    let [offset, length] = range else { return Ok(bytes) };
    let offset = vm.to_index(offset)?;
    let length = vm.to_index(length)?;
    let end = offset.saturating_add(length);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(begin, end)| bytes.get(begin..end));
    part.map(<[u8]>::to_vec).ok_or_else(|| crate::error::no_text_index(offset, end, bytes.len()))
}

/// Creates a random number generator.
pub(crate) fn random(vm: &mut Vm) -> Eval<Value> {
    match by_full_name("java.util.Random").and_then(|class| class.make) {
        Some(make) => make(vm, "java.util.Random", &[]),
        None => Ok(Value::Null),
    }
}
