//! A secret text that admits its sender.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand;
use brunt_model::numbers::hexadecimal;

/// Bytes of a token.
const TOKEN_BYTES: usize = 32;

/// A secret, as text.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Draws a token.
    pub fn random() -> Result<Self, Unspecified> {
        let mut bytes = [0; TOKEN_BYTES];
        rand::fill(&mut bytes)?;
        Ok(Self::from_bytes(&bytes))
    }

    /// Returns a token of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(hexadecimal(bytes))
    }

    /// Text of the token.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Creates a token for tests.
    #[cfg(test)]
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// True for the text of the token.
    pub fn is(&self, other: &str) -> bool {
        // Takes the same time for every text.
        verify_slices_are_equal(self.0.as_bytes(), other.as_bytes()).is_ok()
    }
}
