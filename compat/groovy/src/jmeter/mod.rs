//! The objects that `JMeter` provides to scripts, on top of [`crate::host::Host`].

mod context;
mod cookies;
mod headers;
mod interpreter;
mod logger;
mod result;
mod sample;
mod sampler;
mod services;
mod vars;

pub(crate) use interpreter::script_object;
pub(crate) use services::CLASSES;

use crate::classes::format;
use crate::error::{Eval, throw};
use crate::host::LogLevel;
use crate::value::Value;
use crate::vm::{Frame, Vm};
use std::rc::Rc;

/// Value of a predefined name; `None` if it is not predefined.
pub(crate) fn binding(vm: &mut Vm, name: &str) -> Option<Value> {
    Some(match name {
        "vars" => Value::native(vars::Vars),
        "props" => Value::native(vars::Props),
        "log" => Value::native(logger::Logger),
        "ctx" => Value::native(context::Context),
        "prev" => sample::previous(vm),
        "SampleResult" | "sampleResult" => {
            vm.host.sample().map_or(Value::Null, |_| Value::native(sample::Result::main()))
        }
        "sampler" | "Sampler" => {
            vm.host.request().map_or(Value::Null, |_| Value::native(sampler::Sampler))
        }
        "AssertionResult" => Value::native(result::Assertion),
        "OUT" => Value::native(crate::classes::Output { level: LogLevel::Info }),
        "threadName" => Value::str(vm.host.thread_name()),
        "Label" => Value::str(vm.host.label()),
        "Parameters" => Value::str(vm.host.parameters()),
        "FileName" => Value::str(vm.host.file_name()),
        "args" => Value::array(vm.host.parameters().split_whitespace().map(Value::str).collect()),
        "bsh" => {
            let (value, map) = Value::map(crate::value::MapKind::Linked);
            map.insert(Value::str("args"), binding(vm, "args")?);
            map.insert(Value::str("shared"), Value::map(crate::value::MapKind::Linked).0);
            value
        }
        _ => return sample_binding(vm, name),
    })
}

/// Value of a predefined name of `BeanShell` elements for a part of the sample.
fn sample_binding(vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "Failure" => return Some(Value::Bool(vm.host.failure())),
        "FailureMessage" => return Some(Value::str(vm.host.failure_message())),
        _ => {}
    }
    let sample = vm.host.sample()?;
    Some(match name {
        "data" | "ResponseData" => Value::bytes(sample.body().into_owned()),
        "ResponseCode" => Value::str(sample.code()),
        "ResponseMessage" => Value::str(sample.message()),
        "ResponseHeaders" => Value::str(sample.response_headers()),
        "RequestHeaders" => Value::str(sample.request_headers()),
        "SampleLabel" => Value::str(sample.label()),
        "SamplerData" => Value::str(sample.sampler_data()),
        "Successful" | "IsSuccess" => Value::Bool(sample.success()),
        "URL" => Value::str(sample.url()),
        _ => return None,
    })
}

/// Assigns to a predefined name that scripts may set; `false` for other names.
pub(crate) fn assign(vm: &mut Vm, name: &str, value: &Value) -> Eval<bool> {
    match name {
        "Failure" => {
            let failed = vm.truth(value)?;
            vm.host.set_failure(failed);
        }
        "FailureMessage" => {
            let text = vm.text(value)?;
            vm.host.set_failure_message(&text);
        }
        "ResponseCode" | "ResponseMessage" | "IsSuccess" | "SampleLabel" | "ResponseData" => {
            let text = vm.text(value)?;
            let truth = vm.truth(value)?;
            let Some(sample) = vm.host.sample_mut() else { return Ok(false) };
            match name {
                "ResponseCode" => sample.set_code(&text),
                "ResponseMessage" => sample.set_message(&text),
                "IsSuccess" => sample.set_success(truth),
                "ResponseData" => sample.set_body(text.as_bytes()),
                _ => sample.set_label(&text),
            }
        }
        "vars" | "props" | "log" | "ctx" | "prev" | "sampler" | "SampleResult"
        | "AssertionResult" | "OUT" => {
            // Some scripts give their own variable such a name.
            return Ok(false);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `Eval.me(text)`, `new GroovyShell().evaluate(text)`
pub(crate) fn shell(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    match (name, arguments) {
        ("me" | "evaluate", [source, ..]) => evaluate(vm, source).map(Some),
        _ => Ok(None),
    }
}

/// Calls a function that every script has; `None` if it does not exist.
pub(crate) fn function(
    vm: &mut Vm,
    frame: &Rc<Frame>,
    name: &str,
    arguments: &[Value],
) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        // `print`, `error` and `debug` are commands of BeanShell.
        ("println" | "print" | "error" | "debug", rest) if rest.len() <= 1 => {
            let text = match rest.first() {
                Some(value) => vm.text(value)?,
                None => "".into(),
            };
            if vm.output.is_null() {
                vm.host.log(LogLevel::Info, &text);
            } else {
                let output = vm.output.clone();
                vm.call_method(&output, "println", &[Value::Str(text)])?;
            }
            Value::Null
        }
        ("printf" | "sprintf", [_, rest @ ..]) => {
            let template = vm.text(&arguments[0])?;
            let text = format::format(vm, &template, rest)?;
            if name == "sprintf" {
                return vm.string(text).map(Some);
            }
            vm.host.log(LogLevel::Info, &text);
            Value::Null
        }
        ("sleep", [time, ..]) => {
            let time = vm.to_long(time)?;
            vm.host.pause(u64::try_from(time).unwrap_or(0));
            Value::Null
        }
        ("getBinding" | "getProperty" | "getClass", []) => Value::Null,
        ("evaluate" | "eval", [source]) => evaluate(vm, source)?,
        // The methods of the time categories are always available.
        ("use", [_, .., closure @ Value::Closure(_)]) => vm.call_closure(closure, &[])?,
        ("exec", [command]) => {
            let command = vm.text(command)?;
            crate::methods::execute(vm, &[command.to_string()])?
        }
        ("isVariableDefined", [name]) => {
            let name = vm.text(name)?;
            let index = frame.globals.code.globals.iter().position(|global| **global == *name);
            Value::Bool(index.is_some_and(|index| {
                frame.globals.values.borrow().get(index).is_some_and(Option::is_some)
            }))
        }
        ("source" | "addClassPath" | "importCommands", [_]) => {
            return Err(throw(
                "java.io.FileNotFoundException",
                format!("{name}() is not available to scripts here"),
            ));
        }
        _ => return Ok(None),
    }))
}

/// Runs text as a separate script.
pub(crate) fn evaluate(vm: &mut Vm, source: &Value) -> Eval<Value> {
    let source = match crate::classes::io::content(vm, source)? {
        Some(file) => String::from_utf8_lossy(&file).into(),
        None => vm.text(source)?,
    };
    vm.tick(source.len())?;
    let code = crate::syntax::parse(&source, vm.dialect)
        .map_err(|error| throw("groovy.lang.GroovyRuntimeException", error.to_string()))?;
    vm.run_inner(&std::sync::Arc::new(code))
}
