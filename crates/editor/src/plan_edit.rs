//! Edits of a plan.

use crate::{PlanFormat, PlanText};
use serde::Deserialize;

/// An edit of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum PlanEdit {
    /// Sets the value of a field. An empty value removes it.
    Set {
        /// Path of the field.
        path: String,
        /// Its value, as the form shows it.
        value: String,
    },
    /// Removes elements, or values of fields.
    Remove {
        /// Paths of the elements or fields.
        paths: Vec<String>,
    },
    /// Adds a new element of a kind.
    Add {
        /// Path of the list or map.
        list: String,
        /// Index of the element in a list.
        index: usize,
        /// Kind of the element.
        kind: String,
    },
    /// Moves elements to a list.
    Move {
        /// Paths of the elements.
        paths: Vec<String>,
        /// Path of the list.
        list: String,
        /// Index at which they are inserted, before anything is removed.
        index: usize,
    },
    /// Copies elements to a list.
    Copy {
        /// Paths of the elements.
        paths: Vec<String>,
        /// Path of the list.
        list: String,
        /// Index at which they are inserted.
        index: usize,
    },
    /// Enables or disables elements.
    Enable {
        /// Paths of the elements.
        paths: Vec<String>,
        /// True to enable them.
        enabled: bool,
    },
}

/// Maximum number of elements in one request, because most edits read the text again for each of them.
const MOST_ELEMENTS: usize = 200;

impl PlanEdit {
    /// Number of elements that it changes.
    fn elements(&self) -> usize {
        match self {
            Self::Set { .. } | Self::Add { .. } => 1,
            Self::Remove { paths }
            | Self::Move { paths, .. }
            | Self::Copy { paths, .. }
            | Self::Enable { paths, .. } => paths.len(),
        }
    }
}

/// A text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedText {
    /// The whole text after the edit.
    pub text: String,
    /// Paths of the elements that the edit made or changed.
    pub select: Vec<String>,
}

/// The reason why an edit is not possible, as a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EditError(pub String);

impl EditError {
    /// The error that a path leads to no element.
    pub fn no_element(path: &str) -> Self {
        Self(format!("`{path}`: the plan has no such element"))
    }
}

/// Returns the text of a plan after several edits in order.
///
/// # Errors
///
/// One of the edits is not possible. Then none is applied.
pub fn apply(
    file: &str,
    text: &str,
    edits: &[PlanEdit],
    formats: &[PlanFormat],
) -> Result<EditedText, EditError> {
    let elements: usize = edits.iter().map(PlanEdit::elements).sum();
    if elements > MOST_ELEMENTS {
        return Err(EditError(format!(
            "{elements} elements are selected; change at most {MOST_ELEMENTS} at once"
        )));
    }
    let mut result = EditedText { text: text.to_owned(), select: Vec::new() };
    for edit in edits {
        result = PlanText::read(file, &result.text, formats)?.apply(edit)?;
    }
    Ok(result)
}
