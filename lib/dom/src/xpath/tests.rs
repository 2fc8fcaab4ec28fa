//! Tests with known answers: the examples of the XPath 1.0 recommendation and our own documents.

use super::{XPath, XPathKind};
use crate::{Document, WorkLimit};
use proptest::prelude::*;

const BOOK: &str = r#"<?xml version="1.0"?>
<doc xmlns:m="urn:m" title="all">
  <chapter id="c1"><title>Introduction</title><para type="warning">one</para><para>two</para></chapter>
  <chapter id="c2"><title>Middle</title>
    <section><para type="warning">three</para><para type="warning">four</para><para>five</para></section>
  </chapter>
  <!-- note --><?app go on?>
  <m:sum m:unit="s">1.50</m:sum><sum>2</sum>
  <employee secretary="a" assistant="b">x</employee><employee secretary="c">y</employee>
</doc>"#;

const PAGE: &str = r#"<html><head><title> Shop </title></head><body>
  <form action="/login"><input type=hidden name=csrf value="a&amp;b"><INPUT name="user"></form>
  <ul><li class="x">1<li>2<li>3</ul>
  <table><tr><td>a<td>b<tr><td>c</table>
  <a HREF='/one'>first</a><a href=/two>second</a></body></html>"#;

fn values(document: &Document, expression: &str) -> Vec<String> {
    let parsed = XPath::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    document.xpath(&parsed).unwrap_or_else(|error| panic!("{expression}: {error}")).values()
}

#[track_caller]
fn gives(document: &Document, rows: &[(&str, &[&str])]) {
    for (expression, expected) in rows {
        assert_eq!(values(document, expression), *expected, "{expression}");
    }
}

fn book() -> Document {
    Document::xml(BOOK).unwrap()
}

#[test]
fn location_paths_of_the_recommendation() {
    gives(
        &book(),
        &[
            ("/doc/chapter[1]/para", &["one", "two"]),
            ("/child::doc/child::chapter[position()=2]/child::title", &["Middle"]),
            ("//para[@type='warning']", &["one", "three", "four"]),
            ("//para[@type=\"warning\"][2]", &["four"]),
            ("//section/para[2][@type='warning']", &["four"]),
            ("//section/para[@type='warning'][3]", &[]),
            ("(//para)[4]", &["four"]),
            ("//para[1]", &["one", "three"]),
            ("//para[last()]", &["two", "five"]),
            ("//para[last()-1]", &["one", "four"]),
            ("/descendant::para[4]", &["four"]),
            ("//chapter[title='Middle']/@id", &["c2"]),
            ("//chapter[title]//para[. = 'two']/../@id", &["c1"]),
            ("//employee[@secretary and @assistant]", &["x"]),
            ("//employee[not(@assistant)]", &["y"]),
            ("id('c1')/child::para[position()=2]", &["two"]),
            ("id('c2 c1')/title", &["Introduction", "Middle"]),
            ("//para[self::para][2]/preceding-sibling::*[1]", &["one", "three"]),
            ("//title/following-sibling::para", &["one", "two"]),
            ("//para[.='five']/preceding-sibling::para[1]", &["four"]),
            ("//para[.='five']/preceding-sibling::para", &["three", "four"]),
            ("//para[.='four']/ancestor::*[1]/para[3]", &["five"]),
            ("count(//para[.='four']/ancestor-or-self::*)", &["4"]),
            ("count(//para/ancestor::*)", &["4"]),
            ("//chapter[1]/following::para", &["three", "four", "five"]),
            ("//section/preceding::title", &["Introduction", "Middle"]),
            ("//section/preceding::title[1]", &["Middle"]),
            ("//title | //para[.='one'] | //title", &["Introduction", "one", "Middle"]),
            ("//comment()", &[" note "]),
            ("//processing-instruction('app')", &["go on"]),
            ("count(//processing-instruction('other'))", &["0"]),
            ("/doc/chapter/title/text()", &["Introduction", "Middle"]),
            ("/doc/@*", &["all"]),
            ("/doc/namespace::*", &["urn:m"]),
            ("//@type/parent::para[1]", &["one", "three", "four"]),
            ("count(/)", &["1"]),
            ("//*[@id]/@id[. = 'c2']", &["c2"]),
            ("//section/para/parent::node()/parent::chapter/@id", &["c2"]),
        ],
    );
}

