//! The test tree of a plan: elements with their names, properties and children.
//!
//! A [`TestElement`] is a view of a document and costs nothing to copy. In the file, an element is followed by a `hashTree`
//! with its children; a missing `hashTree` means no children.

use crate::document::{Document, NodeId, NodeKind};
use crate::property::Properties;
use crate::support::{self, ElementKind, Role, Tier};
use std::borrow::Cow;

const TREE: &str = "hashTree";

/// One test element.
#[derive(Debug, Clone, Copy)]
pub struct TestElement<'d> {
    document: &'d Document,
    node: NodeId,
    /// The `hashTree` behind it.
    tree: Option<NodeId>,
}

/// An element that is enabled, and that brunt does not know or does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The element.
    pub node: NodeId,
    /// Its kind; None where it is unknown.
    pub kind: Option<ElementKind>,
    /// What it does in a plan; guessed from the name of the class where the kind is unknown.
    pub role: Role,
    /// `line 42: JDBC Request "orders" in Thread Group "users"`.
    pub place: String,
}

impl Document {
    /// The test plan; None for a plan without one (a fragment that another plan includes).
    pub fn test_plan(&self) -> Option<TestElement<'_>> {
        self.test_elements().find(|element| element.kind() == Some(ElementKind::TestPlan))
    }

    /// The outermost test elements: the test plan, and in plans before JMeter 4 the workbench.
    pub fn test_elements(&self) -> impl Iterator<Item = TestElement<'_>> {
        let trees = self.elements(self.root()).filter(|&node| self.name(node) == TREE);
        trees.flat_map(|tree| pairs(self, tree))
    }

    /// All test elements, in the order of the file.
    pub fn all_elements(&self) -> impl Iterator<Item = TestElement<'_>> {
        self.walk(|_| true).map(|(element, _)| element)
    }

    /// All test elements that are enabled, and whose ancestors are, in the order of the file.
    pub fn enabled_elements(&self) -> impl Iterator<Item = TestElement<'_>> {
        self.walk(TestElement::enabled).map(|(element, _)| element)
    }

    /// The enabled elements that are unknown or not supported, in the order of the file.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let lacks = |element: &TestElement<'_>| element.tier().is_none_or(|tier| tier == Tier::Unsupported);
        let listed = |(element, group): (TestElement<'_>, Option<TestElement<'_>>)| Unsupported {
            node: element.node,
            kind: element.kind(),
            role: element.role(),
            place: element.place_in(group),
        };
        self.walk(TestElement::enabled).filter(|(element, _)| lacks(element)).map(listed).collect()
    }

    /// The elements that `enters` and whose ancestors do, each with the thread group around it.
    fn walk<'d>(
        &'d self,
        enters: impl Fn(&TestElement<'d>) -> bool,
    ) -> impl Iterator<Item = (TestElement<'d>, Option<TestElement<'d>>)> {
        let mut rest: Vec<_> = self.test_elements().filter(&enters).map(|element| (element, None)).collect();
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
    /// The document.
    pub fn document(&self) -> &'d Document {
        self.document
    }

    /// The node of the document.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The tag: an alias such as `HTTPSamplerProxy`, or a full class name.
    pub fn tag(&self) -> &'d str {
        self.document.name(self.node)
    }

    /// Class of its form, without the package; empty where there is none.
    pub fn guiclass(&self) -> Cow<'d, str> {
        without_package(self.field("guiclass", "TestElement.gui_class"))
    }

    /// Its class, without the package; empty where there is none.
    pub fn testclass(&self) -> Cow<'d, str> {
        without_package(self.field("testclass", "TestElement.test_class"))
    }

    /// Its name; empty where there is none.
    pub fn name(&self) -> Cow<'d, str> {
        self.field("testname", "TestElement.name")
    }

    /// Whether it is enabled itself; its ancestors may not be. Absent means enabled.
    pub fn enabled(&self) -> bool {
        !self.field("enabled", "TestElement.enabled").trim().eq_ignore_ascii_case("false")
    }

    /// Its kind; None where it is unknown.
    pub fn kind(&self) -> Option<ElementKind> {
        support::kind(self.tag(), &self.testclass(), &self.guiclass())
    }

    /// What it does in a plan. Where the kind is unknown: a listener has the properties of one, others are guessed from their tag.
    pub fn role(&self) -> Role {
        let guessed = || if self.collects_results() { Role::Listener } else { Role::guess(self.tag()) };
        self.kind().map_or_else(guessed, ElementKind::role)
    }

    /// Whether it has what all listeners that JMeter's own extend have: settings of a result file.
    fn collects_results(&self) -> bool {
        let of_listeners = |name: &str| matches!(name, "saveConfig" | "ResultCollector.error_logging");
        self.properties().iter().any(|property| of_listeners(&property.name()))
    }

    /// Whether brunt runs it; None where it is unknown. A DNS Cache Manager without servers of its own runs; of Java
    /// Requests, those of JMeter's own classes run.
    pub fn tier(&self) -> Option<Tier> {
        let kind = self.kind()?;
        if kind == ElementKind::JavaSampler && self.java_class().is_none() {
            return Some(Tier::Unsupported);
        }
        Some(if kind == ElementKind::DnsCacheManager && !self.asks_servers() { Tier::Accepted } else { kind.tier() })
    }

    /// Whether a DNS Cache Manager asks name servers that the plan names.
    fn asks_servers(&self) -> bool {
        let properties = self.properties();
        let custom = properties.text("DNSCacheManager.isCustomResolver").is_none_or(|text| text.trim() != "false");
        custom && properties.items("DNSCacheManager.servers").next().is_some()
    }

    /// The class of a Java Request that JMeter itself has: `JavaTest` or `SleepTest`.
    pub(crate) fn java_class(&self) -> Option<&'static str> {
        let class = self.properties().text("classname")?;
        let class = class.trim().strip_prefix("org.apache.jmeter.protocol.java.test.")?;
        ["JavaTest", "SleepTest"].into_iter().find(|own| *own == class)
    }

    /// The name of its class without the package.
    pub(crate) fn class_name(&self) -> String {
        let testclass = self.testclass();
        let class = if testclass.is_empty() { self.tag() } else { &*testclass };
        class.rsplit('.').next().unwrap_or(class).to_owned()
    }

    /// Its properties.
    pub fn properties(&self) -> Properties<'d> {
        Properties::new(self.document, self.node)
    }

    /// Its children, disabled ones too, in order.
    pub fn children(&self) -> impl Iterator<Item = TestElement<'d>> + use<'d> {
        let document = self.document;
        self.tree.into_iter().flat_map(move |tree| pairs(document, tree))
    }

    /// Its children that are enabled, in order.
    pub fn enabled_children(&self) -> impl Iterator<Item = TestElement<'d>> + use<'d> {
        self.children().filter(TestElement::enabled)
    }

    /// The element whose child it is; None for the outermost.
    pub fn parent(&self) -> Option<TestElement<'d>> {
        let tree = self.document.parent(self.node).filter(|&tree| self.document.name(tree) == TREE)?;
        let node = self.document.previous(tree).filter(|&node| self.document.name(node) != TREE)?;
        Some(TestElement { document: self.document, node, tree: Some(tree) })
    }

    /// The `hashTree` that holds its children; None where there is none.
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
        let written = self.document.attribute(self.node, attribute);
        written.or_else(|| self.properties().text(property)).unwrap_or_default()
    }
}

/// The elements of a `hashTree`, each with the `hashTree` behind it.
fn pairs(document: &Document, tree: NodeId) -> impl Iterator<Item = TestElement<'_>> {
    let mut nodes = document.elements(tree).filter(|&node| document.kind(node) == NodeKind::Element).peekable();
    std::iter::from_fn(move || {
        let node = nodes.by_ref().find(|&node| document.name(node) != TREE)?;
        let tree = nodes.next_if(|&next| document.name(next) == TREE);
        Some(TestElement { document, node, tree })
    })
}

fn without_package(class: Cow<'_, str>) -> Cow<'_, str> {
    match class.rfind('.') {
        Some(at) => Cow::Owned(class[at + 1..].to_owned()),
        None => class,
    }
}

fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

#[cfg(test)]
mod tests;
