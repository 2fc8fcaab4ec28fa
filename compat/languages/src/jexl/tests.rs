//! What expressions come to; expected values are those of Commons JEXL 3.

use super::*;
use crate::testing::user;
use proptest::prelude::*;

fn value(source: &str) -> Result<Option<String>, String> {
    let user = user();
    user.variables.borrow_mut().set("n", "7");
    user.variables.borrow_mut().set("none", "");
    user.worker.shared_state.set_property("p", Some("q"));
    Expression::parse(source)?.text(&user)
}

#[test]
fn expressions_have_the_values_of_jexl() {
    for (source, expected) in [
        (r#""a" == "a" && "b" != "a""#, "true"),
        ("3 < 5 && 2 ge 3", "false"),
        ("1 + 2 * 3 - 10 / 4 % 2", "7"),
        ("7 / 2", "3"),
        ("7 / 2.0", "3.5"),
        ("7 mod 4 + 8 div 2", "7"),
        ("'10' < '9'", "true"),
        ("'10' < 9", "false"),
        ("'10' == 10", "true"),
        ("'1' + 2", "12"),
        ("'7' * 2", "14"),
        ("1.0 == 1", "true"),
        ("1e7 + 0.0", "1.0E7"),
        ("-3 - -4", "1"),
        ("not true or true", "true"),
        ("!('x' eq 'y') and 'x' ne 'y'", "true"),
        ("'' ?: 'd'", "d"),
        ("'x' ?: 'd'", "x"),
        ("vars.get('missing') ?: 'd'", "d"),
        ("true ? 'a' : false ? 'b' : 'c'", "a"),
        ("'false' == false", "true"),
        ("empty('') && empty(vars.get('missing')) && !empty('a') && empty []", "true"),
        ("size('abc') + size([1, 2])", "5"),
        ("'abc' =~ 'a.c' && 'abc' !~ 'b' && 'b' =~ ['a', 'b']", "true"),
        ("'abc' =^ 'ab' && 'abc' =$ 'bc' && 'abc' !^ 'b' && 'abc' !$ 'b'", "true"),
        ("vars.get(\"n\") > 6 && vars['n'].equals('7')", "true"),
        ("props.get('p').toUpperCase().concat('!').length()", "2"),
        (
            "'Hello'.substring(1, 3) + 'Hello'.indexOf('l') + 'a1b'.replaceAll('[0-9]', '-')",
            "el2a-b",
        ),
        ("ctx.getThreadNum() == 2 && threadName == 'main 1-3'", "true"),
        ("ctx.getThreadGroup().getName()", "main"),
        (r#"'it\'s' == "it's""#, "true"),
        ("[1, 'a']", "[1, a]"),
        ("1;", "1"),
        ("null == vars.get('missing')", "true"),
    ] {
        assert_eq!(value(source), Ok(Some(expected.to_owned())), "{source}");
    }
    assert_eq!(value("vars.get('missing')"), Ok(None));
}

#[test]
fn malformed_expressions_are_reported() {
    for (source, expected) in [
        ("a == 1", "`a` is not known in a JEXL expression; write a text as \"a\""),
        ("1 +", "ends where a value"),
        ("(1", "where `)` is expected"),
        ("x = 1", "`x` is not known"),
        ("'x' = 1", "assignments and statements"),
        ("vars.getObject('x')", "`vars.getObject` is not supported"),
        ("'x'.chars()", "the method `chars` is not supported"),
        ("new('java.util.Random')", "`new` is not known"),
        ("'open", "does not end"),
        ("1 2", "`2` is not expected"),
        ("#", "`#` is not known"),
    ] {
        let told = value(source).unwrap_err();
        assert!(told.contains(expected), "{source}: {told}");
    }
    assert!(value(&"(".repeat(10_000)).unwrap_err().contains("too deeply"));
    assert!(value(&"!".repeat(10_000)).unwrap_err().contains("too deeply"));
    for source in [
        "'x' < 1",
        "null < 1",
        "1 / 0",
        "null + 1",
        "vars.get('missing').length()",
        "'a'.substring(5)",
    ] {
        assert!(value(source).is_err(), "{source}");
    }
}

proptest! {
    #[test]
    fn any_text_is_accepted(source in r#"[a-z0-9 '"()\[\].,+\-*/%!=~^$<>?:&|éß]{0,40}"#) {
        let _ = value(&source);
    }
}
