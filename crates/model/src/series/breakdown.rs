//! Figures of the labels and transactions of a run over time, in bounded memory.
//!
//! All of them share columns, which get wider as a run gets longer or has more labels. A label
//! needs no memory for a column without its requests.

use super::SeriesPoint;
use crate::codec::wire;
use crate::tally::Statuses;
use crate::tally::sums::{StatusCount, Summand};
use crate::{Failure, Flow, Phase, Snapshot, Tally, Tick, TransactionTally};
use brunt_stats::Sketch;
use prost::Message;
use std::collections::BTreeMap;

/// Maximum number of columns. With more, neighboring columns are joined.
const MOST_COLUMNS: usize = 256;
/// Approximate maximum memory of all cells. With more, neighboring columns are joined.
const MOST_BYTES: usize = 8 << 20;
/// Maximum number of labels and transactions. Later ones have no figures over time.
const MOST_ROWS: usize = 4096;

/// Figures of labels and transactions over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BreakdownSeries {
    columns: Vec<Column>,
    /// Number of intervals per column (a power of two).
    joined: u32,
    /// Number of intervals in the last column.
    in_last: u32,
    rows: BTreeMap<BreakdownKey, Vec<Cell>>,
    /// Approximate memory of all cells.
    bytes: usize,
}

/// A label or a transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BreakdownKey {
    /// A label, by its number.
    Label(u32),
    /// A transaction, by its name.
    Transaction(String),
}

/// Consecutive intervals of one phase.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Column {
    from: Tick,
    to: Tick,
    phase: Phase,
}

/// Figures of one row in one column.
#[derive(Debug, Clone, PartialEq)]
struct Cell {
    /// Index of the column.
    column: u32,
    completed: u64,
    good: u64,
    errors: u64,
    failed_checks: u64,
    /// Number of replies by status. A list of exact length, because there are many cells.
    statuses: Box<[(u16, u64)]>,
    /// Response times, in nanoseconds.
    response: Sketch,
}

impl BreakdownSeries {
    /// Adds the next interval.
    pub fn push(&mut self, snapshot: &Snapshot) {
        let is_empty = snapshot.labels.is_empty() && snapshot.transactions.is_empty();
        // Most runs have one label, and need no columns.
        if is_empty && self.rows.is_empty() {
            return;
        }
        let column = self.column_of(snapshot);
        for (label, tally) in &snapshot.labels {
            self.add(BreakdownKey::Label(*label), Cell::of_label(column, tally));
        }
        for (name, tally) in &snapshot.transactions {
            let key = BreakdownKey::Transaction(name.clone());
            self.add(key, Cell::of_transaction(column, tally));
        }
        while self.columns.len() > MOST_COLUMNS || self.bytes > MOST_BYTES {
            let before = self.columns.len();
            self.halve();
            // Columns of different phases are never joined.
            if self.columns.len() == before {
                break;
            }
        }
    }

    /// Returns the figures of a label or transaction, with a point for each column. None if it has
    /// none.
    pub fn points(&self, key: &BreakdownKey) -> Option<Vec<SeriesPoint>> {
        let mut cells = self.rows.get(key)?.iter().peekable();
        let points = (0..).zip(&self.columns).map(|(number, column)| {
            let cell = cells.next_if(|cell| cell.column == number);
            cell.map_or_else(|| column.empty_point(), |cell| cell.point(column))
        });
        Some(points.collect())
    }

    /// Converts the series to the message of a digest.
    pub(crate) fn to_message(&self) -> BreakdownMessage {
        let Self { columns, joined, in_last, rows, bytes: _ } = self;
        BreakdownMessage {
            columns: columns.iter().map(Into::into).collect(),
            joined: *joined,
            in_last: *in_last,
            rows: rows.iter().map(|(key, cells)| row_message(key, cells)).collect(),
        }
    }

