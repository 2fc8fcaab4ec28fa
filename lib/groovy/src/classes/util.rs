//! Classes of `java.util`: random numbers, UUIDs, optionals, counters, comparators, tokenizers.

use super::collections::Cursor;
use super::{Class, codec, text_at};
use crate::error::{Eval, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.util.Random", random_static).and_constructor(make_random),
    Class::with_static("java.security.SecureRandom", random_static).and_constructor(make_random),
    Class::with_static("java.util.concurrent.ThreadLocalRandom", random_static).and_constructor(make_random),
    Class::with_static("java.util.UUID", uuid),
    Class::with_static("java.util.Optional", optional),
    Class::with_static("groovy.util.Eval", crate::jmeter::shell),
    Class::with_static("groovy.lang.GroovyShell", crate::jmeter::shell).and_constructor(make_shell),
    Class::with_constructor("java.util.StringTokenizer", make_tokenizer),
    Class::with_constructor("java.util.concurrent.atomic.AtomicInteger", make_atomic),
    Class::with_constructor("java.util.concurrent.atomic.AtomicLong", make_atomic),
    Class::with_constructor("java.util.concurrent.atomic.AtomicBoolean", make_atomic),
    Class::with_constructor("java.util.concurrent.atomic.AtomicReference", make_atomic),
    Class::with_static("java.util.Comparator", comparator),
    Class::with_static("java.util.Locale", locale_static).and_constructor(make_locale).and_constants(locale),
    Class::with_constructor("java.util.concurrent.locks.ReentrantLock", make_lock),
    Class::with_constructor("java.util.concurrent.Semaphore", make_lock),
    Class::with_constructor("java.util.concurrent.CountDownLatch", make_lock),
];

/// Converts 64 random bits to a number from 0 to below 1.
pub(crate) fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// `new Object()`
pub(crate) struct PlainObject;

impl Native for PlainObject {
    fn class_name(&self) -> &'static str {
        "java.lang.Object"
    }
    fn call(&self, _vm: &mut Vm, _name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(None)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A random number generator; with a seed, it returns Java's sequence.
struct Random {
    class: &'static str,
    seed: Cell<Option<i64>>,
}

const MULTIPLIER: i64 = 0x5_DEEC_E66D;
const MASK: i64 = (1 << 48) - 1;

fn make_random(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let seed = match arguments.first() {
        // In the other classes, a seed does not determine the sequence.
        Some(seed @ (Value::Int(_) | Value::Long(_))) if class == "java.util.Random" => {
            Some((vm.to_long(seed)? ^ MULTIPLIER) & MASK)
        }
        _ => None,
    };
    let class = super::by_full_name(class).map_or("java.util.Random", |class| class.name);
    Ok(Value::native(Random { class, seed: Cell::new(seed) }))
}

fn random_static(vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match name {
        "current" => Some(make_random(vm, "java.util.concurrent.ThreadLocalRandom", &[])?),
        "getInstance" | "getInstanceStrong" => Some(make_random(vm, "java.security.SecureRandom", &[])?),
        _ => None,
    })
}

impl Random {
    /// The next random bits, in the low end. The documentation of
    /// `java.util.Random` specifies the algorithm.
    fn bits(&self, vm: &mut Vm, count: u32) -> i32 {
        match self.seed.get() {
            Some(seed) => {
                let next = seed.wrapping_mul(MULTIPLIER).wrapping_add(11) & MASK;
                self.seed.set(Some(next));
                (next >> (48 - count)) as i32
            }
            None => (vm.host.random() as u32 >> (32 - count)) as i32,
        }
    }

    fn below(&self, vm: &mut Vm, bound: i64) -> Eval<i64> {
        if bound <= 0 {
            return Err(illegal("bound must be positive"));
        }
        if let (Some(_), Ok(bound)) = (self.seed.get(), i32::try_from(bound)) {
            // For a power of two, Java takes the high bits.
            if bound & (bound - 1) == 0 {
                return Ok((i64::from(bound) * i64::from(self.bits(vm, 31))) >> 31);
            }
            loop {
                vm.tick(1)?;
                let bits = self.bits(vm, 31);
                let value = bits % bound;
                // Bits above the last multiple of the bound would prefer small numbers.
                if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                    return Ok(i64::from(value));
                }
            }
        }
        Ok(((u128::from(vm.host.random()) * bound as u128) >> 64) as i64)
    }

    fn double(&self, vm: &mut Vm) -> f64 {
        if self.seed.get().is_none() {
            return unit(vm.host.random());
        }
        let high = i64::from(self.bits(vm, 26));
        let low = i64::from(self.bits(vm, 27));
        ((high << 27) + low) as f64 / (1_u64 << 53) as f64
    }

    fn gaussian(&self, vm: &mut Vm) -> Eval<f64> {
        loop {
            vm.tick(1)?;
            let a = 2.0 * self.double(vm) - 1.0;
            let b = 2.0 * self.double(vm) - 1.0;
            let square = a * a + b * b;
            if square < 1.0 && square != 0.0 {
                return Ok(a * (-2.0 * square.ln() / square).sqrt());
            }
        }
    }
}

