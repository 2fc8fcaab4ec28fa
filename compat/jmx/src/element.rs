//! The test tree of a plan: elements with their names, properties and children.
//!
//! A [`TestElement`] is a view of a document and cheap to copy. In the file, a `hashTree` with its
//! children follows an element; an element without a `hashTree` has no children.

use crate::document::{JmxDocument, NodeId, NodeKind};
use crate::property::Properties;
use crate::support::{self, ElementKind, Role, Tier};
use std::borrow::Cow;

const TREE: &str = "hashTree";

/// One test element of a document.
#[derive(Debug, Clone, Copy)]
pub struct TestElement<'d> {
    document: &'d JmxDocument,
    node: NodeId,
    /// The `hashTree` that follows it.
    tree: Option<NodeId>,
}

/// An enabled element that brunt does not know or cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Node of the element in the document.
    pub node: NodeId,
    /// Kind of the element; None if unknown.
    pub kind: Option<ElementKind>,
    /// Role in a plan. If the kind is unknown, guessed from the class name.
    pub role: Role,
    /// `line 42: JDBC Request "orders" in Thread Group "users"`.
    pub place: String,
}

impl JmxDocument {
    /// The test plan; None in a fragment that another plan includes.
    pub fn test_plan(&self) -> Option<TestElement<'_>> {
        self.test_elements().find(|element| element.kind() == Some(ElementKind::TestPlan))
    }

    /// The outermost test elements: the test plan, and before JMeter 4 also the workbench.
    pub fn test_elements(&self) -> impl Iterator<Item = TestElement<'_>> {
        let trees = self.elements(self.root()).filter(|&node| self.name(node) == TREE);
        trees.flat_map(|tree| pairs(self, tree))
    }

    /// All test elements, in the order of the file.
    pub fn all_elements(&self) -> impl Iterator<Item = TestElement<'_>> {
        self.walk(|_| true).map(|(element, _)| element)
    }

    /// All test elements that are enabled and have only enabled ancestors, in the
    /// order of the file.
    pub fn enabled_elements(&self) -> impl Iterator<Item = TestElement<'_>> {
        self.walk(TestElement::enabled).map(|(element, _)| element)
    }

    /// Enabled elements that are unknown or unsupported, in the order of the file.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        self.walk(TestElement::enabled)
            .filter(|(element, _)| element.lacks_support())
            .map(|(element, group)| Unsupported {
                node: element.node,
                kind: element.kind(),
                role: element.role(),
                place: element.place_in(group),
            })
            .collect()
    }

    /// Elements that pass the filter `enters` together with all their ancestors, each
    /// with its thread group.
    fn walk<'d>(
        &'d self,
        enters: impl Fn(&TestElement<'d>) -> bool,
    ) -> impl Iterator<Item = (TestElement<'d>, Option<TestElement<'d>>)> {
        let mut rest: Vec<_> =
            self.test_elements().filter(&enters).map(|element| (element, None)).collect();
        // `pop` takes the last element first.
        rest.reverse();
        std::iter::from_fn(move || {
            let (next, group) = rest.pop()?;
            let within = if next.role() == Role::ThreadGroup { Some(next) } else { group };
            let from = rest.len();
            rest.extend(next.children().filter(&enters).map(|child| (child, within)));
            rest[from..].reverse();
            Some((next, group))
        })
    }
}

