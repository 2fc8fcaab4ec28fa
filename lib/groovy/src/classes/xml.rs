//! `XmlSlurper` and `XmlParser`: elements, attributes and text, reached as properties.

use super::{Class, codec, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::any::Any;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::made("groovy.util.XmlSlurper", make),
    Class::made("groovy.xml.XmlSlurper", make),
    Class::made("groovy.util.XmlParser", make),
    Class::made("groovy.xml.XmlParser", make),
];

/// How deep elements may nest.
const DEPTH: usize = 200;

/// `new XmlSlurper()`
struct Slurper;

/// An element.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Rc<Element>>,
    /// Its text and that of the elements in it.
    text: String,
}

/// What a path leads to: some elements, or attributes as texts.
struct Found {
    elements: Vec<Rc<Element>>,
    texts: Option<Vec<String>>,
}

fn make(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Slurper))
}

fn broken(message: impl std::fmt::Display) -> Box<crate::error::Fault> {
    throw("org.xml.sax.SAXParseException", message.to_string())
}

fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_owned()
}

fn element(start: &BytesStart<'_>) -> Element {
    let attributes = start.attributes().filter_map(Result::ok).map(|one| {
        let value = one.value.to_string();
        let value = quick_xml::escape::unescape(&value).map_or_else(|_| value.clone(), std::borrow::Cow::into_owned);
        (local(one.key.as_ref()), value)
    });
    Element {
        name: local(start.name().as_ref()),
        attributes: attributes.collect(),
        children: Vec::new(),
        text: String::new(),
    }
}

/// Reads a document.
fn parse(vm: &mut Vm, text: &str) -> Eval<Rc<Element>> {
    vm.alloc(text.len() * 4)?;
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut done: Option<Rc<Element>> = None;
    loop {
        vm.tick(2)?;
        let event = reader.read_event().map_err(broken)?;
        let mut closed = None;
        match event {
            Event::Start(start) if open.len() >= DEPTH => {
                return Err(broken(format!("{}: elements nest too deeply", local(start.name().as_ref()))));
            }
            Event::Start(start) => open.push(element(&start)),
            Event::Empty(start) => closed = Some(element(&start)),
            Event::End(_) => closed = open.pop(),
            Event::Text(part) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&part);
                }
            }
            Event::CData(part) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&part);
                }
            }
            Event::GeneralRef(name) => {
                if let Some(element) = open.last_mut() {
                    let entity = format!("&{};", &*name);
                    let meant = quick_xml::escape::unescape(&entity)
                        .map_or_else(|_| entity.clone(), std::borrow::Cow::into_owned);
                    element.text.push_str(&meant);
                }
            }
            Event::Eof => break,
            _ => {}
        }
        if let Some(mut element) = closed {
            if !element.children.is_empty() && element.text.trim().is_empty() {
                // Blanks between elements are layout.
                element.text.clear();
            }
            match open.last_mut() {
                Some(parent) => parent.children.push(Rc::new(element)),
                None => done = Some(Rc::new(element)),
            }
        }
    }
    done.filter(|_| open.is_empty())
        .ok_or_else(|| broken("the document has no root element, or one that is not closed"))
}

impl Native for Slurper {
    fn class_name(&self) -> &'static str {
        "groovy.xml.XmlSlurper"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "parseText" | "parse" => {
                let text = match arguments.first() {
                    Some(Value::Bytes(bytes)) => codec::decode(&bytes.borrow(), "UTF-8").into(),
                    Some(source @ Value::Native(_)) => match super::io::content(vm, source)? {
                        Some(bytes) => String::from_utf8_lossy(&bytes).into(),
                        None => vm.text(source)?,
                    },
                    _ => text_at(vm, arguments, 0)?,
                };
                let root = parse(vm, &text)?;
                found(vec![root])
            }
            "setFeature" | "setNamespaceAware" | "setKeepIgnorableWhitespace" | "setTrimWhitespace" => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn found(elements: Vec<Rc<Element>>) -> Value {
    Value::native(Found { elements, texts: None })
}

impl Element {
    /// Its text, and that of its children in order.
    fn full_text(&self) -> String {
        let mut text = self.text.clone();
        for child in &self.children {
            text.push_str(&child.full_text());
        }
        text
    }

