//! `${…}` in texts: variables, and functions whose arguments are texts again.
//!
//! | text | becomes |
//! |---|---|
//! | `${name}` | the value of the variable |
//! | `${name(a,b)}`, `${__name(a,b)}` | what the function makes of its arguments, see [`functions`](crate::texts::functions) |
//!
//! Arguments end at a comma or at the parenthesis; parentheses within them nest. A backslash before `$`, a comma or a backslash makes
//! it plain. Arguments are not trimmed.

use std::collections::HashSet;

/// A stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stretch {
    /// It stands for itself.
    Literal(String),
    /// `${name}`.
    Variable {
        /// The name.
        name: String,
        /// As it was written.
        written: String,
    },
    /// `${name(…)}`.
    Call {
        /// The name, without `__`.
        name: String,
        /// Its arguments.
        arguments: Vec<Vec<Stretch>>,
        /// As it was written.
        written: String,
    },
}

/// Deeper calls within calls are not read.
const DEEPEST: usize = 64;

/// Reads of each character of a text, at most.
const MOST_LOOKS: usize = 100;

/// Reads a text. What is malformed stays as it is.
pub fn parse(text: &str) -> Vec<Stretch> {
    if !text.contains("${") {
        return vec![Stretch::Literal(text.to_owned())];
    }
    let mut reader = Reader { text, at: 0, depth: 0, malformed: HashSet::new(), steps: text.len() * MOST_LOOKS };
    reader.stretches(&|_| false)
}

/// The name of the variable that a call is where there is no such function; None: it has arguments. `written`: the call.
pub fn as_variable(written: &str) -> Option<&str> {
    let name = written.strip_prefix("${")?.strip_suffix('}')?;
    (!name.contains('(')).then_some(name.trim())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Where something begins that looked like an expression, and is none.
    malformed: HashSet<usize>,
    /// Characters that may still be looked at: what is malformed is looked at again.
    steps: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        self.steps = self.steps.saturating_sub(1);
        Some(next)
    }

    /// Up to the end of the text, or what ends an argument; parentheses nest there.
    fn stretches(&mut self, ends: &dyn Fn(char) -> bool) -> Vec<Stretch> {
        let (mut all, mut literal, mut open) = (Vec::new(), String::new(), 0_usize);
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
                literal.push(self.plain().unwrap_or('\\'));
                continue;
            }
            match next {
                '(' if ends(')') => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
            literal.push(next);
        }
        push_literal(&mut all, &mut literal);
        all
    }

    /// The character behind a backslash, where that makes it plain.
    fn plain(&mut self) -> Option<char> {
        self.peek().filter(|next| matches!(next, '$' | ',' | '\\')).and_then(|_| self.take())
    }

    /// `${…}`; None, and nothing is taken, where it is malformed.
    fn expression(&mut self) -> Option<Stretch> {
        let from = self.at;
        if self.depth == DEEPEST || self.steps == 0 || self.malformed.contains(&from) {
            return None;
        }
        self.at += 2;
        let stretch = self.within(from);
        if stretch.is_none() {
            self.at = from;
            self.malformed.insert(from);
        }
        stretch
    }

    fn within(&mut self, from: usize) -> Option<Stretch> {
        let length = self.rest().find(['}', '(', '$', '{'])?;
        let name = self.rest()[..length].to_owned();
        self.at += length;
        let written = |reader: &Self| reader.text[from..reader.at].to_owned();
        match self.take()? {
            '}' if name.starts_with("__") => {
                let written = written(self);
                Some(Stretch::Call {
                    name: name.trim_start_matches("__").trim().to_owned(),
                    arguments: Vec::new(),
                    written,
                })
            }
            '}' if !name.is_empty() => Some(Stretch::Variable { name: name.trim().to_owned(), written: written(self) }),
            '(' => {
                let arguments = self.arguments()?;
                let name = name.trim().trim_start_matches("__").to_owned();
                Some(Stretch::Call { name, arguments, written: written(self) })
            }
            _ => None,
        }
    }

    /// Behind the parenthesis: arguments, `)` and `}`.
    fn arguments(&mut self) -> Option<Vec<Vec<Stretch>>> {
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
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        while self.peek().is_some_and(char::is_whitespace) {
            self.take();
        }
        (self.take() == Some('}')).then_some(arguments)
    }
}

fn push_literal(all: &mut Vec<Stretch>, literal: &mut String) {
    if !literal.is_empty() {
        all.push(Stretch::Literal(std::mem::take(literal)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(stretches: &[Stretch]) -> String {
        let one = |stretch: &Stretch| match stretch {
            Stretch::Literal(text) => text.clone(),
            Stretch::Variable { name, .. } => format!("<{name}>"),
            Stretch::Call { name, arguments, .. } => {
                let arguments: Vec<String> = arguments.iter().map(|argument| shown(argument)).collect();
                format!("<{name}:{}>", arguments.join("|"))
            }
        };
        stretches.iter().map(one).collect()
    }

    #[test]
    fn texts_are_read_as_jmeter_reads_them() {
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
    fn calls_within_calls_end_somewhere() {
        let deep = "${f(".repeat(100_000) + &")}".repeat(100_000);
        parse(&deep[..2000]);
        parse(&"${f(".repeat(100_000));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r"[$\{\}\(\),\\a_ é]{0,60}") {
            parse(&text);
        }
    }
}