#[test]
fn names_match_as_written_and_by_local_name() {
    gives(
        &book(),
        &[
            ("//m:sum", &["1.50"]),
            ("//sum", &["1.50", "2"]),
            ("//m:*", &["1.50"]),
            ("//*[name()='sum']", &["2"]),
            ("//m:sum/@unit", &["s"]),
            ("local-name(//m:sum)", &["sum"]),
            ("namespace-uri(//m:sum)", &["urn:m"]),
            ("name(//@m:unit)", &["m:unit"]),
        ],
    );
}

#[test]
fn functions_of_the_recommendation() {
    gives(
        &book(),
        &[
            ("substring('12345', 2, 3)", &["234"]),
            ("substring('12345', 2)", &["2345"]),
            ("substring('12345', 1.5, 2.6)", &["234"]),
            ("substring('12345', 0, 3)", &["12"]),
            ("substring('12345', 0 div 0, 3)", &[""]),
            ("substring('12345', 1, 0 div 0)", &[""]),
            ("substring('12345', -42, 1 div 0)", &["12345"]),
            ("substring('12345', -1 div 0, 1 div 0)", &[""]),
            ("substring-before('1999/04/01','/')", &["1999"]),
            ("substring-after('1999/04/01','/')", &["04/01"]),
            ("substring-after('1999/04/01','19')", &["99/04/01"]),
            ("translate('bar','abc','ABC')", &["BAr"]),
            ("translate('--aaa--','abc-','ABC')", &["AAA"]),
            ("normalize-space('  a  b ')", &["a b"]),
            ("string-length('Grüße')", &["5"]),
            ("concat('a', 1, true())", &["a1true"]),
            (
                "starts-with('abc', 'ab') and contains('abc', 'c') and ends-with('abc', 'bc')",
                &["true"],
            ),
            ("5 mod 2", &["1"]),
            ("5 mod -2", &["1"]),
            ("-5 mod 2", &["-1"]),
            ("1.5 mod 0.5", &["0"]),
            ("round(-2.5)", &["-2"]),
            ("round(2.5) + floor(-1.1) * ceiling(1.1)", &["-1"]),
            ("1 div 0", &["Infinity"]),
            ("-1 div 0", &["-Infinity"]),
            ("0 div 0", &["NaN"]),
            ("number('1e3')", &["NaN"]),
            ("number(' -.5 ')", &["-0.5"]),
            ("1000000 * 1000000 * 1000000 * 10000", &["10000000000000000000000"]),
            ("--1", &["1"]),
            ("2 - 1 - 1", &["0"]),
            ("10 - -5", &["15"]),
            ("sum(//sum)", &["3.5"]),
            ("count(//para) * 2", &["10"]),
            ("string(//para)", &["one"]),
            ("boolean(//nothing)", &["false"]),
            ("'a' = 'a' and 1 != 2 or false()", &["true"]),
            ("1 < 2 = true()", &["true"]),
            ("//para = 'four'", &["true"]),
            ("//para != 'four'", &["true"]),
            ("//sum > 1.9", &["true"]),
            ("3 > //sum", &["true"]),
            ("1 >= //sum", &["false"]),
            ("//nothing != 'x'", &["false"]),
            ("//nothing = false()", &["true"]),
            ("//title = //para", &["false"]),
            ("matches('abc', '^A', 'i')", &["true"]),
            ("replace('2026-01', '(\\d+)-(\\d+)', '$2/$1a')", &["01/2026a"]),
            ("upper-case('aß')", &["ASS"]),
            ("lower-case('ABC')", &["abc"]),
            ("*/*[1]/title * 2", &["NaN"]),
            ("count(/doc/*[* and not(section)])", &["1"]),
        ],
    );
}

#[test]
fn language_is_inherited() {
    let document = Document::xml("<a xml:lang='en-GB'><b/><c xml:lang='de'><d/></c></a>").unwrap();
    gives(&document, &[("count(//*[lang('en')])", &["2"]), ("count(//*[lang('DE')])", &["2"])]);
}

