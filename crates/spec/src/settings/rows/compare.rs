//! Settings of a comparison.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, on, set};
use crate::settings::{ArgumentContent, CompareSettings, SettingKey, ValueForm};
use crate::words::{WordError, compare, duration};

type S = CompareSettings;

const COMPARISON: &str = "Comparison";

/// Option of the time budget of the whole comparison. A comparison of stored runs
/// has no time budget.
pub const TIME_BUDGET: &str = "time-budget";

/// Rows of a comparison's settings.
pub static ROWS: [Row<CompareSettings>; 8] = [
    Row::value(
        "at",
        "WHERE",
        "Loads at which servers are compared: the given ones (load), each server's capacity within --objective, searched in \
         each repetition (capacity), or both",
        |w, _| set(compare::compared_loads(w), |s: &mut S, v| s.at = Some(v)),
    )
    .under(COMPARISON)
    .suggestions(compare::suggested_loads)
    .otherwise("load")
    .keys(&[SettingKey::new("compare.at", ValueForm::Value)]),
    Row::repeated(
        "metric",
        "LIST",
        "Metrics to compare: p99, p50, mean, max, errors, throughput, goodput, cpu, capacity; the first decides",
        |w, _| set(compare::measures(w), |s: &mut S, v| s.metrics.extend(v)),
    )
    .under(COMPARISON)
    .suggestions(compare::suggested_metrics)
    .otherwise(
        "p99, p50, throughput, errors; in a closed loop throughput first; and cpu if it is read; \
         capacity before all with --at",
    )
    .keys(&[SettingKey::new("compare.metrics", ValueForm::Each)]),
    Row::value(
        "factor",
        "NAME",
        "Factor of the plan to compare: its levels are compared at each combination of the other factors",
        |w, _| set(Ok::<_, WordError>(w.to_owned()), |s: &mut S, v| s.factor = Some(v)),
    )
    .under(COMPARISON)
    .keys(&[SettingKey::new("compare.factor", ValueForm::Value).default("each factor")]),
    Row::value("min-difference", "SHARE", "Smallest relevant difference; servers within it are equivalent", |w, _| {
        set(compare::share(w), |s: &mut S, v| s.smallest = Some(v))
    })
    .under(COMPARISON)
    .otherwise(defaults::SMALLEST)
    .keys(&[SettingKey::new("compare.min_difference", ValueForm::Value)]),
    Row::value("alpha", "CHANCE", "Significance level: chance that equal servers are found to differ", |w, _| {
        set(compare::alpha(w), |s: &mut S, v| s.alpha = Some(v))
    })
    .under(COMPARISON)
    .otherwise(defaults::ALPHA)
    .keys(&[SettingKey::new("compare.alpha", ValueForm::Value)]),
    Row::value(TIME_BUDGET, "TIME", "Time budget of the whole comparison", |w, _| {
        set(duration::positive(w), |s: &mut S, v| s.within = Some(v))
    })
    .under("Experiment")
    .content(ArgumentContent::Number)
    .keys(&[SettingKey::new("compare.time_budget", ValueForm::Value).default("none")]),
    Row::repeated(
        "fail-if",
        "DIFFERENCE",
        "Exit code 9 if the whole confidence interval is beyond this difference, such as 'p99 worse by 5%'",
        |w, _| set(compare::regressions(w), |s: &mut S, v| s.fail_if.extend(v)),
    )
    .under(COMPARISON)
    .keys(&[SettingKey::new("compare.fail_if", ValueForm::Each)]),
    Row::switch(
        "require-decision",
        "Exit code 8 if the comparison is undecided; without this option it is only reported",
        |_, _| Ok(on(|s: &mut S| s.require_decision = true)),
    )
    .under(COMPARISON),
];