    fn descend(self: &Rc<Self>, to: &mut Vec<Rc<Self>>) {
        to.push(Rc::clone(self));
        for child in &self.children {
            child.descend(to);
        }
    }
}

impl Found {
    fn joined(&self) -> String {
        match &self.texts {
            Some(texts) => texts.concat(),
            None => self.elements.iter().map(|element| element.full_text()).collect(),
        }
    }

    fn attribute(&self, name: &str) -> Value {
        let texts = self
            .elements
            .iter()
            .filter_map(|element| element.attributes.iter().find(|(own, _)| own == name))
            .map(|(_, value)| value.clone());
        Value::native(Self { elements: Vec::new(), texts: Some(texts.collect()) })
    }

    fn children(&self, name: &str) -> Vec<Rc<Element>> {
        let all = self.elements.iter().flat_map(|element| &element.children);
        all.filter(|child| name == "*" || child.name == name).cloned().collect()
    }

    fn list(&self) -> Vec<Value> {
        match &self.texts {
            Some(texts) => texts.iter().map(Value::str).collect(),
            None => self.elements.iter().map(|element| found(vec![Rc::clone(element)])).collect(),
        }
    }
}

impl Native for Found {
    fn class_name(&self) -> &'static str {
        "groovy.util.slurpersupport.NodeChildren"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        vm.tick(self.elements.len())?;
        Ok(Some(match (name, arguments) {
            ("text" | "toString" | "value", []) => {
                let text = self.joined();
                vm.string(text)?
            }
            ("size", []) => Value::count(self.texts.as_ref().map_or(self.elements.len(), Vec::len)),
            ("isEmpty", []) => Value::Bool(self.list().is_empty()),
            ("asBoolean", []) => Value::Bool(!self.list().is_empty()),
            ("name", []) => Value::optional(self.elements.first().map(|element| &element.name)),
            ("children", []) => found(self.children("*")),
            ("attributes", []) => {
                let (map, inner) = Value::map(crate::value::MapKind::Linked);
                for (name, value) in self.elements.first().map_or(&[][..], |element| &element.attributes) {
                    inner.insert(Value::str(name), Value::str(value));
                }
                map
            }
            ("attribute", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                self.attribute(&name)
            }
            ("depthFirst" | "breadthFirst", []) => {
                let mut all = Vec::new();
                self.elements.iter().for_each(|element| element.descend(&mut all));
                vm.alloc(all.len() * 64)?;
                Value::list(all.into_iter().map(|element| found(vec![element])).collect())
            }
            ("getAt", [Value::Int(index)]) => {
                let items = self.list();
                let at = if *index < 0 { items.len() as i64 + i64::from(*index) } else { i64::from(*index) };
                usize::try_from(at).ok().and_then(|at| items.into_iter().nth(at)).unwrap_or_else(|| found(Vec::new()))
            }
            ("getAt", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                self.property(vm, &name)?.unwrap_or_default()
            }
            ("find", [closure]) => {
                for item in self.list() {
                    let holds = vm.call_closure(closure, std::slice::from_ref(&item))?;
                    if vm.truth(&holds)? {
                        return Ok(Some(item));
                    }
                }
                found(Vec::new())
            }
            ("findAll", [closure]) => {
                let mut kept = Vec::new();
                for element in &self.elements {
                    let item = found(vec![Rc::clone(element)]);
                    let holds = vm.call_closure(closure, &[item])?;
                    if vm.truth(&holds)? {
                        kept.push(Rc::clone(element));
                    }
                }
                found(kept)
            }
            ("toInteger" | "toLong" | "toDouble" | "toBigDecimal" | "toFloat", []) => {
                let text = self.joined();
                crate::methods::call(vm, &Value::from(text), name, &[])?.unwrap_or_default()
            }
            _ => return Ok(None),
        }))
    }

    fn property(&self, _vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        if name == "class" {
            return Ok(None);
        }
        if name == "**" {
            let mut all = Vec::new();
            self.elements.iter().for_each(|element| element.descend(&mut all));
            return Ok(Some(found(all)));
        }
        Ok(Some(match name.strip_prefix('@') {
            Some(name) => self.attribute(name),
            None => found(self.children(name)),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.joined()))
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let items = self.list();
        vm.alloc(items.len() * 64)?;
        Ok(Some(items))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
