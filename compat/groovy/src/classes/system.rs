//! `System`, `Thread`, `Runtime`, `InetAddress`: the process as the host presents it.

use super::{Class, text_at};
use crate::error::{Eval, throw};
use crate::host::LogLevel;
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.lang.System", system).and_constants(streams),
    Class::with_static("java.lang.Thread", thread),
    Class::with_static("java.util.concurrent.TimeUnit", super::codec::no_static)
        .and_constants(unit),
    Class::with_static("java.lang.Runtime", runtime),
    Class::with_static("java.lang.ProcessBuilder", super::codec::no_static)
        .and_constructor(process_builder),
    Class::with_static("java.net.InetAddress", address),
];

fn system(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("currentTimeMillis", []) => Value::Long(vm.host.now_millis()),
        ("nanoTime", []) => Value::Long(vm.host.nano_time()),
        ("lineSeparator", []) => Value::str("\n"),
        ("getProperty", [_, rest @ ..]) => {
            let name = text_at(vm, arguments, 0)?;
            match system_property(vm, &name) {
                Some(value) => Value::from(value),
                None => rest.first().cloned().unwrap_or_default(),
            }
        }
        ("setProperty", [_, value]) => {
            let name = text_at(vm, arguments, 0)?;
            let value = vm.text(value)?;
            vm.host.set_property(&name, Some(&value));
            Value::Null
        }
        ("getenv", [_]) => {
            let name = text_at(vm, arguments, 0)?;
            Value::optional(vm.host.environment(&name))
        }
        ("getenv" | "getProperties", []) => Value::map(MapKind::Linked).0,
        ("identityHashCode", [value]) => vm.call_method(value, "hashCode", &[])?,
        // A script cannot end the process.
        ("gc" | "exit", _) => Value::Null,
        ("arraycopy", [source, source_start, target, target_start, count]) => {
            copy(vm, source, source_start, target, target_start, count)?;
            Value::Null
        }
        _ => return Ok(None),
    }))
}

fn system_property(vm: &mut Vm, name: &str) -> Option<String> {
    if let Some(value) = vm.host.system_property(name) {
        return Some(value);
    }
    Some(match name {
        "line.separator" => "\n".to_owned(),
        "file.separator" => "/".to_owned(),
        "path.separator" => ":".to_owned(),
        "user.dir" => vm.host.base_directory().into_owned(),
        "java.io.tmpdir" => "/tmp".to_owned(),
        "os.name" => "Linux".to_owned(),
        "file.encoding" => "UTF-8".to_owned(),
        _ => return vm.host.property(name).map(std::borrow::Cow::into_owned),
    })
}

fn copy(
    vm: &mut Vm,
    source: &Value,
    source_start: &Value,
    target: &Value,
    target_start: &Value,
    count: &Value,
) -> Eval<()> {
    let source_start = vm.to_long(source_start)?;
    let target_start = vm.to_long(target_start)?;
    let count = vm.to_long(count)?;
    if count < 0 {
        return Err(no_array_index(&format!("length {count} is negative")));
    }
    for (role, array, start) in
        [("source", source, source_start), ("destination", target, target_start)]
    {
        let length = vm.call_method(array, "size", &[])?;
        let length = vm.to_long(&length)?;
        if start < 0 {
            return Err(no_array_index(&format!(
                "{role} index {start} out of bounds for length {length}"
            )));
        }
        let end = start.saturating_add(count);
        if end > length {
            return Err(no_array_index(&format!(
                "last {role} index {end} out of bounds for length {length}"
            )));
        }
    }
    // Read before the first write, because the ranges may overlap.
    vm.alloc(count as usize * 24)?;
    let mut items = Vec::new();
    for offset in 0..count {
        vm.tick(1)?;
        items.push(vm.index(source, &Value::integer(source_start + offset))?);
    }
    for (offset, item) in items.into_iter().enumerate() {
        vm.set_index(target, &Value::integer(target_start + offset as i64), item)?;
    }
    Ok(())
}

fn no_array_index(problem: &str) -> Box<crate::error::Fault> {
    throw("java.lang.ArrayIndexOutOfBoundsException", format!("arraycopy: {problem}"))
}

fn streams(_vm: &mut Vm, name: &str) -> Option<Value> {
    match name {
        "out" => Some(Value::native(Output { level: LogLevel::Info })),
        "err" => Some(Value::native(Output { level: LogLevel::Error })),
        _ => None,
    }
}

/// `System.out` and `OUT`, which write lines to the log.
pub(crate) struct Output {
    pub level: LogLevel,
}

