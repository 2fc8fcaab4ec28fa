//! The redactor of this process: that of the store that it has opened, or else one with a key of its own.
//!
//! Out of scope: the rules, which are the store's. What processes of one run tell each other, and the output of drop-ins that
//! other tools have as well, stay exact.

use brunt_model::Plan;
use brunt_store::{Redactor, Store};
use std::sync::{Arc, Mutex, PoisonError};

static CURRENT: Mutex<Option<Arc<Redactor>>> = Mutex::new(None);

/// The redactor of this process.
pub fn current() -> Arc<Redactor> {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(current.get_or_insert_with(|| knowing_arguments(Arc::new(Redactor::of_process()))))
}

/// From now on secrets are redacted as in this store.
pub fn adopt(store: &Store) {
    let redactor = knowing_arguments(Arc::clone(store.redactor()));
    let earlier = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::clone(&redactor));
    if let Some(earlier) = earlier {
        redactor.know_those_of(&earlier);
    }
}

/// A text for people without secrets.
pub fn text(text: &str) -> String {
    current().text(text)
}

/// Makes the secrets of a plan known, so that they are found in texts that are made of it.
pub fn know(plan: &Plan) {
    current().plan(&mut plan.clone());
}

/// Makes the secrets in the tree of a plan file known, before a message may repeat them.
pub fn know_tree(tree: &serde_json::Value) {
    current().data(&mut tree.clone());
}

/// Messages may repeat what the command line says.
fn knowing_arguments(redactor: Arc<Redactor>) -> Arc<Redactor> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    redactor.words(&words);
    redactor
}
