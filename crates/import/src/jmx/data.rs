//! Converts data files to entries of `data`.

use super::Writer;
use brunt_model::scenario::{DataEnd, DataFile, DataFormat, RowOrder, Sharing};
use brunt_spec::plan::Yaml;

impl Writer<'_> {
    /// Converts a data file. `is_leading`: each iteration starts with one of its rows.
    pub(super) fn data(&mut self, file: &DataFile, is_leading: bool) -> Yaml {
        let mut keys = vec![("file".to_owned(), Yaml::Text(self.file(&file.file)))];
        let mut add = |name: &str, value: Yaml| keys.push((name.to_owned(), value));
        if !file.names.is_empty() {
            add("columns", Yaml::List(file.names.iter().map(Yaml::text).collect()));
        }
        match file.format {
            DataFormat::Csv { delimiter: '\t', .. } => add("delimiter", Yaml::text("tab")),
            DataFormat::Csv { delimiter, .. } if delimiter != ',' => {
                add("delimiter", Yaml::text(delimiter.to_string()));
            }
            _ => {}
        }
        if !file.encoding.trim().is_empty() {
            add("encoding", Yaml::text(file.encoding.trim()));
        }
        if file.skip_first {
            add("skip_first", Yaml::text("true"));
        }
        match file.shared {
            Sharing::All => {}
            Sharing::Population => add("shared", Yaml::text("population")),
            Sharing::User => add("shared", Yaml::text("user")),
        }
        if file.order == RowOrder::Random {
            add("order", Yaml::text("random"));
        }
        match file.at_end {
            DataEnd::Again => {}
            DataEnd::StopUser => add("at_end", Yaml::text("stop_user")),
            DataEnd::StopRun => add("at_end", Yaml::text("stop_run")),
            DataEnd::Eof => add("at_end", Yaml::text("eof")),
        }
        if !is_leading {
            add("on_demand", Yaml::text("true"));
        }
        match &keys[..] {
            [(_, only)] => only.clone(),
            _ => Yaml::Map(keys),
        }
    }
}
