//! Splits a start tag into its name and attributes.

use std::ops::Range;

/// Maximum number of attributes of a tag.
const MAX_ATTRIBUTES: usize = 500;

/// One attribute, as ranges of the tag. The value excludes its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The name in `<name …>`.
pub(crate) fn name(open: &str) -> &str {
    let inner = open.strip_prefix('<').unwrap_or_default();
    &inner[..name_length(inner)]
}

/// The attributes of a tag, in order. Stops at the first malformed one.
pub(crate) fn attributes(open: &str) -> impl Iterator<Item = Attribute> + '_ {
    let mut position = (1 + name(open).len()).min(open.len());
    std::iter::from_fn(move || match next(open, position) {
        Next::Attribute(one) => {
            position = one.value.end + 1;
            Some(one)
        }
        _ => None,
    })
}

/// Byte and description of the first error in a tag; None for a correct tag.
pub(super) fn fault(open: &str) -> Option<(usize, String)> {
    let element = name(open);
    if !element.starts_with(|first: char| first.is_alphabetic() || "_:".contains(first)) {
        return Some((0, format!("`<{element}` is not a tag; write `&lt;` for a literal `<`")));
    }
    let mut position = 1 + element.len();
    let mut names = Vec::new();
    loop {
        // The search for duplicates takes quadratic time.
        if names.len() > MAX_ATTRIBUTES {
            return Some((
                0,
                format!("the tag `<{element}` has more than {MAX_ATTRIBUTES} attributes"),
            ));
        }
        match next(open, position) {
            Next::End => return None,
            Next::Malformed(position) => {
                return Some((
                    position,
                    format!("expected `name=\"value\"` in the tag `<{element}`"),
                ));
            }
            Next::Attribute(one) => {
                let named = &open[one.name.clone()];
                if names.contains(&named) {
                    return Some((
                        one.name.start,
                        format!("attribute `{named}` occurs twice in `<{element}`"),
                    ));
                }
                names.push(named);
                position = one.value.end + 1;
            }
        }
    }
}

enum Next {
    Attribute(Attribute),
    End,
    /// Byte of the error.
    Malformed(usize),
}

fn next(open: &str, from: usize) -> Next {
    let start = skip_space(open, from);
    if ["", ">", "/>"].contains(&&open[start..]) {
        return Next::End;
    }
    let name = start..start + name_length(&open[start..]);
    let equals = skip_space(open, name.end);
    // XML requires white space before each attribute.
    if start == from || name.is_empty() || !open[equals..].starts_with('=') {
        return Next::Malformed(start);
    }
    let quote = skip_space(open, equals + 1);
    let Some(mark) = open[quote..].chars().next().filter(|mark| "\"'".contains(*mark)) else {
        return Next::Malformed(quote);
    };
    match open[quote + 1..].find(mark) {
        Some(length) => Next::Attribute(Attribute { name, value: quote + 1..quote + 1 + length }),
        None => Next::Malformed(quote),
    }
}

fn name_length(text: &str) -> usize {
    text.find(|one: char| is_space(one) || "/>=\"'<".contains(one)).unwrap_or(text.len())
}

fn skip_space(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    from + rest.find(|one| !is_space(one)).unwrap_or(rest.len())
}

fn is_space(one: char) -> bool {
    matches!(one, ' ' | '\t' | '\r' | '\n')
}
