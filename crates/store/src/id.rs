//! Draws short ids: seven letters and digits that are easy to distinguish.
//!
//! Out of scope: claiming an id; that is a transaction of the index.

use rand::RngExt;

/// Number of characters in an id. There are 31⁷ ids, 27,000 million.
pub const LENGTH: usize = 7;

/// Lower-case letters and digits, without those that look alike: no `0 o`, no `1 i l`. The word
/// `last` is therefore never an id.
const LETTERS: &[u8; 31] = b"23456789abcdefghjkmnpqrstuvwxyz";

/// Maximum number of draws for one id. More collisions in a row mean that something is wrong.
pub(crate) const DRAWS: usize = 20;

/// No free id was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no free id was found in {DRAWS} draws")]
pub struct IdError;

/// Draws a random id.
pub fn draw() -> String {
    let mut random = rand::rng();
    (0..LENGTH).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

/// True if `word` has the form of an id. Only such a word may become part of a file name.
pub fn is_id(word: &str) -> bool {
    word.len() == LENGTH && is_part_of_id(word)
}

/// True if an id may begin with `word`.
pub fn is_part_of_id(word: &str) -> bool {
    !word.is_empty() && word.len() <= LENGTH && word.bytes().all(|letter| LETTERS.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_words_are_distinguished() {
        assert!((0..100).all(|_| is_id(&draw())));
        for word in ["last", "", "../../x", "ABCDEFG", "abcdefgh", "1abcdef"] {
            assert!(!is_id(word), "{word}");
        }
    }
}
