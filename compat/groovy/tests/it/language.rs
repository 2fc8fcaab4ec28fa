//! The language: what programs mean.

use crate::common::{TestHost, beanshell, groovy, run_in, thrown};
use brunt_groovy::Dialect;

/// Checks scripts against what Groovy gives for them.
fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(groovy(source), *expected, "{source}");
    }
}

#[test]
fn constructors_of_parents_and_shifts() {
    for (source, expected) in [
        (
            "class A { def x; A(x) { this.x = x } }; class B extends A { B(y) { super(y + 1) } }; new B(4).x",
            "5",
        ),
        ("class A { def x; A() { this(7) }; A(x) { this.x = x } }; new A().x", "7"),
        (
            "class E extends RuntimeException { E(m) { super('no ' + m) } }; try { throw new E('x') } catch (E e) { e.message }",
            "no x",
        ),
        (
            "enum C { R, G; C next() { values()[(ordinal() + 1) % values().size()] } }; C.R.next().toString()",
            "G",
        ),
        ("class T { int a }; new T(a: 1).toString().startsWith('T@')", "true"),
        ("(20 >> 2) + (-1 >>> 28) + ({ it * 2 } >> { it + 1 })(3)", "27"),
        ("def f(... all) { all.size() }; f(1, 2, 3)", "3"),
    ] {
        assert_eq!(groovy(source), expected, "{source}");
    }
}

#[test]
fn numbers_behave_like_groovy() {
    check(&[
        ("1 + 2", "3"),
        ("7 / 2", "3.5"),
        ("10 / 5", "2"),
        ("1 / 3", "0.3333333333"),
        (
            "[7.0 / 3, 22 / 7.00, 1234567890123 / 7]",
            "[2.3333333333, 3.1428571429, 176366841446.1428571429]",
        ),
        (
            "[1 / 998001, 5 / 9.123456789012, (99.99 / 3.3) + (12.5 / 0.7)]",
            "[0.0000010020, 0.548037889106, 48.1571428571]",
        ),
        ("[1 / 1024, 6 / 2.0, 100 / 0.5, 0.0 / 7]", "[0.0009765625, 3, 2.0E+2, 0.0]"),
        ("7.intdiv(2)", "3"),
        ("7 % 3", "1"),
        ("2 ** 10", "1024"),
        ("2147483647 + 1", "-2147483648"),
        ("2147483647L + 1", "2147483648"),
        ("1.5 + 2", "3.5"),
        ("0.1 + 0.2", "0.3"),
        ("0.1d + 0.2d", "0.30000000000000004"),
        ("1e3", "1E+3"),
        ("100000000.0d", "1.0E8"),
        ("0xff + 0b11 + 1_000", "1258"),
        ("1 << 4 | 1", "17"),
        ("-7 >>> 28", "15"),
        ("~5", "-6"),
        ("(int) 3.9", "3"),
        ("(5 / 2) as int", "2"),
        ("(char) 65", "A"),
        ("10G ** 30", "1000000000000000000000000000000"),
        ("3 <=> 4", "-1"),
        ("1 == 1L && 1 == 1.0", "true"),
        ("5.0 * 2", "10.0"),
        ("int x = 7 / 2; x", "3"),
        ("long t = 5; t += 3; t.class.simpleName", "Long"),
        ("def x = 5; x++ + ++x", "12"),
        ("Math.round(2.5d) + Math.max(1, 2)", "5"),
    ]);
}

