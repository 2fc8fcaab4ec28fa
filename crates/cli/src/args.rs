//! Arguments that several commands share: settings of runs, searches and
//! comparisons, reports, and the store.
//!
//! * [`options`]: options from `spec`'s tables of settings.
//! * [`run`]: arguments of `brunt run` and similar commands.
//! * [`settings`]: settings of experiments, searches and comparisons.
//! * [`output`]: checks requests for reports. [`store`]: the directory of the store.

pub mod options;
pub mod output;
pub mod run;
pub mod settings;
pub mod store;

pub use run::RunArgs;

/// Protects `{n}` in a help text. clap would replace it by a line break; an
/// empty style inside prevents that.
pub(crate) fn with_n(help: &str) -> String {
    help.replace("{n}", "{\u{1b}[0mn}")
}
