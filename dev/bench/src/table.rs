//! Renders a table in Markdown, with padded columns so that it is readable on a terminal, too.
//!
//! [`crate::report`] provides the cells.

/// Renders a table. The first column is text; the others are numbers and aligned to the right.
pub fn render(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths = Vec::new();
    for (column, heading) in headings.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
        widths.push(cells.chain([width(heading), 3]).max().unwrap_or(3));
    }
    let titles: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
    let mut lines = vec![line(&titles, &widths), rule(&widths)];
    lines.extend(rows.iter().map(|row| line(row, &widths)));
    lines.join("\n") + "\n"
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded = widths.iter().enumerate().map(|(column, &column_width)| {
        let cell = cells.get(column).map_or("–", String::as_str);
        let space = " ".repeat(column_width.saturating_sub(width(cell)));
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
    fn columns_are_padded_and_missing_values_are_dashes() {
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
