//! What scripts in JavaScript do.

use super::*;
use crate::testing::user;
use crate::texts::script::{Languages, ParsedScript};
use brunt_model::scenario::{EndScope, Script, ScriptLanguage};
use brunt_wire::{Framing, Prepared, Reply, ReplyDetails, ReplyHead};

fn parsed(source: &str) -> Result<ParsedScript, String> {
    let script = Script {
        name: "s".into(),
        language: ScriptLanguage::Javascript,
        source: source.into(),
        parameters: String::new(),
    };
    ParsedScript::new(Languages::CORE, &script).map_err(|error| error.to_string())
}

fn run(source: &str, user: &UserContext, body: Option<&str>) -> Result<ScriptOutcome, String> {
    let request = Prepared::default();
    let fields = vec![("Content-Type".to_owned(), "text/plain".to_owned())];
    let head = ReplyHead {
        status: 200,
        version: brunt_model::plan::HttpVersion::V1_1,
        framing: Framing::None,
        keep_alive: true,
        length: 0,
        encoded: false,
    };
    let kept = body.map(|body| {
        Box::new(ReplyDetails {
            body: body.into(),
            head: Some((head, fields)),
            ..ReplyDetails::default()
        })
    });
    let reply = Reply { status: 200, details: kept, ..Reply::default() };
    let sample = brunt_model::Sample::default();
    let reply_view = ReplyView::new(&request, Some(&reply), &sample, user);
    let view = if body.is_some() {
        ScriptView::of_sample(&reply_view, true)
    } else {
        ScriptView::default()
    };
    parsed(source)?.run(user, view, "x y")
}

fn value(source: &str, user: &UserContext) -> Result<Option<String>, String> {
    user.worker.expressions.text(ScriptLanguage::Javascript, source, user)
}

#[test]
fn native_loops_are_interrupted() {
    let user = user();
    for source in [
        "new Array(4294967295).join('')",
        "String(new Array(4294967295))",
        "new Array(4294967295).reverse()",
        "try { new Array(4294967295).join('') } catch (e) { new Array(4294967295).fill(1) }",
        "while (true) { try { new Array(4294967295).join('') } catch (e) {} }",
        "Array.from({length: 4294967295}, () => 1)",
        "Array.prototype.splice.call({length: 2 ** 53 - 2}, 0, 1)",
        "[].concat({length: 4294967295, [Symbol.isConcatSpreadable]: true})",
        "let a = []; for (let i = 0; i < 60; i++) a = [a, a]; a.flat(Infinity)",
        "let a = []; for (let i = 0; i < 60; i++) a = [a, a]; a.join('')",
        "for (;;) ('a'.repeat(2e7)).indexOf('a'.repeat(1e7) + 'b')",
        "for (;;) new Uint8Array(3e7).sort()",
        "/^(a+)+$/.test('a'.repeat(200000) + '!')",
    ] {
        let error = value(source, &user).unwrap_err();
        let is_limited =
            ["used up its operations", "InternalError", "interrupted", "Maximum call stack"];
        assert!(is_limited.iter().any(|limit| error.contains(limit)), "{source}: {error}");
    }
    let plain =
        "[[3, [1]], 2].flat().length + [3, 1, 2].sort().join() + [1, , 2].concat([3]).length + 'a,b'.split(',').length
        + [1, 2].map.length + Object.keys([1].flat()).length + 'aXa'.replaceAll('a', 'b') + [1, [2]]";
    assert_eq!(value(plain, &user).unwrap().as_deref(), Some("31,2,34211bXb1,2"));
    let queue = "const q = Array.from({length: 5000}, (_, i) => i); let s = 0; while (q.length) s += q.shift(); s";
    assert_eq!(value(queue, &user).unwrap().as_deref(), Some("12497500"));
}

