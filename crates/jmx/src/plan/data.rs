//! Variables: those that are defined for all, and what sets them anew in each round of a controller.

use super::texts::wrong_at;
use super::{PlanFolder, Reader};
use crate::document::Document;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::property::Properties;
use crate::support::{ElementKind, Role};
use brunt_model::scenario::{Branch, Counter, DataEnd, DataFile, DataFormat, Order, Portion, RowOrder, Sharing, Step};
use brunt_script::template::call_of;
use std::io;

/// The names and values of User Defined Variables, in the order of the plan: those of the Test Plan first. Files of variables that
/// cannot be read have none.
pub fn user_variables(document: &Document, folder: &PlanFolder) -> Vec<(String, String)> {
    let mut all = Vec::new();
    if let Some(plan) = document.test_plan() {
        let nested = plan.properties().element("TestPlan.user_defined_variables");
        extend(&mut all, &nested.iter().flat_map(pairs).collect::<Vec<_>>());
    }
    for element in document.enabled_elements() {
        match element.kind() {
            Some(ElementKind::UserVariables) => extend(&mut all, &pairs(&element.properties()).collect::<Vec<_>>()),
            Some(ElementKind::VariablesFromCsv) => all.extend(file_variables(element, folder).unwrap_or_default()),
            _ => {}
        }
    }
    all
}

/// Adds the variables of one element. They do not see each other, but those of the elements before it: `${name}` of a variable beside
/// it is what that was before, and stays as it is written where it was nothing.
fn extend(all: &mut Vec<(String, String)>, own: &[(String, String)]) {
    let before = |name: &str| all.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    let beside = |value: &str| {
        let others =
            own.iter().map(|(other, _)| other.as_str()).filter(|other| value.contains(&format!("${{{other}}}")));
        others.fold(value.to_owned(), |value, other| {
            let reference = format!("${{{other}}}");
            value.replace(&reference, &before(other).unwrap_or_else(|| format!(r"\{reference}")))
        })
    };
    let added: Vec<_> = own.iter().map(|(name, value)| (name.clone(), beside(value))).collect();
    all.extend(added);
}

/// The variables of a file with a name and a value on each line. Lines with more columns are none.
fn file_variables(element: TestElement<'_>, folder: &PlanFolder) -> io::Result<Vec<(String, String)>> {
    let properties = element.properties();
    let text = |name: &str| properties.text(name).unwrap_or_default().trim().to_owned();
    let bytes = folder.read(&text("filename"))?;
    let (prefix, delimiter) = (text("variablesPrefix"), delimiter(&text("delimiter")));
    let skipped = properties.int("skipLines").ok().flatten().and_then(|lines| usize::try_from(lines).ok());
    let mut variables = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines().skip(skipped.unwrap_or(0)) {
        let (name, value) = line.split_once(delimiter).unwrap_or((line, ""));
        if !name.is_empty() && !value.contains(delimiter) {
            variables.push((format!("{prefix}{name}"), value.to_owned()));
        }
    }
    Ok(variables)
}

/// Names and values of an `Arguments` element; a name that is empty is none.
pub fn pairs(arguments: &Properties<'_>) -> impl Iterator<Item = (String, String)> + use<> {
    let items: Vec<(String, String)> = arguments
        .items("Arguments.arguments")
        .map(|item| {
            let argument = item.properties();
            let text = |name: &str| argument.text(name).unwrap_or_default().into_owned();
            (text("Argument.name").trim().to_owned(), text("Argument.value"))
        })
        .collect();
    items.into_iter().filter(|(name, _)| !name.is_empty())
}

