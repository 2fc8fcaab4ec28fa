//! The values of scripts.
//!
//! Values belong to one thread. Clones share their content, like Java references.

use crate::classes::Class;
use crate::decimal::Decimal;
use crate::error::Eval;
pub(crate) use crate::map::{Map, MapKind};
use crate::syntax::ast::{ClassDef, Function};
use crate::vm::{Frame, Vm};
use num_bigint::BigInt;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A value of a script. A host creates plain ones with `From` and reads them with
/// [`Value::to_text`]; it treats others as opaque.
#[derive(Clone, Default)]
#[non_exhaustive]
#[allow(private_interfaces)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// `int`, `byte` and `short`
    Int(i32),
    /// `long`
    Long(i64),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `char`
    Char(char),
    /// `String`, also the text of a `GString`
    Str(Rc<str>),
    /// `BigInteger`
    #[doc(hidden)]
    BigInt(Rc<BigInt>),
    /// `BigDecimal`
    #[doc(hidden)]
    Decimal(Rc<Decimal>),
    /// `byte[]`
    #[doc(hidden)]
    Bytes(Rc<RefCell<Vec<u8>>>),
    /// A list or an array
    #[doc(hidden)]
    List(Rc<List>),
    /// A range of integers
    #[doc(hidden)]
    Range(Rc<Range>),
    /// A map; most keep the order of insertion
    #[doc(hidden)]
    Map(Rc<Map>),
    /// A set: the keys of a map
    #[doc(hidden)]
    Set(Rc<Map>),
    /// A closure, or a method taken with `&`
    #[doc(hidden)]
    Closure(Rc<Closure>),
    /// A class of Java or of the script
    #[doc(hidden)]
    Class(ClassRef),
    /// An object of a class of the script
    #[doc(hidden)]
    Instance(Rc<Instance>),
    /// An object of the library
    #[doc(hidden)]
    Native(Rc<dyn Native>),
}

pub(crate) struct List {
    pub items: RefCell<Vec<Value>>,
    pub kind: ListKind,
}

/// Java's kind of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListKind {
    List,
    Linked,
    Immutable,
    Array,
}

/// Integers from `from` to `to`, both included, ascending or descending. May be empty.
pub(crate) struct Range {
    pub from: i64,
    pub to: i64,
    pub empty: bool,
}

/// A function with the variables of its enclosing functions.
pub(crate) struct Closure {
    pub code: Callable,
    pub delegate: RefCell<Value>,
}

/// Code of a closure.
pub(crate) enum Callable {
    /// A function of the script, with the frame in which the closure was created.
    Script(Arc<Function>, Rc<Frame>),
    /// `value.&name`
    Method(Value, Rc<str>),
    /// `first >> second`: passes the result of the first closure to the second.
    Composed(Value, Value),
    /// A closure with its first arguments bound.
    Curried(Value, Vec<Value>),
}

/// A class of the library or of the script, or an unknown class.
#[derive(Clone)]
pub(crate) enum ClassRef {
    Known(&'static Class),
    Script(Arc<ClassDef>),
    Unknown(Arc<str>),
}

/// An object of a class that the script defines.
pub(crate) struct Instance {
    pub class: Arc<ClassDef>,
    pub fields: RefCell<indexmap::IndexMap<Arc<str>, Value>>,
}

/// An object of the library.
pub(crate) trait Native {
    /// Full name of the Java class.
    fn class_name(&self) -> &str;
    /// Calls a method; `None` if it does not exist.
    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>>;
    /// Returns a property that has no getter; `None` if it does not exist.
    fn property(&self, _vm: &mut Vm, _name: &str) -> Eval<Option<Value>> {
        Ok(None)
    }
    /// Sets a property that has no setter; `false` if it does not exist.
    fn set_property(&self, _vm: &mut Vm, _name: &str, _value: &Value) -> Eval<bool> {
        Ok(false)
    }
    /// Result of `toString`; `None` for Java's default.
    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(None)
    }
    /// A value that is equal if the objects are equal, for comparison and hashing. `None`
    /// to compare by identity.
    fn identity(&self) -> Option<Value> {
        None
    }
    /// The elements of a collection, for `each` and `for`; `None` for other objects.
    fn elements(&self, _vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        Ok(None)
    }
    fn as_any(&self) -> &dyn Any;
    /// Moves its values to the list, to release them without recursion.
    fn release(&mut self, _to: &mut Vec<Value>) {}
}

impl Value {
    /// Creates a `String` from text.
    pub(crate) fn str(text: impl AsRef<str>) -> Self {
        Self::Str(text.as_ref().into())
    }

    pub(crate) fn list(items: Vec<Value>) -> Self {
        Self::listing(ListKind::List, items)
    }

    pub(crate) fn array(items: Vec<Value>) -> Self {
        Self::listing(ListKind::Array, items)
    }

