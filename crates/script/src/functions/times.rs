//! The time, and its formats.

use super::{Call, Function};

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["time"],
        arguments: 0..=2,
        about: "the time: milliseconds since 1970, or by a format; variable",
        call: time,
    },
    Function {
        names: &["timestamp"],
        arguments: 0..=0,
        about: "seconds since 1970",
        call: |call| (millis(call) / 1000).to_string(),
    },
];

fn millis(call: &Call<'_>) -> u64 {
    call.user.worker.surroundings.unix_millis()
}

fn time(call: &Call<'_>) -> String {
    let format = call.text(0).trim();
    let text = match format.strip_prefix('/') {
        _ if format.is_empty() => millis(call).to_string(),
        Some(divisor) => millis(call).checked_div(divisor.parse().unwrap_or(1)).unwrap_or_default().to_string(),
        None => String::new(),
    };
    call.into_variable(1, text)
}
