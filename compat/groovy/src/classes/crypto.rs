//! `MessageDigest`, `Mac`, `SecretKeySpec`. Offsets and lengths of byte arrays are ignored: a
//! method uses the whole array.

use super::codec::{digest, keyed_digest, no_static};
use super::{Class, bytes_of, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.security.MessageDigest", message_digest),
    Class::with_static("javax.crypto.Mac", mac),
    Class::with_constructor("javax.crypto.spec.SecretKeySpec", make_key).and_call(no_static),
    Class::name_only("javax.crypto.SecretKey"),
];

/// A `MessageDigest` or a `Mac`. It collects all data and computes the digest at the end.
struct Hasher {
    algorithm: String,
    /// Key of a `Mac`; None before `init`.
    key: RefCell<Option<Vec<u8>>>,
    /// Data since the last digest.
    data: RefCell<Vec<u8>>,
    is_mac: bool,
}

/// `SecretKeySpec`
pub(super) struct Key {
    /// Raw bytes of the key, also the result of `getEncoded`.
    pub bytes: Vec<u8>,
    algorithm: String,
}

/// Static methods of `MessageDigest`; None for an unknown one.
fn message_digest(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    match (name, arguments) {
        ("getInstance", [_, ..]) => {
            let algorithm = text_at(vm, arguments, 0)?.to_string();
            // Fails for an unknown algorithm.
            digest(&algorithm, &[])?;
            Ok(Some(Value::native(Hasher {
                algorithm,
                key: RefCell::default(),
                data: RefCell::default(),
                is_mac: false,
            })))
        }
        ("isEqual", [a, b]) => Ok(Some(Value::Bool(vm.equals(a, b)?))),
        _ => Ok(None),
    }
}

/// Static methods of `Mac`; None for an unknown one.
fn mac(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "getInstance" {
        return Ok(None);
    }
    let algorithm = text_at(vm, arguments, 0)?.to_string();
    // Fails for an unknown algorithm.
    keyed_digest(&algorithm, b"key", &[])?;
    Ok(Some(Value::native(Hasher {
        algorithm,
        key: RefCell::default(),
        data: RefCell::default(),
        is_mac: true,
    })))
}

/// Constructor of `SecretKeySpec`: the first argument is the key, the last the algorithm.
fn make_key(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let bytes = bytes_of(vm, arguments.first().unwrap_or(&Value::Null))?;
    if bytes.is_empty() {
        return Err(crate::error::illegal("Empty key"));
    }
    let algorithm = match arguments.last() {
        Some(name) => vm.text(name)?.to_string(),
        None => String::new(),
    };
    Ok(Value::native(Key { bytes, algorithm }))
}

impl Native for Key {
    fn class_name(&self) -> &'static str {
        "javax.crypto.spec.SecretKeySpec"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match name {
            "getEncoded" => Some(Value::bytes(self.bytes.clone())),
            "getAlgorithm" => Some(Value::str(&self.algorithm)),
            "getFormat" => Some(Value::str("RAW")),
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Hasher {
    /// Digest of the data, which is cleared for the next digest. The key stays.
    fn take_digest(&self) -> Eval<Value> {
        let data = self.data.take();
        let bytes = match (&*self.key.borrow(), self.is_mac) {
            (Some(key), _) => keyed_digest(&self.algorithm, key, &data)?,
            (None, true) => {
                return Err(throw("java.lang.IllegalStateException", "MAC not initialized"));
            }
            (None, false) => digest(&self.algorithm, &data)?,
        };
        Ok(Value::bytes(bytes))
    }
}

impl Native for Hasher {
    fn class_name(&self) -> &'static str {
        if self.is_mac { "javax.crypto.Mac" } else { "java.security.MessageDigest" }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("init", [key, ..]) => {
                let key = match key.downcast::<Key>() {
                    Some(key) => key.bytes.clone(),
                    None => bytes_of(vm, key)?,
                };
                self.key.replace(Some(key));
                Value::Null
            }
            ("update", [data, ..]) => {
                let data = match data {
                    // `update(byte)`: this interpreter has no type for bytes.
                    Value::Int(byte) => vec![*byte as u8],
                    other => bytes_of(vm, other)?,
                };
                vm.alloc(data.len())?;
                self.data.borrow_mut().extend(data);
                Value::Null
            }
            ("digest" | "doFinal", rest) => {
                if let Some(data) = rest.first() {
                    let data = bytes_of(vm, data)?;
                    self.data.borrow_mut().extend(data);
                }
                vm.tick(self.data.borrow().len() / 16)?;
                self.take_digest()?
            }
            ("reset", []) => {
                self.data.take();
                Value::Null
            }
            ("getAlgorithm", []) => Value::str(&self.algorithm),
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
