//! A report as Markdown, with tables as GitHub has them.
//!
//! Out of scope: a choice of what is said ([`crate::outline`]).

use crate::outline::{self, Block, Point};
use crate::single;
use crate::view::Detail;
use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

/// Writes a run.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let (study, analysis) = single::study_of(run, judgement);
    let blocks = outline::of_study(&study, &analysis, Detail::Full);
    out.write_all(markdown(&blocks).as_bytes())
}

/// Writes a study.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let blocks = outline::of_study(study, analysis, Detail::Full);
    out.write_all(markdown(&blocks).as_bytes())
}

/// The blocks, an empty line between them.
pub fn markdown(blocks: &[Block]) -> String {
    let drawn = |block: &&Block| !matches!(block, Block::Graph(_));
    blocks.iter().filter(drawn).map(set).collect::<Vec<_>>().join("\n")
}

fn set(block: &Block) -> String {
    match block {
        Block::Title(name, about) if about.is_empty() => format!("# {}\n", escaped(name)),
        Block::Title(name, about) => format!("# {}\n\n{}\n", escaped(name), paragraph(about)),
        Block::Heading(heading) => format!("## {}\n", escaped(heading)),
        Block::Facts(facts) => facts.iter().map(|(key, fact)| named(key, fact)).collect(),
        Block::Points(points) => points.iter().map(point).collect(),
        Block::Table(head, rows) => table(head, rows),
        // The figures of a graph stand in the tables.
        Block::Graph(_) => String::new(),
    }
}

fn named(key: &str, fact: &str) -> String {
    format!("- **{key}:** {}\n", escaped(fact))
}

fn point(point: &Point) -> String {
    let warns = if point.warns { "**!** " } else { "" };
    let remedy = point.remedy.as_ref().map_or(String::new(), |remedy| format!(" → `{}`", remedy.replace('`', "'")));
    format!("- {warns}{}{remedy}\n", escaped(&point.sentence))
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = head.iter().enumerate().map(|(i, _)| if i == 0 { ":--" } else { "--:" }).collect::<Vec<_>>();
    let rule = format!("|{}|\n", rule.join("|"));
    line(head) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// Text from outside as a paragraph: nothing at its beginning makes a heading, a list, a rule or a block of code of it.
fn paragraph(text: &str) -> String {
    let text = escaped(text.trim());
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    if text.starts_with(['#', '-', '+', '=', '~']) {
        return format!("\\{text}");
    }
    match text[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ => text,
    }
}

/// Text from outside without what Markdown or HTML would take for its own.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '<' | '>' | '&' => out.extend(['\\', c]),
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

    #[test]
    fn nothing_from_outside_becomes_markup() {
        assert_eq!(escaped("a|b <i> *c*\n`d`"), "a\\|b \\<i\\> \\*c\\* \\`d\\`");
    }

    #[test]
    fn what_it_is_about_is_a_paragraph() {
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
    fn every_row_of_a_table_has_as_many_cells_as_its_head() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        for block in outline::of_study(&study, &analysis, Detail::Full) {
            if let Block::Table(head, rows) = block {
                assert!(rows.iter().all(|row| row.len() == head.len()), "{head:?}");
            }
        }
    }
}
