//! Event logs on disk, the index of runs and experiments, and readers of what other tools wrote.
//!
//! A store is a directory: `runs/ID.events` (a packed event log each), `experiments/ID.experiment`, `tags/TAG`, `baselines/NAME`,
//! `key` (of its redaction), and `index.sqlite`, which only says what the files say and is made again from them where it is missing
//! or damaged. All of it belongs to its owner alone.
//!
//! It decides nothing (figures in the index come from `judge`), prints nothing, and does not know
//! where the user keeps things: it is told the directory, and the time.
//!
//! * [`Store`]: begins, finds, lists, removes. [`RunLog`]: takes the events of one run.
//! * [`log`]: the bytes of a packed log, and a reader of both kinds. [`archive`]: a run or experiment as one file.
//! * [`entry`]: what the index says of one of them. `index`: the database. [`id`]: short ids.
//! * [`redact`]: secrets, replaced by a keyed hash in all that is kept or shown.
//! * [`foreign`]: results of other tools, as what an analysis is made of.

pub mod archive;
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
mod store;

pub use entry::{Entry, Kind, Progress};
pub use error::StoreError;
pub use experiment::ExperimentEnd;
pub use redact::Redactor;
pub use run_log::RunLog;
pub use store::{EntryFilter, Store, StoredItem};

#[cfg(test)]
mod tests;