#[test]
fn strings_behave_like_groovy() {
    check(&[
        ("def n = 'x'; \"a${n}b$n.class.simpleName\"", "axbString"),
        ("'a' + 1 + 2", "a12"),
        ("1 + 2 + 'a'", "3a"),
        ("'ab' * 3", "ababab"),
        ("'hello'[1]", "e"),
        ("'hello'[-3..-1]", "llo"),
        ("'hello' - 'l'", "helo"),
        ("'''a\nb'''.readLines().size()", "2"),
        ("/a\\d+/", "a\\d+"),
        ("'a,b,,'.split(',').length", "2"),
        ("'a b  c'.tokenize().size()", "3"),
        ("'x'.padLeft(3, '0')", "00x"),
        (
            "String.format('%05d|%-5s|%.2f|%x|%,d', 42, 'a', 1.005d, 255, 1234567)",
            "00042|a    |1.01|ff|1,234,567",
        ),
        ("'aXbX'.replaceAll(/X(.?)/, '-$1')", "a-b-"),
        ("'abc'.collect { it.toUpperCase() }.join('')", "ABC"),
        ("\"${1 + 1}${-> 3}\"", "23"),
        ("'a\\tb\\u0041'", "a\tbA"),
        ("\"\\${x}\"", "${x}"),
        ("'abc'.contains('b') && 'abc' =~ /b/ ? 'y' : 'n'", "y"),
        ("def m = 'k=v; x=y' =~ /(\\w)=(\\w)/; m[1][2] + m.count", "y2"),
        ("'2024-01-02' ==~ /\\d{4}-\\d\\d-\\d\\d/", "true"),
        ("'abc'.md5()", "900150983cd24fb0d6963f7d28e17f72"),
        ("'hi'.bytes.encodeBase64().toString()", "aGk="),
        ("new String('aGk='.decodeBase64())", "hi"),
    ]);
}

#[test]
fn collections_behave_like_groovy() {
    check(&[
        ("[1, 2, 3].collect { it * 2 }", "[2, 4, 6]"),
        ("[3, 1, 2].sort().join('-')", "1-2-3"),
        ("[a: 1, 'b c': 2]", "{a=1, b c=2}"),
        ("def m = [a: 1]; m.b = 2; m['c'] = 3; \"$m\"", "[a:1, b:2, c:3]"),
        ("[1, [2, [3]]].flatten()", "[1, 2, 3]"),
        ("(1..5).findAll { it % 2 }.sum()", "9"),
        ("(1..<4).inject(0) { a, b -> a + b }", "6"),
        ("[1, 2, 3, 4].groupBy { it % 2 }", "{1=[1, 3], 0=[2, 4]}"),
        ("['x', 'y'].withIndex().collect { v, i -> v + i }", "[x0, y1]"),
        ("def (a, b) = [1, 2]; a + b", "3"),
        ("[1, 2, 3][-1] + [1, 2, 3][0..1].sum()", "6"),
        ("[[n: 1], [n: 2]]*.n", "[1, 2]"),
        ("[[n: 1], [n: 2]].n.sum()", "3"),
        ("[1, 2, 2, 3].unique().size()", "3"),
        ("[b: 2, a: 1].sort { it.value }.keySet().first()", "a"),
        ("[a: 1, b: 2].collect { k, v -> \"$k$v\" }.join(',')", "a1,b2"),
        ("[a: 1, b: 2].findAll { it.value > 1 }", "{b=2}"),
        ("def l = []; l << 1 << 2; l += 3; l", "[1, 2, 3]"),
        ("[1, 2, 3] - [2]", "[1, 3]"),
        ("def s = [] as Set; s << 1; s << 1; s.size()", "1"),
        ("[5, 3].max() + [5, 3].min()", "8"),
        ("['b', 'a'].sort { x, y -> x <=> y }", "[a, b]"),
        ("[1, 2, 3].any { it > 2 } && [1, 2].every { it > 0 }", "true"),
        ("def x = [1, 2, 3]; x.remove(0); x", "[2, 3]"),
        ("[*[1, 2], 3]", "[1, 2, 3]"),
        ("['a', 'b'].collectEntries { [it, it * 2] }", "{a=aa, b=bb}"),
        ("(1..3).each { }.size()", "3"),
        ("new int[3].length + [1, 2].size()", "5"),
        ("String[] a = ['x', 'y']; a.length", "2"),
    ]);
}

