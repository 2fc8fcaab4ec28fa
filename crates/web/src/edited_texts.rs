//! The latest texts in editors, by their digests. A browser sends its text once, and then only edits of it.

use aws_lc_rs::digest::{SHA256, digest};
use brunt_model::numbers::hexadecimal;
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of texts that are kept. Each tab with an editor needs the latest one.
const MOST_TEXTS: usize = 16;
/// Maximum size of all texts that are kept, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// The latest texts that were checked, by their digests.
#[derive(Debug, Default)]
pub struct EditedTexts(VecDeque<(String, Arc<str>)>);

impl EditedTexts {
    /// Keeps a text, and returns its digest.
    pub fn keep(&mut self, text: String) -> String {
        let revision = hexadecimal(digest(&SHA256, text.as_bytes()).as_ref());
        self.0.retain(|(known, _)| *known != revision);
        self.0.push_back((revision.clone(), text.into()));
        let size = |texts: &VecDeque<(String, Arc<str>)>| -> usize {
            texts.iter().map(|(_, text)| text.len()).sum()
        };
        while self.0.len() > MOST_TEXTS || (self.0.len() > 1 && size(&self.0) > MAX_TEXT_BYTES) {
            self.0.pop_front();
        }
        revision
    }

    /// Returns the text with a digest; None if it is not kept.
    pub fn get(&self, revision: &str) -> Option<Arc<str>> {
        self.0.iter().find(|(known, _)| known == revision).map(|(_, text)| Arc::clone(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_texts_are_kept() {
        let mut texts = EditedTexts::default();
        let first = texts.keep("first".to_owned());
        for number in 1..MOST_TEXTS {
            texts.keep(number.to_string());
        }
        assert!(texts.get(&first).is_some());
        // A text that is used again is the latest one.
        texts.keep("first".to_owned());
        texts.keep("another".to_owned());
        assert_eq!(texts.get(&first).as_deref(), Some("first"));
        let long = texts.keep("x".repeat(MAX_TEXT_BYTES + 1));
        assert_eq!(texts.0.len(), 1);
        assert!(texts.get(&long).is_some());
    }
}
