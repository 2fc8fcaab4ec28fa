//! Short ids: seven letters and digits that nobody mistakes for each other.
//!
//! Out of scope: where an id is claimed; that is a transaction of the index.

use rand::RngExt;

/// How long an id is: 31⁷ are 27 thousand million.
pub const LENGTH: usize = 7;

/// Small letters and digits without those that look alike: no `0 o`, no `1 i l`. The word `last` is thus no id.
const LETTERS: &[u8; 31] = b"23456789abcdefghjkmnpqrstuvwxyz";

/// How often an id is drawn before something must be wrong.
pub(crate) const DRAWS: usize = 20;

/// No id could be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no free id was found in {DRAWS} draws")]
pub struct IdError;

/// Draws an id.
pub fn draw() -> String {
    let mut random = rand::rng();
    (0..LENGTH).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}

/// Whether this can be an id, and hence a file's name.
pub fn is_id(word: &str) -> bool {
    word.len() == LENGTH && is_part_of_id(word)
}

/// Whether an id may begin with this.
pub fn is_part_of_id(word: &str) -> bool {
    !word.is_empty() && word.len() <= LENGTH && word.bytes().all(|letter| LETTERS.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ids_and_words_are_not() {
        assert!((0..100).all(|_| is_id(&draw())));
        for word in ["last", "", "../../x", "ABCDEFG", "abcdefgh", "1abcdef"] {
            assert!(!is_id(word), "{word}");
        }
    }
}
