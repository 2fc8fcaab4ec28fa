//! Redirections of a shell: input from a file, a here-document or a text.
//! Redirected output has no effect.

use super::{Input, Reader};
use brunt_har::error::ImportError;

/// A here-document whose start, `<<END`, was read and whose lines follow.
pub(super) struct HereDocument {
    /// Index in `Commands::commands` of the command that reads it.
    command_index: usize,
    /// The line that ends it.
    terminator: String,
    /// `<<-`: tabs at the start of a line are removed.
    strips_tabs: bool,
    /// True if the terminator was quoted: variables are not expanded.
    is_literal: bool,
}

impl Reader<'_> {
    /// Reads a redirection, of which `sign` (`>` or `<`) was taken. Input may be a body; output and
    /// process substitutions such as `<(…)` are skipped.
    pub(super) fn redirection(&mut self, sign: char) -> Result<(), ImportError> {
        // The number of a file descriptor is part of the redirection.
        if self.word.take_if(|word| word.text.bytes().all(|digit| digit.is_ascii_digit())).is_none()
        {
            self.end_word();
        }
        let mut signs = String::from(sign);
        while let Some(next) = self.peek().filter(|next| ['<', '>', '&', '|'].contains(next)) {
            signs.push(next);
            self.position += 1;
        }
        if self.peek() == Some('(') && signs.len() == 1 {
            self.position += 1;
            return self.skip_output(')');
        }
        let strips_tabs = signs == "<<" && self.peek() == Some('-');
        self.position += usize::from(strips_tabs);
        while let Some(' ' | '\t') = self.peek() {
            self.position += 1;
        }
        let target_start = self.position;
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !"|&;<>".contains(*c)) {
            self.take();
            self.word_part(c)?;
        }
        let is_literal = self.characters[target_start..self.position]
            .iter()
            .any(|c| ['\'', '"', '\\'].contains(c));
        let target = self.word.take().map(|word| word.text).unwrap_or_default();
        match signs.as_str() {
            "<" => self.command.input = Input::File(target),
            "<<<" => self.command.input = Input::Text(target + "\n"),
            "<<" => {
                let command_index = self.out.commands.len();
                self.documents.push(HereDocument {
                    command_index,
                    terminator: target,
                    strips_tabs,
                    is_literal,
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the lines of the here-documents that the line before started. Each becomes the input
    /// of its command. A terminator may be missing at the end of the text.
    pub(super) fn here_documents(&mut self) -> Result<(), ImportError> {
        for document in std::mem::take(&mut self.documents) {
            // An empty document is a text, too.
            self.word_text();
            while self.position < self.characters.len() && !self.take_terminator(&document) {
                self.document_line(&document)?;
            }
            let text = self.word.take().map(|word| word.text).unwrap_or_default();
            let expansion = self.command.expansion.take();
            if let Some(command) = self.out.commands.get_mut(document.command_index) {
                command.input = Input::Text(text);
                command.expansion = command.expansion.or(expansion);
            }
        }
        Ok(())
    }

    /// Takes the next line and returns true if it is the terminator of a here-document.
    fn take_terminator(&mut self, document: &HereDocument) -> bool {
        let rest = &self.characters[self.position..];
        let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
        let line: String = rest[..length].iter().collect();
        let line = line.trim_end_matches('\r');
        let line = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
        let is_terminator = line == document.terminator;
        if is_terminator {
            self.skip_line();
            self.take();
        }
        is_terminator
    }

    /// Appends the next line of a here-document, with its line break, to the current word.
    fn document_line(&mut self, document: &HereDocument) -> Result<(), ImportError> {
        while document.strips_tabs && self.peek() == Some('\t') {
            self.position += 1;
        }
        while let Some(c) = self.take() {
            match c {
                '\\' if !document.is_literal => match self.take() {
                    Some('\n') => {}
                    Some(c) if matches!(c, '\\' | '$' | '`') => self.word_text().push(c),
                    Some(c) => self.word_text().extend(['\\', c]),
                    None => self.word_text().push('\\'),
                },
                '$' if !document.is_literal => self.variable_or_dollar()?,
                '`' if !document.is_literal => self.skip_backticks()?,
                c => {
                    self.word_text().push(c);
                    if c == '\n' {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands;
    use super::*;
    use brunt_har::text::variable;

    #[test]
    fn redirected_inputs_are_detected() {
        let v = variable("A");
        for (lines, expected) in [
            ("curl a", Input::Inherited),
            ("curl a < f.json -s", Input::File("f.json".into())),
            ("curl a <<< \"x $A\"", Input::Text(format!("x {v}\n"))),
            (
                "curl a <<E -s | jq .\n$A \\$A 'b\\\nc'\n\tE\nE\n",
                Input::Text(format!("{v} $A 'bc'\n\tE\n")),
            ),
            ("curl a <<\"E\"\n$A \\$A\nE", Input::Text("$A \\$A\n".into())),
            ("curl a <<-E > /dev/null\n\t\tx\n\tE\n", Input::Text("x\n".into())),
        ] {
            let commands = commands(&format!("{lines}\ncurl b"), "f").unwrap().commands;
            assert_eq!(commands[0].input, expected, "{lines}");
            assert_eq!(commands.last().unwrap().words[1].text, "b", "{lines}");
        }
        for (line, expected) in [("cat f | curl a", Input::Pipe), ("x || curl a", Input::Inherited)]
        {
            assert_eq!(commands(line, "f").unwrap().commands[1].input, expected, "{line}");
        }
    }
}
