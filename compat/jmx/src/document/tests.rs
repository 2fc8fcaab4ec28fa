use super::*;
use crate::tests::real_plans;
use proptest::prelude::*;

fn wrapped(inner: &str) -> String {
    format!("<jmeterTestPlan>{inner}</jmeterTestPlan>")
}

fn refused(text: &str) -> String {
    JmxDocument::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn real_plans_are_written_back_byte_for_byte() {
    for (name, bytes) in real_plans() {
        let document = JmxDocument::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(document.write() == bytes, "{name} changed");
    }
}

#[test]
fn unusual_spelling_is_preserved() {
    let texts = [
        "\u{FEFF}<?xml version='1.0'?>\r\n<jmeterTestPlan  version = '1.2'\r\n a=\"x>y\" ><hashTree /></jmeterTestPlan >\r\n<!-- end -->\n",
        &wrapped("<!-- a -- b --><?php x?><![CDATA[<a>&b;]]>]]&gt;&#x1;&#10;&apos;"),
        "<!DOCTYPE jmeterTestPlan SYSTEM 'x.dtd'>\n<jmeterTestPlan/>",
    ];
    for text in texts {
        let document = JmxDocument::parse(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(document.write()).unwrap(), text);
    }
}

#[test]
fn text_and_attributes_are_resolved() {
    let text = wrapped(
        "<a x='1 &lt; 2\n\t3' y=\"&#x1;\">a&amp;b\r\n<!-- no --><![CDATA[<&amp;>]]>&#xD800;&#13;</a>",
    );
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    let a = document.elements(document.root()).next().unwrap();
    assert_eq!(document.name(a), "a");
    assert_eq!(document.text(a), "a&b\n<&amp;>\u{FFFD}\r");
    assert_eq!(document.attribute(a, "x").unwrap(), "1 < 2  3");
    assert_eq!(document.attribute(a, "y").unwrap(), "\u{1}");
    assert_eq!(document.attribute(a, "z"), None);
    assert_eq!(document.attributes(a).count(), 2);
    assert_eq!(document.parent(a), Some(document.root()));
}

#[test]
fn positions_count_lines_and_characters() {
    let document =
        JmxDocument::parse("<jmeterTestPlan>\r\n <!-- ü --><a/>\n</jmeterTestPlan>".as_bytes())
            .unwrap();
    let a = document.elements(document.root()).next().unwrap();
    assert_eq!(document.position(a), FilePosition { line: 2, column: 12 });
}

#[test]
fn errors_name_place_and_open_element() {
    let cases = [
        (
            "<jmeterTestPlan>\n<a><b></a>",
            "line 2, column 7: unexpected `</a>`: the open element is `<b>` (line 2)",
        ),
        (
            "<jmeterTestPlan>\n<a>",
            "line 2, column 4: the plan ends before `<a>` (line 2) is closed",
        ),
        ("<jmeterTestPlan/></b>", "line 1, column 18: unexpected `</b>`: no element is open"),
        ("<jmeterTestPlan>x & y</jmeterTestPlan>", "write `&amp;`"),
        ("<jmeterTestPlan>&nbsp;</jmeterTestPlan>", "line 1, column 17: unknown entity `&nbsp;`"),
        ("<jmeterTestPlan a='&x;'/>", "line 1, column 20: unknown entity `&x;`"),
        ("<jmeterTestPlan>&#x110000;</jmeterTestPlan>", "unknown entity `&#x110000;`"),
        ("<jmeterTestPlan a=b/>", "expected `name=\"value\"` in the tag `<jmeterTestPlan`"),
        ("<jmeterTestPlan a='1' a='2'/>", "attribute `a` occurs twice"),
        ("<jmeterTestPlan a='1'b='2'/>", "expected `name=\"value\"`"),
        ("<jmeterTestPlan>1 < 2</jmeterTestPlan>", "write `&lt;`"),
        (
            "<jmeterTestPlan><!-- </jmeterTestPlan>",
            "a comment within `<jmeterTestPlan>` (line 1) is not closed",
        ),
        (
            "<jmeterTestPlan><a",
            "line 1, column 17: a tag within `<jmeterTestPlan>` (line 1) is not closed",
        ),
        (
            "<!DOCTYPE a [<!ENTITY b 'c'>]><jmeterTestPlan/>",
            "a DOCTYPE that declares entities is refused",
        ),
        ("<html/>", "line 1, column 1: not a JMeter plan: the root element is `html`"),
        ("<testResults/>", "not a JMeter plan but a result file"),
        ("", "the file has no elements"),
        ("hello", "text outside the root element"),
        ("<jmeterTestPlan/><jmeterTestPlan/>", "a second root element"),
    ];
    for (text, expected) in cases {
        let error = refused(text);
        assert!(error.contains(expected), "{text}\n  is: {error}\n  not: {expected}");
    }
}

#[test]
fn plans_in_other_encodings_are_read_and_written_again() {
    // The bytes of `ü € 😀` where the encoding has them, by iconv.
    let latin1 = b"<?xml version='1.0' encoding='ISO-8859-1'?><jmeterTestPlan a='\xFC'/>".to_vec();
    let windows =
        b"<?xml version=\"1.0\" encoding=\"windows-1252\"?><jmeterTestPlan a='\xFC\x80'/>".to_vec();
    let declared =
        "<?xml version='1.0' encoding='ISO-8859-1'?><jmeterTestPlan a='ü'/>".as_bytes().to_vec();
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    let text = "<?xml version='1.0' encoding='UTF-16'?><jmeterTestPlan a='ü😀'/>";
    for (bytes, expected) in [
        (latin1, "ü"),
        (windows, "ü€"),
        (declared, "ü"),
        (wide(&format!("\u{FEFF}{text}"), u16::to_le_bytes), "ü😀"),
        (wide(&format!("\u{FEFF}{text}"), u16::to_be_bytes), "ü😀"),
        (wide(text, u16::to_le_bytes), "ü😀"),
        (wide(text, u16::to_be_bytes), "ü😀"),
    ] {
        let document = JmxDocument::parse(&bytes).unwrap();
        assert_eq!(document.attribute(document.root(), "a").as_deref(), Some(expected));
        assert_eq!(document.write(), bytes, "{expected}");
    }
}

#[test]
fn other_encodings_are_refused_by_name() {
    let refused = |bytes: &[u8]| JmxDocument::parse(bytes).unwrap_err().to_string();
    let odd = refused(&[0xFF, 0xFE, b'<', 0, b'a']);
    assert!(odd.contains("UTF-16"), "{odd}");
    let latin = refused(b"<jmeterTestPlan>\n\xFC</jmeterTestPlan>");
    assert!(
        latin.starts_with("line 2, column 1: the plan is not UTF-8; declare its encoding"),
        "{latin}"
    );
    let greek = refused(b"<?xml version='1.0' encoding='ISO-8859-7'?>\n<jmeterTestPlan a='\xE1'/>");
    assert!(greek.contains("declares the encoding `ISO-8859-7`"), "{greek}");
    let message = refused(b"<?xml version='1.0' encoding='UTF-8'?>\n<jmeterTestPlan a='\xE1'/>");
    assert!(message.contains("the plan is not UTF-8"), "{message}");
}

#[test]
fn deep_nesting_needs_no_stack() {
    let nested =
        |depth: usize| wrapped(&format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth)));
    let text = nested(10_000);
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    assert_eq!(document.write(), text.as_bytes());
    assert!(refused(&nested(MAX_DEPTH)).contains("nested deeper"));
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(document) = JmxDocument::parse(&bytes) {
            prop_assert_eq!(document.write(), bytes);
        }
    }

    #[test]
    fn any_markup_is_parsed_or_refused(inner in "(<a( b='[x&;é<]?')?>|</a>|<a/>|&(lt|#x1|#|x)?;|\\]\\]>|<!--|-->|<!\\[CDATA\\[|<\\?x|\\?>|\u{FEFF}|é|\r\n|<!DOCTYPE){0,12}", wrap in any::<bool>()) {
        let text = if wrap { wrapped(&inner) } else { inner };
        if let Ok(document) = JmxDocument::parse(text.as_bytes()) {
            prop_assert_eq!(document.write(), text.as_bytes());
            for id in document.nodes.iter().enumerate().map(|(at, _)| NodeId(at as u32)) {
                let _ = (document.text(id), document.position(id), document.attributes(id).count());
            }
        }
    }

    #[test]
    fn encoded_text_is_decoded(text in any::<String>()) {
        let decoded = text::decode(&encode(&text)).into_owned();
        let attribute = text::decode_attribute(&encode_attribute(&text)).into_owned();
        prop_assert_eq!(&decoded, &text);
        prop_assert_eq!(&attribute, &text);
    }
}
