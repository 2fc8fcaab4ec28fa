//! Scripts of a plan: parsed once, run with the variables of a user, its last reply, and nothing else of the machine.
//!
//! A script has a bounded number of operations, files below the folder of its plan, and neither processes nor the network. What it does is time of the user:
//! a request behind it begins later, and that is its lag.
//!
//! * `groovy`: Groovy and `BeanShell`. `javascript`: JavaScript. `jexl`: expressions of JEXL.

#[cfg(feature = "groovy")]
mod groovy;
#[cfg(feature = "javascript")]
mod javascript;
mod jexl;
#[cfg(feature = "scripts")]
pub mod zones;

use crate::ScriptError;
use crate::texts::context::UserContext;
use crate::texts::pending::{PendingRequest, RequestTexts};
use crate::texts::searched::{SampleChanges, Searched};
use brunt_model::scenario::{Scope, Script, ScriptLanguage};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A script, parsed.
#[derive(Clone)]
pub struct ParsedScript {
    name: String,
    code: Code,
}

#[derive(Clone)]
enum Code {
    #[cfg(feature = "groovy")]
    Groovy(groovy::Parsed),
    #[cfg(feature = "javascript")]
    Javascript(javascript::Parsed),
    Jexl(Arc<jexl::Expression>),
}

/// What is read: statements, or an expression whose value counts.
#[derive(Clone, Copy)]
enum Kind {
    Statements,
    Expression,
}

impl std::fmt::Debug for ParsedScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// What a script sees beside its user.
#[derive(Default)]
#[cfg_attr(not(any(feature = "groovy", feature = "javascript")), allow(dead_code))]
pub struct ScriptView<'v, 'a> {
    /// The sample that it looks at, or makes, and whether it is good.
    sample: Option<(&'v Searched<'a>, bool)>,
    /// It makes that sample.
    makes_sample: bool,
    /// The request that is about to be sent.
    sampler: Option<Sampler<'v>>,
}

/// The request that a script may change, and whence its parts come.
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

/// What a script says of an assertion; the message may be set before the failure.
#[cfg(any(feature = "groovy", feature = "javascript"))]
#[derive(Debug, Default)]
struct ScriptVerdict {
    failed: bool,
    message: String,
}

#[cfg(any(feature = "groovy", feature = "javascript"))]
impl ScriptVerdict {
    /// Why it does not hold; None where it does.
    fn failure(self) -> Option<String> {
        self.failed.then_some(self.message)
    }
}

/// What a script came to.
#[derive(Debug, Default)]
pub struct ScriptOutcome {
    /// What is over: nothing, most often.
    pub stop: Scope,
    /// Milliseconds for which the user pauses.
    pub pause: u64,
    /// Of an assertion: why it does not hold.
    pub failure: Option<String>,
    /// What it changed of the sample.
    pub changes: SampleChanges,
    /// Its value as text, where it is a plain one.
    pub value: Option<String>,
}

impl Code {
    fn parse(language: ScriptLanguage, source: &str, kind: Kind) -> Result<Self, String> {
        match language {
            ScriptLanguage::Groovy | ScriptLanguage::Beanshell => Self::groovy(language, source),
            ScriptLanguage::Javascript => Self::javascript(source, kind),
            ScriptLanguage::Jexl => jexl::Expression::parse(source).map(|expression| Self::Jexl(Arc::new(expression))),
        }
    }

    #[cfg(feature = "groovy")]
    fn groovy(language: ScriptLanguage, source: &str) -> Result<Self, String> {
        use brunt_groovy::Dialect;
        let dialect = if language == ScriptLanguage::Groovy { Dialect::Groovy } else { Dialect::BeanShell };
        groovy::Parsed::new(source, dialect).map(Self::Groovy)
    }

    #[cfg(not(feature = "groovy"))]
    fn groovy(language: ScriptLanguage, _: &str) -> Result<Self, String> {
        Err(check_built(language).err().unwrap_or_default())
    }

