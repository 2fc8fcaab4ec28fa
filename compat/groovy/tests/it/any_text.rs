//! No text makes the parser or the interpreter panic, hang or overflow its stack.

use crate::common::TestHost;
use brunt_groovy::{Budget, Dialect, RunError, Script};
use proptest::prelude::*;

/// Parses and runs a text with a small budget.
fn survive(source: &str) {
    for dialect in [Dialect::Groovy, Dialect::BeanShell] {
        if let Ok(script) = Script::parse(source, dialect) {
            let _ = script.run(&mut TestHost::default(), &mut Budget::new(20_000, 4 << 20));
            let _ = script.unsupported();
        }
    }
}

/// Words of scripts, so that more than the first word is read.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "def",
        "x",
        "y",
        "=",
        "1",
        "2.5",
        "'a'",
        "\"b${x}\"",
        "/r+/",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "->",
        ",",
        ":",
        ";",
        "\n",
        ".",
        "?.",
        "*.",
        "?:",
        "?",
        "+",
        "-",
        "*",
        "/",
        "%",
        "**",
        "<<",
        ">>",
        "==",
        "=~",
        "==~",
        "<=>",
        "in",
        "as",
        "int",
        "String",
        "if",
        "else",
        "for",
        "while",
        "switch",
        "case",
        "return",
        "new",
        "ArrayList",
        "each",
        "collect",
        "it",
        "vars",
        "prev",
        "size",
        "()",
        "[:]",
        "1..5",
        "!",
        "~",
        "++",
        "--",
        "+=",
        "instanceof",
        "try",
        "catch",
        "finally",
        "throw",
        "class",
        "A",
        "import",
        "java.util.Date",
        "null",
        "true",
        "this",
        "$",
        "@",
        "\\",
        "'",
        "\"",
        "format",
        "sort",
        "replaceAll",
        "get",
        "put",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_ends_without_panic(source in ".{0,200}") {
        survive(&source);
    }

    #[test]
    fn any_words_end_without_panic(source in words()) {
        survive(&source);
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("if (1) {", "}"),
        ("-", ""),
        ("!", ""),
        ("(int) ", ""),
        ("x = ", ""),
        ("{ -> ", "}"),
        ("a ? b : ", ""),
        ("new A(", ")"),
        ("f(", ")"),
        ("\"${", "}\""),
        ("switch (1) { case 1:", "}"),
        ("if (1) x else ", ""),
        ("2 ** ", ""),
        ("a ?: ", ""),
        ("a: ", ""),
        ("List<", ">"),
        ("for (;;) ", ";"),
        ("class A {", "}"),
    ] {
        let source = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
        survive(&source);
    }
    for part in [
        " + 1",
        ".a",
        "[0]",
        "()",
        " && 1",
        " as int",
        " ? 1 : 2",
        " instanceof A",
        "++",
        " in x",
        " {}",
        ".with {}",
    ] {
        survive(&format!("def a = 1; a{}", part.repeat(20_000)));
    }
}

#[test]
fn endless_programs_end() {
    for source in [
        "while (true) {}",
        "def s = 'x'; while (true) s += s",
        "def f; f = { f() }; f()",
        "def f(n) { f(n + 1) }\nf(0)",
        "def l = []; while (true) l << l.clone()",
        "def l = []; for (i in 1..1000000) { l = [l] }; l.toString()",
        "def l = []; l << l; l.toString()",
        "def l = []; l << l; l == [l]",
        "'x' * 2000000000",
        "(1..2000000000).toList()",
        "new byte[2000000000]",
        "2G ** 1000000000",
        "1G << 1000000000",
        "def x = 2G; while (true) x = x * x",
        "def x = 1.1; while (true) x = x * x",
        "String.format('%2000000000d', 1)",
        "'a'.padLeft(2000000000)",
        "('a' * 40) ==~ /(a|aa)+b\\1?/",
        "[1, 2, 3].each { while (true) {} }",
        "def m = [:]; m.a = m; m.toString()",
        "def e = 'x'; 40.times { e = e.replaceAll('x', 'xx') }",
        "Collections.nCopies(2000000000, 1)",
        "class A { A() { new A() } }\nnew A()",
        "try { while (true) {} } catch (Throwable t) { while (true) {} }",
        "for (;;) { try { continue } finally { } }",
        "1.step(5, 0) { }",
        "1000000000.times { }",
        "evaluate('while (true) {}')",
        "new Random().ints(2000000000)",
        "def c = { it }; 100000.times { def d = c; c = { d(it) } }; c(1)",
        "(('a' * 200000) =~ /(?>\\w+)(?=!)/).find()",
        "def l = [3, 1, 2] * 1000; l.sort { a, b -> 1 }; while (true) l.sort()",
    ] {
        let script = Script::parse(source, Dialect::Groovy).expect(source);
        let result = script.run(&mut TestHost::default(), &mut Budget::new(3_000_000, 64 << 20));
        match result {
            Err(RunError::Budget { .. } | RunError::Thrown { .. }) | Ok(_) => {}
        }
    }
    let endless = Script::parse("while (true) {}", Dialect::Groovy).expect("it parses");
    let error = endless
        .run(&mut TestHost::default(), &mut Budget::new(1_000, 1_000))
        .expect_err("it never ends");
    assert!(matches!(error, RunError::Budget { .. }), "{error}");
}
