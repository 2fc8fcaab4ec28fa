//! Settings of a search for a capacity.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, set};
use crate::settings::{ArgumentContent, SearchSettings, SettingKey, ValueForm};
use crate::words::{duration, find, named};

type S = SearchSettings;

const SEARCH: &str = "Search";

/// Options that a comparison of capacities has in common with a search.
pub const OF_TRIALS: [&str; 4] = ["precision", "start-load", "max-load", "trial-duration"];

/// Rows of a search's settings.
pub static ROWS: [Row<SearchSettings>; 8] = [
    Row::value("time-budget", "TIME", "Time budget of the search for each server", |w, _| {
        set(duration::positive(w), |s: &mut S, v| s.within = v)
    })
    .under(SEARCH)
    .content(ArgumentContent::Number)
    .default(defaults::FIND_WITHIN)
    .keys(&[SettingKey::new("find.time_budget", ValueForm::Value)]),
    Row::value("precision", "SHARE", "Target precision of each capacity: half its 95 % confidence interval", |w, _| {
        set(find::precision(w), |s: &mut S, v| s.precision = v)
    })
    .under(SEARCH)
    .default(defaults::FIND_PRECISION)
    .keys(&[SettingKey::new("find.precision", ValueForm::Value)]),
    Row::value("start-load", "LOAD", "Load of the first trial", |w, _| {
        set(find::load(w), |s: &mut S, v| s.start = Some(v))
    })
    .under(SEARCH)
    .otherwise("that of --rate or --connections, else 50 requests/s")
    .content(ArgumentContent::Number)
    .keys(&[SettingKey::new("find.start_load", ValueForm::Value)]),
    Row::value("max-load", "LOAD", "Highest load to try", |w, _| set(find::load(w), |s: &mut S, v| s.most = Some(v)))
        .under(SEARCH)
        .otherwise("no limit")
        .content(ArgumentContent::Number)
        .keys(&[SettingKey::new("find.max_load", ValueForm::Value)]),
    Row::value(
        "trial-duration",
        "TIME",
        "Measured time of the shortest trials, which choose the next load; a confirmation takes a quarter of the time budget",
        |w, _| set(find::trial_duration(w), |s: &mut S, v| s.trial = v),
    )
    .under(SEARCH)
    .default(defaults::FIND_TRIAL)
    .keys(&[SettingKey::new("find.trial_duration", ValueForm::Value)]),
    Row::value(
        "cooldown",
        "TIME",
        "Pause between two trials; longer if the previous one left unfinished work",
        |w, _| set(duration::parse(w), |s: &mut S, v| s.cooldown = v),
    )
    .under(SEARCH)
    .default(defaults::FIND_COOLDOWN)
    // `restart` needs a managed server, which only a plan file has.
    .keys(&[SettingKey::new("find.between", ValueForm::Value)
        .about("Pause between two trials, such as 1s; or `restart` of the managed server")]),
    Row::value(
        "overload",
        "TIMES",
        "Final overload trial, as a multiple of the capacity, to see how the server recovers; or no",
        |w, _| set(find::overload(w), |s: &mut S, v| s.overload = v),
    )
    .under(SEARCH)
    .suggestions(|| named::of_list(&[("no", "no overload trial")]))
    .default(defaults::FIND_OVERLOAD)
    .keys(&[SettingKey::new("find.overload", ValueForm::Value)]),
    Row::repeated(
        "require",
        "BOUND",
        "Requirement, such as 'capacity > 3000/s': exit code 4 if missed, 8 if the interval does not decide it",
        |w, _| set(find::requirement(w), |s: &mut S, v| s.require.push(v)),
    )
    .under(SEARCH)
    .keys(&[SettingKey::new("find.require", ValueForm::Each)]),
];
