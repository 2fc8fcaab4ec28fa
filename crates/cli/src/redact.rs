//! The redactor of this process: that of the opened store, otherwise one with a temporary key.
//!
//! Out of scope: the rules, which are in the store. Messages between processes of one run stay
//! exact, and so does the output that drop-ins share with the original tools.

use brunt_model::Plan;
use brunt_model::sync::IgnorePoison;
use brunt_store::{Redactor, Store};
use std::sync::{Arc, Mutex};

// Global, because the signal thread and the parser of arguments print messages without a context.
static CURRENT: Mutex<Option<Arc<Redactor>>> = Mutex::new(None);

/// The redactor of this process.
pub fn current() -> Arc<Redactor> {
    let mut current = CURRENT.lock().ignore_poison();
    Arc::clone(
        current.get_or_insert_with(|| with_argument_secrets(Arc::new(Redactor::with_random_key()))),
    )
}

/// Uses the redactor of this store from now on.
pub fn adopt(store: &Store) {
    let redactor = with_argument_secrets(Arc::clone(store.redactor()));
    let earlier = CURRENT.lock().ignore_poison().replace(Arc::clone(&redactor));
    if let Some(earlier) = earlier {
        // Secrets that were registered before must be found in later texts, too.
        redactor.add_secrets_of(&earlier);
    }
}

/// Redacts secrets in a text for the user.
pub fn text(text: &str) -> String {
    current().text(text)
}

/// Registers the secrets of a plan, so that they are found in texts about it.
pub fn know(plan: &Plan) {
    // Redacting registers the secrets. The redacted copy is not needed.
    current().plan(&mut plan.clone());
}

/// Registers the secrets in the tree of a plan file, before a message can contain them.
pub fn know_tree(tree: &serde_json::Value) {
    current().data(&mut tree.clone());
}

/// Registers secrets of the command line, which messages may contain.
fn with_argument_secrets(redactor: Arc<Redactor>) -> Arc<Redactor> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    redactor.words(&words);
    redactor
}
