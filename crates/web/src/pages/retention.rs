//! The retention of the store: limits, the steps that they lead to, and a form that carries out these steps.

use crate::fields::Fields;
use crate::layout::{Problem, page, post_form, scrolled_table, strip};
use crate::shared::{Shared, form, query, with_store};
use crate::texts::{Viewer, message};
use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use brunt_engine::clock::unix_seconds;
use brunt_model::Text;
use brunt_model::numbers::bytes;
use brunt_report::stored::pruning::{age, age_limit};
use brunt_spec::words;
use brunt_store::retention::{
    ExemptItem, Exemption, Pruning, PruningAction, PruningReason, PruningStep, RetentionLimits,
};
use brunt_store::{Store, StoredItem};
use maud::{Markup, html};
use std::sync::Arc;

/// Fields of the limits, as the options of `brunt runs prune`: name, message with the title, example.
const LIMITS: [(&str, &str, &str); 3] = [
    ("logs-older-than", "retention-logs-older-than", "30d"),
    ("older-than", "retention-older-than", "365d"),
    ("max-size", "retention-max-size", "20G"),
];

/// Messages with the titles of the columns.
const COLUMNS: [&str; 5] = [
    "retention-column-action",
    "retention-column-id",
    "retention-column-age",
    "retention-column-size",
    "retention-column-reason",
];

/// Field with the steps that the user has seen.
const STEPS: &str = "steps";

/// Shows the form of the limits, and the steps of those in the URL.
///
/// # Errors
///
/// A limit is malformed, or the store cannot be read.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, _| {
        let fields = query(&uri);
        let Some(limits) = limits(&fields)? else {
            return Ok(retention_page(&fields, &html! {}, &viewer));
        };
        // A plan removes nothing.
        let pruning = store.plan_pruning(&limits, unix_seconds())?;
        Ok(retention_page(&fields, &plan(&fields, &pruning, &viewer), &viewer))
    })
    .await
}

