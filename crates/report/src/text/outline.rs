//! An outline as text.

use crate::layout::{Table, clean, entry, hang};
use crate::outline::{Block, Point};

/// The blocks below each other, an empty line before each section.
pub fn text(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut headed = false;
    for block in blocks {
        let begins = !matches!(block, Block::Points(_)) && !headed;
        if begins && !out.is_empty() {
            out.push('\n');
        }
        headed = matches!(block, Block::Heading(_));
        out += &set(block);
    }
    out
}

fn set(block: &Block) -> String {
    match block {
        Block::Title(name, about) if about.is_empty() => hang("", &clean(name)),
        Block::Title(name, about) => hang("", &format!("{}: {}", clean(name), clean(about))),
        Block::Heading(heading) => hang("", &clean(heading)),
        Block::Facts(facts) => facts.iter().map(|(key, fact)| entry(key, &clean(fact))).collect(),
        Block::Points(points) => points.iter().map(point).collect(),
        Block::Table(head, rows) => table(head, rows),
    }
}

fn point(point: &Point) -> String {
    let lead = if point.warns { "! " } else { "- " };
    let remedy = point.remedy.iter().map(|remedy| hang("  ", &format!("-> {}", clean(remedy))));
    hang(lead, &clean(&point.sentence)) + &remedy.collect::<String>()
}

/// The last cell of a row that has words, not figures, stands behind the others and may be long.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let mut table = Table::default();
    let words = head.last().is_some_and(|last| last == "flags");
    for row in [head].into_iter().chain(rows.iter().map(Vec::as_slice)) {
        let cells = || row.iter().map(|cell| clean(cell));
        match row.split_last() {
            Some((last, _)) if words => table.noted(cells().take(row.len() - 1), clean(last)),
            _ => table.row(cells()),
        }
    }
    table.render()
}
