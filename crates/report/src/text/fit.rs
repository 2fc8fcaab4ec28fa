//! Fits parts of a report into a number of lines. Rows of tables are omitted, the last
//! ones first, and counted.

/// A part of a report.
#[derive(Default)]
pub struct ReportPart {
    /// Text that is always shown.
    pub fixed: String,
    /// Rows that may be omitted, each of one or several lines.
    pub rows: Vec<String>,
}

impl ReportPart {
    /// Number of lines if this number of rows is shown.
    fn lines(&self, shown: usize) -> usize {
        let rows: usize = self.rows.iter().take(shown).map(|row| row.lines().count()).sum();
        self.fixed.lines().count() + rows + usize::from(shown < self.rows.len())
    }

    fn text(&self, shown: usize) -> String {
        let omitted = self.rows.len().saturating_sub(shown);
        let more =
            if omitted > 0 { format!("  … and {omitted} more (-v)\n") } else { String::new() };
        format!("{}{}{more}", self.fixed, self.rows[..shown.min(self.rows.len())].concat())
    }
}

/// Joins the parts. An empty line separates them unless there are too many lines. The parts get
/// their rows in turn until all lines are used.
pub fn fit(parts: &[ReportPart], max_lines: usize) -> String {
    let gaps = parts.len().saturating_sub(1);
    let all: Vec<usize> = parts.iter().map(|part| part.rows.len()).collect();
    // Each table shows at least its first row.
    let mut shown: Vec<usize> = all.iter().map(|rows| 1.min(*rows)).collect();
    // Rows are worth more than empty lines.
    let gap = if total_lines(parts, &all) + gaps > max_lines { "" } else { "\n" };
    let room = max_lines.saturating_sub(gaps * gap.len());
    let mut has_grown = true;
    while has_grown {
        has_grown = false;
        for index in 0..parts.len() {
            if shown[index] == parts[index].rows.len() {
                continue;
            }
            shown[index] += 1;
            // The last row replaces the line that counts the omitted rows, so it may fit although
            // the one before does not.
            if total_lines(parts, &shown) <= room {
                has_grown = true;
            } else {
                shown[index] -= 1;
            }
        }
    }
    parts.iter().zip(shown).map(|(part, n)| part.text(n)).collect::<Vec<_>>().join(gap)
}

fn total_lines(parts: &[ReportPart], shown: &[usize]) -> usize {
    parts.iter().zip(shown).map(|(part, rows)| part.lines(*rows)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: usize) -> ReportPart {
        ReportPart { fixed: "Head\n".into(), rows: vec!["row\n".into(); rows] }
    }

    #[test]
    fn omitted_rows_are_counted() {
        let parts = [ReportPart { fixed: "title\n".into(), rows: Vec::new() }, part(20), part(3)];
        let text = fit(&parts, 14);
        assert_eq!(text.lines().count(), 14, "{text}");
        assert_eq!(text.matches("row\n").count(), 10, "{text}");
        assert!(text.contains("  … and 13 more (-v)\n"), "{text}");
        assert_eq!(fit(&parts, usize::MAX).matches("row\n").count(), 23);
    }

    #[test]
    fn empty_lines_are_removed_before_rows() {
        let parts: Vec<ReportPart> = (0..5).map(|_| part(2)).collect();
        let text = fit(&parts, 15);
        assert_eq!((text.lines().count(), text.contains("\n\n")), (15, false), "{text}");
    }

    #[test]
    fn a_single_remaining_row_is_shown_instead_of_a_count() {
        assert_eq!(fit(&[part(2)], 3), "Head\nrow\nrow\n");
    }
}
