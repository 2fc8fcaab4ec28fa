//! Writes the table of results.

use super::settings::AutobenchSettings;
use crate::caller::{Caller, Stdout};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Columns of each host.
pub const COLUMNS: [&str; 9] = [
    "req_rate",
    "con_rate",
    "min_rep_rate",
    "avg_rep_rate",
    "max_rep_rate",
    "stddev_rep_rate",
    "resp_time",
    "net_io",
    "errors",
];

/// Further columns of `autobench_admin`: replies by class of their status.
pub const STATUS_COLUMNS: [&str; 5] =
    ["status_100", "status_200", "status_300", "status_400", "status_500"];

/// A table that is being written.
pub struct TestTable {
    out: Box<dyn Write>,
    separator: &'static str,
}

impl TestTable {
    /// Writes the header: the demanded rate, and these columns for each host.
    pub fn begin(
        settings: &AutobenchSettings,
        columns: &[&str],
        caller: &Arc<Caller>,
    ) -> Result<Self, String> {
        let out: Box<dyn Write> = match &settings.file {
            None => Box::new(Stdout(Arc::clone(caller))),
            Some(path) => Box::new(
                File::create(path)
                    .map_err(|error| format!("{} cannot be written: {error}", path.display()))?,
            ),
        };
        let mut table = Self { out, separator: settings.separator };
        let names = settings
            .hosts
            .iter()
            .flat_map(|host| columns.iter().map(|column| format!("{column}_{}", host.name)));
        table.write_line(
            &["dem_req_rate".to_owned()].into_iter().chain(names).collect::<Vec<_>>(),
        )?;
        Ok(table)
    }

    /// Writes a line and flushes it, since a sweep takes long and the user may be watching.
    pub fn write_line(&mut self, cells: &[String]) -> Result<(), String> {
        let written =
            writeln!(self.out, "{}", cells.join(self.separator)).and_then(|()| self.out.flush());
        match written {
            // A closed pipe is fine: its reader may stop early.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("the table: {error}"))
            }
            _ => Ok(()),
        }
    }
}
