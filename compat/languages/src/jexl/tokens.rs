//! Splits a text into tokens.

/// A token of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum JexlToken {
    /// A name or a keyword.
    Name(String),
    /// A string literal, without its quotes.
    Text(String),
    /// An integer, without a fraction.
    Int(i64),
    /// A number with a fraction or exponent.
    Real(f64),
    /// An operator or bracket.
    Sign(&'static str),
}

/// Longer signs come first.
const SIGNS: [&str; 39] = [
    "===", "!==", "==", "!=", "=~", "!~", "=^", "!^", "=$", "!$", "<=", ">=", "&&", "||", "?:",
    "??", "..", "+=", "-=", "->", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", "(", ")", "[",
    "]", ",", ".", "=", ";", "{",
];

/// Reads the tokens of a text.
///
/// # Errors
///
/// A character that begins no token, or an unterminated string.
pub fn read(source: &str) -> Result<Vec<JexlToken>, String> {
    let mut tokens = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, remainder) = if first.is_alphabetic() || matches!(first, '_' | '$') {
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
                .unwrap_or(rest.len());
            (JexlToken::Name(rest[..end].to_owned()), &rest[end..])
        } else if first.is_ascii_digit() {
            number(rest)?
        } else if matches!(first, '"' | '\'') {
            string(rest, first)?
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign =
                sign.ok_or_else(|| format!("`{first}` is not known in a JEXL expression"))?;
            (JexlToken::Sign(sign), &rest[sign.len()..])
        };
        tokens.push(token);
        rest = remainder.trim_start();
    }
    Ok(tokens)
}

fn number(rest: &str) -> Result<(JexlToken, &str), String> {
    let mut end = digits(rest, 0);
    let mut is_real = false;
    if rest[end..].starts_with('.') && digits(rest, end + 1) > 0 {
        is_real = true;
        end += 1 + digits(rest, end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let count = digits(rest, end + 1 + sign);
        if count > 0 {
            is_real = true;
            end += 1 + sign + count;
        }
    }
    let text = &rest[..end];
    let mut remainder = &rest[end..];
    // The suffixes of JEXL: long, big integer, float, double and big decimal.
    if let Some(suffix) = remainder.chars().next().filter(|suffix| "lLhHfFdDbB".contains(*suffix)) {
        is_real |= "fFdDbB".contains(suffix);
        remainder = &remainder[1..];
    }
    let token = if is_real {
        text.parse().ok().map(JexlToken::Real)
    } else {
        text.parse().ok().map(JexlToken::Int)
    };
    let token = token.ok_or_else(|| format!("the number `{text}` is too large"))?;
    Ok((token, remainder))
}

/// Number of digits of `text` from a byte offset on.
fn digits(text: &str, from: usize) -> usize {
    text[from..].bytes().take_while(u8::is_ascii_digit).count()
}

fn string(rest: &str, quote: char) -> Result<(JexlToken, &str), String> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, next)) = characters.next() {
        if next == quote {
            return Ok((JexlToken::Text(text), &rest[at + 1..]));
        }
        if next != '\\' {
            text.push(next);
            continue;
        }
        match characters.next().map(|(_, next)| next) {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(next) if next == quote || next == '\\' => text.push(next),
            // The backslash of an unknown escape is literal.
            Some(next) => text.extend(['\\', next]),
            None => break,
        }
    }
    Err(format!("the string {rest} does not end; its {quote} is missing"))
}
