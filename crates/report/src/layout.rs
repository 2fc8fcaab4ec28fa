//! Lays out tables, entries and wrapped text in columns of characters.
//!
//! This module works on strings only. Text from outside must pass through [`clean`] first.

/// Maximum width of a line in characters. Only words that cannot be broken (a URL,
/// a command) exceed it.
pub const WIDTH: usize = 96;
/// Width of the first column of an entry, in characters.
const KEY_WIDTH: usize = 13;

/// Returns the number of columns that `s` takes. Escape sequences of colors take none.
pub fn width(s: &str) -> usize {
    // A fast path: most texts have no colors.
    if !s.contains('\x1b') {
        return s.chars().count();
    }
    let mut columns = 0;
    let mut escape = false;
    for c in s.chars() {
        match c {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if !escape => columns += 1,
            _ => {}
        }
    }
    columns
}

/// Pads `s` with spaces to this number of columns.
pub fn pad(s: &str, columns: usize) -> String {
    format!("{s}{}", " ".repeat(columns.saturating_sub(width(s))))
}

/// Shortens a sentence to this width: at the end of a clause if possible, then `…`.
pub fn clause(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.into();
    }
    // Two columns are for the space and the `…` at the end.
    let limit =
        text.char_indices().nth(room.saturating_sub(2)).map_or(text.len(), |(index, _)| index);
    // A clause that keeps less than half of the width loses too much; then the text ends at a word.
    let clause_end =
        last_of(&["; ", ": ", ". ", " ("], &text[..limit]).filter(|index| *index * 2 >= limit);
    let end = clause_end.or_else(|| last_of(&[" "], &text[..limit])).unwrap_or(limit);
    format!("{} …", text[..end].trim_end_matches([',', ';', ':', '.']))
}

fn last_of(marks: &[&str], text: &str) -> Option<usize> {
    marks.iter().filter_map(|mark| text.rfind(mark)).max()
}

