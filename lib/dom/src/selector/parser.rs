//! Parses CSS selectors.

use super::ast::{Combinator, Complex, Matcher, Place, Simple};
use crate::error::ExpressionError;

/// Maximum nesting depth of brackets.
const MAX_DEPTH: usize = 8;

/// Maximum number of simple selectors, each of which may take a pass over the document.
const MAX_SIMPLE: usize = 256;

/// Maximum size of a selector in bytes.
const MAX_BYTES: usize = 1 << 14;

type Parsed<T> = Result<T, ExpressionError>;

pub(super) fn parse(source: &str) -> Parsed<Vec<Complex>> {
    let mut parser = Parser { source, position: 0, depth: 0, simple: 0 };
    if source.len() > MAX_BYTES {
        return Err(parser.fault(format!("the selector has more than {MAX_BYTES} bytes")));
    }
    let list = parser.list(None)?;
    if parser.rest().is_empty() { Ok(list) } else { Err(parser.unexpected("a selector")) }
}

struct Parser<'s> {
    source: &'s str,
    position: usize,
    depth: usize,
    simple: usize,
}

impl<'s> Parser<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.position..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Consumes a text if it is next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.position += if is_next { text.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// Skips white space. Returns true if there was some.
    fn space(&mut self) -> bool {
        let trimmed = self.rest().trim_start();
        let length = self.rest().len() - trimmed.len();
        self.position += length;
        length > 0
    }

    fn fault(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError::at(self.source, self.position, message)
    }

    fn unexpected(&self, expected: &str) -> ExpressionError {
        let actual = self
            .peek()
            .map_or("the end of the selector".to_owned(), |letter| format!("`{letter}`"));
        self.fault(format!("expected {expected}, found {actual}"))
    }

    /// Parses selectors with commas between them. Those of `:has()` may begin with a combinator;
    /// `first` is its default.
    fn list(&mut self, first: Option<Combinator>) -> Parsed<Vec<Complex>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fault(format!("brackets are nested more than {MAX_DEPTH} deep")));
        }
        let mut all = Vec::new();
        loop {
            all.push(self.complex(first)?);
            if !self.take(",") {
                self.depth -= 1;
                return Ok(all);
            }
        }
    }

    fn complex(&mut self, first: Option<Combinator>) -> Parsed<Complex> {
        self.space();
        let mut combinator = first.unwrap_or(Combinator::Descendant);
        if first.is_some() {
            combinator = self.symbol().unwrap_or(combinator);
            self.space();
        }
        let mut parts = vec![(combinator, self.compound()?)];
        loop {
            let had_space = self.space();
            let symbol = self.symbol();
            self.space();
            match symbol {
                Some(combinator) => parts.push((combinator, self.compound()?)),
                None if had_space
                    && !self.rest().is_empty()
                    && !self.rest().starts_with([',', ')']) =>
                {
                    parts.push((Combinator::Descendant, self.compound()?));
                }
                None => return Ok(parts),
            }
        }
    }

    fn symbol(&mut self) -> Option<Combinator> {
        let combinator = match self.peek()? {
            '>' => Combinator::Child,
            '+' => Combinator::Next,
            '~' => Combinator::Later,
            _ => return None,
        };
        self.position += 1;
        Some(combinator)
    }

    fn compound(&mut self) -> Parsed<Vec<Simple>> {
        let mut all = Vec::new();
        if self.take("*") {
            all.push(Simple::Any);
        } else if self.is_name() {
            let mut name = self.name()?;
            if self.take("|") {
                name = format!("{name}:{}", self.name()?);
            }
            all.push(Simple::Name(name));
        }
        loop {
            if self.take("#") {
                all.push(Simple::Id(self.name()?));
            } else if self.take(".") {
                all.push(Simple::Class(self.name()?));
            } else if self.take("[") {
                all.push(self.attribute()?);
            } else if self.take(":") {
                self.pseudo(&mut all)?;
            } else if all.is_empty() {
                return Err(self.unexpected("an element name, `*`, `#`, `.`, `[` or `:`"));
            } else {
                break;
            }
        }
        // Each part takes a pass over the document, so their number bounds the work.
        self.simple += all.len();
        if self.simple > MAX_SIMPLE {
            return Err(self.fault(format!("the selector has more than {MAX_SIMPLE} parts")));
        }
        Ok(all)
    }

    fn is_name(&self) -> bool {
        self.peek().is_some_and(|letter| {
            letter.is_alphanumeric() || "_-\\".contains(letter) || !letter.is_ascii()
        })
    }

    /// Parses a name. A backslash before any character makes it a letter, or
    /// precedes its hexadecimal code.
    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        while let Some(letter) = self.peek().filter(|_| self.is_name()) {
            self.position += letter.len_utf8();
            name.push(if letter == '\\' { self.escaped()? } else { letter });
        }
        if name.is_empty() { Err(self.unexpected("a name")) } else { Ok(name) }
    }

    fn escaped(&mut self) -> Parsed<char> {
        // CSS allows at most six hexadecimal digits.
        let digits = self.rest().bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&self.rest()[..digits], 16).unwrap_or(0);
            self.position += digits;
            // One space terminates the digits.
            self.take(" ");
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let letter = self.peek().ok_or_else(|| self.unexpected("a character after `\\`"))?;
        self.position += letter.len_utf8();
        Ok(letter)
    }

    /// Parses an attribute selector after `[`.
    fn attribute(&mut self) -> Parsed<Simple> {
        self.space();
        let mut name = self.name()?;
        while self.take(":") {
            name = format!("{name}:{}", self.name()?);
        }
        self.space();
        let operators = [
            ("=", Matcher::Equal),
            ("!=", Matcher::NotEqual),
            ("~=", Matcher::Word),
            ("|=", Matcher::Dash),
            ("^=", Matcher::Start),
            ("$=", Matcher::End),
            ("*=", Matcher::Inside),
        ];
        let mut condition = None;
        let mut ignores_case = false;
        if let Some((_, matcher)) = operators.iter().find(|(symbol, _)| self.take(symbol)) {
            self.space();
            condition = Some((*matcher, self.value()?));
            self.space();
            ignores_case = self.take("i") || self.take("I");
            self.space();
        }
        self.expect("]")?;
        Ok(Simple::Attribute { name, condition, ignores_case })
    }

    /// Parses a quoted value, or an unquoted one up to a space or `]`.
    fn value(&mut self) -> Parsed<String> {
        if let Some(quote) = self.peek().filter(|letter| "\"'".contains(*letter)) {
            return self.quoted(quote);
        }
        let end = self.rest().find(|letter: char| letter.is_whitespace() || letter == ']');
        let value = &self.rest()[..end.unwrap_or(self.rest().len())];
        if value.is_empty() {
            return Err(self.unexpected("a value"));
        }
        self.position += value.len();
        Ok(value.to_owned())
    }

    fn quoted(&mut self, quote: char) -> Parsed<String> {
        let start = self.position;
        self.position += 1;
        let mut value = String::new();
        while let Some(letter) = self.peek() {
            self.position += letter.len_utf8();
            match letter {
                '\\' => value.push(self.escaped()?),
                other if other == quote => return Ok(value),
                other => value.push(other),
            }
        }
        Err(ExpressionError::at(self.source, start, format!("the text has no closing {quote}")))
    }

    /// Parses a pseudo-class after `:`.
    fn pseudo(&mut self, all: &mut Vec<Simple>) -> Parsed<()> {
        let start = self.position;
        let name = self.name()?.to_ascii_lowercase();
        let has_arguments = self.take("(");
        let parsed =
            if has_arguments { self.with_arguments(&name)? } else { without_arguments(&name) };
        let Some(mut parts) = parsed else {
            let shown = if has_arguments { format!(":{name}(…)") } else { format!(":{name}") };
            return Err(ExpressionError::at(
                self.source,
                start,
                format!("`{shown}` is not supported"),
            ));
        };
        if has_arguments {
            self.space();
            self.expect(")")?;
        }
        // A place counts the elements found so far, and within brackets there is no such list.
        if self.depth > 1 && parts.iter().any(|part| matches!(part, Simple::Place(_))) {
            let message = format!("`:{name}` may not stand within brackets; use :nth-child(…)");
            return Err(ExpressionError::at(self.source, start, message));
        }
        all.append(&mut parts);
        Ok(())
    }

    fn with_arguments(&mut self, name: &str) -> Parsed<Option<Vec<Simple>>> {
        Ok(Some(vec![match name {
            "not" => Simple::Not(self.list(None)?),
            "is" | "where" => Simple::Is(self.list(None)?),
            "has" => Simple::Has(self.list(Some(Combinator::Descendant))?),
            "contains" => Simple::Contains(self.contained()?.to_ascii_lowercase()),
            "eq" => Simple::Place(Place::At(self.integer()?)),
            "lt" => Simple::Place(Place::Below(self.integer()?)),
            "gt" => Simple::Place(Place::Above(self.integer()?)),
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(true, false)?,
            "nth-of-type" => self.nth(false, true)?,
            "nth-last-of-type" => self.nth(true, true)?,
            _ => return Ok(None),
        }]))
    }

    /// Parses the text of `:contains()`, with or without quotes. Brackets in it must be balanced.
    fn contained(&mut self) -> Parsed<String> {
        self.space();
        if let Some(quote) = self.peek().filter(|letter| "\"'".contains(*letter)) {
            return self.quoted(quote);
        }
        let mut open = 0;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                ')' if open == 0 => break,
                ')' => open -= 1,
                '(' => open += 1,
                _ => {}
            }
            self.position += letter.len_utf8();
            text.push(if letter == '\\' { self.escaped()? } else { letter });
        }
        Ok(text.trim().to_owned())
    }

    /// Consumes the text up to the closing bracket, without white space.
    fn argument(&mut self) -> String {
        let end = self.rest().find(')').unwrap_or(self.rest().len());
        let text = &self.rest()[..end];
        self.position += end;
        text.split_whitespace().collect::<String>().to_ascii_lowercase()
    }

    fn integer(&mut self) -> Parsed<i64> {
        let start = self.position;
        let text = self.argument();
        // 32 bits, so that sums and differences of positions fit into 64 bits.
        text.parse::<i32>().map(i64::from).map_err(|_| {
            let message = format!("`{text}` is not a position; write a number such as 0 or -1");
            ExpressionError::at(self.source, start, message)
        })
    }

    fn nth(&mut self, from_end: bool, of_type: bool) -> Parsed<Simple> {
        let start = self.position;
        let text = self.argument();
        let (step, offset) = nth(&text).ok_or_else(|| {
            let message =
                format!("`{text}` is not a position; write for example `2`, `odd` or `3n+1`");
            ExpressionError::at(self.source, start, message)
        })?;
        Ok(Simple::Nth { step, offset, from_end, of_type })
    }
}

