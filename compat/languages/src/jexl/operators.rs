//! Operators with two operands, in the strict arithmetic of JEXL 3.

use super::tokens::JexlToken;
use super::{Value, matches, no_number};
use std::cmp::Ordering;

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `=~`: matches a regular expression, or is in a list.
    Matches,
    /// `!~`
    MatchesNot,
    /// `=^`
    Starts,
    /// `!^`
    StartsNot,
    /// `=$`
    Ends,
    /// `!$`
    EndsNot,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Divided,
    /// `%`
    Remainder,
}

impl Operator {
    /// Number of levels of precedence; the last one binds most strongly.
    pub const LEVELS: usize = 4;

    /// Returns the operator of a token.
    pub fn from_token(token: &JexlToken) -> Option<Self> {
        let sign = match token {
            JexlToken::Sign(sign) => *sign,
            JexlToken::Name(name) => name.as_str(),
            _ => return None,
        };
        Some(match sign {
            "==" | "===" | "eq" => Self::Equal,
            "!=" | "!==" | "ne" => Self::Different,
            "<" | "lt" => Self::Less,
            "<=" | "le" => Self::AtMost,
            ">" | "gt" => Self::Greater,
            ">=" | "ge" => Self::AtLeast,
            "=~" => Self::Matches,
            "!~" => Self::MatchesNot,
            "=^" => Self::Starts,
            "!^" => Self::StartsNot,
            "=$" => Self::Ends,
            "!$" => Self::EndsNot,
            "+" => Self::Plus,
            "-" => Self::Minus,
            "*" => Self::Times,
            "/" | "div" => Self::Divided,
            "%" | "mod" => Self::Remainder,
            _ => return None,
        })
    }

    /// Level of precedence, from 0.
    pub fn level(self) -> usize {
        match self {
            Self::Equal | Self::Different => 0,
            Self::Plus | Self::Minus => 2,
            Self::Times | Self::Divided | Self::Remainder => 3,
            _ => 1,
        }
    }

    /// Computes its value from two operands.
    ///
    /// # Errors
    ///
    /// An operand has the wrong type.
    pub fn apply(self, left: &Value, right: &Value) -> Result<Value, String> {
        Ok(match self {
            Self::Equal => Value::Bool(equal(left, right)?),
            Self::Different => Value::Bool(!equal(left, right)?),
            Self::Less => Value::Bool(compare(left, right)? == Some(Ordering::Less)),
            Self::AtMost => Value::Bool(compare(left, right)?.is_some_and(Ordering::is_le)),
            Self::Greater => Value::Bool(compare(left, right)? == Some(Ordering::Greater)),
            Self::AtLeast => Value::Bool(compare(left, right)?.is_some_and(Ordering::is_ge)),
            Self::Matches => Value::Bool(is_in(left, right)?),
            Self::MatchesNot => Value::Bool(!is_in(left, right)?),
            Self::Starts => Value::Bool(left.text().starts_with(&right.text())),
            Self::StartsNot => Value::Bool(!left.text().starts_with(&right.text())),
            Self::Ends => Value::Bool(left.text().ends_with(&right.text())),
            Self::EndsNot => Value::Bool(!left.text().ends_with(&right.text())),
            // `+` concatenates if one of the operands is a text.
            Self::Plus if is_text(left) || is_text(right) => {
                Value::Text(left.text() + &right.text())
            }
            _ => self.calculate(left, right)?,
        })
    }

    fn calculate(self, left: &Value, right: &Value) -> Result<Value, String> {
        if left.has_point() || right.has_point() {
            let a = left.real()?;
            let b = right.real()?;
            return Ok(Value::Real(match self {
                Self::Plus => a + b,
                Self::Minus => a - b,
                Self::Times => a * b,
                Self::Divided if b == 0.0 => return Err("division by zero".into()),
                Self::Divided => a / b,
                _ => a % b,
            }));
        }
        if *left == Value::Null || *right == Value::Null {
            return Err(no_number(&Value::Null));
        }
        let a = left.int()?;
        let b = right.int()?;
        let result = match self {
            Self::Plus => a.checked_add(b),
            Self::Minus => a.checked_sub(b),
            Self::Times => a.checked_mul(b),
            _ if b == 0 => return Err("division by zero".into()),
            Self::Divided => a.checked_div(b),
            _ => a.checked_rem(b),
        };
        result.map(Value::Int).ok_or_else(|| "a number is too large".into())
    }
}

impl Value {
    /// True if a calculation with this value uses floats.
    fn has_point(&self) -> bool {
        match self {
            Self::Real(_) => true,
            Self::Text(text) => text.contains(['.', 'e', 'E']),
            _ => false,
        }
    }
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

fn equal(left: &Value, right: &Value) -> Result<bool, String> {
    Ok(match (left, right) {
        (Value::Null, _) | (_, Value::Null) => left == right,
        (Value::Bool(_), _) | (_, Value::Bool(_)) => left.is_true() == right.is_true(),
        (Value::List(_), _) | (_, Value::List(_)) => left == right,
        _ => compare(left, right)? == Some(Ordering::Equal),
    })
}

/// Compares two values; None if one of them is NaN.
fn compare(left: &Value, right: &Value) -> Result<Option<Ordering>, String> {
    Ok(match (left, right) {
        (Value::Null, _) | (_, Value::Null) => return Err("null cannot be compared".into()),
        (Value::Real(_), _) | (_, Value::Real(_)) => left.real()?.partial_cmp(&right.real()?),
        (Value::Int(_), _) | (_, Value::Int(_)) => Some(left.int()?.cmp(&right.int()?)),
        _ => Some(left.text().cmp(&right.text())),
    })
}

fn is_in(left: &Value, right: &Value) -> Result<bool, String> {
    match right {
        Value::List(items) => {
            // Values that cannot be compared are different.
            items
                .iter()
                .try_fold(false, |found, item| Ok(found || equal(left, item).unwrap_or(false)))
        }
        Value::Null => Ok(*left == Value::Null),
        _ if *left == Value::Null => Ok(false),
        _ => matches(&left.text(), &right.text()),
    }
}