#[test]
fn html_is_searched_like_in_a_browser() {
    let page = Document::html(PAGE);
    gives(
        &page,
        &[
            ("//input[@name='csrf']/@value", &["a&b"]),
            ("//INPUT[@NAME='user']/@name", &["user"]),
            ("//li", &["1", "2", "3"]),
            ("/html/body/table/tbody/tr[1]/td", &["a", "b"]),
            ("//a/@href", &["/one", "/two"]),
            ("//form//input[2]/@name", &["user"]),
            ("normalize-space(//title)", &["Shop"]),
            ("//a[contains(@href,'two')]/text()", &["second"]),
        ],
    );
}

#[test]
fn results_have_a_kind_a_boolean_and_markup() {
    let page = Document::html("<p class=x>a &lt; b<br><b>c</b></p>");
    let of = |expression: &str| page.xpath(&XPath::parse(expression).unwrap()).unwrap();
    assert_eq!(of("//p").fragment().unwrap(), ["<p class=\"x\">a &lt; b<br><b>c</b></p>"]);
    assert_eq!(of("//p/@class").fragment().unwrap(), ["x"]);
    assert_eq!(of("//b/text()").fragment().unwrap(), ["c"]);
    assert_eq!(
        (of("//b").kind(), of("//b").len(), of("//b").as_bool()),
        (XPathKind::Nodes, 1, true)
    );
    assert_eq!((of("count(//i)").kind(), of("count(//i)").as_bool()), (XPathKind::Number, false));
    assert_eq!((of("true()").kind(), of("'x'").kind()), (XPathKind::Boolean, XPathKind::Text));
    assert!(of("//i").is_empty());
    let xml = Document::xml("<a><b c='\"'/>&lt;<!--d--><?e f?></a>").unwrap();
    let all = xml.xpath(&XPath::parse("/").unwrap()).unwrap().fragment().unwrap();
    assert_eq!(all, ["<a><b c=\"&quot;\"/>&lt;<!--d--><?e f?></a>"]);
}

#[test]
fn faults_are_named_with_their_column() {
    let message = |expression: &str| XPath::parse(expression).unwrap_err().to_string();
    assert_eq!(message("//a[@b='c'"), "column 11: expected `]`, found the end of the expression");
    assert_eq!(message("//a[@b='c]"), "column 8: the text has no closing '");
    assert!(message("//a b").starts_with("column 5: expected an operator"));
    assert!(
        message("foo(1)")
            .starts_with("column 1: expected a function of XPath 1.0 instead of foo()")
    );
    assert_eq!(
        message("'é' + $x"),
        "column 7: XPath variables have no values here; write a literal"
    );
    assert_eq!(message("count(1)"), "column 1: count() takes nodes, for example count(//a)");
    assert_eq!(
        message("contains('a')"),
        "column 1: contains() takes at least 2 arguments, 1 given"
    );
    assert!(message("matches(., @x)").contains("must be literal"));
    for wrong in [
        "", "//", "/a/", "a[", "@", "1 | 2", "a::b", "1[1]", "..[1]", "a//", "(a", "child::",
        "not(,)",
    ] {
        assert!(XPath::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("(", ")"), ("a[", "]"), ("not(", ")")] {
        let deep = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let deepest = XPath::parse(&deep(30)).unwrap();
        assert!(book().xpath(&deepest).is_ok());
        assert!(XPath::parse(&deep(10_000)).unwrap_err().message.contains("nested"));
    }
    assert!(XPath::parse(&"a|".repeat(40_000)).is_err());
    assert!(XPath::parse(&format!("{}1", "1+".repeat(30_000))).is_ok());
    assert!(XPath::parse(&format!("{}1", "-".repeat(60_000))).is_ok());
}

#[test]
fn documents_and_expressions_go_to_other_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Document>();
    is_shared::<XPath>();
    is_shared::<crate::Selector>();
}

/// A page of `rows` forms, with its CSRF token at the end.
fn long_page(rows: usize) -> Document {
    let row = "<div><p>some text</p><a href='/x'>y</a><input name='other' value='1'></div>";
    Document::html(&format!("{}<input name='csrf' value='t'>", row.repeat(rows)))
}

