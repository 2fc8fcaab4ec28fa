//! Elements of a plan, and their forms.

use crate::plan_edit::EditError;
use serde::Serialize;

/// An element of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Unique path of the element; empty for the root.
    pub path: String,
    /// Kind of the element, such as `get` or `HTTP Request`.
    pub kind: String,
    /// Name of the element, or its most important value.
    pub title: String,
    /// First line of its text, from 1.
    pub line: usize,
    /// Last line of its text.
    pub end_line: usize,
    /// True if it takes part in a run.
    pub enabled: bool,
    /// Type of the element: lists have elements of one type.
    pub r#type: &'static str,
    /// Path of the list that contains it; None if it cannot be moved, copied and disabled.
    pub list: Option<String>,
    /// Index in the list.
    pub index: usize,
    /// Lists of the element that can have further elements.
    pub lists: Vec<ElementList>,
    /// Elements in it, in the order of the text.
    pub children: Vec<Element>,
}

/// A list within an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ElementList {
    /// Path of the list.
    pub path: String,
    /// Type of its elements.
    pub r#type: &'static str,
}

/// The form of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ElementForm {
    /// Path of the element.
    pub path: String,
    /// Kind of the element.
    pub kind: String,
    /// Name of the element.
    pub title: String,
    /// Description of the kind.
    pub about: String,
    /// Fields, in the order of the docs.
    pub fields: Vec<Field>,
    /// Places where elements can be added.
    pub lists: Vec<Addition>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Path of the value, for edits.
    pub path: String,
    /// Name of the field.
    pub name: String,
    /// Description of the field.
    pub about: String,
    /// Form of the value.
    pub form: FieldForm,
    /// Words of a choice.
    pub words: Vec<String>,
    /// Default value, or a description of it.
    pub default: Option<String>,
    /// The value as text; None if the plan has none.
    pub value: Option<String>,
    /// True if the field does not show all of the value, so that it cannot be changed here.
    pub cut: bool,
    /// Line of the value.
    pub line: Option<usize>,
    /// True if the element needs the value.
    pub required: bool,
}

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldForm {
    /// A text on one line, such as a URL.
    Text,
    /// A text that may have several lines, such as a script.
    Lines,
    /// One of several words.
    Choice,
    /// `true` or `false`; an unset value is the default.
    Switch,
    /// A number, or an expression such as `${users}`.
    Number,
    /// A value in each line.
    List,
    /// `name: value` in each line.
    Pairs,
    /// A value of any type, as YAML.
    Yaml,
}

/// A place where an element can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Addition {
    /// Path of the list or map.
    pub path: String,
    /// Index at which the element would be.
    pub index: usize,
    /// Name of the list.
    pub name: String,
    /// Kinds of elements that it can have.
    pub kinds: Vec<AddedKind>,
}

/// A kind of element that can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddedKind {
    /// Name of the kind.
    pub name: String,
    /// Description of the kind.
    pub about: String,
}

/// Longest value in a form, in bytes. Longer ones are edited in the text.
const MAX_VALUE_BYTES: usize = 32 << 10;

impl ElementForm {
    /// The form of an element that has neither settings nor lists.
    pub fn empty(path: &str, kind: &str) -> Self {
        Self {
            path: path.to_owned(),
            kind: kind.to_owned(),
            title: String::new(),
            about: String::new(),
            fields: Vec::new(),
            lists: Vec::new(),
        }
    }
}

impl Field {
    /// A field without a value.
    pub fn new(path: String, name: &str, form: FieldForm) -> Self {
        Self {
            path,
            name: name.to_owned(),
            about: String::new(),
            form,
            words: Vec::new(),
            default: None,
            value: None,
            cut: false,
            line: None,
            required: false,
        }
    }

    /// Refuses the change of a value that the form does not show as a whole.
    ///
    /// # Errors
    ///
    /// Only a part of the value is in the field.
    pub fn ensure_editable(&self) -> Result<(), EditError> {
        if self.cut {
            let name = &self.name;
            return Err(EditError(format!(
                "`{name}`: the form has no place for this value; edit it in the text"
            )));
        }
        Ok(())
    }

    /// True if the field has exactly this value.
    pub fn has_value(&self, value: &str) -> bool {
        !self.cut && self.value.as_deref() == Some(value)
    }

    /// Sets the value, or its beginning.
    #[must_use]
    pub fn with_value(mut self, value: &str) -> Self {
        let end = value.floor_char_boundary(MAX_VALUE_BYTES);
        self.cut = end < value.len();
        self.value = Some(value[..end].to_owned());
        self
    }
}
