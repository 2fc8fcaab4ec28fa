//! Reads User Defined Variables, and converts elements that set variables in each
//! round of a controller.

use super::texts::error_at;
use super::{PlanFolder, PlanReader};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::property::Properties;
use crate::support::{ElementKind, Role};
use brunt_model::scenario::{
    Branch, DataEnd, DataFile, DataFormat, ListOrder, Portion, RowOrder, ScenarioStep, Sharing,
    VariableCounter,
};
use brunt_script::template::call_of;
use std::io;

/// Names and values of User Defined Variables in the order of the plan, those of the Test Plan
/// first. Unreadable variable files are skipped.
pub fn user_variables(document: &JmxDocument, folder: &PlanFolder) -> Vec<(String, String)> {
    let mut all = Vec::new();
    if let Some(plan) = document.test_plan() {
        let nested = plan.properties().element("TestPlan.user_defined_variables");
        extend(&mut all, &nested.iter().flat_map(pairs).collect::<Vec<_>>());
    }
    for element in document.enabled_elements() {
        match element.kind() {
            Some(ElementKind::UserVariables) => {
                extend(&mut all, &pairs(&element.properties()).collect::<Vec<_>>());
            }
            Some(ElementKind::VariablesFromCsv) => {
                all.extend(file_variables(element, folder).unwrap_or_default());
            }
            _ => {}
        }
    }
    all
}

/// Adds the variables of one element. They do not see each other, only those of earlier elements.
fn extend(all: &mut Vec<(String, String)>, added: &[(String, String)]) {
    let evaluated: Vec<_> = added
        .iter()
        .map(|(name, value)| (name.clone(), with_earlier_values(value, added, all)))
        .collect();
    all.extend(evaluated);
}

/// Replaces references to variables of the same element by their earlier values. A reference to a
/// variable without an earlier value is escaped, so that it stays as written.
fn with_earlier_values(
    value: &str,
    added: &[(String, String)],
    earlier: &[(String, String)],
) -> String {
    let names = added.iter().map(|(name, _)| name.as_str());
    let referenced = names.filter(|name| value.contains(&format!("${{{name}}}")));
    referenced.fold(value.to_owned(), |value, name| {
        let reference = format!("${{{name}}}");
        let earlier_value =
            earlier.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        value.replace(&reference, &earlier_value.unwrap_or_else(|| format!(r"\{reference}")))
    })
}

/// Variables of a file with one name and value per line. Lines with more columns are ignored.
fn file_variables(
    element: TestElement<'_>,
    folder: &PlanFolder,
) -> io::Result<Vec<(String, String)>> {
    let properties = element.properties();
    let bytes = folder.read(&trimmed(&properties, "filename"))?;
    let prefix = trimmed(&properties, "variablesPrefix");
    let delimiter = delimiter(&trimmed(&properties, "delimiter"));
    let skipped =
        properties.int("skipLines").ok().flatten().and_then(|lines| usize::try_from(lines).ok());
    let mut variables = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines().skip(skipped.unwrap_or(0)) {
        let (name, value) = line.split_once(delimiter).unwrap_or((line, ""));
        if !name.is_empty() && !value.contains(delimiter) {
            variables.push((format!("{prefix}{name}"), value.to_owned()));
        }
    }
    Ok(variables)
}

fn trimmed(properties: &Properties<'_>, name: &str) -> String {
    properties.text(name).unwrap_or_default().trim().to_owned()
}

/// Names and values of an `Arguments` element, without those that have an empty name.
pub fn pairs(arguments: &Properties<'_>) -> impl Iterator<Item = (String, String)> + use<> {
    let items: Vec<(String, String)> = arguments
        .items("Arguments.arguments")
        .map(|item| {
            let argument = item.properties();
            let name = argument.text("Argument.name").unwrap_or_default();
            let value = argument.text("Argument.value").unwrap_or_default();
            (name.trim().to_owned(), value.into_owned())
        })
        .collect();
    items.into_iter().filter(|(name, _)| !name.is_empty())
}

