//! Implements the languages of scripts, and compiles plans with them.
//!
//! A script has a limited number of operations. It reaches files below the folder of its plan, but
//! neither processes nor the network. Its time is time of the user: a request after it begins
//! later, and this is lag of that request.
//!
//! * `groovy`: Groovy and `BeanShell`. `javascript`: JavaScript. `jexl`: expressions of JEXL.

#[cfg(feature = "groovy")]
mod groovy;
#[cfg(feature = "javascript")]
mod javascript;
mod jexl;

use crate::ScriptError;
use crate::program::user::CompiledScript;
use crate::texts::before_run::BeforeRun;
use crate::texts::script::{Languages, ScriptCode, SourceKind};
use brunt_model::Plan;
use brunt_model::scenario::ScriptLanguage;
use std::path::PathBuf;
use std::sync::Arc;

/// The languages that this program was built with.
pub static LANGUAGES: &dyn Languages = &BuiltLanguages;

#[derive(Debug)]
struct BuiltLanguages;

impl Languages for BuiltLanguages {
    fn check_built(&self, language: ScriptLanguage) -> Result<(), String> {
        let (name, is_built) = match language {
            ScriptLanguage::Groovy => ("Groovy", cfg!(feature = "groovy")),
            ScriptLanguage::Beanshell => ("BeanShell", cfg!(feature = "groovy")),
            ScriptLanguage::Javascript => ("JavaScript", cfg!(feature = "javascript")),
            ScriptLanguage::Jexl => ("JEXL", true),
        };
        let how = "released programs have it, and `cargo build --release -p brunt-cli` builds one";
        if is_built { Ok(()) } else { Err(format!("this brunt was built without {name}; {how}")) }
    }

    fn parse(
        &self,
        language: ScriptLanguage,
        source: &str,
        kind: SourceKind,
    ) -> Result<Arc<dyn ScriptCode>, String> {
        self.check_built(language)?;
        match language {
            ScriptLanguage::Groovy | ScriptLanguage::Beanshell => groovy(language, source),
            ScriptLanguage::Javascript => javascript(source, kind),
            ScriptLanguage::Jexl => Ok(Arc::new(jexl::Expression::parse(source)?)),
        }
    }
}

#[cfg(feature = "groovy")]
fn groovy(language: ScriptLanguage, source: &str) -> Result<Arc<dyn ScriptCode>, String> {
    use brunt_groovy::Dialect;
    let dialect =
        if language == ScriptLanguage::Groovy { Dialect::Groovy } else { Dialect::BeanShell };
    Ok(Arc::new(groovy::GroovyScript::new(source, dialect)?))
}

#[cfg(not(feature = "groovy"))]
fn groovy(_: ScriptLanguage, _: &str) -> Result<Arc<dyn ScriptCode>, String> {
    // Not reached: `check_built` refuses the language first.
    Err("there is no Groovy".into())
}

#[cfg(feature = "javascript")]
fn javascript(source: &str, kind: SourceKind) -> Result<Arc<dyn ScriptCode>, String> {
    Ok(Arc::new(match kind {
        SourceKind::Statements => javascript::JavaScriptScript::statements(source)?,
        SourceKind::Expression => javascript::JavaScriptScript::expression(source)?,
    }))
}

#[cfg(not(feature = "javascript"))]
fn javascript(_: &str, _: SourceKind) -> Result<Arc<dyn ScriptCode>, String> {
    // Not reached: `check_built` refuses the language first.
    Err("there is no JavaScript".into())
}

impl CompiledScript {
    /// Compiles the scenarios of all populations of a plan, in order.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if a scenario makes no sense, a placeholder is malformed, or a file cannot be read.
    pub fn all(plan: &Plan) -> Result<Vec<Arc<Self>>, ScriptError> {
        Self::all_with(plan, LANGUAGES)
    }
}

impl BeforeRun {
    /// Fills in the variables in order. Functions read files in `folders`; `seed` is the
    /// seed of random values.
    pub fn new(
        variables: &[(String, String)],
        properties: &[(String, String)],
        folders: Vec<PathBuf>,
        seed: u64,
    ) -> Self {
        Self::with_languages(LANGUAGES, variables, properties, folders, seed)
    }
}

/// Verdict of a script on an assertion; the message may be set before the failure.
#[cfg(any(feature = "groovy", feature = "javascript"))]
#[derive(Debug, Default)]
struct ScriptVerdict {
    failed: bool,
    message: String,
}

#[cfg(any(feature = "groovy", feature = "javascript"))]
impl ScriptVerdict {
    /// Returns the reason of the failure; None if the assertion holds.
    fn failure(self) -> Option<String> {
        self.failed.then_some(self.message)
    }
}

/// Returns a class of a third-party library that the script uses, if only such classes keep
/// it from being parsed.
#[cfg(feature = "groovy")]
pub fn foreign_class(language: ScriptLanguage, source: &str) -> Option<String> {
    use brunt_groovy::Dialect;
    match language {
        ScriptLanguage::Groovy => groovy::foreign_class(source, Dialect::Groovy),
        ScriptLanguage::Beanshell => groovy::foreign_class(source, Dialect::BeanShell),
        ScriptLanguage::Javascript | ScriptLanguage::Jexl => None,
    }
}

/// Returns None: without Groovy no script is parsed.
#[cfg(not(feature = "groovy"))]
pub fn foreign_class(_: ScriptLanguage, _: &str) -> Option<String> {
    None
}

