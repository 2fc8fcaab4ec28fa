//! A table in Markdown, its columns padded so that it also reads well on a terminal.
//!
//! Knows nothing of what is in it; the cells are [`crate::report`]'s.

/// The first column is text, the others are numbers and keep to the right.
pub fn render(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
        cells.chain([width(headings[column]), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width_of).collect();
    let titles: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
    let mut lines = vec![line(&titles, &widths), rule(&widths)];
    lines.extend(rows.iter().map(|row| line(row, &widths)));
    lines.join("\n") + "\n"
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded = widths.iter().enumerate().map(|(column, &wanted)| {
        let cell = cells.get(column).map_or("–", String::as_str);
        let space = " ".repeat(wanted.saturating_sub(width(cell)));
        if column == 0 { format!(" {cell}{space} |") } else { format!(" {space}{cell} |") }
    });
    format!("|{}", padded.collect::<String>())
}

fn rule(widths: &[usize]) -> String {
    let dashes = widths.iter().enumerate().map(|(column, &width)| {
        let end = if column == 0 { '-' } else { ':' };
        format!(" {}{end} |", "-".repeat(width - 1))
    });
    format!("|{}", dashes.collect::<String>())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_padded_and_what_is_missing_is_a_dash() {
        let rows = vec![vec!["wrk".to_owned(), "154,463".to_owned()], vec!["h2load".to_owned()]];
        let expected = "\
| tool   | µs/request |
| ------ | ---------: |
| wrk    |    154,463 |
| h2load |          – |
";
        assert_eq!(render(&["tool", "µs/request"], &rows), expected);
    }

    #[test]
    fn a_table_may_be_empty() {
        assert_eq!(render(&["a"], &[]), "| a   |\n| --- |\n");
    }
}