impl Native for Random {
    fn class_name(&self) -> &str {
        self.class
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("nextInt", []) => Value::Int(self.bits(vm, 32)),
            ("nextLong", []) => {
                Value::Long((i64::from(self.bits(vm, 32)) << 32).wrapping_add(i64::from(self.bits(vm, 32))))
            }
            ("nextInt" | "nextLong", [bound]) => {
                let bound = vm.to_long(bound)?;
                let number = self.below(vm, bound)?;
                if name == "nextInt" { Value::Int(number as i32) } else { Value::Long(number) }
            }
            ("nextInt" | "nextLong", [from, to]) => {
                let from = vm.to_long(from)?;
                let to = vm.to_long(to)?;
                let number = from.wrapping_add(self.below(vm, to.saturating_sub(from))?);
                if name == "nextInt" { Value::Int(number as i32) } else { Value::Long(number) }
            }
            ("nextDouble", []) => Value::Double(self.double(vm)),
            ("nextFloat", []) => Value::Float(self.double(vm) as f32),
            ("nextDouble", [from, to]) => {
                let from = vm.to_double(from)?;
                let to = vm.to_double(to)?;
                Value::Double(from + (to - from) * self.double(vm))
            }
            ("nextDouble", [to]) => Value::Double(vm.to_double(to)? * self.double(vm)),
            ("nextBoolean", []) => Value::Bool(self.bits(vm, 1) != 0),
            ("nextGaussian", []) => Value::Double(self.gaussian(vm)?),
            ("nextBytes", [Value::Bytes(bytes)]) => {
                let count = bytes.borrow().len();
                vm.tick(count)?;
                let random: Vec<u8> = (0..count).map(|_| self.bits(vm, 8) as u8).collect();
                bytes.replace(random);
                Value::Null
            }
            ("ints" | "doubles" | "longs", [count, rest @ ..]) => {
                let count = vm.to_long(count)?.clamp(0, 10_000_000);
                vm.alloc(count as usize * 24)?;
                let mut numbers = Vec::new();
                for _ in 0..count {
                    let one = if name == "doubles" { "nextDouble" } else { "nextInt" };
                    numbers.push(self.call(vm, one, rest)?.unwrap_or_default());
                }
                Value::list(numbers)
            }
            ("setSeed", _) => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(crate) struct Uuid(u128);

impl Uuid {
    /// Creates a random UUID, version 4.
    pub fn random(vm: &mut Vm) -> Self {
        let bits = u128::from(vm.host.random()) << 64 | u128::from(vm.host.random());
        // Version 4 and the variant of RFC 9562.
        Self(bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62)
    }

    pub fn hyphenated(&self) -> String {
        let hex = format!("{:032x}", self.0);
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

fn uuid(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(Value::native(match name {
        "randomUUID" => Uuid::random(vm),
        "fromString" => {
            let text = text_at(vm, arguments, 0)?;
            let hex = text.replace('-', "");
            let number = u128::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == 32);
            Uuid(number.ok_or_else(|| illegal(format!("Invalid UUID string: {}", crate::error::clip(&text))))?)
        }
        "nameUUIDFromBytes" => {
            let bytes = super::bytes_of(vm, arguments.first().unwrap_or(&Value::Null))?;
            let digest = codec::digest("MD5", &bytes)?;
            let bits = digest.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
            // Version 3 and the variant of RFC 9562.
            Uuid(bits & !(0xf << 76) & !(0x3 << 62) | 0x3 << 76 | 0x2 << 62)
        }
        _ => return Ok(None),
    })))
}

impl Native for Uuid {
    fn class_name(&self) -> &'static str {
        "java.util.UUID"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getMostSignificantBits" => Value::Long((self.0 >> 64) as i64),
            "getLeastSignificantBits" => Value::Long(self.0 as i64),
            "version" => Value::Int((self.0 >> 76 & 0xf) as i32),
            "plus" | "replace" | "replaceAll" | "substring" | "split" | "toUpperCase" | "length" => {
                // In Java, a UUID has no methods of text except Groovy's `plus`.
                if name != "plus" {
                    return Ok(None);
                }
                return crate::methods::call(vm, &Value::from(self.hyphenated()), name, arguments);
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.hyphenated()))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::from(self.hyphenated()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `Optional`
pub(crate) struct OptionalObject(RefCell<Option<Value>>);

impl OptionalObject {
    pub fn make(value: Option<Value>) -> Value {
        Value::native(Self(RefCell::new(value.filter(|value| !value.is_null()))))
    }
}

fn optional(_vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match name {
        "of" | "ofNullable" => Some(OptionalObject::make(arguments.first().cloned())),
        "empty" => Some(OptionalObject::make(None)),
        _ => None,
    })
}

impl Native for OptionalObject {
    fn class_name(&self) -> &'static str {
        "java.util.Optional"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let value = self.0.borrow().clone();
        Ok(Some(match (name, value, arguments) {
            ("isPresent" | "asBoolean", value, []) => Value::Bool(value.is_some()),
            ("isEmpty", value, []) => Value::Bool(value.is_none()),
            ("get" | "orElseThrow" | "getAsInt" | "getAsDouble" | "getAsLong", Some(value), _) => value,
            ("get" | "orElseThrow" | "getAsInt" | "getAsDouble" | "getAsLong", None, _) => {
                return Err(throw("java.util.NoSuchElementException", "No value present"));
            }
            ("orElse", value, [other]) => value.unwrap_or_else(|| other.clone()),
            ("orElseGet", None, [closure]) => vm.call_closure(closure, &[])?,
            ("orElseGet", Some(value), _) => value,
            ("ifPresent", Some(value), [closure]) => vm.call_closure(closure, &[value])?,
            ("ifPresent", None, _) => Value::Null,
            ("map", Some(value), [closure]) => Self::make(Some(vm.call_closure(closure, &[value])?)),
            ("map" | "filter" | "flatMap", None, _) => Self::make(None),
            ("flatMap", Some(value), [closure]) => vm.call_closure(closure, &[value])?,
            ("filter", Some(value), [closure]) => {
                let accepts = vm.call_closure(closure, std::slice::from_ref(&value))?;
                Self::make(vm.truth(&accepts)?.then_some(value))
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let value = self.0.borrow().clone();
        Ok(Some(match value {
            Some(value) => format!("Optional[{}]", vm.text(&value)?),
            None => "Optional.empty".to_owned(),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn make_tokenizer(vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    let text = Value::Str(text_at(vm, arguments, 0)?);
    let tokens = vm.call_method(&text, "tokenize", arguments.get(1..2).unwrap_or(&[]))?;
    let tokens = vm.items(&tokens)?;
    Ok(Cursor::make(tokens, None))
}

/// `AtomicInteger` and similar classes.
struct Atomic {
    class: &'static str,
    value: RefCell<Value>,
}

fn make_atomic(_vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let class = super::by_full_name(class).map_or("java.util.concurrent.atomic.AtomicLong", |class| class.name);
    let first = match class.rsplit('.').next() {
        Some("AtomicInteger") => Value::Int(0),
        Some("AtomicLong") => Value::Long(0),
        Some("AtomicBoolean") => Value::Bool(false),
        _ => Value::Null,
    };
    let value = arguments.first().cloned().unwrap_or(first);
    let value = match (class.ends_with("Long"), value) {
        (true, Value::Int(number)) => Value::Long(i64::from(number)),
        (_, value) => value,
    };
    Ok(Value::native(Atomic { class, value: RefCell::new(value) }))
}

impl Native for Atomic {
    fn class_name(&self) -> &str {
        self.class
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let old = self.value.borrow().clone();
        let delta = match (name, arguments) {
            ("incrementAndGet" | "getAndIncrement", []) => Value::Int(1),
            ("decrementAndGet" | "getAndDecrement", []) => Value::Int(-1),
            ("addAndGet" | "getAndAdd", [delta]) => delta.clone(),
            ("get" | "intValue" | "longValue" | "getPlain" | "getAcquire", []) => return Ok(Some(old)),
            ("set" | "lazySet" | "getAndSet", [value]) => {
                self.value.replace(value.clone());
                return Ok(Some(if name == "getAndSet" { old } else { Value::Null }));
            }
            ("compareAndSet", [expected, value]) => {
                let is_equal = vm.equals(&old, expected)?;
                if is_equal {
                    self.value.replace(value.clone());
                }
                return Ok(Some(Value::Bool(is_equal)));
            }
            ("updateAndGet" | "getAndUpdate", [closure]) => {
                let new = vm.call_closure(closure, std::slice::from_ref(&old))?;
                self.value.replace(new.clone());
                return Ok(Some(if name == "updateAndGet" { new } else { old }));
            }
            _ => return Ok(None),
        };
        let new = vm.operate(crate::syntax::ast::Operator::Add, &old, &delta)?;
        self.value.replace(new.clone());
        Ok(Some(if name.ends_with("AndGet") { new } else { old }))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let value = self.value.borrow().clone();
        Ok(Some(vm.text(&value)?.to_string()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        to.push(self.value.take());
    }
}

pub(crate) struct Comparator {
    kind: ComparatorKind,
    reversed: bool,
}

enum ComparatorKind {
    Natural,
    IgnoringCase,
    Property(&'static str),
    By(Value),
}

impl Comparator {
    pub fn by_property(name: &'static str) -> Value {
        Value::native(Self { kind: ComparatorKind::Property(name), reversed: false })
    }

    pub fn ignoring_case() -> Value {
        Value::native(Self { kind: ComparatorKind::IgnoringCase, reversed: false })
    }

    pub fn reversed(inner: Option<Value>) -> Value {
        Value::native(Self { kind: inner.map_or(ComparatorKind::Natural, ComparatorKind::By), reversed: true })
    }

    fn order(&self, vm: &mut Vm, a: &Value, b: &Value) -> Eval<Ordering> {
        let order = match &self.kind {
            ComparatorKind::Natural => vm.compare(a, b)?,
            ComparatorKind::IgnoringCase => vm.text(a)?.to_lowercase().cmp(&vm.text(b)?.to_lowercase()),
            ComparatorKind::Property(name) => {
                let a = vm.property(a, name)?;
                let b = vm.property(b, name)?;
                vm.compare(&a, &b)?
            }
            ComparatorKind::By(inner) => crate::methods::order(vm, inner, a, b)?,
        };
        Ok(if self.reversed { order.reverse() } else { order })
    }
}

fn comparator(_vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match (name, arguments) {
        ("naturalOrder", []) => Some(Value::native(Comparator { kind: ComparatorKind::Natural, reversed: false })),
        ("reverseOrder", []) => Some(Comparator::reversed(None)),
        (_, [closure]) if name.starts_with("comparing") => {
            Some(Value::native(Comparator { kind: ComparatorKind::By(closure.clone()), reversed: false }))
        }
        _ => None,
    })
}

impl Native for Comparator {
    fn class_name(&self) -> &'static str {
        "java.util.Comparator"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match (name, arguments) {
            ("compare", [a, b]) => Some(Value::Int(self.order(vm, a, b)? as i32)),
            ("reversed", []) => {
                let kind = match &self.kind {
                    ComparatorKind::Natural => ComparatorKind::Natural,
                    ComparatorKind::IgnoringCase => ComparatorKind::IgnoringCase,
                    ComparatorKind::Property(name) => ComparatorKind::Property(name),
                    ComparatorKind::By(inner) => ComparatorKind::By(inner.clone()),
                };
                Some(Value::native(Self { kind, reversed: !self.reversed }))
            }
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A locale. It has no effect on formats.
struct Locale;

impl Native for Locale {
    fn class_name(&self) -> &'static str {
        "java.util.Locale"
    }
    fn call(&self, _vm: &mut Vm, _name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(None)
    }
    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some("en_US".to_owned()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `new GroovyShell()`
struct Shell;

fn make_shell(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Shell))
}

impl Native for Shell {
    fn class_name(&self) -> &'static str {
        "groovy.lang.GroovyShell"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        crate::jmeter::shell(vm, name, arguments)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn make_locale(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Locale))
}

fn locale_static(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(matches!(name, "getDefault" | "setDefault" | "forLanguageTag" | "of").then(|| Value::native(Locale)))
}

fn locale(_vm: &mut Vm, name: &str) -> Option<Value> {
    name.starts_with(char::is_uppercase).then(|| Value::native(Locale))
}

/// A lock without effect, because a script runs alone in its virtual user.
struct Lock;

fn make_lock(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Lock))
}

impl Native for Lock {
    fn class_name(&self) -> &'static str {
        "java.util.concurrent.locks.ReentrantLock"
    }
    fn call(&self, _vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(match name {
            "lock" | "unlock" | "acquire" | "release" | "countDown" | "await" => Some(Value::Null),
            "tryLock" | "tryAcquire" => Some(Value::Bool(true)),
            _ => None,
        })
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `stream.collect(Collectors…)`
pub(crate) fn collect(vm: &mut Vm, items: Vec<Value>, collector: &Value) -> Eval<Value> {
    super::streams::collect(vm, items, collector)
}

/// Creates an object without state.
pub(super) fn make_plain(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(PlainObject))
}
