//! How numbers are written within a sentence: three significant digits, commas between thousands.
//!
//! Out of scope: a place that knows units; those are known by who speaks.

/// A whole number: `154,463`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things: `1 request`, `2,000 requests`.
pub fn plural(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `x` rounded to three significant digits.
pub fn round3(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// Three significant digits, and all that stand before the point: `0.123`, `12.3`, `12,345`; 0 for what is no number.
pub fn three(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return "0".into();
    }
    if x.abs() >= 999.5 {
        return count(x.abs().round() as u64);
    }
    // A value that rounding carries over the next power of ten loses a place: it is rounded first.
    let rounded = round3(x);
    let places = 2 - rounded.abs().log10().floor() as i32;
    format!("{rounded:.*}", places.clamp(0, 9) as usize)
}
/// `a, b and c`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
