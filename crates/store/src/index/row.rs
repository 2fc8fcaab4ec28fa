//! Converts between rows of the index and entries, and between values and the words in them.

use crate::entry::{IndexEntry, ItemKind, ItemState, KeyFigures, LoadRange};
use brunt_model::TrialIndex;
use brunt_model::finding::State;
use rusqlite::types::Type;
use rusqlite::{Error, Row};

/// Columns that [`entry`] reads, in its order.
pub const COLUMNS: &str = "id, kind, progress, experiment, repetition, contender, step, started, what, contenders, \
    load_from, load_to, users, trials, throughput, p99, p99_at_least, errors, verdict, seconds, \
    iif(kind = 'experiment', (SELECT count(DISTINCT t.repetition || ' ' || t.contender || ' ' || t.step) FROM kept t \
     WHERE t.experiment = k.id AND t.progress = 'whole'), NULL), hosts, labels";

const KINDS: [(ItemKind, &str); 2] = [(ItemKind::Run, "run"), (ItemKind::Experiment, "experiment")];

/// Words for states. A row starts as `open`; only the lock of the file shows whether a process
/// still writes to it.
const PROGRESS: [(ItemState, &str); 4] = [
    (ItemState::Running, "open"),
    (ItemState::Whole, "whole"),
    (ItemState::Interrupted, "interrupted"),
    (ItemState::Torn, "torn"),
];

pub fn word(kind: ItemKind) -> &'static str {
    word_of(&KINDS, kind)
}

pub fn progress_word(progress: ItemState) -> &'static str {
    word_of(&PROGRESS, progress)
}

/// Encodes a list as one value.
pub fn list(names: &[String]) -> String {
    serde_json::Value::from(names).to_string()
}

pub fn kind(row: &Row, column: usize) -> Result<ItemKind, Error> {
    value_of(&KINDS, &row.get::<_, String>(column)?, column)
}

/// Reads a row as an entry. Its tags, note and pin are files and are added later.
pub fn entry(row: &Row) -> Result<IndexEntry, Error> {
    let kind = kind(row, 1)?;
    let trials: Option<u64> = row.get::<_, Option<i64>>(13)?.map(|n| n as u64);
    Ok(IndexEntry {
        id: row.get(0)?,
        kind,
        progress: value_of(&PROGRESS, &row.get::<_, String>(2)?, 2)?,
        experiment: row.get(3)?,
        place: place(row)?,
        started_unix_seconds: row.get(7)?,
        what: row.get(8)?,
        contenders: names(row, 9)?,
        load: load(row)?,
        trials,
        trials_made: (kind == ItemKind::Experiment)
            .then(|| row.get::<_, i64>(20))
            .transpose()?
            .map(|n| n as u64),
        figures: figures(row)?,
        hosts: names(row, 21)?,
        labels: names(row, 22)?,
        tags: Vec::new(),
        note: None,
        pinned: false,
    })
}

fn names(row: &Row, column: usize) -> Result<Vec<String>, Error> {
    Ok(serde_json::from_str(&row.get::<_, String>(column)?).unwrap_or_default())
}

fn place(row: &Row) -> Result<Option<TrialIndex>, Error> {
    let Some(repetition) = row.get(4)? else { return Ok(None) };
    let contender: i64 = row.get(5)?;
    let step: i64 = row.get(6)?;
    Ok(Some(TrialIndex { repetition, contender: contender as usize, step: step as usize }))
}

fn load(row: &Row) -> Result<Option<LoadRange>, Error> {
    let (Some(from), Some(to)) = (row.get(10)?, row.get(11)?) else { return Ok(None) };
    Ok(Some(LoadRange { from, to, users: row.get(12)? }))
}

fn figures(row: &Row) -> Result<Option<KeyFigures>, Error> {
    let Some(throughput_per_second) = row.get(14)? else { return Ok(None) };
    Ok(Some(KeyFigures {
        throughput_per_second,
        p99_seconds: row.get(15)?,
        p99_at_least: row.get(16)?,
        errors_share: row.get(17)?,
        verdict: verdict(&row.get::<_, String>(18)?)?,
        seconds: row.get(19)?,
    }))
}

fn word_of<T: Copy + PartialEq>(words: &'static [(T, &'static str)], value: T) -> &'static str {
    words.iter().find(|row| row.0 == value).map_or("", |row| row.1)
}

fn value_of<T: Copy>(words: &[(T, &str)], word: &str, column: usize) -> Result<T, Error> {
    words.iter().find(|row| row.1 == word).map(|row| row.0).ok_or_else(|| unknown(word, column))
}

fn verdict(word: &str) -> Result<State, Error> {
    State::from_key(word).ok_or_else(|| unknown(word, 18))
}

fn unknown(word: &str, column: usize) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, format!("`{word}` is unknown").into())
}
