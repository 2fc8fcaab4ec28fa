//! Man pages, generated from the definition of the command line.
//!
//! The text after the options of a command's help, such as its examples, becomes sections: a line
//! such as `Examples:` begins one.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Section of a paragraph without a heading.
const NOTES: &str = "NOTES";

/// Section of examples.
const EXAMPLES: &str = "EXAMPLES";

/// Headings of a help in capitals, with the names of their sections (man-pages(7)).
const SECTIONS: [(&str, &str); 2] = [("EXAMPLES:", EXAMPLES), ("EXIT CODES:", "EXIT STATUS")];

/// Writes the page of each visible command into a directory.
pub fn write_all(command: Command, dir: &Path) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    write_with_subcommands(command, "", dir)
}

fn write_with_subcommands(command: Command, parent: &str, dir: &Path) -> io::Result<()> {
    let text = text_after_options(&command, parent);
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_with_subcommands(subcommand.clone(), &text, dir)?;
    }
    let name = Man::new(command.clone()).get_filename();
    fs::write(dir.join(name), rendered(command, &text)?)
}

/// Returns the page of a command.
pub fn page(command: Command) -> io::Result<Vec<u8>> {
    let text = text_after_options(&command, "");
    rendered(command, &text)
}

/// Returns the text after the options of a help. A command without one has those examples of its
/// parent that name it.
fn text_after_options(command: &Command, parent: &str) -> String {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    if let Some(text) = text {
        return text.to_string();
    }
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let examples: Vec<&str> = parent.lines().filter(|line| names_command(line, name)).collect();
    if examples.is_empty() { String::new() } else { format!("Examples:\n{}", examples.join("\n")) }
}

/// True if a line contains the words of a command.
fn names_command(line: &str, name: &str) -> bool {
    let rest = line.split_once(name).map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn rendered(command: Command, text: &str) -> io::Result<Vec<u8>> {
    let has_arguments = command.get_arguments().any(|argument| !argument.is_hide_set());
    let has_subcommands = command.get_subcommands().any(|subcommand| !subcommand.is_hide_set());
    let has_version = command.get_version().is_some();
    // Not `Man::render`, which has one section EXTRA and joins the lines of examples.
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if has_arguments {
        man.render_options_section(&mut page)?;
    }
    if has_subcommands {
        man.render_subcommands_section(&mut page)?;
    }
    render_sections(text, &mut page)?;
    if has_version {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// Renders the text after the options. Its lines stay as they are, since examples are aligned.
fn render_sections(text: &str, page: &mut dyn Write) -> io::Result<()> {
    let mut roff = Roff::new();
    let mut is_in_notes = false;
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let section = SECTIONS.iter().find(|(heading, _)| *heading == first.to_uppercase());
        let lines = section.map_or(paragraph, |_| rest);
        match section {
            Some((_, name)) => roff.control("SH", [*name]),
            None if is_in_notes => roff.control("PP", []),
            None => roff.control("SH", [NOTES]),
        };
        is_in_notes = section.is_none();
        roff.control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn a_subcommand_has_the_examples_of_its_parent_that_name_it() {
        let parent = "Examples:\n  brunt runs          all\n  brunt runs tag a b  a tag";
        let tag = Command::new("tag").bin_name("brunt runs tag");
        assert_eq!(text_after_options(&tag, parent), "Examples:\n  brunt runs tag a b  a tag");
        let untag = Command::new("untag").bin_name("brunt runs untag");
        assert_eq!(text_after_options(&untag, parent), "");
    }

    #[test]
    fn each_page_has_an_example() {
        let mut command = crate::commands::Cli::command().disable_help_subcommand(true);
        command.build();
        let mut without = Vec::new();
        collect_without_example(&command, "", &mut without);
        assert!(without.is_empty(), "{without:?}");
    }

    fn collect_without_example(command: &Command, parent: &str, without: &mut Vec<String>) {
        let text = text_after_options(command, parent);
        if !text.to_uppercase().contains("EXAMPLES:") {
            without.push(command.get_bin_name().unwrap_or_default().to_owned());
        }
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            collect_without_example(subcommand, &text, without);
        }
    }

    #[test]
    fn headings_become_sections_and_lines_stay() {
        let text = "Examples:\n  brunt -c 2 URL     two\n\nA note.\n\nExit codes:\n    0  good";
        let mut page = Vec::new();
        render_sections(text, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for section in [
            ".SH EXAMPLES\n.nf\n  brunt \\-c 2 URL     two\n.fi\n",
            ".SH NOTES\n.nf\nA note.\n.fi\n",
            ".SH \"EXIT STATUS\"\n.nf\n    0  good\n.fi\n",
        ] {
            assert!(page.contains(section), "{section}{page}");
        }
    }
}
