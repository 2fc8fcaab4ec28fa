//! Where something stands in the .jmx, for what is told.

use super::Writer;
use brunt_jmx::ElementKind;
use brunt_jmx::TestElement;
use brunt_jmx::support::Role;

/// Properties that name the variable of an extractor.
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
    /// Tells once what is left out or done otherwise.
    pub(super) fn notice(&mut self, text: String) {
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    fn find(&self, is: impl Fn(TestElement<'_>) -> bool) -> Option<String> {
        self.document.enabled_elements().find(|element| is(*element)).map(|element| element.place())
    }

    /// The first element with this text in it.
    pub(super) fn text_place(&self, text: &str) -> String {
        let is = |element: TestElement<'_>| {
            let mut rest = vec![element.node()];
            while let Some(node) = rest.pop() {
                if self.document.text(node).contains(text) {
                    return true;
                }
                rest.extend(self.document.elements(node));
            }
            false
        };
        self.find(is).unwrap_or_else(|| "the plan".to_owned())
    }

    /// A thread group.
    pub(super) fn group_place(&self, name: &str) -> String {
        let found = self.find(|element| element.role() == Role::ThreadGroup && element.name() == name);
        found.unwrap_or_else(|| format!("Thread Group \"{name}\""))
    }

    /// A sampler.
    pub(super) fn sampler_place(&self, label: &str) -> String {
        let found = self.find(|element| element.role() == Role::Sampler && element.name() == label);
        found.unwrap_or_else(|| format!("\"{label}\""))
    }

    /// An element that is no sampler, or what is around it.
    pub(super) fn element_place(&self, name: &str, around: &str) -> String {
        let is =
            |element: TestElement<'_>| !name.is_empty() && element.role() != Role::Sampler && element.name() == name;
        self.find(is).unwrap_or_else(|| around.to_owned())
    }

    /// The first element of a kind.
    pub(super) fn kind_place(&self, kind: ElementKind, group: &str) -> String {
        self.find(|element| element.kind() == Some(kind)).unwrap_or_else(|| format!("Thread Group \"{group}\""))
    }

    /// The extractor that sets a variable.
    pub(super) fn extractor_place(&self, variable: &str, around: &str) -> String {
        let is = |element: TestElement<'_>| {
            let properties = element.properties();
            VARIABLES
                .iter()
                .filter_map(|name| properties.text(name))
                .any(|names| names.split(';').any(|name| name.trim() == variable))
        };
        self.find(is).unwrap_or_else(|| around.to_owned())
    }
}
