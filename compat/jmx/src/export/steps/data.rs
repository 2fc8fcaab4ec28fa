//! Exports steps that set variables.

use super::super::PlanWriter;
use super::super::xml::Item;
use crate::support::ElementKind;
use crate::support::kinds::{Counter, CsvDataSet};
use brunt_model::scenario::{DataEnd, DataFile, DataFormat, RowOrder, Sharing, VariableCounter};

impl PlanWriter<'_> {
    pub(super) fn data(&mut self, file: &DataFile) -> Item {
        let name = self.file(&file.file);
        let delimiter = match file.format {
            DataFormat::Csv { delimiter: '\t', .. } => r"\t".to_owned(),
            DataFormat::Csv { delimiter, .. } => delimiter.to_string(),
            DataFormat::JsonLines => {
                self.notice(format!("data file {name}: JMeter reads CSV only; write it as CSV"));
                ",".to_owned()
            }
        };
        if file.order == RowOrder::Random {
            self.notice(format!("data file {name}: JMeter takes its rows in order"));
        }
        if file.at_end == DataEnd::StopRun {
            self.notice(format!(
                "data file {name}: after its last row each thread stops, and the test with the last thread"
            ));
        }
        let share_mode = match file.shared {
            Sharing::All => "shareMode.all",
            Sharing::Population => "shareMode.group",
            Sharing::User => "shareMode.thread",
        };
        let encoding = if file.encoding.is_empty() { "UTF-8" } else { &file.encoding };
        let fields = CsvDataSet {
            file: name.clone(),
            encoding: encoding.to_owned(),
            names: file.names.join(","),
            skips_first: file.skip_first,
            delimiter,
            is_quoted: matches!(file.format, DataFormat::Csv { quoted: true, .. }),
            recycles: file.at_end == DataEnd::Again,
            stops: matches!(file.at_end, DataEnd::StopUser | DataEnd::StopRun),
            share_mode: share_mode.to_owned(),
        };
        self.item(ElementKind::CsvDataSet, name, fields)
    }

    pub(super) fn counter(&mut self, counter: &VariableCounter) -> Item {
        let VariableCounter { variable, start, step, end, format, per_user, resets } =
            counter.clone();
        let name = variable.clone();
        let fields = Counter {
            variable,
            // JMeter reads an empty number as 0.
            start: if start.is_empty() { "0".to_owned() } else { start },
            step: if step.is_empty() { "1".to_owned() } else { step },
            end,
            format,
            is_per_user: per_user,
            resets,
        };
        self.item(ElementKind::Counter, name, fields)
    }
}
