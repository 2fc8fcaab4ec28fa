//! Converts data files to entries of `data`.

use super::Writer;
use brunt_har::write::push;
use brunt_model::scenario::{DataFile, DataFormat};
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
        // Plan files have the words of the model.
        let words = serde_json::to_value(file).unwrap_or_default();
        for (key, default) in [("shared", "all"), ("order", "sequence"), ("at_end", "again")] {
            let word = words[key].as_str().unwrap_or(default);
            if word != default {
                push(&mut keys, key, Yaml::text(word));
            }
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
