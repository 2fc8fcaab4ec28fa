//! A histogram of times, drawn in characters.

use crate::outline::block::Bar;
use crate::view::View;
use brunt_model::numbers::{share, time};

/// The longest bar, in columns.
const LONGEST: usize = 40;
/// Columns of the figures beside a bar.
const BESIDE: usize = 35;

/// A line for each bar, below a head.
pub fn text(view: &View, bars: &[Bar]) -> String {
    let room = view.columns.saturating_sub(BESIDE).min(LONGEST);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1);
    let all = bars.last().map_or(0, |last| last.so_far);
    let mut text = String::from("     up to    share  cumulative\n");
    for bar in bars {
        let figures = [time(bar.up_to), share(bar.count, all), share(bar.so_far, all)];
        let line =
            format!("{:>10}  {:>7}     {:>7}  {}", figures[0], figures[1], figures[2], drawn(bar.count, most, room));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A bar in eighths of a character; whatever is not 0 shows.
fn drawn(n: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (n as f64 / most.max(1) as f64 * room as f64 * 8.0).round() as usize;
    let eighths = if n > 0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_nothing_shows() {
        assert_eq!(drawn(0, 100, LONGEST), "");
        assert_eq!(drawn(1, 1_000_000, LONGEST), "▏");
        assert_eq!(drawn(7, 7, LONGEST).chars().count(), 40);
    }
}