/// Parses the step and offset of `an+b`.
fn nth(text: &str) -> Option<(i64, i64)> {
    match text {
        "odd" => return Some((2, 1)),
        "even" => return Some((2, 0)),
        _ => {}
    }
    let Some((step, offset)) = text.split_once('n') else {
        return Some((0, integer(text)?));
    };
    let step = match step {
        "" | "+" => 1,
        "-" => -1,
        step => integer(step)?,
    };
    Some((step, if offset.is_empty() { 0 } else { integer(offset)? }))
}

fn integer(text: &str) -> Option<i64> {
    text.parse::<i32>().ok().map(i64::from)
}

fn without_arguments(name: &str) -> Option<Vec<Simple>> {
    Some(match name {
        "first-child" => vec![first(false, false)],
        "last-child" => vec![first(true, false)],
        "only-child" => vec![first(false, false), first(true, false)],
        "first-of-type" => vec![first(false, true)],
        "last-of-type" => vec![first(true, true)],
        "only-of-type" => vec![first(false, true), first(true, true)],
        "first" => vec![Simple::Place(Place::At(0))],
        "last" => vec![Simple::Place(Place::At(-1))],
        "empty" => vec![Simple::Empty],
        "root" => vec![Simple::Root],
        "checked" => vec![Simple::Checked],
        "disabled" => vec![Simple::Disabled],
        "enabled" => vec![Simple::Enabled],
        _ => return None,
    })
}

/// Matches the first child, from the start or from the end, of all or of its type.
fn first(from_end: bool, of_type: bool) -> Simple {
    Simple::Nth { step: 0, offset: 1, from_end, of_type }
}
