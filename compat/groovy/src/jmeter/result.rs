//! The object `AssertionResult` of assertion scripts.

use crate::error::Eval;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// Result of the assertion that the script implements.
pub(super) struct Assertion;

impl Native for Assertion {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.assertions.AssertionResult"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("setFailure" | "setError", [failed]) => {
                let failed = vm.truth(failed)?;
                vm.host.set_failure(failed);
                Value::Null
            }
            ("setFailureMessage", [message]) => {
                let message = vm.text(message)?;
                vm.host.set_failure_message(&message);
                Value::Null
            }
            ("setResultForFailure", [message]) => {
                let message = vm.text(message)?;
                vm.host.set_failure(true);
                vm.host.set_failure_message(&message);
                Value::native(Self)
            }
            ("setResultForNull", []) => {
                vm.host.set_failure(true);
                vm.host.set_failure_message("Response was null");
                Value::native(Self)
            }
            ("isFailure" | "isError", []) => Value::Bool(vm.host.failure()),
            ("getFailureMessage", []) => Value::str(vm.host.failure_message()),
            ("getName", []) => Value::str(vm.host.label()),
            ("setName", [_]) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A failed assertion of a sample in `getAssertionResults`.
pub(super) struct FailedAssertion(pub String);

impl Native for FailedAssertion {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.assertions.AssertionResult"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match name {
            "isFailure" => Some(Value::Bool(true)),
            "isError" => Some(Value::Bool(false)),
            "getFailureMessage" => Some(Value::str(&self.0)),
            "getName" => Some(Value::str("Assertion")),
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
