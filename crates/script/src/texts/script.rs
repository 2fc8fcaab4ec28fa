//! Calls scripts in any language. A language is a row ([`LanguageRow`]) that implements
//! [`ScriptCode`]. The rows are passed in.
//!
//! The interface is in the same module as users and samples, because scripts read both, and a
//! worker caches its parsed scripts.

use crate::ScriptError;
use crate::driver::{ProgramRow, UserDriver};
use crate::texts::context::UserContext;
use crate::texts::pending::{PendingRequest, RequestTexts};
use crate::texts::reply_view::{ReplyView, SampleChanges};
use brunt_model::scenario::{EndScope, Script, ScriptLanguage, UserProgram};
use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

/// A parsed script, or the reason why it cannot be parsed.
pub type ParseResult = Result<Arc<dyn ScriptCode>, String>;

/// A language of scripts.
#[derive(Debug)]
pub struct LanguageRow {
    /// The language.
    pub language: ScriptLanguage,
    /// Parses the source of a script. Fails if the syntax is wrong, or the source needs unknown
    /// classes.
    pub parse: fn(&str, SourceKind) -> ParseResult,
}

/// The languages of scripts in a program. By default, there are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Languages {
    core: &'static [LanguageRow],
    further: &'static [LanguageRow],
    programs: &'static [ProgramRow],
}

impl Languages {
    /// The languages of the core, and further ones.
    pub(crate) const fn of(core: &'static [LanguageRow], further: &'static [LanguageRow]) -> Self {
        Self { core, further, programs: &[] }
    }

    /// The same languages, with programs of users.
    #[must_use]
    pub const fn with_programs(self, programs: &'static [ProgramRow]) -> Self {
        Self { programs, ..self }
    }

    /// Reads the program of users.
    ///
    /// # Errors
    ///
    /// The program cannot be read, or this brunt was built without programs of its kind.
    pub fn driver(self, program: &UserProgram) -> Result<Arc<dyn UserDriver>, String> {
        let row = self.programs.iter().find(|row| row.kind == program.kind);
        let row = row.ok_or(
            "this brunt was built without k6's scripts; released programs have them, and `cargo build --release -p brunt-cli` builds one",
        )?;
        (row.read)(program)
    }

    /// Checks that this program was built with a language.
    ///
    /// # Errors
    ///
    /// It was built without the language. The error describes how to build one with it.
    pub fn check_built(self, language: ScriptLanguage) -> Result<(), String> {
        self.row(language).map(|_| ())
    }

    /// Parses the source of a script.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, the source needs unknown classes, or the program was built without
    /// the language.
    pub fn parse(self, language: ScriptLanguage, source: &str, kind: SourceKind) -> ParseResult {
        (self.row(language)?.parse)(source, kind)
    }

    fn row(self, language: ScriptLanguage) -> Result<&'static LanguageRow, String> {
        let row = self.core.iter().chain(self.further).find(|row| row.language == language);
        row.ok_or_else(|| {
            let name = match language {
                ScriptLanguage::Groovy => "Groovy",
                ScriptLanguage::Beanshell => "BeanShell",
                ScriptLanguage::Javascript => "JavaScript",
                ScriptLanguage::Jexl => "JEXL",
            };
            format!(
                "this brunt was built without {name}; released programs have it, and `cargo build --release -p brunt-cli` builds one"
            )
        })
    }
}

/// A source after parsing, ready to run.
pub trait ScriptCode: Send + Sync {
    /// Runs it as the script of this name.
    ///
    /// # Errors
    ///
    /// An uncaught exception, or too many operations.
    fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        name: &str,
        parameters: &str,
    ) -> Result<ScriptOutcome, String>;

    /// Returns the text of its value. None: the value is `null`.
    ///
    /// # Errors
    ///
    /// See [`run`](Self::run).
    fn text(&self, user: &UserContext) -> Result<Option<String>, String>;
}

/// The kind of a source: statements, or an expression with a value.
#[derive(Debug, Clone, Copy)]
pub enum SourceKind {
    /// Statements without a value.
    Statements,
    /// An expression, whose value is a text.
    Expression,
}

/// A script after parsing, ready to run.
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

/// The sample and the request that a script can use.
#[derive(Default)]
pub struct ScriptView<'v, 'a> {
    /// The sample that the script reads or makes, and its success.
    pub sample: Option<(&'v ReplyView<'a>, bool)>,
    /// True if the script makes that sample.
    pub makes_sample: bool,
    /// The next request.
    pub sampler: Option<ScriptedRequest<'v>>,
}

/// The request that a script may change, and the source of its parts.
pub struct ScriptedRequest<'v> {
    /// Parts that scripts have read or changed.
    pub pending: &'v mut PendingRequest,
    /// Source of the other parts.
    pub texts: &'v dyn RequestTexts,
}

