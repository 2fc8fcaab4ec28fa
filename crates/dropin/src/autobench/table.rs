//! The table: its columns, and where its lines go.

use super::settings::Settings;
use crate::caller::{Caller, Stdout};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// What a host has columns of.
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

/// What a host has more of from many machines: replies by their status.
pub const STATUS_COLUMNS: [&str; 5] = ["status_100", "status_200", "status_300", "status_400", "status_500"];

/// A table that is being written.
pub struct Table {
    out: Box<dyn Write>,
    divider: &'static str,
}

impl Table {
    /// Begins it, with a line of names: the demanded rate, and these columns for each host.
    pub fn begin(settings: &Settings, columns: &[&str], caller: &Arc<Caller>) -> Result<Self, String> {
        let out: Box<dyn Write> = match &settings.file {
            None => Box::new(Stdout(Arc::clone(caller))),
            Some(path) => {
                Box::new(File::create(path).map_err(|error| format!("{} cannot be written: {error}", path.display()))?)
            }
        };
        let mut table = Self { out, divider: settings.divider };
        let of_host = |name: &str| columns.iter().map(|column| format!("{column}_{name}")).collect::<Vec<_>>();
        let names = settings.hosts.iter().flat_map(|host| of_host(&host.name));
        table.line(&["dem_req_rate".to_owned()].into_iter().chain(names).collect::<Vec<_>>())?;
        Ok(table)
    }

    /// Writes a line, at once: a sweep takes long, and somebody may be looking.
    pub fn line(&mut self, cells: &[String]) -> Result<(), String> {
        let written = writeln!(self.out, "{}", cells.join(self.divider)).and_then(|()| self.out.flush());
        match written {
            // Whoever reads the table may stop when it has seen enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("the table: {error}")),
            _ => Ok(()),
        }
    }
}
