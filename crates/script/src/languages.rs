//! The languages of scripts in the core.
//!
//! A script has a limited number of operations. It reaches neither processes nor the network. Its
//! time is time of the user: a request after it begins later, and this is lag of that request.

#[cfg(feature = "javascript")]
mod javascript;

use crate::texts::script::{LanguageRow, Languages};

/// The languages that this crate was built with.
const CORE: &[LanguageRow] = &[
    #[cfg(feature = "javascript")]
    javascript::ROW,
];

impl Languages {
    /// The languages of the core: JavaScript.
    pub const CORE: Self = Self::with(&[]);

    /// The languages of the core, and further ones.
    pub const fn with(further: &'static [LanguageRow]) -> Self {
        Self::of(CORE, further)
    }
}
