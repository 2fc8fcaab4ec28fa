//! Translates regular expressions of JMeter (Perl syntax, as Apache ORO reads it) to the
//! syntax of Rust's `regex`.
//!
//! Escapes braces that start no quantifier, and set operations of Rust within brackets. Removes the
//! backslash of `\<` and `\>`. Keeps `${…}`, which is evaluated before the expression is compiled.

/// Translates an expression to the syntax of `regex`.
pub fn translated(pattern: &str) -> String {
    let mut translator =
        PatternTranslator { rest: pattern, out: String::with_capacity(pattern.len() + 8) };
    while let Some(next) = translator.rest.chars().next() {
        if translator.expression() || translator.escape() {
            continue;
        }
        match next {
            '[' => translator.class(),
            '{' if translator.quantifier() => {}
            '{' | '}' => translator.plain(next),
            _ => translator.take(next),
        }
    }
    translator.out
}

/// Apache ORO's error message for an expression. None if it is valid, or contains variables.
pub fn error_of(pattern: &str) -> Option<&'static str> {
    if pattern.contains("${") {
        return None;
    }
    OroSyntax { rest: pattern, open: 0, last: LastToken::Nothing }.error()
}

/// Kind of the previous token of an expression.
#[derive(Clone, Copy, PartialEq)]
enum LastToken {
    Nothing,
    Atom,
    Repetition,
}

/// Parses an expression as Apache ORO does, as far as necessary to detect errors.
struct OroSyntax<'p> {
    rest: &'p str,
    /// Number of open groups.
    open: usize,
    last: LastToken,
}

impl OroSyntax<'_> {
    fn error(mut self) -> Option<&'static str> {
        while let Some(next) = self.rest.chars().next() {
            self.rest = &self.rest[next.len_utf8()..];
            let error = match next {
                '\\' => self.escape(),
                '[' => self.class(),
                '(' => self.group(),
                ')' => self.close(),
                '*' | '+' | '?' => self.repetition(),
                '{' => self.brace(),
                // After `|`, a quantifier has no operand.
                '|' => {
                    self.last = LastToken::Nothing;
                    None
                }
                _ => {
                    self.last = LastToken::Atom;
                    None
                }
            };
            if error.is_some() {
                return error;
            }
        }
        (self.open > 0).then_some("Unmatched parentheses.")
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    fn escape(&mut self) -> Option<&'static str> {
        self.last = LastToken::Atom;
        let Some(next) = self.rest.chars().next() else {
            return Some("Trailing \\ in expression.");
        };
        self.skip(next.len_utf8());
        None
    }

    fn class(&mut self) -> Option<&'static str> {
        self.last = LastToken::Atom;
        let begin = usize::from(self.rest.starts_with('^'));
        let mut is_escaped = false;
        let mut in_named_class = false;
        for (position, character) in self.rest.char_indices().skip(begin) {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                ':' if self.rest[..position].ends_with('[') => in_named_class = true,
                ']' if in_named_class && self.rest[..position].ends_with(':') => {
                    in_named_class = false;
                }
                // Directly after `[` or `[^`, a `]` is literal.
                ']' if position > begin && !in_named_class => {
                    self.skip(position + 1);
                    return None;
                }
                _ => {}
            }
        }
        Some("Unmatched [] in expression.")
    }

    fn group(&mut self) -> Option<&'static str> {
        self.last = LastToken::Nothing;
        let Some(kind) = self.rest.strip_prefix('?') else {
            self.open += 1;
            return None;
        };
        let flags = kind.len() - kind.trim_start_matches(['i', 'm', 's', 'x', 'g', 'o']).len();
        match kind.chars().next() {
            Some('<') => return Some("Sequence (?<...) not recognized"),
            Some('P') => return Some("Sequence (?P...) not recognized"),
            // `(?#…)` is a comment.
            Some('#') => self.skip(self.rest.find(')').map_or(self.rest.len(), |end| end + 1)),
            // `(?i)` only sets flags; it opens no group.
            _ if flags > 0 && kind[flags..].starts_with(')') => self.skip(flags + 2),
            _ => {
                self.open += 1;
                // Skips `?:`, `?=` or `?!`.
                self.skip(self.rest.chars().take(2).map(char::len_utf8).sum());
            }
        }
        None
    }

    fn close(&mut self) -> Option<&'static str> {
        self.last = LastToken::Atom;
        let Some(open) = self.open.checked_sub(1) else { return Some("Unmatched parentheses.") };
        self.open = open;
        None
    }

    fn repetition(&mut self) -> Option<&'static str> {
        match self.last {
            LastToken::Nothing => return Some("?+* follows nothing in expression"),
            LastToken::Repetition => return Some("Nested repetitions *?+ in expression"),
            LastToken::Atom => self.last = LastToken::Repetition,
        }
        // A `?` after a quantifier makes it lazy.
        if self.rest.starts_with('?') {
            self.skip(1);
        }
        None
    }

    fn brace(&mut self) -> Option<&'static str> {
        let within = self.rest.split_once('}').map_or("", |(within, _)| within);
        let (least, most) = within.split_once(',').unwrap_or((within, ""));
        // Other braces are literal.
        if least.is_empty()
            || !is_digits(least)
            || !is_digits(most)
            || self.last == LastToken::Nothing
        {
            self.last = LastToken::Atom;
            return None;
        }
        self.skip(within.len() + 1);
        self.repetition()
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

