//! Numbers as k6's summary writes them.

/// A time in milliseconds with the unit that fits: `1.5s`, `12.34ms`, `250µs`.
fn time(milliseconds: f64) -> String {
    let size = milliseconds.abs();
    if size == 0.0 {
        "0s".into()
    } else if size < 0.001 {
        format!("{}ns", short(milliseconds * 1e6))
    } else if size < 1.0 {
        format!("{}µs", short(milliseconds * 1e3))
    } else if size < 1e3 {
        format!("{}ms", short(milliseconds))
    } else if size < 60e3 {
        format!("{}s", short(milliseconds / 1e3))
    } else {
        let seconds = (milliseconds / 1e3).round() as i64;
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        if hours > 0 {
            format!("{hours}h{minutes:02}m{seconds:02}s")
        } else {
            format!("{minutes}m{seconds:02}s")
        }
    }
}

/// A time in a fixed unit: s, ms or us; for any other word, in the unit that fits.
fn time_in(milliseconds: f64, unit: &str) -> String {
    match unit {
        "s" => format!("{:.2}s", milliseconds / 1e3),
        "ms" => format!("{milliseconds:.2}ms"),
        "us" => format!("{:.2}µs", milliseconds * 1e3),
        _ => time(milliseconds),
    }
}

/// A number of bytes: `12 kB`.
pub fn bytes(count: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut value = count;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let text = if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    // `3 kB`, as k6 writes it.
    let text = text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
    format!("{text} {}", units[unit])
}

/// A number without superfluous digits.
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value}")
    } else {
        trimmed(format!("{value:.6}"))
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    // Not rounded up: 99.999 % is not 100 %.
    format!("{:.2}%", (share * 1e4).floor() / 1e2)
}

/// A value of a metric, by its kind and its content. `unit` is that of times.
pub fn metric_value(value: f64, kind: &str, contains: &str, unit: &str) -> String {
    match (kind, contains) {
        ("rate", _) => percent(value),
        (_, "time") => time_in(value, unit),
        (_, "data") => bytes(value),
        _ => plain(value),
    }
}

/// Two decimals at most.
fn short(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
