//! Arguments that several commands share: the settings of runs, searches and comparisons, the reports, and the store.
//!
//! * [`options`]: `spec`'s tables of settings as options. [`run`]: arguments of `brunt run` and similar commands. [`settings`]: settings of
//!   experiments, searches and comparisons.
//! * [`output`]: which reports go where. [`store`]: the directory of the store.

pub mod options;
pub mod output;
pub mod run;
pub mod settings;
pub mod store;

pub use run::RunArgs;

/// A help text in which `{n}` may stand: clap would make a line break of it, were it not for the style in its midst, which
/// changes nothing.
pub(crate) fn with_n(help: &str) -> String {
    help.replace("{n}", "{\u{1b}[0mn}")
}
