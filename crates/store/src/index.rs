//! The index: one row for each run and experiment, in an `SQLite` file.
//!
//! The files are authoritative; the index only makes them faster to search. A damaged index is
//! moved aside and rebuilt from the files. Several processes can use it at once: it is in WAL mode,
//! and inserting a row claims an id.

mod row;

use crate::entry::{IndexEntry, ItemKind, ItemState, KeyFigures, LoadRange, RequestNames};
use crate::id::{self, DRAWS, IdError};
use crate::log::TrialOf;
use crate::{EntryFilter, StoreError, directory};
use rusqlite::{Connection, ErrorCode, OptionalExtension, named_params};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Version of the schema, stored in `user_version`.
pub(crate) const VERSION: u32 = 2;

/// Highest plausible version. A higher number means that the file is damaged, not that a
/// later brunt wrote it.
const LAST_VERSION: u32 = 1000;

/// Maximum time to wait while another process holds the index.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

const SCHEMA: &str = "
CREATE TABLE kept (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  progress TEXT NOT NULL DEFAULT 'open',
  experiment TEXT, repetition INTEGER, contender INTEGER, step INTEGER,
  started REAL,
  what TEXT NOT NULL DEFAULT '',
  contenders TEXT NOT NULL DEFAULT '[]',
  hosts TEXT NOT NULL DEFAULT '[]',
  labels TEXT NOT NULL DEFAULT '[]',
  load_from REAL, load_to REAL, users INTEGER NOT NULL DEFAULT 0,
  trials INTEGER,
  throughput REAL, p99 REAL, p99_at_least INTEGER NOT NULL DEFAULT 0, errors REAL, verdict TEXT, seconds REAL
) STRICT;
CREATE INDEX of_experiment ON kept (experiment);";

/// Connection to the index database.
pub(crate) struct Index {
    connection: Connection,
}

/// Fields of a row that are known when a run or experiment starts.
pub(crate) struct StartInfo<'a> {
    pub started: Option<f64>,
    pub what: &'a str,
    pub contenders: &'a [String],
    pub requests: RequestNames,
    pub load: Option<LoadRange>,
    pub trials: Option<u64>,
}

/// Columns that decide whether a row needs a file.
pub(crate) struct KnownRow {
    pub kind: ItemKind,
    /// False until the process has written the head of the file.
    pub has_begun: bool,
}

/// Extent of the check when an index is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexCheck {
    /// Version and schema only. It takes the same time for every size.
    Schema,
    /// All pages and rows of a small index; the schema of a large one, because its check takes seconds.
    WholeIfSmall,
    /// All pages and rows.
    Whole,
}

/// Maximum size of an index that is checked as a whole, in bytes: some 20,000 rows.
const MAX_SMALL: u64 = 8 << 20;

/// Result of opening an index.
pub(crate) enum OpenedIndex {
    /// The index exists and passed the check.
    Whole(Index),
    /// The index was created now and has no rows.
    Empty(Index),
    /// The index is damaged.
    Damaged,
}

impl Index {
    /// Opens the index, or creates an empty one. `check` decides how much of it is read. The caller
    /// must hold the store's lock.
    pub fn make(path: &Path, check: IndexCheck) -> Result<OpenedIndex, StoreError> {
        match Self::make_or_fail(path, check) {
            Err(error) if error.is_of_the_index() => Ok(OpenedIndex::Damaged),
            other => other,
        }
    }

    fn make_or_fail(path: &Path, check: IndexCheck) -> Result<OpenedIndex, StoreError> {
        let index = Self::open(path)?;
        let is_large = path.metadata().is_ok_and(|file| file.len() > MAX_SMALL);
        let is_whole =
            check == IndexCheck::Whole || (check == IndexCheck::WholeIfSmall && !is_large);
        let version: u32 =
            index.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let schema = index.schema()?;
        match version {
            // SQLite gives a new file the version 0.
            0 if schema.is_empty() => {}
            VERSION
                if schema == expected_schema()
                    && !index.is_locked_by_its_header(path)?
                    && (!is_whole || index.is_intact()?) =>
            {
                return Ok(OpenedIndex::Whole(index));
            }
            later if (VERSION + 1..=LAST_VERSION).contains(&later) => {
                return Err(StoreError::Newer {
                    path: path.to_owned(),
                    found: later,
                    known: VERSION,
                });
            }
            _ => return Ok(OpenedIndex::Damaged),
        }
        index.connection.pragma_update(None, "journal_mode", "wal")?;
        index.connection.execute_batch(&format!(
            "BEGIN IMMEDIATE;{SCHEMA}PRAGMA user_version={VERSION};COMMIT"
        ))?;
        Ok(OpenedIndex::Empty(index))
    }