    #[cfg(feature = "javascript")]
    fn javascript(source: &str, kind: Kind) -> Result<Self, String> {
        let parsed = match kind {
            Kind::Statements => javascript::Parsed::statements(source),
            Kind::Expression => javascript::Parsed::expression(source),
        };
        parsed.map(Self::Javascript)
    }

    #[cfg(not(feature = "javascript"))]
    fn javascript(_: &str, _: Kind) -> Result<Self, String> {
        Err(check_built(ScriptLanguage::Javascript).err().unwrap_or_default())
    }
}

/// Whether this program was built with a language.
///
/// # Errors
///
/// It was not: how to build one that has it.
pub fn check_built(language: ScriptLanguage) -> Result<(), String> {
    let (name, is_built) = match language {
        ScriptLanguage::Groovy => ("Groovy", cfg!(feature = "groovy")),
        ScriptLanguage::Beanshell => ("BeanShell", cfg!(feature = "groovy")),
        ScriptLanguage::Javascript => ("JavaScript", cfg!(feature = "javascript")),
        ScriptLanguage::Jexl => ("JEXL", true),
    };
    let how = "released programs have it, and `cargo build --release -p brunt-cli` builds one";
    if is_built { Ok(()) } else { Err(format!("this brunt was built without {name}; {how}")) }
}

impl ParsedScript {
    /// Parses a script.
    ///
    /// # Errors
    ///
    /// It cannot be read, is in a language that is not known, or names classes that are not.
    pub fn new(script: &Script, source: &str) -> Result<Self, ScriptError> {
        let code = Code::parse(script.language, source, Kind::Statements)
            .map_err(|why| ScriptError::Scenario(format!("script `{}`: {why}", script.name)))?;
        Ok(Self { name: script.name.clone(), code })
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// An exception that nothing caught, or too many operations: one sentence.
    #[cfg_attr(
        not(any(feature = "groovy", feature = "javascript")),
        allow(unused_variables, clippy::needless_pass_by_value)
    )]
    pub fn run(&self, user: &UserContext, view: ScriptView<'_, '_>, parameters: &str) -> Result<ScriptOutcome, String> {
        let result = match &self.code {
            #[cfg(feature = "groovy")]
            Code::Groovy(script) => script.run(user, view, (&self.name, parameters)),
            #[cfg(feature = "javascript")]
            Code::Javascript(script) => {
                let engine = &user.worker.expressions.javascript;
                let ran = engine.run(script, user, view.sample, (&self.name, parameters));
                ran.map(|(outcome, value)| ScriptOutcome { value, ..outcome })
            }
            Code::Jexl(expression) => {
                expression.text(user).map(|value| ScriptOutcome { value, ..ScriptOutcome::default() })
            }
        };
        result.map_err(|error| format!("script `{}`: {error}", self.name))
    }
}

/// The expressions that texts have called, parsed: those of one worker; and its engine.
#[derive(Default)]
pub struct Expressions {
    #[cfg(feature = "javascript")]
    javascript: javascript::Engine,
    parsed: RefCell<HashMap<ScriptLanguage, HashMap<String, Parsed>>>,
}

/// An expression, or why it is none.
type Parsed = Rc<Result<Code, String>>;

/// More different expressions of a language are not kept: their texts change with each use.
const MOST_EXPRESSIONS: usize = 1000;

impl Expressions {
    /// The text of an expression's value; None where that is `null`.
    ///
    /// # Errors
    ///
    /// It cannot be read, throws, or needs too many operations.
    pub fn text(&self, language: ScriptLanguage, source: &str, user: &UserContext) -> Result<Option<String>, String> {
        match &*self.parsed(language, source) {
            #[cfg(feature = "groovy")]
            Ok(Code::Groovy(script)) => script.text(user),
            #[cfg(feature = "javascript")]
            Ok(Code::Javascript(script)) => self.javascript.run(script, user, None, ("", "")).map(|(_, text)| text),
            Ok(Code::Jexl(expression)) => expression.text(user),
            Err(why) => Err(why.clone()),
        }
    }

