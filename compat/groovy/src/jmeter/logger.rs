//! The logger `log` of JMeter scripts.

use crate::error::Eval;
use crate::host::LogLevel;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// `log`, and the result of `LoggerFactory.getLogger`.
pub(super) struct Logger;

impl Native for Logger {
    fn class_name(&self) -> &'static str {
        "org.slf4j.Logger"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let level = match name
            .trim_start_matches("is")
            .trim_end_matches("Enabled")
            .to_ascii_lowercase()
            .as_str()
        {
            "trace" => LogLevel::Trace,
            "debug" => LogLevel::Debug,
            "info" => LogLevel::Info,
            "warn" | "warning" => LogLevel::Warn,
            "error" | "fatal" | "fatalerror" => LogLevel::Error,
            _ => {
                return Ok(match name {
                    "getName" => Some(Value::str("org.apache.jmeter.script")),
                    "setLevel" => Some(Value::Null),
                    _ => None,
                });
            }
        };
        if name.starts_with("is") {
            return Ok(Some(Value::Bool(vm.host.log_enabled(level))));
        }
        let text = format_message(vm, arguments)?;
        vm.host.log(level, &text);
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Fills in the `{}` of a message. Appends exceptions without a placeholder.
fn format_message(vm: &mut Vm, arguments: &[Value]) -> Eval<String> {
    let Some((template, rest)) = arguments.split_first() else { return Ok(String::new()) };
    let template = vm.text(template)?;
    // A single list or array supplies all arguments.
    let rest = match rest {
        // For one placeholder, the list itself is the value.
        [Value::List(list)] if template.matches("{}").count() > 1 => list.items.borrow().clone(),
        other => other.to_vec(),
    };
    let mut rest = rest.iter();
    let mut text = String::new();
    let mut parts = template.split("{}");
    text.push_str(parts.next().unwrap_or(""));
    for part in parts {
        match rest.next() {
            Some(value) => text.push_str(&vm.text(value)?),
            None => text.push_str("{}"),
        }
        text.push_str(part);
    }
    // SLF4J logs an exception after the last placeholder with its stack trace.
    for value in rest.filter(|value| matches!(value, Value::Native(_) | Value::Instance(_))) {
        text.push_str(": ");
        text.push_str(&vm.text(value)?);
    }
    vm.alloc(text.len())?;
    Ok(text)
}
