//! Validates UTF-8 in pieces of any size (RFC 6455 section 8.1).

/// The beginning of a character that continues in the next piece.
#[derive(Debug, Default)]
pub struct Utf8Validator {
    partial: [u8; 4],
    length: usize,
}

impl Utf8Validator {
    /// Validates a piece. False if it is not UTF-8.
    pub fn push(&mut self, mut piece: &[u8]) -> bool {
        while self.length > 0 {
            let Some((first, rest)) = piece.split_first() else { return true };
            self.partial[self.length] = *first;
            self.length += 1;
            piece = rest;
            match std::str::from_utf8(&self.partial[..self.length]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        let Err(error) = std::str::from_utf8(piece) else { return true };
        let tail = &piece[error.valid_up_to()..];
        if error.error_len().is_some() {
            return false;
        }
        self.partial[..tail.len()].copy_from_slice(tail);
        self.length = tail.len();
        true
    }

    /// True if no character is incomplete.
    pub fn is_whole(&self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_utf8(bytes: &[u8], piece: usize) -> bool {
        let mut text = Utf8Validator::default();
        bytes.chunks(piece).all(|piece| text.push(piece)) && text.is_whole()
    }

    #[test]
    fn characters_may_be_split() {
        let text = "a\u{e9}\u{20ac}\u{1f980}".as_bytes();
        for piece in 1..=text.len() {
            assert!(is_utf8(text, piece));
            assert!(
                (1..text.len())
                    .all(|at| is_utf8(&text[..at], piece)
                        == std::str::from_utf8(&text[..at]).is_ok())
            );
        }
    }

    proptest! {
        #[test]
        fn pieces_are_valid_if_the_whole_text_is_valid(bytes in prop::collection::vec(prop::sample::select(
            vec![0x00, 0x41, 0x7f, 0x80, 0x82, 0x9f, 0xa0, 0xbf, 0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xff]), 0..12),
            piece in 1_usize..5) {
            prop_assert_eq!(is_utf8(&bytes, piece), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