impl Native for Output {
    fn class_name(&self) -> &'static str {
        "java.io.PrintStream"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let text = match (name, arguments) {
            ("println" | "print" | "write" | "append" | "leftShift", [value, ..]) => {
                vm.text(value)?
            }
            ("println", []) => "".into(),
            ("printf" | "format", [template, rest @ ..]) => {
                let template = vm.text(template)?;
                super::format::format(vm, &template, rest)?.into()
            }
            ("flush" | "close", _) => return Ok(Some(Value::Null)),
            _ => return Ok(None),
        };
        vm.host.log(self.level, &text);
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn thread(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("sleep", [time, ..]) => {
            let time = vm.to_long(time)?;
            vm.host.pause(u64::try_from(time).unwrap_or(0));
            Value::Null
        }
        ("currentThread", []) => Value::native(Thread),
        ("yield", []) => Value::Null,
        // A thread runs at once and to its end, because all threads of a script end with it.
        ("start" | "startDaemon", [.., closure @ Value::Closure(_)]) => {
            vm.call_closure(closure, &[])?;
            Value::native(Thread)
        }
        _ => return Ok(None),
    }))
}

/// The virtual user, as a Java thread.
pub(crate) struct Thread;

impl Native for Thread {
    fn class_name(&self) -> &'static str {
        "java.lang.Thread"
    }

    fn call(&self, vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getName" | "getThreadName" | "toString" => Value::str(vm.host.thread_name()),
            "getId" | "threadId" => Value::Long(i64::from(vm.host.thread_number())),
            "interrupt" | "setName" | "join" | "setDaemon" => Value::Null,
            "isInterrupted" => Value::Bool(false),
            "isAlive" => Value::Bool(true),
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A time unit: nanoseconds and name.
struct Unit(i64, &'static str);

fn unit(_vm: &mut Vm, name: &str) -> Option<Value> {
    const UNITS: [(&str, i64); 7] = [
        ("NANOSECONDS", 1),
        ("MICROSECONDS", 1_000),
        ("MILLISECONDS", 1_000_000),
        ("SECONDS", 1_000_000_000),
        ("MINUTES", 60_000_000_000),
        ("HOURS", 3_600_000_000_000),
        ("DAYS", 86_400_000_000_000),
    ];
    UNITS
        .iter()
        .find(|(unit_name, _)| *unit_name == name)
        .map(|(name, nanos)| Value::native(Unit(*nanos, name)))
}

impl Native for Unit {
    fn class_name(&self) -> &'static str {
        "java.util.concurrent.TimeUnit"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let amount = match arguments.first() {
            Some(amount) => vm.to_long(amount)?,
            None => return Ok((name == "toString" || name == "name").then(|| Value::str(self.1))),
        };
        if let ("convert", [_, from]) = (name, arguments) {
            let from = from.downcast::<Self>().map_or(self.0, |unit| unit.0);
            return Ok(Some(Value::Long(
                (i128::from(amount) * i128::from(from) / i128::from(self.0)) as i64,
            )));
        }
        let nanos = i128::from(amount) * i128::from(self.0);
        let divisor = match name {
            "sleep" => {
                vm.host.pause(u64::try_from(nanos / 1_000_000).unwrap_or(0));
                return Ok(Some(Value::Null));
            }
            "toNanos" => 1,
            "toMicros" => 1_000,
            "toMillis" => 1_000_000,
            "toSeconds" => 1_000_000_000,
            "toMinutes" => 60_000_000_000,
            "toHours" => 3_600_000_000_000,
            "toDays" => 86_400_000_000_000,
            _ => return Ok(None),
        };
        Ok(Some(Value::Long((nanos / divisor) as i64)))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::Long(self.0))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn runtime(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok((name == "getRuntime").then(|| Value::native(Runtime)))
}

/// `Runtime.getRuntime()`
struct Runtime;

impl Native for Runtime {
    fn class_name(&self) -> &'static str {
        "java.lang.Runtime"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("exec", [command, ..]) => start(vm, command)?,
            ("availableProcessors", []) => Value::Int(1),
            ("freeMemory" | "totalMemory" | "maxMemory", []) => Value::Long(1 << 30),
            ("gc", []) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Runs a command given as a text or a list.
fn start(vm: &mut Vm, command: &Value) -> Eval<Value> {
    let words = match command {
        Value::Str(text) => text.split_whitespace().map(str::to_owned).collect(),
        other => {
            let mut words = Vec::new();
            for word in vm.items(other)? {
                words.push(vm.text(&word)?.to_string());
            }
            words
        }
    };
    crate::methods::execute(vm, &words)
}

fn process_builder(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let command = match arguments {
        [one @ Value::List(_)] => one.clone(),
        many => Value::list(many.to_vec()),
    };
    start(vm, &command)
}

fn address(vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(matches!(name, "getLocalHost" | "getByName" | "getLoopbackAddress")
        .then(|| Value::native(Address(vm.host.host_name().into_owned()))))
}

/// An `InetAddress`, which is always the local host.
struct Address(String);

impl Native for Address {
    fn class_name(&self) -> &'static str {
        "java.net.InetAddress"
    }

    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match name {
            "getHostName" | "getCanonicalHostName" => Some(Value::str(&self.0)),
            "getHostAddress" => Some(Value::str("127.0.0.1")),
            _ => None,
        })
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(format!("{}/127.0.0.1", self.0)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
