//! How a capacity is searched for.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, set};
use crate::settings::{Key, SearchSettings, Takes};
use crate::words::{duration, find};

type S = SearchSettings;

const SEARCH: &str = "Search";

/// What a comparison of capacities takes as well.
pub const OF_TRIALS: [&str; 4] = ["precision", "start", "most", "trial"];

/// The rows.
pub static ROWS: [Row<SearchSettings>; 8] = [
    Row::value("within", "TIME", "Time budget of the search for each server", |w, _| {
        set(duration::positive(w), |s: &mut S, v| s.within = v)
    })
    .under(SEARCH)
    .usual(defaults::FIND_WITHIN)
    .keys(&[Key::new("find.within", Takes::Value)]),
    Row::value("precision", "SHARE", "Target precision of each capacity: half its 95 % confidence interval", |w, _| {
        set(find::precision(w), |s: &mut S, v| s.precision = v)
    })
    .under(SEARCH)
    .usual(defaults::FIND_PRECISION)
    .keys(&[Key::new("find.precision", Takes::Value)]),
    Row::value(
        "start",
        "LOAD",
        "The load of the first trial [default: that of --rate or --connections, else 50 requests/s]",
        |w, _| set(find::load(w), |s: &mut S, v| s.start = Some(v)),
    )
    .under(SEARCH)
    .keys(&[Key::new("find.start", Takes::Value)]),
    Row::value("most", "LOAD", "No higher load is tried [default: as far as it goes]", |w, _| {
        set(find::load(w), |s: &mut S, v| s.most = Some(v))
    })
    .under(SEARCH)
    .keys(&[Key::new("find.most", Takes::Value)]),
    Row::value(
        "trial",
        "TIME..TIME",
        "Measured time of a trial, at least and at most; it ends as soon as its side is decided",
        |w, _| set(find::lengths(w), |s: &mut S, v| s.trial = v),
    )
    .under(SEARCH)
    .usual(defaults::FIND_TRIAL)
    .keys(&[Key::new("find.trial", Takes::Value)]),
    Row::value(
        "cooldown",
        "TIME",
        "Rest between two trials; more where the one before left unfinished work",
        |w, _| set(duration::parse(w), |s: &mut S, v| s.cooldown = v),
    )
    .under(SEARCH)
    .usual(defaults::FIND_COOLDOWN)
    .keys(&[Key::new("find.between", Takes::Value)]),
    Row::value(
        "overload",
        "TIMES",
        "Overload at the end as a multiple of the capacity, to see how the server recovers; or no",
        |w, _| set(find::overload(w), |s: &mut S, v| s.overload = v),
    )
    .under(SEARCH)
    .usual(defaults::FIND_OVERLOAD)
    .keys(&[Key::new("find.overload", Takes::Value)]),
    Row::repeated(
        "require",
        "BOUND",
        "Such as 'capacity > 3000/s': exit code 4 if missed, 8 if the interval does not decide it; repeatable",
        |w, _| set(find::requirement(w), |s: &mut S, v| s.require.push(v)),
    )
    .under(SEARCH)
    .keys(&[Key::new("find.require", Takes::Each)]),
];
