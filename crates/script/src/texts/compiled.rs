//! Parts of a plan whose texts hold expressions: compiled once where they hold none, else anew for each use.

use crate::texts::template::{Place, Template};
use crate::{Feeds, ScriptError};
use brunt_model::extract::{QualifiedXpath, ReplyPart};

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
