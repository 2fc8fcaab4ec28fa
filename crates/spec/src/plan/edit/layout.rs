//! Finds the byte range of each value in the text of a plan file, for edits of single values.

use crate::plan::yaml::{protect_braces, restore_braces};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::ops::Range;

/// A value in the text, with the values inside it.
#[derive(Debug)]
pub struct Layout {
    /// End of the colon or dash before the value. Without one: the end of the key; for the root and
    /// for items in brackets, the start of the value.
    pub(super) indicator_end: usize,
    /// Range from the first to the last character; empty at `indicator_end` if nothing is written.
    pub range: Range<usize>,
    pub(super) content: Content,
    pub(super) has_anchor: bool,
}

/// The form of a value in the text.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing is written. A written `null` or `~` is a [`Scalar`](Self::Scalar).
    Null,
    /// A plain or quoted text, number or word, on one or several lines.
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
    /// Each member begins on a line, with a dash or key.
    Block,
    /// Within brackets or braces, on one or several lines.
    Flow,
}

/// An item of a list, or a key of a map with its value.
#[derive(Debug)]
pub struct Member {
    /// Key of a map; None for an item of a list.
    pub key: Option<String>,
    /// Start of the key, the dash or the item.
    pub start: usize,
    /// The value, with the values inside it.
    pub value: Layout,
}

impl Layout {
    /// Reads the layout of the first document of a YAML text. None if a key is a list, map or alias,
    /// the text is no YAML, or it has no document.
    pub fn read(text: &str) -> Option<Self> {
        let without_bom = text.strip_prefix('\u{feff}');
        let mut offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
        // The end of the last value is after the last character.
        offsets.push(text.len());
        let protected_text = protect_braces(without_bom.unwrap_or(text));
        let mut reader = LayoutReader {
            text,
            // The parser counts characters without the byte order mark.
            offsets: offsets.split_off(usize::from(without_bom.is_some())),
            parser: Parser::new_from_str(&protected_text),
        };
        loop {
            if let (Event::DocumentStart(_), _) = reader.next()? {
                let start = reader.peek_start()?;
                return reader.value(start, Style::Block);
            }
        }
    }

    /// Items or keys of a list or map; empty for a single value.
    pub fn members(&self) -> &[Member] {
        match &self.content {
            Content::Collection { members, .. } => members,
            Content::Null | Content::Scalar | Content::BlockScalar { .. } | Content::Alias => &[],
        }
    }

    /// Notation of a list or map; `Block` for a single value.
    pub(super) fn style(&self) -> Style {
        match self.content {
            Content::Collection { style, .. } => style,
            Content::Null | Content::Scalar | Content::BlockScalar { .. } | Content::Alias => {
                Style::Block
            }
        }
    }

    /// Checks that the value is no alias and has no anchor. The values around it are not checked.
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

/// Reads the parser's events. Methods that return an `Option` return None at the end of the events
/// and on a YAML error, unless their docs differ.
struct LayoutReader<'t> {
    text: &'t str,
    /// Byte offset of each character after the byte order mark, and of the end of the text.
    offsets: Vec<usize>,
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
}

impl<'t> LayoutReader<'t> {
    /// Takes the next event, with its byte range.
    fn next(&mut self) -> Option<(Event<'t>, Range<usize>)> {
        let (event, span) = self.parser.next_event()?.ok()?;
        Some((event, self.byte_range(span)))
    }

    fn byte_range(&self, span: Span) -> Range<usize> {
        self.offset(span.start.index())..self.offset(span.end.index())
    }

    /// Byte offset of a character by its index; the end of the text beyond the last one.
    fn offset(&self, character: usize) -> usize {
        self.offsets.get(character).copied().unwrap_or(self.text.len())
    }

    fn peek_start(&mut self) -> Option<usize> {
        let (_, span) = self.parser.peek()?.ok()?;
        let span = *span;
        Some(self.byte_range(span).start)
    }

    /// True if the next event ends the current list or map.
    fn is_at_collection_end(&mut self) -> Option<bool> {
        let (event, _) = self.parser.peek()?.ok()?;
        Some(matches!(event, Event::SequenceEnd | Event::MappingEnd))
    }

    /// Reads the value after a colon or dash that ends at `indicator_end`. `around` is the notation
    /// of the list or map that contains it. None also if a map in it has a key that is no scalar.
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