impl<'v, 'a> ScriptView<'v, 'a> {
    /// Creates the view of a script that reads a sample.
    pub fn of_sample(sample: &'v ReplyView<'a>, is_good: bool) -> Self {
        Self { sample: Some((sample, is_good)), ..Self::default() }
    }

    /// Creates the view of a script that makes a sample.
    pub fn of_new_sample(sample: &'v ReplyView<'a>) -> Self {
        Self { sample: Some((sample, true)), makes_sample: true, sampler: None }
    }

    /// Creates the view of a script between requests.
    pub fn between_requests(sampler: Option<ScriptedRequest<'v>>) -> Self {
        Self { sampler, ..Self::default() }
    }
}

/// Verdict of a script on an assertion; the message may be set before the failure.
#[derive(Debug, Default)]
pub struct ScriptVerdict {
    /// True if the assertion fails.
    pub failed: bool,
    /// Reason of a failure.
    pub message: String,
}

impl ScriptVerdict {
    /// Returns the reason of the failure; None if the assertion holds.
    pub fn failure(self) -> Option<String> {
        self.failed.then_some(self.message)
    }
}

/// Result of a script.
#[derive(Debug, Default)]
pub struct ScriptOutcome {
    /// Scope that the script ends.
    pub stop: EndScope,
    /// Pause of the user, in milliseconds.
    pub pause: u64,
    /// The reason why an assertion failed.
    pub failure: Option<String>,
    /// Changes of the sample.
    pub changes: SampleChanges,
    /// The text of its value, if the value has one.
    pub value: Option<String>,
}

impl ParsedScript {
    /// Parses the source of a script.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, the language is missing in this program, or the
    /// script needs unknown classes.
    pub fn new(languages: Languages, script: &Script) -> Result<Self, ScriptError> {
        let code = languages
            .parse(script.language, &script.source, SourceKind::Statements)
            .map_err(|why| ScriptError::Scenario(format!("script `{}`: {why}", script.name)))?;
        Ok(Self { name: script.name.clone(), code })
    }

    /// Runs the script for a user.
    ///
    /// # Errors
    ///
    /// Describes in one sentence an uncaught exception, or too many operations.
    pub fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        parameters: &str,
    ) -> Result<ScriptOutcome, String> {
        let result = self.code.run(user, view, &self.name, parameters);
        result.map_err(|error| format!("script `{}`: {error}", self.name))
    }
}

/// The parsed expressions of a worker, and its script engine.
pub struct Expressions {
    languages: Languages,
    engine: OnceCell<Box<dyn Any>>,
    parsed: RefCell<HashMap<ScriptLanguage, HashMap<String, ParsedExpression>>>,
}

/// A parsed expression, or its error.
type ParsedExpression = Rc<ParseResult>;

/// Maximum number of cached expressions of a language. More expressions are texts that
/// change with each use.
const MAX_EXPRESSIONS: usize = 1000;

impl Expressions {
    /// Creates an empty cache.
    pub fn new(languages: Languages) -> Self {
        Self { languages, engine: OnceCell::new(), parsed: RefCell::default() }
    }

    /// Returns the engine of a language for the worker, created at the first use. None: another
    /// language has created one.
    pub fn engine<E: Default + 'static>(&self) -> Option<&E> {
        self.engine.get_or_init(|| Box::<E>::default()).downcast_ref()
    }

    /// Returns the text of an expression's value. None: the value is `null`.
    ///
    /// # Errors
    ///
    /// The expression is malformed, throws, or needs too many operations.
    pub fn text(
        &self,
        language: ScriptLanguage,
        source: &str,
        user: &UserContext,
    ) -> Result<Option<String>, String> {
        match &*self.parsed(language, source) {
            Ok(code) => code.text(user),
            Err(why) => Err(why.clone()),
        }
    }

    /// Returns a script with a source that may change between calls.
    pub fn script(&self, script: &Script) -> Result<ParsedScript, ScriptError> {
        match &*self.parsed(script.language, &script.source) {
            Ok(code) => Ok(ParsedScript { name: script.name.clone(), code: Arc::clone(code) }),
            Err(why) => Err(ScriptError::Scenario(format!("script `{}`: {why}", script.name))),
        }
    }

    fn parsed(&self, language: ScriptLanguage, source: &str) -> ParsedExpression {
        let mut parsed = self.parsed.borrow_mut();
        let cache = parsed.entry(language).or_default();
        if let Some(code) = cache.get(source) {
            return Rc::clone(code);
        }
        if cache.len() == MAX_EXPRESSIONS {
            cache.clear();
        }
        // An error is cached, too: otherwise each use would parse the malformed source again.
        let code = Rc::new(self.languages.parse(language, source, SourceKind::Expression));
        cache.insert(source.to_owned(), Rc::clone(&code));
        code
    }
}
