//! Translates filters of Jayway `JSONPath`, which JMeter uses, to RFC 9535.
//!
//! | Jayway | RFC 9535 |
//! |---|---|
//! | `@.name =~ /a.*/i` | `match(@.name, '(?i)a.*')` |
//! | `@.id in [1, 2]`, `nin` | `(@.id == 1 \|\| @.id == 2)`, `!(…)` |
//! | `@.list size 2` | `length(@.list) == 2` |
//! | `@.list empty true` | `length(@.list) == 0` |
//! | `@.list contains 1` | `(@.list[?@ == 1] \|\| …)`, of a text `search(@.list, '1')` |
//! | `@.list anyof [1, 2]`, `noneof` | `@.list[?@ == 1 \|\| @ == 2]`, `!(…)` |
//! | `@.list subsetof [1, 2]` | `!(@.list[?!(@ == 1 \|\| @ == 2)])` |

/// Translates the filters of a path.
pub(super) fn translated_filters(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(begin) = rest.find("[?") {
        out.push_str(&rest[..begin + 2]);
        rest = &rest[begin + 2..];
        let end = end_of(rest, ']');
        out.push_str(&filter(&rest[..end]));
        rest = &rest[end..];
    }
    out + rest
}

/// Index of the closing bracket of a bracket opened before the text, or the length of the text
/// if it is missing.
fn end_of(text: &str, close: char) -> usize {
    let mut depth = 0_i32;
    let mut quote = None;
    let mut escaped = false;
    for (position, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), _) => quote = (letter != open).then_some(open),
            (None, '\'' | '"') => quote = Some(letter),
            (None, _) if letter == close && depth == 0 => return position,
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Translates a filter expression.
fn filter(expression: &str) -> String {
    let mut out = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => 1 + end_of_text(&rest[1..], first),
            '@' | '$' => {
                let path = &rest[..path_length(rest)];
                if let Some((test, after)) = comparison(path, &rest[path.len()..]) {
                    out.push_str(&test);
                    rest = after;
                    continue;
                }
                out.push_str(&translated_filters(path));
                rest = &rest[path.len()..];
                continue;
            }
            letter => letter.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Length of a quoted text including its closing quote, in bytes.
fn end_of_text(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (position, letter) in text.char_indices() {
        if letter == quote && !escaped {
            return position + quote.len_utf8();
        }
        escaped = letter == '\\' && !escaped;
    }
    text.len()
}

/// Length of the path at the start of a text, in bytes.
fn path_length(text: &str) -> usize {
    let mut position = 1;
    while let Some(letter) = text[position..].chars().next() {
        match letter {
            '[' => {
                position += 1
                    + end_of(&text[position + 1..], ']')
                    + usize::from(text[position + 1..].contains(']'));
            }
            '.' | '_' | '-' | '*' => position += 1,
            letter if letter.is_alphanumeric() => position += letter.len_utf8(),
            _ => break,
        }
        position = position.min(text.len());
    }
    position
}

/// Translates a comparison that RFC 9535 lacks. Returns it and the rest of the text;
/// None for other comparisons.
fn comparison<'t>(path: &str, after: &'t str) -> Option<(String, &'t str)> {
    let after = after.trim_start();
    if let Some(pattern) = after.strip_prefix("=~") {
        return matches(path, pattern.trim_start());
    }
    let end = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
    let operator = &after[..end];
    let operand = after[end..].trim_start();
    let (value, rest) = operand.split_at(operand_length(operand));
    let value = value.trim();
    let test = match operator {
        "in" => format!("({})", equals_any(path, value)),
        "nin" => format!("!({})", equals_any(path, value)),
        "size" => format!("length({path}) == {value}"),
        "empty" => format!("length({path}) {} 0", if value == "true" { "==" } else { "!=" }),
        "contains" => {
            // In Jayway, `contains` holds for an element of a list and for a part of a text.
            let literal = value.trim_matches(['\'', '"']);
            let pattern = format!("'{}'", escaped_pattern(literal));
            format!("({path}[?@ == {value}] || search({path}, {pattern}))")
        }
        "anyof" => format!("{path}[?{}]", equals_any("@", value)),
        "noneof" => format!("!({path}[?{}])", equals_any("@", value)),
        "subsetof" => format!("!({path}[?!({})])", equals_any("@", value)),
        _ => return None,
    };
    Some((test, rest))
}