#[test]
fn control_flow_behaves_like_groovy() {
    check(&[
        ("def s = 0; for (i in 1..3) { if (i == 2) continue; s += i }; s", "4"),
        ("def s = ''; for (int i = 0; i < 3; i++) s += i; s", "012"),
        ("int i = 0\nwhile (true) {\n i++\n if (i > 4) break\n}\ni", "5"),
        (
            "def r\nswitch (5) {\n case 1..3: r = 'low'; break\n case [4, 5]: r = 'five'; break\n default: r = 'x'\n}\nr",
            "five",
        ),
        ("switch ('abc') { case ~/a.*/: return 'm'; default: return 'n' }", "m"),
        (
            "try { throw new RuntimeException('x') } catch (IllegalStateException | RuntimeException e) { e.message } finally { }",
            "x",
        ),
        ("try { null.foo() } catch (e) { e.class.simpleName }", "NullPointerException"),
        ("def x = null; x?.foo?.bar ?: 'none'", "none"),
        ("def f = { a, b = 2 -> a + b }; f(1) + f(1, 1)", "5"),
        ("def fact\nfact = { n -> n < 2 ? 1 : n * fact(n - 1) }\nfact(10)", "3628800"),
        ("def counter = 0; 3.times { counter += it }; counter", "3"),
        ("if (1) 'a' else 'b'", "a"),
        (
            "outer: for (a in 1..3) { for (b in 1..3) { if (b == 2) continue outer; if (a == 3) break outer } }; 'done'",
            "done",
        ),
        ("def x = 5\ndo { x-- } while (x > 0)\nx", "0"),
        ("5 instanceof Integer && !('a' instanceof Number)", "true"),
        ("3 in [1, 2, 3]", "true"),
        ("def l = { -> 7 }; l() + l.call()", "14"),
        ("'abc'.with { toUpperCase() + length() }", "ABC3"),
        ("def x = 1\nx ?= 5\nx", "1"),
        ("Math.random() < 1 as boolean", "true"),
    ]);
}

#[test]
fn methods_and_classes_work() {
    check(&[
        (
            "new Foo(2).twice() }\nclass Foo { int n; Foo(int n) { this.n = n }\n def twice() { n * 2 } ",
            "4",
        ),
        ("new P(name: 'x', age: 3).name }\nclass P { String name; int age ", "x"),
        ("add(1) + add(1, 5) }\ndef add(a, b = 2) { return a + b ", "9"),
        (
            "K.inc(); K.inc(); K.count }\nclass K { static int count = 0; static void inc() { count++ } ",
            "2",
        ),
        ("E.B.name() + E.values().length }\nenum E { A, B ", "B2"),
    ]);
}

#[test]
fn beanshell_is_java() {
    for (source, expected) in [
        ("int x = 7; return x / 2;", "3"),
        ("return 1 / 2.0;", "0.5"),
        ("char c = 'a'; return c + 1;", "98"),
        ("String s = \"${x}\"; return s;", "${x}"),
        ("int[] a = {1, 2, 3}; int s = 0; for (int i : a) { s += i; } return s;", "6"),
        (
            "StringBuilder b = new StringBuilder(); b.append(\"a\").append(1); return b.toString();",
            "a1",
        ),
        (
            "Map<String, Integer> m = new HashMap<String, Integer>(); m.put(\"a\", 1); return m.get(\"a\");",
            "1",
        ),
        ("List l = new ArrayList(); l.add(\"x\"); return l.size() + l.get(0);", "1x"),
        ("return String.format(\"%03d\", new Object[] {5});", "005"),
        ("return \"a\"\n + \"b\";", "ab"),
        ("if (\"a\".equals(\"a\") && !false) return 1; else return 2;", "1"),
        (
            "try { Integer.parseInt(\"x\"); } catch (NumberFormatException e) { return e.getMessage(); }",
            "For input string: \"x\"",
        ),
    ] {
        assert_eq!(beanshell(source), expected, "{source}");
    }
}

