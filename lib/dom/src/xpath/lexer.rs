//! Splits an expression into tokens, by the rules of XPath 1.0, section 3.7.

use crate::error::ExpressionError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name: `name`, `prefix:name` or `prefix:*`.
    Name(Box<str>),
    Text(Box<str>),
    Number(f64),
    /// An operator or bracket as written; `×` means `*` as multiplication.
    Symbol(&'static str),
    End,
}

/// Symbols; longer ones precede their prefixes.
const SYMBOLS: [&str; 20] = [
    "::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
    "<", ">",
];

/// Words that are operators where an operator is possible.
const WORDS: [&str; 4] = ["and", "or", "div", "mod"];

/// After these symbols, or at the start, a word is a name and `*` matches any name.
const BEFORE_OPERANDS: [&str; 22] = [
    "@", "::", "(", "[", ",", "and", "or", "div", "mod", "×", "/", "//", "|", "+", "-", "=", "!=",
    "<", "<=", ">", ">=", "$",
];

/// Returns the tokens with their byte offsets; the last is [`Token::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, usize)>, ExpressionError> {
    let mut all: Vec<(Token, usize)> = Vec::new();
    let mut rest = source.trim_start();
    while !rest.is_empty() {
        let offset = source.len() - rest.len();
        // A word or `*` is an operator or a name, depending on the token before it.
        let is_operand = match all.last() {
            None => true,
            Some((Token::Symbol(symbol), _)) => BEFORE_OPERANDS.contains(symbol),
            Some(_) => false,
        };
        let (token, length) = token(source, rest, is_operand)?;
        all.push((token, offset));
        rest = rest[length..].trim_start();
    }
    all.push((Token::End, source.len()));
    Ok(all)
}

/// Returns the first token of `rest` and its length in bytes.
fn token(source: &str, rest: &str, is_operand: bool) -> Result<(Token, usize), ExpressionError> {
    let offset = source.len() - rest.len();
    let first = rest.chars().next().unwrap_or(' ');
    let after = &rest[first.len_utf8()..];
    if first == '"' || first == '\'' {
        let end = after.find(first).ok_or_else(|| {
            ExpressionError::at(source, offset, format!("the text has no closing {first}"))
        })?;
        return Ok((Token::Text(after[..end].into()), end + 2));
    }
    if first.is_ascii_digit()
        || (first == '.' && after.starts_with(|next: char| next.is_ascii_digit()))
    {
        return Ok(number(rest));
    }
    if first == '*' {
        return Ok((if is_operand { Token::Name("*".into()) } else { Token::Symbol("×") }, 1));
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return Ok((Token::Symbol(symbol), symbol.len()));
    }
    if first == '$' {
        let message = "XPath variables have no values here; write a literal";
        return Err(ExpressionError::at(source, offset, message));
    }
    let length = name_length(rest);
    if length == 0 {
        return Err(ExpressionError::at(source, offset, format!("unexpected `{first}`")));
    }
    let name = &rest[..length];
    match WORDS.iter().find(|word| !is_operand && **word == name) {
        Some(word) => Ok((Token::Symbol(word), length)),
        None if is_operand => Ok((Token::Name(name.into()), length)),
        None => {
            Err(ExpressionError::at(source, offset, format!("expected an operator, not `{name}`")))
        }
    }
}

fn number(rest: &str) -> (Token, usize) {
    let mut length = digits(rest);
    if rest[length..].starts_with('.') {
        length += 1 + digits(&rest[length + 1..]);
    }
    (Token::Number(rest[..length].parse().unwrap_or(f64::NAN)), length)
}

/// Number of leading digits.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns the length in bytes of `name`, `prefix:name` or `prefix:*`.
fn name_length(rest: &str) -> usize {
    let first = part_length(rest);
    let Some(local) = rest[first..].strip_prefix(':') else {
        return first;
    };
    let local = if local.starts_with('*') { 1 } else { part_length(local) };
    if first == 0 || local == 0 { first } else { first + 1 + local }
}

fn part_length(rest: &str) -> usize {
    if !rest.starts_with(is_name_start) {
        return 0;
    }
    rest.find(|letter| !is_name_character(letter)).unwrap_or(rest.len())
}

fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || !letter.is_ascii()
}

fn is_name_character(letter: char) -> bool {
    is_name_start(letter) || letter.is_numeric() || "-.".contains(letter)
}
