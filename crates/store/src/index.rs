//! The index: one row for each run and experiment, in an `SQLite` file.
//!
//! Out of scope: the truth. It says what the files say, sooner; a damaged one is put aside and made again.
//! Several processes may use it at once: it is in WAL mode, and an id is claimed by the insertion of its row.

mod row;

use crate::entry::{Entry, Figures, Kind, LoadRange, Progress};
use crate::id::{self, DRAWS, IdError};
use crate::log::TrialOf;
use crate::{EntryFilter, StoreError, directory};
use rusqlite::{Connection, ErrorCode, OptionalExtension, named_params};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// The version of the schema, kept in `user_version`.
pub(crate) const VERSION: u32 = 1;

/// No later brunt will have got beyond this one: what says so is damaged.
const LAST_VERSION: u32 = 1000;

/// How long another process may hold the index before we give up.
const PATIENCE: Duration = Duration::from_secs(20);

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
  load_from REAL, load_to REAL, users INTEGER NOT NULL DEFAULT 0,
  trials INTEGER,
  throughput REAL, p99 REAL, p99_at_least INTEGER NOT NULL DEFAULT 0, errors REAL, verdict TEXT, seconds REAL
) STRICT;
CREATE INDEX of_experiment ON kept (experiment);";

/// The database.
pub(crate) struct Index {
    connection: Connection,
}

/// What is known of something when it begins.
pub(crate) struct Begun<'a> {
    pub started: Option<f64>,
    pub what: &'a str,
    pub contenders: &'a [String],
    pub load: Option<LoadRange>,
    pub trials: Option<u64>,
}

/// The part of a row that decides whether it needs a file.
pub(crate) struct KnownRow {
    pub kind: Kind,
    /// False while its process has not written the beginning of the file.
    pub has_begun: bool,
}

/// How much of an index is read when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexCheck {
    /// Its version and its schema: the same time for every size.
    Schema,
    /// All pages and rows.
    Whole,
}

/// What opening an index found.
pub(crate) enum OpenedIndex {
    /// It is there.
    Whole(Index),
    /// It was made just now, and has no rows.
    Empty(Index),
    /// It is damaged.
    Damaged,
}

impl Index {
    /// Opens the index, or makes an empty one. `check` decides how much of it is read. The caller holds the store's lock.
    pub fn make(path: &Path, check: IndexCheck) -> Result<OpenedIndex, StoreError> {
        match Self::make_or_fail(path, check) {
            Err(error) if error.is_of_the_index() => Ok(OpenedIndex::Damaged),
            other => other,
        }
    }

