//! Functions that read files: those below the folders that the scenario names, and no others.

use super::{Call, Function};
use std::sync::Arc;

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["StringFromFile"],
        arguments: 1..=2,
        about: "the next line of a file, over all users, and again from the first; variable",
        call: |call| {
            let line = line(call).unwrap_or_else(|| NOT_READ.to_owned());
            call.into_variable(1, line)
        },
    },
    Function {
        names: &["FileToString"],
        arguments: 1..=3,
        about: "the text of a file (UTF-8): file, encoding, variable",
        call: |call| {
            let text = text(call).map_or_else(|| NOT_READ.to_owned(), |text| text.to_string());
            call.into_variable(2, text)
        },
    },
    Function {
        names: &["CSVRead"],
        arguments: 2..=2,
        about: "a cell of the user's row of a CSV file: file, column from 0; `next` goes on to the next row",
        call: |call| cell(call).unwrap_or_default(),
    },
];

/// What JMeter gives for a file that cannot be read.
const NOT_READ: &str = "**ERR**";

fn text(call: &Call<'_>) -> Option<Arc<str>> {
    call.user.worker.commons.files.text(call.text(0).trim())
}

fn line(call: &Call<'_>) -> Option<String> {
    let text = text(call)?;
    let count = text.lines().count() as u64;
    let number = call.user.worker.count(call.site).checked_rem(count)?;
    text.lines().nth(number as usize).map(str::to_owned)
}

fn cell(call: &Call<'_>) -> Option<String> {
    let file = call.text(0).trim();
    let text = text(call)?;
    let taken = format!("CSVRead {file}");
    let mut counters = call.user.counters.borrow_mut();
    if matches!(call.text(1).trim(), "next" | "next()") {
        counters.remove(&taken);
        return None;
    }
    let row = *counters.entry(taken.clone()).or_insert_with(|| call.user.worker.count(&taken));
    drop(counters);
    let rows = text.lines().count() as u64;
    let line = text.lines().nth(row.checked_rem(rows)? as usize)?;
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.into_records().next()?.ok()?;
    record.get(usize::try_from(call.number(1)?).ok()?).map(str::to_owned)
}
