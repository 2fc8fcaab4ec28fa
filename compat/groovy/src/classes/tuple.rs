//! Classes `Tuple`, `Tuple1` to `Tuple9`.

use super::Class;
use crate::error::Eval;
use crate::value::{ListKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("groovy.lang.Tuple", make).and_call(of),
    Class::with_constructor("groovy.lang.Tuple1", make),
    Class::with_constructor("groovy.lang.Tuple2", make),
    Class::with_constructor("groovy.lang.Tuple3", make),
    Class::with_constructor("groovy.lang.Tuple4", make),
    Class::with_constructor("groovy.lang.Tuple5", make),
    Class::with_constructor("groovy.lang.Tuple6", make),
    Class::with_constructor("groovy.lang.Tuple7", make),
    Class::with_constructor("groovy.lang.Tuple8", make),
    Class::with_constructor("groovy.lang.Tuple9", make),
];

/// Names of the elements in getters.
const PLACES: [&str; 9] =
    ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth"];

/// A tuple: an immutable list.
struct Tuple {
    class: &'static str,
    items: Vec<Value>,
}

fn make(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    vm.alloc(arguments.len() * 24 + 24)?;
    let class = super::by_full_name(class).map_or("groovy.lang.Tuple", |class| class.name);
    Ok(Value::native(Tuple { class, items: arguments.to_vec() }))
}

/// `Tuple.tuple(…)`
fn of(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    if name != "tuple" {
        return Ok(None);
    }
    make(vm, &format!("groovy.lang.Tuple{}", arguments.len()), arguments).map(Some)
}

impl Tuple {
    fn list(&self) -> Value {
        Value::listing(ListKind::Immutable, self.items.clone())
    }

    /// Element of a getter.
    fn get(&self, name: &str) -> Option<Value> {
        let place = match name.strip_prefix('V').and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => number.checked_sub(1)?,
            None => PLACES.iter().position(|place| *place == name)?,
        };
        self.items.get(place).cloned()
    }
}

impl Native for Tuple {
    fn class_name(&self) -> &str {
        self.class
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let (Some(value), []) =
            (name.strip_prefix("get").and_then(|name| self.get(name)), arguments)
        {
            return Ok(Some(value));
        }
        match (name, arguments) {
            ("getClass" | "equals" | "hashCode" | "is" | "toString", _) => Ok(None),
            ("getAt" | "get", [index]) => vm.index(&self.list(), index).map(Some),
            _ => crate::methods::call(vm, &self.list(), name, arguments),
        }
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        vm.text(&self.list()).map(|text| Some(text.to_string()))
    }

    fn identity(&self) -> Option<Value> {
        Some(self.list())
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        vm.tick(self.items.len())?;
        Ok(Some(self.items.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        to.append(&mut self.items);
    }
}