    fn make_or_fail(path: &Path, check: IndexCheck) -> Result<OpenedIndex, StoreError> {
        let index = Self::open(path)?;
        let found: u32 = index.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let schema = index.schema()?;
        match found {
            0 if schema.is_empty() => {}
            VERSION
                if schema == expected_schema()
                    && !index.is_locked_by_its_header(path)?
                    && index.is_intact(check)? =>
            {
                return Ok(OpenedIndex::Whole(index));
            }
            later if (VERSION + 1..=LAST_VERSION).contains(&later) => {
                return Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION });
            }
            _ => return Ok(OpenedIndex::Damaged),
        }
        index.connection.pragma_update(None, "journal_mode", "wal")?;
        index.connection.execute_batch(&format!("BEGIN IMMEDIATE;{SCHEMA}PRAGMA user_version={VERSION};COMMIT"))?;
        Ok(OpenedIndex::Empty(index))
    }

    /// True if the check finds no damage.
    fn is_intact(&self, check: IndexCheck) -> Result<bool, StoreError> {
        if check == IndexCheck::Schema {
            return Ok(true);
        }
        let integrity: String = self.connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
        Ok(integrity == "ok" && self.is_readable())
    }

    /// An empty one that goes with this process, for a directory that cannot be written.
    pub fn in_memory() -> Result<Self, StoreError> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!("{SCHEMA}PRAGMA user_version={VERSION};"))?;
        Ok(Self { connection })
    }

    /// How its tables were made.
    fn schema(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
        let mut statement = self.connection.prepare(sql)?;
        let schema = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(schema)
    }

    /// Whether each row says something that a row may say.
    fn is_readable(&self) -> bool {
        let unknown = "SELECT count(*) FROM kept WHERE typeof(id) <> 'text' OR json_valid(contenders) = 0";
        let unknown = self.connection.query_row(unknown, [], |row| row.get::<_, i64>(0));
        unknown.is_ok_and(|rows| rows == 0) && self.has_readable_entries().unwrap_or(false)
    }

    fn has_readable_entries(&self) -> Result<bool, StoreError> {
        // Without an order and without keeping them: a large store is checked on each look into it.
        let mut statement = self.connection.prepare(&format!("SELECT {} FROM kept k", row::COLUMNS))?;
        let mut entries = statement.query_map([], row::entry)?;
        Ok(entries.all(|entry| entry.is_ok_and(|entry| id::is_id(&entry.id))))
    }

    /// Whether the file's header forbids what the system allows: to write.
    fn is_locked_by_its_header(&self, path: &Path) -> Result<bool, StoreError> {
        let writable = std::fs::OpenOptions::new().append(true).open(path).is_ok();
        Ok(writable && self.connection.is_readonly("main")?)
    }

    /// Opens one that was made before.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // The database gives its other files the permissions of this one.
        let _ = directory::create_new(path);
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        // What is lost with the last rows in a power cut can be read off the logs again.
        connection.pragma_update(None, "synchronous", "normal")?;
        Ok(Self { connection })
    }

    /// All rows by their ids.
    pub fn known(&self) -> Result<HashMap<String, KnownRow>, StoreError> {
        let mut statement = self.connection.prepare("SELECT id, kind, started IS NOT NULL FROM kept")?;
        let known = statement
            .query_map([], |row| Ok((row.get(0)?, KnownRow { kind: row::kind(row, 1)?, has_begun: row.get(2)? })))?;
        Ok(known.collect::<Result<_, _>>()?)
    }

    /// Makes all changes of `change` in one transaction: each transaction of its own costs a write to the file.
    pub fn at_once(&self, change: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        change()?;
        Ok(transaction.commit()?)
    }

    /// Claims a new id by a row. `taken` are words that an id must not be.
    pub fn claim(&self, kind: Kind, taken: impl Fn(&str) -> bool) -> Result<String, StoreError> {
        for _ in 0..DRAWS {
            let id = id::draw();
            if !taken(&id) && self.claim_as(&id, kind)? {
                return Ok(id);
            }
        }
        Err(IdError.into())
    }

    /// Claims this id; false where there is such a one.
    pub fn claim_as(&self, id: &str, kind: Kind) -> Result<bool, StoreError> {
        let sql = "INSERT OR IGNORE INTO kept (id, kind) VALUES (?1, ?2)";
        Ok(self.connection.execute(sql, (id, row::word(kind)))? == 1)
    }

    /// Says of which experiment a run is.
    pub fn belongs(&self, id: &str, to: &TrialOf) -> Result<(), StoreError> {
        let sql = "UPDATE kept SET experiment = :experiment, repetition = :repetition, contender = :contender, \
                   step = :step, contenders = :contenders WHERE id = :id";
        self.connection.execute(
            sql,
            named_params! {":id": id, ":experiment": to.experiment, ":repetition": to.place.repetition,
            ":contender": to.place.contender as i64, ":step": to.place.step as i64,
            ":contenders": row::list(std::slice::from_ref(&to.contender))},
        )?;
        Ok(())
    }

    /// Says what is known at the beginning.
    pub fn begun(&self, id: &str, begun: &Begun) -> Result<(), StoreError> {
        let sql = "UPDATE kept SET started = :started, what = :what, load_from = :from, load_to = :to, \
                   users = :users, trials = :trials, \
                   contenders = iif(:contenders = '[]', contenders, :contenders) WHERE id = :id";
        self.connection.execute(
            sql,
            named_params! {":id": id, ":started": begun.started, ":what": begun.what,
            ":from": begun.load.map(|load| load.from), ":to": begun.load.map(|load| load.to),
            ":users": begun.load.is_some_and(|load| load.users), ":trials": begun.trials.map(|n| n as i64),
            ":contenders": row::list(begun.contenders)},
        )?;
        Ok(())
    }

    /// Says how far it came, and what a run came to.
    pub fn ended(&self, id: &str, progress: Progress, figures: Option<&Figures>) -> Result<(), StoreError> {
        let sql = "UPDATE kept SET progress = :progress, throughput = :throughput, p99 = :p99, \
                   p99_at_least = :at_least, errors = :errors, verdict = :verdict, seconds = :seconds WHERE id = :id";
        self.connection.execute(
            sql,
            named_params! {":id": id, ":progress": row::progress_word(progress),
            ":throughput": figures.map(|f| f.throughput_per_second), ":p99": figures.and_then(|f| f.p99_seconds),
            ":at_least": figures.is_some_and(|f| f.p99_at_least), ":errors": figures.map(|f| f.errors_share),
            ":verdict": figures.map(|f| f.verdict.word()), ":seconds": figures.map(|f| f.seconds)},
        )?;
        Ok(())
    }

    /// What something is; None where there is no such id.
    pub fn kind(&self, id: &str) -> Result<Option<Kind>, StoreError> {
        let sql = "SELECT kind FROM kept WHERE id = ?1";
        Ok(self.connection.query_row(sql, [id], |row| row::kind(row, 0)).optional()?)
    }

    /// The rows, the oldest first.
    pub fn entries(&self, which: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let (condition, of) = match which {
            EntryFilter::Alone => ("experiment IS NULL AND ?1 = ''", ""),
            EntryFilter::All => ("?1 = ''", ""),
            EntryFilter::RunsOf(experiment) => ("experiment = ?1", experiment.as_str()),
            EntryFilter::Unended => ("progress = 'open' AND ?1 = ''", ""),
            EntryFilter::One(id) => ("id = ?1", id.as_str()),
        };
        let sql =
            format!("SELECT {} FROM kept k WHERE {condition} ORDER BY started IS NULL, started, number", row::COLUMNS);
        let mut statement = self.connection.prepare(&sql)?;
        let entries = statement.query_map([of], row::entry)?.collect::<Result<_, _>>()?;
        Ok(entries)
    }

    /// Ids that begin with this.
    pub fn ids_from(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare("SELECT id FROM kept WHERE substr(id, 1, length(?1)) = ?1")?;
        let ids = statement.query_map([prefix], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// The experiment of that name that was begun last.
    pub fn experiment_called(&self, name: &str) -> Result<Option<String>, StoreError> {
        let sql =
            "SELECT id FROM kept WHERE kind = 'experiment' AND what = ?1 ORDER BY started DESC, number DESC LIMIT 1";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0)).optional()?)
    }

    /// Takes rows away, all or none.
    pub fn forget(&self, ids: &[String]) -> Result<(), StoreError> {
        self.at_once(|| {
            for id in ids {
                self.connection.execute("DELETE FROM kept WHERE id = ?1", [id])?;
            }
            Ok(())
        })
    }
}

/// The schema as the database tells it.
fn expected_schema() -> Vec<String> {
    SCHEMA.split(';').map(|statement| statement.trim().to_owned()).filter(|statement| !statement.is_empty()).collect()
}

/// Whether the file is to blame: neither another process, nor the disk, nor rights, nor memory.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    /// `SQLITE_IOERR_SHORT_READ`: the file is shorter than its header says.
    const SHORT_READ: i32 = 522;
    if let rusqlite::Error::SqliteFailure(cause, _) = error
        && cause.extended_code == SHORT_READ
    {
        return true;
    }
    !is_of_the_system(error)
}

/// Whether the disk, rights, memory or another process are to blame.
fn is_of_the_system(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed, NoLargeFileSupport, OutOfMemory};
    let busy = [DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed, NoLargeFileSupport, OutOfMemory];
    is_of_the_disk(error) || error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}

/// Whether nothing can be written there.
pub(crate) fn is_of_the_disk(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    let disk = [CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure];
    error.sqlite_error_code().is_some_and(|code| disk.contains(&code))
}

#[cfg(test)]
mod tests;
