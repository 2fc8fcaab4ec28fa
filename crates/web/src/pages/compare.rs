//! The comparison of stored items: first what differs between them, then their figures.

mod plans;

use super::{study_file, translate};
use crate::fields::Fields;
use crate::layout::{Problem, page, scrolled_table, strip};
use crate::shared::{Shared, query, with_store};
use crate::study_html::StudyHtml;
use crate::texts::{Viewer, message};
use axum::extract::State;
use axum::http::Uri;
use axum::response::{Html, Response};
use brunt_judge::compare::{ContenderFacts, DifferentFact, Subject, different_facts};
use brunt_model::text::Value;
use brunt_model::{Analysis, Plan, Study, Text, text};
use brunt_report::html::StudyPage;
use brunt_runner::decide::stored::{Group, by_contender, compare_groups};
use brunt_spec::settings::CompareSettings;
use brunt_store::{IndexEntry, ItemState, Store, StoreError, StoredItem};
use maud::{Markup, html};
use plans::{DifferentValue, different_values};
use std::sync::Arc;

/// Maximum number of rows with values of plans.
const VALUES: usize = 500;

/// Shows the comparison of the items in the URL.
///
/// # Errors
///
/// An item does not exist, or they cannot be compared.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, shared| {
        let fields = query(&uri);
        let groups = groups(store, &fields)?;
        let facts: Vec<ContenderFacts> = groups.iter().filter_map(facts).collect();
        let plans: Vec<_> = groups.iter().map(plan).collect();
        let values = different_values(&plans, &viewer);
        let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
        let compared = compare(groups, shared, &viewer);
        let above = html! {
            (strip(&viewer, &html! {
                span { (viewer.format(&message!("compare-strip", names = word_list(&names)))) }
                a href=(fields.at("/compare/share")) download { (viewer.text("share")) }
            }))
            (differences(&names, &different_facts(&facts), &values, &viewer))
        };
        match compared {
            Ok((study, analysis)) => {
                let language = viewer.language;
                let page = StudyPage { language, ..StudyPage::of(&study, &analysis) };
                StudyHtml::of(&page)?.under(&above)
            }
            // The differences above are often the reason.
            Err(Problem { text, .. }) => {
                let title = viewer.text("compare-title");
                let problem = html! { h1 { (title) } p class="problem" { (viewer.format(&text)) } };
                Ok(page(&viewer, &title, &above, &problem))
            }
        }
    })
    .await
}

/// Returns the comparison as one file.
///
/// # Errors
///
/// An item does not exist, or they cannot be compared.
pub async fn share(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, shared| {
        let groups = groups(store, &query(&uri))?;
        let ids: Vec<&str> =
            groups.iter().flat_map(|group| &group.runs).map(|run| &*run.0).collect();
        let name = ids.iter().take(2).copied().collect::<Vec<_>>().join("-");
        let (study, analysis) = compare(groups, shared, &viewer)?;
        study_file(&study, &analysis, &name, &viewer)
    })
    .await
}

fn compare(
    groups: Vec<Group>,
    shared: &Shared,
    viewer: &Viewer,
) -> Result<(Study, Analysis), Problem> {
    let (mut study, mut analysis) =
        compare_groups(vec![groups], &CompareSettings::default(), shared.command.clone())
            .map_err(|error| Problem::bad_request(error.to_string()))?;
    study.experiment.about = viewer.format(&text!("not-alternating.about"));
    translate(&mut study, &mut analysis, viewer);
    Ok((study, analysis))
}

/// Names as an argument of a text.
fn word_list(names: &[String]) -> Value {
    Value::Words(names.iter().map(|name| Text::from(name.as_str())).collect())
}

