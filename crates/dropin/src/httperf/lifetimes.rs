//! Figures of connections: how many at once, how many begun at once, how long they lived.

use super::counts::{BINS, Connection};
use std::fmt::Write;

/// Lifetimes in milliseconds, as httperf has them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lifetimes {
    /// The shortest.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The longest.
    pub max: f64,
    /// The middle of the millisecond in which the median lies.
    pub median: f64,
    /// The median itself.
    pub true_median: f64,
    /// The deviation of the sample.
    pub stddev: f64,
    /// Connections that had a reply.
    pub successful: u64,
}

/// The most connections that there were at once.
pub fn most_at_once(connections: &[Connection]) -> u64 {
    let mut begun: Vec<_> = connections.iter().map(|c| c.begun).collect();
    let mut ended: Vec<_> = connections.iter().map(|c| c.ended).collect();
    begun.sort_unstable();
    ended.sort_unstable();
    let (mut over, mut most) = (0, 0);
    for (n, at) in begun.iter().enumerate() {
        // Who begins at the instant at which another ends does not meet it.
        while over < n && ended[over] <= *at {
            over += 1;
        }
        most = most.max(n + 1 - over);
    }
    most as u64
}

/// The most connections that were begun without a pause: each was due when the one before it was begun. The last of these
/// bursts does not count: httperf never looks at it.
pub fn longest_burst(connections: &[Connection]) -> u64 {
    let mut starts: Vec<_> = connections.iter().map(|c| (c.begun, c.planned)).collect();
    starts.sort_unstable();
    let (mut burst, mut longest) = (0, 0);
    let mut before = None;
    for (begun, planned) in starts {
        if before.is_some_and(|before| planned > before) {
            longest = longest.max(burst);
            burst = 0;
        }
        burst += 1;
        before = Some(begun);
    }
    longest
}

/// Lifetimes of connections that had a reply, by httperf's arithmetic: the deviation by the sum of squares, the median from
/// a histogram of milliseconds.
pub fn lifetimes(connections: &[Connection]) -> Lifetimes {
    let mut lived: Vec<f64> = living(connections).collect();
    if lived.is_empty() {
        return Lifetimes::default();
    }
    lived.sort_unstable_by(f64::total_cmp);
    let n = lived.len() as f64;
    let sum: f64 = lived.iter().sum();
    let squares: f64 = lived.iter().map(|ms| ms * ms).sum();
    let variance = if lived.len() > 1 { ((squares - sum * sum / n) / (n - 1.0)).max(0.0) } else { 0.0 };
    let middle = lived[(lived.len() - 1) / 2];
    Lifetimes {
        min: lived[0],
        avg: sum / n,
        max: lived[lived.len() - 1],
        median: bin(middle) as f64 + 0.5,
        true_median: f64::midpoint(middle, lived[lived.len() / 2]),
        stddev: variance.sqrt(),
        successful: lived.len() as u64,
    }
}

fn living(connections: &[Connection]) -> impl Iterator<Item = f64> {
    let successful = connections.iter().filter(|c| c.replies > 0);
    successful.map(|c| c.ended.nanos_since(c.begun) as f64 / 1e6)
}

fn bin(milliseconds: f64) -> usize {
    (milliseconds as usize).min(BINS - 1)
}

/// The histogram of `-vv`: for each millisecond in which connections ended, its middle and how many; gaps in between.
pub fn histogram(connections: &[Connection]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    living(connections).for_each(|ms| *counts.entry(bin(ms)).or_insert(0_u64) += 1);
    let (mut out, mut next) = ("\nConnection lifetime histogram (time in ms):\n".to_owned(), None);
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

    fn connections(spans: &[(u64, u64, u64)]) -> Vec<Connection> {
        let ms = |ms: u64| Tick(ms * 1_000_000);
        let one = |&(planned, begun, ended): &(u64, u64, u64)| Connection {
            planned: ms(planned),
            begun: ms(begun),
            ended: ms(ended),
            replies: 1,
        };
        spans.iter().map(one).collect()
    }

    #[test]
    fn how_many_there_were_at_once_and_how_many_were_begun_at_once() {
        let apart = connections(&[(0, 0, 5), (5, 5, 9), (9, 9, 12)]);
        assert_eq!((most_at_once(&apart), longest_burst(&apart)), (1, 1));
        let late = connections(&[(0, 0, 30), (10, 20, 30), (20, 20, 30), (30, 31, 40)]);
        assert_eq!((most_at_once(&late), longest_burst(&late)), (3, 2));
        assert_eq!(longest_burst(&late[..1]), 0);
    }

    /// As httperf printed them for connections of 0.6 ms and 8.2 ms.
    #[test]
    fn the_median_is_the_middle_of_a_millisecond() {
        let two = [(0.6, 0.5), (8.2, 0.5)].map(|(ms, _)| Connection {
            planned: Tick(0),
            begun: Tick(0),
            ended: Tick((ms * 1e6) as u64),
            replies: 1,
        });
        let lived = lifetimes(&two);
        assert_eq!(format!("{:.1} {:.1} {:.1}", lived.avg, lived.median, lived.stddev), "4.4 0.5 5.4");
        assert!((lived.true_median - 4.4).abs() < 1e-5);
        assert_eq!(lifetimes(&[]), Lifetimes::default());
        assert_eq!(
            histogram(&two),
            "\nConnection lifetime histogram (time in ms):\n             0.5 1\n             :\n             8.5 1\n"
        );
    }
}
