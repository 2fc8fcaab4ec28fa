//! What Chromium 156 says of random pages: its tree (`DOMParser`), its results of XPath (`document.evaluate`) and of selectors
//! (`querySelectorAll`), recorded in `browser.tsv`.
//!
//! Lines are `page`, `tree`, `xpath` or `css` with fields between tabs; a result is `V` and the text of a node, `S` text or
//! `B` a boolean. Left out are absolute paths within predicates of attributes, for which Chromium differs from the standard.

use brunt_dom::{Document, Selector, XPath, XPathKind};

fn xpath(document: &Document, expression: &str) -> Vec<String> {
    let result =
        document.xpath(&XPath::parse(expression).expect("an expression")).expect("a small page");
    let letter = match result.kind() {
        XPathKind::Nodes => 'V',
        XPathKind::Text => 'S',
        XPathKind::Number => 'N',
        XPathKind::Boolean => 'B',
    };
    result.values().iter().map(|value| format!("{letter}{value}")).collect()
}

fn css(document: &Document, selector: &str) -> Vec<String> {
    let found =
        document.css(&Selector::parse(selector).expect("a selector"), None).expect("a small page");
    found.iter().map(|value| format!("V{value}")).collect()
}

#[test]
fn trees_and_results_equal_those_of_a_browser() {
    let (mut document, mut source, mut results) = (Document::html(""), "", 0);
    for line in include_str!("browser.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[0] {
            "page" => (document, source) = (Document::html(fields[1]), fields[1]),
            "tree" => {
                let root =
                    document.xpath(&XPath::parse("/html").expect("a path")).expect("a small page");
                assert_eq!(root.fragment().expect("a small page"), [fields[1]], "{source}");
            }
            "xpath" => {
                assert_eq!(xpath(&document, fields[1]), fields[2..], "{} of {source}", fields[1]);
            }
            _ => assert_eq!(css(&document, fields[1]), fields[2..], "{} of {source}", fields[1]),
        }
        results += 1;
    }
    assert!(results > 400);
}
