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
pub(crate) const BACK: f64 = 1.5;
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
fn usual(searched: &[&TrialSummary], load: f64) -> Option<f64> {
    let known = || searched.iter().copied().filter(|trial| trial.mean.is_some());
    let above = known().filter(|trial| trial.load >= load).min_by(|a, b| a.load.total_cmp(&b.load));
    above.or_else(|| known().max_by(|a, b| a.load.total_cmp(&b.load)))?.mean
}

/// Seconds until the last piece with a longer mean was over; None where that is the last piece of all.
fn back_after(blocks: &[Counts], level: f64) -> Option<f64> {
    let pieces = pieces(blocks);
    let slow = |piece: &Piece| piece.completed <= 0.0 || piece.response > level * piece.completed;
    let last = pieces.iter().rposition(slow);
    match last {
        None if pieces.is_empty() => None,
        None => Some(0.0),
        Some(at) if at + 1 >= pieces.len() => None,
        Some(at) => Some(pieces[at].end),
    }
}

/// A piece of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// Seconds from the beginning of the trial to the end of the piece.
    pub end: f64,
    /// Sum of its response times, in seconds.
    pub response: f64,
    /// Number of replies.
    pub completed: f64,
}

/// The pieces of a trial.
pub(crate) fn pieces(blocks: &[Counts]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut time = 0.0;
    let mut began = f64::NEG_INFINITY;
    for block in blocks {
        if time - began > PIECE_SECONDS - 0.01 {
            pieces.push(Piece { end: time, response: 0.0, completed: 0.0 });
            began = time;
        }
        time += block.seconds;
        if let Some(piece) = pieces.last_mut() {
            piece.end = time;
            piece.response += block.response;
            piece.completed += block.completed;
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
