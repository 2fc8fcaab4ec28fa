//! Decimal numbers of any size, as `java.math.BigDecimal`.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// Maximum scale and exponent in computations.
// Java allows 2^31 digits, with which a single operation could block a worker for minutes.
pub(crate) const SCALE_LIMIT: i32 = 5_000;

/// `unscaled` × 10^−`scale`.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    pub unscaled: BigInt,
    /// Number of digits after the point. If negative, number of zeros before it.
    pub scale: i32,
}

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
    /// Finds a mode by its name or number in `java.math.RoundingMode` and `BigDecimal.ROUND_…`.
    pub fn from_name(name: &str) -> Option<Self> {
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
    // Two scales differ by at most twice the limit.
    BigInt::from(10).pow(exponent.clamp(0, 2 * SCALE_LIMIT) as u32)
}

/// Rounded quotient of two integers.
fn divide_rounded(dividend: &BigInt, divisor: &BigInt, rounding: Rounding) -> BigInt {
    let (quotient, remainder) = dividend.div_rem(divisor);
    if remainder.is_zero() {
        return quotient;
    }
    let is_negative = (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let half = (remainder.abs() * BigInt::from(2)).cmp(&divisor.abs());
    let rounds_away_from_zero = match rounding {
        Rounding::Up => true,
        Rounding::Down | Rounding::Unnecessary => false,
        Rounding::Ceiling => !is_negative,
        Rounding::Floor => is_negative,
        Rounding::HalfUp => half != Ordering::Less,
        Rounding::HalfDown => half == Ordering::Greater,
        Rounding::HalfEven => {
            half == Ordering::Greater || (half == Ordering::Equal && quotient.is_odd())
        }
    };
    match (rounds_away_from_zero, is_negative) {
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

    /// The shortest decimal that parses as this number; `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        if value.is_finite() { Self::parse(&format!("{value:e}")) } else { None }
    }

    /// The exact value of a binary number; `None` for infinities and NaN.
    pub fn from_f64_exactly(value: f64) -> Option<Self> {
        let bits = value.to_bits();
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        // The format of IEEE 754: numbers with exponent 0 have no implicit first bit.
        let (mantissa, exponent) = match (bits >> 52 & 0x7ff) as i32 {
            0x7ff => return None,
            0 => (fraction, -1_074),
            exponent => (fraction | 1 << 52, exponent - 1_075),
        };
        // An odd mantissa gives the smallest scale.
        let shift = mantissa.trailing_zeros().min(exponent.min(0).unsigned_abs());
        let mantissa = mantissa >> shift;
        let exponent = exponent + shift as i32;
        let mantissa = BigInt::from(if value.is_sign_negative() { -mantissa } else { mantissa });
        Some(if exponent >= 0 {
            Self::new(mantissa << exponent, 0)
        } else {
            Self::new(mantissa * BigInt::from(5).pow(exponent.unsigned_abs()), -exponent)
        })
    }

    /// Parses digits with an optional point and exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(position) => (
                &text[..position],
                text[position + 1..].trim_start_matches('+').parse::<i32>().ok()?,
            ),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let unsigned = digits.trim_start_matches(['-', '+']);
        let has_single_sign = digits.len() - unsigned.len() <= 1;
        if unsigned.is_empty()
            || !unsigned.bytes().all(|byte| byte.is_ascii_digit())
            || !has_single_sign
        {
            return None;
        }
        // Bounds the time of computations.
        if digits.len() > SCALE_LIMIT as usize || exponent.abs() > SCALE_LIMIT {
            return None;
        }
        let unscaled = digits.trim_start_matches('+').parse().ok()?;
        Some(Self::new(unscaled, fraction.len() as i32 - exponent))
    }

    /// Converts both numbers to the larger scale.
    fn align(&self, other: &Self) -> (BigInt, BigInt, i32) {
        let scale = self.scale.max(other.scale);
        (self.unscaled_at(scale), other.unscaled_at(scale), scale)
    }

    /// Unscaled value at a scale that is not below its own.
    fn unscaled_at(&self, scale: i32) -> BigInt {
        &self.unscaled * power_of_ten(scale - self.scale)
    }

    pub fn add(&self, other: &Self) -> Self {
        let (left, right, scale) = self.align(other);
        Self::new(left + right, scale)
    }

    pub fn subtract(&self, other: &Self) -> Self {
        let (left, right, scale) = self.align(other);
        Self::new(left - right, scale)
    }

    pub fn multiply(&self, other: &Self) -> Self {
        Self::new(&self.unscaled * &other.unscaled, self.scale.saturating_add(other.scale))
    }

    /// Quotient with this scale. The divisor must not be zero.
    pub fn divide_at(&self, other: &Self, scale: i32, rounding: Rounding) -> Self {
        let shift = scale + other.scale - self.scale;
        let mut dividend = self.unscaled.clone();
        let mut divisor = other.unscaled.clone();
        if shift >= 0 {
            dividend *= power_of_ten(shift);
        } else {
            divisor *= power_of_ten(-shift);
        }
        Self::new(divide_rounded(&dividend, &divisor, rounding), scale)
    }

    /// Groovy's quotient: exact if possible. Else it has 10 digits more than the longer operand, but not more than
    /// 10 after the point, or as many as an operand. The divisor must not be zero.
    pub fn divide(&self, other: &Self) -> Self {
        if let Some(exact) = self.divide_exactly(other) {
            return exact;
        }
        let precision = self.precision().max(other.precision()) + 10;
        // Position of the first digit; the quotient may have it one further to the left.
        let position =
            (self.precision() as i32 - self.scale) - (other.precision() as i32 - other.scale);
        let scale = (precision as i32 - position).clamp(-SCALE_LIMIT, SCALE_LIMIT);
        let mut quotient = self.divide_at(other, scale, Rounding::HalfUp);
        if quotient.precision() > precision {
            quotient = self.divide_at(other, scale - 1, Rounding::HalfUp);
        }
        // Like Groovy, rounds twice.
        let most = self.scale.max(other.scale).max(10);
        if quotient.scale > most { quotient.rescale(most, Rounding::HalfUp) } else { quotient }
    }

    /// Quotient without rounding; `None` if it has an endless expansion. The divisor must not be zero.
    pub fn divide_exactly(&self, other: &Self) -> Option<Self> {
        let preferred = self.scale.saturating_sub(other.scale);
        let (left, right, _) = self.align(other);
        let mut divisor = &right / left.gcd(&right);
        // Only factors 2 and 5 of the divisor give an expansion that ends.
        let twos = divisor.trailing_zeros().unwrap_or(0);
        divisor >>= twos;
        let five = BigInt::from(5);
        let mut fives = 0;
        while divisor.is_multiple_of(&five) {
            divisor /= &five;
            fives += 1;
        }
        let digits = i32::try_from(twos.max(fives)).ok().filter(|digits| *digits <= SCALE_LIMIT)?;
        if !divisor.magnitude().is_one() {
            return None;
        }
        Some(
            self.divide_at(other, preferred.max(digits), Rounding::Unnecessary)
                .trimmed_to(preferred),
        )
    }

    /// Removes trailing zeros, but keeps at least this number of digits after the point.
    fn trimmed_to(mut self, least: i32) -> Self {
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

    /// Implements `stripTrailingZeros` of `BigDecimal`.
    pub fn without_trailing_zeros(&self) -> Self {
        // Zero is divisible by ten at each scale, so the loop would only end at the limit.
        if self.unscaled.is_zero() {
            Self::new(BigInt::zero(), 0)
        } else {
            self.clone().trimmed_to(-SCALE_LIMIT)
        }
    }

    /// Remainder of the truncated quotient. The divisor must not be zero.
    pub fn remainder(&self, other: &Self) -> Self {
        let (left, right, scale) = self.align(other);
        Self::new(left % right, scale)
    }

    /// Converts to this number of digits after the point.
    pub fn rescale(&self, scale: i32, rounding: Rounding) -> Self {
        let scale = scale.clamp(-SCALE_LIMIT, SCALE_LIMIT);
        if scale >= self.scale {
            return Self::new(&self.unscaled * power_of_ten(scale - self.scale), scale);
        }
        Self::new(
            divide_rounded(&self.unscaled, &power_of_ten(self.scale - scale), rounding),
            scale,
        )
    }

    pub fn negate(&self) -> Self {
        Self::new(-&self.unscaled, self.scale)
    }

    /// Number of digits; 1 for zero.
    pub fn precision(&self) -> usize {
        self.unscaled.magnitude().to_string().len()
    }

    /// Returns the integer part, rounded towards zero.
    pub fn truncate(&self) -> BigInt {
        self.rescale(0, Rounding::Down).unscaled
    }

    pub fn to_f64(&self) -> f64 {
        // Parsing rounds once. A division by a power of ten would round twice.
        self.plain().parse().unwrap_or(f64::NAN)
    }

    pub fn compare(&self, other: &Self) -> Ordering {
        let (left, right, _) = self.align(other);
        left.cmp(&right)
    }

    pub fn is_zero(&self) -> bool {
        self.unscaled.is_zero()
    }

    /// Formats without an exponent, as `toPlainString`.
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

    /// Formats as Java's `toString`: with an exponent if the scale is negative or the
    /// number is below 10^-6.
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

    /// This number to a power, at most 1,000.
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

/// The lowest 64 bits of an integer.
pub(crate) fn wrap(value: &BigInt) -> i64 {
    value.to_i64().unwrap_or_else(|| {
        let low = value.iter_u64_digits().next().unwrap_or(0) as i64;
        if value.is_negative() { low.wrapping_neg() } else { low }
    })
}