    /// A script whose source may be another each time.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn script(&self, script: &Script) -> Result<ParsedScript, ScriptError> {
        match &*self.parsed(script.language, &script.source) {
            Ok(code) => Ok(ParsedScript { name: script.name.clone(), code: code.clone() }),
            Err(why) => Err(ScriptError::Scenario(format!("script `{}`: {why}", script.name))),
        }
    }

    fn parsed(&self, language: ScriptLanguage, source: &str) -> Parsed {
        let mut parsed = self.parsed.borrow_mut();
        let known = parsed.entry(language).or_default();
        if let Some(code) = known.get(source) {
            return Rc::clone(code);
        }
        if known.len() == MOST_EXPRESSIONS {
            known.clear();
        }
        let code = Rc::new(Code::parse(language, source, Kind::Expression));
        known.insert(source.to_owned(), Rc::clone(&code));
        code
    }
}

/// The class of a library that a script uses, where nothing but such classes keeps it from being read.
#[cfg(feature = "groovy")]
pub fn foreign_class(language: ScriptLanguage, source: &str) -> Option<String> {
    use brunt_groovy::Dialect;
    match language {
        ScriptLanguage::Groovy => groovy::foreign_class(source, Dialect::Groovy),
        ScriptLanguage::Beanshell => groovy::foreign_class(source, Dialect::BeanShell),
        ScriptLanguage::Javascript | ScriptLanguage::Jexl => None,
    }
}

/// The class of a library that a script uses; without Groovy no script is read.
#[cfg(not(feature = "groovy"))]
pub fn foreign_class(_: ScriptLanguage, _: &str) -> Option<String> {
    None
}

/// Says of an expression why it cannot be read, before it is used.
///
/// # Errors
///
/// Why it cannot be read.
pub fn check_expression(language: ScriptLanguage, source: &str) -> Result<(), String> {
    Code::parse(language, source, Kind::Expression).map(|_| ())
}

