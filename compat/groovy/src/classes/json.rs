//! `JsonSlurper`, `JsonOutput`, `JsonBuilder`.

use super::Class;
use crate::decimal::Decimal;
use crate::error::{Eval, throw};
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("groovy.json.JsonSlurper", make_slurper),
    Class::with_constructor("groovy.json.JsonSlurperClassic", make_slurper),
    Class::with_constructor("com.fasterxml.jackson.databind.ObjectMapper", make_mapper),
    Class::with_static("groovy.json.JsonOutput", output),
    Class::with_constructor("groovy.json.JsonBuilder", make_builder),
    Class::name_only("groovy.json.JsonParserType").and_constants(parser_type),
];

/// Maximum nesting of JSON.
// Parser and formatter are recursive, and deep nesting could overflow the stack.
const DEPTH: usize = 200;

fn parser_type(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(Value::str(name))
}

/// `new JsonSlurper()`
struct Slurper;

fn make_slurper(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Slurper))
}

/// Jackson's `new ObjectMapper()`: converts JSON to maps and lists, and back.
struct Mapper;

fn make_mapper(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Mapper))
}

impl Native for Mapper {
    fn class_name(&self) -> &'static str {
        "com.fasterxml.jackson.databind.ObjectMapper"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("readValue", [source, _]) => {
                Slurper.call(vm, "parseText", std::slice::from_ref(source))
            }
            ("writeValueAsString", [_]) => output(vm, "toJson", arguments),
            _ => Ok(None),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Native for Slurper {
    fn class_name(&self) -> &'static str {
        "groovy.json.JsonSlurper"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("parseText" | "parse" | "parseFile", [source, ..]) => {
                let text = match source {
                    Value::Bytes(bytes) => String::from_utf8_lossy(&bytes.borrow()).into(),
                    Value::Native(_) => {
                        let content = super::io::content(vm, source)?;
                        content.map_or_else(
                            || vm.text(source),
                            |bytes| Ok(String::from_utf8_lossy(&bytes).into()),
                        )?
                    }
                    Value::Null => {
                        return Err(throw(
                            "java.lang.IllegalArgumentException",
                            "Text must not be null or empty",
                        ));
                    }
                    other => vm.text(other)?,
                };
                if text.trim().is_empty() {
                    return Err(throw(
                        "java.lang.IllegalArgumentException",
                        "Text must not be null or empty",
                    ));
                }
                parse(vm, &text)?
            }
            // The parser types of Groovy differ in speed, not in their results.
            ("setType" | "setLazyChop" | "setChop", [_]) => Value::native(Self),
            _ => return Ok(None),
        }))
    }

    fn set_property(&self, _vm: &mut Vm, _name: &str, _value: &Value) -> Eval<bool> {
        Ok(true)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Parses JSON to maps and lists.
pub(crate) fn parse(vm: &mut Vm, text: &str) -> Eval<Value> {
    vm.tick(text.len() / 16)?;
    let mut parser = JsonParser { text, position: 0 };
    let value = parser.value(vm, DEPTH)?;
    parser.blanks();
    if parser.position < text.len() {
        return Err(parser.error("nothing more is expected"));
    }
    Ok(value)
}

struct JsonParser<'t> {
    text: &'t str,
    position: usize,
}