#[cfg(feature = "groovy")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScriptError;
    use crate::testing::user;
    use crate::texts::context::UserContext;
    use crate::texts::reply_view::ReplyView;
    use crate::texts::script::{ParsedScript, ScriptOutcome, ScriptView};
    use brunt_model::scenario::{EndScope, Script};
    use brunt_wire::{Prepared, Reply, ReplyDetails};

    fn script(source: &str) -> Result<ParsedScript, ScriptError> {
        let script = Script {
            name: "s".into(),
            language: ScriptLanguage::Groovy,
            source: source.into(),
            parameters: String::new(),
        };
        ParsedScript::new(LANGUAGES, &script)
    }

    fn run(source: &str, user: &UserContext, body: Option<&str>) -> Result<ScriptOutcome, String> {
        let request = Prepared::default();
        let details = body
            .map(|body| Box::new(ReplyDetails { body: body.into(), ..ReplyDetails::default() }));
        let reply = Reply { status: 200, details, ..Reply::default() };
        let sample = brunt_model::Sample::default();
        let reply_view = ReplyView::new(&request, Some(&reply), &sample, user);
        let view = if body.is_some() {
            ScriptView::of_sample(&reply_view, true)
        } else {
            ScriptView::default()
        };
        script(source).unwrap().run(user, view, "")
    }

    #[test]
    fn a_script_reads_and_sets_variables_of_its_user() {
        let user = user();
        user.variables.borrow_mut().set("a", "2");
        run(
            "vars.put('b', (vars.get('a').toInteger() * 21).toString()); props.put('p', 'x')",
            &user,
            None,
        )
        .unwrap();
        assert_eq!(user.variables.borrow().get("b"), Some("42"));
        assert_eq!(user.worker.shared_state.property("p").as_deref(), Some("x"));
        let json = r"def all = new groovy.json.JsonSlurper().parseText(prev.getResponseDataAsString())
            vars.put('ids', all.items.collect { it.id }.join(','))";
        run(json, &user, Some(r#"{"items": [{"id": 3}, {"id": 5}]}"#)).unwrap();
        assert_eq!(user.variables.borrow().get("ids"), Some("3,5"));
    }

    #[test]
    fn objects_are_available_to_later_scripts() {
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
    fn an_assertion_reports_its_failure_message() {
        let user = user();
        let failed = "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('no ' + prev.getResponseCode())";
        assert_eq!(run(failed, &user, Some("x")).unwrap().failure.as_deref(), Some("no 200"));
        let turned = "FailureMessage = 'm'; AssertionResult.setFailure(true)";
        assert_eq!(run(turned, &user, Some("x")).unwrap().failure.as_deref(), Some("m"));
        let undone = "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('m'); Failure = false";
        assert_eq!(run(undone, &user, Some("x")).unwrap().failure, None);
        assert_eq!(
            run("prev.setSuccessful(false)", &user, Some("x")).unwrap().changes.success,
            Some(false)
        );
        assert_eq!(
            run("ctx.getEngine().askThreadsToStop()", &user, None).unwrap().stop,
            EndScope::Run
        );
    }

    #[test]
    fn the_message_is_that_of_the_reply() {
        let (user, request, sample) = (user(), Prepared::default(), brunt_model::Sample::default());
        for (head, message) in [
            ("HTTP/1.1 201 Made It\r\n\r\n", "Made It"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nA: b\r\n\r\n", "Made"),
            ("HTTP/1.1 103 Early Hints\r\nA: HTTP/1.1 201 no\r\n\r\nHTTP/1.1 201 \r\n\r\n", ""),
            ("HTTP/1.1 201\r\n\r\n", ""),
        ] {
            let details = Some(Box::new(ReplyDetails {
                first_bytes: head.into(),
                ..ReplyDetails::default()
            }));
            let reply = Reply { status: 201, details, ..Reply::default() };
            assert_eq!(
                ReplyView::new(&request, Some(&reply), &sample, &user).message(),
                message,
                "{head}"
            );
        }
    }

    #[test]
    fn missing_library_classes_are_reported() {
        let foreign = |source: &str| foreign_class(ScriptLanguage::Groovy, source);
        assert_eq!(foreign("import com.a.B\nnew B()").as_deref(), Some("com.a.B"));
        assert_eq!(foreign("import com.a.B\nimport org.apache.http.C\nnew B(new C())"), None);
        assert_eq!(foreign("new Unknown()"), None);
        assert_eq!(foreign("vars.put('a', 'b')"), None);
        assert_eq!(foreign("def x = ("), None);
    }

    #[test]
    fn script_errors_are_reported() {
        let user = user();
        let told = |source| run(source, &user, None).unwrap_err();
        assert!(
            told("throw new RuntimeException('oh')")
                .contains("script `s`: java.lang.RuntimeException: oh (line 1")
        );
        assert!(told("while (true) {}").contains("script `s`: "));
        assert!(
            told("new File('/etc/passwd').text")
                .contains("scripts read files and directories below the plan's directory")
        );
        assert!(script("def x = (").unwrap_err().to_string().starts_with("script `s`: "));
        run("import com.example.Thing\nvars.put('a', 'b')", &user, None).unwrap();
        assert!(
            script("import com.example.Thing\nnew Thing()")
                .unwrap_err()
                .to_string()
                .contains("is not known")
        );
    }
}
