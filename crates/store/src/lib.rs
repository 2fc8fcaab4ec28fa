//! Event logs on disk, the index of runs and experiments, and readers for results of other tools.
//!
//! A store is a directory: `runs/ID.events` (a packed event log each), `runs/ID.digest` (the
//! finished run of a long log), `experiments/ID.experiment`, `tags/TAG`, `notes/ID`, `pins/ID`,
//! `baselines/NAME`, `control/ID` (the socket of an active run), `key` (of its redaction), and
//! `index.sqlite`. The index is derived from the files, and is rebuilt from them if it is missing
//! or damaged. Only the owner can read the files.
//!
//! The crate decides nothing (figures in the index come from `judge`) and prints nothing. The
//! caller passes the directory and the time.
//!
//! * [`Store`]: begins, finds, lists and removes items. [`RunLog`]: records the events of one run.
//! * [`log`]: the format of a packed log, and a reader of both kinds. [`archive`]: a run or
//!   experiment as one file. `digest`: the finished run of a long log.
//! * [`entry`]: an index entry. `index`: the database. [`id`]: short ids.
//! * [`retention`]: removes old logs and items.
//! * [`selection`]: selects entries by what they contain.
//! * [`redact`]: replaces secrets by a keyed hash in everything that is stored or shown.
//! * [`foreign`]: reads results of other tools for an analysis.

pub mod archive;
mod digest;
mod directory;
pub mod entry;
pub mod error;
mod experiment;
pub mod foreign;
pub mod id;
mod index;
pub mod log;
pub mod redact;
mod run_log;
pub mod selection;
mod store;

pub use directory::write as write_private;
pub use entry::{IndexEntry, ItemKind, ItemState};
pub use error::StoreError;
pub use experiment::ExperimentEnd;
pub use redact::Redactor;
pub use run_log::RunLog;
pub use store::{EntryFilter, IndexWork, Store, StoredItem, retention};

#[cfg(test)]
mod tests;
