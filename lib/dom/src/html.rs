//! Parses HTML with `html5ever`, within a budget of steps.
//!
//! The tree construction of browsers takes quadratic time for hostile pages: each tag may search
//! all open elements, and each attribute is compared with all earlier ones. Steps are counted when
//! the tree builder calls its sink. Beyond the budget, the rest of a page is ignored.

mod sink;
#[cfg(test)]
mod tests;

use crate::document::{Builder, Document, MAX_BYTES};
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{self, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use sink::{Handle, NodeData, Sink, Tree};
use std::cell::Cell;

/// Number of bytes given to the tokenizer at a time.
// The budget is checked after each piece, so its size bounds the work beyond the budget.
const PIECE: usize = 4096;

/// Number of steps for any page, plus some for each byte. An ordinary page takes about 1 per byte.
const STEPS: u64 = 20_000_000;
const STEPS_PER_BYTE: u64 = 16;

/// Number of steps for comparing a formatting element with an open one, including attributes.
const COMPARISON: u64 = 32;

/// Maximum number of separators of attributes in one tag or comment. The tokenizer compares each
/// attribute with all earlier ones.
const SEPARATORS: usize = 1 << 15;

/// Elements that the tree builder compares with all open ones of the same list.
const FORMATTING: [&str; 13] =
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

pub(crate) fn parse(source: &str) -> Document {
    let (tree, _, is_whole) = build(source);
    let mut document = flatten(&tree);
    document.truncated = !is_whole;
    document
}

/// Returns the linked tree, the number of steps, and true if all of the source was read.
fn build(source: &str) -> (Tree, u64, bool) {
    let budget = STEPS + STEPS_PER_BYTE * source.len() as u64;
    // Without scripting, the content of `noscript` consists of elements.
    let options = TreeBuilderOpts {
        scripting_enabled: false,
        drop_doctype: true,
        ..TreeBuilderOpts::default()
    };
    let builder = TreeBuilder::new(Sink::new(budget), options);
    let tokenizer = Tokenizer::new(
        Guard { builder, tokens: Cell::new(0), formatting: Cell::new(0) },
        tokenizer::TokenizerOpts::default(),
    );
    let is_fed = feed(&tokenizer, source);
    tokenizer.end();
    let sink = tokenizer.sink.builder.sink;
    let remaining = sink.steps_left();
    let is_whole = is_fed && !sink.is_exhausted();
    (sink.into_tree(), budget - remaining, is_whole)
}

/// Feeds the source in pieces while there are steps left. Returns true if all of it was fed.
fn feed(tokenizer: &Tokenizer<Guard>, source: &str) -> bool {
    let queue = BufferQueue::default();
    let mut rest = source;
    let mut tokens = 0;
    let mut separators = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        queue.push_back(StrTendril::from_slice(piece));
        // The tokenizer stops after each script, which is not executed here.
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        // A completed token resets the count, since separators are compared within one tag only.
        if tokens != tokenizer.sink.tokens.get() {
            tokens = tokenizer.sink.tokens.get();
            separators = 0;
        }
        separators += piece.bytes().filter(|byte| b" \t\n\r\x0c/\"'".contains(byte)).count();
        rest = after;
        let is_too_long = source.len() - rest.len() > MAX_BYTES;
        if separators > SEPARATORS || tokenizer.sink.builder.sink.is_exhausted() || is_too_long {
            return rest.is_empty();
        }
    }
    true
}

/// Counts the tokens before they reach the tree builder, and drops them when the budget is used up.
struct Guard {
    builder: TreeBuilder<Handle, Sink>,
    /// Number of tokens, without errors.
    tokens: Cell<u64>,
    /// Number of formatting elements that are open.
    formatting: Cell<u64>,
}

impl TokenSink for Guard {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        // An error within a tag would reset the count of its separators.
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.tokens.set(self.tokens.get() + 1);
        if let Token::TagToken(tag) = &token {
            self.charge(tag);
        }
        if self.builder.sink.is_exhausted() {
            return TokenSinkResult::Continue;
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Guard {
    fn charge(&self, tag: &Tag) {
        let attributes = tag.attrs.len() as u64;
        // The tokenizer compares each attribute with all earlier ones.
        self.builder.sink.charge(attributes * attributes / 8);
        if !FORMATTING.contains(&&*tag.name) {
            return;
        }
        let open = self.formatting.get();
        if tag.kind == TagKind::EndTag {
            self.formatting.set(open.saturating_sub(1));
        } else {
            // The tree builder compares a new formatting element with all open ones.
            self.builder.sink.charge(open * (attributes + 1) * COMPARISON);
            self.formatting.set(open + 1);
        }
    }
}

/// Copies the linked tree into a document.
fn flatten(tree: &Tree) -> Document {
    let mut builder = Builder::html();
    // A loop and no recursion, because the tree may be deep.
    let mut next = tree.first_child(sink::ROOT);
    while let Some(node) = next {
        let is_open = emit(tree.data(node), &mut builder);
        next = tree.first_child(node);
        let mut current = node;
        if next.is_none() && is_open {
            builder.close();
        }
        while next.is_none() && current != sink::ROOT {
            next = tree.next(current);
            if next.is_none() {
                current = tree.parent(current).unwrap_or(sink::ROOT);
                if current != sink::ROOT {
                    builder.close();
                }
            }
        }
    }
    builder.finish()
}

/// Adds one node. Returns true if it is an element, which is then open.
fn emit(data: &NodeData, builder: &mut Builder) -> bool {
    match data {
        NodeData::Element(name, attributes) => {
            builder.open(&name.local);
            for attribute in attributes {
                match &attribute.name.prefix {
                    Some(prefix) => builder
                        .attribute(&format!("{prefix}:{}", attribute.name.local), &attribute.value),
                    None => builder.attribute(&attribute.name.local, &attribute.value),
                }
            }
            return true;
        }
        NodeData::Text(text) => builder.text(text),
        NodeData::Comment(text) => builder.comment(text),
        NodeData::Document => {}
    }
    false
}
