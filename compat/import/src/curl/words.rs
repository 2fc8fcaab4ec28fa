//! Splits command lines of bash and of Windows' cmd into words.

mod redirection;

use brunt_har::error::ImportError;
use brunt_har::text::variable;
use redirection::HereDocument;

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Text of the word. Variables of the shell become variables of the plan with the same names.
    pub(super) text: String,
    /// Line of its first character, from 1.
    pub(super) line: usize,
}

/// A command with its input.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    pub(super) input: Input,
    /// The first expansion that depends on the shell's state, and its line.
    pub(super) expansion: Option<(Expansion, usize)>,
    /// The commands within the first `$(…)` or backticks.
    pub(super) substitution: String,
}

impl Command {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.expansion.is_none()
    }
}

/// Standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Input {
    /// The standard input of the shell.
    #[default]
    Inherited,
    /// The output of the previous command.
    Pipe,
    /// A file, `<FILE`.
    File(String),
    /// A here-document or here-string.
    Text(String),
}

/// Kind of an expansion that depends on the shell's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expansion {
    /// `$(…)`, `<(…)` or backticks.
    Output,
    /// `$1`, `$@`, `$?` and the like.
    Argument,
    /// `${NAME…}` with more than a name.
    Parameter,
}

/// Commands, and the names of the shell variables in them.
pub(super) struct Commands {
    pub(super) commands: Vec<Command>,
    pub(super) variables: Vec<String>,
}

/// Splits command lines into commands.
pub(super) fn commands(text: &str, file: &str) -> Result<Commands, ImportError> {
    let is_cmd = is_of_cmd(text);
    let text = if is_cmd { without_carets(text) } else { text.to_owned() };
    let mut reader = Reader {
        file,
        characters: text.chars().collect(),
        position: 0,
        line: 1,
        word: None,
        command: Command::default(),
        documents: Vec::new(),
        out: Commands { commands: Vec::new(), variables: Vec::new() },
    };
    if is_cmd {
        reader.windows()?;
    } else {
        reader.shell()?;
    }
    reader.end_command();
    reader.out.commands.retain(|command| !command.is_empty());
    Ok(reader.out)
}

/// True if the command lines are written for cmd.
///
/// Older browsers write no caret, but double the quotes within a word. A shell joins
/// words that way too, as in `"$A""$B"`. So only doubled quotes next to punctuation of
/// JSON or a third quote count.
fn is_of_cmd(text: &str) -> bool {
    let has_doubled_quotes = text.match_indices("\"\"").any(|(index, _)| {
        let before = text[..index].ends_with(['{', '[', ',', ':']);
        let after = text[index + 2..].starts_with(['"', ':', ',', '}', ']']);
        before || after
    });
    text.contains("^\"")
        || text.lines().any(|line| line.trim_end().ends_with(" ^"))
        || has_doubled_quotes && !text.contains('\'')
}

/// Characters before which Chrome writes a caret.
const ESCAPED_BY_CHROME: [char; 15] =
    ['\\', '&', '{', '}', '[', ']', '<', '>', '|', '!', '^', '#', '$', '@', '%'];

