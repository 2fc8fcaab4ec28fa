//! Classes of scripts, and object creation.

use super::{Frame, Globals, Vm};
use crate::error::{Eval, throw};
use crate::syntax::ast::{ClassDef, Expr, Function, New, Post, StmtKind, Type};
use crate::value::{ClassRef, Instance, Value};
use indexmap::IndexMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum depth of inheritance.
// A class may name itself or a subclass as its parent.
const PARENTS: usize = 16;

impl Vm<'_> {
    pub fn new_object(&mut self, new: &New, frame: &Rc<Frame>) -> Eval<Value> {
        let arguments = self.arguments(&new.arguments, frame)?;
        self.line = new.line;
        if let Some(body) = &new.body {
            let is_library_class =
                matches!(self.class_named(frame, &new.class), Some(ClassRef::Known(_)));
            let has_only_initializers = body.fields.is_empty() && body.methods.is_empty();
            if is_library_class && has_only_initializers && !body.initializers.is_empty() {
                // `new HashMap() {{ put('a', 1) }}`
                let object = self.construct(&new.class, frame, &arguments)?;
                self.run_initializers(body, &object, &frame.globals)?;
                return Ok(object);
            }
            return self.instantiate(body, frame, &arguments);
        }
        self.construct(&new.class, frame, &arguments)
    }

    /// Creates an object of a class by its name.
    pub fn construct(&mut self, name: &str, frame: &Rc<Frame>, arguments: &[Value]) -> Eval<Value> {
        self.alloc(64)?;
        match self.class_named(frame, name) {
            Some(ClassRef::Script(class)) => self.instantiate(&class, frame, arguments),
            Some(ClassRef::Known(class)) => match class.make {
                Some(make) => make(self, class.name, arguments),
                None => Err(throw(
                    "java.lang.InstantiationException",
                    format!("{} has no constructor here", class.name),
                )),
            },
            Some(ClassRef::Unknown(name)) => Err(unknown(&name)),
            None => Err(unknown(name)),
        }
    }

    /// Creates an object of a class of the script.
    pub fn instantiate(
        &mut self,
        class: &Arc<ClassDef>,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<Value> {
        let instance =
            Rc::new(Instance { class: Arc::clone(class), fields: RefCell::new(IndexMap::new()) });
        let this = Value::Instance(Rc::clone(&instance));
        for class in self.lineage(class, &frame.globals) {
            self.create_statics(&class, &frame.globals)?;
            // A constructor of an ancestor may call a method that reads a field before its initial value is set.
            for field in class.fields.iter().filter(|field| !field.is_static) {
                instance.fields.borrow_mut().insert(field.name.clone(), initial_value(&field.ty));
            }
        }
        instance
            .fields
            .borrow_mut()
            // With the dot, it differs from all fields of the script.
            .insert(".globals".into(), Value::native(DeclaringGlobals(Rc::clone(&frame.globals))));
        self.constructor(class, &this, frame, arguments)?;
        Ok(this)
    }

    /// Sets the initial values of a class's fields, then runs its initializer blocks, as Groovy does.
    fn initialize(
        &mut self,
        class: &Arc<ClassDef>,
        this: &Value,
        globals: &Rc<Globals>,
    ) -> Eval<()> {
        let Value::Instance(instance) = this else { return Ok(()) };
        for field in class.fields.iter().filter(|field| !field.is_static) {
            if let Some(value) = &field.value {
                let value = self.call_function(value, None, globals, this.clone(), &[])?;
                let value = self.coerce(value, &field.ty)?;
                instance.fields.borrow_mut().insert(field.name.clone(), value);
            }
        }
        self.run_initializers(class, this, globals)
    }

    /// Runs the initializer blocks of objects; with a class for `this`, those of the class.
    fn run_initializers(
        &mut self,
        class: &Arc<ClassDef>,
        this: &Value,
        globals: &Rc<Globals>,
    ) -> Eval<()> {
        let is_static = matches!(this, Value::Class(_));
        for block in class.initializers.iter().filter(|block| block.is_static == is_static) {
            self.call_function(&block.function, None, globals, this.clone(), &[])?;
        }
        Ok(())
    }

    /// The class of the script that a class extends.
    fn script_parent(class: &ClassDef, globals: &Globals) -> Option<Arc<ClassDef>> {
        let parent = class.parent.as_ref()?;
        globals.code.classes.iter().find(|one| one.name == *parent).cloned()
    }

    /// Runs a constructor of the parent, then initializes the fields of the class.
    fn construct_parent(
        &mut self,
        class: &Arc<ClassDef>,
        this: &Value,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<()> {
        if let Some(parent) = Self::script_parent(class, &frame.globals) {
            self.nested(|vm| vm.constructor(&parent, this, frame, arguments))?;
        }
        self.initialize(class, this, &frame.globals)
    }

    fn constructor(
        &mut self,
        class: &Arc<ClassDef>,
        this: &Value,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<()> {
        if let Some(function) = self.overload(class.constructors.iter(), arguments) {
            if !calls_constructor(&function) {
                self.construct_parent(class, this, frame, &[])?;
            }
            self.constructing.push(Arc::clone(class));
            let result =
                self.call_function(&function, None, &frame.globals, this.clone(), arguments);
            self.constructing.pop();
            return result.map(|_| ());
        }
        // The class of `new Parent(1) { … }` passes its arguments on.
        let is_anonymous = class.name.ends_with("$1");
        if is_anonymous && Self::script_parent(class, &frame.globals).is_some() {
            return self.construct_parent(class, this, frame, arguments);
        }
        self.construct_parent(class, this, frame, &[])?;
        // Without a constructor, Groovy accepts named fields. An exception accepts its message.
        match arguments {
            [] => Ok(()),
            [Value::Map(fields)] => {
                for (name, value) in fields.pairs() {
                    let name = self.text(&name)?;
                    self.set_property(this, &name, &value)?;
                }
                Ok(())
            }
            [message, ..] if class.parent.is_some() => {
                if let Value::Instance(instance) = this {
                    instance.fields.borrow_mut().insert("message".into(), message.clone());
                }
                Ok(())
            }
            _ => Err(self.missing_method(&class.name, "<init>", arguments)),
        }
    }

    /// Evaluates `super(…)` or `this(…)` in a constructor.
    pub fn call_constructor(
        &mut self,
        name: &str,
        frame: &Rc<Frame>,
        arguments: &[Value],
    ) -> Eval<()> {
        let Some(class) = self.constructing.last().cloned() else { return Ok(()) };
        let this = frame.this.clone();
        if name == "this" {
            return self.constructor(&class, &this, frame, arguments);
        }
        // The parent may be an exception of the library, whose argument is its message.
        if let (None, Value::Instance(instance), [message, ..]) =
            (Self::script_parent(&class, &frame.globals), &this, arguments)
            && class.parent.is_some()
        {
            instance.fields.borrow_mut().insert("message".into(), message.clone());
        }
        self.construct_parent(&class, &this, frame, arguments)
    }

    /// The class and its ancestors, the topmost first.
    fn lineage(&mut self, class: &Arc<ClassDef>, globals: &Globals) -> Vec<Arc<ClassDef>> {
        let mut all = vec![Arc::clone(class)];
        while let Some(parent) = all.last().and_then(|class| class.parent.clone()) {
            match globals.code.classes.iter().find(|class| class.name == parent) {
                Some(class) if all.len() < PARENTS => all.push(Arc::clone(class)),
                _ => break,
            }
        }
        all.reverse();
        all
    }

    /// The globals of the script that defined the object's class.
    fn declaring_globals(instance: &Instance) -> Option<Rc<Globals>> {
        let declaring_globals = instance.fields.borrow().get(".globals").cloned();
        declaring_globals
            .as_ref()
            .and_then(Value::downcast::<DeclaringGlobals>)
            .map(|declaring_globals| Rc::clone(&declaring_globals.0))
    }

    /// Calls a method of an object of the script; None if it does not exist.
    pub fn call_instance(
        &mut self,
        instance: &Rc<Instance>,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        self.call_from(instance, &Arc::clone(&instance.class), name, arguments)
    }

    fn call_from(
        &mut self,
        instance: &Rc<Instance>,
        class: &Arc<ClassDef>,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        let Some(globals) = Self::declaring_globals(instance) else { return Ok(None) };
        let this = Value::Instance(Rc::clone(instance));
        for class in self.lineage(class, &globals).iter().rev() {
            let functions = class
                .methods
                .iter()
                .map(|method| &method.function)
                .filter(|function| *function.name == *name);
            if let Some(function) = self.overload(functions, arguments) {
                return self.call_function(&function, None, &globals, this, arguments).map(Some);
            }
        }
        self.field_method(instance, name, arguments)
    }

    /// Calls `getField()`, `setField(x)`, or a closure in a field.
    fn field_method(
        &mut self,
        instance: &Rc<Instance>,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        let field = instance.fields.borrow().get(name).cloned();
        if let Some(closure @ Value::Closure(_)) = field {
            return self.call_closure(&closure, arguments).map(Some);
        }
        match (name, arguments) {
            ("name" | "toString" | "getName", [])
                if instance.field(".name").is_some() && instance.field("name").is_none() =>
            {
                return Ok(instance.field(".name"));
            }
            ("ordinal", []) => return Ok(instance.field(".ordinal")),
            // Java shows a hash code here, which differs in each run.
            ("toString", []) => {
                return Ok(Some(Value::from(format!("{}@1b2c3d", instance.class.name))));
            }
            _ => {}
        }
        if let (Some(rest), []) = (name.strip_prefix("get").or(name.strip_prefix("is")), arguments)
        {
            let value = instance.field(&uncapitalized(rest));
            return Ok(value);
        }
        if let (Some(rest), [value]) = (name.strip_prefix("set"), arguments) {
            let field = uncapitalized(rest);
            if instance.fields.borrow().contains_key(&*field) {
                self.set_property(&Value::Instance(Rc::clone(instance)), &field, value)?;
                return Ok(Some(Value::Null));
            }
        }
        Ok(None)
    }

    /// Evaluates a call of `super.method(…)`.
    pub fn super_call(&mut self, this: &Value, post: &Post, frame: &Rc<Frame>) -> Eval<Value> {
        if let Post::Call(arguments, _) = post {
            let arguments = self.arguments(arguments, frame)?;
            return self.call_constructor("super", frame, &arguments).map(|()| Value::Null);
        }
        let (Value::Instance(instance), Post::Method(_, name, arguments, _)) = (this, post) else {
            return Ok(Value::Null);
        };
        let arguments = self.arguments(arguments, frame)?;
        let parent = self.lineage(&instance.class, &frame.globals).into_iter().rev().nth(1);
        match parent {
            Some(parent) => {
                Ok(self.call_from(instance, &parent, name, &arguments)?.unwrap_or_default())
            }
            None => Ok(Value::Null),
        }
    }

    /// Creates the static fields of a class, once per run.
    fn create_statics(&mut self, class: &Arc<ClassDef>, globals: &Rc<Globals>) -> Eval<()> {
        if globals.statics.borrow().contains_key(&class.name) {
            return Ok(());
        }
        // Set before the fields are evaluated, because these may use the class.
        globals.statics.borrow_mut().insert(class.name.clone(), IndexMap::new());
        let this = Value::Class(ClassRef::Script(Arc::clone(class)));
        for (index, (name, arguments)) in class.constants.iter().enumerate() {
            let arguments = self.call_function(arguments, None, globals, this.clone(), &[])?;
            let arguments = self.items(&arguments)?;
            let frame = self.frame(Rc::clone(globals), None, 0, Value::Null);
            let constant = self.instantiate(class, &frame, &arguments)?;
            if let Value::Instance(instance) = &constant {
                // A name with a dot cannot be a field of the script.
                instance.fields.borrow_mut().insert(".name".into(), Value::str(name));
                instance.fields.borrow_mut().insert(".ordinal".into(), Value::count(index));
            }
            self.set_static_field(globals, &class.name, name, constant);
        }
        for field in class.fields.iter().filter(|field| field.is_static) {
            let value = match &field.value {
                Some(value) => self.call_function(value, None, globals, this.clone(), &[])?,
                None => initial_value(&field.ty),
            };
            let value = self.coerce(value, &field.ty)?;
            self.set_static_field(globals, &class.name, &field.name, value);
        }
        self.run_initializers(class, &this, globals)
    }

    #[allow(clippy::unused_self)]
    fn set_static_field(&self, globals: &Globals, class: &str, name: &str, value: Value) {
        if let Some(fields) = globals.statics.borrow_mut().get_mut(class) {
            fields.insert(name.into(), value);
        }
    }

    /// Finds a constant of the script's enums by its bare name.
    pub fn enum_constant(&mut self, frame: &Rc<Frame>, name: &str) -> Eval<Option<Value>> {
        let code = Arc::clone(&frame.globals.code);
        if let Some(class) = code
            .classes
            .iter()
            .find(|class| class.constants.iter().any(|(constant, _)| **constant == *name))
        {
            self.create_statics(class, &frame.globals)?;
            return Ok(frame
                .globals
                .statics
                .borrow()
                .get(&class.name)
                .and_then(|fields| fields.get(name))
                .cloned());
        }
        Ok(None)
    }

    /// Reads a static field or constant of a class.
    pub fn static_property(&mut self, class: &ClassRef, name: &str) -> Eval<Option<Value>> {
        match class {
            ClassRef::Known(class) => Ok(class.constant.and_then(|constant| constant(self, name))),
            ClassRef::Script(class) => {
                let Some(globals) = self.current_globals() else { return Ok(None) };
                for class in self.lineage(class, &globals) {
                    self.create_statics(&class, &globals)?;
                    let value = globals
                        .statics
                        .borrow()
                        .get(&class.name)
                        .and_then(|fields| fields.get(name))
                        .cloned();
                    if value.is_some() {
                        return Ok(value);
                    }
                }
                Ok(None)
            }
            ClassRef::Unknown(_) => Ok(None),
        }
    }

    pub fn set_static(&mut self, class: &ClassRef, name: &str, value: &Value) -> Eval<bool> {
        let (ClassRef::Script(class), Some(globals)) = (class, self.current_globals()) else {
            return Ok(false);
        };
        for class in self.lineage(class, &globals) {
            self.create_statics(&class, &globals)?;
            if let Some(field) =
                class.fields.iter().find(|field| field.is_static && *field.name == *name)
            {
                let value = self.coerce(value.clone(), &field.ty)?;
                self.set_static_field(&globals, &class.name, name, value);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Calls a static method of a class of the script; None if it does not exist.
    pub fn call_script_static(
        &mut self,
        class: &Arc<ClassDef>,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Option<Value>> {
        let Some(globals) = self.current_globals() else { return Ok(None) };
        let this = Value::Class(ClassRef::Script(Arc::clone(class)));
        if name == "newInstance" {
            let frame = self.frame(Rc::clone(&globals), None, 0, Value::Null);
            return self.instantiate(class, &frame, arguments).map(Some);
        }
        if matches!((name, arguments), ("values", []) | ("valueOf", [_]))
            && !class.constants.is_empty()
        {
            self.create_statics(class, &globals)?;
            let all: Vec<(Arc<str>, Value)> = class
                .constants
                .iter()
                .filter_map(|(name, _)| {
                    let value = globals.statics.borrow().get(&class.name)?.get(name)?.clone();
                    Some((name.clone(), value))
                })
                .collect();
            if name == "values" {
                return Ok(Some(Value::array(all.into_iter().map(|(_, value)| value).collect())));
            }
            let constant_name = self.text(&arguments[0])?;
            let constant = all.into_iter().find(|(name, _)| **name == *constant_name);
            return constant.map(|(_, value)| Some(value)).ok_or_else(|| {
                throw(
                    "java.lang.IllegalArgumentException",
                    format!("No enum constant {}.{constant_name}", class.name),
                )
            });
        }
        for class in self.lineage(class, &globals).iter().rev() {
            let methods = class
                .methods
                .iter()
                .filter(|method| method.is_static && *method.function.name == *name);
            if let Some(function) = self.overload(methods.map(|method| &method.function), arguments)
            {
                return self.call_function(&function, None, &globals, this, arguments).map(Some);
            }
        }
        Ok(None)
    }

    /// The globals of the running script.
    fn current_globals(&self) -> Option<Rc<Globals>> {
        self.active_globals.clone()
    }

    /// True if a value has a declared type.
    pub fn is_of_type(&mut self, value: &Value, ty: &Type) -> bool {
        match ty {
            Type::Any => !value.is_null(),
            Type::Array(element) => match value {
                Value::Bytes(_) => **element == Type::Byte,
                Value::List(list) => list.kind == crate::value::ListKind::Array,
                _ => false,
            },
            Type::Int => matches!(value, Value::Int(_)),
            Type::Long => matches!(value, Value::Long(_)),
            other => {
                let name = super::convert::type_name(other).to_owned();
                self.is_instance(value, &name)
            }
        }
    }

    /// True if a value is an instance of a class, given by its full or simple name.
    pub fn is_instance(&mut self, value: &Value, class: &str) -> bool {
        let simple = class.rsplit('.').next().unwrap_or(class);
        if let Value::Instance(instance) = value {
            let Some(globals) = Self::declaring_globals(instance) else { return false };
            let lineage = self.lineage(&instance.class, &globals);
            let parent = lineage.first().and_then(|top| top.parent.clone());
            return simple == "Object"
                || lineage
                    .iter()
                    .any(|ancestor| *ancestor.name == *simple || *ancestor.name == *class)
                || parent.is_some_and(|parent| crate::classes::exceptions::is_a(&parent, simple));
        }
        crate::classes::kinds::is_a(value, simple)
    }
}

impl Instance {
    fn field(&self, name: &str) -> Option<Value> {
        self.fields.borrow().get(name).cloned()
    }
}

/// True if a constructor begins with `this(…)` or `super(…)`.
fn calls_constructor(function: &Function) -> bool {
    match function.body.first().map(|statement| &statement.kind) {
        Some(StmtKind::Expr(Expr::Call(call)) | StmtKind::Return(Some(Expr::Call(call)))) => {
            matches!(&*call.name, "this" | "super")
        }
        Some(
            StmtKind::Expr(Expr::Postfix(base, posts))
            | StmtKind::Return(Some(Expr::Postfix(base, posts))),
        ) => {
            matches!((&**base, &posts[..]), (Expr::This | Expr::Super, [Post::Call(..)]))
        }
        _ => false,
    }
}

/// The name with its first letter in lower case.
fn uncapitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| format!("{}{}", first.to_lowercase(), letters.as_str()))
        .unwrap_or_default()
}

/// Java's initial value of a field.
fn initial_value(ty: &Type) -> Value {
    match ty {
        Type::Int | Type::Short | Type::Byte => Value::Int(0),
        Type::Long => Value::Long(0),
        Type::Double => Value::Double(0.0),
        Type::Boolean => Value::Bool(false),
        _ => Value::Null,
    }
}

fn unknown(name: &str) -> Box<crate::error::Fault> {
    throw("java.lang.ClassNotFoundException", format!("{name} is not available to scripts here"))
}

/// Hidden field of an object: the globals of the script that defined its class.
struct DeclaringGlobals(Rc<Globals>);

impl crate::value::Native for DeclaringGlobals {
    fn class_name(&self) -> &'static str {
        "java.lang.Object"
    }
    fn call(&self, _vm: &mut Vm, _name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(None)
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
