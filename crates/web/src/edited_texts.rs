//! The latest texts in editors, by their digests. A browser sends its text once, and then only edits of it.

use aws_lc_rs::digest::{SHA256, digest};
use brunt_editor::PlanText;
use brunt_model::numbers::hexadecimal;
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of texts that are kept. Each tab with an editor needs the latest one.
const MOST_TEXTS: usize = 16;
/// Maximum size of all texts that are kept, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 20;
/// Number of plans that are kept, those of the latest texts. A plan is several times as large as its text.
const MOST_PLANS: usize = 2;

/// The latest texts that were checked, the newest one at the end.
#[derive(Debug, Default)]
pub struct EditedTexts(VecDeque<EditedText>);

/// A text in an editor.
#[derive(Debug, Clone)]
pub struct EditedText {
    /// Digest of the text and of the name of its file.
    revision: String,
    /// The text.
    pub text: Arc<str>,
    /// Its plan; None if it is not kept, or if the text has none.
    pub plan: Option<Arc<PlanText>>,
}

impl EditedTexts {
    /// Keeps a text of a file, and its plan. Returns its digest.
    pub fn keep(&mut self, file: &str, text: String, plan: Option<PlanText>) -> String {
        let revision = hexadecimal(digest(&SHA256, format!("{file}\0{text}").as_bytes()).as_ref());
        self.0.retain(|known| known.revision != revision);
        let plan = plan.map(Arc::new);
        self.0.push_back(EditedText { revision: revision.clone(), text: text.into(), plan });
        if let Some(older) = self.0.iter_mut().nth_back(MOST_PLANS) {
            older.plan = None;
        }
        let size = |texts: &VecDeque<EditedText>| -> usize {
            texts.iter().map(|known| known.text.len()).sum()
        };
        while self.0.len() > MOST_TEXTS || (self.0.len() > 1 && size(&self.0) > MAX_TEXT_BYTES) {
            self.0.pop_front();
        }
        revision
    }

    /// Returns the text with a digest; None if it is not kept.
    pub fn get(&self, revision: &str) -> Option<EditedText> {
        self.0.iter().find(|known| known.revision == revision).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(texts: &mut EditedTexts, text: &str) -> String {
        let plan = PlanText::read("plan.yaml", text, &[]).ok();
        texts.keep("plan.yaml", text.to_owned(), plan)
    }

    #[test]
    fn the_latest_texts_are_kept() {
        let mut texts = EditedTexts::default();
        let first = keep(&mut texts, "first");
        for number in 1..MOST_TEXTS {
            keep(&mut texts, &number.to_string());
        }
        assert!(texts.get(&first).is_some());
        // A text that is used again is the latest one.
        keep(&mut texts, "first");
        keep(&mut texts, "another");
        assert_eq!(texts.get(&first).map(|known| known.text).as_deref(), Some("first"));
        assert_ne!(texts.keep("plan.jmx", "first".to_owned(), None), first);
        let long = texts.keep("plan.yaml", "x".repeat(MAX_TEXT_BYTES + 1), None);
        assert_eq!(texts.0.len(), 1);
        assert!(texts.get(&long).is_some());
    }

    #[test]
    fn the_plans_of_the_latest_texts_are_kept() {
        let mut texts = EditedTexts::default();
        let plans = ["vars: {a: 1}\n", "vars: {a: 2}\n", "vars: {a: 3}\n"];
        let revisions = plans.map(|plan| keep(&mut texts, plan));
        let has_plan = revisions.map(|revision| texts.get(&revision).unwrap().plan.is_some());
        assert_eq!(has_plan, [false, true, true]);
    }
}