    /// Converts a message to the series; None if it is damaged.
    pub(crate) fn from_message(message: BreakdownMessage) -> Option<Self> {
        let BreakdownMessage { columns, joined, in_last, rows } = message;
        let columns: Vec<Column> =
            columns.into_iter().map(ColumnMessage::decoded).collect::<Option<_>>()?;
        let rows: BTreeMap<BreakdownKey, Vec<Cell>> =
            rows.into_iter().map(|row| row.decoded(columns.len())).collect::<Option<_>>()?;
        // The sum of a damaged digest would allow any memory.
        let bytes = rows.values().flatten().map(Cell::bytes).sum();
        Some(Self { columns, joined, in_last, rows, bytes })
    }

    /// Returns the index of the column that contains an interval.
    fn column_of(&mut self, snapshot: &Snapshot) -> u32 {
        let joined = self.joined.max(1);
        match self.columns.last_mut() {
            Some(last) if self.in_last < joined && last.phase == snapshot.phase => {
                last.to = snapshot.to;
                self.in_last += 1;
            }
            _ => {
                let Snapshot { from, to, phase, .. } = *snapshot;
                self.columns.push(Column { from, to, phase });
                self.in_last = 1;
            }
        }
        self.columns.len() as u32 - 1
    }

    fn add(&mut self, key: BreakdownKey, cell: Cell) {
        if self.rows.len() >= MOST_ROWS && !self.rows.contains_key(&key) {
            return;
        }
        self.bytes += push_cell(self.rows.entry(key).or_default(), cell);
    }

    /// Joins neighboring columns of the same phase, which halves their number.
    fn halve(&mut self) {
        let mut columns: Vec<Column> = Vec::new();
        let mut half = false;
        // New index of each column.
        let mut new_index = Vec::new();
        for column in &self.columns {
            match columns.last_mut() {
                Some(last) if half && last.phase == column.phase => {
                    last.to = column.to;
                    half = false;
                }
                _ => {
                    columns.push(*column);
                    half = true;
                }
            }
            new_index.push(columns.len() as u32 - 1);
        }
        self.columns = columns;
        self.joined = self.joined.max(1) * 2;
        self.in_last = if half { self.joined / 2 } else { self.joined };
        self.bytes = 0;
        for row in self.rows.values_mut() {
            let mut cells = Vec::new();
            for mut cell in std::mem::take(row) {
                cell.column = new_index[cell.column as usize];
                self.bytes += push_cell(&mut cells, cell);
            }
            *row = cells;
        }
    }
}

/// Appends a cell, or adds it to the last one of the same column. Returns the additional memory.
fn push_cell(cells: &mut Vec<Cell>, cell: Cell) -> usize {
    match cells.last_mut() {
        Some(last) if last.column == cell.column => {
            let before = last.bytes();
            last.add(&cell);
            last.bytes().saturating_sub(before)
        }
        _ => {
            let bytes = cell.bytes();
            cells.push(cell);
            bytes
        }
    }
}

impl Column {
    /// Returns the point of a row without requests in this column.
    fn empty_point(&self) -> SeriesPoint {
        SeriesPoint { from: self.from, to: self.to, phase: self.phase, ..SeriesPoint::default() }
    }
}

impl Cell {
    fn of_label(column: u32, tally: &Tally) -> Self {
        Self {
            column,
            completed: tally.completed,
            good: tally.good,
            errors: tally.errors(),
            failed_checks: tally.failed_by(Failure::Check),
            statuses: tally.statuses.iter().collect(),
            response: Sketch::from(&tally.response),
        }
    }

    fn of_transaction(column: u32, tally: &TransactionTally) -> Self {
        Self {
            column,
            completed: tally.succeeded + tally.failed,
            good: tally.succeeded,
            errors: tally.failed,
            failed_checks: 0,
            statuses: Box::default(),
            response: Sketch::from(&tally.response),
        }
    }

    fn add(&mut self, later: &Self) {
        self.completed += later.completed;
        self.good += later.good;
        self.errors += later.errors;
        self.failed_checks += later.failed_checks;
        if self.statuses.is_empty() {
            self.statuses.clone_from(&later.statuses);
        } else {
            let mut statuses = self.statuses();
            later.statuses.iter().for_each(|(status, n)| statuses.add(*status, *n));
            self.statuses = statuses.iter().collect();
        }
        self.response.merge(&later.response);
    }

    fn statuses(&self) -> Statuses {
        self.statuses.iter().copied().collect()
    }

