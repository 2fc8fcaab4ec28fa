//! Figures within a sentence: a unit that fits.
//!
//! Out of scope: the figures of reports, which are written in `report`; that room stands behind this one.

use brunt_model::LoadUnit;
pub use brunt_model::words::{count, plural, three};

/// So many per second: `498/s`.
pub fn rate(x: f64) -> String {
    format!("{}/s", three(x))
}

/// A time in seconds: `391 µs`, `1.20 ms`, `3.41 s`.
pub fn time(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{} µs", three(seconds * 1e6)),
        ..1.0 => format!("{} ms", three(seconds * 1e3)),
        _ => format!("{} s", three(seconds)),
    }
}

/// A share from 0 to 1: `42.1 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", three(share * 100.0))
}

/// Bits per second, as links are sold: `100 Mb/s`.
pub fn bits(x: f64) -> String {
    scaled(x, ["b/s", "kb/s", "Mb/s", "Gb/s"])
}

/// Bytes: `12.3 kB`.
pub fn bytes(x: f64) -> String {
    scaled(x, ["B", "kB", "MB", "GB"])
}

fn scaled(x: f64, units: [&str; 4]) -> String {
    let [ones, thousands, millions, billions] = units;
    match x {
        ..1e3 => format!("{} {ones}", three(x)),
        ..1e6 => format!("{} {thousands}", three(x / 1e3)),
        ..1e9 => format!("{} {millions}", three(x / 1e6)),
        _ => format!("{} {billions}", three(x / 1e9)),
    }
}

/// A quantile as a percentile: `p99.9`.
pub fn percentile(q: f64) -> String {
    format!("p{}", (q * 1e5).round() / 1e3)
}

/// A load in words: `35.0/s`, `200 users`.
pub fn load(of: LoadUnit, load: f64) -> String {
    // Loads are round numbers: `35`, not `35.0`.
    let number = if load.fract() == 0.0 { count(load.abs() as u64) } else { three(load) };
    match of {
        LoadUnit::PerSecond => format!("{number}/s"),
        LoadUnit::Users { .. } if load == 1.0 => "1 user".into(),
        LoadUnit::Users { .. } => format!("{number} users"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!([three(0.0), three(3.394), three(498.25), three(12_345.6)], ["0", "3.39", "498", "12,346"]);
        assert_eq!([time(0.000_391), time(0.0012), time(1.0)], ["391 µs", "1.20 ms", "1.00 s"]);
        assert_eq!([three(9.999), three(0.099_96), three(999.7)], ["10.0", "0.100", "1,000"]);
        assert_eq!([bits(1e8), bytes(12_300.0), percent(0.0031)], ["100 Mb/s", "12.3 kB", "0.310 %"]);
        assert_eq!([percentile(0.999), percentile(0.5)], ["p99.9", "p50"]);
        assert_eq!([plural(1, "user"), plural(2000, "user")], ["1 user", "2,000 users"]);
    }
}
