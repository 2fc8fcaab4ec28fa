//! Parses short options like `getopt`: `-k`, `-n 10`, `-n10`, `-kn10`, up to the first other word.
//!
//! A word that begins with `--brunt-` in place of an option is a brunt option
//! ([`brunt_options`](super::brunt_options)); no tool has such options. [`long`] parses long names
//! too, like GNU. The parser does not know what an option means, only whether it takes a value.

pub mod long;

/// A parser of short options.
#[derive(Debug)]
pub struct ShortOptions<'a> {
    words: &'a [String],
    /// Index of the next word.
    position: usize,
    /// Byte offset in that word, if several letters share it; 0 at the start of a word.
    offset: usize,
    /// Returns whether the letter's option takes a value; None for an unknown letter.
    argument: fn(char) -> Option<Argument>,
}

/// Whether an option takes a value, as in `struct option` of `getopt_long`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A value in the same word or the next.
    Required,
    /// A value in the same word, or none.
    Optional,
    None,
}

/// One parsed element of the command line.
#[derive(Debug, PartialEq, Eq)]
pub enum ShortItem<'a> {
    /// An option and its value, which is empty for an option without one.
    Option(char, &'a str),
    /// A brunt option, without `--brunt-`.
    BruntOption(&'a str),
    Unknown(char),
    /// An option without its required value.
    MissingValue(char),
}

impl<'a> ShortOptions<'a> {
    /// Starts at the first word.
    pub fn new(words: &'a [String], argument: fn(char) -> Option<Argument>) -> Self {
        Self { words, position: 0, offset: 0, argument }
    }

    /// Returns the words that were not read.
    pub fn rest(&self) -> &'a [String] {
        &self.words[self.position.min(self.words.len())..]
    }

    /// Returns the next word, for example the value of a brunt option.
    pub fn take_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.position)?;
        self.position += 1;
        Some(word)
    }

    /// Parses the next option; None at the end of the options.
    pub fn next(&mut self) -> Option<ShortItem<'a>> {
        let word: &'a str = self.words.get(self.position)?;
        if self.offset == 0 {
            if let Some(ours) = word.strip_prefix("--brunt-") {
                self.position += 1;
                return Some(ShortItem::BruntOption(ours));
            }
            if word == "--" {
                self.position += 1;
                return None;
            }
            if !word.starts_with('-') || word == "-" {
                return None;
            }
            self.offset = 1;
        }
        let letter = word[self.offset..].chars().next()?;
        let rest_of_word = &word[self.offset + letter.len_utf8()..];
        let argument = (self.argument)(letter);
        if rest_of_word.is_empty()
            || matches!(argument, Some(Argument::Required | Argument::Optional))
        {
            self.position += 1;
            self.offset = 0;
        } else {
            self.offset += letter.len_utf8();
        }
        Some(match argument {
            None => ShortItem::Unknown(letter),
            Some(Argument::None) => ShortItem::Option(letter, ""),
            Some(Argument::Required) if rest_of_word.is_empty() => self
                .take_word()
                .map_or(ShortItem::MissingValue(letter), |v| ShortItem::Option(letter, v)),
            Some(Argument::Required | Argument::Optional) => {
                ShortItem::Option(letter, rest_of_word)
            }
        })
    }
}

/// Parses a number like `atoi`: blanks, a sign, and leading digits; 0 without digits.
/// Saturates at `i32::MAX`, with either sign.
pub fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = digits.bytes().take_while(u8::is_ascii_digit);
    let number = digits
        .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    let number = number.min(i64::from(i32::MAX));
    if negative { -number } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, Vec<String>) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut short = ShortOptions::new(&words, |letter| match letter {
            'n' => Some(Argument::Required),
            'k' | 'q' => Some(Argument::None),
            _ => None,
        });
        let mut seen = String::new();
        while let Some(next) = short.next() {
            let what = match next {
                ShortItem::Option(letter, value) => format!("{letter}({value})"),
                ShortItem::BruntOption(word) => {
                    format!("ours({word}={})", short.take_word().unwrap_or(""))
                }
                ShortItem::Unknown(letter) => format!("?{letter}"),
                ShortItem::MissingValue(letter) => format!("!{letter}"),
            };
            seen.push_str(&what);
        }
        (seen, short.rest().to_vec())
    }

    #[test]
    fn options_may_be_separate_joined_or_attached_to_values() {
        for (line, seen, rest) in [
            ("-k -n 10 u", "k()n(10)", "u"),
            ("-kn10 u", "k()n(10)", "u"),
            ("-n -k u", "n(-k)", "u"),
            ("-kq u -n 1", "k()q()", "u -n 1"),
            ("-J u", "?J", "u"),
            ("-n", "!n", ""),
            ("-k -- -n", "k()", "-n"),
            ("- u", "", "- u"),
            ("--brunt-json f -k u", "ours(json=f)k()", "u"),
            ("-n --brunt-json u", "n(--brunt-json)", "u"),
        ] {
            assert_eq!(
                read(line),
                (seen.to_owned(), rest.split_whitespace().map(str::to_owned).collect()),
                "{line}"
            );
        }
    }

    #[test]
    fn numbers_are_parsed_like_atoi() {
        for (text, number) in
            [("12", 12), ("-3", -3), (" +7x", 7), ("x", 0), ("", 0), ("99999999999", 2_147_483_647)]
        {
            assert_eq!(atoi(text), number, "{text}");
        }
    }
}
