//! Tests with known answers on our own page.

use super::Selector;
use crate::{Document, WorkLimit};
use proptest::prelude::*;

const PAGE: &str = r#"<!doctype html><html lang="en-GB"><head><title>Shop</title></head><body id="top" class="a b">
  <form id=login><input type="hidden" name="csrf" value="t1"><input type=checkbox name=stay checked>
    <input name=off disabled><select name=s><option value=1>one<option value=2 selected>two</select></form>
  <ul id="menu"><li class="item first">One<li class="item">Two <b>bold</b><li class="item">Three<li>Four</ul>
  <div class="box"><p>alpha</p><span>beta</span><p>gamma</p><!-- c --></div>
  <div class="box empty"></div><div class="only"><i>single</i></div>
  <a href="/path/one.html" data-Kind="X">Link one</a><a href="https://x.test/two.pdf" rel="nofollow me">Link two</a>
  <svg><use xlink:href='#icon'/></svg><em id="a:b.c">odd id</em></body></html>"#;

#[track_caller]
fn gives(document: &Document, attribute: Option<&str>, rows: &[(&str, &[&str])]) {
    for (selector, expected) in rows {
        let parsed =
            Selector::parse(selector).unwrap_or_else(|error| panic!("{selector}: {error}"));
        assert_eq!(document.css(&parsed, attribute).unwrap(), *expected, "{selector}");
    }
}

#[test]
fn elements_ids_classes_and_combinators() {
    gives(
        &Document::html(PAGE),
        None,
        &[
            ("title", &["Shop"]),
            ("LI.item.first", &["One"]),
            ("#menu > li", &["One", "Two bold", "Three", "Four"]),
            ("body b", &["bold"]),
            ("ul>b", &[]),
            ("p + span", &["beta"]),
            ("p ~ p", &["gamma"]),
            ("span~p", &["gamma"]),
            (".first + li + li", &["Three"]),
            ("div.box p, title , p", &["Shop", "alpha", "gamma"]),
            ("* > b", &["bold"]),
            ("div div", &[]),
            ("#a\\:b\\.c", &["odd id"]),
            ("#\\61 \\:b\\.c", &["odd id"]),
            ("body>ul li b", &["bold"]),
        ],
    );
}

#[test]
fn attributes() {
    gives(
        &Document::html(PAGE),
        Some("href"),
        &[
            ("a[href]", &["/path/one.html", "https://x.test/two.pdf"]),
            ("[href='/path/one.html']", &["/path/one.html"]),
            ("a[href=/path/one.html]", &["/path/one.html"]),
            ("a[href^=https]", &["https://x.test/two.pdf"]),
            ("a[href$='.pdf']", &["https://x.test/two.pdf"]),
            ("a[href *= \"one\" ]", &["/path/one.html"]),
            ("a[href^='']", &[]),
            ("a[rel~=me]", &["https://x.test/two.pdf"]),
            ("a[rel=me]", &[]),
            ("a[data-kind=x]", &[]),
            ("a[data-kind=x i]", &["/path/one.html"]),
            ("a[rel!=me]", &["/path/one.html", "https://x.test/two.pdf"]),
            ("html[lang|=en]", &[""]),
            ("html[lang|=e]", &[]),
        ],
    );
    gives(
        &Document::html(PAGE),
        Some("value"),
        &[
            ("input[name=csrf]", &["t1"]),
            ("input[type=\"hidden\"][name=\"csrf\"]", &["t1"]),
            ("option", &["1", "2"]),
        ],
    );
    gives(&Document::html(PAGE), Some("xlink:href"), &[("use[xlink:href]", &["#icon"])]);
}

#[test]
fn places_among_siblings() {
    gives(
        &Document::html(PAGE),
        None,
        &[
            ("li:first-child", &["One"]),
            ("li:last-child", &["Four"]),
            ("li:nth-child(2)", &["Two bold"]),
            ("li:nth-child(odd)", &["One", "Three"]),
            ("li:nth-child(even)", &["Two bold", "Four"]),
            ("li:nth-child( 2n + 1 )", &["One", "Three"]),
            ("li:nth-child(-n+2)", &["One", "Two bold"]),
            ("li:nth-child(n+3)", &["Three", "Four"]),
            ("li:nth-last-child(2)", &["Three"]),
            (".box p:nth-of-type(2)", &["gamma"]),
            (".box p:nth-child(2)", &[]),
            (".box :first-of-type", &["alpha", "beta"]),
            (".box :last-of-type", &["beta", "gamma"]),
            (".box :nth-last-of-type(2)", &["alpha"]),
            ("div :only-child", &["single"]),
            (".box :only-of-type", &["beta"]),
            ("div:empty", &[""]),
        ],
    );
}

