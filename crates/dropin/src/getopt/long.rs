//! Long and short options as GNU's `getopt_long` reads them: `--time=2S`, `--time 2S`, `--ti 2S`, `-t2S`, `-bt 2S`, and among
//! other words wherever they stand.
//!
//! A tool's options are the rows of a table. The beginning of a long name is as good as the name where it is that of one
//! option only. A word that begins with `--brunt-` is one of ours ([`side`](super::super::side)).
//! It knows no option's meaning; what one does stands in its row, for the tool.

use super::Takes;
use std::fmt;

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct Row<D> {
    /// Its letter, where it has one. Rows with the same letter are the same option.
    pub short: Option<char>,
    /// Its name without dashes; empty: it has none.
    pub long: &'static str,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What it does, in the tool's own words.
    pub does: D,
}

/// What was read.
#[derive(Debug)]
pub enum Read<'a, D> {
    /// An option, and its value where there is one.
    Option(&'a Row<D>, Option<&'a str>),
    /// A word of ours, without the dashes and the prefix.
    Ours(&'a str),
    /// What makes no sense; getopt goes on behind it.
    OptionError(OptionError),
}

/// What makes no sense, in the C library's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionError {
    /// There is no option of this letter.
    Letter(char),
    /// There is no option of this name.
    Name(String),
    /// It is the beginning of several names.
    Ambiguous(String, Vec<&'static str>),
    /// The option of this letter takes a value, and there is none.
    BareLetter(char),
    /// The option of this name takes a value, and there is none.
    BareName(&'static str),
    /// The option of this name takes no value.
    Needless(&'static str),
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
            Self::BareLetter(letter) => write!(f, "option requires an argument -- '{letter}'"),
            Self::BareName(name) => write!(f, "option '--{name}' requires an argument"),
            Self::Needless(name) => write!(f, "option '--{name}' doesn't allow an argument"),
        }
    }
}

/// A command line that is being read.
#[derive(Debug)]
pub struct Long<'a, D> {
    words: &'a [String],
    rows: &'a [Row<D>],
    /// The word that is read next.
    at: usize,
    /// What is left of a word in which letters stand together.
    letters: &'a str,
    others: Vec<&'a str>,
}

impl<'a, D> Long<'a, D> {
    /// Begins at the first word.
    pub fn new(words: &'a [String], rows: &'a [Row<D>]) -> Self {
        Self { words, rows, at: 0, letters: "", others: Vec::new() }
    }

    /// The words that are no options, in order: all of them, when there are no more options.
    pub fn others(&self) -> &[&'a str] {
        &self.others
    }