    fn point(&self, column: &Column) -> SeriesPoint {
        let Self { completed, good, errors, failed_checks, .. } = *self;
        SeriesPoint {
            flow: Flow { completed, good, errors, failed_checks, ..Flow::default() },
            statuses: self.statuses(),
            response: self.response.clone(),
            ..column.empty_point()
        }
    }

    /// Approximate memory.
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.statuses) + self.response.packed().len()
    }
}

/// The series in a digest.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct BreakdownMessage {
    #[prost(message, repeated, tag = "1")]
    columns: Vec<ColumnMessage>,
    #[prost(uint32, tag = "2")]
    joined: u32,
    #[prost(uint32, tag = "3")]
    in_last: u32,
    #[prost(message, repeated, tag = "4")]
    rows: Vec<RowMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnMessage {
    #[prost(uint64, tag = "1")]
    from_nanos: u64,
    #[prost(uint64, tag = "2")]
    to_nanos: u64,
    #[prost(enumeration = "wire::Phase", tag = "3")]
    phase: i32,
}

/// A row has a label or a transaction.
#[derive(Clone, PartialEq, Message)]
struct RowMessage {
    #[prost(uint32, optional, tag = "1")]
    label: Option<u32>,
    #[prost(string, optional, tag = "2")]
    transaction: Option<String>,
    #[prost(message, repeated, tag = "3")]
    cells: Vec<CellMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct CellMessage {
    #[prost(uint32, tag = "1")]
    column: u32,
    #[prost(uint64, tag = "2")]
    completed: u64,
    #[prost(uint64, tag = "3")]
    good: u64,
    #[prost(uint64, tag = "4")]
    errors: u64,
    #[prost(bytes = "vec", tag = "5")]
    response: Vec<u8>,
    #[prost(uint64, tag = "6")]
    response_max: u64,
    #[prost(uint64, tag = "7")]
    failed_checks: u64,
    #[prost(message, repeated, tag = "8")]
    statuses: Vec<StatusCount>,
}

fn row_message(key: &BreakdownKey, cells: &[Cell]) -> RowMessage {
    let (label, transaction) = match key {
        BreakdownKey::Label(label) => (Some(*label), None),
        BreakdownKey::Transaction(name) => (None, Some(name.clone())),
    };
    RowMessage { label, transaction, cells: cells.iter().map(Into::into).collect() }
}

impl RowMessage {
    fn decoded(self, columns: usize) -> Option<(BreakdownKey, Vec<Cell>)> {
        let key = match (self.label, self.transaction) {
            (Some(label), None) => BreakdownKey::Label(label),
            (None, Some(name)) => BreakdownKey::Transaction(name),
            _ => return None,
        };
        let cells: Vec<Cell> =
            self.cells.into_iter().map(CellMessage::decoded).collect::<Option<_>>()?;
        let is_sorted = cells.windows(2).all(|pair| pair[0].column < pair[1].column);
        let is_within = cells.last().is_none_or(|last| (last.column as usize) < columns);
        let is_valid = is_sorted && is_within && cells.iter().all(|cell| cell.response.is_valid());
        is_valid.then_some((key, cells))
    }
}

impl From<&Column> for ColumnMessage {
    fn from(column: &Column) -> Self {
        let phase = wire::Phase::number(column.phase);
        Self { from_nanos: column.from.0, to_nanos: column.to.0, phase }
    }
}

impl ColumnMessage {
    fn decoded(self) -> Option<Column> {
        let phase = wire::Phase::from_number(self.phase)?;
        Some(Column { from: Tick(self.from_nanos), to: Tick(self.to_nanos), phase })
    }
}

impl From<&Cell> for CellMessage {
    fn from(cell: &Cell) -> Self {
        let Cell { column, completed, good, errors, failed_checks, statuses: _, response } = cell;
        Self {
            column: *column,
            completed: *completed,
            good: *good,
            errors: *errors,
            response: response.packed().to_vec(),
            response_max: response.max(),
            failed_checks: *failed_checks,
            statuses: cell.statuses().to_field(),
        }
    }
}

impl CellMessage {
    fn decoded(self) -> Option<Cell> {
        let Self {
            column,
            completed,
            good,
            errors,
            response,
            response_max,
            failed_checks,
            statuses,
        } = self;
        let response = Sketch::from_packed(response, response_max);
        let statuses: Statuses = Summand::from_field(statuses)?;
        let statuses = statuses.iter().collect();
        Some(Cell { column, completed, good, errors, failed_checks, statuses, response })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the interval of a second with a reply of each of these labels.
    fn interval(second: u64, labels: impl Iterator<Item = u32>) -> Snapshot {
        let mut snapshot = Snapshot {
            from: Tick(second * 1_000_000_000),
            to: Tick((second + 1) * 1_000_000_000),
            phase: Phase::Measure,
            ..Snapshot::default()
        };
        for label in labels {
            let tally = snapshot.label(label);
            tally.planned += 1;
            tally.begun += 1;
            tally.completed += 1;
            tally.good += 1;
            tally.statuses.add(200, 1);
            // Replies that differ need the most memory.
            tally.response.record(1_000_000 * (second % 100 + 1));
        }
        snapshot
    }

    #[test]
    fn a_label_has_its_sums_and_gaps() {
        let mut series = BreakdownSeries::default();
        for second in 0..10 {
            // Label 7 has no replies in odd seconds.
            let labels = [1, 7].into_iter().filter(|label| *label == 1 || second % 2 == 0);
            series.push(&interval(second, labels));
        }
        let points = series.points(&BreakdownKey::Label(7)).unwrap();
        let completed: Vec<u64> = points.iter().map(|point| point.flow.completed).collect();
        assert_eq!(completed, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(points[4].response.max(), 5_000_000);
        assert_eq!(points[4].statuses.sorted(), [(200, 1)]);
        assert_eq!(series.points(&BreakdownKey::Label(2)), None);
    }

    #[test]
    fn many_labels_have_correct_sums_in_bounded_memory() {
        let mut series = BreakdownSeries::default();
        let seconds = 500;
        for second in 0..seconds {
            series.push(&interval(second, 0..2500));
        }
        let BreakdownSeries { bytes, columns, .. } = &series;
        assert!(*bytes <= MOST_BYTES && columns.len() <= MOST_COLUMNS, "{bytes} {}", columns.len());
        // Fewer columns would show nothing.
        assert!(columns.len() >= 16, "{}", columns.len());
        for label in [0, 2499] {
            let points = series.points(&BreakdownKey::Label(label)).unwrap();
            assert_eq!(points.iter().map(|point| point.flow.completed).sum::<u64>(), seconds);
            assert_eq!(points.iter().map(|point| point.response.count()).sum::<u64>(), seconds);
            assert_eq!(points.iter().map(SeriesPoint::seconds).sum::<f64>(), seconds as f64);
            assert_eq!(SeriesPoint::join(&points).statuses.sorted(), [(200, seconds)]);
        }
        let message = series.to_message();
        assert_eq!(BreakdownSeries::from_message(message), Some(series));
    }

    #[test]
    fn phases_stay_separate_and_more_rows_are_left_out() {
        let mut series = BreakdownSeries::default();
        let most = MOST_ROWS as u32;
        for second in 0..40 {
            let phase = if second < 3 { Phase::Warmup } else { Phase::Measure };
            series.push(&Snapshot { phase, ..interval(second, 0..most + 10) });
        }
        let points = series.points(&BreakdownKey::Label(0)).unwrap();
        let warmup = points.iter().filter(|point| point.phase == Phase::Warmup);
        assert_eq!(warmup.map(SeriesPoint::seconds).sum::<f64>(), 3.0);
        assert_eq!(series.points(&BreakdownKey::Label(most)), None);
    }

    #[test]
    fn damaged_messages_are_refused() {
        let mut series = BreakdownSeries::default();
        series.push(&interval(0, 0..2));
        let damage: [fn(&mut BreakdownMessage); 3] = [
            |message| message.columns.clear(),
            |message| message.rows[0].label = None,
            |message| message.rows[1].cells[0].column = 1,
        ];
        for spoil in damage {
            let mut message = series.to_message();
            spoil(&mut message);
            assert_eq!(BreakdownSeries::from_message(message), None);
        }
    }
}
