//! Short options, read one by one as getopt reads them: `-k`, `-n 10`, `-n10`, `-kn10`, up to the first other word.
//!
//! A word that begins with `--brunt-` where an option may stand is one of ours ([`side`](super::side)); no tool has such.
//! [`long`] reads long names too, as GNU does. It knows no option's meaning, and of each only whether it
//! takes a value.

pub mod long;

/// A command line that is being read.
#[derive(Debug)]
pub struct Short<'a> {
    words: &'a [String],
    /// The word that is read next.
    at: usize,
    /// Where in that word, where options stand together.
    within: usize,
    /// Whether an option takes a value; None: there is no such option.
    takes: fn(char) -> Option<Takes>,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It does.
    Value,
    /// It may have one, which then stands in the same word.
    Attached,
    /// It does not.
    Nothing,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// An option, and its value: empty where it takes none.
    Option(char, &'a str),
    /// A word of ours, without the dashes and the prefix.
    Ours(&'a str),
    /// There is no such option.
    Unknown(char),
    /// It takes a value, and there is none.
    Bare(char),
}

impl<'a> Short<'a> {
    /// Begins at the first word.
    pub fn new(words: &'a [String], takes: fn(char) -> Option<Takes>) -> Self {
        Self { words, at: 0, within: 0, takes }
    }

    /// The words that were not read.
    pub fn rest(&self) -> &'a [String] {
        &self.words[self.at.min(self.words.len())..]
    }

    /// The next word, whatever it is: the value of one of ours.
    pub fn take_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// The next option; None: there are no more.
    pub fn next(&mut self) -> Option<Next<'a>> {
        let word: &'a str = self.words.get(self.at)?;
        if self.within == 0 {
            if let Some(ours) = word.strip_prefix("--brunt-") {
                self.at += 1;
                return Some(Next::Ours(ours));
            }
            if word == "--" {
                self.at += 1;
                return None;
            }
            if !word.starts_with('-') || word == "-" {
                return None;
            }
            self.within = 1;
        }
        let letter = word[self.within..].chars().next()?;
        let behind = &word[self.within + letter.len_utf8()..];
        let takes = (self.takes)(letter);
        if behind.is_empty() || matches!(takes, Some(Takes::Value | Takes::Attached)) {
            self.at += 1;
            self.within = 0;
        } else {
            self.within += letter.len_utf8();
        }
        Some(match takes {
            None => Next::Unknown(letter),
            Some(Takes::Nothing) => Next::Option(letter, ""),
            Some(Takes::Value) if behind.is_empty() => {
                self.take_word().map_or(Next::Bare(letter), |v| Next::Option(letter, v))
            }
            Some(Takes::Value | Takes::Attached) => Next::Option(letter, behind),
        })
    }
}

/// A number as atoi reads one: blanks, a sign, and the digits that the text begins with; 0 where there are none.
pub fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = digits.bytes().take_while(u8::is_ascii_digit);
    let number = digits.fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    let number = number.min(i64::from(i32::MAX));
    if negative { -number } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, Vec<String>) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut short = Short::new(&words, |letter| match letter {
            'n' => Some(Takes::Value),
            'k' | 'q' => Some(Takes::Nothing),
            _ => None,
        });
        let mut seen = String::new();
        while let Some(next) = short.next() {
            let what = match next {
                Next::Option(letter, value) => format!("{letter}({value})"),
                Next::Ours(word) => format!("ours({word}={})", short.take_word().unwrap_or("")),
                Next::Unknown(letter) => format!("?{letter}"),
                Next::Bare(letter) => format!("!{letter}"),
            };
            seen.push_str(&what);
        }
        (seen, short.rest().to_vec())
    }

    #[test]
    fn options_stand_alone_together_and_with_their_values() {
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
            assert_eq!(read(line), (seen.to_owned(), rest.split_whitespace().map(str::to_owned).collect()), "{line}");
        }
    }

    #[test]
    fn numbers_are_what_atoi_makes_of_them() {
        for (text, number) in [("12", 12), ("-3", -3), (" +7x", 7), ("x", 0), ("", 0), ("99999999999", 2_147_483_647)] {
            assert_eq!(atoi(text), number, "{text}");
        }
    }
}