impl JsonParser<'_> {
    fn error(&self, expectation: &str) -> Box<crate::error::Fault> {
        let line = self.text[..self.position].matches('\n').count() + 1;
        let actual = match self.text[self.position..].chars().next() {
            Some(letter) => format!("the character is '{}'", letter.escape_default()),
            None => "the text ends".to_owned(),
        };
        throw(
            "groovy.json.JsonException",
            format!(
                "Unable to parse JSON: {expectation}; {actual} (line {line}, index {})",
                self.position
            ),
        )
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.position).copied().unwrap_or(0)
    }

    /// Skips white space, then consumes the byte if it is next.
    fn accept(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_present = self.peek() == byte;
        self.position += usize::from(is_present);
        is_present
    }

    fn value(&mut self, vm: &mut Vm, depth: usize) -> Eval<Value> {
        self.blanks();
        vm.tick(1)?;
        if depth == 0 {
            return Err(self.error("values nest too deeply"));
        }
        match self.peek() {
            b'{' => self.object(vm, depth),
            b'[' => self.array(vm, depth),
            b'"' => {
                let text = self.string()?;
                vm.string(text)
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                for (word, value) in [
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("null", Value::Null),
                ] {
                    if self.text[self.position..].starts_with(word) {
                        self.position += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("a value is expected"))
            }
        }
    }

    fn object(&mut self, vm: &mut Vm, depth: usize) -> Eval<Value> {
        self.position += 1;
        // Scripts may print the class of a parsed object, which is `LazyMap` in Groovy.
        let (value, map) = Value::map(MapKind::Lazy);
        vm.alloc(64)?;
        if self.accept(b'}') {
            return Ok(value);
        }
        loop {
            self.blanks();
            if self.peek() != b'"' {
                return Err(self.error("a key in quotation marks is expected"));
            }
            let key = self.string()?;
            if !self.accept(b':') {
                return Err(self.error("`:` is expected"));
            }
            let item = self.value(vm, depth - 1)?;
            vm.alloc(64 + key.len())?;
            map.insert(Value::from(key), item);
            if self.accept(b'}') {
                return Ok(value);
            }
            if !self.accept(b',') {
                return Err(self.error("`,` or `}` is expected"));
            }
        }
    }

    fn array(&mut self, vm: &mut Vm, depth: usize) -> Eval<Value> {
        self.position += 1;
        let mut items = Vec::new();
        if self.accept(b']') {
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(vm, depth - 1)?);
            vm.alloc(24)?;
            if self.accept(b']') {
                return Ok(Value::list(items));
            }
            if !self.accept(b',') {
                return Err(self.error("`,` or `]` is expected"));
            }
        }
    }

    fn string(&mut self) -> Eval<String> {
        self.position += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.position..];
            let Some(end) = rest.find(['"', '\\']) else {
                return Err(self.error("a string has no end"));
            };
            text.push_str(&rest[..end]);
            self.position += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(text);
            }
            let escaped = self.peek();
            self.position += 1;
            text.push(match escaped {
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.unicode()?,
                b'"' | b'\\' | b'/' => char::from(escaped),
                _ => {
                    self.position -= 1;
                    return Err(self.error("an escape is expected"));
                }
            });
        }
    }

    fn unicode(&mut self) -> Eval<char> {
        let Some(high) = self.hex_unit(self.position) else {
            return Err(self.error("four hexadecimal digits are expected"));
        };
        self.position += 4;
        // RFC 8259, section 7: a character above U+FFFF is written as two escapes.
        if (0xd800..0xdc00).contains(&high)
            && self.text[self.position..].starts_with("\\u")
            && let Some(low) =
                self.hex_unit(self.position + 2).filter(|low| (0xdc00..0xe000).contains(low))
        {
            self.position += 6;
            return Ok(char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                .unwrap_or('\u{fffd}'));
        }
        // Half a surrogate pair is valid in a Java string, but not in a Rust string.
        Ok(char::from_u32(high).unwrap_or('\u{fffd}'))
    }

    /// The UTF-16 unit of four hexadecimal digits at a position.
    fn hex_unit(&self, position: usize) -> Option<u32> {
        self.text
            .get(position..position + 4)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
    }

    fn number(&mut self) -> Eval<Value> {
        let rest = &self.text[self.position..];
        let length = rest
            .find(|letter: char| !(letter.is_ascii_digit() || "+-.eE".contains(letter)))
            .unwrap_or(rest.len());
        let digits = &rest[..length];
        let value = if digits.contains(['.', 'e', 'E']) {
            // Groovy reads fractions as `BigDecimal`, so that `0.1` stays exact.
            Decimal::parse(digits).map(Value::decimal)
        } else {
            digits
                .parse::<i64>()
                .map(Value::integer)
                .ok()
                // Bounds the time of the conversion.
                .or_else(|| (length < 2_000).then(|| digits.parse().ok().map(Value::big)).flatten())
        };
        match value {
            Some(value) => {
                self.position += length;
                Ok(value)
            }
            None => Err(self.error("a number is expected")),
        }
    }
}