#[cfg(feature = "groovy")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user;
    use brunt_wire::{Kept, Prepared, Reply};

    fn script(source: &str) -> Result<ParsedScript, ScriptError> {
        let script = Script {
            name: "s".into(),
            language: ScriptLanguage::Groovy,
            source: source.into(),
            parameters: String::new(),
        };
        ParsedScript::new(&script, source)
    }

    fn run(source: &str, user: &UserContext, body: Option<&str>) -> Result<ScriptOutcome, String> {
        let request = Prepared::default();
        let kept = body.map(|body| Box::new(Kept { body: body.into(), ..Kept::default() }));
        let reply = Reply { status: 200, kept, ..Reply::default() };
        let sample = brunt_model::Sample::default();
        let searched = Searched::new(&request, Some(&reply), &sample, user);
        let view = if body.is_some() { ScriptView::of(&searched, true) } else { ScriptView::default() };
        script(source).unwrap().run(user, view, "")
    }

    #[test]
    fn a_script_reads_and_sets_what_its_user_has() {
        let user = user();
        user.variables.borrow_mut().set("a", "2");
        run("vars.put('b', (vars.get('a').toInteger() * 21).toString()); props.put('p', 'x')", &user, None).unwrap();
        assert_eq!(user.variables.borrow().get("b"), Some("42"));
        assert_eq!(user.worker.commons.property("p").as_deref(), Some("x"));
        let json = r"def all = new groovy.json.JsonSlurper().parseText(prev.getResponseDataAsString())
            vars.put('ids', all.items.collect { it.id }.join(','))";
        run(json, &user, Some(r#"{"items": [{"id": 3}, {"id": 5}]}"#)).unwrap();
        assert_eq!(user.variables.borrow().get("ids"), Some("3,5"));
    }

    #[test]
    fn objects_are_kept_for_further_scripts() {
        let user = user();
        run("vars.putObject('list', [1, 2, 3]); vars.putObject('gone', [1])", &user, None).unwrap();
        run("vars.getObject('list').add(4); vars.remove('gone')", &user, None).unwrap();
        run("vars.put('sum', vars.getObject('list').sum().toString())", &user, None).unwrap();
        assert_eq!(user.variables.borrow().get("sum"), Some("10"));
        run("vars.put('gone', String.valueOf(vars.getObject('gone')))", &user, None).unwrap();
        assert_eq!(user.variables.borrow().get("gone"), Some("null"));
        // A text takes the place of an object.
        run("vars.putObject('list', 'text')", &user, None).unwrap();
        assert_eq!(user.variables.borrow().get("list"), Some("text"));
    }

    #[test]
    fn an_assertion_says_why_it_fails() {
        let user = user();
        let failed =
            "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('no ' + prev.getResponseCode())";
        assert_eq!(run(failed, &user, Some("x")).unwrap().failure.as_deref(), Some("no 200"));
        let turned = "FailureMessage = 'm'; AssertionResult.setFailure(true)";
        assert_eq!(run(turned, &user, Some("x")).unwrap().failure.as_deref(), Some("m"));
        let undone = "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('m'); Failure = false";
        assert_eq!(run(undone, &user, Some("x")).unwrap().failure, None);
        assert_eq!(run("prev.setSuccessful(false)", &user, Some("x")).unwrap().changes.success, Some(false));
        assert_eq!(run("ctx.getEngine().askThreadsToStop()", &user, None).unwrap().stop, Scope::Run);
    }

    #[test]
    fn the_message_is_that_of_the_reply_itself() {
        let (user, request, sample) = (user(), Prepared::default(), brunt_model::Sample::default());
        for (head, message) in [
            ("HTTP/1.1 201 Made It\r\n\r\n", "Made It"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nA: b\r\n\r\n", "Made"),
            ("HTTP/1.1 103 Early Hints\r\nA: HTTP/1.1 201 no\r\n\r\nHTTP/1.1 201 \r\n\r\n", ""),
            ("HTTP/1.1 201\r\n\r\n", ""),
        ] {
            let kept = Some(Box::new(Kept { first_bytes: head.into(), ..Kept::default() }));
            let reply = Reply { status: 201, kept, ..Reply::default() };
            assert_eq!(Searched::new(&request, Some(&reply), &sample, &user).message(), message, "{head}");
        }
    }

    #[test]
    fn classes_of_libraries_that_jmeter_lacks_are_told() {
        let foreign = |source: &str| foreign_class(ScriptLanguage::Groovy, source);
        assert_eq!(foreign("import com.a.B\nnew B()").as_deref(), Some("com.a.B"));
        assert_eq!(foreign("import com.a.B\nimport org.apache.http.C\nnew B(new C())"), None);
        assert_eq!(foreign("new Unknown()"), None);
        assert_eq!(foreign("vars.put('a', 'b')"), None);
        assert_eq!(foreign("def x = ("), None);
    }

    #[test]
    fn what_goes_wrong_is_told() {
        let user = user();
        let told = |source| run(source, &user, None).unwrap_err();
        assert!(
            told("throw new RuntimeException('oh')").contains("script `s`: java.lang.RuntimeException: oh (line 1")
        );
        assert!(told("while (true) {}").contains("script `s`: "));
        assert!(
            told("new File('/etc/passwd').text")
                .contains("scripts read files and directories below the plan's directory")
        );
        assert!(script("def x = (").unwrap_err().to_string().starts_with("script `s`: "));
        run("import com.example.Thing\nvars.put('a', 'b')", &user, None).unwrap();
        assert!(script("import com.example.Thing\nnew Thing()").unwrap_err().to_string().contains("is not known"));
    }
}
