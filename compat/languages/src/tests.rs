//! What scripts in Groovy do.

use crate::testing::user;
use crate::{LANGUAGES, foreign_class};
use brunt_model::scenario::{EndScope, Script, ScriptLanguage};
use brunt_script::scripting::{ParsedScript, ReplyView, ScriptOutcome, ScriptView, UserContext};
use brunt_script::{BeforeRun, ScriptError};
use brunt_wire::{Prepared, Reply, ReplyDetails};

fn written(source: &str) -> Script {
    Script {
        name: "s".into(),
        language: ScriptLanguage::Groovy,
        source: source.into(),
        parameters: String::new(),
    }
}

fn script(source: &str) -> Result<ParsedScript, ScriptError> {
    ParsedScript::new(LANGUAGES, &written(source))
}

fn run(source: &str, user: &UserContext, body: Option<&str>) -> Result<ScriptOutcome, String> {
    let request = Prepared::default();
    let details =
        body.map(|body| Box::new(ReplyDetails { body: body.into(), ..ReplyDetails::default() }));
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
    let undone =
        "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('m'); Failure = false";
    assert_eq!(run(undone, &user, Some("x")).unwrap().failure, None);
    assert_eq!(
        run("prev.setSuccessful(false)", &user, Some("x")).unwrap().changes.success,
        Some(false)
    );
    assert_eq!(run("ctx.getEngine().askThreadsToStop()", &user, None).unwrap().stop, EndScope::Run);
}

#[test]
fn missing_library_classes_are_reported() {
    let foreign = |source: &str| foreign_class(&written(source));
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

#[test]
fn scripts_are_run_and_parsed_once() {
    let user = user();
    user.variables.borrow_mut().set("a", "x");
    let value = |language, source: &str| {
        let expressions = &user.worker.expressions;
        expressions.text(language, source, &user).map(Option::unwrap_or_default)
    };
    for (language, source, expected) in [
        (ScriptLanguage::Groovy, r#"vars.get("a") == "x""#, "true"),
        (ScriptLanguage::Groovy, "[1, 2].sum()", "3"),
        (ScriptLanguage::Groovy, "vars.get('none')", ""),
        (ScriptLanguage::Groovy, "threadName + ctx.threadNum", "main 1-32"),
        (ScriptLanguage::Beanshell, "7 / 2", "3"),
        (ScriptLanguage::Jexl, r#"vars.get("a") == "x" && 2 < 10"#, "true"),
        (ScriptLanguage::Javascript, "7 / 2", "3.5"),
    ] {
        assert_eq!(value(language, source).as_deref(), Ok(expected), "{source}");
        assert_eq!(value(language, source).as_deref(), Ok(expected), "{source}");
    }
    for source in ["1 +", "throw new Exception('x')", "while (true) {}"] {
        assert!(value(ScriptLanguage::Groovy, source).is_err(), "{source}");
    }
}

/// The values of variables that are filled in in order, by JMeter's rules.
fn filled_in<const N: usize>(variables: [(&str, &str); N]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
    let properties = [owned(("brunt.plan.file", "p.jmx"))];
    let folders = vec![folder.path().to_owned()];
    let before = BeforeRun::new(LANGUAGES, &variables.map(owned), &properties, folders, 1);
    let base = folder.path().canonicalize().expect("a path").display().to_string();
    let values = variables.iter().map(|(name, _)| before.text(&format!("${{{name}}}")));
    values.map(|value| value.replace(&base, "BASE")).collect()
}

#[test]
fn functions_call_scripts() {
    let file = "import org.apache.jmeter.services.FileServer; def f = FileServer.getFileServer(); f.baseDir + ' ' + f.scriptName";
    let file = format!("${{__groovy({file})}}");
    let values = filled_in([
        ("a", "x"),
        ("b", r#"${__groovy("${__V(a)}${__V(a)}".length() + 1,n)}${__V(n)}"#),
        ("c", "<${__groovy(1 +)}${__groovy(throw new Exception('x'))}>"),
        ("d", "${__BeanShell(7 / 2)} ${__BeanShell(vars.put(\"z\"\\,\"1\");)}${__V(z)}"),
        ("e", r#"${__jexl3("${__V(a)}" == "x" && 2 < 10,j)} ${__V(j)} ${__jexl2(none)}"#),
        ("f", &file),
    ]);
    assert_eq!(values, ["x", "33", "<>", "3 1", "true true ", "BASE p.jmx"]);
}
