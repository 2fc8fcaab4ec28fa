//! Tests on ordinary pages, and on pages that are made to take long.

use super::parse;
use crate::{Document, XPath};
use proptest::prelude::*;

fn markup(source: &str) -> String {
    let document = parse(source);
    document
        .xpath(&XPath::parse("/html/body/node()").unwrap())
        .unwrap()
        .fragment()
        .unwrap()
        .concat()
}

#[test]
fn malformed_markup_is_parsed_like_a_browser() {
    let rows = [
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("<ul><li>a<li>b</ul>c", "<ul><li>a</li><li>b</li></ul>c"),
        ("<b>x<i>y</b>z</i>", "<b>x<i>y</i></b><i>z</i>"),
        ("<b>1<p>2</b>3", "<b>1</b><p><b>2</b>3</p>"),
        (
            "<table><tr><td>a<td>b<tr><th>c",
            "<table><tbody><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></tbody></table>",
        ),
        ("<table>x<tr><td>y</table>", "x<table><tbody><tr><td>y</td></tr></tbody></table>"),
        ("<input name=a value=b/c disabled>", "<input name=\"a\" value=\"b/c\" disabled=\"\">"),
        ("<INPUT NAME='A' name=b>", "<input name=\"A\">"),
        ("<br/>x<br>y</br>", "<br>x<br>y<br>"),
        (
            "<a href=\"?a=1&b=2&amp;c=3\">&lt;&eacute;&#8364;&#x41;&nosuch; & &copy",
            "<a href=\"?a=1&amp;b=2&amp;c=3\">&lt;é€A&amp;nosuch; &amp; ©</a>",
        ),
        (
            "<body><script>if (a<b && c>d) '<p>'</script>x",
            "<script>if (a<b && c>d) '<p>'</script>x",
        ),
        (
            "<body><style>a > b {}</style><textarea><p></textarea>",
            "<style>a > b {}</style><textarea>&lt;p&gt;</textarea>",
        ),
        ("<body><noscript><p>no</noscript>", "<noscript><p>no</p></noscript>"),
        ("</div><p>x</span></p></p>", "<p>x</p><p></p>"),
        ("<!-- a --><p>x<!-- b", "<p>x<!-- b--></p>"),
        (
            "<select><option>1<option selected>2</select>",
            "<select><option>1</option><option selected=\"\">2</option></select>",
        ),
        ("<body><template><p>t</p></template>", "<template><p>t</p></template>"),
        (
            "<svg viewBox='0 0 1 1'><linearGradient/><use xlink:href='#a'/></svg>",
            "<svg viewBox=\"0 0 1 1\"><linearGradient></linearGradient><use xlink:href=\"#a\"></use></svg>",
        ),
        ("a < b <3 <", "a &lt; b &lt;3 &lt;"),
        ("", ""),
        ("\u{feff}<p>x\0y", "<p>xy</p>"),
    ];
    for (source, expected) in rows {
        assert_eq!(markup(source), expected, "{source}");
    }
}

#[test]
fn attributes_of_a_second_body_are_added() {
    let document = parse("<body class=a><p>x<body class=b id=c>");
    let of = |path: &str| document.xpath(&XPath::parse(path).unwrap()).unwrap().values();
    assert_eq!(
        (of("/html/body/@class"), of("/html/body/@id")),
        (vec!["a".to_owned()], vec!["c".to_owned()])
    );
}

#[test]
fn text_that_comes_in_pieces_is_one_node() {
    let long = "word ".repeat(10_000);
    let document = parse(&format!("<p>{long}</p>"));
    let count = document.xpath(&XPath::parse("count(//p/text())").unwrap()).unwrap().values();
    assert_eq!((count, document.is_truncated()), (vec!["1".to_owned()], false));
}

/// Number of steps of parsing a page, and true if all of it was read.
fn steps(source: &str) -> (u64, bool) {
    let (tree, steps, is_whole) = super::build(source);
    assert!(tree.first_child(super::sink::ROOT).is_some());
    (steps, is_whole)
}

#[test]
fn steps_grow_with_the_page_and_not_faster() {
    let row = "<tr><td class=x><a href='/a?b=c&d'>Item</a><p>text <b>bold</b><ul><li>one<li>two</ul></td></tr>\n";
    let page = |rows: usize| {
        format!("<html><head><title>x</title></head><body><div><table>{}</table>", row.repeat(rows))
    };
    let ((small, _), (large, is_whole)) = (steps(&page(500)), steps(&page(2_000)));
    assert!(large <= small * 9 / 2, "{small} steps, with four times the page {large}");
    assert!(is_whole && large < page(2_000).len() as u64 * 16, "{large}");
}

#[test]
fn pages_that_take_too_long_are_cut() {
    let numbered = |count: usize, row: fn(usize) -> String| (0..count).map(row).collect::<String>();
    let rows = [
        ("nested", "<div>".repeat(200_000)),
        ("formatting", numbered(100_000, |number| format!("<b a={number}>"))),
        (
            "reopened",
            format!(
                "{}{}",
                numbered(3_000, |number| format!("<b a={number}>")),
                "<p>x".repeat(50_000)
            ),
        ),
        ("attributes", format!("<p {}>", numbered(300_000, |number| format!("a{number} ")))),
        (
            "quoted attributes",
            format!("<p {}>", numbered(300_000, |number| format!("a{number}=''"))),
        ),
    ];
    for (name, source) in rows {
        assert!(parse(&source).is_truncated(), "{name}");
    }
    let token = format!("<p>x</p>{}", "<div>".repeat(200_000));
    let document = parse(&token);
    assert_eq!(document.xpath(&XPath::parse("//p").unwrap()).unwrap().values(), ["x"]);
}

#[test]
fn ordinary_large_parts_are_not_cut() {
    let rows = [
        (
            "image",
            format!(
                "<img src='data:image/png;base64,{}'>",
                "iVBORw0KGgoAAAANSUhEUgAA".repeat(20_000)
            ),
        ),
        ("script", format!("<script>{}</script>", "var a = 'b'; ".repeat(100_000))),
        ("comment", format!("<!-- {} -->", "some words ".repeat(10_000))),
        ("depth", format!("{}x", "<div>".repeat(2_000))),
        ("table", format!("<table>{}</table>", "<tr><td>1<td>2".repeat(50_000))),
    ];
    for (name, source) in rows {
        assert!(!parse(&source).is_truncated(), "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_as_a_page(source in "\\PC{0,200}") {
        let document = Document::html(&source);
        prop_assert!(!document.is_truncated());
    }

    /// Elements in any order leave a consistent tree: children are within their parents, in order.
    #[test]
    fn any_tags_make_a_tree(tags in prop::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<b>", "</b>", "<a href=x>", "</a>", "<table>", "</table>", "<tr>", "<td>", "<li>", "<ul>", "</ul>", "text",
        "<select>", "<option>", "<form>", "</form>", "<template>", "</template>", "<svg>", "</svg>", "<math>", "<title>", "<body>",
        "<frameset>", "<!-- c -->", "<br>", "&amp;", "<script>", "</script>", "<caption>", "<i>", "</i>", "<nobr>", "<button>",
    ]), 0..40)) {
        let document = Document::html(&tags.concat());
        for node in 1..document.nodes.len() as u32 {
            let (own, parent) = (&document.nodes[node as usize], document.nodes[node as usize].parent);
            prop_assert!(parent < node && own.end > node && own.end <= document.nodes[parent as usize].end);
            prop_assert!(document.children(parent).any(|child| child == node));
        }
    }
}