#[test]
fn other_pseudo_classes() {
    gives(
        &Document::html(PAGE),
        None,
        &[
            ("li:not(.item)", &["Four"]),
            ("li:not(.first, :last-child)", &["Two bold", "Three"]),
            ("li:not(ul li)", &[]),
            ("li:has(b)", &["Two bold"]),
            ("ul:has(> b)", &[]),
            ("p:has(+ span)", &["alpha"]),
            ("p:has(~ p)", &["alpha"]),
            ("li:has(+ li:has(b))", &["One"]),
            ("li:has(~ :last-child)", &["One", "Two bold", "Three"]),
            ("ul:has(li b):has(.first) li:first", &["One"]),
            (":is(.first, b)", &["One", "bold"]),
            ("li:contains(TWO)", &["Two bold"]),
            ("li:contains('o bo')", &["Two bold"]),
            ("a:contains(Link two), a:contains(nothing)", &["Link two"]),
            ("option:checked", &["two"]),
            ("li:eq(1)", &["Two bold"]),
            ("li:eq(-1)", &["Four"]),
            ("li:eq(9)", &[]),
            ("li:first, li:last", &["One", "Four"]),
            ("li:lt(2)", &["One", "Two bold"]),
            ("li:gt(2)", &["Four"]),
            ("div:eq(0) > p", &["alpha", "gamma"]),
        ],
    );
    gives(
        &Document::html(PAGE),
        Some("name"),
        &[
            ("input:checked", &["stay"]),
            (":disabled", &["off"]),
            ("input:enabled", &["csrf", "stay"]),
        ],
    );
    gives(&Document::html(PAGE), Some("lang"), &[(":root", &["en-GB"])]);
}

#[test]
fn names_in_xml_match_as_written() {
    let document = Document::xml("<r><m:A x='1'>a</m:A><A>b</A><a>c</a></r>").unwrap();
    gives(
        &document,
        None,
        &[
            ("m|A", &["a"]),
            ("A", &["b"]),
            ("a", &["c"]),
            ("[x]", &["a"]),
            ("r > *", &["a", "b", "c"]),
        ],
    );
}

#[test]
fn overlapping_texts_are_found() {
    let document = Document::html("<i>a</i><b>aa</b><u>baab</u>");
    gives(&document, None, &[("b:contains(aa), u:contains(aab), i:contains(aa)", &["aa", "baab"])]);
}

#[test]
fn faults_are_named_with_their_column() {
    let message = |selector: &str| Selector::parse(selector).unwrap_err().to_string();
    assert_eq!(message("a:hover"), "column 3: `:hover` is not supported");
    assert_eq!(message("a:foo(1)"), "column 3: `:foo(…)` is not supported");
    assert_eq!(message("a[b"), "column 4: expected `]`, found the end of the selector");
    assert_eq!(
        message("a > "),
        "column 5: expected an element name, `*`, `#`, `.`, `[` or `:`, found the end of the selector"
    );
    assert!(message("li:nth-child(x)").contains("write for example `2`, `odd` or `3n+1`"));
    assert!(message("a:not(:first)").contains("may not stand within brackets"));
    assert!(message(&":not(".repeat(9)).contains("nested"));
    assert!(message(&"a ".repeat(300)).contains("parts"));
    for wrong in [
        "", " ", ",", "a,", "a,,b", "> a", "a >> b", "#", ".", "[", "[]", "[a=]", "[a='b]", ":",
        ":not()", "a)",
    ] {
        assert!(Selector::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let page = format!("{}{}", "<div>".repeat(2_000), "x".repeat(60_000));
    let result = Document::html(&page).css(&Selector::parse("div").unwrap(), None);
    assert_eq!(result.unwrap_err(), WorkLimit::Size(64 << 20));
}

/// Each would take 10,000,000,000s of steps if elements were compared pair by pair.
#[test]
fn deep_and_long_documents_are_searched_in_passes() {
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    let long = format!("<r>{}</r>", "<a b='c'>x<!-- --></a>".repeat(200_000));
    let selectors = "a a a:has(a a) a, a ~ a ~ a:has(~ a ~ a), a + a:has(+ a), :not(a a), a:nth-last-of-type(2n+1):contains(x)";
    for (source, count) in [(deep, 199_998), (long, 200_001)] {
        let found = Document::xml(&source)
            .unwrap()
            .css(&Selector::parse(selectors).unwrap(), Some("b"))
            .unwrap();
        assert_eq!(found.len(), count);
    }
}

proptest! {
    #[test]
    fn any_selector_is_parsed_or_refused(text in "\\PC{0,40}") {
        if let Ok(selector) = Selector::parse(&text) {
            let _ = Document::html(PAGE).css(&selector, None);
        }
    }

    #[test]
    fn any_words_of_selectors_are_searched_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "a", "li", "*", "#menu", ".item", "[", "]", "href", "=", "^=", "'x'", " ", ">", "+", "~", ",", ":not(", ":has(",
            ":is(", ")", ":first", ":eq(1)", ":nth-child(", "2n+1", "-n", ":contains(", "Two", ":empty", "\\", "|",
        ]), 0..14)
    ) {
        if let Ok(selector) = Selector::parse(&words.concat()) {
            let document = Document::html(PAGE);
            prop_assert!(document.css(&selector, None).unwrap().len() <= document.nodes.len());
        }
    }

    /// `:nth-child` agrees with counting.
    #[test]
    fn nth_child_counts(step in -4i64..5, offset in -4i64..8, count in 0usize..12) {
        let page = Document::html(&(1..=count).map(|number| format!("<p>{number}</p>")).collect::<Vec<_>>().concat());
        let selector = Selector::parse(&format!("p:nth-child({step}n{offset:+})")).unwrap();
        let wanted = |place: &i64| (0..20).any(|n| step * n + offset == *place);
        let expected: Vec<String> = (1..=count as i64).filter(wanted).map(|place| place.to_string()).collect();
        prop_assert_eq!(page.css(&selector, None).unwrap(), expected);
    }
}
