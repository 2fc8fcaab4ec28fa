//! Splits text into tokens.

use super::token::{Kind, MARKS, OTHER_MARKS, Part, Token};
use crate::error::SyntaxError;
use crate::script::Dialect;

/// Maximum nesting of templates.
// The lexer calls itself for each level.
const TEMPLATE_DEPTH: usize = 8;

/// Converts characters to tokens.
pub(super) struct Lexer {
    pub letters: Vec<char>,
    pub position: usize,
    line: u32,
    line_start: usize,
    dialect: Dialect,
    depth: usize,
}

/// Returns all tokens of a script, followed by `End`.
pub(super) fn tokens(source: &str, dialect: Dialect) -> Result<Vec<Token>, SyntaxError> {
    let mut letters: Vec<char> = source.trim_start_matches('\u{feff}').chars().collect();
    // In Groovy, a first line with `#!` is a comment.
    if letters.starts_with(&['#', '!']) {
        letters.splice(0..2, ['/', '/']);
    }
    let mut lexer = Lexer { letters, position: 0, line: 1, line_start: 0, dialect, depth: 0 };
    lexer.run(Until::End)
}

/// End of a run of the lexer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Brace,
}

impl Lexer {
    fn run(&mut self, until: Until) -> Result<Vec<Token>, SyntaxError> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut braces = 0_usize;
        loop {
            let before = (self.position, self.line);
            self.skip_blanks()?;
            let line = self.line;
            let column = self.column();
            let has_space_before = self.position > before.0;
            let is_first_of_line = line > before.1;
            let kind = self.token(tokens.last().map(|last| &last.kind))?;
            match kind {
                Kind::Mark("{") => braces += 1,
                Kind::Mark("}") if braces == 0 && until == Until::Brace => {
                    tokens.push(Token {
                        kind: Kind::End,
                        line,
                        column,
                        is_first_of_line,
                        has_space_before,
                    });
                    return Ok(tokens);
                }
                Kind::Mark("}") => braces = braces.saturating_sub(1),
                Kind::End if until == Until::Brace => {
                    return Err(self.error("`${` of a string has no `}`"));
                }
                _ => {}
            }
            let ended = kind == Kind::End;
            tokens.push(Token { kind, line, column, is_first_of_line, has_space_before });
            if ended {
                return Ok(tokens);
            }
        }
    }

    pub fn peek(&self, ahead: usize) -> char {
        self.letters.get(self.position + ahead).copied().unwrap_or('\0')
    }

    /// Consumes a character and counts lines.
    pub fn next(&mut self) -> Option<char> {
        let letter = *self.letters.get(self.position)?;
        self.position += 1;
        if letter == '\n' {
            self.line += 1;
            self.line_start = self.position;
        }
        Some(letter)
    }

    pub fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, letter)| self.peek(index) == letter)
    }

    fn column(&self) -> u32 {
        (self.position - self.line_start + 1) as u32
    }

    pub fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError { line: self.line, column: self.column(), message: message.into() }
    }

    fn skip_blanks(&mut self) -> Result<(), SyntaxError> {
        loop {
            let letter = self.peek(0);
            if self.starts_with("//") {
                while self.position < self.letters.len() && self.peek(0) != '\n' {
                    self.position += 1;
                }
            } else if self.starts_with("/*") {
                self.skip_comment()?;
            } else if letter == '\\' && matches!(self.peek(1), '\n' | '\r') {
                // A backslash joins lines.
                self.position += 1 + usize::from(self.starts_with("\\\r\n"));
                self.position += 1;
            } else if letter.is_whitespace()
                || (letter == '\0' && self.position < self.letters.len())
                || letter == '\u{feff}'
            {
                self.next();
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), SyntaxError> {
        // The error shows the start of the comment, because its end may be anywhere.
        let begin = self.error("`/*` has no `*/`");
        self.position += 2;
        while !self.starts_with("*/") {
            if self.next().is_none() {
                return Err(begin);
            }
        }
        self.position += 2;
        Ok(())
    }

    fn token(&mut self, last: Option<&Kind>) -> Result<Kind, SyntaxError> {
        if self.position >= self.letters.len() {
            return Ok(Kind::End);
        }
        let letter = self.peek(0);
        // After a value, a point begins a member.
        let is_fraction = letter == '.' && self.peek(1).is_ascii_digit() && !ends_value(last);
        if letter.is_ascii_digit() || is_fraction {
            return Ok(self.number());
        }
        if letter == '$'
            && self.peek(1) == '/'
            && !ends_value(last)
            && self.dialect == Dialect::Groovy
        {
            return self.dollar_slashy();
        }
        if is_name_start(letter) {
            return Ok(Kind::Name(self.name().into()));
        }
        match letter {
            '\'' | '"' => self.string_literal(letter),
            '/' if !ends_value(last) && self.dialect == Dialect::Groovy && self.is_slashy() => {
                self.slashy()
            }
            _ => self.mark(),
        }
    }

    /// True if `/` may begin a string, because another `/` follows before the end of the script.
    fn is_slashy(&self) -> bool {
        self.letters[self.position + 1..].contains(&'/')
    }

    fn mark(&mut self) -> Result<Kind, SyntaxError> {
        // Longest match first: `a ?[b] : c` is not a safe index, and `x ?.5 : 1`
        // is not safe navigation.
        let mark = MARKS.iter().chain(OTHER_MARKS.iter()).find(|mark| self.starts_with(mark));
        let Some(mark) = mark else {
            return Err(self.error(format!(
                "character `{}` means nothing here",
                self.peek(0).escape_default()
            )));
        };
        self.position += mark.len();
        Ok(Kind::Mark(mark))
    }

    fn name(&mut self) -> String {
        let begin = self.position;
        while is_name_part(self.peek(0)) {
            self.position += 1;
        }
        self.letters[begin..self.position].iter().collect()
    }

    fn number(&mut self) -> Kind {
        let begin = self.position;
        let radix = self.peek(0) == '0' && matches!(self.peek(1), 'x' | 'X' | 'b' | 'B');
        if radix {
            self.position += 2;
        }
        loop {
            let letter = self.peek(0);
            let fraction =
                letter == '.' && self.peek(1).is_ascii_digit() && !radix && !self.has_point(begin);
            let sign = matches!(letter, '+' | '-')
                && !radix
                && matches!(self.letters[self.position - 1], 'e' | 'E')
                && self.peek(1).is_ascii_digit();
            if letter.is_ascii_alphanumeric()
                || letter == '_'
                || fraction
                || (sign && self.position > begin)
            {
                self.position += 1;
            } else {
                break;
            }
        }
        // In Java, `1.` is valid if no name follows.
        let text: String =
            self.letters[begin..self.position].iter().filter(|letter| **letter != '_').collect();
        Kind::Number(text.into())
    }

    fn has_point(&self, begin: usize) -> bool {
        self.letters[begin..self.position].contains(&'.')
    }

    fn string_literal(&mut self, quote: char) -> Result<Kind, SyntaxError> {
        let triple: String = [quote; 3].iter().collect();
        let is_long = self.starts_with(&triple);
        let is_template = quote == '"' && self.dialect == Dialect::Groovy;
        let begin = self.error("string has no end");
        self.position += if is_long { 3 } else { 1 };
        let mut text = Pieces::default();
        loop {
            // A quote directly before the closing quotes belongs to the text.
            if is_long && self.starts_with(&triple) && self.peek(3) != quote {
                self.position += 3;
                break;
            }
            match self.next() {
                None => return Err(begin),
                Some(letter) if !is_long && letter == quote => break,
                Some('\n') if !is_long => return Err(begin),
                Some('\\') => self.escape(&mut text.current)?,
                Some('$') if is_template => self.interpolation(&mut text)?,
                // Groovy converts the line ends of a string to LF.
                Some('\r') if is_long && self.peek(0) == '\n' => {}
                Some(letter) => text.current.push(letter),
            }
        }
        Ok(self.literal(text, quote))
    }

    fn literal(&self, text: Pieces, quote: char) -> Kind {
        let mut letters = text.current.chars();
        match (letters.next(), letters.next()) {
            // In Java, single quotes enclose a character.
            (Some(letter), None) if quote == '\'' && self.dialect == Dialect::BeanShell => {
                Kind::Char(letter)
            }
            _ => text.kind(),
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        let Some(letter) = self.next() else { return Err(self.error("string ends after `\\`")) };
        let character = match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            's' => ' ',
            'u' => return self.unicode(text),
            '0'..='7' => {
                let mut code = letter.to_digit(8).unwrap_or(0);
                // The last octal escape is `\377`.
                while let Some(digit) =
                    self.peek(0).to_digit(8).filter(|digit| code * 8 + digit < 256)
                {
                    code = code * 8 + digit;
                    self.position += 1;
                }
                char::from_u32(code).unwrap_or('\u{fffd}')
            }
            '\n' => return Ok(()),
            '\r' if self.peek(0) == '\n' => {
                self.next();
                return Ok(());
            }
            '\\' | '\'' | '"' | '$' | '/' => letter,
            // Groovy rejects other escapes. JMeter's substitution leaves such escapes, and users
            // mean the literal text.
            other => {
                text.push('\\');
                other
            }
        };
        text.push(character);
        Ok(())
    }

    fn unicode(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        // Java allows more than one `u`.
        while self.peek(0) == 'u' {
            self.position += 1;
        }
        let mut code = 0;
        for _ in 0..4 {
            let digit = self
                .peek(0)
                .to_digit(16)
                .ok_or_else(|| self.error("`\\u` needs four hexadecimal digits"))?;
            code = code * 16 + digit;
            self.position += 1;
        }
        // A surrogate pair consists of two escapes.
        if (0xd800..0xdc00).contains(&code) && self.starts_with("\\u") {
            let low: String = (2..6).map(|ahead| self.peek(ahead)).collect();
            if let Some(low) =
                u32::from_str_radix(&low, 16).ok().filter(|low| (0xdc00..0xe000).contains(low))
            {
                self.position += 6;
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
        Ok(())
    }

    /// Parses the part of a template after `$`.
    fn interpolation(&mut self, text: &mut Pieces) -> Result<(), SyntaxError> {
        if self.peek(0) == '{' {
            self.position += 1;
            if self.depth >= TEMPLATE_DEPTH {
                return Err(self.error(format!(
                    "strings in `${{…}}` of strings nest deeper than {TEMPLATE_DEPTH}"
                )));
            }
            self.depth += 1;
            let code = self.run(Until::Brace)?;
            self.depth -= 1;
            text.code(code);
        } else if is_name_start(self.peek(0)) && self.peek(0) != '$' {
            let code = self.path();
            text.code(code);
        } else {
            text.current.push('$');
        }
        Ok(())
    }

    /// Parses names with dots: `name.name.name`.
    fn path(&mut self) -> Vec<Token> {
        let line = self.line;
        let column = self.column();
        let mut tokens = Vec::new();
        loop {
            let begin = self.position;
            // In `$a$b`, the second `$` begins another name.
            while is_name_part(self.peek(0)) && self.peek(0) != '$' {
                self.position += 1;
            }
            let name: String = self.letters[begin..self.position].iter().collect();
            tokens.push(path_token(Kind::Name(name.into()), line, column));
            if self.peek(0) != '.' || !is_name_start(self.peek(1)) || self.peek(1) == '$' {
                tokens.push(path_token(Kind::End, line, column));
                return tokens;
            }
            self.position += 1;
            tokens.push(path_token(Kind::Mark("."), line, column));
        }
    }

    fn slashy(&mut self) -> Result<Kind, SyntaxError> {
        let begin = self.error("`/` begins a string that has no end");
        self.position += 1;
        let mut text = Pieces::default();
        loop {
            match self.next() {
                None => return Err(begin),
                Some('/') => return Ok(text.kind()),
                Some('\\') if self.peek(0) == '/' => {
                    self.position += 1;
                    text.current.push('/');
                }
                Some('$') => self.interpolation(&mut text)?,
                Some(letter) => text.current.push(letter),
            }
        }
    }

    fn dollar_slashy(&mut self) -> Result<Kind, SyntaxError> {
        let begin = self.error("`$/` begins a string that has no `/$`");
        self.position += 2;
        let mut text = Pieces::default();
        loop {
            if self.starts_with("/$") {
                self.position += 2;
                return Ok(text.kind());
            }
            match self.next() {
                None => return Err(begin),
                Some('$') if matches!(self.peek(0), '$' | '/') => {
                    let letter = self.next().unwrap_or('$');
                    text.current.push(letter);
                }
                Some('$') => self.interpolation(&mut text)?,
                Some(letter) => text.current.push(letter),
            }
        }
    }
}

/// Parts of a string that is being read.
#[derive(Default)]
struct Pieces {
    /// Text since the last part.
    current: String,
    parts: Vec<Part>,
}

impl Pieces {
    fn code(&mut self, code: Vec<Token>) {
        if !self.current.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.current).into()));
        }
        self.parts.push(Part::Code(code));
    }

    fn kind(mut self) -> Kind {
        if self.parts.is_empty() {
            return Kind::Text(self.current.into());
        }
        if !self.current.is_empty() {
            self.parts.push(Part::Text(self.current.into()));
        }
        Kind::Template(self.parts)
    }
}

fn path_token(kind: Kind, line: u32, column: u32) -> Token {
    Token { kind, line, column, is_first_of_line: false, has_space_before: false }
}

/// True if `/` after this token is a division.
fn ends_value(last: Option<&Kind>) -> bool {
    // After these words, `/` begins a string, as in `return /a/`.
    const NO_VALUES: [&str; 10] =
        ["return", "in", "case", "assert", "throw", "else", "do", "new", "instanceof", "println"];
    match last {
        Some(Kind::Name(name)) => !NO_VALUES.contains(&&**name),
        Some(Kind::Text(_) | Kind::Template(_) | Kind::Char(_) | Kind::Number(_)) => true,
        Some(Kind::Mark(mark)) => matches!(*mark, ")" | "]" | "}" | "++" | "--"),
        _ => false,
    }
}

fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || letter == '$'
}

fn is_name_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}
