//! Checks a text: its problems, the tree of its elements, and its load over time.

use super::{EditedPlan, MAX_FORM_BYTES, PLAN_FORMATS};
use crate::layout::{Problem, json};
use crate::pages::import::jmx_options;
use crate::shared::{Shared, form_up_to, on_thread};
use crate::texts::{Viewer, message};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use brunt_editor::{Element, PlanText};
use brunt_import::jmx::convert;
use brunt_jmx::editor::JmxPlan;
use brunt_jmx::{FilePosition, JmxDocument, is_jmx};
use brunt_model::load::Load;
use brunt_model::{Experiment, Population};
use brunt_spec::system::NEEDS_SERVER;
use brunt_spec::{SpecError, System, plan_file};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Duration of a curve if the load has no end.
const ENDLESS: Duration = Duration::from_mins(1);

/// Result of checking a text.
#[derive(Debug, Clone, Serialize)]
pub struct CheckedText {
    problems: Vec<TextProblem>,
    /// Digest of the text, for edits.
    revision: String,
    /// None if the text cannot be read.
    tree: Option<Element>,
    curves: Vec<LoadCurve>,
}

/// A problem of a text.
#[derive(Debug, Clone, Serialize)]
struct TextProblem {
    /// Line, from 1; 0 for the whole file.
    line: u32,
    column: u32,
    severity: &'static str,
    message: String,
}

/// The load of a population over time.
#[derive(Debug, Clone, Serialize)]
struct LoadCurve {
    name: String,
    unit: String,
    /// Seconds since the start, and the value.
    points: Vec<(f64, f64)>,
}

/// Checks a text, without saving it.
pub async fn check(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Response, Problem> {
    let fields = form_up_to(MAX_FORM_BYTES, body).await?;
    on_thread(&shared, move |shared| json(&checked(EditedPlan::of_form(&fields), shared, &viewer)))
        .await
}

/// Checks a text, and keeps it for edits.
pub fn checked(plan: EditedPlan, shared: &Shared, viewer: &Viewer) -> CheckedText {
    let read = PlanText::read(&plan.file, &plan.text, &PLAN_FORMATS).ok();
    let tree = read.as_ref().map(PlanText::tree);
    let (problems, curves) = if is_jmx(&plan.file) {
        let jmx: Option<&JmxPlan> = read.as_ref().and_then(PlanText::downcast);
        (jmx_problems(&plan, jmx.map(JmxPlan::document), viewer), Vec::new())
    } else {
        plan_problems(&plan, &shared.system, viewer)
    };
    let revision = shared.edited_texts().keep(&plan.file, plan.text, read);
    CheckedText { problems, revision, tree, curves }
}

/// Problems of a plan file, and its load.
fn plan_problems(
    plan: &EditedPlan,
    system: &System,
    viewer: &Viewer,
) -> (Vec<TextProblem>, Vec<LoadCurve>) {
    // Each pause in typing would send requests to the server of the plan.
    let bare = System::bare(system.descriptors, system.cores, system.ports, system.seed);
    let System { environment, program, languages, .. } = *system;
    let system = System { environment, program, languages, ..bare };
    // Relative names in the plan are relative to its file.
    let path = Path::new(&plan.file);
    let opened = plan_file::open_text(path, &plan.text, &[], plan_file::NO_FOLDER, &system);
    match opened.and_then(|opened| opened.resolve(&system)) {
        Ok(resolved) => (
            resolved.notes.into_iter().map(TextProblem::note).collect(),
            curves(&resolved.experiment, viewer),
        ),
        Err(error) => {
            let errors = std::iter::once(&error).chain(&error.others);
            (errors.map(TextProblem::from).collect(), Vec::new())
        }
    }
}

/// Problems of a plan of `JMeter`: elements that brunt cannot run, and the reason why it cannot run the plan. `document` is None if the
/// plan cannot be edited.
fn jmx_problems(
    plan: &EditedPlan,
    document: Option<&JmxDocument>,
    viewer: &Viewer,
) -> Vec<TextProblem> {
    let parsed;
    let document = if let Some(document) = document {
        document
    } else {
        parsed = JmxDocument::parse(plan.text.as_bytes());
        match &parsed {
            Ok(document) => document,
            Err(error) => return vec![TextProblem::error(error.at, error.message.clone())],
        }
    };
    let unsupported = document.unsupported().into_iter().map(|element| TextProblem {
        line: document.line(element.node),
        column: 1,
        severity: "warning",
        message: viewer.format(&message!("edit-unsupported", element = element.place.as_str())),
    });
    let mut problems: Vec<TextProblem> = unsupported.collect();
    if let Err(error) = convert(document, &jmx_options(&plan.file, &plan.file)) {
        problems.push(TextProblem::error(None, error.to_string()));
    }
    problems
}

/// The load of each population, at the first load of the first contender.
fn curves(experiment: &Experiment, viewer: &Viewer) -> Vec<LoadCurve> {
    let step = experiment.contenders.first().and_then(|contender| contender.steps.first());
    let populations = step.map_or(&[][..], |step| &step.plan.populations);
    populations.iter().map(|population| curve(population, viewer)).collect()
}

fn curve(population: &Population, viewer: &Viewer) -> LoadCurve {
    let (shape, unit) = match &population.load {
        Load::Closed { users, .. } => (users, "edit-users"),
        Load::Open { rate, .. } => (rate, "edit-requests"),
    };
    let endless = population.stop.duration.unwrap_or(ENDLESS);
    let mut points = Vec::new();
    let mut time = 0.0;
    for stage in &shape.stages {
        // A stage without an end has one value, and `from` has no meaning there.
        let from = if stage.duration.is_some() { stage.from } else { stage.to };
        points.push((time, from));
        time += stage.duration.unwrap_or(endless).as_secs_f64();
        points.push((time, stage.to));
    }
    LoadCurve { name: population.name.clone(), unit: viewer.text(unit), points }
}

impl TextProblem {
    fn note(message: String) -> Self {
        Self { line: 0, column: 0, severity: "warning", message }
    }

    /// An error at a place. Without a place, it concerns the whole file.
    fn error(place: Option<FilePosition>, message: String) -> Self {
        let FilePosition { line, column } = place.unwrap_or(FilePosition { line: 0, column: 0 });
        Self { line, column, severity: "error", message }
    }
}

impl From<&SpecError> for TextProblem {
    fn from(error: &SpecError) -> Self {
        let place = error.position.as_ref().map(brunt_spec::plan::SourcePosition::line_and_column);
        let (line, column) = place.unwrap_or_default();
        let message = match error.path.as_str() {
            "" => error.wrong.clone(),
            path => format!("{path}: {}", error.wrong),
        };
        let is_checked = !NEEDS_SERVER.iter().any(|needs| error.wrong.contains(needs));
        let severity = if is_checked { "error" } else { "warning" };
        Self { line, column, severity, message }
    }
}
