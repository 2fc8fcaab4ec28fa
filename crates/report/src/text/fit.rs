//! Parts of a report, fitted into so many lines: rows of tables give way, the last first, and what is left out is counted.

/// A part of a report.
#[derive(Default)]
pub struct Part {
    /// What is always there.
    pub fixed: String,
    /// Rows that may give way, each of one line or several.
    pub rows: Vec<String>,
}

impl Part {
    /// Lines, where so many rows are shown.
    fn lines(&self, shown: usize) -> usize {
        let rows: usize = self.rows.iter().take(shown).map(|row| row.lines().count()).sum();
        self.fixed.lines().count() + rows + usize::from(shown < self.rows.len())
    }

    fn text(&self, shown: usize) -> String {
        let left = self.rows.len().saturating_sub(shown);
        let more = if left > 0 { format!("  … and {left} more (-v)\n") } else { String::new() };
        format!("{}{}{more}", self.fixed, self.rows[..shown.min(self.rows.len())].concat())
    }
}

/// The parts, an empty line between them unless there are too many lines. They share the lines that there are row by row.
pub fn fit(parts: &[Part], most: usize) -> String {
    let gaps = parts.len().saturating_sub(1);
    let all: Vec<usize> = parts.iter().map(|part| part.rows.len()).collect();
    let mut shown: Vec<usize> = all.iter().map(|rows| 1.min(*rows)).collect();
    let total = |shown: &[usize]| parts.iter().zip(shown).map(|(part, n)| part.lines(*n)).sum::<usize>();
    let gap = if total(&all) + gaps > most { "" } else { "\n" };
    let room = most.saturating_sub(gaps * gap.len());
    let mut grew = true;
    while grew {
        grew = false;
        for at in 0..parts.len() {
            let more = shown[at] < parts[at].rows.len();
            shown[at] += usize::from(more);
            // The last row takes the place of the count of those that are left out.
            let fits = more && total(&shown) <= room;
            shown[at] -= usize::from(more && !fits);
            grew |= fits;
        }
    }
    parts.iter().zip(shown).map(|(part, n)| part.text(n)).collect::<Vec<_>>().join(gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: usize) -> Part {
        Part { fixed: "Head\n".into(), rows: vec!["row\n".into(); rows] }
    }

    #[test]
    fn rows_give_way_and_are_counted() {
        let parts = [Part { fixed: "title\n".into(), rows: Vec::new() }, part(20), part(3)];
        let text = fit(&parts, 14);
        assert_eq!(text.lines().count(), 14, "{text}");
        assert_eq!(text.matches("row\n").count(), 10, "{text}");
        assert!(text.contains("  … and 13 more (-v)\n"), "{text}");
        assert_eq!(fit(&parts, usize::MAX).matches("row\n").count(), 23);
    }

    #[test]
    fn empty_lines_go_before_rows_do() {
        let parts: Vec<Part> = (0..5).map(|_| part(2)).collect();
        let text = fit(&parts, 15);
        assert_eq!((text.lines().count(), text.contains("\n\n")), (15, false), "{text}");
    }

    #[test]
    fn a_last_row_is_shown_in_place_of_its_count() {
        assert_eq!(fit(&[part(2)], 3), "Head\nrow\nrow\n");
    }
}