struct PatternTranslator<'p> {
    rest: &'p str,
    out: String,
}

impl PatternTranslator<'_> {
    /// Copies a character of the pattern.
    fn take(&mut self, character: char) {
        self.rest = &self.rest[character.len_utf8()..];
        self.out.push(character);
    }

    /// Copies a character with a backslash.
    fn plain(&mut self, character: char) {
        self.out.push('\\');
        self.take(character);
    }

    /// Copies the next bytes.
    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// Copies `${…}` with nested braces.
    fn expression(&mut self) -> bool {
        if !self.rest.starts_with("${") {
            return false;
        }
        let mut depth = 0_u32;
        for (position, character) in self.rest.char_indices() {
            match character {
                '{' => depth += 1,
                '}' if depth == 1 => {
                    self.copy(position + 1);
                    return true;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// Translates a backslash and the next character.
    fn escape(&mut self) -> bool {
        let Some(after) = self.rest.strip_prefix('\\') else { return false };
        let Some(next) = after.chars().next() else {
            self.rest = after;
            self.out.push_str(r"\\");
            return true;
        };
        self.rest = &after[next.len_utf8()..];
        match next {
            // In Rust, `\<` and `\>` are word boundaries; in Perl, they are literal.
            '<' | '>' => self.out.push(next),
            // In Perl, `\Z` also matches before a final newline.
            'Z' => self.out.push_str(r"\n?\z"),
            // Rust has no escape for the control character ESC.
            'e' => self.out.push_str(r"\x1B"),
            plain if plain.is_ascii_alphanumeric() || plain.is_ascii_punctuation() => {
                self.out.extend(['\\', plain]);
            }
            // Rust rejects a backslash before other characters.
            plain => self.out.push(plain),
        }
        true
    }

    /// Copies `{3}`, `{3,}` or `{3,5}`; returns false for other braces.
    fn quantifier(&mut self) -> bool {
        let Some(end) = self.rest.find('}') else { return false };
        let within = &self.rest[1..end];
        let (least, most) = within.split_once(',').unwrap_or((within, ""));
        // Braces without an operand are literal.
        let has_operand =
            self.out.chars().next_back().is_some_and(|last| !matches!(last, '(' | '|'));
        let is_quantifier = has_operand && !least.is_empty() && is_digits(least) && is_digits(most);
        if is_quantifier {
            self.copy(end + 1);
        }
        is_quantifier
    }

    /// Translates a character class: `[…]`.
    fn class(&mut self) {
        self.take('[');
        if self.rest.starts_with('^') {
            self.take('^');
        }
        let mut is_first = true;
        while let Some(next) = self.rest.chars().next() {
            if self.expression() || self.escape() {
                is_first = false;
                continue;
            }
            match next {
                ']' if !is_first => return self.take(next),
                '[' if self.rest.starts_with("[:") && self.rest.contains(":]") => {
                    let end = self.rest.find(":]").map_or(1, |position| position + 2);
                    self.copy(end);
                }
                // In Rust, an inner `[` opens a nested class.
                '[' | ']' => self.plain(next),
                // In Rust, `&&`, `~~` and `--` are set operations.
                '&' | '~' | '-' if self.rest.chars().nth(1) == Some(next) => {
                    self.plain(next);
                    self.plain(next);
                }
                _ => self.take(next),
            }
            is_first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn perl_expressions_are_translated() {
        for (perl, rust) in [
            (r#"{"id":"(.+?)"}"#, r#"\{"id":"(.+?)"\}"#),
            (r"\d{4}-\d{2,}a{1,3}", r"\d{4}-\d{2,}a{1,3}"),
            (r"a{b}", r"a\{b\}"),
            (
                r#"\<input name=\"csrf\" value=\"(.*?)\"\/>"#,
                r#"<input name=\"csrf\" value=\"(.*?)\"\/>"#,
            ),
            (r"[^[]+[]a]", r"[^\[]+[\]a]"),
            (r"[a&&b--c]", r"[a\&\&b\-\-c]"),
            (r"[[:alpha:]_]", r"[[:alpha:]_]"),
            (r"x=${y};{z}", r"x=${y};\{z\}"),
            (r"${__P(a,${b})}{", r"${__P(a,${b})}\{"),
            (r"({2}|{3})", r"(\{2\}|\{3\})"),
            (r"\Qa", r"\Qa"),
            ("end\\", r"end\\"),
            (r"\é[\é]", r"é[é]"),
        ] {
            assert_eq!(translated(perl), rust, "{perl}");
        }
    }

    #[test]
    fn errors_have_the_wording_of_oro() {
        for (pattern, error) in [
            (r#"{"items": ["#, Some("Unmatched [] in expression.")),
            ("[]", Some("Unmatched [] in expression.")),
            ("[a", Some("Unmatched [] in expression.")),
            ("(bad[regex", Some("Unmatched [] in expression.")),
            ("*abc", Some("?+* follows nothing in expression")),
            ("a|+", Some("?+* follows nothing in expression")),
            ("(unclosed", Some("Unmatched parentheses.")),
            ("abc)", Some("Unmatched parentheses.")),
            ("a**", Some("Nested repetitions *?+ in expression")),
            ("a++", Some("Nested repetitions *?+ in expression")),
            ("\\", Some("Trailing \\ in expression.")),
            ("(?<n>id)", Some("Sequence (?<...) not recognized")),
            (r#"(?<=")id"#, Some("Sequence (?<...) not recognized")),
            (r#"{"id":"(.+?)"}"#, None),
            (r"[^]]+[]a][[:alpha:]_]\[\)", None),
            ("(?i)token(?:a|b)(?=c)(?!d)(?#e)", None),
            ("a{1,2}?b{3}x{", None),
            ("{}", None),
            ("(${x}", None),
        ] {
            assert_eq!(error_of(pattern), error, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn plain_texts_are_unchanged(text in r"[a-z{}<>=:, \x22]{0,40}") {
            let regex = regex::Regex::new(&format!(r"\A(?:{})\z", translated(&text)));
            prop_assert!(regex.is_ok_and(|regex| regex.is_match(&text)), "{text}");
        }

        #[test]
        fn any_text_is_translated(text in r"[\[\]{}()\\$^&~\-:,a0 é]{0,40}") {
            translated(&text);
            error_of(&text);
        }
    }
}