    /// The next word, whatever it is: the value of one of ours.
    pub fn take_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// The next option; None: there are no more.
    pub fn next(&mut self) -> Option<Read<'a, D>> {
        while self.letters.is_empty() {
            let word = self.take_word()?;
            if word == "--" {
                self.others.extend(self.words[self.at..].iter().map(String::as_str));
                self.at = self.words.len();
            } else if let Some(ours) = word.strip_prefix("--brunt-") {
                return Some(Read::Ours(ours));
            } else if let Some(name) = word.strip_prefix("--") {
                return Some(self.named(name).unwrap_or_else(Read::OptionError));
            } else {
                match word.strip_prefix('-') {
                    Some(letters) if !letters.is_empty() => self.letters = letters,
                    _ => self.others.push(word),
                }
            }
        }
        Some(self.letter().unwrap_or_else(Read::OptionError))
    }

    fn letter(&mut self) -> Result<Read<'a, D>, OptionError> {
        let letter = self.letters.chars().next().unwrap_or('-');
        let behind = &self.letters[letter.len_utf8()..];
        self.letters = behind;
        let row = self.rows.iter().find(|row| row.short == Some(letter)).ok_or(OptionError::Letter(letter))?;
        let attached = (!behind.is_empty()).then_some(behind);
        if row.takes != Takes::Nothing {
            self.letters = "";
        }
        Ok(Read::Option(
            row,
            match row.takes {
                Takes::Nothing => None,
                Takes::Attached => attached,
                Takes::Value => Some(attached.or_else(|| self.take_word()).ok_or(OptionError::BareLetter(letter))?),
            },
        ))
    }

    fn named(&mut self, word: &'a str) -> Result<Read<'a, D>, OptionError> {
        let (name, joined) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let row = self.by_name(name)?;
        Ok(Read::Option(
            row,
            match row.takes {
                Takes::Nothing if joined.is_some() => return Err(OptionError::Needless(row.long)),
                Takes::Nothing | Takes::Attached => joined,
                Takes::Value => Some(joined.or_else(|| self.take_word()).ok_or(OptionError::BareName(row.long))?),
            },
        ))
    }

    /// The option of this name, or of the only one that it begins.
    fn by_name(&self, name: &str) -> Result<&'a Row<D>, OptionError> {
        let named = self.rows.iter().filter(|row| !row.long.is_empty());
        let begun: Vec<_> = named.filter(|row| row.long.starts_with(name)).collect();
        let Some(first) = begun.first() else { return Err(OptionError::Name(name.to_owned())) };
        if let Some(exact) = begun.iter().find(|row| row.long == name) {
            return Ok(exact);
        }
        let same = |row: &&Row<D>| row.short.is_some() && row.short == first.short && row.takes == first.takes;
        if begun[1..].iter().all(same) {
            return Ok(first);
        }
        Err(OptionError::Ambiguous(name.to_owned(), begun.iter().map(|row| row.long).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn row(short: Option<char>, long: &'static str, takes: Takes) -> Row<()> {
        Row { short, long, takes, does: () }
    }

    const ROWS: &[Row<()>] = &[
        row(Some('c'), "concurrent", Takes::Value),
        row(Some('C'), "config", Takes::Nothing),
        row(Some('q'), "quiet", Takes::Nothing),
        row(Some('q'), "quit", Takes::Nothing),
        row(Some('l'), "log", Takes::Attached),
        row(None, "num-calls", Takes::Value),
        row(None, "num-conns", Takes::Value),
        row(Some('n'), "", Takes::Nothing),
    ];

    fn read(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut long = Long::new(&words, ROWS);
        let mut seen = Vec::new();
        while let Some(next) = long.next() {
            seen.push(match next {
                Read::Option(row, value) => {
                    let name = if row.long.is_empty() { row.short.unwrap().to_string() } else { row.long.into() };
                    value.map_or(name.clone(), |value| format!("{name}={value}"))
                }
                Read::Ours(word) => format!("ours {word}={}", long.take_word().unwrap_or("")),
                Read::OptionError(wrong) => format!("! {wrong}"),
            });
        }
        format!("{} / {}", seen.join(", "), long.others().join(" "))
    }

    #[test]
    fn options_are_read_as_gnu_reads_them() {
        for (line, seen) in [
            ("-c 5 -q u", "concurrent=5, quiet / u"),
            ("-qc5 u -C v", "quiet, concurrent=5, config / u v"),
            ("--concurrent=5 --concurrent 6 --conc=7", "concurrent=5, concurrent=6, concurrent=7 / "),
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
    fn what_makes_no_sense_is_told_in_the_librarys_words() {
        for (line, told) in [
            ("-x", "! invalid option -- 'x' / "),
            ("-xq", "! invalid option -- 'x', quiet / "),
            ("--x=1", "! unrecognized option '--x' / "),
            ("--num 1", "! option '--num' is ambiguous; possibilities: '--num-calls' '--num-conns' / 1"),
            ("-c", "! option requires an argument -- 'c' / "),
            ("--conc", "! option '--concurrent' requires an argument / "),
            ("--quiet=1", "! option '--quiet' doesn't allow an argument / "),
        ] {
            assert_eq!(read(line), told, "{line}");
        }
    }
}
