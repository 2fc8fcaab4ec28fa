//! Methods of byte arrays.

use crate::classes::codec;
use crate::error::Eval;
use crate::value::Value;
use crate::vm::Vm;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) fn call(
    vm: &mut Vm,
    bytes: &Rc<RefCell<Vec<u8>>>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    let length = bytes.borrow().len();
    vm.tick(length / 64)?;
    Ok(Some(match (name, arguments) {
        ("size" | "length", []) => Value::count(length),
        ("isEmpty", []) => Value::Bool(length == 0),
        ("encodeBase64" | "encodeBase64Url", [] | [Value::Bool(_)]) => {
            vm.alloc(length * 2)?;
            codec::groovy_base64(&bytes.borrow(), name, matches!(arguments, [Value::Bool(true)]))
        }
        ("encodeHex", []) => {
            let hex = codec::hex(&bytes.borrow());
            vm.string(hex)?
        }
        ("md5", []) => Value::from(codec::hex(&codec::digest("MD5", &bytes.borrow())?)),
        ("sha256", []) => Value::from(codec::hex(&codec::digest("SHA-256", &bytes.borrow())?)),
        ("digest", [algorithm]) => {
            let algorithm = vm.text(algorithm)?;
            Value::from(codec::hex(&codec::digest(&algorithm, &bytes.borrow())?))
        }
        ("clone", []) => {
            vm.alloc(length)?;
            Value::bytes(bytes.borrow().clone())
        }
        ("equals", [Value::Bytes(other)]) => Value::Bool(*bytes.borrow() == *other.borrow()),
        _ => return Ok(None),
    }))
}