    /// True if a check of all pages and rows finds no damage.
    fn is_intact(&self) -> Result<bool, StoreError> {
        let integrity: String =
            self.connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
        Ok(integrity == "ok" && self.is_readable())
    }

    /// Creates an empty index in memory, for a directory that is not writable.
    pub fn in_memory() -> Result<Self, StoreError> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!("{SCHEMA}PRAGMA user_version={VERSION};"))?;
        Ok(Self { connection })
    }

    /// Returns the SQL statements that created the tables.
    fn schema(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
        let mut statement = self.connection.prepare(sql)?;
        let schema = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(schema)
    }

    /// True if every row has valid values.
    fn is_readable(&self) -> bool {
        let sql = "SELECT count(*) FROM kept WHERE typeof(id) <> 'text' OR json_valid(contenders) = 0 \
                   OR json_valid(hosts) = 0 OR json_valid(labels) = 0";
        let invalid = self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        invalid.is_ok_and(|rows| rows == 0) && self.has_readable_entries().unwrap_or(false)
    }

    fn has_readable_entries(&self) -> Result<bool, StoreError> {
        // No sorting, and the entries are not collected: a large store is checked at each first
        // access.
        let mut statement =
            self.connection.prepare(&format!("SELECT {} FROM kept k", row::COLUMNS))?;
        let mut entries = statement.query_map([], row::entry)?;
        Ok(entries.all(|entry| entry.is_ok_and(|entry| id::is_id(&entry.id))))
    }

    /// True if the file's header forbids writing although the system allows it.
    fn is_locked_by_its_header(&self, path: &Path) -> Result<bool, StoreError> {
        let writable = std::fs::OpenOptions::new().append(true).open(path).is_ok();
        Ok(writable && self.connection.is_readonly("main")?)
    }

    /// Opens an existing index.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // SQLite gives the WAL file the permissions of the database file, so the file is created
        // private first.
        let _ = directory::create_new(path);
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // `normal` may lose the last rows in a power failure; they can be read from the logs again.
        connection.pragma_update(None, "synchronous", "normal")?;
        Ok(Self { connection })
    }

    /// Returns all rows by id.
    pub fn rows(&self) -> Result<HashMap<String, KnownRow>, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT id, kind, started IS NOT NULL FROM kept")?;
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, KnownRow { kind: row::kind(row, 1)?, has_begun: row.get(2)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Makes all changes of `change` in one transaction: every single transaction costs a
    /// write to the file.
    pub fn in_transaction(
        &self,
        change: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        change()?;
        Ok(transaction.commit()?)
    }

    /// Claims a new id by inserting a row. `is_taken` is true for words that must not become ids.
    pub fn claim(
        &self,
        kind: ItemKind,
        is_taken: impl Fn(&str) -> bool,
    ) -> Result<String, StoreError> {
        for _ in 0..DRAWS {
            let id = id::draw();
            if !is_taken(&id) && self.claim_as(&id, kind)? {
                return Ok(id);
            }
        }
        Err(IdError.into())
    }

    /// Claims this id by inserting a row. Returns false if the id is in use.
    pub fn claim_as(&self, id: &str, kind: ItemKind) -> Result<bool, StoreError> {
        // The column is unique, so only one of several processes inserts the row.
        let sql = "INSERT OR IGNORE INTO kept (id, kind) VALUES (?1, ?2)";
        Ok(self.connection.execute(sql, (id, row::word(kind)))? == 1)
    }

    /// Sets the experiment and the trial of a run.
    pub fn set_trial(&self, id: &str, trial: &TrialOf) -> Result<(), StoreError> {
        let sql = "UPDATE kept SET experiment = :experiment, repetition = :repetition, contender = :contender, \
                   step = :step, contenders = :contenders WHERE id = :id";
        self.connection.execute(
            sql,
            named_params! {":id": id, ":experiment": trial.experiment, ":repetition": trial.place.repetition,
            ":contender": trial.place.contender as i64, ":step": trial.place.step as i64,
            ":contenders": row::list(std::slice::from_ref(&trial.contender))},
        )?;
        Ok(())
    }

    /// Sets the columns that are known at the start.
    pub fn set_start(&self, id: &str, start: &StartInfo) -> Result<(), StoreError> {
        // `set_trial` has set the contenders of a run; an empty list must not overwrite them.
        let sql = "UPDATE kept SET started = :started, what = :what, load_from = :from, load_to = :to, \
                   users = :users, trials = :trials, hosts = :hosts, labels = :labels, \
                   contenders = iif(:contenders = '[]', contenders, :contenders) WHERE id = :id";
        self.connection.execute(
            sql,
            named_params! {":id": id, ":started": start.started, ":what": start.what,
            ":from": start.load.map(|load| load.from), ":to": start.load.map(|load| load.to),
            ":users": start.load.is_some_and(|load| load.users), ":trials": start.trials.map(|n| n as i64),
            ":hosts": row::list(&start.requests.hosts), ":labels": row::list(&start.requests.labels),
            ":contenders": row::list(start.contenders)},
        )?;
        Ok(())
    }

    /// Sets the state, and the key figures of a run.
    pub fn set_end(
        &self,
        id: &str,
        progress: ItemState,
        figures: Option<&KeyFigures>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE kept SET progress = :progress, throughput = :throughput, p99 = :p99, \
                   p99_at_least = :at_least, errors = :errors, verdict = :verdict, seconds = :seconds WHERE id = :id";
        self.connection.execute(
            sql,
            named_params! {":id": id, ":progress": row::progress_word(progress),
            ":throughput": figures.map(|f| f.throughput_per_second), ":p99": figures.and_then(|f| f.p99_seconds),
            ":at_least": figures.is_some_and(|f| f.p99_at_least), ":errors": figures.map(|f| f.errors_share),
            ":verdict": figures.map(|f| f.verdict.key()), ":seconds": figures.map(|f| f.seconds)},
        )?;
        Ok(())
    }

    /// Returns the type of an item; None if the id does not exist.
    pub fn kind(&self, id: &str) -> Result<Option<ItemKind>, StoreError> {
        let sql = "SELECT kind FROM kept WHERE id = ?1";
        Ok(self.connection.query_row(sql, [id], |row| row::kind(row, 0)).optional()?)
    }

    /// Returns the matching rows, oldest first.
    pub fn entries(&self, filter: &EntryFilter) -> Result<Vec<IndexEntry>, StoreError> {
        // Each condition contains `?1`, because all of them are executed with one argument.
        let (condition, argument) = match filter {
            EntryFilter::TopLevel => ("experiment IS NULL AND ?1 = ''", ""),
            EntryFilter::All => ("?1 = ''", ""),
            EntryFilter::RunsOf(experiment) => ("experiment = ?1", experiment.as_str()),
            EntryFilter::Unfinished => ("progress = 'open' AND ?1 = ''", ""),
            EntryFilter::One(id) => ("id = ?1", id.as_str()),
        };
        // SQLite sorts NULL first, but entries that have not begun are the newest.
        let sql = format!(
            "SELECT {} FROM kept k WHERE {condition} ORDER BY started IS NULL, started, number",
            row::COLUMNS
        );
        let mut statement = self.connection.prepare(&sql)?;
        let entries = statement.query_map([argument], row::entry)?.collect::<Result<_, _>>()?;
        Ok(entries)
    }

    /// Returns the ids that begin with this prefix.
    pub fn ids_from(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT id FROM kept WHERE substr(id, 1, length(?1)) = ?1")?;
        let ids = statement.query_map([prefix], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// Returns the experiment of this name that started last.
    pub fn experiment_called(&self, name: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id FROM kept WHERE kind = 'experiment' AND what = ?1 ORDER BY started DESC, number DESC LIMIT 1";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0)).optional()?)
    }

    /// Removes rows, all or none.
    pub fn forget(&self, ids: &[String]) -> Result<(), StoreError> {
        self.in_transaction(|| {
            for id in ids {
                self.connection.execute("DELETE FROM kept WHERE id = ?1", [id])?;
            }
            Ok(())
        })
    }
}

/// Returns the schema as `SQLite` reports it.
fn expected_schema() -> Vec<String> {
    SCHEMA
        .split(';')
        .map(|statement| statement.trim().to_owned())
        .filter(|statement| !statement.is_empty())
        .collect()
}

/// True if the error means that the file is damaged. False if it came from another process, the
/// disk, permissions or memory.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    /// `SQLITE_IOERR_SHORT_READ`: the file is shorter than its header claims.
    const SHORT_READ: i32 = 522;
    if let rusqlite::Error::SqliteFailure(cause, _) = error
        && cause.extended_code == SHORT_READ
    {
        // The primary code of this error is that of an I/O error of the system, so it is checked
        // first.
        return true;
    }
    !is_of_the_system(error)
}

/// True if the error came from the disk, permissions, memory or another process.
fn is_of_the_system(error: &rusqlite::Error) -> bool {
    use ErrorCode::{
        DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed, NoLargeFileSupport, OutOfMemory,
    };
    let busy =
        [DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed, NoLargeFileSupport, OutOfMemory];
    is_of_the_disk(error) || error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

/// True if the location is not writable.
pub(crate) fn is_of_the_disk(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    let disk = [CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure];
    error.sqlite_error_code().is_some_and(|code| disk.contains(&code))
}

#[cfg(test)]
mod tests;
