//! `JsonSlurper`, `JsonOutput`, `JsonBuilder`.

use super::{Class, codec};
use crate::decimal::Decimal;
use crate::error::{Eval, throw};
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::made("groovy.json.JsonSlurper", make_slurper),
    Class::made("groovy.json.JsonSlurperClassic", make_slurper),
    Class::made("com.fasterxml.jackson.databind.ObjectMapper", make_mapper),
    Class::with_static("groovy.json.JsonOutput", output),
    Class::made("groovy.json.JsonBuilder", make_builder),
    Class::named("groovy.json.JsonParserType").and_constants(parser_type),
];

/// How deep JSON may nest.
const DEPTH: usize = 200;

fn parser_type(_vm: &mut Vm, name: &str) -> Option<Value> {
    Some(Value::str(name))
}

/// `new JsonSlurper()`
struct Slurper;

fn make_slurper(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Slurper))
}

/// `new ObjectMapper()` of Jackson: JSON to maps and lists, and back.
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
            ("readValue", [source, _]) => Slurper.call(vm, "parseText", std::slice::from_ref(source)),
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
                    Value::Bytes(bytes) => codec::decode(&bytes.borrow(), "UTF-8").into(),
                    Value::Native(_) => {
                        let content = super::io::content(vm, source)?;
                        content.map_or_else(|| vm.text(source), |bytes| Ok(String::from_utf8_lossy(&bytes).into()))?
                    }
                    Value::Null => {
                        return Err(throw("java.lang.IllegalArgumentException", "Text must not be null or empty"));
                    }
                    other => vm.text(other)?,
                };
                if text.trim().is_empty() {
                    return Err(throw("java.lang.IllegalArgumentException", "Text must not be null or empty"));
                }
                parse(vm, &text)?
            }
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