impl<'d> TestElement<'d> {
    /// Returns the document of the element.
    pub fn document(&self) -> &'d JmxDocument {
        self.document
    }

    /// Returns its node in the document.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The tag: an alias such as `HTTPSamplerProxy`, or a full class name.
    pub fn tag(&self) -> &'d str {
        self.document.name(self.node)
    }

    /// Class of its GUI form, without the package; empty if absent.
    pub fn guiclass(&self) -> Cow<'d, str> {
        without_package(self.field("guiclass", "TestElement.gui_class"))
    }

    /// Its class, without the package; empty if absent.
    pub fn testclass(&self) -> Cow<'d, str> {
        without_package(self.field("testclass", "TestElement.test_class"))
    }

    /// Its name; empty if absent.
    pub fn name(&self) -> Cow<'d, str> {
        self.field("testname", "TestElement.name")
    }

    /// True if the element itself is enabled, whatever its ancestors are. The default is enabled.
    pub fn enabled(&self) -> bool {
        !self.field("enabled", "TestElement.enabled").trim().eq_ignore_ascii_case("false")
    }

    /// Its kind; None if unknown.
    pub fn kind(&self) -> Option<ElementKind> {
        support::kind(self.tag(), &self.testclass(), &self.guiclass())
    }

    /// Its role in a plan. Elements of unknown kind are listeners if they have a listener's
    /// properties; for others the tag decides.
    pub fn role(&self) -> Role {
        match self.kind() {
            Some(kind) => kind.role(),
            None if self.collects_results() => Role::Listener,
            None => Role::guess(self.tag()),
        }
    }

    /// True if it has settings of a result file, as all listeners have that
    /// extend JMeter's listener class.
    fn collects_results(&self) -> bool {
        self.properties().iter().any(|property| {
            matches!(&*property.name(), "saveConfig" | "ResultCollector.error_logging")
        })
    }

    /// Level of support; None if the kind is unknown. A DNS Cache Manager without name servers is
    /// supported, and so are Java Requests of JMeter's own classes.
    pub fn tier(&self) -> Option<Tier> {
        let kind = self.kind()?;
        if kind == ElementKind::JavaSampler && self.java_class().is_none() {
            return Some(Tier::Unsupported);
        }
        Some(if kind == ElementKind::DnsCacheManager && !self.queries_name_servers() {
            Tier::Accepted
        } else {
            kind.tier()
        })
    }

    fn lacks_support(&self) -> bool {
        self.tier().is_none_or(|tier| tier == Tier::Unsupported)
    }

    /// True if a DNS Cache Manager queries the name servers in the plan.
    fn queries_name_servers(&self) -> bool {
        let properties = self.properties();
        let custom = properties
            .text("DNSCacheManager.isCustomResolver")
            .is_none_or(|text| text.trim() != "false");
        custom && properties.items("DNSCacheManager.servers").next().is_some()
    }

    /// Class of a Java Request if it comes with JMeter: `JavaTest` or `SleepTest`.
    pub(crate) fn java_class(&self) -> Option<&'static str> {
        let class = self.properties().text("classname")?;
        let class = class.trim().strip_prefix("org.apache.jmeter.protocol.java.test.")?;
        ["JavaTest", "SleepTest"].into_iter().find(|builtin| *builtin == class)
    }

    /// Name of its class without the package.
    pub(crate) fn class_name(&self) -> String {
        let testclass = self.testclass();
        let class = if testclass.is_empty() { self.tag() } else { &*testclass };
        class.rsplit('.').next().unwrap_or(class).to_owned()
    }

    /// Returns the properties of the element.
    pub fn properties(&self) -> Properties<'d> {
        Properties::new(self.document, self.node)
    }

    /// Its children in order, including disabled ones.
    pub fn children(&self) -> impl Iterator<Item = TestElement<'d>> + use<'d> {
        let document = self.document;
        self.tree.into_iter().flat_map(move |tree| pairs(document, tree))
    }

    /// Its children that are enabled, in order.
    pub fn enabled_children(&self) -> impl Iterator<Item = TestElement<'d>> + use<'d> {
        self.children().filter(TestElement::enabled)
    }

    /// Its parent; None for the outermost elements.
    pub fn parent(&self) -> Option<TestElement<'d>> {
        let tree =
            self.document.parent(self.node).filter(|&tree| self.document.name(tree) == TREE)?;
        let node = self.document.previous(tree).filter(|&node| self.document.name(node) != TREE)?;
        Some(TestElement { document: self.document, node, tree: Some(tree) })
    }

    /// The `hashTree` that holds its children; None if absent.
    pub fn tree(&self) -> Option<NodeId> {
        self.tree
    }

    /// Line in the file, from 1.
    pub fn line(&self) -> u32 {
        self.document.line(self.node)
    }

    /// Its title and name: `HTTP Request "login"`.
    pub fn title(&self) -> String {
        let title = match self.kind() {
            Some(kind) => kind.title(),
            None => simple_name(self.tag()),
        };
        format!("{title} {:?}", self.name())
    }

    /// Its place for messages: `line 42: HTTP Request "login" in Thread Group "users"`.
    pub fn place(&self) -> String {
        let mut outer = self.parent();
        while let Some(element) = outer.filter(|element| element.role() != Role::ThreadGroup) {
            outer = element.parent();
        }
        self.place_in(outer)
    }

    fn place_in(&self, group: Option<TestElement<'_>>) -> String {
        let within = group.map(|group| format!(" in {}", group.title())).unwrap_or_default();
        format!("line {}: {}{within}", self.line(), self.title())
    }

    fn field(&self, attribute: &str, property: &str) -> Cow<'d, str> {
        let value = self.document.attribute(self.node, attribute);
        value.or_else(|| self.properties().text(property)).unwrap_or_default()
    }
}

/// The elements of a `hashTree`, each with the `hashTree` that follows it.
fn pairs(document: &JmxDocument, tree: NodeId) -> impl Iterator<Item = TestElement<'_>> {
    let mut nodes =
        document.elements(tree).filter(|&node| document.kind(node) == NodeKind::Element).peekable();
    std::iter::from_fn(move || {
        let node = nodes.by_ref().find(|&node| document.name(node) != TREE)?;
        let tree = nodes.next_if(|&next| document.name(next) == TREE);
        Some(TestElement { document, node, tree })
    })
}

fn without_package(class: Cow<'_, str>) -> Cow<'_, str> {
    match class.rfind('.') {
        Some(position) => Cow::Owned(class[position + 1..].to_owned()),
        None => class,
    }
}

fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

#[cfg(test)]
mod tests;
