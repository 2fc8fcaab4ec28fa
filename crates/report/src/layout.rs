//! Tables, entries and wrapped text in columns of characters.
//!
//! It knows no run and no figure, only strings. Everything from outside goes through [`clean`] first.

/// No line of text is wider, but for words that cannot be broken (a URL, a command).
pub const WIDTH: usize = 96;
const KEY: usize = 13;

/// Columns that `s` takes.
fn width(s: &str) -> usize {
    s.chars().count()
}

/// Text from servers and users without what would move a terminal's cursor.
pub fn clean(s: &str) -> String {
    s.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// At most `most` characters: the middle gives way.
pub fn shorten(s: &str, most: usize) -> String {
    let length = width(s);
    if length <= most {
        return s.into();
    }
    let kept = most.saturating_sub(3);
    let head = kept.div_ceil(2);
    let tail: String = s.chars().skip(length - (kept - head)).collect();
    s.chars().take(head).chain("...".chars()).collect::<String>() + &tail
}

/// Breaks at spaces into lines of at most `most` characters.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// Wrapped text whose first line stands behind `lead`, the others below its end.
pub fn hang(lead: &str, text: &str) -> String {
    let indent = width(lead);
    let lines = wrap(text, WIDTH.saturating_sub(indent).max(20));
    let joined = lines.join(&format!("\n{}", " ".repeat(indent)));
    format!("{lead}{joined}").trim_end().to_string() + "\n"
}

/// A named fact: `Throughput   154,463 requests/s`.
pub fn entry(key: &str, text: &str) -> String {
    hang(&format!("{key:<KEY$}"), text)
}

/// Rows of cells, the first column to the left, the others to the right; a row may have a note, wrapped behind it.
#[derive(Default)]
pub struct Table {
    rows: Vec<(Vec<String>, String)>,
}

impl Table {
    /// A table with a head.
    pub fn with_head(head: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(head.iter().copied());
        table
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.noted(cells, String::new());
    }

    /// Adds a row with a note.
    pub fn noted<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>, note: String) {
        self.rows.push((cells.into_iter().map(Into::into).collect(), note));
    }

    /// The lines.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
        let widest = |i: usize| self.rows.iter().filter_map(|r| r.0.get(i)).map(|c| width(c)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        self.rows.iter().map(|(cells, note)| hang(&line(cells, &widths), note)).collect()
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if i == 0 {
            out += &format!("{cell:<width$}");
        } else {
            out += &format!("  {cell:>width$}");
        }
    }
    out + "   "
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_lose_their_middle() {
        assert_eq!(shorten("/short", 40), "/short");
        let long = "http://127.0.0.1:8080/a/very/long/path/to/the/page.html";
        assert_eq!(shorten(long, 40), "http://127.0.0.1:80...h/to/the/page.html");
        assert_eq!(shorten(long, 40).len(), 40);
    }

    #[test]
    fn text_is_wrapped_at_spaces_only() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable a", 4), ["unbreakable", "a"]);
    }

    #[test]
    fn nothing_from_outside_moves_the_cursor() {
        assert_eq!(clean("a\x1b[2Jb\r\n"), "a?[2Jb??");
    }

    #[test]
    fn columns_line_up() {
        let mut t = Table::with_head(&["", "p50"]);
        t.row(["lag", "0.35 µs"]);
        assert_eq!(t.render(), "         p50\nlag  0.35 µs\n");
    }
}
