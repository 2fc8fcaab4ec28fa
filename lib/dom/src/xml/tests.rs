//! Tests on well-formed documents, and on the errors of others.

use crate::{Document, XPath};
use proptest::prelude::*;

#[test]
fn well_formed_documents_are_read() {
    let rows = [
        ("<a/>", "<a/>"),
        (
            "\u{feff}<?xml version='1.0' encoding='utf-8'?>\r\n<!DOCTYPE a [<!ENTITY b 'c'>]>\n<a>x</a>\n<!-- end --> ",
            "<a>x</a><!-- end -->",
        ),
        ("<a>&lt;&#65;&#x42;&amp;<![CDATA[<b>]]></a>", "<a>&lt;AB&amp;&lt;b&gt;</a>"),
        (
            "<p:a xmlns:p='u' p:b=\"c&quot;d\"><p:e/></p:a>",
            "<p:a xmlns:p=\"u\" p:b=\"c&quot;d\"><p:e/></p:a>",
        ),
        ("<é_1.x-y>ü</é_1.x-y>", "<é_1.x-y>ü</é_1.x-y>"),
        ("<a b='1\n2\t3'>x\r\ny</a>", "<a b=\"1 2 3\">x\ny</a>"),
        ("<a b = 'c' ></a >", "<a b=\"c\"/>"),
    ];
    for (source, expected) in rows {
        let document = Document::xml(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(
            document.xpath(&XPath::parse("/").unwrap()).unwrap().fragment().unwrap().concat(),
            expected,
            "{source}"
        );
    }
    let joined = Document::xml("<a>x&amp;y<![CDATA[z]]></a>").unwrap();
    assert_eq!(joined.xpath(&XPath::parse("//text()").unwrap()).unwrap().values(), ["x&yz"]);
}

#[test]
fn faults_are_named_with_their_place() {
    let message = |source: &str| Document::xml(source).unwrap_err().to_string();
    let rows = [
        ("", "line 1, column 1: the document has no root element"),
        ("<a>\n <b>\n</a>", "line 3, column 1: "),
        ("<a>", "line 1, column 4: the document ends within 1 open elements"),
        ("<a/>\n<b/>", "line 2, column 1: `<b>` is a second root element; XML has one"),
        ("<a/>x", "line 1, column 5: text outside of the root element"),
        ("<a>\n&nbsp;</a>", "line 2, column 1: `&nbsp;` is not known"),
        ("<a b='1' b='2'/>", "line 1, column 1: `<a>` has the attribute `b` twice"),
        ("<a b='<'/>", "line 1, column 1: in the attribute `b`: `<` in a value"),
        ("<a b='&x;'/>", "line 1, column 1: in the attribute `b`: "),
        ("<a b=c/>", "line 1, column 1: in `<a>`: "),
        ("<a>]]></a>", "line 1, column 4: `]]>` in text"),
        ("<1a/>", "line 1, column 1: `1a` is not a name"),
        ("<a>\u{1}</a>", "line 1, column 4: the character U+0001 is not allowed in XML"),
        (
            "<a><?xml version='1.0'?></a>",
            "line 1, column 4: an XML declaration may only stand at the very start",
        ),
        ("<a><!DOCTYPE b></a>", "line 1, column 4: a DOCTYPE must stand before the root element"),
        ("<a>&#0;</a>", "line 1, column 4: "),
        ("</a>", "line 1, column 1: "),
        ("<a><!-- b -- c --></a>", "line 1, column "),
    ];
    for (source, expected) in rows {
        assert!(message(source).starts_with(expected), "{source}: {}", message(source));
    }
    assert!(
        Document::xml("<a b='1'c='2'/>").is_err()
            && Document::xml("<a").is_err()
            && Document::xml("<a>& b</a>").is_err()
    );
}

#[test]
fn deep_and_wide_documents_are_read() {
    let deep = format!("{}{}", "<a>".repeat(300_000), "</a>".repeat(300_000));
    let wide = (0..100_000).map(|number| format!(" a{number}='1'")).collect::<Vec<_>>().concat();
    let count = |source: &str, path: &str| {
        Document::xml(source)
            .unwrap()
            .xpath(&XPath::parse(path).unwrap())
            .unwrap()
            .values()
            .concat()
    };
    assert_eq!(count(&deep, "count(//a)"), "300000");
    assert_eq!(count(&format!("<a{wide}/>"), "count(//@*)"), "100000");
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(source in "\\PC{0,100}") {
        if let Err(error) = Document::xml(&source) {
            prop_assert!(error.line >= 1 && error.column >= 1);
        }
    }

    #[test]
    fn any_markup_is_parsed_or_refused(parts in prop::collection::vec(prop::sample::select(vec![
        "<a>", "</a>", "<b c='d'>", "</b>", "<e/>", "text", "&lt;", "&#10;", "&x;", "<!-- -->", "<![CDATA[", "]]>", "<?p q?>", "<",
        ">", "&", "\n", "é", "<!DOCTYPE a>", "'", "<?xml version='1.0'?>",
    ]), 0..12)) {
        let source = parts.concat();
        if let Ok(document) = Document::xml(&source) {
            let all = XPath::parse("/").unwrap();
            let markup = document.xpath(&all).unwrap().fragment().unwrap().concat();
            let again = Document::xml(&markup).unwrap().xpath(&all).unwrap().fragment().unwrap().concat();
            prop_assert_eq!(markup, again);
        }
    }
}