/// The text after cmd's caret processing: a caret escapes the next character and joins lines, but
/// not within plain quotes.
fn without_carets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    let text = text.replace("\r\n", "\n");
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            // Chrome of 2020 to 2023 escaped with carets within plain quotes, too, which cmd reads
            // as carets: what the page sent is meant.
            '^' if quoted => {
                let ahead: String = characters.clone().take(3).collect();
                if ahead == "\\^\"" {
                    out.push_str("\\\"");
                    characters.nth(2);
                } else if ahead.starts_with(ESCAPED_BY_CHROME) {
                    out.extend(characters.next());
                } else {
                    out.push(c);
                }
            }
            '%' if quoted && characters.peek() == Some(&'^') => {
                out.push(c);
                characters.next();
            }
            '^' => match characters.next() {
                // A caret before a line break joins the lines. A second line break
                // is part of the text.
                Some('\n') => {
                    if characters.peek() == Some(&'\n') {
                        out.push('\n');
                        characters.next();
                    } else {
                        out.push(' ');
                    }
                }
                Some(next) => out.push(next),
                None => {}
            },
            // Older browsers write the percent sign as "^%".
            '"' if quoted && characters.peek() == Some(&'^') => {
                let mut ahead = characters.clone().skip(1);
                if let (Some(special), Some('"')) = (ahead.next(), ahead.next()) {
                    out.push(special);
                    characters.nth(2);
                } else {
                    quoted = false;
                    out.push(c);
                }
            }
            '\\' if quoted && characters.peek() == Some(&'"') => {
                out.push_str("\\\"");
                characters.next();
            }
            '"' => {
                quoted = !quoted;
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

struct Reader<'a> {
    file: &'a str,
    characters: Vec<char>,
    position: usize,
    line: usize,
    word: Option<Word>,
    command: Command,
    /// Here-documents of the current line. Their lines follow it.
    documents: Vec<HereDocument>,
    out: Commands,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += 1;
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn word_text(&mut self) -> &mut String {
        let line = self.line;
        &mut self.word.get_or_insert_with(|| Word { text: String::new(), line }).text
    }

    fn end_word(&mut self) {
        self.command.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        self.out.commands.push(std::mem::take(&mut self.command));
    }

    fn error(&self, line: usize, wrong: &str, instead: &str) -> ImportError {
        ImportError::at_line(self.file, line, wrong, instead)
    }

    fn shell(&mut self) -> Result<(), ImportError> {
        while let Some(c) = self.take() {
            match c {
                '\n' => {
                    // A line break after a pipe does not end the pipeline.
                    let is_open = self.word.is_none()
                        && self.command.is_empty()
                        && self.command.input == Input::Pipe;
                    if !is_open {
                        self.end_command();
                    }
                    self.here_documents()?;
                }
                // Redirection of both outputs, `&>FILE`.
                '&' if self.peek() == Some('>') => self.end_word(),
                '|' if self.peek() == Some('|') => {
                    self.position += 1;
                    self.end_command();
                }
                '|' => {
                    self.end_command();
                    self.command.input = Input::Pipe;
                }
                ';' | '&' => self.end_command(),
                // A prompt, in texts copied from a terminal.
                '>' if self.word.is_none()
                    && self.command.is_empty()
                    && self.peek() == Some(' ') =>
                {
                    self.word_text().push('>');
                }
                '>' | '<' => self.redirection(c)?,
                c if c.is_whitespace() => self.end_word(),
                // Within a word, the sign is literal.
                '#' if self.word.is_none() => self.skip_line(),
                c => self.word_part(c)?,
            }
        }
        Ok(())
    }

    /// Reads a character of a word, or the quotes or variable that it starts.
    fn word_part(&mut self, c: char) -> Result<(), ImportError> {
        match c {
            '\\' => match self.take() {
                Some('\n') | None => {}
                Some('\r') if self.peek() == Some('\n') => drop(self.take()),
                Some(next) => self.word_text().push(next),
            },
            '\'' => self.single_quotes()?,
            '"' => self.double_quotes()?,
            '$' if self.peek() == Some('\'') => {
                self.position += 1;
                self.ansi_quotes()?;
            }
            // `$"…"` is a translated text. Without a translation, it is the text itself.
            '$' if self.peek() == Some('"') => {}
            '$' => self.variable_or_dollar()?,
            '`' => self.skip_backticks()?,
            c => self.word_text().push(c),
        }
        Ok(())
    }

    /// Skips the rest of the line, a comment.
    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.position += 1;
        }
    }

    fn single_quotes(&mut self) -> Result<(), ImportError> {
        let line = self.line;
        self.word_text();
        loop {
            match self.take() {
                Some('\'') => return Ok(()),
                Some(c) => self.word_text().push(c),
                None => {
                    return Err(self.error(
                        line,
                        "the quote `'` is not closed",
                        "write `'` at the end of the text",
                    ));
                }
            }
        }
    }

    fn double_quotes(&mut self) -> Result<(), ImportError> {
        let line = self.line;
        self.word_text();
        loop {
            match self.take() {
                Some('"') => return Ok(()),
                Some('\\') => match self.take() {
                    Some('\n') => {}
                    Some(c) if matches!(c, '"' | '\\' | '$' | '`') => self.word_text().push(c),
                    Some(c) => self.word_text().extend(['\\', c]),
                    None => self.word_text().push('\\'),
                },
                Some('$') => self.variable_or_dollar()?,
                Some('`') => self.skip_backticks()?,
                Some(c) => self.word_text().push(c),
                None => {
                    return Err(self.error(
                        line,
                        "the quote `\"` is not closed",
                        "write `\"` at the end of the text",
                    ));
                }
            }
        }
    }

    /// Reads a variable of the shell after a dollar sign. Without a name, the sign stays.
    fn variable_or_dollar(&mut self) -> Result<(), ImportError> {
        let start = self.position;
        let braced = self.peek() == Some('{');
        if self.peek() == Some('(') {
            self.position += 1;
            return self.skip_output(')');
        }
        self.position += usize::from(braced);
        let name_start = self.position;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.position += 1;
        }
        let name: String = self.characters[name_start..self.position].iter().collect();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name && (!braced || self.peek() == Some('}')) {
            self.position += usize::from(braced);
            self.word_text().push_str(&variable(&name));
            if !self.out.variables.contains(&name) {
                self.out.variables.push(name);
            }
            return Ok(());
        }
        if braced {
            self.note_expansion(Expansion::Parameter);
        } else if self
            .characters
            .get(start)
            .is_some_and(|c| c.is_ascii_digit() || "@*#?!$-".contains(*c))
        {
            self.note_expansion(Expansion::Argument);
        }
        self.position = start;
        self.word_text().push('$');
        Ok(())
    }

    fn note_expansion(&mut self, expansion: Expansion) {
        self.command.expansion.get_or_insert((expansion, self.line));
    }

    fn skip_backticks(&mut self) -> Result<(), ImportError> {
        self.skip_output('`')
    }

    /// Skips a command substitution up to its end. Parentheses within quotes do not count.
    fn skip_output(&mut self, end: char) -> Result<(), ImportError> {
        self.note_expansion(Expansion::Output);
        let line = self.line;
        self.word_text();
        let start = self.position;
        let mut depth = 0;
        let mut quote = None;
        while let Some(c) = self.take() {
            match (quote, c) {
                (None | Some('"'), '\\') => drop(self.take()),
                (Some(open), c) if c == open => quote = None,
                (None, c) if c == end && depth == 0 => {
                    if self.command.substitution.is_empty() {
                        let inner = &self.characters[start..self.position - 1];
                        self.command.substitution = inner.iter().collect();
                    }
                    return Ok(());
                }
                (None, '\'' | '"') => quote = Some(c),
                (None, '(') if end == ')' => depth += 1,
                (None, ')') if end == ')' => depth -= 1,
                _ => {}
            }
        }
        Err(self.error(
            line,
            "it contains the output of another command, without its end",
            "write its value",
        ))
    }

    /// Reads `$'…'`.
    fn ansi_quotes(&mut self) -> Result<(), ImportError> {
        let line = self.line;
        self.word_text();
        // Escapes such as \xc3 are bytes.
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            match self.take() {
                Some('\'') => break,
                Some('\\') => self.escape(&mut bytes),
                Some(c) => bytes.extend(c.to_string().bytes()),
                None => {
                    return Err(self.error(
                        line,
                        "the quote `$'` is not closed",
                        "write `'` at the end of the text",
                    ));
                }
            }
        }
        let text = brunt_har::text::clean(&String::from_utf8_lossy(&bytes)).into_owned();
        self.word_text().push_str(&text);
        Ok(())
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) {
        let Some(c) = self.take() else { return bytes.push(b'\\') };
        let plain = match c {
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => c as u8,
            'x' => return bytes.push(self.digits(2, 16) as u8),
            'u' | 'U' => {
                let code = self.digits(if c == 'u' { 4 } else { 8 }, 16);
                let c = char::from_u32(code).unwrap_or('\u{fffd}');
                return bytes.extend(c.to_string().bytes());
            }
            '0'..='7' => {
                // The digit is the first of up to three.
                self.position -= 1;
                return bytes.push(self.digits(3, 8) as u8);
            }
            other => return bytes.extend(format!("\\{other}").bytes()),
        };
        bytes.push(plain);
    }

    fn digits(&mut self, max_digits: usize, radix: u32) -> u32 {
        let mut number = 0_u32;
        for _ in 0..max_digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            number = number.wrapping_mul(radix).wrapping_add(digit);
            self.position += 1;
        }
        number
    }

    /// Splits words like programs of Windows do.
    fn windows(&mut self) -> Result<(), ImportError> {
        while let Some(c) = self.take() {
            match c {
                '\n' | '&' | '|' => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                '\\' if self.peek() == Some('"') => {
                    self.position += 1;
                    self.word_text().push('"');
                }
                '"' => self.windows_quote()?,
                c => self.word_text().push(c),
            }
        }
        Ok(())
    }

    fn windows_quote(&mut self) -> Result<(), ImportError> {
        let line = self.line;
        self.word_text();
        loop {
            match self.take() {
                Some('"') if self.peek() == Some('"') => {
                    self.position += 1;
                    self.word_text().push('"');
                }
                Some('"') => return Ok(()),
                Some('\\') if matches!(self.peek(), Some('"' | '\\')) => {
                    // Backslashes are literal, except before a quote.
                    let start = self.position - 1;
                    while self.peek() == Some('\\') {
                        self.position += 1;
                    }
                    let count = self.position - start;
                    let before_quote = self.peek() == Some('"');
                    let literal_count = if before_quote { count / 2 } else { count };
                    self.word_text().push_str(&"\\".repeat(literal_count));
                    if before_quote && count % 2 == 1 {
                        self.position += 1;
                        self.word_text().push('"');
                    }
                }
                Some(c) => self.word_text().push(c),
                None => {
                    return Err(self.error(
                        line,
                        "the quote `\"` is not closed",
                        "write `\"` at the end of the text",
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let commands = commands(text, "f").unwrap().commands;
        commands
            .into_iter()
            .map(|command| command.words.into_iter().map(|word| word.text).collect())
            .collect()
    }

    #[test]
    fn bash_commands_are_split_into_words() {
        let v = variable("TOKEN");
        for (text, expected) in [
            ("curl 'a b' \\\n  -H \"x: \\\"y\\\"\"", &["curl", "a b", "-H", "x: \"y\""][..]),
            ("curl $'it\\'s \\u00fc\\xc3\\xbc\\n' # more\n", &["curl", "it's üü\n"]),
            ("curl a'b'\"c\"\\ d ''", &["curl", "abc d", ""]),
            ("curl \"$TOKEN ${TOKEN}\" 5$ | jq .", &["curl", &format!("{v} {v}"), "5$"]),
            ("curl a > out.txt", &["curl", "a"]),
            ("> curl a", &[">", "curl", "a"]),
            ("curl a>out.txt -s 2>&1 >>\"o 2\" &>/dev/null b", &["curl", "a", "-s", "b"]),
        ] {
            assert_eq!(words(text).swap_remove(0), expected, "{text}");
        }
        assert_eq!(
            words("curl a ;\ncurl b &\ncurl c"),
            [["curl", "a"], ["curl", "b"], ["curl", "c"]]
        );
        assert_eq!(
            words("curl a > o && curl b || curl c"),
            [["curl", "a"], ["curl", "b"], ["curl", "c"]]
        );
        for wrong in ["curl 'a", "curl \"a", "curl $'a", "curl $(x", "curl `x"] {
            assert!(commands(wrong, "f").is_err(), "{wrong}");
        }
    }

    #[test]
    fn shell_expansions_are_detected() {
        for (text, expected) in [
            ("curl $(x \"$(y ')')\")", Some((Expansion::Output, 1))),
            ("curl a\ncurl `x`", None),
            ("curl \\\n \"${A:-b}\"", Some((Expansion::Parameter, 2))),
            ("curl \"/$1\"", Some((Expansion::Argument, 1))),
            ("curl -d @- <<E\n\n$(x)\nE", Some((Expansion::Output, 3))),
            ("curl -d @- <<'E'\n$(x)\nE", None),
            ("curl '$1' 5$ \"$\"", None),
            ("curl a | grep \"$(x)\"", None),
        ] {
            assert_eq!(commands(text, "f").unwrap().commands[0].expansion, expected, "{text}");
        }
    }

    #[test]
    fn cmd_commands_are_split_into_words() {
        let new = "curl ^\"http://h/?a=1^&b=2^\" ^\r\n  -H ^\"x: y^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":1^}^\" &\r\ncurl ^\"b^\"";
        assert_eq!(
            words(new),
            [
                &["curl", "http://h/?a=1&b=2", "-H", "x: y", "--data-raw", "{\"a\":1}"][..],
                &["curl", "b"]
            ]
        );
        let old = "curl \"http://h/a\"^%\"20b\" ^\n -H \"a: \\\"b\\\" ^\" --data-raw \"x\\\\y\"";
        assert_eq!(
            words(old),
            [["curl", "http://h/a%20b", "-H", "a: \"b\" ^", "--data-raw", "x\\\\y"]]
        );
        let older = r#"curl "http://h/a"%"20b?$top=1" -H "X: ""y""" --data-binary "{""a"":""$b `c`""}" --compressed"#;
        assert_eq!(
            words(older),
            [[
                "curl",
                "http://h/a%20b?$top=1",
                "-H",
                "X: \"y\"",
                "--data-binary",
                r#"{"a":"$b `c`"}"#,
                "--compressed"
            ]]
        );
        assert_eq!(words("curl ^\"a^\n\nb^\" ^\n c"), [["curl", "a\nb", "c"]]);
        let chrome_110 = "curl \"http://h/?a=1^&b=%^20\" ^\n -H \"u: ^\\^\"C^\\^\";v=^\\^\"110^\\^\"\" ^\n --data-raw \"^{^\\^\"a^\\^\":^\\^\"b^^^\\^\"^}\" ^\n --compressed";
        assert_eq!(
            words(chrome_110),
            [[
                "curl",
                "http://h/?a=1&b=%20",
                "-H",
                "u: \"C\";v=\"110\"",
                "--data-raw",
                r#"{"a":"b^"}"#,
                "--compressed"
            ]]
        );
    }
}
