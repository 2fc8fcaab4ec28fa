//! What plans of both formats have in common.

use crate::element::{Element, ElementForm};
use crate::plan_edit::{EditError, EditedText, PlanEdit};
use brunt_jmx::JmxDocument;

/// A format of plans.
pub trait EditablePlan: Send + Sync + std::fmt::Debug {
    /// The tree of the plan's elements.
    fn tree(&self) -> Element;

    /// The form of the element at a path; None if there is no such element.
    fn form(&self, path: &str) -> Option<ElementForm>;

    /// Returns the text with one edit.
    fn apply(&self, edit: &PlanEdit) -> Result<EditedText, EditError>;

    /// The document, if it is a plan of `JMeter`.
    fn jmx_document(&self) -> Option<&JmxDocument> {
        None
    }
}
