//! Parses `${…}` in texts: variables, and functions with texts as arguments.
//!
//! | text | becomes |
//! |---|---|
//! | `${name}` | the value of the variable |
//! | `${name(a,b)}`, `${__name(a,b)}` | the result of the
//! function, see [`functions`](crate::texts::functions) |
//!
//! Arguments end at a comma or at the parenthesis; parentheses within them nest. A backslash before
//! `$`, a comma or a backslash makes it literal. Arguments are not trimmed.

use std::collections::HashSet;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    /// Text without an expression or placeholder.
    Literal(String),
    /// `${name}`.
    Variable {
        /// Name of the variable.
        name: String,
        /// Source text, from `${` to `}`.
        written: String,
    },
    /// `${name(…)}`.
    Call {
        /// Name of the function, without `__`.
        name: String,
        /// Arguments, each a text with expressions.
        arguments: Vec<Vec<TextPart>>,
        /// Source text, from `${` to `}`.
        written: String,
    },
}

/// Maximum depth of calls within calls.
const MAX_DEPTH: usize = 64;

/// Maximum number of reads per character of a text.
const MAX_READS: usize = 100;

/// Parses a text. Malformed expressions become literals.
pub fn parse(text: &str) -> Vec<TextPart> {
    if !text.contains("${") {
        return vec![TextPart::Literal(text.to_owned())];
    }
    let mut reader = ExpressionReader {
        text,
        position: 0,
        depth: 0,
        malformed: HashSet::new(),
        steps: text.len() * MAX_READS,
    };
    reader.stretches(&|_| false)
}

/// Returns the variable that a call without arguments names if there is no such function.
/// None: it has arguments.
pub fn as_variable(written: &str) -> Option<&str> {
    let name = written.strip_prefix("${")?.strip_suffix('}')?;
    (!name.contains('(')).then_some(name.trim())
}

struct ExpressionReader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
    /// Begins of texts that look like an expression but are malformed.
    malformed: HashSet<usize>,
    /// Number of character reads that are left: malformed parts are read again.
    steps: usize,
}

impl ExpressionReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        self.steps = self.steps.saturating_sub(1);
        Some(next)
    }

    /// Reads up to the end of the text, or to the end of an argument, in which parentheses nest.
    fn stretches(&mut self, ends: &dyn Fn(char) -> bool) -> Vec<TextPart> {
        let mut all = Vec::new();
        let mut literal = String::new();
        let mut open = 0_usize;
        while let Some(next) = self.peek() {
            if open == 0 && ends(next) {
                break;
            }
            if self.rest().starts_with("${")
                && let Some(stretch) = self.expression()
            {
                push_literal(&mut all, &mut literal);
                all.push(stretch);
                continue;
            }
            self.take();
            if next == '\\' {
                literal.push(self.escaped().unwrap_or('\\'));
                continue;
            }
            match next {
                // Parentheses only nest within arguments, which `)` ends.
                '(' if ends(')') => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
            literal.push(next);
        }
        push_literal(&mut all, &mut literal);
        all
    }

    /// Reads the character after a backslash, if it can be escaped.
    fn escaped(&mut self) -> Option<char> {
        self.peek().filter(|next| matches!(next, '$' | ',' | '\\')).and_then(|_| self.take())
    }

    /// Reads `${…}`. None, and nothing is read, if it is malformed.
    fn expression(&mut self) -> Option<TextPart> {
        let from = self.position;
        if self.depth == MAX_DEPTH || self.steps == 0 || self.malformed.contains(&from) {
            return None;
        }
        self.position += 2;
        let stretch = self.variable_or_call(from);
        if stretch.is_none() {
            self.position = from;
            // Otherwise malformed expressions within each other would be read again at each level.
            self.malformed.insert(from);
        }
        stretch
    }

    fn variable_or_call(&mut self, from: usize) -> Option<TextPart> {
        let length = self.rest().find(['}', '(', '$', '{'])?;
        let name = self.rest()[..length].to_owned();
        self.position += length;
        match self.take()? {
            // A function may be called without parentheses, such as `${__time}`.
            '}' if name.starts_with("__") => {
                let written = self.source(from);
                Some(TextPart::Call {
                    name: name.trim_start_matches("__").trim().to_owned(),
                    arguments: Vec::new(),
                    written,
                })
            }
            '}' if !name.is_empty() => Some(TextPart::Variable {
                name: name.trim().to_owned(),
                written: self.source(from),
            }),
            '(' => {
                let arguments = self.arguments()?;
                let name = name.trim().trim_start_matches("__").to_owned();
                Some(TextPart::Call { name, arguments, written: self.source(from) })
            }
            _ => None,
        }
    }

    /// Returns the text from an offset to the current position.
    fn source(&self, from: usize) -> String {
        self.text[from..self.position].to_owned()
    }

    /// Reads the arguments after the parenthesis, `)` and `}`.
    fn arguments(&mut self) -> Option<Vec<Vec<TextPart>>> {
        let mut arguments = Vec::new();
        self.depth += 1;
        loop {
            arguments.push(self.stretches(&|next| matches!(next, ',' | ')')));
            match self.take() {
                Some(',') => {}
                Some(')') => break,
                _ => {
                    self.depth -= 1;
                    return None;
                }
            }
        }
        self.depth -= 1;
        // `name()` has no argument, rather than an empty one.
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        while self.peek().is_some_and(char::is_whitespace) {
            self.take();
        }
        (self.take() == Some('}')).then_some(arguments)
    }
}