    pub(crate) fn listing(kind: ListKind, items: Vec<Value>) -> Self {
        Self::List(Rc::new(List { items: RefCell::new(items), kind }))
    }

    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self::Bytes(Rc::new(RefCell::new(bytes)))
    }

    pub(crate) fn native(object: impl Native + 'static) -> Self {
        Self::Native(Rc::new(object))
    }

    pub(crate) fn map(kind: MapKind) -> (Self, Rc<Map>) {
        let map = Rc::new(Map::new(kind));
        (Self::Map(Rc::clone(&map)), map)
    }

    pub(crate) fn set(kind: MapKind, items: impl IntoIterator<Item = Value>) -> Self {
        let map = Rc::new(Map::new(kind));
        for item in items {
            map.insert(item, Value::Bool(true));
        }
        Self::Set(map)
    }

    pub(crate) fn big(value: BigInt) -> Self {
        Self::BigInt(Rc::new(value))
    }

    pub(crate) fn decimal(value: Decimal) -> Self {
        Self::Decimal(Rc::new(value))
    }

    /// Creates an `Integer` if the number fits, else a `Long`.
    pub(crate) fn integer(value: i64) -> Self {
        i32::try_from(value).map_or(Self::Long(value), Self::Int)
    }

    /// Creates an `Integer` from a count.
    pub(crate) fn count(value: usize) -> Self {
        Self::Int(i32::try_from(value).unwrap_or(i32::MAX))
    }

    /// Creates a text, or `null` for None.
    pub(crate) fn optional(text: Option<impl AsRef<str>>) -> Self {
        text.map_or(Self::Null, Self::str)
    }

    /// True if the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The library object of this type; None for other values.
    pub(crate) fn downcast<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Native(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// Text of a plain value (`null`, booleans, numbers, text). `None` for objects, whose text
    /// depends on the run.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Str(text) => Some(text.to_string()),
            Self::Null | Self::Bool(_) | Self::Char(_) => Some(match self {
                Self::Bool(flag) => flag.to_string(),
                Self::Char(letter) => letter.to_string(),
                _ => "null".to_owned(),
            }),
            other => crate::vm::number_text(other),
        }
    }

    /// Moves the values that only this value references to the list.
    fn release(self, to: &mut Vec<Value>) {
        match self {
            Self::List(mut list) => {
                if let Some(list) = Rc::get_mut(&mut list) {
                    to.append(list.items.get_mut());
                }
            }
            Self::Map(mut map) | Self::Set(mut map) => {
                if let Some(map) = Rc::get_mut(&mut map) {
                    map.release(to);
                }
            }
            Self::Instance(mut instance) => {
                if let Some(instance) = Rc::get_mut(&mut instance) {
                    to.extend(instance.fields.get_mut().drain(..).map(|(_, value)| value));
                }
            }
            Self::Closure(mut closure) => {
                if let Some(closure) = Rc::get_mut(&mut closure) {
                    closure.release(to);
                }
            }
            Self::Native(mut object) => {
                if let Some(object) = Rc::get_mut(&mut object) {
                    object.release(to);
                }
            }
            _ => {}
        }
    }
}

/// Releases values in a loop, because recursive drops of deep nesting would overflow the stack.
pub(crate) fn free(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        value.release(&mut values);
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let items = std::mem::take(self.items.get_mut());
        // The drop of plain values, which most lists hold, is not recursive.
        if items.iter().any(is_nested) {
            free(items);
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        free(self.fields.get_mut().drain(..).map(|(_, value)| value).collect());
    }
}

impl Closure {
    fn release(&mut self, to: &mut Vec<Value>) {
        to.push(self.delegate.take());
        match &mut self.code {
            Callable::Script(_, frame) => {
                if let Some(frame) = Rc::get_mut(frame) {
                    frame.release(to);
                }
            }
            Callable::Method(value, _) => to.push(std::mem::take(value)),
            Callable::Composed(first, second) => {
                to.extend([std::mem::take(first), std::mem::take(second)]);
            }
            Callable::Curried(value, arguments) => {
                to.push(std::mem::take(value));
                to.append(arguments);
            }
        }
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        let mut values = Vec::new();
        self.release(&mut values);
        free(values);
    }
}

/// True if releasing the value may release others.
pub(crate) fn is_nested(value: &Value) -> bool {
    matches!(
        value,
        Value::List(_)
            | Value::Map(_)
            | Value::Set(_)
            | Value::Instance(_)
            | Value::Closure(_)
            | Value::Native(_)
    )
}

impl Range {
    pub fn len(&self) -> usize {
        if self.empty {
            0
        } else {
            usize::try_from(self.from.abs_diff(self.to)).unwrap_or(usize::MAX).saturating_add(1)
        }
    }

    pub fn at(&self, index: usize) -> Value {
        let index = index as i64;
        Value::integer(if self.from <= self.to { self.from + index } else { self.from - index })
    }

    pub fn contains(&self, value: i64) -> bool {
        !self.empty && self.from.min(self.to) <= value && value <= self.from.max(self.to)
    }
}

impl ClassRef {
    /// Full name of the class.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(class) => class.name,
            Self::Script(class) => &class.name,
            Self::Unknown(name) => name,
        }
    }

    /// Name of the class without its package and outer classes.
    pub fn simple_name(&self) -> &str {
        let name = self.name();
        name.rsplit(['.', '$']).next().unwrap_or(name)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Long(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_text() {
            Some(text) => write!(to, "{text:?}"),
            None => to.write_str("an object"),
        }
    }
}
