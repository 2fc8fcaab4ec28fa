//! Places of elements in the .jmx, for notices.

use super::Writer;
use brunt_jmx::ElementKind;
use brunt_jmx::JmxDocument;
use brunt_jmx::TestElement;
use brunt_jmx::forms;
use brunt_jmx::support::Role;
use std::borrow::Cow;
use std::collections::HashMap;

/// The first enabled elements with a name, and of a variable. A plan may have thousands of elements, each of which needs the
/// place of another one.
pub(super) struct NamedElements<'d> {
    samplers: HashMap<Cow<'d, str>, TestElement<'d>>,
    others: HashMap<Cow<'d, str>, TestElement<'d>>,
    /// Extractors by the variables that they set.
    extractors: HashMap<String, TestElement<'d>>,
}

impl<'d> NamedElements<'d> {
    pub(super) fn of(document: &'d JmxDocument) -> Self {
        let mut named =
            Self { samplers: HashMap::new(), others: HashMap::new(), extractors: HashMap::new() };
        for element in document.enabled_elements() {
            let is_sampler = element.role() == Role::Sampler;
            let names = if is_sampler { &mut named.samplers } else { &mut named.others };
            names.entry(element.name()).or_insert(element);
            for variable in variables_of(element) {
                named.extractors.entry(variable).or_insert(element);
            }
        }
        named
    }
}

/// The variables that an extractor sets.
fn variables_of(element: TestElement<'_>) -> Vec<String> {
    let names = match element.kind() {
        Some(
            kind @ (ElementKind::RegexExtractor
            | ElementKind::BoundaryExtractor
            | ElementKind::HtmlExtractor
            | ElementKind::JsonExtractor
            | ElementKind::JmesPathExtractor
            | ElementKind::JsonPathExtractorPlugin
            | ElementKind::XpathExtractor
            | ElementKind::Xpath2Extractor),
            // Their first property is the name of the variable, or the names.
        ) => forms::form(kind).first().and_then(|row| element.property(row.path)),
        _ => None,
    };
    let names = names.map(|names| names.text()).unwrap_or_default();
    names.split(';').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

impl Writer<'_> {
    /// Adds a notice, unless it is already in the list.
    pub(super) fn notice(&mut self, text: String) {
        self.notices.insert(text);
    }

    fn find(&self, matches: impl Fn(TestElement<'_>) -> bool) -> Option<String> {
        self.document
            .enabled_elements()
            .find(|element| matches(*element))
            .map(|element| element.place())
    }

    /// Place of the first element that contains this text.
    pub(super) fn text_place(&self, text: &str) -> String {
        self.find(|element| self.contains_text(element, text))
            .unwrap_or_else(|| "the plan".to_owned())
    }

    fn contains_text(&self, element: TestElement<'_>, text: &str) -> bool {
        let mut rest = vec![element.node()];
        while let Some(node) = rest.pop() {
            if self.document.text(node).contains(text) {
                return true;
            }
            rest.extend(self.document.elements(node));
        }
        false
    }

    /// Place of a thread group.
    pub(super) fn group_place(&self, name: &str) -> String {
        let place =
            self.find(|element| element.role() == Role::ThreadGroup && element.name() == name);
        place.unwrap_or_else(|| format!("Thread Group \"{name}\""))
    }

    /// Place of a sampler.
    pub(super) fn sampler_place(&self, label: &str) -> String {
        let sampler = self.elements.samplers.get(label);
        sampler.map_or_else(|| format!("\"{label}\""), TestElement::place)
    }

    /// Place of an element that is not a sampler; otherwise the place of its surroundings.
    pub(super) fn element_place(&self, name: &str, around: &str) -> String {
        let element = self.elements.others.get(name).filter(|_| !name.is_empty());
        element.map_or_else(|| around.to_owned(), TestElement::place)
    }

    /// Place of the first element of a kind.
    pub(super) fn kind_place(&self, kind: ElementKind, group: &str) -> String {
        self.find(|element| element.kind() == Some(kind))
            .unwrap_or_else(|| format!("Thread Group \"{group}\""))
    }

    /// Place of the extractor that sets a variable.
    pub(super) fn extractor_place(&self, variable: &str, around: &str) -> String {
        let extractor = self.elements.extractors.get(variable);
        extractor.map_or_else(|| around.to_owned(), TestElement::place)
    }
}
