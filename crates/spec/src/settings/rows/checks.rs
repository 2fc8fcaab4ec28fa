//! Conditions for a good reply, and for a good run.

use crate::settings::row::{Occurrence, SettingRow as Row, on, set};
use crate::settings::{RunSettings, SettingKey, ValueForm};
use crate::words::{WordError, objective, status, values};

type S = RunSettings;

const CHECKS: &str = "Checks";

/// Largest percentage of the load that `--allow-lost` permits. Without more, a run is INVALID.
const MAX_ALLOWED_LOSS: u8 = 50;

/// Rows under the heading of checks.
pub static ROWS: [Row<RunSettings>; 7] = [
    // No `List` kind: `status::parse` splits at commas itself, since ranges are values, too.
    Row::repeated("expect-status", "LIST", "Statuses that are good, such as 200,201,300-399,2xx", |w, _| {
        set(status::parse(w), |s: &mut S, v| s.replies.checks.status.extend(v))
    })
    .under(CHECKS)
    .otherwise("all below 400")
    .keys(&[SettingKey::new("checks.status", ValueForm::Each)]),
    Row {
        kind: Occurrence::List,
        ..Row::value(
            "expect-http",
            "VERSION[,VERSION…]",
            "Accepted HTTP versions, such as 2,3: with --http auto, no load if the server offers none of them",
            |w, _| set(values::http_version(w), |s: &mut S, v| s.checks.expect_http.push(v)),
        )
        .under(CHECKS)
        .suggestions(values::suggested_http_versions)
        .keys(&[SettingKey::new("checks.http", ValueForm::Each)])
    },
    Row::value(
        "expect-body",
        "REGEX",
        "Regular expression that the body of a good reply matches, within 256 kB of the decoded body",
        |w, _| set(values::regex(w), |s: &mut S, v| s.replies.checks.body = Some(v)),
    )
    .under(CHECKS)
    .keys(&[SettingKey::new("checks.body", ValueForm::Value)]),
    Row::switch("expect-same-length", "A good body has the length of the first good one of its label", |_, _| {
        Ok(on(|s: &mut S| s.replies.checks.same_length = true))
    })
    .under(CHECKS)
    .keys(&[SettingKey::new("checks.same_length", ValueForm::IfTrue)]),
    Row::repeated(
        "objective",
        "BOUNDS",
        "Bounds, such as 'p99 < 50ms, errors < 0.1%, p95 of checkout < 1s' (a \
         step or transaction); exit code 4 if missed",
        |w, _| set(objective::parse(w), |s: &mut S, v| s.checks.objectives.extend(v)),
    )
    .under(CHECKS)
    .keys(&[SettingKey::new("objectives", ValueForm::Each)
        .about("Bounds, such as `p99 < 3s` or `errors < 0.1%`; `1-3-10` is p99 < 1s, p99 < 3s, p99 < 10s")]),
    Row::switch(
        "strict",
        "Exit code 6 if the load generator was the bottleneck; without this option it is only reported",
        |_, _| Ok(on(|s: &mut S| s.checks.strict = true)),
    )
    .under(CHECKS),
    Row::value(
        "allow-lost",
        "SHARE",
        "Share of the planned load that may be lost with agents or processes, such as 5%; above it, the exit code is 6",
        |w, _| set(allowed_loss(w), |s: &mut S, v| s.checks.allowed_loss_percent = v),
    )
    .under(CHECKS),
];

/// Parses the share of the load that may be lost: `5%`, as a percentage.
fn allowed_loss(word: &str) -> Result<u8, WordError> {
    let percent = word.strip_suffix('%').and_then(|digits| digits.trim_end().parse().ok());
    percent.filter(|percent| (1..=MAX_ALLOWED_LOSS).contains(percent)).ok_or_else(|| {
        WordError::new(
            word,
            "not a share of the load",
            "1% to 50%; if more is lost, the figures are of another load",
        )
    })
}
