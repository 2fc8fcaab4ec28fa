//! Decimal numbers of any size: `java.math.BigDecimal`.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// The most digits after the point, and powers of ten, that are computed with.
pub(crate) const SCALE_LIMIT: i32 = 5_000;

/// `unscaled` × 10^−`scale`.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    /// All digits.
    pub unscaled: BigInt,
    /// Digits after the point; negative for zeros before it.
    pub scale: i32,
}

/// How a quotient or a shortened number is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Up,
    Down,
    Ceiling,
    Floor,
    HalfUp,
    HalfDown,
    HalfEven,
    Unnecessary,
}

impl Rounding {
    /// By the names and numbers of `java.math.RoundingMode` and `BigDecimal.ROUND_…`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.trim_start_matches("ROUND_") {
            "UP" | "0" => Self::Up,
            "DOWN" | "1" => Self::Down,
            "CEILING" | "2" => Self::Ceiling,
            "FLOOR" | "3" => Self::Floor,
            "HALF_UP" | "4" => Self::HalfUp,
            "HALF_DOWN" | "5" => Self::HalfDown,
            "HALF_EVEN" | "6" => Self::HalfEven,
            "UNNECESSARY" | "7" => Self::Unnecessary,
            _ => return None,
        })
    }
}

fn power_of_ten(exponent: i32) -> BigInt {
    BigInt::from(10).pow(exponent.clamp(0, 2 * SCALE_LIMIT) as u32)
}