fn output(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("toJson", [value]) => {
            let json = to_json(vm, value)?;
            vm.string(json)?
        }
        ("prettyPrint", [text, ..]) => {
            let text = vm.text(text)?;
            let value = parse(vm, &text)?;
            let pretty = pretty(vm, &value)?;
            vm.string(pretty)?
        }
        ("unescaped", [text]) => text.clone(),
        _ => return Ok(None),
    }))
}

/// Formats a value as JSON on one line.
pub(crate) fn to_json(vm: &mut Vm, value: &Value) -> Eval<String> {
    let mut text = String::new();
    write(vm, value, &mut text, None, 0)?;
    Ok(text)
}

/// Formats a value as JSON on several lines, indented by four spaces per level.
pub(crate) fn pretty(vm: &mut Vm, value: &Value) -> Eval<String> {
    let mut text = String::new();
    write(vm, value, &mut text, Some(4), 0)?;
    Ok(text)
}

/// Appends a value as JSON, indented by `indent` spaces per level; None for a single line.
pub(super) fn write(
    vm: &mut Vm,
    value: &Value,
    out: &mut String,
    indent: Option<usize>,
    depth: usize,
) -> Eval<()> {
    vm.tick(1)?;
    if depth > DEPTH {
        return Err(throw(
            "java.lang.StackOverflowError",
            "values nest too deeply to be written as JSON",
        ));
    }
    let before = out.len();
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(_) | Value::Int(_) | Value::Long(_) | Value::BigInt(_) | Value::Decimal(_) => {
            out.push_str(&vm.text(value)?);
        }
        Value::Double(number) if !number.is_finite() => {
            return Err(throw(
                "groovy.json.JsonException",
                format!("Number {number} can't be serialized as JSON"),
            ));
        }
        Value::Double(_) | Value::Float(_) => out.push_str(&vm.text(value)?),
        Value::Str(text) => quote(text, out),
        Value::Char(letter) => quote(&letter.to_string(), out),
        Value::Map(map) => members(vm, map.pairs(), out, indent, depth)?,
        Value::List(_) | Value::Set(_) | Value::Range(_) | Value::Bytes(_) => {
            elements(vm, value, out, indent, depth)?;
        }
        Value::Instance(instance) => {
            let fields = instance
                .fields
                .borrow()
                .iter()
                // Names with a dot are hidden fields of the interpreter.
                .filter(|(name, _)| !name.starts_with('.'))
                .map(|(name, value)| (Value::str(name), value.clone()))
                .collect();
            members(vm, fields, out, indent, depth)?;
        }
        Value::Native(object) => {
            let object = Rc::clone(object);
            // Builders and `org.json` objects return their content by this hidden method.
            match (object.call(vm, ".json", &[])?, object.elements(vm)?) {
                (Some(inner), _) => write(vm, &inner, out, indent, depth + 1)?,
                (None, Some(items)) => elements(vm, &Value::list(items), out, indent, depth)?,
                (None, None) => quote(&vm.text(value)?, out),
            }
        }
        Value::Closure(_) | Value::Class(_) => quote(&vm.text(value)?, out),
    }
    vm.alloc(out.len() - before)
}

fn line(out: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(indent) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent * depth));
    }
}

fn members(
    vm: &mut Vm,
    pairs: Vec<(Value, Value)>,
    out: &mut String,
    indent: Option<usize>,
    depth: usize,
) -> Eval<()> {
    out.push('{');
    let is_empty = pairs.is_empty();
    for (index, (key, value)) in pairs.into_iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        line(out, indent, depth + 1);
        quote(&vm.text(&key)?, out);
        out.push_str(if indent.is_some() { ": " } else { ":" });
        write(vm, &value, out, indent, depth + 1)?;
    }
    if !is_empty {
        line(out, indent, depth);
    } else if indent.is_some() {
        // Groovy writes an empty line into empty objects and arrays.
        line(out, indent, depth + 1);
        line(out, indent, depth);
    }
    out.push('}');
    Ok(())
}