#[test]
fn errors_name_class_and_message() {
    assert_eq!(
        thrown("foo"),
        "groovy.lang.MissingPropertyException: No such property: foo for class: Script1"
    );
    assert!(thrown("'a'.frob(1)").starts_with(
        "groovy.lang.MissingMethodException: No signature of method: java.lang.String.frob()"
    ));
    assert_eq!(thrown("1 / 0"), "java.lang.ArithmeticException: Division by zero");
    assert!(thrown("assert 1 == 2").contains("PowerAssertionError: assert 1 == 2"));
    assert!(thrown("'ls'.execute()").contains("--allow-exec"));
    assert!(thrown("throw new IllegalStateException('no')").ends_with("IllegalStateException: no"));
}

#[test]
fn methods_with_modifiers_need_no_type() {
    for source in [
        "static twice(a) { a * 2 }\ntwice(2)",
        "private twice(a) { a * 2 }\ntwice(2)",
        "def static twice(a) { a * 2 }\ntwice(2)",
        "def static int twice(int a) { a * 2 }\ntwice(2)",
        "def <T> T same(T a) { return a }\nsame(4)",
        "static <T extends Number> T same(T a) { a }\nsame(4)",
        "def final a = 4\na",
        // A modifier of Groovy 4; JMeter has Groovy 3.
        "def sealed = 4\nsealed",
    ] {
        let value = run_in(&mut TestHost::default(), source, Dialect::Groovy)
            .unwrap_or_else(|error| panic!("{error}\n{source}"));
        assert_eq!(value.to_text().as_deref(), Some("4"), "{source}");
    }
}

#[test]
fn initializers_and_constructors_run_in_order() {
    check(&[
        (
            "class A { def log = []; int x = 1; { log << 'i' + x; x = 5 }; int y = x * 2; { log << 'j' + y }; A() { log << 'c' } }; \
             new A().with { [log, x, y] }",
            "[[i1, j2, c], 5, 2]",
        ),
        (
            "class B { static log = []; static int s = 1; static { log << s; s = 7 }; static int u = s + 1; int v; { v = s } }; \
             [B.log, B.s, B.u, new B().v]",
            "[[1], 7, 2, 7]",
        ),
        (
            "class C { def log = []; { log << 'base' }; C() { log << 'C' } }; \
             class D extends C { { log << 'sub' }; D() { super(); log << 'D' } }; new D().log",
            "[base, C, sub, D]",
        ),
        (
            "class C { def x; C() { x = 5 } }; class D extends C { D() { } }; class E extends C { }; new D().x + new E().x",
            "10",
        ),
        (
            "class E { def log = []; { log << 'i' }; E() { this(5); log << 'c0' }; E(int n) { log << n } }; new E().log",
            "[i, 5, c0]",
        ),
        ("class F { int a; { a = 9 } }; [new F().a, new F(a: 3).a]", "[9, 3]"),
        ("enum G { R(1); int v; int w; { w = 10 }; G(int v) { this.v = v } }; G.R.w + G.R.v", "11"),
        ("def m = new HashMap() {{ put('a', 1); put('b', 2) }}; [m.b, m.size()]", "[2, 2]"),
        ("def l = new ArrayList<String>() {{ add('a'); add('b') }}; l.join()", "ab"),
        ("class H { int n; { for (i in 1..3) n += i } }; new H().n", "6"),
        ("class K { static m = [:]; static { m.a = 1 }; static get(k) { m[k] } }; K.get('a')", "1"),
        ("class P { def x; P(x) { this.x = x } }; new P(4) { def twice() { x * 2 } }.twice()", "8"),
    ]);
    assert_eq!(
        thrown("class I { { throw new RuntimeException('boom') } }; new I()"),
        "java.lang.RuntimeException: boom"
    );
}