impl Reader<'_> {
    /// Looks at the files of variables that a plan names.
    ///
    /// # Errors
    ///
    /// One cannot be read.
    pub(super) fn check_variable_files(&mut self, document: &Document) -> Result<(), JmxError> {
        let is_file = |element: &TestElement<'_>| element.kind() == Some(ElementKind::VariablesFromCsv);
        for element in document.enabled_elements().filter(is_file) {
            let name = element.properties().text("filename").unwrap_or_default().trim().to_owned();
            self.notice_instead(element, &name);
            let Err(error) = file_variables(element, self.surroundings.folder) else { continue };
            let wrong = format!("the file {name} cannot be read: {error}");
            if !self.surroundings.lenient {
                return Err(wrong_at(element, &format!("{wrong}; put it there, or name another")));
            }
            self.notice(format!("{}: left out, {wrong}", element.place()));
        }
        Ok(())
    }

    /// What sets variables in each round of a controller: its children, and those of its samplers.
    ///
    /// # Errors
    ///
    /// A data file cannot be read.
    pub(super) fn round_begins(&mut self, controller: TestElement<'_>) -> Result<Vec<Step>, JmxError> {
        let mut steps = Vec::new();
        for child in controller.enabled_children() {
            if child.role() == Role::Sampler {
                for below in child.enabled_children() {
                    steps.extend(self.sets_variables(below)?);
                }
            }
            steps.extend(self.sets_variables(child)?);
        }
        Ok(steps)
    }

    fn sets_variables(&mut self, element: TestElement<'_>) -> Result<Option<Step>, JmxError> {
        Ok(match element.kind() {
            Some(ElementKind::CsvDataSet) => self.csv(element)?,
            Some(ElementKind::RandomCsvDataSet) => self.random_csv(element)?,
            Some(ElementKind::Counter) => Some(self.counter(element)),
            Some(ElementKind::RandomVariable) => self.random_variable(element),
            Some(ElementKind::UserParameters) => self.user_parameters(element),
            _ => None,
        })
    }

    fn csv(&mut self, element: TestElement<'_>) -> Result<Option<Step>, JmxError> {
        let names = self.filled(element, "variableNames");
        let at_end = match (self.flag(element, "recycle", true), self.flag(element, "stopThread", false)) {
            (true, _) => DataEnd::Again,
            (false, true) => DataEnd::StopUser,
            (false, false) => DataEnd::Eof,
        };
        let mode = self.filled(element, "shareMode");
        let shared = match mode.trim() {
            "shareMode.group" | "Current thread group" => Sharing::Population,
            "shareMode.thread" | "Current thread" => Sharing::User,
            _ => Sharing::All,
        };
        let file = DataFile {
            file: String::new(),
            encoding: self.filled(element, "fileEncoding"),
            format: DataFormat::Csv {
                delimiter: delimiter(&self.filled(element, "delimiter")),
                quoted: self.flag(element, "quotedData", false),
            },
            names: columns(&names),
            skip_first: self.flag(element, "ignoreFirstLine", false) && !names.trim().is_empty(),
            shared,
            order: RowOrder::Sequence,
            at_end,
        };
        self.data_file(element, file)
    }

    fn random_csv(&mut self, element: TestElement<'_>) -> Result<Option<Step>, JmxError> {
        let names = self.filled(element, "variableNames");
        let order = if self.flag(element, "randomOrder", true) { RowOrder::Random } else { RowOrder::Sequence };
        let file = DataFile {
            file: String::new(),
            encoding: self.filled(element, "fileEncoding"),
            format: DataFormat::Csv { delimiter: delimiter(&self.filled(element, "delimiter")), quoted: true },
            names: columns(&names),
            skip_first: self.flag(element, "ignoreFirstLine", false) && !names.trim().is_empty(),
            shared: if self.flag(element, "independentListPerThread", false) { Sharing::User } else { Sharing::All },
            order,
            at_end: if self.flag(element, "rewindOnTheEndOfList", true) { DataEnd::Again } else { DataEnd::StopUser },
        };
        self.data_file(element, file)
    }

    /// The step that reads a row of a file; None: the file is left out.
    fn data_file(&mut self, element: TestElement<'_>, file: DataFile) -> Result<Option<Step>, JmxError> {
        let written = self.filled(element, "filename");
        self.notice_instead(element, written.trim());
        let path = match self.surroundings.folder.find(written.trim()) {
            Ok(path) => path,
            Err(error) => {
                let wrong = format!("the data file {} cannot be read: {error}", written.trim());
                if self.surroundings.lenient {
                    self.notice(format!("{}: left out, {wrong}", element.place()));
                    return Ok(None);
                }
                return Err(wrong_at(element, &format!("{wrong}; put it there, or name another")));
            }
        };
        let file = DataFile { file: path.to_string_lossy().into_owned(), ..file };
        let data = &mut self.group.data;
        let known = data.iter().position(|other| *other == file);
        let number = known.unwrap_or_else(|| {
            data.push(file);
            data.len() - 1
        });
        Ok(Some(Step::Row(number as u32)))
    }

    fn counter(&self, element: TestElement<'_>) -> Step {
        Step::Count(Counter {
            variable: self.filled(element, "CounterConfig.name"),
            start: self.text(element, "CounterConfig.start"),
            step: self.text(element, "CounterConfig.incr"),
            end: self.text(element, "CounterConfig.end"),
            format: self.text(element, "CounterConfig.format"),
            per_user: self.flag(element, "CounterConfig.per_user", false),
            resets: self.flag(element, "CounterConfig.reset_on_tg_iteration", false),
        })
    }

    fn random_variable(&self, element: TestElement<'_>) -> Option<Step> {
        let text = |name: &str| self.text(element, name);
        let drawn = call_of("Random", &[&text("minimumValue"), &text("maximumValue")])?;
        let format = text("outputFormat");
        let value = if format.is_empty() { drawn } else { call_of("formatted", &[&drawn, &format])? };
        Some(Step::Set { variable: self.filled(element, "variableName"), value })
    }

    /// Each user has the values of one column, the next one those of the next.
    fn user_parameters(&self, element: TestElement<'_>) -> Option<Step> {
        let names: Vec<String> =
            element.properties().items("UserParameters.names").map(|name| self.before.text(&name.text())).collect();
        let columns = element.properties().items("UserParameters.thread_values");
        let branches = columns.map(|column| {
            let values = column.items().map(|value| self.before.folded(&value.text()));
            let set = names.iter().cloned().zip(values);
            Branch { weight: 1, steps: set.map(|(variable, value)| Step::Set { variable, value }).collect() }
        });
        let branches: Vec<Branch> = branches.collect();
        (!branches.is_empty()).then_some(Step::Choose { order: Order::User, portion: Portion::Whole, branches })
    }
}

fn delimiter(written: &str) -> char {
    match written {
        r"\t" => '\t',
        other => other.chars().next().unwrap_or(','),
    }
}

fn columns(names: &str) -> Vec<String> {
    names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}