impl PlanReader<'_> {
    /// Checks the variable files of a plan.
    pub(super) fn check_variable_files(&mut self, document: &JmxDocument) -> Result<(), JmxError> {
        let elements = document
            .enabled_elements()
            .filter(|element| element.kind() == Some(ElementKind::VariablesFromCsv));
        for element in elements {
            let name = element.properties().text("filename").unwrap_or_default().trim().to_owned();
            self.notice_replacement(element, &name);
            let Err(error) = file_variables(element, self.context.folder) else { continue };
            let message = format!("the file {name} cannot be read: {error}");
            if !self.context.lenient {
                return Err(error_at(
                    element,
                    &format!("{message}; put it there, or name another"),
                ));
            }
            self.notice(format!("{}: left out, {message}", element.place()));
        }
        Ok(())
    }

    /// Steps that set variables at the start of each round of a controller, for its children and
    /// their children if samplers.
    ///
    /// # Errors
    ///
    /// Fails if a data file cannot be read.
    pub(super) fn round_start(
        &mut self,
        controller: TestElement<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let mut steps = Vec::new();
        for child in controller.enabled_children() {
            if child.role() == Role::Sampler {
                for child in child.enabled_children() {
                    steps.extend(self.assignment(child)?);
                }
            }
            steps.extend(self.assignment(child)?);
        }
        Ok(steps)
    }

    fn assignment(&mut self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        Ok(match element.kind() {
            Some(ElementKind::CsvDataSet) => self.csv(element)?,
            Some(ElementKind::RandomCsvDataSet) => self.random_csv(element)?,
            Some(ElementKind::Counter) => Some(self.counter(element)),
            Some(ElementKind::RandomVariable) => self.random_variable(element),
            Some(ElementKind::UserParameters) => self.user_parameters(element),
            _ => None,
        })
    }

    fn csv(&mut self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let names = self.value(element, "variableNames");
        let at_end =
            match (self.flag(element, "recycle", true), self.flag(element, "stopThread", false)) {
                (true, _) => DataEnd::Again,
                (false, true) => DataEnd::StopUser,
                (false, false) => DataEnd::Eof,
            };
        let mode = self.value(element, "shareMode");
        let shared = match mode.trim() {
            // A plan has the key of a mode, or its English label.
            "shareMode.group" | "Current thread group" => Sharing::Population,
            "shareMode.thread" | "Current thread" => Sharing::User,
            _ => Sharing::All,
        };
        let file = DataFile {
            file: String::new(),
            encoding: self.value(element, "fileEncoding"),
            format: DataFormat::Csv {
                delimiter: delimiter(&self.value(element, "delimiter")),
                quoted: self.flag(element, "quotedData", false),
            },
            names: columns(&names),
            // Without names in the plan, the first line holds the names.
            skip_first: self.flag(element, "ignoreFirstLine", false) && !names.trim().is_empty(),
            shared,
            order: RowOrder::Sequence,
            at_end,
        };
        self.data_file(element, file)
    }

    fn random_csv(&mut self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let names = self.value(element, "variableNames");
        let order = if self.flag(element, "randomOrder", true) {
            RowOrder::Random
        } else {
            RowOrder::Sequence
        };
        let file = DataFile {
            file: String::new(),
            encoding: self.value(element, "fileEncoding"),
            format: DataFormat::Csv {
                delimiter: delimiter(&self.value(element, "delimiter")),
                quoted: true,
            },
            names: columns(&names),
            // Without names in the plan, the first line holds the names.
            skip_first: self.flag(element, "ignoreFirstLine", false) && !names.trim().is_empty(),
            shared: if self.flag(element, "independentListPerThread", false) {
                Sharing::User
            } else {
                Sharing::All
            },
            order,
            at_end: if self.flag(element, "rewindOnTheEndOfList", true) {
                DataEnd::Again
            } else {
                DataEnd::StopUser
            },
        };
        self.data_file(element, file)
    }

    /// The step that reads a row of a file; None if the file is omitted.
    fn data_file(
        &mut self,
        element: TestElement<'_>,
        file: DataFile,
    ) -> Result<Option<ScenarioStep>, JmxError> {
        let file_name = self.value(element, "filename");
        self.notice_replacement(element, file_name.trim());
        let path = match self.context.folder.find(file_name.trim()) {
            Ok(path) => path,
            Err(error) => {
                let message = format!("the data file {} cannot be read: {error}", file_name.trim());
                if self.context.lenient {
                    self.notice(format!("{}: left out, {message}", element.place()));
                    return Ok(None);
                }
                return Err(error_at(
                    element,
                    &format!("{message}; put it there, or name another"),
                ));
            }
        };
        let file = DataFile { file: path.to_string_lossy().into_owned(), ..file };
        let data = &mut self.group.data;
        let index = data.iter().position(|other| *other == file);
        let number = index.unwrap_or_else(|| {
            data.push(file);
            data.len() - 1
        });
        Ok(Some(ScenarioStep::Row(number as u32)))
    }

    fn counter(&self, element: TestElement<'_>) -> ScenarioStep {
        ScenarioStep::Count(VariableCounter {
            variable: self.value(element, "CounterConfig.name"),
            start: self.text(element, "CounterConfig.start"),
            step: self.text(element, "CounterConfig.incr"),
            end: self.text(element, "CounterConfig.end"),
            format: self.text(element, "CounterConfig.format"),
            per_user: self.flag(element, "CounterConfig.per_user", false),
            resets: self.flag(element, "CounterConfig.reset_on_tg_iteration", false),
        })
    }

    fn random_variable(&self, element: TestElement<'_>) -> Option<ScenarioStep> {
        let drawn = call_of(
            "Random",
            &[&self.text(element, "minimumValue"), &self.text(element, "maximumValue")],
        )?;
        let format = self.text(element, "outputFormat");
        let value =
            if format.is_empty() { drawn } else { call_of("formatted", &[&drawn, &format])? };
        Some(ScenarioStep::Set { variable: self.value(element, "variableName"), value })
    }

    /// Sets the values of one column per user; the next user has the next column.
    fn user_parameters(&self, element: TestElement<'_>) -> Option<ScenarioStep> {
        let names: Vec<String> = element
            .properties()
            .items("UserParameters.names")
            .map(|name| self.before.text(&name.text()))
            .collect();
        let columns = element.properties().items("UserParameters.thread_values");
        let branches = columns.map(|column| {
            let values = column.items().map(|value| self.before.folded(&value.text()));
            let pairs = names.iter().cloned().zip(values);
            Branch {
                weight: 1,
                steps: pairs
                    .map(|(variable, value)| ScenarioStep::Set { variable, value })
                    .collect(),
            }
        });
        let branches: Vec<Branch> = branches.collect();
        (!branches.is_empty()).then_some(ScenarioStep::Choose {
            order: ListOrder::User,
            portion: Portion::Whole,
            branches,
        })
    }
}

fn delimiter(text: &str) -> char {
    match text {
        // A plan writes a tab as a backslash and a `t`.
        r"\t" => '\t',
        other => other.chars().next().unwrap_or(','),
    }
}

fn columns(names: &str) -> Vec<String> {
    names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}
