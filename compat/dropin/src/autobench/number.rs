//! Formats numbers like Perl: 15 significant digits, without trailing zeros.

/// Formats a number like C's `%.15g`: `10`, `0.1`, `33.3333333333333`, `1e+20`.
pub fn perl(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let text = format!("{x:.14e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        return trim_zeros(&format!("{x:.*}", (14 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
}

fn trim_zeros(digits: &str) -> String {
    if !digits.contains('.') {
        return digits.to_owned();
    }
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::perl;

    /// Expected values are the output of perl 5.36.
    #[test]
    fn numbers_are_formatted_like_perl() {
        for (x, written) in [
            (0.0, "0"),
            (10.0, "10"),
            (100.0 / 3.0, "33.3333333333333"),
            (2.0 / 3.0, "0.666666666666667"),
            (0.1 + 0.2, "0.3"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (0.000_1, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(perl(x), written);
        }
    }
}
