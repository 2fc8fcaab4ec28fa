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
    Class::with_static("java.util.concurrent.ThreadLocalRandom", random_static)
        .and_constructor(make_random),
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
    Class::with_static("java.util.Locale", locale_static)
        .and_constructor(make_locale)
        .and_constants(locale),
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
    /// State of `java.util.Random`; `None` without a seed.
    seed: Cell<Option<i64>>,
    /// Second number of the pair that `nextGaussian` computes.
    spare_gaussian: Cell<Option<f64>>,
}

const MULTIPLIER: i64 = 0x5_DEEC_E66D;
const MASK: i64 = (1 << 48) - 1;

fn make_random(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let seed = match arguments {
        // In the other classes, a seed does not determine the sequence.
        [seed @ (Value::Int(_) | Value::Long(_) | Value::Char(_))]
            if class == "java.util.Random" =>
        {
            Some(scrambled(vm.to_long(seed)?))
        }
        [_, ..] if class == "java.util.Random" => {
            return Err(vm.missing_method(class, "<init>", arguments));
        }
        _ => None,
    };
    let class = super::by_full_name(class).map_or("java.util.Random", |class| class.name);
    Ok(Value::native(Random { class, seed: Cell::new(seed), spare_gaussian: Cell::new(None) }))
}

/// Java's `StrictMath.log` of a normal positive number: the algorithm of fdlibm, whose last digit may differ from
/// that of `f64::ln`.
fn strict_log(number: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const COEFFICIENTS: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    let high = (number.to_bits() >> 32) as i32;
    let fraction = high & 0xf_ffff;
    // The number is 2^exponent × (1 + f), with 1 + f between √½ and √2.
    let carry = (fraction + 0x9_5f64) & 0x10_0000;
    let exponent = f64::from((high >> 20) - 1_023 + (carry >> 20));
    let scaled_high = u64::from((fraction | (carry ^ 0x3ff0_0000)) as u32) << 32;
    let f = f64::from_bits(scaled_high | number.to_bits() & 0xffff_ffff) - 1.0;
    if 0xf_ffff & (2 + fraction) < 3 {
        let rest = f * f * (0.5 - 0.333_333_333_333_333_3 * f);
        return exponent * LN2_HIGH - ((rest - exponent * LN2_LOW) - f);
    }
    let [c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (c2 + w * (c4 + w * c6));
    let odd = z * (c1 + w * (c3 + w * (c5 + w * c7)));
    let rest = odd + even;
    if (fraction - 0x6_147a) | (0x6_b851 - fraction) > 0 {
        let half = 0.5 * f * f;
        exponent * LN2_HIGH - ((half - (s * (half + rest) + exponent * LN2_LOW)) - f)
    } else {
        exponent * LN2_HIGH - ((s * (f - rest) - exponent * LN2_LOW) - f)
    }
}

/// State of a `java.util.Random` after `setSeed(seed)`.
fn scrambled(seed: i64) -> i64 {
    (seed ^ MULTIPLIER) & MASK
}

fn random_static(vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(match name {
        "current" => Some(make_random(vm, "java.util.concurrent.ThreadLocalRandom", &[])?),
        "getInstance" | "getInstanceStrong" => {
            Some(make_random(vm, "java.security.SecureRandom", &[])?)
        }
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

    /// A number in a range, by the algorithm of `RandomGenerator`, which differs from that of
    /// `nextInt(bound)`.
    fn between(&self, vm: &mut Vm, from: i64, to: i64, is_int: bool) -> Eval<i64> {
        if from >= to {
            return Err(illegal("bound must be greater than origin"));
        }
        if self.seed.get().is_none() {
            let count = i128::from(to) - i128::from(from);
            let offset = (u128::from(vm.host.random()) * count as u128) >> 64;
            return Ok((i128::from(from) + offset as i128) as i64);
        }
        let mut number = self.integer(vm, is_int);
        let count = if is_int {
            i64::from((to as i32).wrapping_sub(from as i32))
        } else {
            to.wrapping_sub(from)
        };
        let mask = count.wrapping_sub(1);
        if count & mask == 0 {
            return Ok((number & mask).wrapping_add(from));
        }
        if count > 0 {
            loop {
                vm.tick(1)?;
                // The highest bit is dropped, in an `int` that of the lower half.
                let bits = if is_int {
                    i64::from(number as u32 >> 1)
                } else {
                    (number as u64 >> 1) as i64
                };
                let value = bits % count;
                let limit = if is_int { i64::from(i32::MAX) } else { i64::MAX };
                // Numbers above the last multiple of the count would prefer small values.
                if bits - value <= limit - mask {
                    return Ok(value.wrapping_add(from));
                }
                number = self.integer(vm, is_int);
            }
        }
        // The range has more numbers than the positive half of the type.
        while number < from || number >= to {
            vm.tick(1)?;
            number = self.integer(vm, is_int);
        }
        Ok(number)
    }

    /// The next `int` or `long`.
    fn integer(&self, vm: &mut Vm, is_int: bool) -> i64 {
        let high = i64::from(self.bits(vm, 32));
        if is_int { high } else { (high << 32).wrapping_add(i64::from(self.bits(vm, 32))) }
    }

    /// The next number of a stream: `nextInt` for `ints` and so on.
    fn of_stream(&self, vm: &mut Vm, name: &str, range: &[Value]) -> Eval<Value> {
        let method = match name {
            "doubles" => "nextDouble",
            "longs" => "nextLong",
            _ => "nextInt",
        };
        Ok(self.call(vm, method, range)?.unwrap_or_default())
    }

    fn double(&self, vm: &mut Vm) -> f64 {
        if self.seed.get().is_none() {
            return unit(vm.host.random());
        }
        let high = i64::from(self.bits(vm, 26));
        let low = i64::from(self.bits(vm, 27));
        ((high << 27) + low) as f64 / (1_u64 << 53) as f64
    }

    fn float(&self, vm: &mut Vm) -> f32 {
        self.bits(vm, 24) as f32 / (1_u32 << 24) as f32
    }

    fn gaussian(&self, vm: &mut Vm) -> Eval<f64> {
        if let Some(number) = self.spare_gaussian.take() {
            return Ok(number);
        }
        loop {
            vm.tick(1)?;
            let a = 2.0 * self.double(vm) - 1.0;
            let b = 2.0 * self.double(vm) - 1.0;
            let square = a * a + b * b;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * strict_log(square) / square).sqrt();
                self.spare_gaussian.set(Some(b * factor));
                return Ok(a * factor);
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
            ("nextLong", []) => Value::Long(self.integer(vm, false)),
            ("nextInt", [bound]) => {
                let bound = vm.to_long(bound)?;
                Value::Int(self.below(vm, bound)? as i32)
            }
            ("nextLong", [bound]) => {
                let bound = vm.to_long(bound)?;
                if bound <= 0 {
                    return Err(illegal("bound must be positive"));
                }
                Value::Long(self.between(vm, 0, bound, false)?)
            }
            ("nextInt" | "nextLong", [from, to]) => {
                let from = vm.to_long(from)?;
                let to = vm.to_long(to)?;
                let is_int = name == "nextInt";
                let number = self.between(vm, from, to, is_int)?;
                if is_int { Value::Int(number as i32) } else { Value::Long(number) }
            }
            ("nextDouble", []) => Value::Double(self.double(vm)),
            ("nextFloat", []) => Value::Float(self.float(vm)),
            ("nextFloat", [to]) => Value::Float(vm.to_double(to)? as f32 * self.float(vm)),
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
                let mut random: Vec<u8> = Vec::with_capacity(count);
                while random.len() < count {
                    // Java takes four bytes from each number, the lowest first.
                    random.extend(
                        self.bits(vm, 32).to_le_bytes().into_iter().take(count - random.len()),
                    );
                }
                bytes.replace(random);
                Value::Null
            }
            ("ints" | "doubles" | "longs", [count, range @ ..]) if range.len() != 1 => {
                let count = vm.to_long(count)?.clamp(0, 10_000_000);
                vm.alloc(count as usize * 24)?;
                let mut numbers = Vec::new();
                for _ in 0..count {
                    numbers.push(self.of_stream(vm, name, range)?);
                }
                Value::list(numbers)
            }
            ("ints" | "doubles" | "longs", _) => {
                return Err(throw(
                    "java.lang.UnsupportedOperationException",
                    format!(
                        "`{name}` without a count is an endless stream; write `{name}(count, from, to)`"
                    ),
                ));
            }
            ("setSeed", [seed]) => {
                match self.class {
                    "java.util.Random" => {
                        let seed = vm.to_long(seed)?;
                        self.seed.set(Some(scrambled(seed)));
                        self.spare_gaussian.set(None);
                    }
                    // A seed only adds to the entropy of a `SecureRandom`.
                    "java.security.SecureRandom" => {}
                    _ => return Err(throw("java.lang.UnsupportedOperationException", "setSeed")),
                }
                Value::Null
            }
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
            Uuid(number.ok_or_else(|| {
                illegal(format!("Invalid UUID string: {}", crate::error::clip(&text)))
            })?)
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
            "plus" | "replace" | "replaceAll" | "substring" | "split" | "toUpperCase"
            | "length" => {
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
            ("get" | "orElseThrow" | "getAsInt" | "getAsDouble" | "getAsLong", Some(value), _) => {
                value
            }
            ("get" | "orElseThrow" | "getAsInt" | "getAsDouble" | "getAsLong", None, _) => {
                return Err(throw("java.util.NoSuchElementException", "No value present"));
            }
            ("orElse", value, [other]) => value.unwrap_or_else(|| other.clone()),
            ("orElseGet", None, [closure]) => vm.call_closure(closure, &[])?,
            ("orElseGet", Some(value), _) => value,
            ("ifPresent", Some(value), [closure]) => vm.call_closure(closure, &[value])?,
            ("ifPresent", None, _) => Value::Null,
            ("map", Some(value), [closure]) => {
                Self::make(Some(vm.call_closure(closure, &[value])?))
            }
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
    let class = super::by_full_name(class)
        .map_or("java.util.concurrent.atomic.AtomicLong", |class| class.name);
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
            ("get" | "intValue" | "longValue" | "getPlain" | "getAcquire", []) => {
                return Ok(Some(old));
            }
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
        Value::native(Self {
            kind: inner.map_or(ComparatorKind::Natural, ComparatorKind::By),
            reversed: true,
        })
    }

    fn order(&self, vm: &mut Vm, a: &Value, b: &Value) -> Eval<Ordering> {
        let order = match &self.kind {
            ComparatorKind::Natural => vm.compare(a, b)?,
            ComparatorKind::IgnoringCase => {
                vm.text(a)?.to_lowercase().cmp(&vm.text(b)?.to_lowercase())
            }
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
        ("naturalOrder", []) => {
            Some(Value::native(Comparator { kind: ComparatorKind::Natural, reversed: false }))
        }
        ("reverseOrder", []) => Some(Comparator::reversed(None)),
        (_, [closure]) if name.starts_with("comparing") => Some(Value::native(Comparator {
            kind: ComparatorKind::By(closure.clone()),
            reversed: false,
        })),
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
    Ok(matches!(name, "getDefault" | "setDefault" | "forLanguageTag" | "of")
        .then(|| Value::native(Locale)))
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