/// Replaces control characters in text from servers and users, which could move a terminal's
/// cursor.
pub fn clean(s: &str) -> String {
    s.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Shortens `s` to at most `limit` characters. The middle is replaced by `…`.
pub fn shorten(s: &str, limit: usize) -> String {
    let length = width(s);
    if length <= limit {
        return s.into();
    }
    // The middle is omitted: host and file name, at the ends, distinguish URLs.
    let retained = limit.saturating_sub(1);
    let head = retained.div_ceil(2);
    let tail: String = s.chars().skip(length - (retained - head)).collect();
    s.chars().take(head).chain(['…']).collect::<String>() + &tail
}

/// Wraps text at spaces into lines of at most `limit` characters.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// Wraps text after `lead`. The later lines are indented to the end of `lead`.
pub fn hang(lead: &str, text: &str) -> String {
    hang_within(WIDTH, lead, text)
}

/// Wraps text in the same way as [`hang`], within this number of columns.
pub fn hang_within(columns: usize, lead: &str, text: &str) -> String {
    let indent = width(lead);
    // A long lead must not leave a column of single words.
    let lines = wrap(text, columns.saturating_sub(indent).max(20));
    let joined = lines.join(&format!("\n{}", " ".repeat(indent)));
    let mut out = format!("{lead}{joined}");
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Formats a named fact: `Throughput   154,463 requests/s`.
pub fn entry(key: &str, text: &str) -> String {
    hang(&format!("{key:<KEY_WIDTH$}"), text)
}

/// A table of text cells. The first column is left-aligned, the others right-aligned. A row may end
/// with a note, which is wrapped.
#[derive(Default)]
pub struct TextTable {
    rows: Vec<(Vec<String>, String)>,
    has_head: bool,
}

impl TextTable {
    /// Creates a table with a head.
    pub fn with_head(head: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(head.iter().copied());
        table.has_head = true;
        table
    }

    /// True if the first row is a head.
    pub fn has_head(&self) -> bool {
        self.has_head
    }

    /// Adds a row without a note.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.row_with_note(cells, String::new());
    }

    /// Adds a row with a note.
    pub fn row_with_note<S: Into<String>>(
        &mut self,
        cells: impl IntoIterator<Item = S>,
        note: String,
    ) {
        self.rows.push((cells.into_iter().map(Into::into).collect(), note));
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
        (0..columns)
            .map(|i| {
                self.rows
                    .iter()
                    .filter_map(|row| row.0.get(i))
                    .map(|cell| width(cell))
                    .max()
                    .unwrap_or(0)
            })
            .collect()
    }

    /// Returns the width of the longest row, without notes.
    pub fn columns(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * 2
    }

    /// Returns the lines, wrapped to the standard width.
    pub fn render(&self) -> String {
        self.render_within(WIDTH)
    }

    /// Returns the lines. Each note is shortened to fit into its line.
    pub fn render_one_line(&self, limit: usize) -> String {
        let widths = self.widths();
        let mut out = String::new();
        for (cells, note) in &self.rows {
            let lead = line(cells, &widths);
            let note = clause(note, limit.saturating_sub(width(&lead)));
            out += format!("{lead}{note}").trim_end();
            out += "\n";
        }
        out
    }

    /// Returns the lines. Notes are wrapped at this number of columns.
    pub fn render_within(&self, columns: usize) -> String {
        let widths = self.widths();
        self.rows
            .iter()
            .map(|(cells, note)| hang_within(columns, &line(cells, &widths), note))
            .collect()
    }
}

/// Returns the lines of a table in this number of columns: the text of the last column is wrapped.
pub fn with_wrapped_end<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    columns: usize,
) -> String {
    let mut table = TextTable::default();
    for row in std::iter::once(head.map(str::to_owned)).chain(rows) {
        if let Some((end, cells)) = row.split_last() {
            table.row_with_note(cells.to_vec(), end.clone());
        }
    }
    table.render_within(columns)
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let spaces = width.saturating_sub(self::width(cell));
        if i == 0 {
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', spaces));
        } else {
            out.extend(std::iter::repeat_n(' ', spaces + 2));
            out.push_str(cell);
        }
    }
    // Separates the cells from the note. Rows without a note lose these spaces when they are
    // written.
    out + "   "
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_shortened_in_the_middle() {
        assert_eq!(shorten("/short", 40), "/short");
        let long = "http://127.0.0.1:8080/a/very/long/path/to/the/page.html";
        assert_eq!(shorten(long, 40), "http://127.0.0.1:808…th/to/the/page.html");
        assert_eq!(width(&shorten(long, 40)), 40);
    }

    #[test]
    fn text_is_wrapped_at_spaces_only() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable a", 4), ["unbreakable", "a"]);
    }

    #[test]
    fn a_long_sentence_is_cut_at_the_end_of_a_clause() {
        assert_eq!(clause("short", 10), "short");
        assert_eq!(clause("two parts: the second is long", 20), "two parts …");
        assert_eq!(clause("no clause ends anywhere here", 20), "no clause ends …");
        assert_eq!(clause("µµµµµµµµµµ", 5), "µµµ …");
    }

    #[test]
    fn control_characters_of_foreign_texts_are_removed() {
        assert_eq!(clean("a\x1b[2Jb\r\n"), "a?[2Jb??");
    }

    #[test]
    fn columns_line_up() {
        let mut t = TextTable::with_head(&["", "p50"]);
        t.row(["lag", "0.35 µs"]);
        assert_eq!(t.render(), "         p50\nlag  0.35 µs\n");
    }

    #[test]
    fn the_last_column_is_wrapped() {
        let row = ["remove".into(), "older than a year, and larger than the rest".into()];
        assert_eq!(
            with_wrapped_end(["action", "reason"], [row], 34),
            "action   reason\nremove   older than a year, and\n         larger than the rest\n"
        );
    }
}
