//! Shows the text of a plan as a tree of elements with forms, and changes the text.
//!
//! ```text
//! text ─▶ PlanText ─tree─▶ Element, with the lines of its text
//!                  ─form─▶ ElementForm: fields of one element
//!                  ─apply(PlanEdit)─▶ text, with the same bytes outside the edited ranges
//! ```
//!
//! The text is the only state: there is no model of a plan that is written back. Plan files (YAML) are built in.
//! Callers pass further formats, such as that of `JMeter`, as rows ([`PlanFormat`]). All have the same tree and the same edits.
//!
//! * `element`: elements and their forms. `plan_edit`: edits. `item_paths`: paths of moved items. `editable_plan`: formats and
//!   what they have in common. `yaml`: plan files.

mod editable_plan;
pub mod element;
pub mod item_paths;
pub mod plan_edit;
mod yaml;

pub use editable_plan::{EditablePlan, PlanFormat};
pub use element::{Element, ElementForm};
pub use plan_edit::{EditError, EditedText, PlanEdit, apply};

use std::any::Any;
use yaml::YamlPlan;

/// The text of a plan, read.
#[derive(Debug)]
pub struct PlanText(Box<dyn EditablePlan>);

impl PlanText {
    /// Reads the text of a plan. Line breaks are LF. `file` is its name. Its ending chooses one of the
    /// `formats`, or else it is a plan file.
    ///
    /// # Errors
    ///
    /// The text cannot be read; a check of the plan gives the reason with its place.
    pub fn read(file: &str, text: &str, formats: &[PlanFormat]) -> Result<Self, EditError> {
        Ok(Self(match formats.iter().find(|format| format.has_file(file)) {
            Some(format) => (format.read)(text)?,
            None => Box::new(YamlPlan::read(file, text)?),
        }))
    }

    /// The tree of the plan's elements.
    pub fn tree(&self) -> Element {
        self.0.tree()
    }

    /// The form of the element at a path; None if there is no such element.
    pub fn form(&self, path: &str) -> Option<ElementForm> {
        self.0.form(path)
    }

    /// The plan, if it has the type of a format.
    pub fn downcast<P: EditablePlan>(&self) -> Option<&P> {
        let plan: &dyn Any = &*self.0;
        plan.downcast_ref()
    }

    /// Returns the text after an edit.
    fn apply(&self, edit: &PlanEdit) -> Result<EditedText, EditError> {
        self.0.apply(edit)
    }
}
