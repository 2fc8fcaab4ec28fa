//! Defines the appearance of a text report: width, color and detail.
//!
//! The caller passes the width; this module does not look at the terminal.

use crate::layout::{self, TextTable};

/// Default width, in columns.
pub const COLUMNS: usize = 80;
/// Maximum number of lines in the brief report of a run, on a terminal of 80 columns.
pub const BRIEF_LINES: usize = 30;
/// Width of the first column of an entry, in characters.
const KEY_WIDTH: usize = 15;

/// Appearance of a text report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Maximum width of a line. Only words that cannot be broken exceed it.
    pub columns: usize,
    /// Plain text, or text with escape sequences.
    pub color: Color,
    /// Detail of the report: brief or full.
    pub detail: Detail,
    /// Maximum number of lines of a brief report. None for a file or a pipe, which need no limit.
    pub lines: Option<usize>,
}

/// Colors of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// No color: plain characters only.
    None,
    /// Color by ANSI escape sequences.
    Ansi,
}

/// Detail of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Verdict, headline and findings: one screen.
    Brief,
    /// All sections, with all rows.
    Full,
}

/// Emphasis of a text: bold, and a color except for [`Strong`](Self::Strong).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// A heading or a headline figure; bold without a color.
    Strong,
    /// A result that is as expected.
    Good,
    /// A warning, or a doubtful figure.
    Warning,
    /// An error, or a missed objective.
    Bad,
}

/// A plain, brief report with the limits of a terminal.
impl Default for View {
    fn default() -> Self {
        Self {
            columns: COLUMNS,
            color: Color::None,
            detail: Detail::Brief,
            lines: Some(BRIEF_LINES),
        }
    }
}

impl View {
    /// Returns this view with all details.
    #[must_use]
    pub fn in_full(self) -> Self {
        Self { detail: Detail::Full, ..self }
    }

    /// Adds the escape sequences of an emphasis to a text that is not empty. Without color, the
    /// text is unchanged.
    pub fn paint(&self, emphasis: Emphasis, text: &str) -> String {
        let code = match emphasis {
            Emphasis::Strong => "1",
            Emphasis::Good => "1;32",
            Emphasis::Warning => "1;33",
            Emphasis::Bad => "1;31",
        };
        match self.color {
            Color::Ansi if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            Color::Ansi | Color::None => text.to_owned(),
        }
    }

    /// Returns `lead` and `text`, wrapped to the width. Later lines are indented to the end of
    /// `lead`.
    pub fn hang(&self, lead: &str, text: &str) -> String {
        layout::hang_within(self.columns, lead, text)
    }

    /// Formats a named fact: `Throughput     154,463 requests/s`.
    pub fn entry(&self, key: &str, text: &str) -> String {
        self.hang(&layout::pad(&self.paint(Emphasis::Strong, key), KEY_WIDTH), text)
    }

    /// Width of the text of an entry, in columns.
    pub fn entry_columns(&self) -> usize {
        self.columns.saturating_sub(KEY_WIDTH)
    }

    /// Formats a table, with an emphasized head.
    pub fn table(&self, table: &TextTable) -> String {
        let text = table.render_within(self.columns);
        match text.split_once('\n') {
            Some((head, rows)) if table.has_head() => {
                format!("{}\n{rows}", self.paint(Emphasis::Strong, head))
            }
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_codes_have_no_width() {
        let plain = View { columns: 20, ..View::default() };
        let colored = View { color: Color::Ansi, ..plain };
        let text = |view: View| {
            view.entry("Key", &format!("{} two three", view.paint(Emphasis::Bad, "one")))
        };
        let stripped =
            text(colored).replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(stripped, text(plain));
        assert!(text(colored).contains("\x1b[1;31mone\x1b[0m"));
    }
}