/// Reads JSON.
pub(crate) fn parse(vm: &mut Vm, text: &str) -> Eval<Value> {
    vm.tick(text.len() / 16)?;
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(vm, DEPTH)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.error("nothing more is expected"));
    }
    Ok(value)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, wanted: &str) -> Box<crate::error::Fault> {
        let line = self.text[..self.at].matches('\n').count() + 1;
        let found = match self.text[self.at..].chars().next() {
            Some(letter) => format!("the character is '{}'", letter.escape_default()),
            None => "the text ends".to_owned(),
        };
        throw(
            "groovy.json.JsonException",
            format!("Unable to parse JSON: {wanted}; {found} (line {line}, index {})", self.at),
        )
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
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
                for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
                {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("a value is expected"))
            }
        }
    }

    fn object(&mut self, vm: &mut Vm, depth: usize) -> Eval<Value> {
        self.at += 1;
        let (value, map) = Value::map(MapKind::Lazy);
        vm.alloc(64)?;
        if self.take(b'}') {
            return Ok(value);
        }
        loop {
            self.blanks();
            if self.peek() != b'"' {
                return Err(self.error("a key in quotation marks is expected"));
            }
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.error("`:` is expected"));
            }
            let item = self.value(vm, depth - 1)?;
            vm.alloc(64 + key.len())?;
            map.insert(Value::from(key), item);
            if self.take(b'}') {
                return Ok(value);
            }
            if !self.take(b',') {
                return Err(self.error("`,` or `}` is expected"));
            }
        }
    }

    fn array(&mut self, vm: &mut Vm, depth: usize) -> Eval<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(vm, depth - 1)?);
            vm.alloc(24)?;
            if self.take(b']') {
                return Ok(Value::list(items));
            }
            if !self.take(b',') {
                return Err(self.error("`,` or `]` is expected"));
            }
        }
    }

    fn string(&mut self) -> Eval<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(['"', '\\']) else { return Err(self.error("a string has no end")) };
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(text);
            }
            let escaped = self.peek();
            self.at += 1;
            text.push(match escaped {
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.unicode()?,
                b'"' | b'\\' | b'/' => char::from(escaped),
                _ => {
                    self.at -= 1;
                    return Err(self.error("an escape is expected"));
                }
            });
        }
    }

    fn unicode(&mut self) -> Eval<char> {
        let unit = |reader: &Self, at: usize| {
            reader.text.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
        };
        let Some(high) = unit(self, self.at) else { return Err(self.error("four hexadecimal digits are expected")) };
        self.at += 4;
        if (0xd800..0xdc00).contains(&high)
            && self.text[self.at..].starts_with("\\u")
            && let Some(low) = unit(self, self.at + 2).filter(|low| (0xdc00..0xe000).contains(low))
        {
            self.at += 6;
            return Ok(char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).unwrap_or('\u{fffd}'));
        }
        Ok(char::from_u32(high).unwrap_or('\u{fffd}'))
    }

    fn number(&mut self) -> Eval<Value> {
        let rest = &self.text[self.at..];
        let length =
            rest.find(|letter: char| !(letter.is_ascii_digit() || "+-.eE".contains(letter))).unwrap_or(rest.len());
        let digits = &rest[..length];
        let value = if digits.contains(['.', 'e', 'E']) {
            Decimal::parse(digits).map(Value::decimal)
        } else {
            digits
                .parse::<i64>()
                .map(Value::integer)
                .ok()
                .or_else(|| (length < 2_000).then(|| digits.parse().ok().map(Value::big)).flatten())
        };
        match value {
            Some(value) => {
                self.at += length;
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

/// A value as JSON.
pub(crate) fn to_json(vm: &mut Vm, value: &Value) -> Eval<String> {
    let mut text = String::new();
    write(vm, value, &mut text, None, 0)?;
    Ok(text)
}

/// A value as JSON on several lines, four blanks deeper each level.
pub(crate) fn pretty(vm: &mut Vm, value: &Value) -> Eval<String> {
    let mut text = String::new();
    write(vm, value, &mut text, Some(4), 0)?;
    Ok(text)
}

/// A value as JSON; `indent` blanks a level, or all on one line.
pub(super) fn write(vm: &mut Vm, value: &Value, to: &mut String, indent: Option<usize>, depth: usize) -> Eval<()> {
    vm.tick(1)?;
    if depth > DEPTH {
        return Err(throw("java.lang.StackOverflowError", "values nest too deeply to be written as JSON"));
    }
    let before = to.len();
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(_) | Value::Int(_) | Value::Long(_) | Value::BigInt(_) | Value::Decimal(_) => {
            to.push_str(&vm.text(value)?);
        }
        Value::Double(number) if !number.is_finite() => {
            return Err(throw("groovy.json.JsonException", format!("Number {number} can't be serialized as JSON")));
        }
        Value::Double(_) | Value::Float(_) => to.push_str(&vm.text(value)?),
        Value::Str(text) => quote(text, to),
        Value::Char(letter) => quote(&letter.to_string(), to),
        Value::Map(map) => members(vm, map.pairs(), to, indent, depth)?,
        Value::List(_) | Value::Set(_) | Value::Range(_) | Value::Bytes(_) => elements(vm, value, to, indent, depth)?,
        Value::Instance(instance) => {
            let fields = instance
                .fields
                .borrow()
                .iter()
                .filter(|(name, _)| !name.starts_with('.'))
                .map(|(name, value)| (Value::str(name), value.clone()))
                .collect();
            members(vm, fields, to, indent, depth)?;
        }
        Value::Native(object) => {
            let object = Rc::clone(object);
            match (object.call(vm, ".json", &[])?, object.elements(vm)?) {
                (Some(inner), _) => write(vm, &inner, to, indent, depth + 1)?,
                (None, Some(items)) => elements(vm, &Value::list(items), to, indent, depth)?,
                (None, None) => quote(&vm.text(value)?, to),
            }
        }
        Value::Closure(_) | Value::Class(_) => quote(&vm.text(value)?, to),
    }
    vm.alloc(to.len() - before)
}

fn line(to: &mut String, indent: Option<usize>, depth: usize) {
    if let Some(indent) = indent {
        to.push('\n');
        to.extend(std::iter::repeat_n(' ', indent * depth));
    }
}

fn members(vm: &mut Vm, pairs: Vec<(Value, Value)>, to: &mut String, indent: Option<usize>, depth: usize) -> Eval<()> {
    to.push('{');
    let any = !pairs.is_empty();
    for (index, (key, value)) in pairs.into_iter().enumerate() {
        to.push_str(if index > 0 { "," } else { "" });
        line(to, indent, depth + 1);
        quote(&vm.text(&key)?, to);
        to.push_str(if indent.is_some() { ": " } else { ":" });
        write(vm, &value, to, indent, depth + 1)?;
    }
    if any {
        line(to, indent, depth);
    } else if indent.is_some() {
        line(to, indent, depth + 1);
        line(to, indent, depth);
    }
    to.push('}');
    Ok(())
}

fn elements(vm: &mut Vm, value: &Value, to: &mut String, indent: Option<usize>, depth: usize) -> Eval<()> {
    to.push('[');
    let items = vm.items(value)?;
    for (index, item) in items.iter().enumerate() {
        to.push_str(if index > 0 { "," } else { "" });
        line(to, indent, depth + 1);
        write(vm, item, to, indent, depth + 1)?;
    }
    if items.is_empty() && indent.is_some() {
        line(to, indent, depth + 1);
    }
    line(to, indent, depth);
    to.push(']');
    Ok(())
}

/// A text in quotation marks; letters beyond ASCII escaped, as Groovy does.
pub(crate) fn quote(text: &str, to: &mut String) {
    to.push('"');
    for letter in text.chars() {
        match letter {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\u{8}' => to.push_str("\\b"),
            '\u{c}' => to.push_str("\\f"),
            ' '..='~' => to.push(letter),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]).iter().copied() {
                    let digit = |shift: u16| char::from_digit(u32::from(unit >> shift & 15), 16).unwrap_or('0');
                    to.extend(['\\', 'u', digit(12), digit(8), digit(4), digit(0)]);
                }
            }
        }
    }
    to.push('"');
}

/// A `JsonBuilder`.
struct Builder {
    content: RefCell<Value>,
}

fn make_builder(_vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Builder { content: RefCell::new(arguments.first().cloned().unwrap_or_default()) }))
}

/// What a closure of a builder says: each unknown name that it calls is a member.
fn built(vm: &mut Vm, closure: &Value) -> Eval<Value> {
    let (members, map) = Value::map(MapKind::Linked);
    vm.call_method(&Value::native(Members(map)), "with", std::slice::from_ref(closure))?;
    Ok(members)
}

/// The members that a closure of a builder makes.
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

/// What a member's arguments mean: a value, a closure of members, both, or a list with a closure for each element.
pub(super) fn member(vm: &mut Vm, arguments: &[Value]) -> Eval<Value> {
    Ok(match arguments {
        [closure @ Value::Closure(_)] => built(vm, closure)?,
        [Value::Map(given), closure @ Value::Closure(_)] => {
            let (members, map) = Value::map(MapKind::Linked);
            for (key, value) in given.pairs() {
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
                let text = if name == "toString" { to_json(vm, &content)? } else { pretty(vm, &content)? };
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

    fn release(&mut self, to: &mut Vec<Value>) {
        to.push(self.content.take());
    }
}
