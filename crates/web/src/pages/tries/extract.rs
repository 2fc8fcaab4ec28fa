//! Extractors and checks for a selected piece of a body: proposals, tested on all replies of the try, and the change of
//! the plan.

use super::{TryContent, address, text_of};
use crate::fields::Fields;
use crate::layout::{Problem, post_form, scrolled_table};
use crate::pages::edit::{self, EditedPlan};
use crate::shared::{Shared, form, on_thread};
use crate::texts::{ELEMENT, Viewer, message};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Redirect;
use brunt_model::extract::ExtractFrom;
use brunt_runner::trace::TracedSample;
use brunt_script::proposals::{proposals as propose, values};
use brunt_spec::plan::{Yaml, edit as edit_plan, paths_of_label};
use maud::{Markup, html};
use std::sync::Arc;

/// Maximum number of bytes of a body that extractors search, as in a run.
const SEARCHED_BYTES: u64 = 16 << 20;

/// Maximum number of replies on which proposals are tested.
const MOST_TESTED: usize = 100;

/// Value of the field `by` for a check that the body contains a text.
const CONTAINS: &str = "contains";

/// Messages with the titles of the columns.
const COLUMNS: [&str; 4] =
    ["extract-by", "extract-expression", "extract-matches", "extract-matching-replies"];

/// An extractor as fields of a form, and as a value of a plan.
struct Proposal {
    from: ExtractFrom,
}

impl Proposal {
    /// Key of the plan file, with its expression and a second text.
    fn words(&self) -> Option<(&'static str, &str, &str)> {
        Some(match &self.from {
            ExtractFrom::JsonPath(path) => ("json", path, ""),
            ExtractFrom::Regex { pattern, .. } => ("regex", pattern, ""),
            ExtractFrom::Boundary { left, right } => ("between", left, right),
            ExtractFrom::Css { selector, attribute } => ("css", selector, attribute),
            ExtractFrom::Xpath(path) => ("xpath", path, ""),
            _ => return None,
        })
    }

    fn of_form(fields: &Fields) -> Result<Self, Problem> {
        let text = fields.first("expression").to_owned();
        let second = fields.first("second").to_owned();
        let from = match fields.first("by") {
            "json" => ExtractFrom::JsonPath(text),
            "regex" => ExtractFrom::Regex { pattern: text, group: 1, template: None },
            "between" => ExtractFrom::Boundary { left: text, right: second },
            "css" => ExtractFrom::Css { selector: text, attribute: second },
            "xpath" => ExtractFrom::Xpath(text),
            _ => return Err(Problem::bad_request(message!("extract-no-extractor"))),
        };
        Ok(Self { from })
    }

    /// The value of the key below `extract`.
    fn yaml(&self) -> Option<Yaml> {
        let (key, text, second) = self.words()?;
        let of = |text: &str| Yaml::text(text.to_owned());
        Some(match key {
            "json" => of(text),
            "between" => Yaml::map([(key, Yaml::texts(vec![text.to_owned(), second.to_owned()]))]),
            "css" if !second.is_empty() => Yaml::map([(key, of(text)), ("attribute", of(second))]),
            _ => Yaml::map([(key, of(text))]),
        })
    }
}

/// Returns the proposals for the piece that the fields `selected`, `from` and `part` name; nothing without them.
pub fn proposals(
    content: &TryContent,
    sample: &TracedSample,
    fields: &Fields,
    viewer: &Viewer,
) -> Result<Markup, Problem> {
    let selected = fields.first("selected");
    let part: usize = fields.first("part").parse().unwrap_or(0);
    let Some(name) = sample.bodies.get(part).filter(|_| !selected.is_empty()) else {
        return Ok(html! {});
    };
    let body = text_of(&content.folder.join(name), SEARCHED_BYTES)?;
    let from = fields.first("from").parse().unwrap_or(0);
    let Some(start) = place_of(&body, selected, from) else {
        return Ok(html! { p class="problem" { (viewer.text("extract-not-in-body")) } });
    };
    let extractors = propose(&body, start..start + selected.len());
    let replies = replies(content)?;
    let rows: Vec<(Proposal, usize, usize)> = extractors
        .into_iter()
        .map(|from| {
            let counts: Vec<usize> =
                replies.iter().map(|reply| values(&from, reply).len()).collect();
            let matching = counts.iter().filter(|count| **count > 0).count();
            (Proposal { from }, counts.iter().sum(), matching)
        })
        .collect();
    Ok(html! {
        section id="proposals" {
            h3 { (viewer.with_element(&message!("extract-title", text = ELEMENT), &html! { code { (selected) } })) }
            @if rows.is_empty() { p { (viewer.text("extract-none")) } }
            (scrolled_table(&viewer.text("body-propose"), &html! {
                thead { tr { @for title in COLUMNS { th { (viewer.text(title)) } } th { span class="sr" { (viewer.text("extract-add")) } } } }
                tbody { @for (proposal, matches, matching) in &rows {
                    @if let Some((by, expression, second)) = proposal.words() {
                        tr {
                            td { (by) }
                            td { code { (expression) } @if !second.is_empty() { " " code { (second) } } }
                            td { (matches) }
                            td { (viewer.format(&message!("extract-replies", count = *matching, all = replies.len()))) }
                            td { (extractor_form(content, sample, proposal, viewer)) }
                        }
                    }
                } }
            }))
            (check_form(content, sample, selected, &replies, viewer))
        }
    })
}

