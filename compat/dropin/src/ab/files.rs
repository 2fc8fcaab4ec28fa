//! ab's files: one line per request for gnuplot (`-g`), and percentiles as CSV (`-e`).

use super::classic::RequestTimes;
use super::order::{Ordered, millis};
use crate::local_time;
use std::fmt::Write;

/// Formats `-e`: one row for each percent from 0 to 100, in milliseconds.
pub fn csv(records: &[RequestTimes]) -> String {
    let total = Ordered::new(records.iter().map(|r| r.total));
    let mut out = String::from("Percentage served,Time in ms\n");
    for percent in 0..=100 {
        let _ = writeln!(out, "{percent},{:.3}", total.csv(percent) as f64 / 1000.0);
    }
    out
}

/// Formats `-g`: one row for each request, fastest first. `epoch` is the Unix
/// time of the clock's zero.
pub fn gnuplot(records: &[RequestTimes], epoch: f64) -> String {
    let mut order: Vec<&RequestTimes> = records.iter().collect();
    order.sort_by_key(|r| r.total);
    let mut out = String::with_capacity(64 * (records.len() + 1));
    out.push_str("starttime\tseconds\tctime\tdtime\tttime\twait\n");
    let mut last_formatted = (i64::MIN, String::new());
    for record in order {
        let seconds = (epoch + record.begun.seconds()) as i64;
        // Formatting a time is slow, so the last result is reused.
        if last_formatted.0 != seconds {
            last_formatted = (seconds, local(seconds));
        }
        let [connect, processing, total, wait] =
            [record.connect, record.processing(), record.total, record.wait].map(millis);
        let _ = writeln!(
            out,
            "{}\t{seconds}\t{connect}\t{processing}\t{total}\t{wait}",
            last_formatted.1
        );
    }
    out
}

/// Formats a local time like ctime(3).
fn local(seconds: i64) -> String {
    local_time::format(seconds.saturating_mul(1000), "%a %b %d %H:%M:%S %Y")
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Tick;

    fn records() -> Vec<RequestTimes> {
        [(2_000_000_000, 900, 4400, 2000), (0, 0, 1499, 0)]
            .map(|(begun, connect, total, wait)| RequestTimes {
                begun: Tick(begun),
                connect,
                wait,
                total,
            })
            .to_vec()
    }

    #[test]
    fn requests_are_sorted_by_time() {
        let text = gnuplot(&records(), 1_000_000.25);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(rows[0], ["starttime", "seconds", "ctime", "dtime", "ttime", "wait"]);
        assert_eq!(rows[1][1..], ["1000000", "0", "1", "1", "0"]);
        assert_eq!(rows[2][1..], ["1000002", "1", "4", "4", "2"]);
        // The start has five words: day of the week, month, day, time and year. So the total time
        // is column 9 for gnuplot.
        assert_eq!(text.lines().nth(2).unwrap().split_whitespace().nth(8), Some("4"));
        assert_eq!(rows[1][0].len(), 24);
    }

    #[test]
    fn a_row_for_each_percent() {
        let text = csv(&records());
        assert_eq!(text.lines().count(), 102);
        assert!(text.starts_with("Percentage served,Time in ms\n0,1.499\n"));
        assert!(text.ends_with("\n99,4.400\n100,4.400\n"));
    }
}
