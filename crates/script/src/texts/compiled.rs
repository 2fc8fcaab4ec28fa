//! Compiles parts of a plan that contain texts: once if the texts are constant,
//! otherwise for each use.

use crate::texts::template::{Template, TextPosition};
use crate::{Feeds, ScriptError};
use brunt_model::extract::{QualifiedXpath, ReplyPart};

/// A part of a plan that contains texts.
pub trait Texts: Sized {
    /// Replaces the texts. Calls `fill` for each of them, always in the same order.
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self;
}

/// A part of a plan, compiled to `C` if its texts are constant.
#[derive(Debug)]
pub enum Compiled<T, C> {
    /// The constant part, and its compiled form.
    Fixed(T, C),
    /// The part, and templates of its texts in the order of [`Texts::map_texts`]. It is
    /// compiled for each use.
    Changing(T, Vec<Template>),
}

impl<T: Texts, C> Compiled<T, C> {
    /// Compiles a part of a plan with `compile`.
    pub fn new(
        part: &T,
        feeds: &mut Feeds,
        compile: impl Fn(&T) -> Result<C, ScriptError>,
    ) -> Result<Self, ScriptError> {
        let mut texts = Vec::new();
        part.map_texts(&mut |text| {
            texts.push(text.to_owned());
            String::new()
        });
        let templates =
            texts.iter().map(|text| Template::compile_expressions(text, TextPosition::Text, feeds));
        let templates = templates.collect::<Result<Vec<_>, _>>()?;
        if templates.iter().any(|template| !template.is_constant()) {
            let part = part.map_texts(&mut str::to_owned);
            return Ok(Self::Changing(part, templates));
        }
        // The constants, not the sources: escapes such as `\$` are resolved.
        let mut constants = templates.iter().filter_map(Template::as_constant);
        let part = part.map_texts(&mut |_| constants.next().unwrap_or_default().to_owned());
        compile(&part).map(|compiled| Self::Fixed(part, compiled))
    }

    /// Returns the part of the plan. Expressions in its texts are not filled in.
    pub fn part(&self) -> &T {
        match self {
            Self::Fixed(part, _) | Self::Changing(part, _) => part,
        }
    }

    /// Calls `act` with the part, with its texts filled in, and its compiled form. `fill`
    /// fills in the texts.
    ///
    /// # Errors
    ///
    /// The part is malformed with the values of its texts.
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
                let part =
                    part.map_texts(&mut |_| templates.next().map(&mut fill).unwrap_or_default());
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
