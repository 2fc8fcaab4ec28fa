//! Reads User Defined Variables, and converts elements that set variables in each
//! round of a controller.

use super::texts::error_at;
use super::{PlanFolder, PlanReader};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::fields::{Fields, whole_number};
use crate::property::Property;
use crate::support::kinds::Variables;
use crate::support::kinds::{
    Counter, CsvDataSet, RandomCsvDataSet, RandomVariable, TestPlan, UserParameters, UserVariables,
    VariablesFromCsv,
};
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
        extend(&mut all, &variables_of::<TestPlan>(plan));
    }
    for element in document.enabled_elements() {
        match element.kind() {
            Some(ElementKind::UserVariables) => {
                extend(&mut all, &variables_of::<UserVariables>(element));
            }
            Some(ElementKind::VariablesFromCsv) => {
                all.extend(file_variables(element, folder).unwrap_or_default());
            }
            _ => {}
        }
    }
    all
}

/// Names and unevaluated values in the first property of an element.
fn variables_of<F: Fields>(element: TestElement<'_>) -> Vec<(String, String)> {
    let list = F::PROPERTIES.first().and_then(|row| element.property(row.path));
    Variables::pairs(list.iter().flat_map(Property::items)).collect()
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
    // There are no variables yet with which texts could be evaluated.
    let texts = VariablesFromCsv::PROPERTIES
        .iter()
        .map(|row| element.properties().text(row.path).unwrap_or_default().trim().to_owned());
    let texts: Vec<String> = texts.collect();
    let [file, prefix, separator, skipped, ..] = &texts[..] else { return Ok(Vec::new()) };
    let bytes = folder.read(file)?;
    let delimiter = delimiter(separator);
    let skipped = skipped.parse::<usize>().ok();
    let mut variables = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines().skip(skipped.unwrap_or(0)) {
        let (name, value) = line.split_once(delimiter).unwrap_or((line, ""));
        if !name.is_empty() && !value.contains(delimiter) {
            variables.push((format!("{prefix}{name}"), value.to_owned()));
        }
    }
    Ok(variables)
}

impl PlanReader<'_> {
    /// Checks the variable files of a plan.
    pub(super) fn check_variable_files(&mut self, document: &JmxDocument) -> Result<(), JmxError> {
        let elements = document
            .enabled_elements()
            .filter(|element| element.kind() == Some(ElementKind::VariablesFromCsv));
        for element in elements {
            let VariablesFromCsv { file, prefix: _, delimiter: _, skipped: _ } =
                self.fields(element)?;
            let name = file.trim().to_owned();
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
            Some(ElementKind::Counter) => Some(self.counter(element)?),
            Some(ElementKind::RandomVariable) => self.random_variable(element)?,
            Some(ElementKind::UserParameters) => self.user_parameters(element)?,
            _ => None,
        })
    }

    fn csv(&mut self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let of: CsvDataSet = self.fields(element)?;
        let shared = match of.share_mode.trim() {
            // A plan has the key of a mode, or its English label.
            "shareMode.group" | "Current thread group" => Sharing::Population,
            "shareMode.thread" | "Current thread" => Sharing::User,
            _ => Sharing::All,
        };
        let at_end = match (of.recycles, of.stops) {
            (true, _) => DataEnd::Again,
            (false, true) => DataEnd::StopUser,
            (false, false) => DataEnd::Eof,
        };
        let order = RowOrder::Sequence;
        let format = DataFormat::Csv { delimiter: delimiter(&of.delimiter), quoted: of.is_quoted };
        let encoding = of.encoding;
        let file =
            DataFile { encoding, shared, order, at_end, ..rows(&of.names, of.skips_first, format) };
        self.data_file(element, of.file.trim(), file)
    }

    fn random_csv(&mut self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let of: RandomCsvDataSet = self.fields(element)?;
        let shared = if of.is_per_user { Sharing::User } else { Sharing::All };
        let order = if of.is_random { RowOrder::Random } else { RowOrder::Sequence };
        let at_end = if of.recycles { DataEnd::Again } else { DataEnd::StopUser };
        let format = DataFormat::Csv { delimiter: delimiter(&of.delimiter), quoted: true };
        let encoding = of.encoding;
        let file =
            DataFile { encoding, shared, order, at_end, ..rows(&of.names, of.skips_first, format) };
        self.data_file(element, of.file.trim(), file)
    }

    /// The step that reads a row of a file; None if the file is omitted.
    fn data_file(
        &mut self,
        element: TestElement<'_>,
        name: &str,
        file: DataFile,
    ) -> Result<Option<ScenarioStep>, JmxError> {
        self.notice_replacement(element, name);
        let path = match self.context.folder.find(name) {
            Ok(path) => path,
            Err(error) => {
                let message = format!("the data file {name} cannot be read: {error}");
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

    fn counter(&self, element: TestElement<'_>) -> Result<ScenarioStep, JmxError> {
        let Counter { variable, start, step, end, format, is_per_user, resets } =
            self.fields(element)?;
        // JMeter reads an invalid number as 0.

        let step = if has_number(&step) { step } else { "0".to_owned() };
        let end = if end.is_empty() || has_number(&end) { end } else { "0".to_owned() };
        let limits = (whole_number(&start).unwrap_or(0.0), whole_number(&end));
        // A counter above its maximum starts again each time.
        let step = match limits {
            (start_number, Some(last)) if Self::is_constant(&start) && start_number > last => {
                "0".to_owned()
            }
            _ => step,
        };
        Ok(ScenarioStep::Count(VariableCounter {
            variable,
            start,
            step,
            end,
            format,
            per_user: is_per_user,
            resets,
        }))
    }

    fn random_variable(&self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let RandomVariable { variable, format, least, most } = self.fields(element)?;
        let value = call_of("Random", &[&least, &most]).and_then(|drawn| match &*format {
            "" => Some(drawn),
            format => call_of("formatted", &[&drawn, format]),
        });
        Ok(value.map(|value| ScenarioStep::Set { variable, value }))
    }

    /// Sets the values of one column per user; the next user has the next column.
    fn user_parameters(&self, element: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let UserParameters { names, values } = self.fields(element)?;
        let names: Vec<String> = names.iter().map(|name| self.before.text(name)).collect();
        let branches = values.into_iter().map(|column| {
            let pairs = names.iter().cloned().zip(column);
            Branch {
                weight: 1,
                steps: pairs
                    .map(|(variable, value)| ScenarioStep::Set { variable, value })
                    .collect(),
            }
        });
        let branches: Vec<Branch> = branches.collect();
        Ok((!branches.is_empty()).then_some(ScenarioStep::Choose {
            order: ListOrder::User,
            portion: Portion::Whole,
            branches,
        }))
    }
}

fn delimiter(text: &str) -> char {
    match text {
        // A plan writes a tab as a backslash and a `t`.
        r"\t" => '\t',
        other => other.chars().next().unwrap_or(','),
    }
}

/// Format and columns of a data file.
fn rows(names: &str, skips_first: bool, format: DataFormat) -> DataFile {
    DataFile {
        file: String::new(),
        encoding: String::new(),
        format,
        names: columns(names),
        // Without names in the plan, the first line holds the names.
        skip_first: skips_first && !names.trim().is_empty(),
        shared: Sharing::All,
        order: RowOrder::Sequence,
        at_end: DataEnd::Again,
    }
}

fn columns(names: &str) -> Vec<String> {
    names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// True if a text is a whole number, or has one in the run.
fn has_number(text: &str) -> bool {
    text.contains("${") || whole_number(text).is_some()
}
