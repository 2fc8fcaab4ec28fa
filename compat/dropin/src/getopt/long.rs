//! Parses long and short options like GNU's `getopt_long`: `--time=2S`, `--time 2S`,
//! `--ti 2S`, `-t2S`, `-bt 2S`.
//!
//! Options may follow other words. A tool's options are the rows of a table. An unambiguous prefix
//! of a long name is accepted. A word that begins with `--brunt-` is a brunt option
//! ([`brunt_options`](super::super::brunt_options)). The parser does not know what an option means:
//! the row holds its effect.

use super::Argument;
use std::fmt;

/// One option of a tool.
#[derive(Debug, Clone, Copy)]
pub struct OptionRow<D> {
    /// Letter of the option. Rows with the same letter are the same option.
    pub short: Option<char>,
    /// Long name without dashes; empty if there is none.
    pub long: &'static str,
    pub argument: Argument,
    /// Effect of the option, in a type of the tool's own.
    pub effect: D,
}

impl<D> OptionRow<D> {
    fn is_synonym(&self, other: &Self) -> bool {
        self.short.is_some() && self.short == other.short && self.argument == other.argument
    }
}

/// One parsed element of the command line.
#[derive(Debug)]
pub enum LongItem<'a, D> {
    /// An option, and its value if there is one.
    Option(&'a OptionRow<D>, Option<&'a str>),
    /// A brunt option, without `--brunt-`.
    BruntOption(&'a str),
    /// An invalid option. The parser continues with the next one.
    OptionError(OptionError),
}

/// An invalid option. `Display` writes the C library's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionError {
    Letter(char),
    Name(String),
    /// Prefix of several names.
    Ambiguous(String, Vec<&'static str>),
    /// Letter of an option without its required value.
    LetterWithoutValue(char),
    /// Name of an option without its required value.
    NameWithoutValue(&'static str),
    /// Name of an option with a value that it does not take.
    UnexpectedValue(&'static str),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Letter(letter) => write!(f, "invalid option -- '{letter}'"),
            Self::Name(name) => write!(f, "unrecognized option '--{name}'"),
            Self::Ambiguous(name, all) => {
                write!(f, "option '--{name}' is ambiguous; possibilities:")?;
                all.iter().try_for_each(|name| write!(f, " '--{name}'"))
            }
            Self::LetterWithoutValue(letter) => {
                write!(f, "option requires an argument -- '{letter}'")
            }
            Self::NameWithoutValue(name) => write!(f, "option '--{name}' requires an argument"),
            Self::UnexpectedValue(name) => write!(f, "option '--{name}' doesn't allow an argument"),
        }
    }
}

/// A parser of long and short options.
#[derive(Debug)]
pub struct LongOptions<'a, D> {
    words: &'a [String],
    rows: &'a [OptionRow<D>],
    /// Index of the next word.
    position: usize,
    /// Unread letters of the current word.
    letters: &'a str,
    others: Vec<&'a str>,
}

impl<'a, D> LongOptions<'a, D> {
    /// Starts at the first word.
    pub fn new(words: &'a [String], rows: &'a [OptionRow<D>]) -> Self {
        Self { words, rows, position: 0, letters: "", others: Vec::new() }
    }

    /// Returns the words that are not options, in order. Complete once `next` has returned None.
    pub fn others(&self) -> &[&'a str] {
        &self.others
    }

