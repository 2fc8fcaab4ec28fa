//! Places of elements in the .jmx, for notices.

use super::Writer;
use brunt_jmx::ElementKind;
use brunt_jmx::TestElement;
use brunt_jmx::support::Role;

/// Properties with the name of an extractor's variable.
const VARIABLES: [&str; 7] = [
    "RegexExtractor.refname",
    "BoundaryExtractor.refname",
    "HtmlExtractor.refname",
    "JSONPostProcessor.referenceNames",
    "XPathExtractor.refname",
    "XPathExtractor2.refname",
    "VAR",
];

impl Writer<'_> {
    /// Adds a notice, unless it is already in the list.
    pub(super) fn notice(&mut self, text: String) {
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
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
        let place = self.find(|element| element.role() == Role::Sampler && element.name() == label);
        place.unwrap_or_else(|| format!("\"{label}\""))
    }

    /// Place of an element that is not a sampler; otherwise the place of its surroundings.
    pub(super) fn element_place(&self, name: &str, around: &str) -> String {
        let place = self.find(|element| {
            !name.is_empty() && element.role() != Role::Sampler && element.name() == name
        });
        place.unwrap_or_else(|| around.to_owned())
    }

    /// Place of the first element of a kind.
    pub(super) fn kind_place(&self, kind: ElementKind, group: &str) -> String {
        self.find(|element| element.kind() == Some(kind))
            .unwrap_or_else(|| format!("Thread Group \"{group}\""))
    }

    /// Place of the extractor that sets a variable.
    pub(super) fn extractor_place(&self, variable: &str, around: &str) -> String {
        self.find(|element| sets_variable(element, variable)).unwrap_or_else(|| around.to_owned())
    }
}

/// True if an extractor sets this variable.
fn sets_variable(element: TestElement<'_>, variable: &str) -> bool {
    let properties = element.properties();
    VARIABLES
        .iter()
        .filter_map(|name| properties.text(name))
        .any(|names| names.split(';').any(|name| name.trim() == variable))
}
