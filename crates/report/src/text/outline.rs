//! Formats an outline as text.

use super::fit::ReportPart;
use super::{bars, graph};
use crate::breakdown::Breakdown;
use crate::layout::{TextTable, clause, clean, shorten, width};
use crate::outline::block::{Fact, ListItem, ListMark, OutcomeRow, Remark, ReportBlock, Words};
use crate::outline::run::ReportSection;
use crate::texts::message;
use crate::view::{Detail, Emphasis, View};
use brunt_model::{Language, Text};

/// Maximum number of lines of a fact that may be shortened.
const MAX_LINES: usize = 2;

/// Maximum number of rows of a breakdown in the report of a run.
const MAX_ROWS: usize = 20;
/// Maximum and minimum width of the names in a breakdown, in characters.
const MAX_NAME: usize = 40;
const MIN_NAME: usize = 16;

/// Formats blocks as text.
struct Formatter<'a> {
    view: &'a View,
    /// True for the report of a run: its breakdowns and brief notes are cut to the screen. The
    /// report of a study has them completely.
    is_run: bool,
}

/// Formats the blocks of a study, with an empty line before each section.
pub fn text(view: &View, blocks: &[ReportBlock]) -> String {
    let formatter = Formatter { view, is_run: false };
    let mut out = String::new();
    let mut follows_heading = false;
    for block in blocks {
        let starts_section =
            !matches!(block, ReportBlock::List(_) | ReportBlock::Paragraph(_)) && !follows_heading;
        if starts_section && !out.is_empty() {
            out.push('\n');
        }
        follows_heading = matches!(block, ReportBlock::Heading(_));
        out += &formatter.block(block);
    }
    out
}

