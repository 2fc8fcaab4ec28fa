//! Reads and writes files, only below the folders that the scenario names.

use super::{Call, Function};
use crate::texts::files::FileText;
use crate::texts::markup::XPath;
use std::sync::Arc;

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["StringFromFile"],
        arguments: 1..=4,
        about: "the next line of a file, over all users, and again from the first: file, variable; of numbered files, `**ERR**`",
        call: |call| {
            let is_numbered = !call.text(2).trim().is_empty() || !call.text(3).trim().is_empty();
            let line = line(call).filter(|_| !is_numbered).unwrap_or_else(|| NOT_READ.to_owned());
            call.into_variable(1, line)
        },
    },
    Function {
        names: &["FileToString"],
        arguments: 1..=3,
        about: "the text of a file (UTF-8): file, encoding, variable",
        call: |call| {
            let text =
                file(call).map_or_else(|| NOT_READ.to_owned(), |file| file.text().to_owned());
            call.into_variable(2, text)
        },
    },
    Function {
        names: &["CSVRead"],
        arguments: 2..=2,
        about: "a cell of the user's row of a CSV file: file, column from 0; `next` is the next row, `*name` gives the file this name",
        call: |call| cell(call).unwrap_or_default(),
    },
    Function {
        names: &["XPath"],
        arguments: 2..=2,
        about: "the next value that an XPath expression finds in a file, over all users, and again from the first: file, expression",
        call: |call| xpath_value(call).unwrap_or_default(),
    },
    Function {
        names: &["StringToFile"],
        arguments: 2..=4,
        about: "writes a text into a file, and is true if it succeeded: file, text (\\n: a new line), FALSE to replace its content, encoding",
        call: |call| write(call).to_string(),
    },
];

/// Checks that this program was built with the requirements of a function.
///
/// # Errors
///
/// It was built without them.
pub fn check_built(function: &Function) -> Result<(), String> {
    if function.names[0] == "XPath" { XPath::parse("/").map(|_| ()) } else { Ok(()) }
}

/// Result of JMeter for a file that cannot be read.
const NOT_READ: &str = "**ERR**";

fn file(call: &Call<'_>) -> Option<Arc<FileText>> {
    call.user.worker.shared_state.files.read(call.text(0).trim())
}

fn line(call: &Call<'_>) -> Option<String> {
    let file = file(call)?;
    file.line(call.user.worker.count(call.site)).map(str::to_owned)
}

fn cell(call: &Call<'_>) -> Option<String> {
    let name = call.text(0).trim();
    let column = call.text(1).trim();
    if column.starts_with('*') {
        call.user.worker.shared_state.set_property(&alias_property(column), Some(name));
        return None;
    }
    let row_counter = format!("CSVRead row {name}");
    let mut counters = call.user.counters.borrow_mut();
    if matches!(column, "next" | "next()") {
        counters.remove(&row_counter);
        return None;
    }
    // The user keeps its row until it calls `next`.
    let row = *counters
        .entry(row_counter.clone())
        .or_insert_with(|| call.user.worker.count(&row_counter));
    drop(counters);
    let shared_state = &call.user.worker.shared_state;
    let file = if name.starts_with('*') {
        shared_state.property(&alias_property(name))?
    } else {
        name.to_owned()
    };
    let file = shared_state.files.read(&file)?;
    // JMeter does not support quotes here.
    file.line(row)?.split(',').nth(usize::try_from(call.number(1)?).ok()?).map(str::to_owned)
}

/// Returns the property that stores the file of an alias.
fn alias_property(alias: &str) -> String {
    format!("CSVRead {alias}")
}

fn xpath_value(call: &Call<'_>) -> Option<String> {
    let values = file(call)?.xpath_values(call.text(1).trim());
    let place = format!("XPath {} {}", call.text(0).trim(), call.text(1).trim());
    let number = call.user.worker.count(&place).checked_rem(values.len() as u64)?;
    values.get(number as usize).cloned()
}

fn write(call: &Call<'_>) -> bool {
    let files = &call.user.worker.shared_state.files;
    let name = call.text(0).trim();
    let text = call.text(1).replace("\\n", "\n");
    let appends = matches!(call.text(2).trim().to_ascii_lowercase().as_str(), "" | "true");
    let result = if appends { files.append(name, &text) } else { files.replace(name, &text) };
    result.is_ok()
}