/// Quotient of two integers, rounded.
fn divide_rounded(dividend: &BigInt, divisor: &BigInt, rounding: Rounding) -> BigInt {
    let (quotient, remainder) = dividend.div_rem(divisor);
    if remainder.is_zero() {
        return quotient;
    }
    let negative = (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let half = (remainder.abs() * BigInt::from(2)).cmp(&divisor.abs());
    let away = match rounding {
        Rounding::Up => true,
        Rounding::Down | Rounding::Unnecessary => false,
        Rounding::Ceiling => !negative,
        Rounding::Floor => negative,
        Rounding::HalfUp => half != Ordering::Less,
        Rounding::HalfDown => half == Ordering::Greater,
        Rounding::HalfEven => half == Ordering::Greater || (half == Ordering::Equal && quotient.is_odd()),
    };
    match (away, negative) {
        (false, _) => quotient,
        (true, true) => quotient - 1,
        (true, false) => quotient + 1,
    }
}

impl Decimal {
    pub fn new(unscaled: BigInt, scale: i32) -> Self {
        Self { unscaled, scale: scale.clamp(-SCALE_LIMIT, SCALE_LIMIT) }
    }

    pub fn from_integer(value: &BigInt) -> Self {
        Self::new(value.clone(), 0)
    }

    /// The shortest decimal that reads as this number; `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        if value.is_finite() { Self::parse(&format!("{value:e}")) } else { None }
    }

    /// Reads digits with an optional point and exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].trim_start_matches('+').parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let unsigned = digits.trim_start_matches(['-', '+']);
        let sign_only_first = digits.len() - unsigned.len() <= 1;
        if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) || !sign_only_first {
            return None;
        }
        if digits.len() > SCALE_LIMIT as usize || exponent.abs() > SCALE_LIMIT {
            return None;
        }
        let unscaled = digits.trim_start_matches('+').parse().ok()?;
        Some(Self::new(unscaled, fraction.len() as i32 - exponent))
    }

    /// Both numbers at the larger scale.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i32) {
        let scale = self.scale.max(other.scale);
        let lift = |one: &Self| &one.unscaled * power_of_ten(scale - one.scale);
        (lift(self), lift(other), scale)
    }

    pub fn add(&self, other: &Self) -> Self {
        let (left, right, scale) = self.aligned(other);
        Self::new(left + right, scale)
    }

    pub fn subtract(&self, other: &Self) -> Self {
        let (left, right, scale) = self.aligned(other);
        Self::new(left - right, scale)
    }

    pub fn multiply(&self, other: &Self) -> Self {
        Self::new(&self.unscaled * &other.unscaled, self.scale.saturating_add(other.scale))
    }

    /// The quotient at this scale; the divisor is not zero.
    pub fn divide_at(&self, other: &Self, scale: i32, rounding: Rounding) -> Self {
        let shift = scale + other.scale - self.scale;
        let (mut dividend, mut divisor) = (self.unscaled.clone(), other.unscaled.clone());
        if shift >= 0 {
            dividend *= power_of_ten(shift);
        } else {
            divisor *= power_of_ten(-shift);
        }
        Self::new(divide_rounded(&dividend, &divisor, rounding), scale)
    }

    /// Groovy's quotient: exact if it has few digits, else at least 10 digits after the point; the divisor is not zero.
    pub fn divide(&self, other: &Self) -> Self {
        let preferred = (self.scale - other.scale).max(0);
        let scale = (preferred + 10).max(self.scale.max(other.scale)).min(SCALE_LIMIT);
        self.divide_at(other, scale, Rounding::HalfUp).shortened(preferred)
    }

    /// Without zeros at its end, but with at least so many digits after the point.
    fn shortened(mut self, least: i32) -> Self {
        let ten = BigInt::from(10);
        while self.scale > least {
            let (quotient, remainder) = self.unscaled.div_rem(&ten);
            if !remainder.is_zero() {
                break;
            }
            self.unscaled = quotient;
            self.scale -= 1;
        }
        self
    }

    /// `stripTrailingZeros`.
    pub fn stripped(&self) -> Self {
        if self.unscaled.is_zero() { Self::new(BigInt::zero(), 0) } else { self.clone().shortened(-SCALE_LIMIT) }
    }

    /// The remainder of the truncated quotient; the divisor is not zero.
    pub fn remainder(&self, other: &Self) -> Self {
        let (left, right, scale) = self.aligned(other);
        Self::new(left % right, scale)
    }

    /// The same number with this many digits after the point.
    pub fn rescale(&self, scale: i32, rounding: Rounding) -> Self {
        let scale = scale.clamp(-SCALE_LIMIT, SCALE_LIMIT);
        if scale >= self.scale {
            return Self::new(&self.unscaled * power_of_ten(scale - self.scale), scale);
        }
        Self::new(divide_rounded(&self.unscaled, &power_of_ten(self.scale - scale), rounding), scale)
    }

    pub fn negate(&self) -> Self {
        Self::new(-&self.unscaled, self.scale)
    }

    /// Digits without sign; 1 for zero.
    pub fn precision(&self) -> usize {
        self.unscaled.magnitude().to_string().len()
    }

    /// Without what stands after the point.
    pub fn truncate(&self) -> BigInt {
        self.rescale(0, Rounding::Down).unscaled
    }

    pub fn to_f64(&self) -> f64 {
        self.plain().parse().unwrap_or(f64::NAN)
    }

    pub fn compare(&self, other: &Self) -> Ordering {
        let (left, right, _) = self.aligned(other);
        left.cmp(&right)
    }

    pub fn is_zero(&self) -> bool {
        self.unscaled.is_zero()
    }

    /// `toPlainString`.
    pub fn plain(&self) -> String {
        if self.scale <= 0 {
            return (&self.unscaled * power_of_ten(-self.scale)).to_string();
        }
        let digits = self.unscaled.magnitude().to_string();
        let scale = self.scale as usize;
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        let sign = if self.unscaled.is_negative() { "-" } else { "" };
        format!("{sign}{whole}.{fraction}")
    }

    /// Nine and less below 1 stay plain; smaller and rounder numbers get an exponent, as in Java.
    pub fn text(&self) -> String {
        let digits = self.unscaled.magnitude().to_string();
        let adjusted = digits.len() as i32 - 1 - self.scale;
        if self.scale >= 0 && adjusted >= -6 {
            return self.plain();
        }
        let sign = if self.unscaled.is_negative() { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let plus = if adjusted >= 0 { "+" } else { "" };
        format!("{sign}{first}{point}{rest}E{plus}{adjusted}")
    }

    /// 10^`exponent` as a decimal, or this number to that power.
    pub fn power(&self, exponent: u32) -> Self {
        let mut result = Self::new(BigInt::one(), 0);
        for _ in 0..exponent.min(1_000) {
            result = result.multiply(self);
        }
        result
    }

    pub fn to_i64_wrapping(&self) -> i64 {
        wrap(&self.truncate())
    }
}

/// The lowest 64 bits.
pub(crate) fn wrap(value: &BigInt) -> i64 {
    value.to_i64().unwrap_or_else(|| {
        let low = value.iter_u64_digits().next().unwrap_or(0) as i64;
        if value.is_negative() { low.wrapping_neg() } else { low }
    })
}