/// Carries out the steps that the form names.
///
/// # Errors
///
/// The steps have changed meanwhile, or the store cannot be changed.
pub async fn prune(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Html<String>, Problem> {
    let fields = form(body).await?;
    with_store(&shared, move |store, _| {
        let limits =
            limits(&fields)?.ok_or_else(|| Problem::bad_request(message!("retention-no-limit")))?;
        let pruning = store.plan_pruning(&limits, unix_seconds())?;
        // Nothing is removed that the user has not seen.
        if steps(&pruning) != fields.first(STEPS) {
            let changed = html! {
                p class="problem" { (viewer.text("retention-changed")) }
                (plan(&fields, &pruning, &viewer))
            };
            return Ok(retention_page(&fields, &changed, &viewer));
        }
        Ok(retention_page(&fields, &result(store, &pruning, &viewer)?, &viewer))
    })
    .await
}

fn limits(fields: &Fields) -> Result<Option<RetentionLimits>, Problem> {
    let limits = RetentionLimits {
        logs_older_than: limit(fields, LIMITS[0].0, words::duration::positive_with_unit)?,
        older_than: limit(fields, LIMITS[1].0, words::duration::positive_with_unit)?,
        max_bytes: limit(fields, LIMITS[2].0, words::bytes::parse)?,
    };
    Ok((limits != RetentionLimits::default()).then_some(limits))
}

fn limit<T, E: std::error::Error>(
    fields: &Fields,
    name: &str,
    parse: fn(&str) -> Result<T, E>,
) -> Result<Option<T>, Problem> {
    let value = fields.all(name).next().map(parse).transpose();
    value.map_err(|error| Problem::bad_request(format!("{name}: {error}")))
}

fn retention_page(fields: &Fields, content: &Markup, viewer: &Viewer) -> Html<String> {
    let content = html! {
        h1 { (viewer.text("retention-title")) }
        p { (viewer.text("retention-about")) }
        form class="filter" action="/retention" method="get" {
            @for (name, title, example) in LIMITS {
                label { (viewer.text(title)) " " input class="short" name=(name) value=(fields.first(name)) placeholder=(example); }
            }
            button { (viewer.text("retention-list")) }
        }
        (content)
    };
    page(viewer, &viewer.text("retention-title"), &strip(viewer, &html! {}), &content)
}

/// The steps, and a form that carries them out.
fn plan(fields: &Fields, pruning: &Pruning, viewer: &Viewer) -> Markup {
    let freed = bytes(pruning.bytes_before.saturating_sub(pruning.bytes_after) as f64);
    let before = bytes(pruning.bytes_before as f64);
    html! {
        (scrolled_table(&viewer.text("retention-title"), &html! {
            thead { tr { @for title in COLUMNS { th { (viewer.text(title)) } } } }
            tbody { @for row in rows(pruning, viewer) { tr { @for cell in row { td { (cell) } } } } }
        }))
        @if pruning.steps.is_empty() { p { (viewer.format(&message!("retention-nothing", size = before))) } } @else {
            (post_form("/retention", &html! {
                @for (name, _, _) in LIMITS { input type="hidden" name=(name) value=(fields.first(name)); }
                input type="hidden" name=(STEPS) value=(steps(pruning));
                p { (viewer.format(&message!("retention-frees", freed, size = before))) }
                button { (viewer.text("retention-prune")) }
            }))
        }
    }
}

/// The cells of the table: the steps, then the items that are exempt.
fn rows(pruning: &Pruning, viewer: &Viewer) -> Vec<[String; COLUMNS.len()]> {
    let steps = pruning.steps.iter().map(|step| step_cells(step, viewer));
    steps.chain(pruning.exempt.iter().map(|exempt| exempt_cells(exempt, viewer))).collect()
}

fn step_cells(step: &PruningStep, viewer: &Viewer) -> [String; COLUMNS.len()] {
    let action = match (step.action, &step.item) {
        (PruningAction::RemoveLogs, StoredItem::Run(_)) => "retention-remove-log",
        (PruningAction::RemoveLogs, StoredItem::Experiment(_)) => "retention-remove-logs",
        (PruningAction::RemoveItem, StoredItem::Run(_)) => "retention-remove-run",
        (PruningAction::RemoveItem, StoredItem::Experiment(_)) => "retention-remove-experiment",
    };
    let reason = match step.reason {
        PruningReason::LogsOlderThan(limit) => {
            message!("retention-log-is-older", limit = age_limit(limit))
        }
        PruningReason::OlderThan(limit) => message!("retention-is-older", limit = age_limit(limit)),
        PruningReason::MaxBytes(limit) => {
            message!("retention-is-larger", limit = bytes(limit as f64))
        }
    };
    let size = bytes(step.bytes as f64);
    let id = step.item.id().to_owned();
    [viewer.text(action), id, age(step.age_seconds), size, viewer.format(&reason)]
}

fn exempt_cells(exempt: &ExemptItem, viewer: &Viewer) -> [String; COLUMNS.len()] {
    let reason: Text = match &exempt.exemption {
        Exemption::Baseline(name) => message!("retention-baseline", name = name.as_str()),
        Exemption::Pinned => message!("retention-pinned"),
        Exemption::Active => message!("retention-active"),
    };
    [
        viewer.text("retention-keep"),
        exempt.item.id().to_owned(),
        age(exempt.age_seconds),
        bytes(exempt.bytes as f64),
        viewer.format(&reason),
    ]
}

fn result(store: &Store, pruning: &Pruning, viewer: &Viewer) -> Result<Markup, Problem> {
    let result = store.prune(pruning)?;
    let freed = bytes(result.bytes_freed as f64);
    let size = bytes(pruning.bytes_before as f64);
    Ok(html! {
        p { (viewer.format(&message!("retention-freed", freed, size))) }
        @for (id, reason) in &result.skipped { p class="problem" { (viewer.format(&message!("retention-skipped", id = id.as_str(), reason = reason.as_str()))) } }
    })
}

/// The steps as a text.
fn steps(pruning: &Pruning) -> String {
    let steps = pruning.steps.iter().map(|step| format!("{:?} {}", step.action, step.item.id()));
    steps.collect::<Vec<_>>().join(", ")
}
