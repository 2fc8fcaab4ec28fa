//! Parts of a plan whose texts hold expressions: compiled once where they hold none, else anew for each use.

use crate::texts::template::{Place, Template};
use crate::{Feeds, ScriptError};
use brunt_model::extract::{ExtractFrom, Extractor, QualifiedXpath, ReplyPart};
use brunt_model::reply_policy::{Assertion, AssertionTest, ExpectedJson, TextAssertion};

/// A part of a plan that holds texts.
pub trait Texts: Sized {
    /// The same with other texts: `fill` is asked for each of them, in an order that is always the same.
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self;
}

/// A part of a plan, compiled to `C` where its texts hold no expressions.
#[derive(Debug)]
pub enum Compiled<T, C> {
    /// Once and for all, beside what it was compiled from.
    Fixed(T, C),
    /// For each use: its texts, in the order of [`Texts::map_texts`].
    Changing(T, Vec<Template>),
}

impl<T: Texts, C> Compiled<T, C> {
    /// Compiles a part of a plan with `compile`.
    ///
    /// # Errors
    ///
    /// An expression in a text is malformed, or the part itself makes no sense.
    pub fn new(
        part: &T,
        feeds: &mut Feeds,
        compile: impl Fn(&T) -> Result<C, ScriptError>,
    ) -> Result<Self, ScriptError> {
        let mut written = Vec::new();
        part.map_texts(&mut |text| {
            written.push(text.to_owned());
            String::new()
        });
        let templates = written.iter().map(|text| Template::compile_expressions(text, Place::Text, feeds));
        let templates = templates.collect::<Result<Vec<_>, _>>()?;
        if templates.iter().any(|template| !template.is_constant()) {
            let part = part.map_texts(&mut str::to_owned);
            return Ok(Self::Changing(part, templates));
        }
        let mut constants = templates.iter().filter_map(Template::as_constant);
        let part = part.map_texts(&mut |_| constants.next().unwrap_or_default().to_owned());
        compile(&part).map(|compiled| Self::Fixed(part, compiled))
    }

    /// The part of the plan; where its texts hold expressions, they are left as they were written.
    pub fn part(&self) -> &T {
        match self {
            Self::Fixed(part, _) | Self::Changing(part, _) => part,
        }
    }

    /// Hands it to `act` with its texts filled in, and compiled; `fill` makes the texts.
    ///
    /// # Errors
    ///
    /// What its texts became makes no sense.
    pub fn with<R>(
        &self,
        mut fill: impl FnMut(&Template) -> String,
        compile: impl Fn(&T) -> Result<C, ScriptError>,
        act: impl FnOnce(&T, &C) -> R,
    ) -> Result<R, ScriptError> {
        match self {
            Self::Fixed(part, compiled) => Ok(act(part, compiled)),
            Self::Changing(part, templates) => {
                let mut templates = templates.iter();
                let part = part.map_texts(&mut |_| templates.next().map(&mut fill).unwrap_or_default());
                compile(&part).map(|compiled| act(&part, &compiled))
            }
        }
    }
}

impl Texts for ReplyPart {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        match self {
            Self::Variable(name) => Self::Variable(fill(name)),
            other => other.clone(),
        }
    }
}

impl Texts for QualifiedXpath {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        let namespaces = self.namespaces.iter().map(|(prefix, uri)| (prefix.clone(), fill(uri)));
        Self { namespaces: namespaces.collect(), path: fill(&self.path) }
    }
}

impl Texts for Extractor {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        let from = match &self.from {
            ExtractFrom::Regex { pattern, group, template } => ExtractFrom::Regex {
                pattern: fill(pattern),
                group: *group,
                template: template.as_deref().map(&mut *fill),
            },
            ExtractFrom::Boundary { left, right } => ExtractFrom::Boundary { left: fill(left), right: fill(right) },
            ExtractFrom::JsonPath(path) => ExtractFrom::JsonPath(fill(path)),
            ExtractFrom::JmesPath(path) => ExtractFrom::JmesPath(fill(path)),
            ExtractFrom::Css { selector, attribute } => {
                ExtractFrom::Css { selector: fill(selector), attribute: fill(attribute) }
            }
            ExtractFrom::Xpath(path) => ExtractFrom::Xpath(fill(path)),
            ExtractFrom::QualifiedXpath(path) => ExtractFrom::QualifiedXpath(path.map_texts(fill)),
            ExtractFrom::Header(name) => ExtractFrom::Header(fill(name)),
            ExtractFrom::Cookie(name) => ExtractFrom::Cookie(fill(name)),
        };
        Self {
            variable: fill(&self.variable),
            from,
            part: self.part.map_texts(fill),
            samples: self.samples,
            take: self.take,
            default: self.default.as_deref().map(fill),
            sets_more: self.sets_more,
        }
    }
}

impl Texts for ExpectedJson {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        match self {
            Self::Null => Self::Null,
            Self::Value(value) => Self::Value(fill(value)),
            Self::Pattern(pattern) => Self::Pattern(fill(pattern)),
        }
    }
}

impl Texts for Assertion {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        let test = match &self.test {
            AssertionTest::Text(text) => AssertionTest::Text(TextAssertion {
                part: text.part.map_texts(fill),
                patterns: text.patterns.iter().map(|pattern| fill(pattern)).collect(),
                message: fill(&text.message),
                ..text.clone()
            }),
            AssertionTest::Duration(millis) => AssertionTest::Duration(fill(millis)),
            AssertionTest::Size { part, is, bytes } => {
                AssertionTest::Size { part: part.clone(), is: *is, bytes: fill(bytes) }
            }
            AssertionTest::Json { path, expected, invert } => {
                let expected = expected.as_ref().map(|expected| expected.map_texts(fill));
                AssertionTest::Json { path: fill(path), expected, invert: *invert }
            }
            AssertionTest::JmesPath { path, expected, invert } => {
                let expected = expected.as_ref().map(|expected| expected.map_texts(fill));
                AssertionTest::JmesPath { path: fill(path), expected, invert: *invert }
            }
            AssertionTest::Xpath { path, invert } => AssertionTest::Xpath { path: fill(path), invert: *invert },
            AssertionTest::QualifiedXpath { path, invert } => {
                AssertionTest::QualifiedXpath { path: path.map_texts(fill), invert: *invert }
            }
            AssertionTest::Xml => AssertionTest::Xml,
            AssertionTest::Md5(sum) => AssertionTest::Md5(fill(sum)),
            AssertionTest::Script(script) => AssertionTest::Script(script.clone()),
        };
        Self { name: self.name.clone(), test }
    }
}
