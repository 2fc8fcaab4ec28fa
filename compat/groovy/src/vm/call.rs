//! Calls closures, functions and methods.

use super::{Frame, Vm};
use crate::error::{Eval, throw};
use crate::syntax::ast::{Call, Function, Name, Type};
use crate::value::{Callable, ClassRef, Closure, Value};
use std::rc::Rc;
use std::sync::Arc;

fn new_closure(code: Callable) -> Value {
    Value::Closure(Rc::new(Closure { code, delegate: std::cell::RefCell::default() }))
}

impl Vm<'_> {
    /// Calls a closure. If it has several parameters, a single list argument supplies all of them.
    pub fn call_closure(&mut self, closure: &Value, arguments: &[Value]) -> Eval<Value> {
        let Value::Closure(target) = closure else {
            return self.call_method(closure, "call", arguments);
        };
        let target = Rc::clone(target);
        let line = self.line;
        let result = self.nested(|vm| match &target.code {
            Callable::Script(function, frame) => {
                vm.call_script(&target, function, frame, arguments)
            }
            Callable::Method(object, name) => vm.call_reference(object, name, arguments),
            Callable::Composed(first, second) => {
                let intermediate = vm.call_closure(first, arguments)?;
                vm.call_closure(second, &[intermediate])
            }
            Callable::Curried(inner, before) => {
                let all: Vec<Value> = before.iter().chain(arguments).cloned().collect();
                vm.call_closure(inner, &all)
            }
        });
        // After a fault, the line stays that of its cause.
        if result.is_ok() {
            self.line = line;
        }
        result
    }

    /// Calls a method reference. `Class::method` is a static method, or a method
    /// of the first argument.
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
        // A closure within a closure has the delegate of the outer one.
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
            let elements = self.spread_argument(function, arguments)?;
            self.bind(function, &frame, elements.as_deref().unwrap_or(arguments))?;
        }
        self.body(function, &frame)
    }

    /// Elements of a single list or entry argument that supplies several parameters;
    /// None for other arguments.
    fn spread_argument(
        &mut self,
        function: &Function,
        arguments: &[Value],
    ) -> Eval<Option<Vec<Value>>> {
        match arguments {
            [list @ Value::List(_)] if function.parameters.len() > 1 => self.elements(list),
            [Value::Native(object)]
                if function.parameters.len() > 1 && object.class_name().ends_with("Entry") =>
            {
                let entry = &arguments[0];
                let key = self.property(entry, "key")?;
                let value = self.property(entry, "value")?;
                Ok(Some(vec![key, value]))
            }
            _ => Ok(None),
        }
    }

    /// Number of parameters of a closure; 1 for the implicit `it`.
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

    /// Assigns arguments to parameters.
    fn bind(&mut self, function: &Function, frame: &Rc<Frame>, arguments: &[Value]) -> Eval<()> {
        let count = function.parameters.len();
        let mut position = 0;
        let optional =
            function.parameters.iter().filter(|parameter| parameter.default.is_some()).count();
        let mut optional_arguments = arguments.len().saturating_sub(count - optional);
        for (slot, parameter) in function.parameters.iter().enumerate() {
            // In Groovy, an array as last parameter also takes single values.
            let is_variadic = parameter.variadic
                || (slot + 1 == count
                    && matches!(parameter.ty, Type::Array(_))
                    && arguments.len() != count);
            let value = if is_variadic && slot + 1 == count {
                let rest = arguments.get(position..).unwrap_or(&[]);
                match rest {
                    [Value::List(list)] if list.kind == crate::value::ListKind::Array => {
                        rest[0].clone()
                    }
                    _ => Value::array(rest.to_vec()),
                }
            // Groovy assigns the available arguments to optional parameters from left to right.
            } else if let (Some(default), true) = (&parameter.default, optional_arguments == 0) {
                self.eval(default, frame)?
            } else {
                optional_arguments -= usize::from(parameter.default.is_some());
                position += 1;
                arguments.get(position - 1).cloned().unwrap_or_default()
            };
            let value = self.coerce(value, &parameter.ty)?;
            super::exec::set_slot(frame, slot as u16, value);
        }
        Ok(())
    }

    /// Calls a function with a value for `this`.
    pub fn call_function(
        &mut self,
        function: &Arc<Function>,
        parent: Option<Rc<Frame>>,
        globals: &Rc<super::Globals>,
        this: Value,
        arguments: &[Value],
    ) -> Eval<Value> {
        let line = self.line;
        let result = self.nested(|vm| {
            let frame = vm.frame(Rc::clone(globals), parent, function.slots, this);
            vm.bind(function, &frame, arguments)?;
            let value = vm.body(function, &frame)?;
            if function.returns == Type::Void {
                Ok(Value::Null)
            } else {
                vm.coerce(value, &function.returns)
            }
        });
        // After a fault, the line stays that of its cause.
        if result.is_ok() {
            self.line = line;
        }
        result
    }

    /// Evaluates a call by name.
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
        if let Some(result) = self.method_of_this(&call.name, frame, &arguments)? {
            return Ok(result);
        }
        if let Some(result) = self.script_method(&call.name, frame, &arguments)? {
            return Ok(result);
        }
        let global_value =
            frame.globals.values.borrow().get(call.global as usize).cloned().flatten();
        if let Some(value) = global_value.filter(|value| matches!(value, Value::Closure(_))) {
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

    /// Calls a method of the current object or class; None if it does not exist.
    fn method_of_this(
        &mut self,
        name: &Name,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
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

    /// Calls a method of the script; None if it does not exist.
    pub fn script_method(
        &mut self,
        name: &str,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        let code = Arc::clone(&frame.globals.code);
        let functions = code
            .methods
            .iter()
            .map(|method| &method.function)
            .filter(|function| *function.name == *name);
        let Some(function) = self.overload(functions, arguments) else { return Ok(None) };
        // Methods can read the script's own variables, as in BeanShell.
        let mut outermost = frame;
        while let Some(parent) = &outermost.parent {
            outermost = parent;
        }
        let main = if outermost.this.is_null() { Some(Rc::clone(outermost)) } else { None };
        self.call_function(&function, main, &frame.globals, Value::Null, arguments).map(Some)
    }

    /// Calls a function imported by `import static`.
    fn imported_function(
        &mut self,
        name: &str,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
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
            let method_name =
                if import.is_wild { name } else { import.path.rsplit('.').next().unwrap_or(name) };
            if let Some(class) = crate::classes::by_full_name(class)
                && let Some(result) =
                    self.call_static(&ClassRef::Known(class), method_name, arguments)?
            {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }

    /// Selects the overload with a matching number of parameters and the best-matching types.
    pub fn overload<'f>(
        &mut self,
        functions: impl Iterator<Item = &'f Arc<Function>>,
        arguments: &[Value],
    ) -> Option<Arc<Function>> {
        let mut best: Option<(usize, &Arc<Function>)> = None;
        for function in functions {
            let is_variadic = function
                .parameters
                .last()
                .is_some_and(|last| last.variadic || matches!(last.ty, Type::Array(_)));
            let required = function.parameters.iter().filter(|one| one.default.is_none()).count()
                - usize::from(is_variadic);
            let is_match = arguments.len() >= required
                && (arguments.len() <= function.parameters.len() || is_variadic);
            // Groovy passes null for a single missing argument.
            let takes_null = arguments.is_empty() && function.parameters.len() == 1;
            if !is_match && !takes_null {
                continue;
            }
            let exact =
                usize::from(is_match) + usize::from(arguments.len() == function.parameters.len());
            let typed = function
                .parameters
                .iter()
                .zip(arguments)
                .filter(|(parameter, value)| self.is_of_type(value, &parameter.ty));
            // The right number of parameters outweighs all matching types.
            let score = exact * 100 + typed.count();
            if best.is_none_or(|(best_score, _)| score > best_score) {
                best = Some((score, function));
            }
        }
        best.map(|(_, function)| Arc::clone(function))
    }

    /// Calls a method of an object. Fails if it does not exist.
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

    pub fn missing_method(
        &mut self,
        class: &str,
        name: &str,
        arguments: &[Value],
    ) -> Box<crate::error::Fault> {
        let types: Vec<String> = arguments
            .iter()
            .map(|value| {
                let class = self.class_name(value);
                class.rsplit('.').next().unwrap_or(&class).to_owned()
            })
            .collect();
        let mut values = Vec::new();
        for value in arguments {
            values.push(
                self.text(value)
                    .map(|text| crate::error::clip(&text).to_owned())
                    .unwrap_or_default(),
            );
        }
        let message = format!(
            "No signature of method: {class}.{name}() is applicable for argument types: ({}) values: [{}]",
            types.join(", "),
            values.join(", ")
        );
        throw("groovy.lang.MissingMethodException", message)
    }

    /// Calls a method of an object; `None` if it does not exist.
    pub fn call_optional(
        &mut self,
        object: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        self.tick(2)?;
        self.nested(|vm| vm.dispatch(object, name, arguments))
    }

    fn dispatch(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let result = match object {
            Value::Native(native) => {
                let result = Rc::clone(native).call(self, name, arguments)?;
                if result.is_some() && crate::classes::builder::chains(object, name) {
                    Some(object.clone())
                } else {
                    result
                }
            }
            Value::Instance(instance) => {
                self.call_instance(&Rc::clone(instance), name, arguments)?
            }
            Value::Class(class) => self.call_static(class, name, arguments)?,
            Value::Closure(_) => self.closure_method(object, name, arguments)?,
            _ => None,
        };
        if result.is_some() {
            return Ok(result);
        }
        crate::methods::call(self, object, name, arguments)
    }

    fn closure_method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        let Value::Closure(closure) = object else { return Ok(None) };
        Ok(Some(match (name, arguments) {
            // Java's method names of functional interfaces all call the closure.
            ("call" | "doCall" | "run" | "apply" | "accept" | "test" | "get" | "compare", _) => {
                self.call_closure(object, arguments)?
            }
            ("curry", _) => new_closure(Callable::Curried(object.clone(), arguments.to_vec())),
            ("rightShift", [other]) => {
                new_closure(Callable::Composed(object.clone(), other.clone()))
            }
            ("leftShift", [other @ Value::Closure(_)]) => {
                new_closure(Callable::Composed(other.clone(), object.clone()))
            }
            ("leftShift", [_]) => self.call_closure(object, arguments)?,
            // These save time or stack, but do not change the result of a call.
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

    /// Calls a static method; `None` if it does not exist.
    pub fn call_static(
        &mut self,
        class: &ClassRef,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        match class {
            ClassRef::Known(class) => match class.call {
                Some(call) => call(self, name, arguments),
                None => Ok(None),
            },
            ClassRef::Script(class) => self.call_script_static(class, name, arguments),
            ClassRef::Unknown(unknown) if !crate::methods::is_class_method(name) => Err(throw(
                "java.lang.ClassNotFoundException",
                format!("{unknown} is not available to scripts here"),
            )),
            ClassRef::Unknown(_) => Ok(None),
        }
    }
}
