//! `XmlSlurper` and `XmlParser`, which are the same here. Scripts reach child elements and
//! attributes as properties (`GPath`), and text by `text()`.

use super::{Class, text_at};
use crate::error::{Eval, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::any::Any;
use std::rc::Rc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("groovy.util.XmlSlurper", make),
    Class::with_constructor("groovy.xml.XmlSlurper", make),
    Class::with_constructor("groovy.util.XmlParser", make),
    Class::with_constructor("groovy.xml.XmlParser", make),
];

/// Maximum nesting of elements.
// Methods of elements are recursive, and deep nesting could overflow the stack.
const DEPTH: usize = 200;

/// Parser object of `new XmlSlurper()` and `new XmlParser()`.
struct Slurper;

struct Element {
    /// Name without the namespace prefix, like those of the attributes.
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Rc<Element>>,
    /// Text directly in the element, without its position between the children.
    text: String,
}

/// Result of a `GPath` expression such as `root.item.@id`: elements, or values of attributes.
struct Selection {
    /// Empty if the selection consists of attributes.
    elements: Vec<Rc<Element>>,
    /// Values of attributes; None if the selection consists of elements.
    texts: Option<Vec<String>>,
}

fn make(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Slurper))
}

/// Creates the exception of a malformed document.
fn parse_error(message: impl std::fmt::Display) -> Box<crate::error::Fault> {
    throw("org.xml.sax.SAXParseException", message.to_string())
}

fn local_name(name: &str) -> String {
    // Groovy compares local names, unless the script declares namespaces.
    name.rsplit(':').next().unwrap_or(name).to_owned()
}

/// Creates an element without content from its start tag. Malformed attributes are left out.
fn element(start: &BytesStart<'_>) -> Element {
    let attributes = start.attributes().filter_map(Result::ok).map(|one| {
        let value = one.value.to_string();
        let value = quick_xml::escape::unescape(&value)
            .map_or_else(|_| value.clone(), std::borrow::Cow::into_owned);
        (local_name(one.key.as_ref()), value)
    });
    Element {
        name: local_name(start.name().as_ref()),
        attributes: attributes.collect(),
        children: Vec::new(),
        text: String::new(),
    }
}

/// Parses a document to its root element. White space between child elements is removed.
fn parse(vm: &mut Vm, text: &str) -> Eval<Rc<Element>> {
    vm.alloc(text.len() * 4)?;
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Rc<Element>> = None;
    loop {
        vm.tick(2)?;
        let event = reader.read_event().map_err(parse_error)?;
        let mut completed = None;
        match event {
            Event::Start(start) if open.len() >= DEPTH => {
                return Err(parse_error(format!(
                    "{}: elements nest too deeply",
                    local_name(start.name().as_ref())
                )));
            }
            Event::Start(start) => open.push(element(&start)),
            Event::Empty(start) => completed = Some(element(&start)),
            Event::End(_) => completed = open.pop(),
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
                    let text = quick_xml::escape::unescape(&entity)
                        .map_or_else(|_| entity.clone(), std::borrow::Cow::into_owned);
                    element.text.push_str(&text);
                }
            }
            Event::Eof => break,
            _ => {}
        }
        if let Some(mut element) = completed {
            if !element.children.is_empty() && element.text.trim().is_empty() {
                // White space between elements is only layout.
                element.text.clear();
            }
            match open.last_mut() {
                Some(parent) => parent.children.push(Rc::new(element)),
                None => root = Some(Rc::new(element)),
            }
        }
    }
    root.filter(|_| open.is_empty())
        .ok_or_else(|| parse_error("the document has no root element, or one that is not closed"))
}

impl Native for Slurper {
    fn class_name(&self) -> &'static str {
        "groovy.xml.XmlSlurper"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "parseText" | "parse" => {
                let text = match arguments.first() {
                    Some(Value::Bytes(bytes)) => String::from_utf8_lossy(&bytes.borrow()).into(),
                    Some(source @ Value::Native(_)) => match super::io::content(vm, source)? {
                        Some(bytes) => String::from_utf8_lossy(&bytes).into(),
                        None => vm.text(source)?,
                    },
                    _ => text_at(vm, arguments, 0)?,
                };
                let root = parse(vm, &text)?;
                selection(vec![root])
            }
            "setFeature"
            | "setNamespaceAware"
            | "setKeepIgnorableWhitespace"
            | "setTrimWhitespace" => Value::Null,
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn selection(elements: Vec<Rc<Element>>) -> Value {
    Value::native(Selection { elements, texts: None })
}

impl Element {
    /// Text of the element, followed by the text of all its descendants.
    fn full_text(&self) -> String {
        let mut text = self.text.clone();
        for child in &self.children {
            text.push_str(&child.full_text());
        }
        text
    }

