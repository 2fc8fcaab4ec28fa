//! Reads HTML with `html5ever`, within a budget of steps.
//!
//! Trees of browsers take quadratic time for hostile pages: each tag may look through all open elements, each attribute through
//! those before it. Steps are counted as the tree builder asks its sink, and the rest of a page beyond the budget is left off.

mod sink;
#[cfg(test)]
mod tests;

use crate::document::{Builder, Document, MAX_BYTES};
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{self, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use sink::{Handle, Raw, Sink, Tree};
use std::cell::Cell;

/// Bytes given to the tokenizer at a time.
const PIECE: usize = 4096;

/// Steps that any page may take, and more for each byte. An ordinary page takes about 1 a byte.
const STEPS: u64 = 20_000_000;
const STEPS_PER_BYTE: u64 = 16;

/// Steps of comparing a formatting element with an open one, attributes included.
const COMPARISON: u64 = 32;

/// Separators of attributes that one tag or comment may have; the tokenizer compares each attribute with all before it.
const SEPARATORS: usize = 1 << 15;

/// Elements that the tree builder compares with all open ones of these.
const FORMATTING: [&str; 13] =
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

pub(crate) fn parse(source: &str) -> Document {
    let (tree, _, is_whole) = build(source);
    let mut document = flatten(&tree);
    document.truncated = !is_whole;
    document
}

/// The linked tree, the steps it took, and whether all of the source was read.
fn build(source: &str) -> (Tree, u64, bool) {
    let budget = STEPS + STEPS_PER_BYTE * source.len() as u64;
    let options = TreeBuilderOpts { scripting_enabled: false, drop_doctype: true, ..TreeBuilderOpts::default() };
    let builder = TreeBuilder::new(Sink::new(budget), options);
    let tokenizer = Tokenizer::new(
        Guard { builder, tokens: Cell::new(0), formatting: Cell::new(0) },
        tokenizer::TokenizerOpts::default(),
    );
    let is_fed = feed(&tokenizer, source);
    tokenizer.end();
    let sink = tokenizer.sink.builder.sink;
    let (left, is_whole) = (sink.steps_left(), is_fed && !sink.is_exhausted());
    (sink.into_tree(), budget - left, is_whole)
}

/// Feeds the source in pieces while there are steps left; whether all of it was fed.
fn feed(tokenizer: &Tokenizer<Guard>, source: &str) -> bool {
    let queue = BufferQueue::default();
    let mut rest = source;
    let (mut tokens, mut separators) = (0, 0);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if tokens != tokenizer.sink.tokens.get() {
            (tokens, separators) = (tokenizer.sink.tokens.get(), 0);
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

/// Counts the tokens on their way to the tree builder, and drops them once the budget is used up.
struct Guard {
    builder: TreeBuilder<Handle, Sink>,
    /// How many tokens there were, errors not counted.
    tokens: Cell<u64>,
    /// Formatting elements that were begun and not ended.
    formatting: Cell<u64>,
}

impl TokenSink for Guard {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
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
        self.builder.sink.charge(attributes * attributes / 8);
        if !FORMATTING.contains(&&*tag.name) {
            return;
        }
        let open = self.formatting.get();
        if tag.kind == TagKind::EndTag {
            self.formatting.set(open.saturating_sub(1));
        } else {
            self.builder.sink.charge(open * (attributes + 1) * COMPARISON);
            self.formatting.set(open + 1);
        }
    }
}

/// Copies the linked tree into a document.
fn flatten(tree: &Tree) -> Document {
    let mut builder = Builder::html();
    let mut next = tree.first_child(sink::ROOT);
    while let Some(node) = next {
        let is_open = emit(tree.raw(node), &mut builder);
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

/// Adds one node; whether it was an element, which is now open.
fn emit(raw: &Raw, builder: &mut Builder) -> bool {
    match raw {
        Raw::Element(name, attributes) => {
            builder.open(&name.local);
            for one in attributes {
                match &one.name.prefix {
                    Some(prefix) => builder.attribute(&format!("{prefix}:{}", one.name.local), &one.value),
                    None => builder.attribute(&one.name.local, &one.value),
                }
            }
            return true;
        }
        Raw::Text(text) => builder.text(text),
        Raw::Comment(text) => builder.comment(text),
        Raw::Document => {}
    }
    false
}
