//! Converts data files to entries of `data`.

use super::Writer;
use crate::write::push;
use brunt_model::scenario::{DataEnd, DataFile, DataFormat, RowOrder, Sharing};
use brunt_spec::plan::Yaml;

impl Writer<'_> {
    /// Converts a data file. `is_leading`: each iteration starts with one of its rows.
    pub(super) fn data(&mut self, file: &DataFile, is_leading: bool) -> Yaml {
        let mut keys = vec![("file".to_owned(), Yaml::Text(self.file(&file.file)))];
        if !file.names.is_empty() {
            push(&mut keys, "columns", Yaml::List(file.names.iter().map(Yaml::text).collect()));
        }
        match file.format {
            DataFormat::Csv { delimiter: '\t', .. } => {
                push(&mut keys, "delimiter", Yaml::text("tab"));
            }
            DataFormat::Csv { delimiter, .. } if delimiter != ',' => {
                push(&mut keys, "delimiter", Yaml::text(delimiter.to_string()));
            }
            _ => {}
        }
        if !file.encoding.trim().is_empty() {
            push(&mut keys, "encoding", Yaml::text(file.encoding.trim()));
        }
        if file.skip_first {
            push(&mut keys, "skip_first", Yaml::text("true"));
        }
        match file.shared {
            Sharing::All => {}
            Sharing::Population => push(&mut keys, "shared", Yaml::text("population")),
            Sharing::User => push(&mut keys, "shared", Yaml::text("user")),
        }
        if file.order == RowOrder::Random {
            push(&mut keys, "order", Yaml::text("random"));
        }
        match file.at_end {
            DataEnd::Again => {}
            DataEnd::StopUser => push(&mut keys, "at_end", Yaml::text("stop_user")),
            DataEnd::StopRun => push(&mut keys, "at_end", Yaml::text("stop_run")),
            DataEnd::Eof => push(&mut keys, "at_end", Yaml::text("eof")),
        }
        if !is_leading {
            push(&mut keys, "on_demand", Yaml::text("true"));
        }
        match &keys[..] {
            [(_, only)] => only.clone(),
            _ => Yaml::Map(keys),
        }
    }
}