    /// Appends the element and all its descendants, parents before children.
    fn append_subtree(self: &Rc<Self>, to: &mut Vec<Rc<Self>>) {
        to.push(Rc::clone(self));
        for child in &self.children {
            child.append_subtree(to);
        }
    }
}

impl Selection {
    fn joined_text(&self) -> String {
        match &self.texts {
            Some(texts) => texts.concat(),
            None => self.elements.iter().map(|element| element.full_text()).collect(),
        }
    }

    /// Selects the values of an attribute; elements without it are skipped.
    fn attribute(&self, name: &str) -> Value {
        let texts = self
            .elements
            .iter()
            .filter_map(|element| {
                element.attributes.iter().find(|(attribute_name, _)| attribute_name == name)
            })
            .map(|(_, value)| value.clone());
        Value::native(Self { elements: Vec::new(), texts: Some(texts.collect()) })
    }

    /// Child elements with this name; `*` for all.
    fn children(&self, name: &str) -> Vec<Rc<Element>> {
        let all = self.elements.iter().flat_map(|element| &element.children);
        all.filter(|child| name == "*" || child.name == name).cloned().collect()
    }

    /// One value per item: a text for an attribute, a selection for an element.
    fn items(&self) -> Vec<Value> {
        match &self.texts {
            Some(texts) => texts.iter().map(Value::str).collect(),
            None => {
                self.elements.iter().map(|element| selection(vec![Rc::clone(element)])).collect()
            }
        }
    }
}

impl Native for Selection {
    fn class_name(&self) -> &'static str {
        "groovy.util.slurpersupport.NodeChildren"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        vm.tick(self.elements.len())?;
        Ok(Some(match (name, arguments) {
            ("text" | "toString" | "value", []) => {
                let text = self.joined_text();
                vm.string(text)?
            }
            ("size", []) => Value::count(self.texts.as_ref().map_or(self.elements.len(), Vec::len)),
            ("isEmpty", []) => Value::Bool(self.items().is_empty()),
            ("asBoolean", []) => Value::Bool(!self.items().is_empty()),
            ("name", []) => Value::optional(self.elements.first().map(|element| &element.name)),
            ("children", []) => selection(self.children("*")),
            ("attributes", []) => {
                let (map, inner) = Value::map(crate::value::MapKind::Linked);
                for (name, value) in
                    self.elements.first().map_or(&[][..], |element| &element.attributes)
                {
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
                self.elements.iter().for_each(|element| element.append_subtree(&mut all));
                vm.alloc(all.len() * 64)?;
                Value::list(all.into_iter().map(|element| selection(vec![element])).collect())
            }
            ("getAt", [Value::Int(index)]) => {
                let items = self.items();
                let position = if *index < 0 {
                    items.len() as i64 + i64::from(*index)
                } else {
                    i64::from(*index)
                };
                usize::try_from(position)
                    .ok()
                    .and_then(|position| items.into_iter().nth(position))
                    // In `XmlSlurper`, a missing element is an empty selection, not an exception.
                    .unwrap_or_else(|| selection(Vec::new()))
            }
            ("getAt", [_]) => {
                let name = text_at(vm, arguments, 0)?;
                self.property(vm, &name)?.unwrap_or_default()
            }
            ("find", [closure]) => {
                for item in self.items() {
                    let accepts = vm.call_closure(closure, std::slice::from_ref(&item))?;
                    if vm.truth(&accepts)? {
                        return Ok(Some(item));
                    }
                }
                selection(Vec::new())
            }
            ("findAll", [closure]) => {
                let mut retained = Vec::new();
                for element in &self.elements {
                    let item = selection(vec![Rc::clone(element)]);
                    let accepts = vm.call_closure(closure, &[item])?;
                    if vm.truth(&accepts)? {
                        retained.push(Rc::clone(element));
                    }
                }
                selection(retained)
            }
            ("toInteger" | "toLong" | "toDouble" | "toBigDecimal" | "toFloat", []) => {
                let text = self.joined_text();
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
            self.elements.iter().for_each(|element| element.append_subtree(&mut all));
            return Ok(Some(selection(all)));
        }
        Ok(Some(match name.strip_prefix('@') {
            Some(name) => self.attribute(name),
            None => selection(self.children(name)),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(self.joined_text()))
    }

    fn elements(&self, vm: &mut Vm) -> Eval<Option<Vec<Value>>> {
        let items = self.items();
        vm.alloc(items.len() * 64)?;
        Ok(Some(items))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
