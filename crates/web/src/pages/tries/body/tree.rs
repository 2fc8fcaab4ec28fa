//! A body as a tree that can be folded: JSON, XML or HTML.

use crate::texts::{Viewer, message};
use brunt_dom::{Content, Document, Element};
use maud::{Markup, html};
use serde_json::Value;

/// Maximum number of values of a tree.
const MOST_VALUES: usize = 5000;
/// Maximum depth of a tree. Deeper elements are shown without their content.
// Browsers and the stack bound the depth of a page.
const MAX_DEPTH: usize = 100;
/// Depth up to which the tree is unfolded.
const OPEN_DEPTH: usize = 3;

/// Makes the nodes of a tree, up to a maximum number.
struct TreeMaker {
    remaining: usize,
    /// True if the body has more values.
    is_cut: bool,
}

/// The tree of a body.
pub fn tree(text: &str, viewer: &Viewer) -> Markup {
    let text = text.trim_start_matches('\u{feff}');
    let mut maker = TreeMaker { remaining: MOST_VALUES, is_cut: false };
    let nodes = match serde_json::from_str::<Value>(text) {
        Ok(value) => maker.value(None, &value, 0),
        Err(error) if text.trim_start().starts_with(['{', '[']) => {
            let reason = message!("tree-no-json", error = error.to_string());
            return html! { p class="hint" { (viewer.format(&reason)) } };
        }
        Err(error) if !text.trim_start().starts_with('<') => {
            let reason = message!("tree-unknown", error = error.to_string());
            return html! { p class="hint" { (viewer.format(&reason)) } };
        }
        Err(_) => match Document::xml(text) {
            Ok(document) => maker.contents(document.content(), 0),
            // Each text is HTML, so only the other formats have errors.
            Err(_) => maker.contents(Document::html(text).content(), 0),
        },
    };
    html! {
        ul class="tree" { (nodes) }
        @if maker.is_cut {
            p class="hint" { (viewer.format(&message!("tree-cut", count = MOST_VALUES))) }
        }
    }
}

impl TreeMaker {
    /// True if one more node may be made.
    fn take(&mut self) -> bool {
        self.is_cut |= self.remaining == 0;
        self.remaining = self.remaining.saturating_sub(1);
        !self.is_cut
    }

    fn value(&mut self, key: Option<&str>, value: &Value, depth: usize) -> Markup {
        if !self.take() {
            return html! {};
        }
        let name = html! { @if let Some(key) = key { b { (key) } ": " } };
        match value {
            Value::Object(entries) => {
                let summary = html! { (name) "{" (entries.len()) "}" };
                let children = entries.iter();
                let children = children.map(|(key, value)| self.value(Some(key), value, depth + 1));
                folded(&summary, &children.collect::<Vec<_>>(), depth)
            }
            Value::Array(items) => {
                let summary = html! { (name) "[" (items.len()) "]" };
                let children = items
                    .iter()
                    .enumerate()
                    .map(|(index, value)| self.value(Some(&index.to_string()), value, depth + 1));
                folded(&summary, &children.collect::<Vec<_>>(), depth)
            }
            leaf => html! { li { (name) code { (leaf.to_string()) } } },
        }
    }

    fn contents<'d>(
        &mut self,
        contents: impl Iterator<Item = Content<'d>>,
        depth: usize,
    ) -> Markup {
        // White space between elements is layout.
        let contents = contents
            .filter(|content| !matches!(content, Content::Text(text) if text.trim().is_empty()));
        html! { @for content in contents { (self.content(content, depth)) } }
    }

    fn content(&mut self, content: Content<'_>, depth: usize) -> Markup {
        if !self.take() {
            return html! {};
        }
        match content {
            Content::Element(element) => self.element(element, depth),
            Content::Text(text) => html! { li { code { (text.trim()) } } },
            Content::Comment(text) => html! { li class="hint" { "<!--" (text) "-->" } },
        }
    }

    fn element(&mut self, element: Element<'_>, depth: usize) -> Markup {
        let start = html! {
            "<" b { (element.name()) }
            @for (name, value) in element.attributes() { " " (name) "=" code { "\"" (value) "\"" } }
            ">"
        };
        let contents: Vec<Content<'_>> = element.content().collect();
        match contents[..] {
            [] => html! { li { (start) } },
            [Content::Text(text)] => html! { li { (start) " " code { (text.trim()) } } },
            _ if depth >= MAX_DEPTH => html! { li { (start) " …" } },
            _ => {
                let content = self.contents(contents.into_iter(), depth + 1);
                folded(&start, &[content], depth)
            }
        }
    }
}

fn folded(summary: &Markup, children: &[Markup], depth: usize) -> Markup {
    html! {
        li { details open[depth < OPEN_DEPTH] {
            summary { (summary) }
            ul { @for child in children { (child) } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Markup {
        super::tree(text, &Viewer::default())
    }

    #[test]
    fn json_xml_and_html_are_folded() {
        let json = tree("{\"a\": [1, \"<b>\"]}").into_string();
        assert!(json.contains("<b>a</b>: [2]") && json.contains("&quot;&lt;b&gt;&quot;"), "{json}");
        let xml = tree("<?xml version=\"1.0\"?><r><i id=\"1\">x &lt; y</i><i/></r>").into_string();
        let item = "&lt;<b>i</b> id=<code>&quot;1&quot;</code>&gt; <code>x &lt; y</code>";
        assert!(xml.contains(item), "{xml}");
        let html = tree("<!doctype html><p>one<br>two<script>a<b</script>").into_string();
        assert!(html.contains("<b>script</b>&gt; <code>a&lt;b</code>"), "{html}");
        assert!(tree("plain").into_string().contains("neither JSON nor XML nor HTML"));
    }

    #[test]
    fn large_and_deep_bodies_are_bounded() {
        let wide = tree(&format!("[{}0]", "0,".repeat(2 * MOST_VALUES))).into_string();
        assert!(wide.contains("The tree shows the first 5,000 values"), "{}", wide.len());
        let deep = "<a>".repeat(100_000);
        assert!(tree(&deep).into_string().len() < 1_000_000);
        let xml = format!("{}{}", "<a>x".repeat(9000), "</a>".repeat(9000));
        assert!(tree(&xml).into_string().contains('…'));
    }
}
