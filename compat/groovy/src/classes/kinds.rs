//! Classes of values, and `instanceof`.

use super::{Class, by_full_name, exceptions};
use crate::error::Throwable;
use crate::syntax::ast::Type;
use crate::value::{ClassRef, ListKind, MapKind, Value};
use crate::vm::Vm;

/// Classes without constructors and methods, for casts and `instanceof`.
pub(super) static CLASSES: &[Class] = &[
    Class::name_only("java.lang.Iterable"),
    Class::name_only("java.lang.CharSequence"),
    Class::name_only("java.lang.Comparable"),
    Class::name_only("java.lang.Runnable"),
    Class::name_only("java.io.Serializable"),
    Class::name_only("java.lang.Class"),
    Class::name_only("java.lang.Void"),
    Class::name_only("java.lang.Override"),
    Class::name_only("groovy.lang.Closure"),
    Class::name_only("groovy.lang.GString"),
    Class::name_only("groovy.lang.Range"),
    Class::name_only("groovy.lang.IntRange"),
    Class::name_only("groovy.lang.Binding"),
    Class::name_only("java.util.concurrent.Callable"),
    Class::name_only("java.util.function.Function"),
    Class::name_only("java.util.function.Supplier"),
    Class::name_only("java.util.function.Consumer"),
    Class::name_only("java.util.function.Predicate"),
    Class::name_only("java.util.function.BiFunction"),
    Class::name_only("groovy.transform.Field"),
    Class::name_only("groovy.transform.CompileStatic"),
    Class::name_only("groovy.transform.Synchronized"),
    Class::name_only("groovy.transform.Canonical"),
    Class::name_only("groovy.transform.ToString"),
];

impl Vm<'_> {
    /// Full name of a value's class.
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

    /// Class of a value.
    pub fn class_of(&self, value: &Value) -> Value {
        if let Value::Instance(instance) = value {
            return Value::Class(ClassRef::Script(std::sync::Arc::clone(&instance.class)));
        }
        let name = self.class_name(value);
        Value::Class(
            by_full_name(&name).map_or_else(|| ClassRef::Unknown(name.into()), ClassRef::Known),
        )
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
        // Groovy's name for the first closure of a script.
        Value::Closure(_) => "Script1$_run_closure1",
        Value::Class(_) => "java.lang.Class",
        Value::Instance(_) | Value::Native(_) => "java.lang.Object",
    }
}

/// True if a value is an instance of a class, given by simple name. Not for objects of
/// the script's own classes.
pub(crate) fn is_a(value: &Value, simple: &str) -> bool {
    if value.is_null() {
        return false;
    }
    if simple == "Object" {
        return true;
    }
    let classes: &[&str] = match value {
        Value::Bool(_) => &["Boolean", "boolean"],
        // Short and Byte values are stored as Int.
        Value::Int(_) => {
            &["Integer", "Number", "int", "Comparable", "Short", "Byte", "short", "byte"]
        }
        Value::Long(_) => &["Long", "Number", "long", "Comparable"],
        Value::Float(_) => &["Float", "Number", "float", "Comparable"],
        Value::Double(_) => &["Double", "Number", "double", "Comparable"],
        Value::BigInt(_) => &["BigInteger", "Number", "Comparable"],
        Value::Decimal(_) => &["BigDecimal", "Number", "Comparable"],
        Value::Char(_) => &["Character", "char", "Comparable"],
        // Interpolated strings are stored as `Str` too.
        Value::Str(_) => &["String", "CharSequence", "Comparable", "GString"],
        Value::List(list) => match list.kind {
            ListKind::Array => &["Object[]"],
            ListKind::Linked => {
                &["LinkedList", "List", "Collection", "Iterable", "Queue", "Deque", "AbstractList"]
            }
            _ => &["ArrayList", "List", "Collection", "Iterable", "RandomAccess", "AbstractList"],
        },
        Value::Range(_) => &["IntRange", "Range", "List", "Collection", "Iterable"],
        Value::Map(map) => match map.kind {
            MapKind::Sorted => &["TreeMap", "SortedMap", "NavigableMap", "Map", "AbstractMap"],
            _ => &["HashMap", "LinkedHashMap", "Map", "AbstractMap", "ConcurrentHashMap"],
        },
        Value::Set(set) => match set.kind {
            MapKind::Sorted => {
                &["TreeSet", "SortedSet", "NavigableSet", "Set", "Collection", "Iterable"]
            }
            _ => &["HashSet", "LinkedHashSet", "Set", "Collection", "Iterable"],
        },
        Value::Closure(_) => &["Closure", "Runnable", "Callable", "Function"],
        Value::Class(_) => &["Class"],
        Value::Native(object) => return native_is_a(value, object.class_name(), simple),
        _ => &[],
    };
    classes.contains(&simple)
}

fn native_is_a(value: &Value, class: &str, simple: &str) -> bool {
    if let Some(throwable) = value.downcast::<Throwable>() {
        return exceptions::is_a(&throwable.class, simple);
    }
    let class_name = class.rsplit(['.', '$']).next().unwrap_or(class);
    let parents: &[&str] = match class_name {
        "AtomicInteger" | "AtomicLong" => &["Number"],
        "StringBuilder" | "StringBuffer" => &["CharSequence", "Appendable"],
        "HTTPSampleResult" => &["SampleResult"],
        "HTTPSamplerProxy" => {
            &["HTTPSamplerBase", "HTTPSampler", "Sampler", "AbstractSampler", "TestElement"]
        }
        "Properties" => &["Map", "Hashtable"],
        tuple if tuple.starts_with("Tuple") => &["Tuple", "List", "Collection", "Iterable"],
        "SecureRandom" | "ThreadLocalRandom" => &["Random"],
        "GregorianCalendar" => &["Calendar"],
        _ => &[],
    };
    class_name == simple || parents.contains(&simple)
}

/// Target type of a cast to a class, by simple name.
pub(crate) fn type_by_name(simple: &str) -> Type {
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
