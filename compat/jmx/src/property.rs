//! Reads properties of a test element by name: scalars, nested elements and collections.
//!
//! Scalars are texts, since they may contain `${…}`. Typed access requires an evaluated text. Names
//! in a collection are Java hash codes and have no meaning.

use crate::document::{JmxDocument, NodeId};
use crate::error::JmxError;
use std::borrow::Cow;

/// The kinds of properties in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// `stringProp`.
    String,
    /// `boolProp`.
    Bool,
    /// `intProp`.
    Int,
    /// `longProp`.
    Long,
    /// `floatProp` and `FloatProperty`.
    Float,
    /// `doubleProp`.
    Double,
    /// `elementProp`: nested properties.
    Element,
    /// `collectionProp`: a list.
    Collection,
    /// `mapProp`: properties by name.
    Map,
    /// `objProp`: settings of a listener.
    Object,
    /// An element with any other name.
    Other,
}

impl PropertyKind {
    fn of(tag: &str) -> Self {
        match tag {
            "stringProp" => Self::String,
            "boolProp" => Self::Bool,
            "intProp" => Self::Int,
            "longProp" => Self::Long,
            "floatProp" | "FloatProperty" => Self::Float,
            "doubleProp" => Self::Double,
            "elementProp" => Self::Element,
            "collectionProp" => Self::Collection,
            "mapProp" => Self::Map,
            "objProp" => Self::Object,
            _ => Self::Other,
        }
    }
}

/// A property of a test element.
#[derive(Debug, Clone, Copy)]
pub struct Property<'d> {
    document: &'d JmxDocument,
    node: NodeId,
}

impl<'d> Property<'d> {
    /// Returns its node in the document.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Tag: `stringProp`; in the settings of a listener, the name of the setting.
    pub fn tag(&self) -> &'d str {
        self.document.name(self.node)
    }

    /// Kind of the property, from its tag.
    pub fn kind(&self) -> PropertyKind {
        PropertyKind::of(self.tag())
    }

    /// Name: the attribute `name`, or the text of a nested `<name>`; empty if absent.
    pub fn name(&self) -> Cow<'d, str> {
        let attribute = self.document.attribute(self.node, "name");
        attribute
            .or_else(|| self.nested("name").map(|node| self.document.text(node)))
            .unwrap_or_default()
    }

    /// Text of a scalar, directly inside or in a nested `<value>`. Empty for other kinds.
    pub fn text(&self) -> Cow<'d, str> {
        match (self.kind(), self.nested("value")) {
            (
                PropertyKind::Element
                | PropertyKind::Collection
                | PropertyKind::Map
                | PropertyKind::Object,
                _,
            ) => "".into(),
            (_, Some(value)) => self.document.text(value),
            (_, None) => self.document.text(self.node),
        }
    }

    /// Properties of an `elementProp` or a `mapProp`; for an `objProp`, those of its `<value>`.
    pub fn properties(&self) -> Properties<'d> {
        let node = match self.kind() {
            PropertyKind::Object => self.nested("value").unwrap_or(self.node),
            _ => self.node,
        };
        Properties { document: self.document, node }
    }

    /// Properties in a `collectionProp`, in order.
    pub fn items(&self) -> impl Iterator<Item = Property<'d>> + use<'d> {
        self.properties().iter()
    }

    /// Line in the file, from 1.
    pub fn line(&self) -> u32 {
        self.document.line(self.node)
    }

    fn nested(&self, tag: &str) -> Option<NodeId> {
        self.document.elements(self.node).find(|&child| self.document.name(child) == tag)
    }

    fn type_error(&self, expected: &str) -> JmxError {
        let name = self.name();
        let text = self.text();
        JmxError::at(
            self.document.position(self.node),
            format!("`{name}` is `{text}`; expected {expected}"),
        )
    }
}

/// The properties of a test element, an `elementProp` or a `collectionProp`.
#[derive(Debug, Clone, Copy)]
pub struct Properties<'d> {
    document: &'d JmxDocument,
    node: NodeId,
}

impl<'d> Properties<'d> {
    pub(crate) fn new(document: &'d JmxDocument, node: NodeId) -> Self {
        Self { document, node }
    }

    /// The element that has the properties.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// All properties, in order.
    pub fn iter(&self) -> impl Iterator<Item = Property<'d>> + use<'d> {
        let document = self.document;
        document
            .elements(self.node)
            .map(move |node| Property { document, node: document.resolve_reference(node) })
    }

    /// Name of the element that has the properties, if it is a property itself.
    pub(crate) fn name(&self) -> Cow<'d, str> {
        Property { document: self.document, node: self.node }.name()
    }

    /// The property at a path of names, such as `ThreadGroup.main_controller/LoopController.loops`.
    pub(crate) fn at(&self, path: &str) -> Option<Property<'d>> {
        let (outer, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut outer = outer.split('/').filter(|name| !name.is_empty());
        outer.try_fold(*self, |properties, name| properties.element(name))?.get(name)
    }

    /// The first property with a name.
    pub fn get(&self, name: &str) -> Option<Property<'d>> {
        self.iter().find(|property| property.name() == name)
    }

    /// A scalar as text. None if absent or empty; both mean the default.
    pub fn text(&self, name: &str) -> Option<Cow<'d, str>> {
        self.get(name).map(|property| property.text()).filter(|text| !text.is_empty())
    }

    /// A boolean scalar: `true` or `false` in any case, trimmed. None if absent or blank.
    ///
    /// # Errors
    ///
    /// Fails on any other text, with its line.
    pub fn bool(&self, name: &str) -> Result<Option<bool>, JmxError> {
        self.typed(name, "`true` or `false`", |text| match text {
            _ if text.eq_ignore_ascii_case("true") => Some(true),
            _ if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        })
    }

    /// A whole number, trimmed. None if absent or blank.
    ///
    /// # Errors
    ///
    /// Fails on any other text, with its line.
    pub fn int(&self, name: &str) -> Result<Option<i64>, JmxError> {
        self.typed(name, "a whole number", |text| text.parse().ok())
    }

    /// A finite number, trimmed. None if absent or blank.
    ///
    /// # Errors
    ///
    /// Fails on any other text, with its line.
    pub fn float(&self, name: &str) -> Result<Option<f64>, JmxError> {
        self.typed(name, "a number", |text| {
            text.parse().ok().filter(|number: &f64| number.is_finite())
        })
    }

    /// Properties of a nested `elementProp`.
    pub fn element(&self, name: &str) -> Option<Properties<'d>> {
        self.get(name).map(|property| property.properties())
    }

    /// Items of a `collectionProp`; empty if absent.
    pub fn items(&self, name: &str) -> impl Iterator<Item = Property<'d>> + use<'d> {
        self.get(name).into_iter().flat_map(|property| property.items())
    }

    fn typed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, JmxError> {
        let Some(property) = self.get(name) else { return Ok(None) };
        match property.text().trim() {
            "" => Ok(None),
            text => parse(text).map(Some).ok_or_else(|| property.type_error(expected)),
        }
    }
}