#[test]
fn steps_grow_with_the_page_and_not_faster() {
    let nested = |depth: usize| {
        Document::xml(&format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth))).unwrap()
    };
    let flat =
        |count: usize| Document::xml(&format!("<r>{}</r>", "<a><b/></a>".repeat(count))).unwrap();
    let simple = [
        "//input[@name='csrf']/@value",
        "//div//a/@href",
        "/html/body/div/p/text()",
        "//a/following-sibling::input",
        "//input/preceding-sibling::a",
        "//a/following::input[@name='csrf']",
        "//input/preceding::a",
        "//input/ancestor::div",
        "//div[a]/p[contains(., 'text')]",
        "count(//div[p='some text']) + count(//*)",
        "(//input)[last()]",
        "//a//a/ancestor::a",
        "//a/following-sibling::a/b",
    ];
    for expression in simple {
        let expression = XPath::parse(expression).unwrap();
        for of in [long_page, nested, flat] {
            let steps = |size: usize| of(size).xpath_with_steps(&expression).unwrap().1;
            let (small, large) = (steps(1_000), steps(4_000));
            assert!(
                large <= small * 5,
                "{expression:?}: {small} steps, with four times the page {large}"
            );
        }
    }
    let page = long_page(2_000);
    assert_eq!(values(&page, "//input[@name='csrf']/@value"), ["t"]);
    let simple = XPath::parse("//input[@name='csrf']/@value").unwrap();
    assert!(page.xpath_with_steps(&simple).unwrap().1 < page.nodes.len() as u64 * 8);
}

#[test]
fn too_much_work_is_refused() {
    let page = long_page(20_000);
    let of = |expression: &str| {
        page.xpath(&XPath::parse(expression).unwrap()).map(|result| result.len())
    };
    assert!(matches!(of("//*[count(preceding::*) = 0]"), Err(WorkLimit::Steps(_))));
    assert!(matches!(of("//*[//*[//*[. = 'x']]]"), Err(WorkLimit::Steps(_))));
    let doubled = (0..14).fold("/".to_owned(), |inner, _| format!("concat({inner}, {inner})"));
    assert!(XPath::parse(&doubled).is_err(), "more than 64 KiB");
    let tenfold =
        (0..3).fold("/".to_owned(), |inner, _| format!("concat({})", vec![inner; 10].join(",")));
    assert!(matches!(of(&tenfold), Err(WorkLimit::Steps(_))));
    let nested = Document::xml(&format!(
        "{}{}{}",
        "<a>".repeat(9000),
        "x".repeat(9000),
        "</a>".repeat(9000)
    ))
    .unwrap();
    let all = XPath::parse("//a").unwrap();
    assert_eq!(nested.xpath(&all).unwrap_err(), WorkLimit::Size(64 << 20));
    let nested = Document::xml(&format!("{}{}", "<a>".repeat(9000), "</a>".repeat(9000))).unwrap();
    assert_eq!(nested.xpath(&all).unwrap().fragment().unwrap_err(), WorkLimit::Size(64 << 20));
}

proptest! {
    #[test]
    fn any_expression_is_parsed_or_refused(text in "\\PC{0,40}") {
        if let Ok(expression) = XPath::parse(&text) {
            let _ = book().xpath(&expression);
        }
    }

    #[test]
    fn any_words_of_expressions_are_evaluated_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "/", "//", "a", "para", "*", "@", "@type", "[", "]", "(", ")", "1", "2", "'x'", "::", "ancestor::",
            "preceding::", "following-sibling::", "text()", "node()", "position()", "last()", "=", "<", "+", "-", "|",
            " and ", " div ", ".", "..", ",", "count(", "not(", "string(", "substring(", "translate(",
        ]), 0..14)
    ) {
        if let Ok(expression) = XPath::parse(&words.concat()) {
            let (xml, html) = (book(), Document::html(PAGE));
            for document in [&xml, &html] {
                if let Ok(result) = document.xpath(&expression) {
                    prop_assert_eq!(result.values().len(), result.fragment().map_or(0, |all| all.len()));
                }
            }
        }
    }
}
