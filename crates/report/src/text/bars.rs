//! Draws a histogram of times in characters.

use crate::outline::block::Bar;
use crate::view::View;
use brunt_model::numbers::{share, time};

/// Maximum length of a bar, in columns.
const MAX_BAR: usize = 40;
/// Width of the figures before a bar, in columns.
const FIGURES_WIDTH: usize = 35;

/// Returns a head, and a line for each bar.
pub fn text(view: &View, bars: &[Bar]) -> String {
    let room = view.columns.saturating_sub(FIGURES_WIDTH).min(MAX_BAR);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1);
    let all = bars.last().map_or(0, |last| last.so_far);
    let mut text = String::from("     up to    share  cumulative\n");
    for bar in bars {
        let figures = [time(bar.up_to), share(bar.count, all), share(bar.so_far, all)];
        let line = format!(
            "{:>10}  {:>7}     {:>7}  {}",
            figures[0],
            figures[1],
            figures[2],
            drawn_bar(bar.count, most, room)
        );
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Draws a bar in eighths of a character. A count above 0 has at least one eighth.
fn drawn_bar(n: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (n as f64 / most.max(1) as f64 * room as f64 * 8.0).round() as usize;
    // A bar that is rounded to nothing would look like a count of 0.
    let eighths = if n > 0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_positive_value_has_a_visible_bar() {
        assert_eq!(drawn_bar(0, 100, MAX_BAR), "");
        assert_eq!(drawn_bar(1, 1_000_000, MAX_BAR), "▏");
        assert_eq!(drawn_bar(7, 7, MAX_BAR).chars().count(), 40);
    }
}
