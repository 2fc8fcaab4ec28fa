//! `MarkupBuilder`, `StreamingMarkupBuilder`. Each unknown name that a script calls is an element.

use super::Class;
use crate::error::Eval;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("groovy.xml.MarkupBuilder", make),
    Class::with_constructor("groovy.xml.StreamingMarkupBuilder", make_streaming),
];

/// Methods that are not elements.
const RESERVED: [&str; 14] = [
    "with",
    "tap",
    "getClass",
    "equals",
    "hashCode",
    "toString",
    "is",
    "asBoolean",
    "asType",
    "println",
    "print",
    "printf",
    "sleep",
    "iterator",
];

/// Content of an open element so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    /// Nothing: its start tag is still open.
    Nothing,
    Text,
    /// Elements, and perhaps text.
    Elements,
}

/// Name and value of an attribute; None is `null`.
type Attribute = (Rc<str>, Option<Rc<str>>);

/// State of the written markup.
struct MarkupWriter {
    /// Target writer; null if there is none.
    to: Value,
    layout: Layout,
    quote: char,
    omits_null: bool,
    omits_empty: bool,
    expands_empty: bool,
    /// Content of each open element.
    open: Vec<Content>,
    text: String,
}

/// Arrangement of elements in lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One element per line; nothing is written yet.
    FirstLine,
    /// One element per line.
    Lines,
    /// All elements on one line.
    OneLine,
}

/// A builder, which is also the delegate of its closures.
struct Builder(Rc<RefCell<MarkupWriter>>);

/// `mkp`
struct Helper(Rc<RefCell<MarkupWriter>>);

/// `StreamingMarkupBuilder`
struct Streaming;

fn writer(to: Value, layout: Layout) -> Rc<RefCell<MarkupWriter>> {
    Rc::new(RefCell::new(MarkupWriter {
        to,
        layout,
        // Groovy writes single quotes unless the script sets `doubleQuotes`.
        quote: '\'',
        omits_null: false,
        omits_empty: false,
        expands_empty: false,
        open: Vec::new(),
        text: String::new(),
    }))
}

fn make(_vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Builder(writer(
        arguments.first().cloned().unwrap_or_default(),
        Layout::FirstLine,
    ))))
}

fn make_streaming(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Streaming))
}

impl Native for Streaming {
    fn class_name(&self) -> &'static str {
        "groovy.xml.StreamingMarkupBuilder"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("bind", [closure @ Value::Closure(_)]) => {
                let writer = writer(Value::Null, Layout::OneLine);
                run(vm, &writer, closure)?;
                let text = std::mem::take(&mut writer.borrow_mut().text);
                vm.string(text).map(Some)
            }
            ("bindNode", _) => Ok(None),
            ("setEncoding" | "setUseDoubleQuotes" | "setExpandEmptyElements", [_]) => {
                Ok(Some(Value::Null))
            }
            _ => Ok(None),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Runs a closure whose unknown names are elements.
fn run(vm: &mut Vm, writer: &Rc<RefCell<MarkupWriter>>, closure: &Value) -> Eval<()> {
    let delegate = Value::native(Builder(Rc::clone(writer)));
    vm.call_method(&delegate, "with", std::slice::from_ref(closure)).map(|_| ())
}

impl MarkupWriter {
    fn push(&mut self, vm: &mut Vm, text: &str) -> Eval<()> {
        vm.alloc(text.len())?;
        self.text.push_str(text);
        if self.layout == Layout::FirstLine {
            self.layout = Layout::Lines;
        }
        Ok(())
    }

    /// Closes the start tag of the innermost element, if it is open.
    fn enter(&mut self, vm: &mut Vm, content_kind: Content) -> Eval<()> {
        let is_start_tag_open = match self.open.last_mut() {
            Some(content) => {
                std::mem::replace(content, content_kind.max(*content)) == Content::Nothing
            }
            None => false,
        };
        if is_start_tag_open { self.push(vm, ">") } else { Ok(()) }
    }

    fn new_line(&mut self, vm: &mut Vm) -> Eval<()> {
        if self.layout == Layout::Lines {
            // Groovy's `IndentPrinter` indents by two spaces.
            let indent = "  ".repeat(self.open.len());
            self.push(vm, &format!("\n{indent}"))?;
        }
        Ok(())
    }

    fn begin(&mut self, vm: &mut Vm, name: &str, attributes: &[Attribute]) -> Eval<()> {
        self.enter(vm, Content::Elements)?;
        self.new_line(vm)?;
        self.push(vm, &format!("<{name}"))?;
        for (key, value) in attributes {
            let is_omitted = match value {
                None => self.omits_null,
                Some(value) => self.omits_empty && value.is_empty(),
            };
            if !is_omitted {
                self.push(vm, &attribute(key, value.as_deref().unwrap_or_default(), self.quote))?;
            }
        }
        self.open.push(Content::Nothing);
        Ok(())
    }

    fn end(&mut self, vm: &mut Vm, name: &str) -> Eval<()> {
        match self.open.pop() {
            Some(Content::Nothing) if !self.expands_empty => {
                // `MarkupBuilder` writes a space before `/>`, `StreamingMarkupBuilder` does not.
                self.push(vm, if self.layout == Layout::OneLine { "/>" } else { " />" })
            }
            Some(Content::Nothing) => self.push(vm, &format!("></{name}>")),
            Some(Content::Elements) => {
                self.new_line(vm)?;
                self.push(vm, &format!("</{name}>"))
            }
            _ => self.push(vm, &format!("</{name}>")),
        }
    }

