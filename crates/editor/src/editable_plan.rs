//! Formats of plans, and what their plans have in common.

use crate::element::{Element, ElementForm};
use crate::plan_edit::{EditError, EditedText, PlanEdit};
use std::any::Any;
use std::path::Path;

/// A format of plans other than plan files.
#[derive(Debug, Clone, Copy)]
pub struct PlanFormat {
    /// Ending of its files, in lower case.
    pub ending: &'static str,
    /// Reads the text of a plan.
    pub read: fn(&str) -> Result<Box<dyn EditablePlan>, EditError>,
}

impl PlanFormat {
    /// True if a file has this format, by its name.
    pub fn has_file(&self, file: &str) -> bool {
        let ending = Path::new(file).extension();
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case(self.ending))
    }
}

/// A plan of a format.
pub trait EditablePlan: Any + Send + Sync + std::fmt::Debug {
    /// The tree of the plan's elements.
    fn tree(&self) -> Element;

    /// The form of the element at a path; None if there is no such element.
    fn form(&self, path: &str) -> Option<ElementForm>;

    /// Returns the text with one edit.
    ///
    /// # Errors
    ///
    /// The edit is not possible.
    fn apply(&self, edit: &PlanEdit) -> Result<EditedText, EditError>;
}