/// Reads the items in the URL, the oldest first. An experiment is a group for each of its contenders.
fn groups(store: &Store, fields: &Fields) -> Result<Vec<Group>, Problem> {
    let mut items = Vec::new();
    for word in fields.all("id") {
        let item = store.find(word)?;
        let entry = store.entry(item.id())?;
        // A test of figures that still change has no stated error.
        if entry.progress == ItemState::Running {
            return Err(Problem::bad_request(message!("compare-active", id = word)));
        }
        items.push((entry, item));
    }
    items.sort_by(|(a, _), (b, _)| start_of(a).total_cmp(&start_of(b)));
    // The same run may be selected by its id and by its tag.
    items.dedup_by(|(a, _), (b, _)| a.id == b.id);
    let mut groups = Vec::new();
    for (entry, item) in items {
        let name = entry.tags.first().unwrap_or(&entry.id);
        groups.extend(groups_of(store, &item, name)?);
    }
    if groups.len() < 2 {
        return Err(Problem::bad_request(message!("compare-too-few")));
    }
    Ok(groups)
}

/// Start of an item for sorting; the end of time if it never started.
fn start_of(entry: &IndexEntry) -> f64 {
    entry.started_unix_seconds.unwrap_or(f64::INFINITY)
}

fn groups_of(store: &Store, item: &StoredItem, name: &str) -> Result<Vec<Group>, StoreError> {
    let contenders = by_contender(store, item)?;
    let has_several = contenders.len() > 1;
    let groups = contenders.into_iter().map(|(contender, runs)| {
        let suffix = contender.filter(|_| has_several).map(|contender| format!(" {contender}"));
        Group { name: name.to_owned() + &suffix.unwrap_or_default(), runs }
    });
    Ok(groups.collect())
}

/// The facts of a group, from its first run.
fn facts(group: &Group) -> Option<ContenderFacts> {
    let (_, run) = group.runs.first()?;
    Some(ContenderFacts::of_run(&group.name, run))
}

/// The plan of a group's first run.
fn plan(group: &Group) -> Option<&Plan> {
    group.runs.first()?.1.plan.as_ref()
}

/// The section "Why do these differ?": facts by subject, then all values of the plans.
fn differences(
    names: &[String],
    facts: &[DifferentFact],
    values: &[DifferentValue],
    viewer: &Viewer,
) -> Markup {
    let of_subject = |subject| facts.iter().filter(move |fact| fact.subject == subject);
    let facts_in_order = Subject::ALL.into_iter().flat_map(of_subject);
    html! {
        section class="differences" aria-labelledby="differences-title" {
            h2 id="differences-title" { (viewer.text("compare-differences")) }
            @if facts.is_empty() {
                p { (viewer.text("compare-no-facts")) }
            } @else {
                (table(&viewer.text("compare-facts"), &[viewer.text("compare-subject"), viewer.text("compare-fact")], names, facts_in_order.map(|fact| {
                    let values = fact.values.iter();
                    let values = values.map(|value| Some(viewer.format(value.as_ref()?)));
                    (vec![subject_name(fact.subject, viewer), viewer.format(&fact.name)], values.collect())
                })))
            }
            @if !values.is_empty() {
                details {
                    summary { (viewer.format(&message!("compare-values", count = values.len()))) }
                    (table(&viewer.text("compare-values-table"), &[viewer.text("compare-place")], names, values.iter().take(VALUES).map(|value| {
                        (vec![value.place.clone()], value.values.clone())
                    })))
                    @if values.len() > VALUES { p { (viewer.format(&message!("compare-first-values", count = VALUES))) } }
                }
            }
        }
    }
}

fn subject_name(subject: Subject, viewer: &Viewer) -> String {
    viewer.text(match subject {
        Subject::Plan => "compare-plan",
        Subject::Data => "compare-data",
        Subject::Environment => "compare-environment",
        Subject::Server => "compare-server",
        Subject::Version => "compare-version",
    })
}

/// A table with a column for each of the compared items.
fn table(
    title: &str,
    head: &[String],
    names: &[String],
    rows: impl Iterator<Item = (Vec<String>, Vec<Option<String>>)>,
) -> Markup {
    html! {
        (scrolled_table(title, &html! {
            thead { tr {
                @for title in head { th { (title) } }
                @for name in names { th { (name) } }
            } }
            tbody {
                @for (cells, values) in rows {
                    tr {
                        @for cell in cells { td { (cell) } }
                        @for value in values { td { (value.as_deref().unwrap_or("–")) } }
                    }
                }
            }
        }))
    }
}
