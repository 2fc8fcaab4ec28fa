//! `Collectors` and `IntStream`. This interpreter represents streams as lists.

use super::Class;
use crate::error::Eval;
use crate::value::{MapKind, Native, Range, Value};
use crate::vm::Vm;
use std::any::Any;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.util.stream.Collectors", collectors),
    Class::with_static("java.util.stream.IntStream", ranges),
    Class::with_static("java.util.stream.LongStream", ranges),
    Class::with_static("java.util.stream.Stream", ranges),
];

/// A collector: the name of the equivalent list method, and its arguments.
struct Collector {
    name: String,
    arguments: Vec<Value>,
}

fn collectors(_vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    const SUPPORTED: [&str; 8] = [
        "toList",
        "toSet",
        "joining",
        "toMap",
        "groupingBy",
        "counting",
        "partitioningBy",
        "toUnmodifiableList",
    ];
    let is_supported = SUPPORTED.contains(&name);
    Ok(is_supported
        .then(|| Value::native(Collector { name: name.to_owned(), arguments: arguments.to_vec() })))
}

fn ranges(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match (name, arguments) {
        ("range" | "rangeClosed", [from, to]) => {
            let from = vm.to_long(from)?;
            let to = vm.to_long(to)?;
            let to = if name == "range" { to.saturating_sub(1) } else { to };
            Some(Value::Range(Rc::new(Range { from, to, empty: to < from })))
        }
        ("of", _) => Some(Value::list(arguments.to_vec())),
        _ => None,
    })
}

impl Native for Collector {
    fn class_name(&self) -> &'static str {
        "java.util.stream.Collector"
    }
    fn call(&self, _vm: &mut Vm, _name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(None)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Collects the elements of a stream.
pub(super) fn collect(vm: &mut Vm, items: Vec<Value>, collector: &Value) -> Eval<Value> {
    let Some(kind) = collector.downcast::<Collector>() else { return vm.new_list(items) };
    let list = vm.new_list(items)?;
    match (&*kind.name, &*kind.arguments) {
        ("toSet", _) => vm.call_method(&list, "toSet", &[]),
        ("counting", _) => vm.call_method(&list, "size", &[]),
        ("joining", [separator, before, after]) => {
            let joined = vm.call_method(&list, "join", std::slice::from_ref(separator))?;
            let text = format!("{}{}{}", vm.text(before)?, vm.text(&joined)?, vm.text(after)?);
            vm.string(text)
        }
        ("joining", rest) => vm.call_method(&list, "join", rest),
        ("toMap", [key, value, ..]) => {
            let (result, map) = Value::map(MapKind::Linked);
            for item in vm.items(&list)? {
                let key = vm.call_closure(key, std::slice::from_ref(&item))?;
                let value = vm.call_closure(value, std::slice::from_ref(&item))?;
                vm.put(&map, key, value)?;
            }
            Ok(result)
        }
        ("groupingBy" | "partitioningBy", [key, ..]) => {
            vm.call_method(&list, "groupBy", std::slice::from_ref(key))
        }
        _ => Ok(list),
    }
}
