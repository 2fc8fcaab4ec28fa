//! Texts of Groovy.

/// A text in single quotes, in which Groovy fills in nothing; `${…}` of the plan is left alone.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n").replace('\r', r"\r");
    format!("'{escaped}'")
}