fn push_literal(all: &mut Vec<TextPart>, literal: &mut String) {
    if !literal.is_empty() {
        all.push(TextPart::Literal(std::mem::take(literal)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(stretches: &[TextPart]) -> String {
        let one = |stretch: &TextPart| match stretch {
            TextPart::Literal(text) => text.clone(),
            TextPart::Variable { name, .. } => format!("<{name}>"),
            TextPart::Call { name, arguments, .. } => {
                let arguments: Vec<String> =
                    arguments.iter().map(|argument| shown(argument)).collect();
                format!("<{name}:{}>", arguments.join("|"))
            }
        };
        stretches.iter().map(one).collect()
    }

    #[test]
    fn texts_are_parsed_like_jmeter() {
        for (text, expected) in [
            ("", ""),
            ("plain \\, \\$ $x {y}", "plain \\, \\$ $x {y}"),
            ("a${b}c", "a<b>c"),
            ("${__P(port,443)}", "<P:port|443>"),
            ("${__P(backendPort,${__P(port,443)})}", "<P:backendPort|<P:port|443>>"),
            ("${__V(a${b})}", "<V:a<b>>"),
            ("${__time}", "<time:>"),
            ("${__time()}", "<time:>"),
            ("${__time(,x)}", "<time:|x>"),
            ("${__Random(1, 9)}", "<Random:1| 9>"),
            (r"${__f(a\,b,\$x)}", "<f:a,b|$x>"),
            ("${__groovy(vars.get(\"a\"))}", "<groovy:vars.get(\"a\")>"),
            ("${__groovy(f(1,2),x)}", "<groovy:f(1,2)|x>"),
            ("${a${b}}", "${a<b>}"),
            ("${unclosed", "${unclosed"),
            ("${}", "${}"),
            ("${f(", "${f("),
            ("${__f(a)b}", "${__f(a)b}"),
            (r"${a}\x\\", r"<a>\x\"),
            ("x) ${a}", "x) <a>"),
        ] {
            assert_eq!(shown(&parse(text)), expected, "{text}");
        }
    }

    #[test]
    fn deeply_nested_calls_do_not_overflow_the_stack() {
        let deep = "${f(".repeat(100_000) + &")}".repeat(100_000);
        parse(&deep[..2000]);
        parse(&"${f(".repeat(100_000));
    }

    proptest! {
        #[test]
        fn any_text_is_accepted(text in r"[$\{\}\(\),\\a_ é]{0,60}") {
            parse(&text);
        }
    }
}
