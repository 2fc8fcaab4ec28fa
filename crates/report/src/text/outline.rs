//! An outline as text.

use super::fit::Part;
use super::{bars, graph};
use crate::breakdown::Breakdown;
use crate::layout::{Table, clause, clean, shorten, width};
use crate::outline::block::{Block, Fact, Mark, OutcomeRow, Point, Remark, Words};
use crate::outline::run::Section;
use crate::view::{Detail, Emphasis, View};

/// Maximum lines of a fact that may be cut.
const MOST_LINES: usize = 2;

/// Maximum rows of a breakdown in the report of a run.
const MOST_ROWS: usize = 20;
const MOST_CHARACTERS: usize = 40;
const LEAST_CHARACTERS: usize = 16;

/// Sets blocks as text.
struct Setting<'a> {
    view: &'a View,
    /// The report of a run: its breakdowns and brief notes are cut to the screen. The report of a study has them whole.
    is_run: bool,
}

/// The blocks of a study below each other, an empty line before each section.
pub fn text(view: &View, blocks: &[Block]) -> String {
    let setting = Setting { view, is_run: false };
    let mut out = String::new();
    let mut headed = false;
    for block in blocks {
        let begins = !matches!(block, Block::Points(_) | Block::Paragraph(_)) && !headed;
        if begins && !out.is_empty() {
            out.push('\n');
        }
        headed = matches!(block, Block::Heading(_));
        out += &setting.block(block);
    }
    out
}

