//! Writes nodes as markup.

use crate::document::{Document, Kind};

/// HTML elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// HTML elements with text that is written without escapes.
const RAW: [&str; 7] = ["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"];

/// Appends the markup of a node and its descendants. Stops once `out` has more than `limit` bytes.
pub(crate) fn write(document: &Document, node: u32, limit: usize, out: &mut String) {
    let mut open = Vec::new();
    for current in node..document.nodes[node as usize].end {
        close(document, &mut open, current, out);
        // The caller fails if the output is longer than the limit, so it need not be complete.
        if out.len() > limit {
            return;
        }
        match document.nodes[current as usize].kind {
            Kind::Root => {}
            Kind::Element => start(document, current, &mut open, out),
            Kind::Text => text(document, current, out),
            Kind::Comment => out.extend(["<!--", document.text(current), "-->"]),
            Kind::Instruction => {
                out.extend(["<?", document.name(current), " ", document.text(current), "?>"]);
            }
        }
    }
    close(document, &mut open, u32::MAX, out);
}

/// Writes the end tags of the elements that end before a node.
fn close(document: &Document, open: &mut Vec<u32>, before: u32, out: &mut String) {
    while let Some(element) = open.pop() {
        if document.nodes[element as usize].end > before {
            open.push(element);
            return;
        }
        out.extend(["</", document.name(element), ">"]);
    }
}

fn start(document: &Document, element: u32, open: &mut Vec<u32>, out: &mut String) {
    let name = document.name(element);
    out.extend(["<", name]);
    for attribute in document.attributes(element) {
        out.extend([" ", document.attribute_name(attribute), "=\""]);
        escape(document.attribute_value(attribute), true, out);
        out.push('"');
    }
    let is_empty = document.nodes[element as usize].end == element + 1;
    let is_void = document.html && VOID.contains(&name);
    // HTML has no self-closing tags; an empty element needs an end tag.
    out.push_str(if !document.html && is_empty { "/>" } else { ">" });
    if !is_void && (document.html || !is_empty) {
        open.push(element);
    }
}

fn text(document: &Document, node: u32, out: &mut String) {
    let parent = document.name(document.nodes[node as usize].parent);
    if document.html && RAW.contains(&parent) {
        out.push_str(document.text(node));
    } else {
        escape(document.text(node), false, out);
    }
}

fn escape(text: &str, quotes: bool, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if quotes => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}
