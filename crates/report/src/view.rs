//! How a text report looks: its width, whether it has color, and how much it says.
//!
//! It does not look at the terminal: the caller says how wide it is.

use crate::layout::{self, Table};

/// The width where none is known.
pub const COLUMNS: usize = 80;
/// Lines of the brief report of a run, at most, on a terminal of 80 columns.
pub const BRIEF_LINES: usize = 30;
const KEY: usize = 15;

/// How a text report is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// No line is longer, but for words that cannot be broken.
    pub columns: usize,
    /// Whether escape sequences may be written.
    pub color: Color,
    /// How much is said.
    pub detail: Detail,
    /// Lines that a brief report has at most on a terminal; None where it goes to a file or a pipe, which need no limit.
    pub lines: Option<usize>,
}

/// Whether a report has colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Plain characters.
    None,
    /// ANSI escape sequences.
    Ansi,
}

/// How much a report says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Verdict, headline and findings: one screen.
    Brief,
    /// Everything.
    Full,
}

/// How a text is emphasized, which decides its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// A heading or a headline figure.
    Strong,
    /// In order.
    Good,
    /// A warning.
    Warning,
    /// An error.
    Bad,
}

impl Default for View {
    fn default() -> Self {
        Self { columns: COLUMNS, color: Color::None, detail: Detail::Brief, lines: Some(BRIEF_LINES) }
    }
}

impl View {
    /// Everything that is known, in this view's width and colors.
    #[must_use]
    pub fn in_full(self) -> Self {
        Self { detail: Detail::Full, ..self }
    }

    /// The text in its color.
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

    /// Wrapped text whose first line stands behind `lead`, the others below its end.
    pub fn hang(&self, lead: &str, text: &str) -> String {
        layout::hang_within(self.columns, lead, text)
    }

    /// A named fact: `Throughput     154,463 requests/s`.
    pub fn entry(&self, key: &str, text: &str) -> String {
        self.hang(&layout::pad(&self.paint(Emphasis::Strong, key), KEY), text)
    }

    /// Columns that the text of an entry has on each line.
    pub fn entry_columns(&self) -> usize {
        self.columns.saturating_sub(KEY)
    }

    /// The lines of a table; those of its head are strong.
    pub fn table(&self, table: &Table) -> String {
        let text = table.render_within(self.columns);
        match text.split_once('\n') {
            Some((head, rows)) if table.has_head() => format!("{}\n{rows}", self.paint(Emphasis::Strong, head)),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_takes_no_room() {
        let plain = View { columns: 20, ..View::default() };
        let colored = View { color: Color::Ansi, ..plain };
        let text = |view: View| view.entry("Key", &format!("{} two three", view.paint(Emphasis::Bad, "one")));
        let stripped = text(colored).replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
        assert_eq!(stripped, text(plain));
        assert!(text(colored).contains("\x1b[1;31mone\x1b[0m"));
    }
}
