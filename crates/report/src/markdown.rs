//! Writes a report as Markdown, with tables in the syntax of GitHub.
//!
//! Out of scope: the content of the report ([`crate::outline`]).

use crate::outline::block::{
    Bar, Fact, ListItem, ListMark, OutcomeRow, Remark, ReportBlock, Words,
};
use crate::outline::{self, run};
use crate::view::Detail;
use brunt_model::numbers::{share, time};
use brunt_model::{Analysis, Judgement, Language, Run, Study};
use std::io;

/// Writes the full report of a run as Markdown.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(markdown(&run::of_run(run, judgement, Detail::Full).concat()).as_bytes())
}

/// Writes the full report of a study as Markdown.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(markdown(&outline::of_study_or_run(study, analysis, Detail::Full)).as_bytes())
}

/// Writes the blocks, with an empty line between them.
pub fn markdown(blocks: &[ReportBlock]) -> String {
    blocks
        .iter()
        .enumerate()
        .map(|(index, block)| block_text(block, index == 0))
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn block_text(block: &ReportBlock, is_first: bool) -> String {
    // A document has one heading of level 1, and the report may begin with another block.
    let hashes = if is_first { "#" } else { "##" };
    match block {
        ReportBlock::Title(name, about) if about.is_empty() => {
            format!("{hashes} {}\n", escaped(name))
        }
        ReportBlock::Title(name, about) => {
            format!("{hashes} {}\n\n{}\n", escaped(name), paragraph(about))
        }
        ReportBlock::Heading(heading) => format!("## {}\n", escaped(heading)),
        ReportBlock::Paragraph(text) => format!("{}\n", paragraph(text)),
        ReportBlock::Facts(facts) | ReportBlock::FactOfEach(facts) => {
            facts.iter().map(fact).collect()
        }
        ReportBlock::List(items) => items.iter().map(item).collect(),
        ReportBlock::Table(head, rows) => table(head, rows),
        ReportBlock::Breakdown(breakdown) => {
            let (head, rows) = breakdown.cells(Language::English);
            table(&head, &rows)
        }
        ReportBlock::Outcomes(rows) => outcomes(rows),
        ReportBlock::Bars(bars) => histogram(bars),
        // The tables have the figures of the graph.
        ReportBlock::Graph(_) => String::new(),
    }
}

fn fact(fact: &Fact) -> String {
    let lines = match &fact.lines[..] {
        [only] => format!(" {}\n", words(only)),
        several => {
            format!("\n{}", several.iter().map(|line| below(&words(line))).collect::<String>())
        }
    };
    format!(
        "- **{}:**{lines}{}",
        escaped(&fact.key),
        fact.remarks.iter().map(remark).collect::<String>()
    )
}

fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Remedy(remedy) => below(&code(remedy)),
        Remark::Reason(text) | Remark::Evidence(text) | Remark::Unseen(text) => {
            below(&escaped(text))
        }
    }
}

/// Returns an item below a fact.
fn below(text: &str) -> String {
    format!("  - {text}\n")
}

fn words(words: &Words) -> String {
    let plain = words.plain().split_whitespace().collect::<Vec<_>>().join(" ");
    escaped(&plain)
}

fn item(item: &ListItem) -> String {
    let mark = match item.mark {
        ListMark::Plain | ListMark::Note => "",
        ListMark::Warning => "**!** ",
        ListMark::Met => "met: ",
        ListMark::Missed => "**missed:** ",
    };
    let remedy = item.remedy.as_ref().map_or(String::new(), |remedy| format!(" {}", code(remedy)));
    format!("- {mark}{}{remedy}\n", escaped(&item.sentence))
}

/// Returns a remedy as code that can be copied.
fn code(remedy: &str) -> String {
    // A backslash does not escape a backtick within code.
    format!("→ `{}`", remedy.replace('`', "'"))
}

fn outcomes(rows: &[OutcomeRow]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.cells(Language::English)).collect();
    table(&OutcomeRow::head().map(String::from), &rows)
}