    fn content(&mut self, vm: &mut Vm, text: &str) -> Eval<()> {
        self.enter(vm, Content::Text)?;
        self.push(vm, text)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Formats an attribute with a leading space.
fn attribute(name: &str, value: &str, quote: char) -> String {
    // XML 1.0, section 3.3.3: parsers replace raw line breaks and tabs in attributes with spaces.
    let value = escape(value).replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#09;");
    let value =
        if quote == '"' { value.replace('"', "&quot;") } else { value.replace('\'', "&apos;") };
    format!(" {name}={quote}{value}{quote}")
}

/// Passes the written markup to the target writer, if there is one.
fn flush(vm: &mut Vm, writer: &Rc<RefCell<MarkupWriter>>) -> Eval<()> {
    let to = writer.borrow().to.clone();
    if to.is_null() {
        return Ok(());
    }
    let text = std::mem::take(&mut writer.borrow_mut().text);
    vm.call_method(&to, "write", &[Value::from(text)]).map(|_| ())
}

/// Attributes in the map arguments, as texts.
fn attributes(vm: &mut Vm, arguments: &[Value]) -> Eval<Vec<Attribute>> {
    let mut attributes = Vec::new();
    for argument in arguments {
        let Value::Map(map) = argument else { continue };
        for (key, value) in map.pairs() {
            let value = if value.is_null() { None } else { Some(vm.text(&value)?) };
            attributes.push((vm.text(&key)?, value));
        }
    }
    Ok(attributes)
}

/// True for the name of a getter: `getName`, `isReady`.
pub(super) fn is_getter(name: &str) -> bool {
    let rest = name.strip_prefix("get").or_else(|| name.strip_prefix("is"));
    rest.and_then(|rest| rest.chars().next()).is_some_and(char::is_uppercase)
}

impl Builder {
    fn element(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<()> {
        // Scripts may compute the texts, and may call this builder meanwhile, so it
        // must not be borrowed.
        let attributes = attributes(vm, arguments)?;
        self.0.borrow_mut().begin(vm, name, &attributes)?;
        for value in arguments {
            match value {
                Value::Map(_) | Value::Null => {}
                closure @ Value::Closure(_) => vm.nested(|vm| run(vm, &self.0, closure))?,
                other => {
                    let text = vm.text(other)?;
                    self.0.borrow_mut().content(vm, &escape(&text))?;
                }
            }
        }
        self.0.borrow_mut().end(vm, name)
    }
}

impl Native for Builder {
    fn class_name(&self) -> &'static str {
        "groovy.xml.MarkupBuilder"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match (name, arguments) {
            ("getMkp", []) => return Ok(Some(Value::native(Helper(Rc::clone(&self.0))))),
            (_, []) if is_getter(name) => return Ok(None),
            _ if RESERVED.contains(&name) => return Ok(None),
            _ => {}
        }
        if let (Some(setting), [value]) = (name.strip_prefix("set"), arguments) {
            let is_set = self.set(vm, setting, value)?;
            if is_set {
                return Ok(Some(Value::Null));
            }
        }
        self.element(vm, name, arguments)?;
        let is_outermost = self.0.borrow().open.is_empty();
        if is_outermost {
            flush(vm, &self.0)?;
        }
        Ok(Some(Value::Null))
    }

    fn set_property(&self, vm: &mut Vm, name: &str, value: &Value) -> Eval<bool> {
        let mut letters = name.chars();
        let name: String =
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        self.set(vm, &name, value)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn release(&mut self, to: &mut Vec<Value>) {
        if let Some(writer) = Rc::get_mut(&mut self.0) {
            to.push(std::mem::take(&mut writer.get_mut().to));
        }
    }
}

impl Builder {
    /// Changes a setting. Returns false if it does not exist.
    fn set(&self, vm: &mut Vm, name: &str, value: &Value) -> Eval<bool> {
        let value = vm.truth(value)?;
        let mut writer = self.0.borrow_mut();
        match name {
            "DoubleQuotes" => writer.quote = if value { '"' } else { '\'' },
            "OmitNullAttributes" => writer.omits_null = value,
            "OmitEmptyAttributes" => writer.omits_empty = value,
            "ExpandEmptyElements" => writer.expands_empty = value,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Native for Helper {
    fn class_name(&self) -> &'static str {
        "groovy.xml.MarkupBuilderHelper"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let text = match arguments.first() {
            Some(value @ Value::Map(_)) if name == "xmlDeclaration" => {
                return self.declare(vm, value).map(Some);
            }
            Some(Value::Closure(_)) => return Ok(None),
            Some(value) => vm.text(value)?,
            None => return Ok(None),
        };
        let text = match name {
            "yield" => escape(&text),
            "yieldUnescaped" => text.to_string(),
            "comment" => format!("<!-- {text} -->"),
            _ => return Ok(None),
        };
        self.0.borrow_mut().content(vm, &text)?;
        Ok(Some(Value::Null))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Helper {
    /// Writes a declaration such as `<?xml version='1.0'?>`.
    fn declare(&self, vm: &mut Vm, attributes: &Value) -> Eval<Value> {
        let Value::Map(map) = attributes else { return Ok(Value::Null) };
        let mut declaration = String::from("<?xml");
        let quote = self.0.borrow().quote;
        for (key, value) in map.pairs() {
            let key = vm.text(&key)?;
            let value = vm.text(&value)?;
            declaration.push_str(&attribute(&key, &value, quote));
        }
        declaration.push_str("?>");
        let layout = self.0.borrow().layout;
        if layout == Layout::OneLine {
            declaration.push('\n');
        }
        self.0.borrow_mut().content(vm, &declaration)?;
        Ok(Value::Null)
    }
}