/// Formats a section of the report of a run. Rows of its last block may be omitted.
pub fn part(view: &View, section: &ReportSection) -> ReportPart {
    let formatter = Formatter { view, is_run: true };
    let Some((last, above)) = section.split_last() else { return ReportPart::default() };
    let fixed: String = above.iter().map(|block| formatter.block(block)).collect();
    let rows = match last {
        ReportBlock::FactOfEach(facts) => facts.iter().map(|fact| formatter.fact(fact)).collect(),
        ReportBlock::List(items) => items.iter().map(|item| formatter.item(item)).collect(),
        ReportBlock::Outcomes(rows) => lines(&formatter.outcomes(rows)),
        ReportBlock::Breakdown(breakdown) => {
            let mut rows = lines(&formatter.breakdown(breakdown));
            let head = rows.remove(0);
            return ReportPart { fixed: fixed + &head, rows };
        }
        ReportBlock::Title(..)
        | ReportBlock::Heading(_)
        | ReportBlock::Paragraph(_)
        | ReportBlock::Facts(_)
        | ReportBlock::Table(..)
        | ReportBlock::Bars(_)
        | ReportBlock::Graph(_) => {
            return ReportPart { fixed: fixed + &formatter.block(last), rows: Vec::new() };
        }
    };
    ReportPart { fixed, rows }
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

impl Formatter<'_> {
    fn block(&self, block: &ReportBlock) -> String {
        let view = self.view;
        match block {
            ReportBlock::Title(name, about) if about.is_empty() && view.detail == Detail::Brief => {
                // A long URL would take lines of the screen from the figures.
                self.strong(&shorten(&clean(name), view.columns))
            }
            ReportBlock::Title(name, about) if about.is_empty() => self.strong(name),
            ReportBlock::Title(name, about) => self.strong(&format!("{name}: {about}")),
            ReportBlock::Heading(heading) => self.strong(heading),
            ReportBlock::Paragraph(text) => view.hang("", &clean(text)),
            ReportBlock::Facts(facts) | ReportBlock::FactOfEach(facts) => {
                facts.iter().map(|fact| self.fact(fact)).collect()
            }
            ReportBlock::List(items) => items.iter().map(|item| self.item(item)).collect(),
            ReportBlock::Table(head, rows) => table(view, head, rows),
            ReportBlock::Breakdown(breakdown) => self.breakdown(breakdown),
            ReportBlock::Outcomes(rows) => self.outcomes(rows),
            ReportBlock::Bars(bars) => bars::text(view, bars),
            ReportBlock::Graph(graph) => graph::text(view, graph),
        }
    }

    fn strong(&self, text: &str) -> String {
        self.view.hang("", &self.view.paint(Emphasis::Strong, &clean(text)))
    }

    fn fact(&self, fact: &Fact) -> String {
        let view = self.view;
        let is_cut = fact.may_be_cut && view.detail == Detail::Brief;
        // The reserve of an eighth of a line covers the words that do not fill their lines.
        let room =
            if is_cut { view.entry_columns() * MAX_LINES - view.columns / 8 } else { usize::MAX };
        let keys = std::iter::once(fact.key.as_str()).chain(std::iter::repeat(""));
        let lines = keys
            .zip(&fact.lines)
            .map(|(key, line)| view.entry(key, &clause(&self.words(line), room)));
        lines.collect::<String>()
            + &fact.remarks.iter().map(|remark| self.remark(remark)).collect::<String>()
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

    fn item(&self, item: &ListItem) -> String {
        let view = self.view;
        let sentence = clean(&item.sentence);
        let text = match item.mark {
            ListMark::Plain => view.hang("- ", &sentence),
            ListMark::Note => self.line("- ", &sentence),
            ListMark::Warning => view.hang(&view.paint(Emphasis::Warning, "! "), &sentence),
            ListMark::Met => {
                view.hang(&format!("  {}   ", view.paint(Emphasis::Good, "met   ")), &sentence)
            }
            ListMark::Missed => {
                view.hang(&format!("  {}   ", view.paint(Emphasis::Bad, "MISSED")), &sentence)
            }
        };
        let remedy =
            item.remedy.iter().map(|remedy| view.hang("  ", &format!("-> {}", clean(remedy))));
        text + &remedy.collect::<String>()
    }

    /// True if a note that is longer than a line is shortened.
    fn cuts_notes(&self) -> bool {
        self.is_run && self.view.detail == Detail::Brief && self.view.lines.is_some()
    }

    /// Formats a sentence of a list. It is shortened to one line if notes are shortened.
    fn line(&self, lead: &str, sentence: &str) -> String {
        if self.cuts_notes() {
            let room = self.view.columns.saturating_sub(width(lead));
            return format!("{lead}{}\n", clause(sentence, room));
        }
        self.view.hang(lead, sentence)
    }

    fn outcomes(&self, rows: &[OutcomeRow]) -> String {
        let mut table = TextTable::default();
        for row in rows {
            let cells = [format!("  {}", row.outcome), row.count.clone(), row.share.clone()];
            table.row_with_note(cells, clean(&row.meaning));
        }
        if self.cuts_notes() {
            table.render_one_line(self.view.columns)
        } else {
            self.view.table(&table)
        }
    }

    /// Formats a breakdown. In the report of a run, columns and rows that do not fit are omitted.
    fn breakdown(&self, breakdown: &Breakdown) -> String {
        if !self.is_run {
            let (head, rows) = breakdown.cells(Language::English);
            return table(self.view, &head, &rows);
        }
        let columns = self.view.columns;
        let shown: Vec<usize> = (0..breakdown.columns.len())
            .filter(|column| breakdown.columns[*column].1 <= columns)
            .collect();
        let heads: Vec<Text> =
            shown.iter().map(|column| message!(breakdown.columns[*column].0)).collect();
        let longest = breakdown.rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
        let figures = heads.iter().map(|head| head.len().max(8) + 2).sum::<usize>();
        let room = columns.saturating_sub(figures).clamp(MIN_NAME, MAX_NAME).min(longest.max(6));
        let title = message!(breakdown.title);
        let head: Vec<&str> = [&title].into_iter().chain(&heads).map(Text::as_str).collect();
        let mut table = TextTable::with_head(&head);
        for (name, cells) in breakdown.rows.iter().take(MAX_ROWS) {
            let figures = shown.iter().map(|column| cells[*column].to_string());
            table.row([shorten(&clean(name), room)].into_iter().chain(figures));
        }
        let more = breakdown.rows.len().saturating_sub(MAX_ROWS);
        let more = if more > 0 { format!("and {more} more\n") } else { String::new() };
        self.view.table(&table) + &more
    }
}

/// Columns that are omitted, in this order, if a brief table is too wide.
const OPTIONAL_COLUMNS: [&str; 8] =
    ["running estimate", "p", "mean", "s", "CPU", "offered", "p95", "difference"];

/// Formats a table. If the last column contains text, it becomes a note at the end of each row; if
/// that is too long, a numbered note below the table.
fn table(view: &View, head: &[String], rows: &[Vec<String>]) -> String {
    let lines: Vec<&[String]> = [head].into_iter().chain(rows.iter().map(Vec::as_slice)).collect();
    let has_text = head.last().is_some_and(|last| ["flags", "reason"].contains(&last.as_str()));
    let figures = head.len() - usize::from(has_text);
    let mut shown: Vec<usize> = (0..figures).collect();
    // The last column is not counted as figures if it contains text.
    let texts: Vec<String> = lines
        .iter()
        .map(|row| row.get(figures).map_or(String::new(), |text| clean(text)))
        .collect();
    for name in OPTIONAL_COLUMNS.iter().filter(|_| view.detail == Detail::Brief) {
        let room = free_columns(view, &lines, &shown);
        if room < usize::from(has_text) * 8 || room == 0 {
            shown.retain(|i| head[*i] != *name);
        }
    }
    let room = free_columns(view, &lines, &shown);
    // Three spaces separate the text from the figures.
    let is_inline = texts.iter().all(|text| text.chars().count() + 3 <= room);
    let notes = if is_inline { Notes::default() } else { Notes::of(&texts[1..]) };
    let mut table = TextTable::default();
    for (index, (row, text)) in lines.iter().zip(&texts).enumerate() {
        table.row_with_note(
            selected(row, &shown),
            if index == 0 { text.clone() } else { notes.mark(text) },
        );
    }
    // Notes need some width, even if the table fills the terminal.
    let text = table.render_within(view.columns.max(table.columns() + 20));
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{}\n{rows}{}", view.paint(Emphasis::Strong, head), notes.below(view))
}

fn selected(row: &[String], columns: &[usize]) -> Vec<String> {
    columns.iter().filter_map(|column| row.get(*column)).map(|cell| clean(cell)).collect()
}

/// Returns the number of columns that a table with these columns of `lines` leaves free.
fn free_columns(view: &View, lines: &[&[String]], columns: &[usize]) -> usize {
    let mut table = TextTable::default();
    for row in lines {
        table.row(selected(row, columns));
    }
    view.columns.saturating_sub(table.columns())
}

/// Numbered notes below a table, without repetitions.
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

    /// Returns the number of a note, or the note itself if notes are not numbered.
    fn mark(&self, word: &str) -> String {
        let index = self.0.iter().position(|note| note == word);
        index.map_or_else(|| word.to_owned(), |index| format!("[{}]", index + 1))
    }

    fn below(&self, view: &View) -> String {
        self.0
            .iter()
            .enumerate()
            .map(|(index, note)| view.hang(&format!("[{}] ", index + 1), note))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakdown_is_complete_in_a_study_and_shortened_in_a_run() {
        let rows =
            (0..25).map(|n| (format!("/page/{n}").into(), vec!["1".into(), "2".into()])).collect();
        let of = Breakdown {
            title: "column.labels",
            columns: &[("column.completed", 0), ("column.max", 100)],
            rows,
            kind: None,
        };
        let (view, blocks) = (View::default().in_full(), vec![ReportBlock::Breakdown(of)]);
        let study = text(&view, &blocks);
        assert!(
            study.contains("max") && study.contains("/page/24") && study.lines().count() == 26,
            "{study}"
        );
        let run = part(&view, &blocks);
        let cut = run.fixed + &run.rows.concat();
        assert!(
            !cut.contains("max") && !cut.contains("/page/20") && cut.ends_with("and 5 more\n"),
            "{cut}"
        );
    }
}
