//! Properties, elements, and global names.

use super::{Frame, Vm};
use crate::error::{Eval, no_index, throw};
use crate::syntax::ast::{Name, Type};
use crate::value::{ClassRef, ListKind, MapKind, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Name of an accessor: `getName` for `name`.
fn accessor(prefix: &str, name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => format!("{prefix}{}{}", first.to_uppercase(), letters.as_str()),
        None => prefix.to_owned(),
    }
}

impl Vm<'_> {
    /// Value of a global name. Fails if it does not exist.
    pub fn global(&mut self, frame: &Rc<Frame>, global: u32) -> Eval<Value> {
        if let Some(value) = self.find_global(frame, global)? {
            return Ok(value);
        }
        let name = &frame.globals.code.globals[global as usize];
        Err(throw(
            "groovy.lang.MissingPropertyException",
            format!("No such property: {name} for class: Script1"),
        ))
    }

    /// Value of a global name; `None` if it does not exist.
    pub fn find_global(&mut self, frame: &Rc<Frame>, global: u32) -> Eval<Option<Value>> {
        let globals = Rc::clone(&frame.globals);
        let name = &globals.code.globals[global as usize];
        if !frame.this.is_null()
            && let Some(value) = self.member_of_this(frame, name)?
        {
            return Ok(Some(value));
        }
        let value = globals.values.borrow().get(global as usize).cloned().flatten();
        if value.is_some() {
            return Ok(value);
        }
        if !frame.delegate.is_null() {
            let delegate = frame.delegate.clone();
            if let Some(value) = self.property_optional(&delegate, name)? {
                return Ok(Some(value));
            }
        }
        if let Some(value) = crate::jmeter::binding(self, name) {
            return Ok(Some(value));
        }
        if let Some(class) = self.class_named(frame, name) {
            let value = Value::Class(class);
            if let Some(slot) = globals.values.borrow_mut().get_mut(global as usize) {
                *slot = Some(value.clone());
            }
            return Ok(Some(value));
        }
        if let this @ Value::Instance(_) = &frame.this {
            // The property may have only a getter.
            let this = this.clone();
            if let Some(value) = self.getter(&this, name)? {
                return Ok(Some(value));
            }
        }
        self.imported_constant(&globals.code.imports, name)
    }

    fn imported_constant(
        &mut self,
        imports: &[crate::syntax::ast::Import],
        name: &str,
    ) -> Eval<Option<Value>> {
        for import in imports.iter().filter(|import| import.is_static) {
            let Some((class, last)) = import.path.rsplit_once('.') else { continue };
            let class = if import.is_wild { &*import.path } else { class };
            let constant_name = if import.is_wild { name } else { last };
            if !import.is_wild && *import.alias != *name {
                continue;
            }
            let constant = crate::classes::by_full_name(class).and_then(|class| class.constant);
            if let Some(value) = constant.and_then(|constant| constant(self, constant_name)) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Class of a name: defined by the script, imported, or known by its simple name.
    pub fn class_named(&mut self, frame: &Rc<Frame>, name: &str) -> Option<ClassRef> {
        let code = &frame.globals.code;
        if let Some(class) = code.classes.iter().find(|class| *class.name == *name) {
            return Some(ClassRef::Script(Arc::clone(class)));
        }
        if let Some(import) = code
            .imports
            .iter()
            .find(|import| !import.is_static && !import.is_wild && *import.alias == *name)
        {
            let class = crate::classes::by_full_name(&import.path);
            return Some(
                class.map_or_else(|| ClassRef::Unknown(Arc::clone(&import.path)), ClassRef::Known),
            );
        }
        if name.contains('.') {
            return crate::classes::by_full_name(name).map(ClassRef::Known);
        }
        // If several classes have this simple name, prefer the one whose package is imported.
        let mut packages = code.imports.iter().filter(|import| import.is_wild && !import.is_static);
        let imported = packages
            .find_map(|import| crate::classes::by_full_name(&format!("{}.{name}", import.path)));
        imported.or_else(|| crate::classes::by_simple_name(name)).map(ClassRef::Known)
    }

    /// Assigns to a global name.
    pub fn set_global(&mut self, frame: &Rc<Frame>, global: u32, value: Value) -> Eval<()> {
        let globals = Rc::clone(&frame.globals);
        let name = &globals.code.globals[global as usize];
        if !frame.this.is_null() && self.set_member_of_this(frame, name, &value)? {
            return Ok(());
        }
        if !frame.delegate.is_null() {
            let delegate = frame.delegate.clone();
            if self.set_property_optional(&delegate, name, &value)? {
                return Ok(());
            }
        }
        if crate::jmeter::assign(self, name, &value)? {
            return Ok(());
        }
        // Dropped only after the borrow ends, because a drop may access the globals.
        let old =
            globals.values.borrow_mut().get_mut(global as usize).map(|slot| slot.replace(value));
        drop(old);
        Ok(())
    }

    /// Reads a property. Fails if it does not exist.
    pub fn property(&mut self, object: &Value, name: &str) -> Eval<Value> {
        if let Some(value) = self.property_optional(object, name)? {
            return Ok(value);
        }
        if object.is_null() {
            return Err(throw(
                "java.lang.NullPointerException",
                format!("Cannot get property '{name}' on null object"),
            ));
        }
        if let Value::Class(ClassRef::Unknown(class)) = object {
            return Err(throw(
                "java.lang.ClassNotFoundException",
                format!("{class} is not available to scripts here"),
            ));
        }
        let class = self.class_name(object);
        Err(throw(
            "groovy.lang.MissingPropertyException",
            format!("No such property: {name} for class: {class}"),
        ))
    }

    /// Reads a property; `None` if it does not exist.
    pub fn property_optional(&mut self, object: &Value, name: &str) -> Eval<Option<Value>> {
        self.tick(1)?;
        // `object.@name` bypasses the getter of a field.
        let name = if matches!(object, Value::Native(_)) {
            name
        } else {
            name.strip_prefix('@').unwrap_or(name)
        };
        match object {
            Value::Null => return Ok(None),
            Value::Map(map) => {
                self.tick(1)?;
                // In Groovy, the properties of a map are its entries.
                let value = map.get_text(name);
                return match value {
                    Some(value) => Ok(Some(value)),
                    None => self.missing_key(object, &Value::str(name)).map(Some),
                };
            }
            Value::Native(native) => {
                let native = Rc::clone(native);
                if let Some(value) = native.property(self, name)? {
                    return Ok(Some(value));
                }
            }
            Value::Instance(instance) => {
                let value = instance.fields.borrow().get(name).cloned();
                if let Some(value) = value {
                    return Ok(Some(value));
                }
            }
            Value::Class(class) => {
                if let Some(value) = self.static_property(&class.clone(), name)? {
                    return Ok(Some(value));
                }
            }
            Value::List(list) if name == "length" && list.kind == ListKind::Array => {
                return Ok(Some(Value::count(list.items.borrow().len())));
            }
            Value::Bytes(bytes) if name == "length" => {
                return Ok(Some(Value::count(bytes.borrow().len())));
            }
            Value::Closure(closure) if name == "delegate" => {
                return Ok(Some(closure.delegate.borrow().clone()));
            }
            _ => {}
        }
        self.getter(object, name)
    }

    /// Reads a property by its getter; for a list, from each of its elements.
    fn getter(&mut self, object: &Value, name: &str) -> Eval<Option<Value>> {
        if matches!(object, Value::List(_) | Value::Set(_))
            // These are properties of the list and not of its elements.
            && !matches!(name, "class" | "first" | "last" | "empty" | "iterator")
        {
            let mut results = Vec::new();
            for item in self.items(object)? {
                results.push(if item.is_null() {
                    Value::Null
                } else {
                    self.nested(|vm| vm.property(&item, name))?
                });
            }
            return self.new_list(results).map(Some);
        }
        if let Some(value) = self.call_optional(object, &accessor("get", name), &[])? {
            return Ok(Some(value));
        }
        self.call_optional(object, &accessor("is", name), &[])
    }

    /// Value of a missing key: the result of the map's default closure, or null.
    pub fn missing_key(&mut self, object: &Value, key: &Value) -> Eval<Value> {
        let Value::Map(map) = object else { return Ok(Value::Null) };
        let default = map.default.borrow().clone();
        if default.is_null() {
            return Ok(Value::Null);
        }
        let value = self.call_closure(&default, std::slice::from_ref(key))?;
        // Groovy's `withDefault` stores the default.
        map.insert(key.clone(), value.clone());
        Ok(value)
    }

    /// Sets a property. Fails if it does not exist.
    pub fn set_property(&mut self, object: &Value, name: &str, value: &Value) -> Eval<()> {
        if self.set_property_optional(object, name, value)? {
            return Ok(());
        }
        if object.is_null() {
            return Err(throw(
                "java.lang.NullPointerException",
                format!("Cannot set property '{name}' on null object"),
            ));
        }
        let class = self.class_name(object);
        Err(throw(
            "groovy.lang.MissingPropertyException",
            format!("No such property: {name} for class: {class}"),
        ))
    }

    pub fn set_property_optional(
        &mut self,
        object: &Value,
        name: &str,
        value: &Value,
    ) -> Eval<bool> {
        let name = name.strip_prefix('@').unwrap_or(name);
        match object {
            Value::Null => return Ok(false),
            Value::Map(map) => {
                self.put(map, Value::str(name), value.clone())?;
                return Ok(true);
            }
            Value::Native(native) => {
                let native = Rc::clone(native);
                if native.set_property(self, name, value)? {
                    return Ok(true);
                }
            }
            Value::Instance(instance) => {
                let field = instance.class.fields.iter().find(|field| *field.name == *name);
                let ty = field.map_or(Type::Any, |field| field.ty.clone());
                if instance.fields.borrow().contains_key(name) {
                    let value = self.coerce(value.clone(), &ty)?;
                    // Dropped only after the borrow ends, because a drop may access the fields.
                    let old = instance.fields.borrow_mut().insert(name.into(), value);
                    drop(old);
                    return Ok(true);
                }
            }
            Value::Class(class) if self.set_static(&class.clone(), name, value)? => {
                return Ok(true);
            }
            Value::Closure(closure) if matches!(name, "delegate" | "resolveStrategy") => {
                if name == "delegate" {
                    closure.delegate.replace(value.clone());
                }
                return Ok(true);
            }
            _ => {}
        }
        let setter = accessor("set", name);
        Ok(self.call_optional(object, &setter, std::slice::from_ref(value))?.is_some())
    }

    /// Puts an entry into a map. Fails if the map is immutable.
    pub fn put(
        &mut self,
        map: &crate::value::Map,
        key: Value,
        value: Value,
    ) -> Eval<Option<Value>> {
        if map.kind == MapKind::Immutable {
            return Err(throw(
                "java.lang.UnsupportedOperationException",
                "the map cannot be changed",
            ));
        }
        self.alloc(64)?;
        self.tick(if map.kind == MapKind::Sorted { 8 } else { 1 })?;
        Ok(map.insert(key, value))
    }

    /// Evaluates the expression `object[index]`.
    pub fn index(&mut self, object: &Value, index: &Value) -> Eval<Value> {
        match (object, index) {
            (Value::Null, _) => Err(throw(
                "java.lang.NullPointerException",
                "Cannot invoke method getAt() on null object",
            )),
            (Value::Map(map), _) => match map.get(index) {
                Some(value) => Ok(value),
                None => self.missing_key(object, index),
            },
            (
                Value::List(_) | Value::Range(_) | Value::Bytes(_) | Value::Str(_),
                Value::Range(range),
            ) => self.slice(object, range.from, range.to, range.empty),
            (
                Value::List(_) | Value::Range(_) | Value::Str(_) | Value::Bytes(_),
                Value::List(_),
            ) => {
                let mut items = Vec::new();
                for index in self.items(index)? {
                    items.push(self.index(object, &index)?);
                }
                if matches!(object, Value::Str(_)) {
                    let mut text = String::new();
                    for item in &items {
                        text.push_str(&self.text(item)?);
                    }
                    return self.string(text);
                }
                self.new_list(items)
            }
            (Value::List(list), _) if super::long_of(index).is_some() => {
                let length = list.items.borrow().len();
                let position = self.to_index(index)?;
                match self.place(position, length)? {
                    Some(place) => Ok(list.items.borrow().get(place).cloned().unwrap_or_default()),
                    // In Groovy, the elements beyond the end of a list are null.
                    None if list.kind == ListKind::Array => Err(throw(
                        "java.lang.ArrayIndexOutOfBoundsException",
                        format!("Index {position} out of bounds for length {length}"),
                    )),
                    None => Ok(Value::Null),
                }
            }
            (Value::Range(range), _) => {
                let position = self.to_index(index)?;
                Ok(self.place(position, range.len())?.map_or(Value::Null, |place| range.at(place)))
            }
            (Value::Bytes(bytes), _) => {
                let position = self.to_index(index)?;
                let length = bytes.borrow().len();
                let place =
                    self.place(position, length)?.ok_or_else(|| no_index(position, length))?;
                // Java's bytes are signed.
                Ok(Value::Int(i32::from(bytes.borrow()[place] as i8)))
            }
            (Value::Str(text), _) => {
                let text = Rc::clone(text);
                let position = self.to_index(index)?;
                crate::methods::string::letter_at(self, &text, position)
            }
            (Value::Set(_), _) if super::long_of(index).is_some() => {
                let items = self.items(object)?;
                let list = Value::list(items);
                self.index(&list, index)
            }
            (_, Value::Str(name)) if !matches!(object, Value::List(_)) => {
                let name = Rc::clone(name);
                match self.call_optional(object, "getAt", std::slice::from_ref(index))? {
                    Some(value) => Ok(value),
                    None => self.property(object, &name),
                }
            }
            _ => self.call_method(object, "getAt", std::slice::from_ref(index)),
        }
    }

    /// Evaluates the expression `object[from..to]`.
    fn slice(&mut self, object: &Value, from: i64, to: i64, empty: bool) -> Eval<Value> {
        if let Value::Str(text) = object {
            let text = Rc::clone(text);
            return crate::methods::string::slice(self, &text, from, to, empty);
        }
        let items = self.items(object)?;
        let length = items.len();
        if empty {
            return self.new_list(Vec::new());
        }
        let from = crate::methods::string::absolute_index(from, length as i64);
        let to = crate::methods::string::absolute_index(to, length as i64);
        let low = from.min(to);
        let high = from.max(to);
        if low < 0 || high >= length as i64 {
            return Err(no_index(if low < 0 { low } else { high }, length));
        }
        let mut part = items[low as usize..=high as usize].to_vec();
        if from > to {
            part.reverse();
        }
        self.new_list(part)
    }

    /// Evaluates `object[index] = value`.
    pub fn set_index(&mut self, object: &Value, index: &Value, value: Value) -> Eval<()> {
        match object {
            Value::Map(map) => {
                self.put(map, index.clone(), value)?;
            }
            Value::List(list) => {
                let length = list.items.borrow().len();
                let position = self.to_index(index)?;
                let place = self.place(position, length)?;
                match (place, list.kind) {
                    (_, ListKind::Immutable) => {
                        return Err(throw(
                            "java.lang.UnsupportedOperationException",
                            "the list cannot be changed",
                        ));
                    }
                    (Some(place), _) => {
                        let old = std::mem::replace(&mut list.items.borrow_mut()[place], value);
                        drop(old);
                    }
                    (None, ListKind::Array) => {
                        let message = format!("Index {position} out of bounds for length {length}");
                        return Err(throw("java.lang.ArrayIndexOutOfBoundsException", message));
                    }
                    (None, _) => {
                        // In Groovy, the list grows to include the index.
                        let missing = (position as usize).saturating_sub(length).saturating_add(1);
                        self.alloc(missing.saturating_mul(24))?;
                        list.items.borrow_mut().resize(position as usize, Value::Null);
                        list.items.borrow_mut().push(value);
                    }
                }
            }
            Value::Bytes(bytes) => {
                let position = self.to_index(index)?;
                let byte = self.to_long(&value)?;
                let length = bytes.borrow().len();
                let place =
                    self.place(position, length)?.ok_or_else(|| no_index(position, length))?;
                bytes.borrow_mut()[place] = byte as u8;
            }
            Value::Null => {
                return Err(throw(
                    "java.lang.NullPointerException",
                    "Cannot invoke method putAt() on null object",
                ));
            }
            _ => {
                if self.call_optional(object, "putAt", &[index.clone(), value.clone()])?.is_none() {
                    let name = self.text(index)?;
                    self.set_property(object, &name, &value)?;
                }
            }
        }
        Ok(())
    }

    fn member_of_this(&mut self, frame: &Rc<Frame>, name: &Name) -> Eval<Option<Value>> {
        match &frame.this {
            Value::Instance(instance) => {
                let value = instance.fields.borrow().get(name).cloned();
                if value.is_some() {
                    return Ok(value);
                }
                let class = ClassRef::Script(Arc::clone(&instance.class));
                self.static_property(&class, name)
            }
            Value::Class(class) => self.static_property(&class.clone(), name),
            _ => Ok(None),
        }
    }

    fn set_member_of_this(&mut self, frame: &Rc<Frame>, name: &Name, value: &Value) -> Eval<bool> {
        match &frame.this {
            Value::Instance(instance) => {
                if instance.fields.borrow().contains_key(name) {
                    return self.set_property_optional(&frame.this.clone(), name, value);
                }
                let class = ClassRef::Script(Arc::clone(&instance.class));
                self.set_static(&class, name, value)
            }
            Value::Class(class) => self.set_static(&class.clone(), name, value),
            _ => Ok(false),
        }
    }
}
