//! Which class a value has, and which ones it is an instance of.

use super::{Class, by_full_name, exceptions};
use crate::error::Throwable;
use crate::syntax::ast::Type;
use crate::value::{ClassRef, ListKind, MapKind, Value};
use crate::vm::Vm;

/// Classes that are only named.
pub(super) static CLASSES: &[Class] = &[
    Class::named("java.lang.Iterable"),
    Class::named("java.lang.CharSequence"),
    Class::named("java.lang.Comparable"),
    Class::named("java.lang.Runnable"),
    Class::named("java.io.Serializable"),
    Class::named("java.lang.Class"),
    Class::named("java.lang.Void"),
    Class::named("java.lang.Override"),
    Class::named("groovy.lang.Closure"),
    Class::named("groovy.lang.GString"),
    Class::named("groovy.lang.Range"),
    Class::named("groovy.lang.IntRange"),
    Class::named("groovy.lang.Binding"),
    Class::named("java.util.concurrent.Callable"),
    Class::named("java.util.function.Function"),
    Class::named("java.util.function.Supplier"),
    Class::named("java.util.function.Consumer"),
    Class::named("java.util.function.Predicate"),
    Class::named("java.util.function.BiFunction"),
    Class::named("groovy.transform.Field"),
    Class::named("groovy.transform.CompileStatic"),
    Class::named("groovy.transform.Synchronized"),
    Class::named("groovy.transform.Canonical"),
    Class::named("groovy.transform.ToString"),
];

impl Vm<'_> {
    /// The full name of a value's class.
    pub fn class_name(&self, value: &Value) -> String {
        match value {
            Value::Native(object) => match value.downcast::<Throwable>() {
                Some(throwable) => throwable.class.to_string(),
                None => object.class_name().to_owned(),
            },
            Value::Instance(instance) => instance.class.name.to_string(),
            other => plain_name(other).to_owned(),
        }
    }

    /// The class of a value.
    pub fn class_of(&self, value: &Value) -> Value {
        if let Value::Instance(instance) = value {
            return Value::Class(ClassRef::Script(std::sync::Arc::clone(&instance.class)));
        }
        let name = self.class_name(value);
        Value::Class(by_full_name(&name).map_or_else(|| ClassRef::Unknown(name.into()), ClassRef::Known))
    }
}

fn plain_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Int(_) => "java.lang.Integer",
        Value::Long(_) => "java.lang.Long",
        Value::Float(_) => "java.lang.Float",
        Value::Double(_) => "java.lang.Double",
        Value::Char(_) => "java.lang.Character",
        Value::Str(_) => "java.lang.String",
        Value::BigInt(_) => "java.math.BigInteger",
        Value::Decimal(_) => "java.math.BigDecimal",
        Value::Bytes(_) => "[B",
        Value::List(list) => match list.kind {
            ListKind::List => "java.util.ArrayList",
            ListKind::Linked => "java.util.LinkedList",
            ListKind::Immutable => "java.util.ImmutableCollections$ListN",
            ListKind::Array => "[Ljava.lang.Object;",
        },
        Value::Range(_) => "groovy.lang.IntRange",
        Value::Map(map) => match map.kind {
            MapKind::Linked => "java.util.LinkedHashMap",
            MapKind::Hash => "java.util.HashMap",
            MapKind::Sorted => "java.util.TreeMap",
            MapKind::Immutable => "java.util.ImmutableCollections$MapN",
            MapKind::Lazy => "org.apache.groovy.json.internal.LazyMap",
        },
        Value::Set(set) => match set.kind {
            MapKind::Hash => "java.util.HashSet",
            MapKind::Sorted => "java.util.TreeSet",
            _ => "java.util.LinkedHashSet",
        },
        Value::Closure(_) => "Script1$_run_closure1",
        Value::Class(_) => "java.lang.Class",
        Value::Instance(_) | Value::Native(_) => "java.lang.Object",
    }
}

