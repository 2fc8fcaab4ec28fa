//! How long a server takes to recover from an overload.
//!
//! What it is: the time from the end of the overload until mean response times are, and stay, as they had been at about
//! that load before. Out of scope: a test of why.

use crate::search::{PastTrial, Search, searched};
use crate::summary::{Counts, TrialSummary};
use brunt_model::answer::Recovery;
use brunt_model::question::TrialPurpose;
use std::time::Duration;

/// Response times have recovered when they are below this multiple of those before.
const BACK: f64 = 1.5;
/// They are looked at in pieces of so many seconds.
const PIECE_SECONDS: f64 = 0.5;

/// What became of the server after the overload; None where there was none, or nothing after it.
pub fn recovery(search: &Search, seen: &[TrialSummary], made: &[PastTrial]) -> Option<Recovery> {
    let of = |purpose| made.iter().position(|made| made.purpose == purpose).map(|at| &seen[at]);
    let (overload, back) = (of(TrialPurpose::Overload)?, of(TrialPurpose::Recovery)?);
    let usual = usual(&searched(seen, made), back.load)?;
    let ended = overload.began + search.find.trial.warmup.as_secs_f64() + overload.seconds;
    let gap = (back.began - ended).max(0.0);
    let after = back_after(&back.blocks, BACK * usual).map(|seconds| if seconds > 0.0 { gap + seconds } else { 0.0 });
    Some(Recovery {
        overload: overload.load,
        load: back.load,
        throughput_overloaded: overload.achieved,
        after: after.map(Duration::from_secs_f64),
    })
}

/// The mean response time at the least load above, that was tried before; else at the greatest below.
fn usual(searched: &[TrialSummary], load: f64) -> Option<f64> {
    let known = || searched.iter().filter(|trial| trial.mean.is_some());
    let above = known().filter(|trial| trial.load >= load).min_by(|a, b| a.load.total_cmp(&b.load));
    above.or_else(|| known().max_by(|a, b| a.load.total_cmp(&b.load)))?.mean
}

/// Seconds until the last piece with a longer mean was over; None where that is the last piece of all.
fn back_after(blocks: &[Counts], level: f64) -> Option<f64> {
    let pieces = pieces(blocks);
    let slow = |piece: &&(f64, f64, f64)| piece.2 <= 0.0 || piece.1 > level * piece.2;
    let last = pieces.iter().rposition(|piece| slow(&piece));
    match last {
        None if pieces.is_empty() => None,
        None => Some(0.0),
        Some(at) if at + 1 >= pieces.len() => None,
        Some(at) => Some(pieces[at].0),
    }
}

/// Of each piece: its end, the sum of its response times, how many.
fn pieces(blocks: &[Counts]) -> Vec<(f64, f64, f64)> {
    let mut pieces: Vec<(f64, f64, f64)> = Vec::new();
    let (mut at, mut began) = (0.0, f64::NEG_INFINITY);
    for block in blocks {
        if at - began > PIECE_SECONDS - 0.01 {
            pieces.push((at, 0.0, 0.0));
            began = at;
        }
        at += block.seconds;
        if let Some(piece) = pieces.last_mut() {
            *piece = (at, piece.1 + block.response, piece.2 + block.completed);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_back_after_the_last_slow_piece() {
        let block = |mean: f64| Counts { seconds: 0.1, completed: 10.0, response: 10.0 * mean, ..Counts::default() };
        let blocks =
            |slow: usize| -> Vec<Counts> { (0..50).map(|i| block(if i < slow { 1.0 } else { 0.01 })).collect() };
        assert_eq!(back_after(&blocks(0), 0.02), Some(0.0));
        let after = back_after(&blocks(12), 0.02).unwrap();
        assert!((after - 1.5).abs() < 1e-9, "{after}");
        assert_eq!(back_after(&blocks(50), 0.02), None);
        assert_eq!(back_after(&[], 0.02), None);
    }
}
