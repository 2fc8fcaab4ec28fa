//! An outline as text.

use super::graph;
use crate::layout::{Table, clean};
use crate::outline::{Block, Point};
use crate::view::{Detail, Emphasis, View};

/// The blocks below each other, an empty line before each section.
pub fn text(view: &View, blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut headed = false;
    for block in blocks {
        let begins = !matches!(block, Block::Points(_)) && !headed;
        if begins && !out.is_empty() {
            out.push('\n');
        }
        headed = matches!(block, Block::Heading(_));
        out += &set(view, block);
    }
    out
}

fn set(view: &View, block: &Block) -> String {
    let strong = |text: &str| view.hang("", &view.paint(Emphasis::Strong, &clean(text)));
    match block {
        Block::Title(name, about) if about.is_empty() => strong(name),
        Block::Title(name, about) => strong(&format!("{name}: {about}")),
        Block::Heading(heading) => strong(heading),
        Block::Facts(facts) => facts.iter().map(|(key, fact)| view.entry(key, &clean(fact))).collect(),
        Block::Points(points) => points.iter().map(|point| self::point(view, point)).collect(),
        Block::Table(head, rows) => table(view, head, rows),
        Block::Graph(graph) => graph::text(view, graph),
    }
}

fn point(view: &View, point: &Point) -> String {
    let lead = if point.warns { view.paint(Emphasis::Warning, "! ") } else { "- ".into() };
    let remedy = point.remedy.iter().map(|remedy| view.hang("  ", &format!("-> {}", clean(remedy))));
    view.hang(&lead, &clean(&point.sentence)) + &remedy.collect::<String>()
}

/// Columns that go, in this order, where a brief table is too wide.
const GIVE_WAY: [&str; 8] = ["running estimate", "p", "mean", "s", "CPU", "offered", "p95", "difference"];

/// The last cell of a row that has words, not figures, stands behind the others; where that is too long, as a number of a
/// note below.
fn table(view: &View, head: &[String], rows: &[Vec<String>]) -> String {
    let lines = || [head].into_iter().chain(rows.iter().map(Vec::as_slice));
    let with_words = head.last().is_some_and(|last| ["flags", "reason"].contains(&last.as_str()));
    let figures = head.len() - usize::from(with_words);
    let mut shown: Vec<usize> = (0..figures).collect();
    let cells = |row: &[String], shown: &[usize]| -> Vec<String> {
        shown.iter().filter_map(|i| row.get(*i)).map(|cell| clean(cell)).collect()
    };
    let words: Vec<String> = lines().map(|row| row.get(figures).map_or(String::new(), |word| clean(word))).collect();
    let room = |shown: &[usize]| {
        let mut table = Table::default();
        lines().for_each(|row| table.row(cells(row, shown)));
        view.columns.saturating_sub(table.columns())
    };
    for name in GIVE_WAY.iter().filter(|_| view.detail == Detail::Brief) {
        if room(&shown) < usize::from(with_words) * 8 || room(&shown) == 0 {
            shown.retain(|i| head[*i] != *name);
        }
    }
    let inline = words.iter().all(|word| word.chars().count() + 3 <= room(&shown));
    let notes = if inline { Notes::default() } else { Notes::of(&words[1..]) };
    let mut table = Table::default();
    for (index, (row, word)) in lines().zip(&words).enumerate() {
        table.noted(cells(row, &shown), if index == 0 { word.clone() } else { notes.mark(word) });
    }
    let text = table.render_within(view.columns.max(table.columns() + 20));
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{}\n{rows}{}", view.paint(Emphasis::Strong, head), notes.below(view))
}

/// Notes that stand below a table, each once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn of(words: &[String]) -> Self {
        let mut notes: Vec<String> = Vec::new();
        for word in words.iter().filter(|word| !word.is_empty()) {
            if !notes.contains(word) {
                notes.push(word.clone());
            }
        }
        Self(notes)
    }

    /// The number of a note, or the note itself where there are no numbers.
    fn mark(&self, word: &str) -> String {
        let at = self.0.iter().position(|note| note == word);
        at.map_or_else(|| word.to_owned(), |at| format!("[{}]", at + 1))
    }

    fn below(&self, view: &View) -> String {
        self.0.iter().enumerate().map(|(at, note)| view.hang(&format!("[{}] ", at + 1), note)).collect()
    }
}
