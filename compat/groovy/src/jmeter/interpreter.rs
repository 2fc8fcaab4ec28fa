//! `this` of a `BeanShell` script, outside of classes: its interpreter, whose output
//! a script may redirect.

use crate::error::Eval;
use crate::script::Dialect;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// `this`
struct Script;

/// `this.interpreter`
struct Interpreter;

/// Value of `this` outside of classes. In Groovy it is null; no script of a plan
/// depends on another value.
pub(crate) fn script_object(vm: &Vm) -> Value {
    if vm.dialect == Dialect::BeanShell { Value::native(Script) } else { Value::Null }
}

impl Native for Script {
    fn class_name(&self) -> &'static str {
        "bsh.This"
    }

    fn property(&self, _vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        Ok((name == "interpreter").then(|| Value::native(Interpreter)))
    }

    fn call(&self, _vm: &mut Vm, _name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(None)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Interpreter {
    fn class_name(&self) -> &'static str {
        "bsh.Interpreter"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match (name, arguments) {
            ("setOut" | "setErr", [output]) => {
                if name == "setOut" {
                    vm.output = output.clone();
                }
                Some(Value::Null)
            }
            ("print" | "println", [value]) => {
                let output = if vm.output.is_null() {
                    super::binding(vm, "OUT").unwrap_or_default()
                } else {
                    vm.output.clone()
                };
                vm.call_method(&output, name, std::slice::from_ref(value))?;
                Some(Value::Null)
            }
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