fn histogram(bars: &[Bar]) -> String {
    let all = bars.last().map_or(0, |last| last.so_far);
    let rows =
        bars.iter().map(|bar| vec![time(bar.up_to), share(bar.count, all), share(bar.so_far, all)]);
    table(&["Up to", "Share", "Cumulative"].map(str::to_owned), &rows.collect::<Vec<_>>())
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let rule = head
        .iter()
        .enumerate()
        .map(|(i, _)| if i == 0 { ":--" } else { "--:" })
        .collect::<Vec<_>>();
    let rule = format!("|{}|\n", rule.join("|"));
    table_line(head) + &rule + &rows.iter().map(|row| table_line(row)).collect::<String>()
}

fn table_line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Writes text from outside as a paragraph. Its beginning must not become a heading, a list, a rule
/// or a block of code.
fn paragraph(text: &str) -> String {
    let text = escaped(text.trim());
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    // `=` and `-` below a line make it a heading, `~~~` begins code. `*`, `>` and backticks are
    // escaped above.
    if text.starts_with(['#', '-', '+', '=', '~']) {
        return format!("\\{text}");
    }
    match text[digits..].chars().next() {
        // `1.` and `1)` would begin a numbered list.
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ => text,
    }
}

/// Escapes the characters of text from outside that have a meaning in Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '<' | '>' | '&' => out.extend(['\\', c]),
            // A line break would end the row of a table or the item of a list.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;
    use brunt_model::finding::{LimitingResource, OtherCause, State, UseOrigin, Verdict};
    use brunt_model::objective::{Metric, Relation};
    use brunt_model::{Finding, Objective};
    use std::time::Duration;

    #[test]
    fn markup_in_foreign_texts_is_escaped() {
        assert_eq!(escaped("a|b <i> *c*\n`d`"), "a\\|b \\<i\\> \\*c\\* \\`d\\`");
    }

    #[test]
    fn the_description_is_a_paragraph() {
        for (about, written) in [
            ("# Heading", "\\# Heading"),
            ("- item\n- item", "\\- item - item"),
            ("1. first", "1\\. first"),
            ("---", "\\---"),
            ("    code", "code"),
            ("&lt;b&gt; <script>", "\\&lt;b\\&gt; \\<script\\>"),
            ("[x](javascript:y)", "\\[x\\](javascript:y)"),
            ("E1: 2 servers", "E1: 2 servers"),
        ] {
            assert_eq!(paragraph(about), written, "{about}");
        }
    }

    #[test]
    fn a_study_as_markdown() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        let text = markdown(&outline::of_study(&study, &analysis, Detail::Full));
        let head: String = text.split_inclusive('\n').take(34).collect();
        insta::assert_snapshot!(head);
    }

    #[test]
    fn a_run_as_markdown() {
        let mut story = story::overloaded();
        let bound = |metric, relation, bound| Objective { metric, step: None, relation, bound };
        story.plan.objectives = vec![
            bound(Metric::Quantile(0.5), Relation::Below, 0.5),
            bound(Metric::Errors, Relation::Below, 0.01),
        ];
        let cause = OtherCause {
            limit: LimitingResource::Worker,
            origin: UseOrigin::Generator,
            lasted: Duration::from_secs(8),
            sentence: "for 8.00 s a worker thread used 99.7 % of a core".into(),
            remedy: "--threads 2, or another machine".into(),
        };
        let verdict = Verdict { state: State::Limited, causes: vec![cause], ..Verdict::default() };
        let findings = vec![Finding::note("x", "Client and server share this machine.")];
        let judgement = Judgement { verdict, findings, ..Judgement::default() };
        let mut text = Vec::new();
        write(&story.run(), &judgement, &mut text).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }

    #[test]
    fn every_row_of_a_table_has_the_number_of_cells_of_its_header() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        for block in outline::of_study(&study, &analysis, Detail::Full) {
            if let ReportBlock::Table(head, rows) = block {
                assert!(rows.iter().all(|row| row.len() == head.len()), "{head:?}");
            }
        }
    }
}
