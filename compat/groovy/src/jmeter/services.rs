//! Classes of `JMeter` that scripts use: `JMeterUtils`, `FileServer`, `JMeterContextService` …

use super::{context, cookies, headers, logger, sample, sampler, vars};
use crate::classes::{Class, text_at};
use crate::error::Eval;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// Table of these classes.
pub(crate) static CLASSES: &[Class] = &[
    Class::with_static("org.apache.jmeter.util.JMeterUtils", utils),
    Class::with_static("org.apache.jmeter.threads.JMeterContextService", context_service),
    Class::with_static("org.apache.jmeter.services.FileServer", file_server),
    Class::with_static("org.apache.jmeter.engine.StandardJMeterEngine", engine),
    Class::with_static("org.slf4j.LoggerFactory", loggers),
    Class::with_static("org.apache.jorphan.logging.LoggingManager", loggers),
    Class::with_static("org.apache.logging.log4j.LogManager", loggers),
    Class::with_constructor("org.apache.jmeter.protocol.http.control.Header", headers::make),
    Class::with_constructor(
        "org.apache.jmeter.protocol.http.control.HeaderManager",
        headers::make_manager,
    ),
    Class::with_constructor("org.apache.jmeter.protocol.http.control.Cookie", cookies::make),
    Class::with_constructor(
        "org.apache.jmeter.protocol.http.control.CookieManager",
        cookies::make_manager,
    ),
    Class::with_constructor(
        "org.apache.jmeter.protocol.http.util.HTTPArgument",
        sampler::make_argument,
    ),
    Class::with_constructor("org.apache.jmeter.config.Argument", sampler::make_argument),
    Class::with_constructor("org.apache.jmeter.config.Arguments", sampler::make_arguments),
    Class::name_only("org.apache.jmeter.threads.JMeterContext").and_constants(action),
    Class::name_only("org.apache.jmeter.threads.JMeterContext$TestLogicalAction")
        .and_constants(action),
    Class::name_only("org.apache.jmeter.threads.JMeterContext.TestLogicalAction")
        .and_constants(action),
    Class::name_only("org.apache.jmeter.threads.JMeterVariables"),
    Class::name_only("org.apache.jmeter.threads.ThreadGroup"),
    Class::name_only("org.apache.jmeter.threads.AbstractThreadGroup"),
    Class::name_only("org.apache.jmeter.samplers.SampleResult")
        .and_constructor(sample::make)
        .and_constants(kinds),
    Class::name_only("org.apache.jmeter.samplers.Sampler"),
    Class::name_only("org.apache.jmeter.assertions.AssertionResult"),
    Class::name_only("org.apache.jmeter.protocol.http.sampler.HTTPSampleResult"),
    Class::name_only("org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy"),
    Class::name_only("org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase"),
    Class::name_only("org.apache.jmeter.protocol.http.sampler.HTTPSampler"),
    Class::name_only("org.apache.jmeter.testelement.property.CollectionProperty"),
    Class::name_only("org.apache.jmeter.testelement.property.PropertyIterator"),
    Class::name_only("org.apache.jmeter.testelement.property.JMeterProperty"),
    Class::name_only("org.slf4j.Logger"),
    Class::name_only("org.apache.log.Logger"),
];

/// Constants of `SampleResult` such as `TEXT`.
fn kinds(_vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "TEXT" => Some(Value::str("text")),
        "BINARY" => Some(Value::str("bin")),
        "DEFAULT_HTTP_ENCODING" => Some(Value::str("UTF-8")),
        _ => None,
    }
}

/// A value of `TestLogicalAction`, represented by its name.
fn action(_vm: &mut Vm, name: &str) -> Option<Value> {
    if name == "TestLogicalAction" {
        let class = crate::classes::by_full_name(
            "org.apache.jmeter.threads.JMeterContext$TestLogicalAction",
        )?;
        return Some(Value::Class(crate::value::ClassRef::Known(class)));
    }
    name.starts_with(|letter: char| letter.is_ascii_uppercase()).then(|| Value::str(name))
}

fn utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let props = Value::native(vars::Props);
    Ok(Some(match (name, arguments) {
        ("getProperty", [_]) => vm.call_method(&props, "get", arguments)?,
        ("getPropDefault", [_, default]) => {
            let value = vm.call_method(&props, "get", &arguments[..1])?;
            let text = if value.is_null() { None } else { Some(vm.text(&value)?) };
            match (default, text) {
                (_, None) => default.clone(),
                (Value::Int(_), Some(text)) => {
                    text.trim().parse().map_or(default.clone(), Value::Int)
                }
                (Value::Long(_), Some(text)) => {
                    text.trim().parse().map_or(default.clone(), Value::Long)
                }
                (Value::Bool(_), Some(text)) => {
                    Value::Bool(text.trim() == "true" || text.trim() == "1")
                }
                (_, Some(text)) => Value::Str(text),
            }
        }
        ("setProperty", [_, _]) => vm.call_method(&props, "put", arguments)?,
        ("getJMeterProperties", []) => props,
        ("getJMeterHome" | "getJMeterBinDir", []) => Value::str(vm.host.base_directory()),
        ("getLocalHostName" | "getLocalHostFullName", []) => Value::str(vm.host.host_name()),
        ("getLocalHostIP", []) => Value::str("127.0.0.1"),
        // The stable release of JMeter that brunt reproduces.
        ("getJMeterVersion", []) => Value::str("5.6.3"),
        ("getRandomInt", [_]) => {
            let random = crate::classes::random(vm)?;
            vm.call_method(&random, "nextInt", arguments)?
        }
        _ => return Ok(None),
    }))
}

fn context_service(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match name {
        "getContext" => Some(Value::native(context::Context)),
        "getTotalThreads" | "getNumberOfThreads" => Some(Value::Int(1)),
        "getTestStartTime" => Some(Value::Long(0)),
        "getThreadCounts" => Some(Value::Null),
        _ => None,
    })
}

fn file_server(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok((name == "getFileServer").then(|| Value::native(FileServer)))
}

fn engine(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    context::Engine.call(vm, name, arguments)
}

fn loggers(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(matches!(name, "getLogger" | "getLoggerForClass" | "getLoggerFor")
        .then(|| Value::native(logger::Logger)))
}

/// `FileServer.getFileServer()`
struct FileServer;

impl Native for FileServer {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.services.FileServer"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match (name, arguments) {
            ("getBaseDir" | "getDefaultBase", []) => Some(Value::str(vm.host.base_directory())),
            ("getScriptName", []) => Some(Value::str(vm.host.plan_file())),
            ("getResolvedFile", [_]) => {
                let path = text_at(vm, arguments, 0)?;
                Some(Value::from(if path.starts_with('/') {
                    path.to_string()
                } else {
                    format!("{}/{path}", vm.host.base_directory())
                }))
            }
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