#[test]
fn a_script_reads_and_sets_variables_of_its_user() {
    let user = user();
    user.variables.borrow_mut().set("a", "2");
    run(
        "vars.put('b', Number(vars.get('a')) * 21); props.put('p', 'x'); vars.put('none', vars.get('q') === null)",
        &user,
        None,
    )
    .unwrap();
    assert_eq!(user.variables.borrow().get("b"), Some("42"));
    assert_eq!(user.variables.borrow().get("none"), Some("true"));
    assert_eq!(user.worker.shared_state.property("p").as_deref(), Some("x"));
    let reply = "const {items} = JSON.parse(prev.body);
        vars.put('ids', items.map(({id}) => id).join() + prev.status + prev.header('content-type') + args.length + Label);
        vars.remove('b')";
    run(reply, &user, Some(r#"{"items": [{"id": 3}, {"id": 5}]}"#)).unwrap();
    assert_eq!(user.variables.borrow().get("ids"), Some("3,5200text/plain2s"));
    assert_eq!(user.variables.borrow().get("b"), None);
}

#[test]
fn common_java_classes_are_available() {
    let user = user();
    let source = "var id = String(java.util.UUID.randomUUID()), now = java.lang.System.currentTimeMillis();
        vars.put('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id));
        vars.put('time', now === Date.now() || now + 1000 > Date.now());
        vars.put('sum', java.lang.Integer.parseInt('20') + java.lang.Double.parseDouble(' 1.5 '));
        vars.put('ok', prev.isResponseCodeOK() + ' ' + prev.getURL());
        print('a', 1); OUT.println('b')";
    run(source, &user, Some("")).unwrap();
    let variable = |name: &str| user.variables.borrow().get(name).map(str::to_owned);
    assert_eq!(variable("uuid").as_deref(), Some("true"));
    assert_eq!(variable("time").as_deref(), Some("true"));
    assert_eq!(variable("sum").as_deref(), Some("21.5"));
    assert!(variable("ok").is_some_and(|ok| ok.starts_with("true ")));
    let wrong = run("java.lang.Integer.parseInt('2x')", &user, None).unwrap_err();
    assert!(wrong.contains("For input string: \"2x\""), "{wrong}");
}

#[test]
fn a_check_reports_its_failure_message() {
    let user = user();
    let failed = "if (!prev.body.includes('y')) fail('no y in ' + prev.getResponseDataAsString())";
    assert_eq!(run(failed, &user, Some("x")).unwrap().failure.as_deref(), Some("no y in x"));
    assert_eq!(run(failed, &user, Some("y")).unwrap().failure, None);
    let jmeter = "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('m')";
    assert_eq!(run(jmeter, &user, Some("x")).unwrap().failure.as_deref(), Some("m"));
    let turned = "AssertionResult.setFailureMessage('m'); AssertionResult.setFailure(true)";
    assert_eq!(run(turned, &user, Some("x")).unwrap().failure.as_deref(), Some("m"));
    assert_eq!(
        run("AssertionResult.setFailureMessage('m')", &user, Some("x")).unwrap().failure,
        None
    );
    assert_eq!(
        run("prev.setSuccessful(false)", &user, Some("x")).unwrap().changes.success,
        Some(false)
    );
    assert_eq!(run("stop('run')", &user, None).unwrap().stop, EndScope::Run);
}

#[test]
fn expressions_have_the_value_of_their_last_statement() {
    let user = user();
    for (source, expected) in [
        ("1 + 1", Some("2")),
        ("'a'.toUpperCase()", Some("A")),
        ("var x = 2; if (x > 1) { x * 3 } else { 0 }", Some("6")),
        ("null", None),
        ("vars.get('none')", None),
        ("({a: [1, 2]}).a.join('-')", Some("1-2")),
        ("new Date().toISOString()", Some("2026-05-28T20:26:40.123Z")),
        ("Date.now() === new Date().getTime() && new Date(0).getTime() === 0", Some("true")),
        (
            "typeof require + typeof std + typeof fetch + typeof performance",
            Some("undefinedundefinedundefinedundefined"),
        ),
        ("const r = Math.random(); r >= 0 && r < 1", Some("true")),
    ] {
        assert_eq!(value(source, &user).unwrap().as_deref(), expected, "{source}");
    }
}

#[test]
fn script_errors_are_reported() {
    let user = user();
    let told = |source| run(source, &user, None).unwrap_err();
    assert_eq!(
        told("\nnull.x"),
        "script `s`: TypeError: cannot read property 'x' of null (line 2 of the script)"
    );
    assert_eq!(told("throw 'oh'"), "script `s`: oh");
    assert!(parsed("let x = ;").unwrap_err().starts_with("script `s`: SyntaxError: "));
    assert!(told("for (;;) {}").contains("used up its operations"));
    assert!(told("const f = () => f(); f()").contains("stack"));
    assert!(told("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)").contains("memory"));
    assert!(
        told("const again = () => Promise.resolve().then(again); again()").contains("promises")
    );
    run("vars.put('after', 1)", &user, None).unwrap();
    assert_eq!(user.variables.borrow().get("after"), Some("1"));
}

#[test]
fn declarations_are_local_to_a_script() {
    let user = user();
    run("leaked = 1; globalThis.other = 2; var mine = 3; let too = 4", &user, None).unwrap();
    assert_eq!(
        value("typeof leaked + typeof other + typeof mine + typeof too", &user).unwrap().as_deref(),
        Some("undefinedundefinedundefinedundefined")
    );
}
