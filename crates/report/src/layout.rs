//! Tables, entries and wrapped text in columns of characters.
//!
//! It knows no run and no figure, only strings. Everything from outside goes through [`clean`] first.

/// No line of text is wider, but for words that cannot be broken (a URL, a command).
pub const WIDTH: usize = 96;
const KEY: usize = 13;

/// Columns that `s` takes; escape sequences of colors take none.
pub fn width(s: &str) -> usize {
    if !s.contains('\x1b') {
        return s.chars().count();
    }
    let (mut columns, mut escape) = (0, false);
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

/// `s`, filled up with spaces to so many columns.
pub fn pad(s: &str, columns: usize) -> String {
    format!("{s}{}", " ".repeat(columns.saturating_sub(width(s))))
}

/// As much of a sentence as there is room for: up to the end of a clause if possible, then `…`.
pub fn clause(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.into();
    }
    let most = text.char_indices().nth(room.saturating_sub(2)).map_or(text.len(), |(at, _)| at);
    let last = |marks: &[&str]| marks.iter().filter_map(|mark| text[..most].rfind(mark)).max();
    let end = last(&["; ", ": ", ". ", " ("]).filter(|at| *at * 2 >= most).or_else(|| last(&[" "])).unwrap_or(most);
    format!("{} …", text[..end].trim_end_matches([',', ';', ':', '.']))
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
    hang_within(WIDTH, lead, text)
}

/// The same in so many columns.
pub fn hang_within(columns: usize, lead: &str, text: &str) -> String {
    let indent = width(lead);
    let lines = wrap(text, columns.saturating_sub(indent).max(20));
    let joined = lines.join(&format!("\n{}", " ".repeat(indent)));
    let mut out = format!("{lead}{joined}");
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// A named fact: `Throughput   154,463 requests/s`.
pub fn entry(key: &str, text: &str) -> String {
    hang(&format!("{key:<KEY$}"), text)
}

/// Rows of cells, the first column to the left, the others to the right; a row may have a note, wrapped behind it.
#[derive(Default)]
pub struct Table {
    rows: Vec<(Vec<String>, String)>,
    headed: bool,
}

impl Table {
    /// A table with a head.
    pub fn with_head(head: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(head.iter().copied());
        table.headed = true;
        table
    }

    /// Whether the first row is a head.
    pub fn has_head(&self) -> bool {
        self.headed
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.noted(cells, String::new());
    }

    /// Adds a row with a note.
    pub fn noted<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>, note: String) {
        self.rows.push((cells.into_iter().map(Into::into).collect(), note));
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
        let widest = |i: usize| self.rows.iter().filter_map(|r| r.0.get(i)).map(|c| width(c)).max().unwrap_or(0);
        (0..columns).map(widest).collect()
    }

    /// Columns of the longest row, without notes.
    pub fn columns(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * 2
    }

    /// The lines.
    pub fn render(&self) -> String {
        self.render_within(WIDTH)
    }

    /// The lines, a note no longer than its line.
    pub fn render_one_line(&self, most: usize) -> String {
        let widths = self.widths();
        let one = |(cells, note): &(Vec<String>, String)| {
            let lead = line(cells, &widths);
            let note = clause(note, most.saturating_sub(width(&lead)));
            format!("{lead}{note}").trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(one).collect()
    }

    /// The lines, their notes wrapped at so many columns.
    pub fn render_within(&self, most: usize) -> String {
        let widths = self.widths();
        self.rows.iter().map(|(cells, note)| hang_within(most, &line(cells, &widths), note)).collect()
    }
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
    fn a_sentence_gives_way_at_the_end_of_a_clause() {
        assert_eq!(clause("short", 10), "short");
        assert_eq!(clause("two parts: the second is long", 20), "two parts …");
        assert_eq!(clause("no clause ends anywhere here", 20), "no clause ends …");
        assert_eq!(clause("µµµµµµµµµµ", 5), "µµµ …");
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
