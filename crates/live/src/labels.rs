//! Selects the labels and transactions that have figures.

use brunt_model::live_output::LabelFilter;
use brunt_script::pattern::Pattern;

/// The regular expression of a label selection is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the regular expression for labels whose figures are sent: {0}")]
pub struct LabelPatternError(String);

/// Labels and transactions that have figures.
pub enum LabelSelection {
    None,
    All,
    Named(Vec<String>),
    Pattern(Pattern),
}

impl LabelSelection {
    /// Compiles the selection.
    pub fn new(filter: &LabelFilter) -> Result<Self, LabelPatternError> {
        match filter {
            LabelFilter::None => Ok(Self::None),
            LabelFilter::All => Ok(Self::All),
            LabelFilter::Named(names) => Ok(Self::Named(names.clone())),
            LabelFilter::Containing(regex) => {
                Pattern::new(regex).map(Self::Pattern).map_err(LabelPatternError)
            }
            LabelFilter::Matching(regex) => {
                Pattern::whole(regex).map(Self::Pattern).map_err(LabelPatternError)
            }
        }
    }

    /// True if this label has figures.
    pub fn has(&self, label: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == label),
            Self::Pattern(pattern) => pattern.is_found(label),
        }
    }
}
