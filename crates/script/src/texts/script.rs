//! Calls scripts, whatever their language: `languages` implements [`Languages`] and [`ScriptCode`], and is handed in.
//!
//! The interface is in the same folder as users and samples: scripts read both, and a worker keeps its parsed scripts.

use crate::ScriptError;
use crate::texts::context::UserContext;
use crate::texts::pending::{PendingRequest, RequestTexts};
use crate::texts::searched::{SampleChanges, Searched};
use brunt_model::scenario::{Scope, Script, ScriptLanguage};
use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

/// The languages of scripts.
pub trait Languages: Debug + Send + Sync {
    /// Checks that this program was built with a language.
    ///
    /// # Errors
    ///
    /// It was not: how to build one that has it.
    fn check_built(&self, language: ScriptLanguage) -> Result<(), String>;

    /// Parses a source.
    ///
    /// # Errors
    ///
    /// It cannot be read, or names classes that are not known.
    fn parse(&self, language: ScriptLanguage, source: &str, kind: SourceKind) -> Result<Arc<dyn ScriptCode>, String>;
}

/// A source, parsed.
pub trait ScriptCode: Send + Sync {
    /// Runs it as the script of this name.
    ///
    /// # Errors
    ///
    /// An exception that nothing caught, or too many operations.
    fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        name: &str,
        parameters: &str,
    ) -> Result<ScriptOutcome, String>;

    /// Returns the text of its value, None where that is `null`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    fn text(&self, user: &UserContext) -> Result<Option<String>, String>;
}

/// The kind of a source: statements, or an expression that has a value.
#[derive(Debug, Clone, Copy)]
pub enum SourceKind {
    Statements,
    Expression,
}

/// No language: texts without calls of scripts need none.
#[derive(Debug)]
struct NoLanguages;

impl Languages for NoLanguages {
    fn check_built(&self, _: ScriptLanguage) -> Result<(), String> {
        Err("scripts cannot be called here".into())
    }

    fn parse(&self, language: ScriptLanguage, _: &str, _: SourceKind) -> Result<Arc<dyn ScriptCode>, String> {
        Err(self.check_built(language).err().unwrap_or_default())
    }
}

impl Default for &'static dyn Languages {
    fn default() -> Self {
        &NoLanguages
    }
}

/// A script, parsed.
#[derive(Clone)]
pub struct ParsedScript {
    name: String,
    code: Arc<dyn ScriptCode>,
}

impl Debug for ParsedScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// The sample and the request that a script sees, apart from its user.
#[derive(Default)]
pub struct ScriptView<'v, 'a> {
    /// The sample that it looks at, or makes, and whether it is good.
    pub sample: Option<(&'v Searched<'a>, bool)>,
    /// It makes that sample.
    pub makes_sample: bool,
    /// The request that is about to be sent.
    pub sampler: Option<Sampler<'v>>,
}

/// The request that a script may change, and the source of its parts.
pub struct Sampler<'v> {
    /// The parts that scripts have asked for.
    pub pending: &'v mut PendingRequest,
    /// The rest.
    pub texts: &'v dyn RequestTexts,
}

impl<'v, 'a> ScriptView<'v, 'a> {
    /// That of a script that looks at a sample.
    pub fn of(sample: &'v Searched<'a>, is_good: bool) -> Self {
        Self { sample: Some((sample, is_good)), ..Self::default() }
    }

    /// That of a script that makes a sample.
    pub fn making(sample: &'v Searched<'a>) -> Self {
        Self { sample: Some((sample, true)), makes_sample: true, sampler: None }
    }

    /// That of a script between requests.
    pub fn before(sampler: Option<Sampler<'v>>) -> Self {
        Self { sampler, ..Self::default() }
    }
}

/// Result of a script.
#[derive(Debug, Default)]
pub struct ScriptOutcome {
    /// The scope that ends.
    pub stop: Scope,
    /// Pause of the user, in milliseconds.
    pub pause: u64,
    /// The reason why an assertion failed.
    pub failure: Option<String>,
    /// Changes of the sample.
    pub changes: SampleChanges,
    /// The text of its value, if that is a plain one.
    pub value: Option<String>,
}

impl ParsedScript {
    /// Parses a script.
    ///
    /// # Errors
    ///
    /// It cannot be read, is in a language that is not known, or names classes that are not.
    pub fn new(languages: &dyn Languages, script: &Script) -> Result<Self, ScriptError> {
        let code = languages
            .parse(script.language, &script.source, SourceKind::Statements)
            .map_err(|why| ScriptError::Scenario(format!("script `{}`: {why}", script.name)))?;
        Ok(Self { name: script.name.clone(), code })
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// An exception that nothing caught, or too many operations: one sentence.
    pub fn run(&self, user: &UserContext, view: ScriptView<'_, '_>, parameters: &str) -> Result<ScriptOutcome, String> {
        let result = self.code.run(user, view, &self.name, parameters);
        result.map_err(|error| format!("script `{}`: {error}", self.name))
    }
}

/// The parsed expressions of a worker, and its engine.
pub struct Expressions {
    languages: &'static dyn Languages,
    engine: OnceCell<Box<dyn Any>>,
    parsed: RefCell<HashMap<ScriptLanguage, HashMap<String, ParsedExpression>>>,
}

/// A parsed expression, or its error.
type ParsedExpression = Rc<Result<Arc<dyn ScriptCode>, String>>;

/// Maximum number of parsed expressions of a language. More are texts that change with each use.
const MOST_EXPRESSIONS: usize = 1000;

impl Expressions {
    /// No expression was called yet.
    pub fn new(languages: &'static dyn Languages) -> Self {
        Self { languages, engine: OnceCell::new(), parsed: RefCell::default() }
    }

    /// Returns the engine that a language keeps for the worker, made when first used; None: another language keeps one.
    pub fn engine<E: Default + 'static>(&self) -> Option<&E> {
        self.engine.get_or_init(|| Box::<E>::default()).downcast_ref()
    }

    /// Returns the text of an expression's value; None if that is `null`.
    ///
    /// # Errors
    ///
    /// It cannot be read, throws, or needs too many operations.
    pub fn text(&self, language: ScriptLanguage, source: &str, user: &UserContext) -> Result<Option<String>, String> {
        match &*self.parsed(language, source) {
            Ok(code) => code.text(user),
            Err(why) => Err(why.clone()),
        }
    }

    /// Returns a script with a source that can change between calls.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn script(&self, script: &Script) -> Result<ParsedScript, ScriptError> {
        match &*self.parsed(script.language, &script.source) {
            Ok(code) => Ok(ParsedScript { name: script.name.clone(), code: Arc::clone(code) }),
            Err(why) => Err(ScriptError::Scenario(format!("script `{}`: {why}", script.name))),
        }
    }

    fn parsed(&self, language: ScriptLanguage, source: &str) -> ParsedExpression {
        let mut parsed = self.parsed.borrow_mut();
        let known = parsed.entry(language).or_default();
        if let Some(code) = known.get(source) {
            return Rc::clone(code);
        }
        if known.len() == MOST_EXPRESSIONS {
            known.clear();
        }
        let code = Rc::new(self.languages.parse(language, source, SourceKind::Expression));
        known.insert(source.to_owned(), Rc::clone(&code));
        code
    }
}
