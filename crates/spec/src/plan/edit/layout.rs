//! Text of a plan file → ranges of its values, in bytes.

use crate::plan::yaml::{protect_braces, restore_braces};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::ops::Range;

/// The range of a value in the text.
#[derive(Debug)]
pub(super) struct Layout {
    /// End of the colon or dash before the value; the end of the key if there is no colon.
    pub(super) indicator_end: usize,
    /// Range from the first to the last character; empty at `indicator_end` if nothing is written.
    pub(super) range: Range<usize>,
    pub(super) content: Content,
    pub(super) has_anchor: bool,
}

/// The form of a value in the text.
#[derive(Debug)]
pub(super) enum Content {
    /// No value is written.
    Null,
    /// A single value, or a part that is changed only as a whole.
    Scalar,
    /// Lines below a header such as `|-`.
    BlockScalar { header_end: usize },
    /// An alias such as `*name`.
    Alias,
    /// Items, or keys with their values.
    Collection { style: Style, members: Vec<Member> },
}

/// Notation of a list or map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// One line for each member.
    Block,
    /// In one line, within brackets or braces.
    Flow,
}

/// An item of a list, or a key of a map with its value.
#[derive(Debug)]
pub(super) struct Member {
    /// Key of a map; None for an item of a list.
    pub(super) key: Option<String>,
    /// Start of the key, the dash or the item.
    pub(super) start: usize,
    pub(super) value: Layout,
}

impl Layout {
    /// Items or keys of a list or map; empty for a single value.
    pub(super) fn members(&self) -> &[Member] {
        match &self.content {
            Content::Collection { members, .. } => members,
            Content::Null | Content::Scalar | Content::BlockScalar { .. } | Content::Alias => &[],
        }
    }

    pub(super) fn style(&self) -> Style {
        match self.content {
            Content::Collection { style, .. } => style,
            Content::Null | Content::Scalar | Content::BlockScalar { .. } | Content::Alias => {
                Style::Block
            }
        }
    }

    /// Checks that the value can be changed without changing others.
    ///
    /// # Errors
    ///
    /// The reason why it cannot.
    pub(super) fn check_editable(&self) -> Result<(), &'static str> {
        match self.content {
            Content::Alias => Err("the value is an alias for another value"),
            // Aliases elsewhere in the file would get the new value.
            _ if self.has_anchor => {
                Err("the value has an anchor, so its aliases would change with it")
            }
            _ => Ok(()),
        }
    }
}

/// Reads the layout of the YAML text of a plan; None if it has a key that is not a text.
pub(super) fn read(text: &str) -> Option<Layout> {
    let mark = text.strip_prefix('\u{feff}');
    // The parser counts characters; ranges of the text are bytes.
    let mut offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
    // The end of the last value is after the last character.
    offsets.push(text.len());
    // One character replaces each brace, so the positions in characters stay the same.
    let protected_text = protect_braces(mark.unwrap_or(text));
    let mut reader = LayoutReader {
        text,
        // The parser counts characters without the byte order mark.
        offsets: offsets.split_off(usize::from(mark.is_some())),
        parser: Parser::new_from_str(&protected_text),
    };
    loop {
        if let (Event::DocumentStart(_), _) = reader.next()? {
            let start = reader.peek_start()?;
            return reader.value(start, Style::Block);
        }
    }
}

struct LayoutReader<'t> {
    text: &'t str,
    /// Byte offset of each character.
    offsets: Vec<usize>,
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
}

impl<'t> LayoutReader<'t> {
    fn next(&mut self) -> Option<(Event<'t>, Range<usize>)> {
        let (event, span) = self.parser.next_event()?.ok()?;
        Some((event, self.bytes(span)))
    }

    fn bytes(&self, span: Span) -> Range<usize> {
        self.offset(span.start.index())..self.offset(span.end.index())
    }

    fn offset(&self, character: usize) -> usize {
        self.offsets.get(character).copied().unwrap_or(self.text.len())
    }

    fn peek_start(&mut self) -> Option<usize> {
        let (_, span) = self.parser.peek()?.ok()?;
        let span = *span;
        Some(self.bytes(span).start)
    }

    fn is_at_end(&mut self) -> Option<bool> {
        let (event, _) = self.parser.peek()?.ok()?;
        Some(matches!(event, Event::SequenceEnd | Event::MappingEnd))
    }