    /// Returns the next word, for example the value of a brunt option.
    pub fn take_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.position)?;
        self.position += 1;
        Some(word)
    }

    /// Parses the next option; None at the end of the words.
    pub fn next(&mut self) -> Option<LongItem<'a, D>> {
        while self.letters.is_empty() {
            let word = self.take_word()?;
            if word == "--" {
                self.others.extend(self.words[self.position..].iter().map(String::as_str));
                self.position = self.words.len();
            } else if let Some(ours) = word.strip_prefix("--brunt-") {
                return Some(LongItem::BruntOption(ours));
            } else if let Some(name) = word.strip_prefix("--") {
                return Some(self.long_option(name).unwrap_or_else(LongItem::OptionError));
            } else {
                match word.strip_prefix('-') {
                    Some(letters) if !letters.is_empty() => self.letters = letters,
                    _ => self.others.push(word),
                }
            }
        }
        Some(self.letter_option().unwrap_or_else(LongItem::OptionError))
    }

    fn letter_option(&mut self) -> Result<LongItem<'a, D>, OptionError> {
        let letter = self.letters.chars().next().unwrap_or('-');
        let rest_of_word = &self.letters[letter.len_utf8()..];
        self.letters = rest_of_word;
        let row = self
            .rows
            .iter()
            .find(|row| row.short == Some(letter))
            .ok_or(OptionError::Letter(letter))?;
        let attached = (!rest_of_word.is_empty()).then_some(rest_of_word);
        if row.argument != Argument::None {
            self.letters = "";
        }
        Ok(LongItem::Option(
            row,
            match row.argument {
                Argument::None => None,
                Argument::Optional => attached,
                Argument::Required => Some(
                    attached
                        .or_else(|| self.take_word())
                        .ok_or(OptionError::LetterWithoutValue(letter))?,
                ),
            },
        ))
    }

    fn long_option(&mut self, word: &'a str) -> Result<LongItem<'a, D>, OptionError> {
        let (name, joined) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let row = self.by_name(name)?;
        Ok(LongItem::Option(
            row,
            match row.argument {
                Argument::None if joined.is_some() => {
                    return Err(OptionError::UnexpectedValue(row.long));
                }
                Argument::None | Argument::Optional => joined,
                Argument::Required => Some(
                    joined
                        .or_else(|| self.take_word())
                        .ok_or(OptionError::NameWithoutValue(row.long))?,
                ),
            },
        ))
    }

    /// Finds the option with this name, or the only one with this prefix.
    fn by_name(&self, name: &str) -> Result<&'a OptionRow<D>, OptionError> {
        let named = self.rows.iter().filter(|row| !row.long.is_empty());
        let matches: Vec<_> = named.filter(|row| row.long.starts_with(name)).collect();
        let Some(first) = matches.first() else { return Err(OptionError::Name(name.to_owned())) };
        if let Some(exact) = matches.iter().find(|row| row.long == name) {
            return Ok(exact);
        }
        // GNU accepts a prefix of several names if they all are the same option.
        if matches[1..].iter().all(|row| row.is_synonym(first)) {
            return Ok(first);
        }
        Err(OptionError::Ambiguous(name.to_owned(), matches.iter().map(|row| row.long).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn row(short: Option<char>, long: &'static str, argument: Argument) -> OptionRow<()> {
        OptionRow { short, long, argument, effect: () }
    }

    const ROWS: &[OptionRow<()>] = &[
        row(Some('c'), "concurrent", Argument::Required),
        row(Some('C'), "config", Argument::None),
        row(Some('q'), "quiet", Argument::None),
        row(Some('q'), "quit", Argument::None),
        row(Some('l'), "log", Argument::Optional),
        row(None, "num-calls", Argument::Required),
        row(None, "num-conns", Argument::Required),
        row(Some('n'), "", Argument::None),
    ];

    fn read(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut long = LongOptions::new(&words, ROWS);
        let mut seen = Vec::new();
        while let Some(next) = long.next() {
            seen.push(match next {
                LongItem::Option(row, value) => {
                    let name = if row.long.is_empty() {
                        row.short.unwrap().to_string()
                    } else {
                        row.long.into()
                    };
                    value.map_or(name.clone(), |value| format!("{name}={value}"))
                }
                LongItem::BruntOption(word) => {
                    format!("ours {word}={}", long.take_word().unwrap_or(""))
                }
                LongItem::OptionError(wrong) => format!("! {wrong}"),
            });
        }
        format!("{} / {}", seen.join(", "), long.others().join(" "))
    }

    #[test]
    fn options_are_parsed_like_getopt_long() {
        for (line, seen) in [
            ("-c 5 -q u", "concurrent=5, quiet / u"),
            ("-qc5 u -C v", "quiet, concurrent=5, config / u v"),
            (
                "--concurrent=5 --concurrent 6 --conc=7",
                "concurrent=5, concurrent=6, concurrent=7 / ",
            ),
            ("--num-ca 1 --num-co=2", "num-calls=1, num-conns=2 / "),
            ("-l u -lf --log --log=g -ql", "log, log=f, log, log=g, quiet, log / u"),
            ("--qui", "quiet / "),
            ("--concurrent= u", "concurrent= / u"),
            ("-c -q", "concurrent=-q / "),
            ("-q -- -c --x", "quiet / -c --x"),
            ("- -n", "n / -"),
            ("--brunt-json f -q", "ours json=f, quiet / "),
        ] {
            assert_eq!(read(line), seen, "{line}");
        }
    }

    #[test]
    fn errors_have_the_wording_of_getopt_long() {
        for (line, told) in [
            ("-x", "! invalid option -- 'x' / "),
            ("-xq", "! invalid option -- 'x', quiet / "),
            ("--x=1", "! unrecognized option '--x' / "),
            (
                "--num 1",
                "! option '--num' is ambiguous; possibilities: '--num-calls' '--num-conns' / 1",
            ),
            ("-c", "! option requires an argument -- 'c' / "),
            ("--conc", "! option '--concurrent' requires an argument / "),
            ("--quiet=1", "! option '--quiet' doesn't allow an argument / "),
        ] {
            assert_eq!(read(line), told, "{line}");
        }
    }
}