/// A section of the report of a run. The rows of its last block may give way.
pub fn part(view: &View, section: &Section) -> Part {
    let setting = Setting { view, is_run: true };
    let Some((last, above)) = section.split_last() else { return Part::default() };
    let fixed: String = above.iter().map(|block| setting.block(block)).collect();
    let rows = match last {
        Block::FactOfEach(facts) => facts.iter().map(|fact| setting.fact(fact)).collect(),
        Block::Points(points) => points.iter().map(|point| setting.point(point)).collect(),
        Block::Outcomes(rows) => lines(&setting.outcomes(rows)),
        Block::Breakdown(of) => {
            let mut rows = lines(&setting.breakdown(of));
            let head = rows.remove(0);
            return Part { fixed: fixed + &head, rows };
        }
        Block::Title(..)
        | Block::Heading(_)
        | Block::Paragraph(_)
        | Block::Facts(_)
        | Block::Table(..)
        | Block::Bars(_)
        | Block::Graph(_) => return Part { fixed: fixed + &setting.block(last), rows: Vec::new() },
    };
    Part { fixed, rows }
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

impl Setting<'_> {
    fn block(&self, block: &Block) -> String {
        let view = self.view;
        match block {
            Block::Title(name, about) if about.is_empty() && view.detail == Detail::Brief => {
                self.strong(&shorten(&clean(name), view.columns))
            }
            Block::Title(name, about) if about.is_empty() => self.strong(name),
            Block::Title(name, about) => self.strong(&format!("{name}: {about}")),
            Block::Heading(heading) => self.strong(heading),
            Block::Paragraph(text) => view.hang("", &clean(text)),
            Block::Facts(facts) | Block::FactOfEach(facts) => facts.iter().map(|fact| self.fact(fact)).collect(),
            Block::Points(points) => points.iter().map(|point| self.point(point)).collect(),
            Block::Table(head, rows) => table(view, head, rows),
            Block::Breakdown(of) => self.breakdown(of),
            Block::Outcomes(rows) => self.outcomes(rows),
            Block::Bars(bars) => bars::text(view, bars),
            Block::Graph(graph) => graph::text(view, graph),
        }
    }

    fn strong(&self, text: &str) -> String {
        self.view.hang("", &self.view.paint(Emphasis::Strong, &clean(text)))
    }

    fn fact(&self, fact: &Fact) -> String {
        let view = self.view;
        let is_cut = fact.may_be_cut && view.detail == Detail::Brief;
        let room = if is_cut { view.entry_columns() * MOST_LINES - view.columns / 8 } else { usize::MAX };
        let keys = std::iter::once(fact.key.as_str()).chain(std::iter::repeat(""));
        let lines = keys.zip(&fact.lines).map(|(key, line)| view.entry(key, &clause(&self.words(line), room)));
        lines.collect::<String>() + &fact.remarks.iter().map(|remark| self.remark(remark)).collect::<String>()
    }

    fn remark(&self, remark: &Remark) -> String {
        match remark {
            Remark::Reason(text) => self.line("  ", &clean(text)),
            Remark::Evidence(text) => self.view.hang("     ", &clean(text)),
            Remark::Remedy(text) => self.line("  -> ", &clean(text)),
            Remark::Unseen(text) => self.view.hang("  ", &clean(text)),
        }
    }

    fn words(&self, words: &Words) -> String {
        let painted = words.0.iter().map(|(emphasis, text)| match emphasis {
            Some(emphasis) => self.view.paint(*emphasis, &clean(text)),
            None => clean(text),
        });
        painted.collect()
    }

    fn point(&self, point: &Point) -> String {
        let view = self.view;
        let sentence = clean(&point.sentence);
        let set = match point.mark {
            Mark::Plain => view.hang("- ", &sentence),
            Mark::Note => self.line("- ", &sentence),
            Mark::Warning => view.hang(&view.paint(Emphasis::Warning, "! "), &sentence),
            Mark::Met => view.hang(&format!("  {}   ", view.paint(Emphasis::Good, "met   ")), &sentence),
            Mark::Missed => view.hang(&format!("  {}   ", view.paint(Emphasis::Bad, "MISSED")), &sentence),
        };
        let remedy = point.remedy.iter().map(|remedy| view.hang("  ", &format!("-> {}", clean(remedy))));
        set + &remedy.collect::<String>()
    }

    /// True if a note that is longer than a line loses its end.
    fn cuts_notes(&self) -> bool {
        self.is_run && self.view.detail == Detail::Brief && self.view.lines.is_some()
    }

    /// A sentence in a list: as much of it as a line holds, where its end may give way.
    fn line(&self, lead: &str, sentence: &str) -> String {
        if self.cuts_notes() {
            let room = self.view.columns.saturating_sub(width(lead));
            return format!("{lead}{}\n", clause(sentence, room));
        }
        self.view.hang(lead, sentence)
    }

    fn outcomes(&self, rows: &[OutcomeRow]) -> String {
        let mut table = Table::default();
        for row in rows {
            let cells = [format!("  {}", row.outcome), row.count.clone(), row.share.clone()];
            table.noted(cells, clean(&row.meaning));
        }
        if self.cuts_notes() { table.render_one_line(self.view.columns) } else { self.view.table(&table) }
    }

    /// The table. In the report of a run, columns and rows without room are left out.
    fn breakdown(&self, of: &Breakdown) -> String {
        if !self.is_run {
            let (head, rows) = of.cells();
            return table(self.view, &head, &rows);
        }
        let columns = self.view.columns;
        let shown: Vec<usize> = (0..of.columns.len()).filter(|column| of.columns[*column].1 <= columns).collect();
        let heads: Vec<&str> = shown.iter().map(|column| of.columns[*column].0).collect();
        let longest = of.rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
        let figures = heads.iter().map(|head| head.len().max(8) + 2).sum::<usize>();
        let room = columns.saturating_sub(figures).clamp(LEAST_CHARACTERS, MOST_CHARACTERS).min(longest.max(6));
        let mut table = Table::with_head(&[&[of.title], heads.as_slice()].concat());
        for (name, cells) in of.rows.iter().take(MOST_ROWS) {
            let figures = shown.iter().map(|column| cells[*column].clone());
            table.row([shorten(&clean(name), room)].into_iter().chain(figures));
        }
        let more = of.rows.len().saturating_sub(MOST_ROWS);
        let more = if more > 0 { format!("and {more} more\n") } else { String::new() };
        self.view.table(&table) + &more
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakdown_is_whole_in_a_study_and_cut_in_a_run() {
        let rows = (0..25).map(|n| (format!("/page/{n}"), vec!["1".to_owned(), "2".to_owned()])).collect();
        let of = Breakdown { title: "Labels", columns: &[("completed", 0), ("max", 100)], rows };
        let (view, blocks) = (View::default().in_full(), vec![Block::Breakdown(of)]);
        let study = text(&view, &blocks);
        assert!(study.contains("max") && study.contains("/page/24") && study.lines().count() == 26, "{study}");
        let run = part(&view, &blocks);
        let cut = run.fixed + &run.rows.concat();
        assert!(!cut.contains("max") && !cut.contains("/page/20") && cut.ends_with("and 5 more\n"), "{cut}");
    }
}