fn elements(
    vm: &mut Vm,
    value: &Value,
    out: &mut String,
    indent: Option<usize>,
    depth: usize,
) -> Eval<()> {
    out.push('[');
    let items = vm.items(value)?;
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        line(out, indent, depth + 1);
        write(vm, item, out, indent, depth + 1)?;
    }
    if items.is_empty() && indent.is_some() {
        line(out, indent, depth + 1);
    }
    line(out, indent, depth);
    out.push(']');
    Ok(())
}

/// Appends a quoted text. Like Groovy, escapes characters outside ASCII.
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(letter),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]).iter().copied() {
                    out.extend(['\\', 'u']);
                    out.extend([12, 8, 4, 0].map(|shift| {
                        char::from_digit(u32::from(unit >> shift & 15), 16).unwrap_or('0')
                    }));
                }
            }
        }
    }
    out.push('"');
}

/// A `JsonBuilder` and its content.
struct Builder {
    content: RefCell<Value>,
}

fn make_builder(_vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Builder {
        content: RefCell::new(arguments.first().cloned().unwrap_or_default()),
    }))
}

/// Runs a closure of a builder. Each unknown name that it calls is a member of the result.
fn build_members(vm: &mut Vm, closure: &Value) -> Eval<Value> {
    let (members, map) = Value::map(MapKind::Linked);
    vm.call_method(&Value::native(Members(map)), "with", std::slice::from_ref(closure))?;
    Ok(members)
}

/// Delegate of a builder's closure, which collects the members.
struct Members(Rc<crate::value::Map>);

impl Native for Members {
    fn class_name(&self) -> &'static str {
        "groovy.json.JsonDelegate"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if matches!(name, "with" | "getClass" | "asBoolean") || arguments.is_empty() {
            return Ok(None);
        }
        let value = member(vm, arguments)?;
        vm.alloc(64)?;
        self.0.insert(Value::str(name), value);
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Evaluates the arguments of a member: a value, a closure of members, both, or a list with
/// a closure per element.
pub(super) fn member(vm: &mut Vm, arguments: &[Value]) -> Eval<Value> {
    Ok(match arguments {
        [closure @ Value::Closure(_)] => build_members(vm, closure)?,
        [Value::Map(initial), closure @ Value::Closure(_)] => {
            let (members, map) = Value::map(MapKind::Linked);
            for (key, value) in initial.pairs() {
                vm.put(&map, key, value)?;
            }
            vm.call_method(&Value::native(Members(map)), "with", std::slice::from_ref(closure))?;
            members
        }
        [list, closure @ Value::Closure(_)] => {
            let mut items = Vec::new();
            for item in vm.items(list)? {
                let (members, map) = Value::map(MapKind::Linked);
                let delegate = Value::native(Members(map));
                vm.call_method(closure, "setDelegate", &[delegate])?;
                vm.call_closure(closure, &[item])?;
                items.push(members);
            }
            vm.new_list(items)?
        }
        [value] => value.clone(),
        many => Value::list(many.to_vec()),
    })
}

impl Native for Builder {
    fn class_name(&self) -> &'static str {
        "groovy.json.JsonBuilder"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let content = self.content.borrow().clone();
        Ok(Some(match (name, arguments) {
            ("toString" | "toPrettyString", []) => {
                let text =
                    if name == "toString" { to_json(vm, &content)? } else { pretty(vm, &content)? };
                vm.string(text)?
            }
            ("getContent" | ".json", []) => content,
            ("call", rest) if !rest.is_empty() => {
                let value = member(vm, rest)?;
                self.content.replace(value.clone());
                value
            }
            ("writeTo", [writer]) => {
                let text = to_json(vm, &content)?;
                vm.call_method(writer, "write", &[Value::from(text)])?
            }
            (other, [_, ..]) if !matches!(other, "with" | "equals" | "is" | "tap") => {
                let (root, map) = Value::map(MapKind::Linked);
                let value = member(vm, arguments)?;
                map.insert(Value::str(other), value);
                self.content.replace(root.clone());
                root
            }
            _ => return Ok(None),
        }))
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        let content = self.content.borrow().clone();
        to_json(vm, &content).map(Some)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, out: &mut Vec<Value>) {
        out.push(self.content.take());
    }
}