    /// Reads the value after a colon or dash that ends at `indicator_end`.
    fn value(&mut self, indicator_end: usize, around: Style) -> Option<Layout> {
        let (event, range) = self.next()?;
        let (anchor, content, range) = match event {
            Event::Alias(_) => (0, Content::Alias, range),
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) if text.is_empty() => {
                (anchor, Content::Null, indicator_end..indicator_end)
            }
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, anchor, _) => {
                let (content, range) = self.block_scalar(indicator_end, range);
                (anchor, content, range)
            }
            Event::Scalar(_, ScalarStyle::Plain, anchor, _) => (anchor, Content::Scalar, range),
            Event::Scalar(_, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, anchor, _) => {
                (anchor, Content::Scalar, range.start..self.quote_end(range.start))
            }
            Event::SequenceStart(anchor, _) => {
                let (content, range) = self.list(indicator_end, around, range)?;
                (anchor, content, range)
            }
            Event::MappingStart(anchor, _) => {
                let (content, range) = self.map(around, range)?;
                (anchor, content, range)
            }
            _ => return None,
        };
        Some(Layout { indicator_end, range, content, has_anchor: anchor > 0 })
    }

    fn block_scalar(&self, indicator_end: usize, content: Range<usize>) -> (Content, Range<usize>) {
        let start = self.skip_blank(indicator_end);
        let header_length =
            self.text[start..].find(char::is_whitespace).unwrap_or(self.text.len() - start);
        let header_end = start + header_length;
        // With `+`, the empty lines at the end belong to the value.
        let keeps_end = self.text[start..header_end].contains('+');
        let end = if keeps_end { content.end } else { self.content_end(&content) };
        let lines = &self.text[..end];
        let lines = lines.strip_suffix('\n').unwrap_or(lines);
        (
            Content::BlockScalar { header_end },
            start..lines.strip_suffix('\r').unwrap_or(lines).len().max(header_end),
        )
    }

    /// End of the lines of a block, without empty lines at its end. Empty lines have no text beyond
    /// the indentation of the block.
    fn content_end(&self, content: &Range<usize>) -> usize {
        let indentation = content.start
            - self.text[..content.start].rfind('\n').map_or(0, |position| position + 1);
        let mut end = content.start;
        let mut position = content.start;
        for line in self.text[content.clone()].split_inclusive('\n') {
            position += line.len();
            let text = line.trim_end_matches(['\r', '\n']);
            if !text.trim().is_empty() || text.len() > indentation {
                end = position;
            }
        }
        end
    }

    fn list(
        &mut self,
        indicator_end: usize,
        around: Style,
        start: Range<usize>,
    ) -> Option<(Content, Range<usize>)> {
        let style = self.style(around, &start);
        let mut members: Vec<Member> = Vec::new();
        while !self.is_at_end()? {
            let previous_end =
                members.last().map_or(indicator_end, |member| member.value.range.end);
            let start = match style {
                // The parser reports the item, but not the place of its dash.
                Style::Block => self.skip_blank(previous_end),
                Style::Flow => self.peek_start()?,
            };
            let item_start = if style == Style::Block { start + 1 } else { start };
            members.push(Member { key: None, start, value: self.value(item_start, style)? });
        }
        self.collection(style, members, start)
    }

    fn map(&mut self, around: Style, start: Range<usize>) -> Option<(Content, Range<usize>)> {
        let style = self.style(around, &start);
        let mut members = Vec::new();
        while !self.is_at_end()? {
            let (Event::Scalar(key, ..), range) = self.next()? else { return None };
            let colon = self.skip_blank(range.end);
            let indicator_end =
                if self.text[colon..].starts_with(':') { colon + 1 } else { range.end };
            let value = self.value(indicator_end, style)?;
            members.push(Member { key: Some(restore_braces(&key)), start: range.start, value });
        }
        self.collection(style, members, start)
    }

    /// Within brackets, all values are in flow style. The parser's range of a block is empty,
    /// except for an anchor.
    fn style(&self, around: Style, start: &Range<usize>) -> Style {
        // The parser reports both styles by the same event.
        let is_bracket = !start.is_empty()
            && self.text[self.after_anchor(start.start)..].starts_with(['[', '{']);
        // Within brackets every collection is in flow style, also a pair without braces.
        if is_bracket || around == Style::Flow { Style::Flow } else { Style::Block }
    }

    /// End of a quoted text. The parser's range also includes white space and comments after it.
    fn quote_end(&self, start: usize) -> usize {
        let start = self.after_anchor(start);
        let is_double = self.text[start..].starts_with('"');
        let mut characters = self.text[start..].char_indices().skip(1).peekable();
        while let Some((offset, character)) = characters.next() {
            match character {
                // In single quotes a backslash is literal; `''` is the only escape (YAML 1.2
                // section 7.3.2).
                '\\' if is_double => drop(characters.next()),
                '\'' if !is_double && characters.next_if(|(_, next)| *next == '\'').is_some() => {}
                '"' if is_double => return start + offset + 1,
                '\'' if !is_double => return start + offset + 1,
                _ => {}
            }
        }
        self.text.len()
    }

    fn after_anchor(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        if !rest.starts_with('&') {
            return start;
        }
        self.skip_blank(start + rest.find(char::is_whitespace).unwrap_or(rest.len()))
    }

    fn collection(
        &mut self,
        style: Style,
        members: Vec<Member>,
        start: Range<usize>,
    ) -> Option<(Content, Range<usize>)> {
        let (_, end) = self.next()?;
        let range = match (style, &members[..]) {
            (Style::Block, [first, .., last]) => first.start..last.value.range.end,
            (Style::Block, [only]) => only.start..only.value.range.end,
            // The parser's range also includes white space and comments after the bracket.
            (Style::Flow, _) | (Style::Block, []) => {
                start.start..end.start + usize::from(!end.is_empty())
            }
        };
        Some((Content::Collection { style, members }, range))
    }

    /// Position after white space and comments.
    fn skip_blank(&self, mut position: usize) -> usize {
        loop {
            let rest = &self.text[position..];
            let blank = rest.len() - rest.trim_start().len();
            position += blank;
            if !self.text[position..].starts_with('#') {
                return position;
            }
            position += self.text[position..].find('\n').unwrap_or(self.text.len() - position);
        }
    }
}
