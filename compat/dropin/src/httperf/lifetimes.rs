//! Figures of connections: concurrency, bursts of starts, lifetimes.

use super::counts::{BINS, ConnectionCounts};
use std::fmt::Write;

/// Statistics of connection lifetimes in milliseconds, by httperf's rules.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lifetimes {
    pub min: f64,
    pub avg: f64,
    pub max: f64,
    /// Middle of the 1 ms bin that contains the median.
    pub median: f64,
    pub true_median: f64,
    /// Standard deviation of the sample.
    pub stddev: f64,
    /// Number of connections with a reply.
    pub successful: u64,
}

/// Maximum number of concurrent connections.
pub fn max_concurrent(connections: &[ConnectionCounts]) -> u64 {
    let mut starts: Vec<_> = connections.iter().map(|c| c.begun).collect();
    let mut ends: Vec<_> = connections.iter().map(|c| c.ended).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let mut closed = 0;
    let mut most = 0;
    for (n, start) in starts.iter().enumerate() {
        // A connection that starts at the instant at which another ends does not overlap it.
        while closed < n && ends[closed] <= *start {
            closed += 1;
        }
        most = most.max(n + 1 - closed);
    }
    most as u64
}

/// Longest burst of connection starts: each connection was due before the previous one started. The
/// last burst does not count, since httperf never looks at it.
pub fn longest_burst(connections: &[ConnectionCounts]) -> u64 {
    let mut starts: Vec<_> = connections.iter().map(|c| (c.begun, c.planned)).collect();
    starts.sort_unstable();
    let mut burst = 0;
    let mut longest = 0;
    let mut previous_start = None;
    for (begun, planned) in starts {
        if previous_start.is_some_and(|previous| planned > previous) {
            // A pause: the connection became due after the previous one had started.
            longest = longest.max(burst);
            burst = 0;
        }
        burst += 1;
        previous_start = Some(begun);
    }
    longest
}

/// Statistics of the lifetimes of connections with a reply, by httperf's arithmetic: the deviation
/// from the sum of squares, the median from a histogram with bins of 1 ms.
pub fn lifetimes(connections: &[ConnectionCounts]) -> Lifetimes {
    let mut lifetimes: Vec<f64> = successful_lifetimes(connections).collect();
    if lifetimes.is_empty() {
        return Lifetimes::default();
    }
    lifetimes.sort_unstable_by(f64::total_cmp);
    let n = lifetimes.len() as f64;
    let sum: f64 = lifetimes.iter().sum();
    let squares: f64 = lifetimes.iter().map(|ms| ms * ms).sum();
    let variance =
        if lifetimes.len() > 1 { ((squares - sum * sum / n) / (n - 1.0)).max(0.0) } else { 0.0 };
    let middle = lifetimes[(lifetimes.len() - 1) / 2];
    Lifetimes {
        min: lifetimes[0],
        avg: sum / n,
        max: lifetimes[lifetimes.len() - 1],
        median: bin(middle) as f64 + 0.5,
        true_median: f64::midpoint(middle, lifetimes[lifetimes.len() / 2]),
        stddev: variance.sqrt(),
        successful: lifetimes.len() as u64,
    }
}

fn successful_lifetimes(connections: &[ConnectionCounts]) -> impl Iterator<Item = f64> {
    let successful = connections.iter().filter(|c| c.replies > 0);
    successful.map(|c| c.ended.nanos_since(c.begun) as f64 / 1e6)
}

fn bin(milliseconds: f64) -> usize {
    (milliseconds as usize).min(BINS - 1)
}

/// Formats the histogram of `-vv`: middle and count of each bin with connections, and
/// a colon for each gap.
pub fn histogram(connections: &[ConnectionCounts]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    successful_lifetimes(connections).for_each(|ms| *counts.entry(bin(ms)).or_insert(0_u64) += 1);
    let mut out = "\nConnection lifetime histogram (time in ms):\n".to_owned();
    let mut next = None;
    for (bin, count) in counts {
        if next.is_some_and(|next| bin > next) {
            let _ = writeln!(out, "{:>14}", ':');
        }
        let _ = writeln!(out, "{:16.1} {count}", bin as f64 + 0.5);
        next = Some(bin + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Tick;

    fn connections(spans: &[(u64, u64, u64)]) -> Vec<ConnectionCounts> {
        let ms = |ms: u64| Tick(ms * 1_000_000);
        let one = |&(planned, begun, ended): &(u64, u64, u64)| ConnectionCounts {
            planned: ms(planned),
            begun: ms(begun),
            ended: ms(ended),
            replies: 1,
        };
        spans.iter().map(one).collect()
    }

    #[test]
    fn maximum_concurrency_and_longest_burst_are_counted() {
        let apart = connections(&[(0, 0, 5), (5, 5, 9), (9, 9, 12)]);
        assert_eq!((max_concurrent(&apart), longest_burst(&apart)), (1, 1));
        let late = connections(&[(0, 0, 30), (10, 20, 30), (20, 20, 30), (30, 31, 40)]);
        assert_eq!((max_concurrent(&late), longest_burst(&late)), (3, 2));
        assert_eq!(longest_burst(&late[..1]), 0);
    }

    /// httperf's output for connections of 0.6 ms and 8.2 ms.
    #[test]
    fn the_median_is_the_center_of_a_millisecond_bin() {
        let two = [(0.6, 0.5), (8.2, 0.5)].map(|(ms, _)| ConnectionCounts {
            planned: Tick(0),
            begun: Tick(0),
            ended: Tick((ms * 1e6) as u64),
            replies: 1,
        });
        let lived = lifetimes(&two);
        assert_eq!(
            format!("{:.1} {:.1} {:.1}", lived.avg, lived.median, lived.stddev),
            "4.4 0.5 5.4"
        );
        assert!((lived.true_median - 4.4).abs() < 1e-5);
        assert_eq!(lifetimes(&[]), Lifetimes::default());
        assert_eq!(
            histogram(&two),
            "\nConnection lifetime histogram (time in ms):\n             0.5 1\n             :\n             8.5 1\n"
        );
    }
}
