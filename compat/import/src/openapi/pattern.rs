//! Texts that match a regular expression of a schema (ECMA 262).

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};

/// Characters of a class in the order of their preference.
const PREFERRED: &str = "a1A0bcdefghijklmnopqrstuvwxyz23456789BCDEFGHIJKLMNOPQRSTUVWXYZ-_. ";
/// Number of alternatives that are tried.
const TRIED_ALTERNATIVES: usize = 4;
/// Maximum length of a text.
const MAX_LENGTH: usize = 1000;

/// Texts that may match an expression, in the order of preference: short ones first. At least one has
/// `least` characters if the expression admits it. The caller checks them, since look-around is ignored.
/// `variant` changes characters, so that each number gives other texts.
pub(super) fn candidates(pattern: &str, least: usize, variant: usize) -> Vec<String> {
    let plain = without_look_around(&in_syntax_of_rust(pattern));
    let parser = regex_syntax::ParserBuilder::new().utf8(false).build().parse(&plain);
    let Ok(expression) = parser else { return Vec::new() };
    let mut texts = Vec::new();
    // Longer texts by more repetitions of each part that may be repeated, and other alternatives.
    let repetitions = [0, 1, 3, 8, least.min(MAX_LENGTH)];
    let tries = (0..TRIED_ALTERNATIVES).flat_map(|other| repetitions.map(|count| (other, count)));
    for (other, repetitions) in tries {
        let mut text = String::new();
        append(&expression, repetitions, variant + other, &mut text);
        let missing = least.saturating_sub(text.chars().count()).min(MAX_LENGTH);
        // An expression that is not anchored may be followed by anything.
        text.extend(std::iter::repeat_n('x', if pattern.ends_with('$') { 0 } else { missing }));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Appends a text for an expression, with at least so many repetitions of its parts.
fn append(expression: &Hir, repetitions: usize, variant: usize, text: &mut String) {
    if text.len() > MAX_LENGTH {
        return;
    }
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => {
            let place = text.chars().count();
            text.extend(character(class, variant + place * usize::from(repetitions > 0)));
        }
        HirKind::Repetition(part) => {
            let most = part.max.map_or(usize::MAX, |most| most as usize);
            let count = (part.min as usize).max(repetitions).min(most).min(MAX_LENGTH);
            for _ in 0..count {
                append(&part.sub, repetitions, variant, text);
            }
        }
        HirKind::Capture(group) => append(&group.sub, repetitions, variant, text),
        HirKind::Concat(parts) => {
            for part in parts {
                append(part, repetitions, variant, text);
            }
        }
        HirKind::Alternation(parts) => {
            append(&parts[variant % parts.len()], repetitions, variant, text);
        }
    }
}

/// A character of a class, a readable one if there is one; None if the class is empty.
fn character(class: &Class, variant: usize) -> Option<char> {
    let class = match class {
        Class::Unicode(class) => class.clone(),
        Class::Bytes(class) => class.to_unicode_class()?,
    };
    let contains = |c: &char| class.iter().any(|range| (range.start()..=range.end()).contains(c));
    let readable: Vec<char> = PREFERRED.chars().filter(contains).collect();
    if readable.is_empty() {
        return class.iter().next().map(ClassUnicodeRange::start);
    }
    Some(readable[variant % readable.len()])
}

/// The expression without look-ahead and look-behind.
fn without_look_around(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let is_look_around =
            ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|opening| rest.starts_with(opening));
        let length = match c {
            _ if is_look_around => group_length(rest),
            '\\' => c.len_utf8() + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        if !is_look_around {
            out.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    out
}

/// Length of the group at the begin of a text, in bytes.
fn group_length(text: &str) -> usize {
    let mut depth = 0;
    let mut is_escaped = false;
    let mut is_in_class = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '(' if !is_in_class => depth += 1,
            ')' if !is_in_class => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The expression with the meaning of ECMA 262 in Rust's syntax: `\w` and `\d` are ASCII, and in a class, `[`,
/// `&`, `~` and `-` after another class are literal.
pub(super) fn in_syntax_of_rust(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut characters = pattern.chars().peekable();
    let mut is_in_class = false;
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                let Some(escaped) = characters.next() else { break };
                match escaped {
                    'w' if is_in_class => out.push_str("0-9A-Za-z_"),
                    'd' if is_in_class => out.push_str("0-9"),
                    'w' => out.push_str("[0-9A-Za-z_]"),
                    'd' => out.push_str("[0-9]"),
                    // Rust knows other escapes for them.
                    '<' | '>' => out.push(escaped),
                    escaped => out.extend(['\\', escaped]),
                }
                let is_class = matches!(escaped, 'w' | 'W' | 'd' | 'D' | 's' | 'S');
                if is_in_class && is_class && characters.peek() == Some(&'-') {
                    characters.next();
                    out.push_str("\\-");
                }
            }
            '[' | '&' | '~' if is_in_class => out.extend(['\\', c]),
            c => {
                is_in_class = c == '[' || (is_in_class && c != ']');
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fancy_regex::Regex;

    #[test]
    fn texts_match_their_expression() {
        let patterns = [
            "^[a-z]{3,8}$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^(?!.*--)[\w-]+$",
            r"^(?=.*\d)(?=.*[a-z])[a-z\d]{8,}$",
            r"^arn:aws[a-zA-Z-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+$",
            r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
            "^(foo|bar)?$",
            r"[\w-.]+",
            r"^#([A-Fa-f0-9]{6}|[A-Fa-f0-9]{3})$",
            "^[[&~]{2}$",
            r"^\/v1\/.+$",
            r"\p{L}+",
            "",
            r"^arn:(aws|aws-cn):(iam|sts)::\d+:(root|(user\/[\w+=/:,.@-]{1,64}))$",
        ];
        for pattern in patterns {
            let regex = Regex::new(&in_syntax_of_rust(pattern)).unwrap();
            for variant in 0..3 {
                let texts = candidates(pattern, 0, variant);
                assert!(
                    texts.iter().any(|text| regex.is_match(text).unwrap()),
                    "{pattern}: {texts:?}"
                );
            }
        }
        let longest = candidates("^[a-z]+$", 40, 0).pop().unwrap();
        assert!(longest.len() >= 40, "{longest}");
        let role = r"(^$)|(^arn:aws:iam::\d{12}:role/([\w+=,.@-]{1,512}[/:])*([\w+=,.@-]{1,64})$)";
        let texts = candidates(role, 1, 0);
        let role = Regex::new(&in_syntax_of_rust(role)).unwrap();
        assert!(texts[1..].iter().all(|text| role.is_match(text).unwrap()), "{texts:?}");
        assert!(candidates("(", 0, 0).is_empty());
    }
}