/// A form that adds a check for the selected text.
fn check_form(
    content: &TryContent,
    sample: &TracedSample,
    selected: &str,
    replies: &[String],
    viewer: &Viewer,
) -> Markup {
    let matching = replies.iter().filter(|reply| reply.contains(selected)).count();
    let fields = html! {
        input type="hidden" name="by" value=(CONTAINS);
        input type="hidden" name="expression" value=(selected);
        button { (viewer.text("extract-add-check")) }
        span class="hint" { (viewer.format(&message!("extract-contained", count = matching, all = replies.len()))) }
    };
    addition_form(content, sample, &fields)
}

/// A form that adds a proposed extractor.
fn extractor_form(
    content: &TryContent,
    sample: &TracedSample,
    proposal: &Proposal,
    viewer: &Viewer,
) -> Markup {
    let (by, expression, second) = proposal.words().unwrap_or_default();
    let fields = html! {
        input type="hidden" name="by" value=(by);
        input type="hidden" name="expression" value=(expression);
        input type="hidden" name="second" value=(second);
        input class="short" name="variable" aria-label=(viewer.text("extract-variable")) placeholder=(viewer.text("extract-variable")) required;
        button { (viewer.text("extract-add")) }
    };
    addition_form(content, sample, &fields)
}

/// A form that adds something to the step of a sample.
fn addition_form(content: &TryContent, sample: &TracedSample, fields: &Markup) -> Markup {
    let action = format!("{}/extract", address(content.number));
    post_form(&action, &html! { input type="hidden" name="sample" value=(sample.number); (fields) })
}

/// Offset of the selected text: the occurrence nearest to a place.
fn place_of(body: &str, selected: &str, near: usize) -> Option<usize> {
    // Browsers count line breaks differently, so the place is approximate.
    let places = body.match_indices(selected).map(|(at, _)| at);
    places.min_by_key(|at| at.abs_diff(near))
}

/// The bodies of all replies.
fn replies(content: &TryContent) -> Result<Vec<String>, Problem> {
    let names = content.samples.iter().flat_map(|sample| &sample.bodies).take(MOST_TESTED);
    names.map(|name| text_of(&content.folder.join(name), SEARCHED_BYTES)).collect()
}

/// Adds an extractor or a check to the step of a sample, in the text of the plan file.
///
/// # Errors
///
/// The plan has several steps with the label, or none, or cannot be changed.
pub async fn add(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<u32>,
    body: Body,
) -> Result<Redirect, Problem> {
    let fields = form(body).await?;
    on_thread(&shared, move |shared| {
        let content = TryContent::read(shared, number)?;
        let sample = fields.first("sample").parse().ok().and_then(|number| content.sample(number));
        let sample = sample.ok_or_else(|| Problem::not_found(message!("extract-no-sample")))?;
        let mut plan = EditedPlan::read(&content.file)?;
        let step = step_of(&plan, &sample.record.label)?;
        let (key, value) = addition(&fields)?;
        plan.text = with_value(&plan, &format!("{step}.{key}"), &value)?;
        plan.save().map_err(Problem::bad_request)?;
        Ok(Redirect::to(&edit::address(&plan.file)))
    })
    .await
}

/// The key of a step that a form adds, and its value.
fn addition(fields: &Fields) -> Result<(String, Yaml), Problem> {
    if fields.first("by") == CONTAINS {
        let text = fields.first("expression").to_owned();
        return Ok((format!("check.{CONTAINS}"), Yaml::text(text)));
    }
    let variable = fields.first("variable");
    if variable.is_empty() || !variable.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(Problem::bad_request(message!("extract-no-name", variable)));
    }
    let value = Proposal::of_form(fields)?.yaml();
    let value = value.ok_or_else(|| Problem::bad_request(message!("extract-no-extractor")))?;
    Ok((format!("extract.{variable}"), value))
}

/// The text of the plan with a value at a path that has none yet.
fn with_value(plan: &EditedPlan, path: &str, value: &Yaml) -> Result<String, Problem> {
    let EditedPlan { text, file, .. } = plan;
    // A value can be removed only if there is one.
    let exists = edit_plan(text, file, path, None).is_ok_and(|without| without != *text);
    if exists {
        return Err(Problem::bad_request(message!("extract-exists", path)));
    }
    edit_plan(text, file, path, Some(value))
        .map_err(|error| Problem::bad_request(error.to_string()))
}

/// Path of the only step with this label.
fn step_of(plan: &EditedPlan, label: &str) -> Result<String, Problem> {
    let paths = paths_of_label(&plan.text, &plan.file, label)
        .map_err(|error| Problem::bad_request(error.to_string()))?;
    match <[String; 1]>::try_from(paths) {
        Ok([path]) => Ok(path),
        Err(paths) => Err(Problem::bad_request(message!(
            "extract-no-step",
            file = plan.file.as_str(),
            count = paths.len(),
            label,
        ))),
    }
}