    /// Content and range of a text below a header such as `|-`. `lines` is the parser's range of
    /// its lines.
    fn block_scalar(&self, indicator_end: usize, lines: Range<usize>) -> (Content, Range<usize>) {
        let start = self.after_blank(indicator_end);
        let header_length =
            self.text[start..].find(char::is_whitespace).unwrap_or(self.text.len() - start);
        let header_end = start + header_length;
        // With `+`, the empty lines at the end belong to the value.
        let keeps_end = self.text[start..header_end].contains('+');
        let end = if keeps_end { lines.end } else { self.last_line_end(&lines) };
        // The last line break is not part of the range.
        let before = &self.text[..end];
        let before = before.strip_suffix('\n').unwrap_or(before);
        let before = before.strip_suffix('\r').unwrap_or(before);
        (Content::BlockScalar { header_end }, start..before.len().max(header_end))
    }

    /// End of the last line of a block that is not empty. A line is empty if it consists of white
    /// space that is no longer than the indentation of the block.
    fn last_line_end(&self, lines: &Range<usize>) -> usize {
        let indentation =
            lines.start - self.text[..lines.start].rfind('\n').map_or(0, |position| position + 1);
        let mut end = lines.start;
        let mut position = lines.start;
        for line in self.text[lines.clone()].split_inclusive('\n') {
            position += line.len();
            let text = line.trim_end_matches(['\r', '\n']);
            if !text.trim().is_empty() || text.len() > indentation {
                end = position;
            }
        }
        end
    }

    /// Reads the items of a list and its end. `opening` is the range of the event that opened it.
    fn list(
        &mut self,
        indicator_end: usize,
        around: Style,
        opening: Range<usize>,
    ) -> Option<(Content, Range<usize>)> {
        let style = self.style(around, &opening);
        let mut members: Vec<Member> = Vec::new();
        while !self.is_at_collection_end()? {
            let previous_end =
                members.last().map_or(indicator_end, |member| member.value.range.end);
            let start = match style {
                Style::Block => self.after_blank(previous_end),
                Style::Flow => self.peek_start()?,
            };
            let dash_end = if style == Style::Block { start + 1 } else { start };
            members.push(Member { key: None, start, value: self.value(dash_end, style)? });
        }
        self.end_collection(style, members, opening)
    }

    /// Reads the keys and values of a map and its end; None if a key is a list, map or alias.
    fn map(&mut self, around: Style, opening: Range<usize>) -> Option<(Content, Range<usize>)> {
        let style = self.style(around, &opening);
        let mut members = Vec::new();
        while !self.is_at_collection_end()? {
            let (Event::Scalar(key, ..), range) = self.next()? else { return None };
            let colon = self.after_blank(range.end);
            let indicator_end =
                if self.text[colon..].starts_with(':') { colon + 1 } else { range.end };
            let value = self.value(indicator_end, style)?;
            members.push(Member { key: Some(restore_braces(&key)), start: range.start, value });
        }
        self.end_collection(style, members, opening)
    }

    /// Notation of the list or map that begins with this event. Within brackets, all values are in
    /// flow style. The event of a block has an empty range, or the range of an anchor.
    fn style(&self, around: Style, opening: &Range<usize>) -> Style {
        let is_bracket = !opening.is_empty()
            && self.text[self.after_anchor(opening.start)..].starts_with(['[', '{']);
        if is_bracket || around == Style::Flow { Style::Flow } else { Style::Block }
    }

    /// End of a quoted text, after its closing quote. The parser's range also includes white space
    /// and comments after it.
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

    /// Position after an anchor `&name` and the blanks after it; `start` if there is no anchor.
    fn after_anchor(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        if !rest.starts_with('&') {
            return start;
        }
        self.after_blank(start + rest.find(char::is_whitespace).unwrap_or(rest.len()))
    }

    /// Takes the end event of a list or map, and returns its content and range: to the closing
    /// bracket, or to the end of the last member.
    fn end_collection(
        &mut self,
        style: Style,
        members: Vec<Member>,
        opening: Range<usize>,
    ) -> Option<(Content, Range<usize>)> {
        let (_, end) = self.next()?;
        let range = match (style, &members[..]) {
            (Style::Block, [first, .., last]) => first.start..last.value.range.end,
            (Style::Block, [only]) => only.start..only.value.range.end,
            // The parser's range also includes white space and comments after the bracket.
            (Style::Flow, _) | (Style::Block, []) => {
                opening.start..end.start + usize::from(!end.is_empty())
            }
        };
        Some((Content::Collection { style, members }, range))
    }

    /// Position after white space, line breaks and comments.
    fn after_blank(&self, mut position: usize) -> usize {
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