/// Whether a value that is no object of the script is an instance of a class, by its simple name.
pub(crate) fn is_a(value: &Value, simple: &str) -> bool {
    if value.is_null() {
        return false;
    }
    if simple == "Object" {
        return true;
    }
    let others: &[&str] = match value {
        Value::Bool(_) => &["Boolean", "boolean"],
        Value::Int(_) => &["Integer", "Number", "int", "Comparable", "Short", "Byte", "short", "byte"],
        Value::Long(_) => &["Long", "Number", "long", "Comparable"],
        Value::Float(_) => &["Float", "Number", "float", "Comparable"],
        Value::Double(_) => &["Double", "Number", "double", "Comparable"],
        Value::BigInt(_) => &["BigInteger", "Number", "Comparable"],
        Value::Decimal(_) => &["BigDecimal", "Number", "Comparable"],
        Value::Char(_) => &["Character", "char", "Comparable"],
        Value::Str(_) => &["String", "CharSequence", "Comparable", "GString"],
        Value::List(list) => match list.kind {
            ListKind::Array => &["Object[]"],
            ListKind::Linked => &["LinkedList", "List", "Collection", "Iterable", "Queue", "Deque", "AbstractList"],
            _ => &["ArrayList", "List", "Collection", "Iterable", "RandomAccess", "AbstractList"],
        },
        Value::Range(_) => &["IntRange", "Range", "List", "Collection", "Iterable"],
        Value::Map(map) => match map.kind {
            MapKind::Sorted => &["TreeMap", "SortedMap", "NavigableMap", "Map", "AbstractMap"],
            _ => &["HashMap", "LinkedHashMap", "Map", "AbstractMap", "ConcurrentHashMap"],
        },
        Value::Set(set) => match set.kind {
            MapKind::Sorted => &["TreeSet", "SortedSet", "NavigableSet", "Set", "Collection", "Iterable"],
            _ => &["HashSet", "LinkedHashSet", "Set", "Collection", "Iterable"],
        },
        Value::Closure(_) => &["Closure", "Runnable", "Callable", "Function"],
        Value::Class(_) => &["Class"],
        Value::Native(object) => return native_is_a(value, object.class_name(), simple),
        _ => &[],
    };
    others.contains(&simple)
}

fn native_is_a(value: &Value, class: &str, simple: &str) -> bool {
    if let Some(throwable) = value.downcast::<Throwable>() {
        return exceptions::is_a(&throwable.class, simple);
    }
    let own = class.rsplit(['.', '$']).next().unwrap_or(class);
    let parents: &[&str] = match own {
        "AtomicInteger" | "AtomicLong" => &["Number"],
        "StringBuilder" | "StringBuffer" => &["CharSequence", "Appendable"],
        "HTTPSampleResult" => &["SampleResult"],
        "HTTPSamplerProxy" => &["HTTPSamplerBase", "HTTPSampler", "Sampler", "AbstractSampler", "TestElement"],
        "Properties" => &["Map", "Hashtable"],
        tuple if tuple.starts_with("Tuple") => &["Tuple", "List", "Collection", "Iterable"],
        "SecureRandom" | "ThreadLocalRandom" => &["Random"],
        "GregorianCalendar" => &["Calendar"],
        _ => &[],
    };
    own == simple || parents.contains(&simple)
}

/// The type that a simple name means to a cast.
pub(crate) fn type_named(simple: &str) -> Type {
    match simple {
        "Integer" => Type::Int,
        "Long" => Type::Long,
        "Short" => Type::Short,
        "Byte" => Type::Byte,
        "Float" => Type::Float,
        "Double" => Type::Double,
        "Boolean" => Type::Boolean,
        "Character" => Type::Char,
        "String" => Type::String,
        "BigInteger" => Type::BigInteger,
        "BigDecimal" => Type::BigDecimal,
        "List" | "ArrayList" => Type::List,
        "Set" | "HashSet" | "LinkedHashSet" => Type::Set,
        _ => Type::Any,
    }
}
