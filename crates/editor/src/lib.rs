//! Shows the text of a plan as a tree of elements with forms, and changes the text.
//!
//! ```text
//! text ─▶ PlanText ─tree─▶ Element, with the lines of its text
//!                  ─form─▶ ElementForm: fields of one element
//!                  ─apply(PlanEdit)─▶ text, with the same bytes outside the edited ranges
//! ```
//!
//! The text is the only state: there is no model of a plan that is written back. Plan files (YAML) and plans of `JMeter` (.jmx)
//! have the same tree and the same edits.
//!
//! * `element`: elements and their forms. `plan_edit`: edits. `item_paths`: paths of moved items. `editable_plan`: what the two
//!   formats have in common. `yaml`, `jmx`: these formats.

mod editable_plan;
pub mod element;
mod item_paths;
mod jmx;
pub mod plan_edit;
mod yaml;

pub use element::{Element, ElementForm};
pub use plan_edit::{EditError, EditedText, PlanEdit, apply};

use brunt_jmx::JmxDocument;
use editable_plan::EditablePlan;
use jmx::JmxPlan;
use yaml::YamlPlan;

/// The text of a plan, read.
#[derive(Debug)]
pub struct PlanText(Box<dyn EditablePlan>);

impl PlanText {
    /// Reads the text of a plan. Line breaks are LF. `file` is its name; the ending decides the format.
    ///
    /// # Errors
    ///
    /// The text cannot be read; a check of the plan gives the reason with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, EditError> {
        Ok(Self(if is_jmx(file) {
            Box::new(JmxPlan::read(text)?)
        } else {
            Box::new(YamlPlan::read(file, text)?)
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

    /// The document, if it is a plan of `JMeter`.
    pub fn jmx_document(&self) -> Option<&JmxDocument> {
        self.0.jmx_document()
    }

    /// Returns the text after an edit.
    fn apply(&self, edit: &PlanEdit) -> Result<EditedText, EditError> {
        self.0.apply(edit)
    }
}

/// True if a file is a plan of `JMeter`, by its name.
pub fn is_jmx(file: &str) -> bool {
    let ending = std::path::Path::new(file).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
}