/// Translates `path =~ /pattern/flags`.
fn matches<'t>(path: &str, after: &'t str) -> Option<(String, &'t str)> {
    let regex = after.strip_prefix('/')?;
    let mut escaped = false;
    let end = regex.find(|letter| {
        let is_end = letter == '/' && !escaped;
        escaped = letter == '\\' && !escaped;
        is_end
    })?;
    let rest = &regex[end + 1..];
    let flags =
        &rest[..rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len())];
    let inline = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    // In RFC 9535, the pattern is a quoted text, where a backslash needs another one.
    let pattern = regex[..end].replace(r"\/", "/").replace('\\', r"\\").replace('\'', r"\'");
    Some((format!("match({path}, '{inline}{pattern}')"), &rest[flags.len()..]))
}

/// Length of the value at the start of a text, in bytes: a list, a text, a number or a path.
fn operand_length(text: &str) -> usize {
    match text.chars().next() {
        Some('[') => (2 + end_of(&text[1..], ']')).min(text.len()),
        Some(quote @ ('\'' | '"')) => 1 + end_of_text(&text[1..], quote),
        Some('@' | '$') => path_length(text),
        _ => text
            .find(|letter: char| letter.is_whitespace() || matches!(letter, ')' | '&' | '|'))
            .unwrap_or(text.len()),
    }
}

/// A test that is true if a value is in a list.
fn equals_any(value: &str, list: &str) -> String {
    let inner = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list);
    let mut tests = Vec::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let length = match rest.chars().next() {
            Some(quote @ ('\'' | '"')) => 1 + end_of_text(&rest[1..], quote),
            _ => rest.find(',').unwrap_or(rest.len()),
        };
        tests.push(format!("{value} == {}", rest[..length].trim()));
        rest = rest[length..]
            .trim_start_matches(|letter: char| letter == ',' || letter.is_whitespace());
    }
    // Nothing is in an empty list.
    if tests.is_empty() { "1 == 2".to_owned() } else { tests.join(" || ") }
}

/// Escapes a text as a regular expression in single quotes.
fn escaped_pattern(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if letter.is_ascii_punctuation() && !matches!(letter, '_' | '\'') {
            // Within the quoted text, the backslash of the pattern needs another one.
            out.push_str(r"\\");
        }
        if letter == '\'' {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::translated_filters;

    #[test]
    fn filters_of_jayway_are_converted_to_the_rfc() {
        for (jayway, rfc) in [
            ("$.a[?(@.b == 1)].c", "$.a[?(@.b == 1)].c"),
            ("$.a[?(@.b =~ /x.*/i)]", "$.a[?(match(@.b, '(?i)x.*'))]"),
            (r"$.a[?(@.b =~ /\d+\/2/)].c", r"$.a[?(match(@.b, '\\d+/2'))].c"),
            ("$.a[?(@.b in ['x', 'y'])]", "$.a[?((@.b == 'x' || @.b == 'y'))]"),
            ("$.a[?(@.b nin [1,2] && @.c)]", "$.a[?(!(@.b == 1 || @.b == 2) && @.c)]"),
            ("$.a[?(@.b size 2)]", "$.a[?(length(@.b) == 2)]"),
            ("$.a[?(@.b empty true)]", "$.a[?(length(@.b) == 0)]"),
            ("$.a[?(@.b contains 'x.y')]", r"$.a[?((@.b[?@ == 'x.y'] || search(@.b, 'x\\.y')))]"),
            ("$.a[?(@.b anyof [1])]", "$.a[?(@.b[?@ == 1])]"),
            ("$.a[?(@.b noneof [1])]", "$.a[?(!(@.b[?@ == 1]))]"),
            ("$.a[?(@.b subsetof [1, 2])]", "$.a[?(!(@.b[?!(@ == 1 || @ == 2)]))]"),
            ("$.a[?(@['in'] == 'x in y')]", "$.a[?(@['in'] == 'x in y')]"),
        ] {
            assert_eq!(translated_filters(jayway), rfc, "{jayway}");
        }
    }
}
