//! Measures how long a server takes to recover from an overload.
//!
//! The time ends when mean response times are, and remain, as before the overload at about the same
//! load. The cause is not examined.

use crate::search::{PastTrial, Search, search_trials};
use crate::summary::{TrialBlock, TrialSummary};
use brunt_model::answer::Recovery;
use brunt_model::question::TrialPurpose;
use std::time::Duration;

/// Response times have recovered when they are below this multiple of those before.
pub(crate) const RECOVERED: f64 = 1.5;
/// Length, in seconds, of a piece of a trial. Recovery is decided by the mean of each piece.
const PIECE_SECONDS: f64 = 0.5;

/// Returns the recovery from the overload; None without an overload trial or a recovery trial.
pub fn recovery(
    search: &Search,
    trials: &[TrialSummary],
    history: &[PastTrial],
) -> Option<Recovery> {
    let overload =
        &trials[history.iter().position(|past| past.purpose == TrialPurpose::Overload)?];
    let recovery =
        &trials[history.iter().position(|past| past.purpose == TrialPurpose::Recovery)?];
    let normal = normal_response(&search_trials(trials, history), recovery.load)?;
    let overload_end = overload.began + search.find.trial.warmup.as_secs_f64() + overload.seconds;
    let gap = (recovery.began - overload_end).max(0.0);
    let after = recovered_after(&recovery.blocks, RECOVERED * normal)
        .map(|seconds| if seconds > 0.0 { gap + seconds } else { 0.0 });
    Some(Recovery {
        overload: overload.load,
        load: recovery.load,
        throughput_overloaded: overload.achieved,
        after: after.map(Duration::from_secs_f64),
    })
}

/// Mean response time of the trial at the next load at or above `load`; if there is none, of the
/// trial at the highest load.
fn normal_response(trials: &[&TrialSummary], load: f64) -> Option<f64> {
    let with_replies: Vec<&TrialSummary> =
        trials.iter().copied().filter(|trial| trial.mean.is_some()).collect();
    let above = with_replies
        .iter()
        .filter(|trial| trial.load >= load)
        .min_by(|a, b| a.load.total_cmp(&b.load));
    above.or_else(|| with_replies.iter().max_by(|a, b| a.load.total_cmp(&b.load)))?.mean
}

/// Seconds until the end of the last slow piece. None if the trial ended with a slow piece.
fn recovered_after(blocks: &[TrialBlock], level: f64) -> Option<f64> {
    let pieces = pieces(blocks);
    let last = pieces
        .iter()
        .rposition(|piece| piece.completed <= 0.0 || piece.response > level * piece.completed);
    match last {
        None if pieces.is_empty() => None,
        None => Some(0.0),
        Some(at) if at + 1 >= pieces.len() => None,
        Some(at) => Some(pieces[at].end),
    }
}

/// A piece of a trial: one or more blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// Seconds from the beginning of the trial to the end of the piece.
    pub end: f64,
    /// Sum of its response times, in seconds.
    pub response: f64,
    /// Number of complete replies.
    pub completed: f64,
}

/// Splits a trial into pieces.
pub(crate) fn pieces(blocks: &[TrialBlock]) -> Vec<Piece> {
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
    fn recovery_ends_with_the_last_slow_block() {
        let block = |mean: f64| TrialBlock {
            seconds: 0.1,
            completed: 10.0,
            response: 10.0 * mean,
            ..TrialBlock::default()
        };
        let blocks = |slow: usize| -> Vec<TrialBlock> {
            (0..50).map(|i| block(if i < slow { 1.0 } else { 0.01 })).collect()
        };
        assert_eq!(recovered_after(&blocks(0), 0.02), Some(0.0));
        let after = recovered_after(&blocks(12), 0.02).unwrap();
        assert!((after - 1.5).abs() < 1e-9, "{after}");
        assert_eq!(recovered_after(&blocks(50), 0.02), None);
        assert_eq!(recovered_after(&[], 0.02), None);
    }
}
