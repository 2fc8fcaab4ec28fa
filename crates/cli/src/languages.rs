//! The languages of scripts that this program has.

#[cfg(feature = "compat")]
pub use brunt_dropin::LANGUAGES;

/// The languages of the core.
#[cfg(not(feature = "compat"))]
pub const LANGUAGES: brunt_script::Languages = brunt_script::Languages::CORE;
