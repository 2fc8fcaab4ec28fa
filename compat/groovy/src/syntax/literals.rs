//! Parses literals: numbers, and strings with embedded expressions.

use super::ast::{Expr, Piece};
use super::parser::{LineEnds, Parse, Parser};
use super::token::{Kind, Part};
use crate::script::Dialect;
use std::sync::Arc;

impl Parser {
    /// Parses a string or character.
    pub fn literal(&mut self) -> Parse<Expr> {
        let kind = self.kind().clone();
        self.advance();
        match kind {
            Kind::Text(text) => Ok(Expr::Text(text)),
            Kind::Char(letter) => Ok(Expr::Char(letter)),
            Kind::Template(parts) => self.nested(|parser| parser.template(parts)),
            _ => Err(self.unexpected("a string")),
        }
    }

    fn template(&mut self, parts: Vec<Part>) -> Parse<Expr> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => pieces.push(Piece::Text(text)),
                Part::Code(tokens) => pieces.push(Piece::Value(self.embedded(tokens)?)),
            }
        }
        Ok(Expr::Template(pieces))
    }

    /// Parses the expression of `${…}`.
    fn embedded(&mut self, tokens: Vec<super::token::Token>) -> Parse<Expr> {
        if matches!(tokens.first().map(|token| &token.kind), Some(Kind::End) | None) {
            return Ok(Expr::Text("".into()));
        }
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let position = std::mem::replace(&mut self.position, 0);
        // Groovy evaluates `${-> value}` late; this interpreter evaluates it at once.
        self.accept("->");
        let value = self.with_lines(LineEnds::Significant, |parser| {
            let value = parser.expression()?;
            let value = parser.command(value)?;
            while parser.accept(";") {}
            if *parser.kind() == Kind::End { Ok(value) } else { Err(parser.unexpected("`}`")) }
        });
        self.tokens = outer;
        self.position = position;
        value
    }

    /// Consumes `-` and digits as one number; `None` if another operator binds the digits closer.
    pub fn negative_number(&mut self) -> Parse<Option<Expr>> {
        if self.is_mark_at(1, "**") || self.is_mark_at(1, ".") || self.is_mark_at(1, "[") {
            return Ok(None);
        }
        let Kind::Number(digits) = self.kind() else { return Ok(None) };
        let text: Arc<str> = format!("-{digits}").into();
        let number = self.number_of(&text)?;
        self.advance();
        Ok(Some(number))
    }

    /// Parses a number without consuming it.
    pub fn number(&self) -> Parse<Expr> {
        match self.kind() {
            Kind::Number(text) => self.number_of(text),
            _ => Err(self.unexpected("a number")),
        }
    }

    fn number_of(&self, text: &str) -> Parse<Expr> {
        self.read_number(text)
            .ok_or_else(|| self.error(format!("`{text}` is no number that can be read")))
    }

    fn read_number(&self, text: &str) -> Option<Expr> {
        let lower = text.to_ascii_lowercase();
        let (sign, digits) =
            lower.strip_prefix('-').map_or(("", lower.as_str()), |digits| ("-", digits));
        if let Some(hex) = digits.strip_prefix("0x") {
            return radix_number(sign, hex, 16);
        }
        if let Some(binary) = digits.strip_prefix("0b") {
            return radix_number(sign, binary, 2);
        }
        let fraction = digits.contains(['.', 'e']);
        let (core, suffix) = match digits.chars().last() {
            Some(last @ ('l' | 'g' | 'd' | 'f' | 'i')) => (&digits[..digits.len() - 1], last),
            _ => (digits, ' '),
        };
        let signed = format!("{sign}{core}");
        // A leading zero means octal digits.
        if suffix == ' ' && !fraction && core.len() > 1 && core.starts_with('0') {
            return radix_number(sign, &core[1..], 8);
        }
        match suffix {
            'f' => signed.parse().ok().map(Expr::Float),
            'd' => signed.parse().ok().map(Expr::Double),
            'g' if fraction => decimal(&signed),
            'l' => signed.parse().ok().map(Expr::Long),
            'i' => signed.parse().ok().map(Expr::Int),
            // Without a suffix, a fraction is a decimal in Groovy and a double in Java.
            _ if fraction && self.dialect == Dialect::BeanShell => {
                signed.parse().ok().map(Expr::Double)
            }
            _ if fraction => decimal(&signed),
            'g' => big(&signed),
            _ => {
                if let Ok(number) = signed.parse() {
                    return Some(Expr::Int(number));
                }
                signed.parse().ok().map(Expr::Long).or_else(|| big(&signed))
            }
        }
    }
}

fn decimal(text: &str) -> Option<Expr> {
    crate::decimal::Decimal::parse(text).map(|_| Expr::Decimal(text.into()))
}

fn big(text: &str) -> Option<Expr> {
    let digits = text.trim_start_matches('-');
    // The time to parse an integer is quadratic in its length.
    let is_valid = digits.len() <= 2_000
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_valid.then(|| Expr::BigInt(text.into()))
}

fn radix_number(sign: &str, digits: &str, radix: u32) -> Option<Expr> {
    // `d` and `f` are hexadecimal digits, so they cannot be suffixes.
    let (digits, is_long) = match digits.strip_suffix('l') {
        Some(digits) => (digits, true),
        None => (digits.strip_suffix('i').unwrap_or(digits), false),
    };
    let value = u64::from_str_radix(digits, radix).ok()? as i64;
    let value = if sign == "-" { value.wrapping_neg() } else { value };
    // Java reads 0xFFFFFFFF as −1; Groovy reads it as a long.
    if is_long {
        Some(Expr::Long(value))
    } else {
        i32::try_from(value).map(Expr::Int).ok().or(Some(Expr::Long(value)))
    }
}
