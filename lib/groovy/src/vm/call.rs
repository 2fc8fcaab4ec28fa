//! Calls of closures, functions and methods.

use super::{Frame, Vm};
use crate::error::{Eval, throw};
use crate::syntax::ast::{Call, Function, Name, Type};
use crate::value::{Callable, ClassRef, Closure, Value};
use std::rc::Rc;
use std::sync::Arc;

impl Vm<'_> {
    /// Calls a closure. One list as only argument is laid out for a closure of several parameters.
    pub fn call_closure(&mut self, closure: &Value, arguments: &[Value]) -> Eval<Value> {
        let Value::Closure(target) = closure else { return self.call_method(closure, "call", arguments) };
        let target = Rc::clone(target);
        let line = self.line;
        let result = self.deeper(|vm| match &target.code {
            Callable::Script(function, frame) => vm.call_script(&target, function, frame, arguments),
            Callable::Method(object, name) => vm.call_reference(object, name, arguments),
            Callable::Composed(first, second) => {
                let between = vm.call_closure(first, arguments)?;
                vm.call_closure(second, &[between])
            }
            Callable::Curried(inner, before) => {
                let all: Vec<Value> = before.iter().chain(arguments).cloned().collect();
                vm.call_closure(inner, &all)
            }
        });
        if result.is_ok() {
            self.line = line;
        }
        result
    }

    /// `Class::method` of an object is a method of its first argument.
    fn call_reference(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Eval<Value> {
        if let (Value::Class(class), Some((first, rest))) = (object, arguments.split_first()) {
            if let Some(result) = self.call_static(class, name, arguments)? {
                return Ok(result);
            }
            return self.call_method(first, name, rest);
        }
        self.call_method(object, name, arguments)
    }

    fn call_script(
        &mut self,
        closure: &Closure,
        function: &Arc<Function>,
        outer: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<Value> {
        let delegate = closure.delegate.borrow().clone();
        let delegate = if delegate.is_null() { outer.delegate.clone() } else { delegate };
        let frame = Rc::new(Frame {
            slots: std::cell::RefCell::new(vec![Value::Null; usize::from(function.slots)]),
            parent: Some(Rc::clone(outer)),
            globals: Rc::clone(&outer.globals),
            this: outer.this.clone(),
            delegate,
        });
        if function.implicit_it {
            let it = arguments.first().cloned().unwrap_or_default();
            super::exec::set_slot(&frame, 0, it);
        } else {
            let laid_out = self.laid_out(function, arguments)?;
            self.bind(function, &frame, laid_out.as_deref().unwrap_or(arguments))?;
        }
        self.body(function, &frame)
    }

    /// The elements of the one list that stands for several parameters.
    fn laid_out(&mut self, function: &Function, arguments: &[Value]) -> Eval<Option<Vec<Value>>> {
        match arguments {
            [list @ Value::List(_)] if function.parameters.len() > 1 => self.elements(list),
            [Value::Native(object)] if function.parameters.len() > 1 && object.class_name().ends_with("Entry") => {
                let entry = &arguments[0];
                let (key, value) = (self.property(entry, "key")?, self.property(entry, "value")?);
                Ok(Some(vec![key, value]))
            }
            _ => Ok(None),
        }
    }

    /// How many arguments a closure takes; one for `it`.
    pub fn arity(closure: &Value) -> usize {
        match closure {
            Value::Closure(closure) => match &closure.code {
                Callable::Script(function, _) if function.implicit_it => 1,
                Callable::Script(function, _) => function.parameters.len(),
                _ => 1,
            },
            _ => 1,
        }
    }

    /// Gives parameters their values.
    fn bind(&mut self, function: &Function, frame: &Rc<Frame>, arguments: &[Value]) -> Eval<()> {
        let count = function.parameters.len();
        let mut at = 0;
        let optional = function.parameters.iter().filter(|parameter| parameter.default.is_some()).count();
        let mut given_to_optional = arguments.len().saturating_sub(count - optional);
        for (slot, parameter) in function.parameters.iter().enumerate() {
            let variadic = parameter.variadic
                || (slot + 1 == count && matches!(parameter.ty, Type::Array(_)) && arguments.len() != count);
            let value = if variadic && slot + 1 == count {
                let rest = arguments.get(at..).unwrap_or(&[]);
                match rest {
                    [Value::List(list)] if list.kind == crate::value::ListKind::Array => rest[0].clone(),
                    _ => Value::array(rest.to_vec()),
                }
            } else if let (Some(default), true) = (&parameter.default, given_to_optional == 0) {
                self.eval(default, frame)?
            } else {
                given_to_optional -= usize::from(parameter.default.is_some());
                at += 1;
                arguments.get(at - 1).cloned().unwrap_or_default()
            };
            let value = self.coerce(value, &parameter.ty)?;
            super::exec::set_slot(frame, slot as u16, value);
        }
        Ok(())
    }

    /// Calls a function with what is `this` in it.
    pub fn call_function(
        &mut self,
        function: &Arc<Function>,
        parent: Option<Rc<Frame>>,
        globals: &Rc<super::Globals>,
        this: Value,
        arguments: &[Value],
    ) -> Eval<Value> {
        let line = self.line;
        let result = self.deeper(|vm| {
            let frame = vm.frame(Rc::clone(globals), parent, function.slots, this);
            vm.bind(function, &frame, arguments)?;
            let value = vm.body(function, &frame)?;
            if function.returns == Type::Void { Ok(Value::Null) } else { vm.coerce(value, &function.returns) }
        });
        if result.is_ok() {
            self.line = line;
        }
        result
    }

    /// `name(…)`
    pub fn call_name(&mut self, call: &Call, frame: &Rc<Frame>) -> Eval<Value> {
        let arguments = self.arguments(&call.arguments, frame)?;
        self.line = call.line;
        if let Some((depth, slot)) = call.local {
            let value = self.local(frame, depth, slot);
            if !value.is_null() {
                return self.call_closure(&value, &arguments);
            }
        }
        if matches!(&*call.name, "this" | "super") {
            return self.call_constructor(&call.name, frame, &arguments).map(|()| Value::Null);
        }
        if let Some(result) = self.own_method(&call.name, frame, &arguments)? {
            return Ok(result);
        }
        if let Some(result) = self.script_method(&call.name, frame, &arguments)? {
            return Ok(result);
        }
        let stored = frame.globals.values.borrow().get(call.global as usize).cloned().flatten();
        if let Some(value) = stored.filter(|value| matches!(value, Value::Closure(_))) {
            return self.call_closure(&value, &arguments);
        }
        if !frame.delegate.is_null() {
            let delegate = frame.delegate.clone();
            if let Some(result) = self.call_optional(&delegate, &call.name, &arguments)? {
                return Ok(result);
            }
        }
        if let Some(result) = crate::jmeter::function(self, frame, &call.name, &arguments)? {
            return Ok(result);
        }
        if let Some(result) = self.imported_function(&call.name, frame, &arguments)? {
            return Ok(result);
        }
        let value = self.find_global(frame, call.global)?;
        match value {
            Some(value @ (Value::Closure(_) | Value::Instance(_) | Value::Native(_))) => {
                self.call_closure(&value, &arguments)
            }
            _ => Err(self.missing_method("Script1", &call.name, &arguments)),
        }
    }

    /// A method of the object or class that the code belongs to.
    fn own_method(&mut self, name: &Name, frame: &Rc<Frame>, arguments: &[Value]) -> Eval<Option<Value>> {
        match &frame.this {
            Value::Null => Ok(None),
            Value::Class(class) => self.call_static(&class.clone(), name, arguments),
            this => {
                let this = this.clone();
                if let Some(result) = self.call_optional(&this, name, arguments)? {
                    return Ok(Some(result));
                }
                let Value::Instance(instance) = &this else { return Ok(None) };
                self.call_script_static(&Arc::clone(&instance.class), name, arguments)
            }
        }
    }

    /// A method of the script.
    pub fn script_method(&mut self, name: &str, frame: &Rc<Frame>, arguments: &[Value]) -> Eval<Option<Value>> {
        let code = Arc::clone(&frame.globals.code);
        let own = code.methods.iter().map(|method| &method.function).filter(|function| *function.name == *name);
        let Some(function) = self.overload(own, arguments) else { return Ok(None) };
        // Methods see the script's own variables, as those of BeanShell do.
        let mut outermost = frame;
        while let Some(parent) = &outermost.parent {
            outermost = parent;
        }
        let main = if outermost.this.is_null() { Some(Rc::clone(outermost)) } else { None };
        self.call_function(&function, main, &frame.globals, Value::Null, arguments).map(Some)
    }

    /// `import static`
    fn imported_function(&mut self, name: &str, frame: &Rc<Frame>, arguments: &[Value]) -> Eval<Option<Value>> {
        let code = Arc::clone(&frame.globals.code);
        for import in code.imports.iter().filter(|import| import.is_static) {
            let class = if import.is_wild {
                &*import.path
            } else {
                import.path.rsplit_once('.').map_or("", |(class, _)| class)
            };
            if !import.is_wild && *import.alias != *name {
                continue;
            }
            let real = if import.is_wild { name } else { import.path.rsplit('.').next().unwrap_or(name) };
            if let Some(class) = crate::classes::by_full_name(class)
                && let Some(result) = self.call_static(&ClassRef::Known(class), real, arguments)?
            {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }

    /// The function that takes so many arguments, and of those the one whose types fit best.
    pub fn overload<'f>(
        &mut self,
        functions: impl Iterator<Item = &'f Arc<Function>>,
        arguments: &[Value],
    ) -> Option<Arc<Function>> {
        let mut best: Option<(usize, &Arc<Function>)> = None;
        for function in functions {
            let variadic =
                function.parameters.last().is_some_and(|last| last.variadic || matches!(last.ty, Type::Array(_)));
            let needed = function.parameters.iter().filter(|one| one.default.is_none()).count() - usize::from(variadic);
            let fits = arguments.len() >= needed && (arguments.len() <= function.parameters.len() || variadic);
            // Groovy passes null for a missing single argument.
            let null = arguments.is_empty() && function.parameters.len() == 1;
            if !fits && !null {
                continue;
            }
            let exact = usize::from(fits) + usize::from(arguments.len() == function.parameters.len());
            let typed = function
                .parameters
                .iter()
                .zip(arguments)
                .filter(|(parameter, value)| self.is_of_type(value, &parameter.ty));
            let score = exact * 100 + typed.count();
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, function));
            }
        }
        best.map(|(_, function)| Arc::clone(function))
    }

    /// `object.name(…)`
    pub fn call_method(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Eval<Value> {
        if let Some(result) = self.call_optional(object, name, arguments)? {
            return Ok(result);
        }
        if object.is_null() {
            return Err(throw(
                "java.lang.NullPointerException",
                format!("Cannot invoke method {name}() on null object"),
            ));
        }
        let class = match object {
            Value::Class(class) => class.name().to_owned(),
            other => self.class_name(other),
        };
        Err(self.missing_method(&class, name, arguments))
    }

    pub fn missing_method(&mut self, class: &str, name: &str, arguments: &[Value]) -> Box<crate::error::Fault> {
        let types: Vec<String> = arguments
            .iter()
            .map(|value| {
                let class = self.class_name(value);
                class.rsplit('.').next().unwrap_or(&class).to_owned()
            })
            .collect();
        let mut values = Vec::new();
        for value in arguments {
            values.push(self.text(value).map(|text| crate::error::clip(&text).to_owned()).unwrap_or_default());
        }
        let message = format!(
            "No signature of method: {class}.{name}() is applicable for argument types: ({}) values: [{}]",
            types.join(", "),
            values.join(", ")
        );
        throw("groovy.lang.MissingMethodException", message)
    }

    /// The same, or `None` if there is no such method.
    pub fn call_optional(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        self.tick(2)?;
        self.deeper(|vm| vm.dispatch(object, name, arguments))
    }

    fn dispatch(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let own = match object {
            Value::Native(native) => {
                let result = Rc::clone(native).call(self, name, arguments)?;
                if result.is_some() && crate::classes::builder::chains(object, name) {
                    Some(object.clone())
                } else {
                    result
                }
            }
            Value::Instance(instance) => self.call_instance(&Rc::clone(instance), name, arguments)?,
            Value::Class(class) => self.call_static(class, name, arguments)?,
            Value::Closure(_) => self.closure_method(object, name, arguments)?,
            _ => None,
        };
        if own.is_some() {
            return Ok(own);
        }
        crate::methods::call(self, object, name, arguments)
    }

    fn closure_method(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let Value::Closure(closure) = object else { return Ok(None) };
        let made = |code| Value::Closure(Rc::new(Closure { code, delegate: std::cell::RefCell::default() }));
        Ok(Some(match (name, arguments) {
            // What Java calls the one method of an interface that a closure stands for.
            ("call" | "doCall" | "run" | "apply" | "accept" | "test" | "get" | "compare", _) => {
                self.call_closure(object, arguments)?
            }
            ("curry", _) => made(Callable::Curried(object.clone(), arguments.to_vec())),
            ("rightShift", [other]) => made(Callable::Composed(object.clone(), other.clone())),
            ("leftShift", [other @ Value::Closure(_)]) => made(Callable::Composed(other.clone(), object.clone())),
            ("leftShift", [_]) => self.call_closure(object, arguments)?,
            ("memoize" | "trampoline" | "dehydrate" | "clone", _) => object.clone(),
            ("setDelegate", [delegate]) => {
                closure.delegate.replace(delegate.clone());
                Value::Null
            }
            ("setResolveStrategy", [_]) => Value::Null,
            ("getMaximumNumberOfParameters", []) => Value::count(Self::arity(object)),
            _ => return Ok(None),
        }))
    }

    /// `Class.name(…)`
    pub fn call_static(&mut self, class: &ClassRef, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match class {
            ClassRef::Known(known) => match known.call {
                Some(call) => call(self, name, arguments),
                None => Ok(None),
            },
            ClassRef::Script(class) => self.call_script_static(class, name, arguments),
            ClassRef::Unknown(unknown) if !crate::methods::is_class_method(name) => {
                Err(throw("java.lang.ClassNotFoundException", format!("{unknown} is not available to scripts here")))
            }
            ClassRef::Unknown(_) => Ok(None),
        }
    }
}
