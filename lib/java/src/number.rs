//! Writes numbers with fractions as Java does: `3.0`, `1.5E10`.

/// Writes a number like `Double.toString`.
pub fn double(number: f64) -> String {
    if !number.is_finite() {
        return special(number);
    }
    digits(number == 0.0, number.abs(), &format!("{number:?}"), &format!("{number:e}"))
}

/// Writes a number like `Float.toString`.
pub fn float(number: f32) -> String {
    if !number.is_finite() {
        return special(f64::from(number));
    }
    digits(number == 0.0, f64::from(number.abs()), &format!("{number:?}"), &format!("{number:e}"))
}

fn special(number: f64) -> String {
    let text = if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    text.to_owned()
}

/// Java writes an exponent for numbers below 0.001 and from ten million on.
fn digits(zero: bool, size: f64, plain: &str, exponent: &str) -> String {
    if zero || (1e-3..1e7).contains(&size) {
        return if plain.contains('.') { plain.to_owned() } else { format!("{plain}.0") };
    }
    let (mantissa, power) = exponent.split_once('e').unwrap_or((exponent, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{power}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_formatted_like_java() {
        for (number, text) in [
            (0.0, "0.0"),
            (3.0, "3.0"),
            (-0.5, "-0.5"),
            (1e7, "1.0E7"),
            (1.5e10, "1.5E10"),
            (0.000_123, "1.23E-4"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(number), text);
        }
        assert_eq!(float(0.1), "0.1");
    }
}
