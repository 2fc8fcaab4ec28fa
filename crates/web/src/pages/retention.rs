//! The retention of the store: limits, the steps that they lead to, and a form that carries out these steps.

use crate::fields::Fields;
use crate::layout::{Problem, page, post_form, strip};
use crate::shared::{Shared, form, query, with_store};
use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use brunt_engine::clock::unix_seconds;
use brunt_model::numbers::bytes;
use brunt_report::stored::pruning::{HEAD, rows};
use brunt_spec::words;
use brunt_store::Store;
use brunt_store::retention::{Pruning, RetentionLimits};
use maud::{Markup, html};
use std::sync::Arc;

/// Fields of the limits, as the options of `brunt runs prune`: name, title, example.
const LIMITS: [(&str, &str, &str); 3] = [
    ("logs-older-than", "Logs older than", "30d"),
    ("older-than", "Runs and experiments older than", "365d"),
    ("max-size", "Maximum size of the store", "20G"),
];

/// Field with the steps that the user has seen.
const STEPS: &str = "steps";

/// Shows the form of the limits, and the steps of those in the URL.
///
/// # Errors
///
/// A limit is malformed, or the store cannot be read.
pub async fn show(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, shared| {
        let fields = query(&uri);
        let Some(limits) = limits(&fields)? else { return Ok(retention_page(&fields, &html! {})) };
        // A plan removes nothing.
        let pruning = store.plan_pruning(&limits, unix_seconds())?;
        Ok(retention_page(&fields, &plan(&fields, &pruning, shared)))
    })
    .await
}

/// Carries out the steps that the form names.
///
/// # Errors
///
/// The steps have changed meanwhile, or the store cannot be changed.
pub async fn prune(State(shared): State<Arc<Shared>>, body: Body) -> Result<Html<String>, Problem> {
    let fields = form(&shared, body).await?;
    with_store(&shared, move |store, shared| {
        let limits =
            limits(&fields)?.ok_or_else(|| Problem::bad_request("This form has no limit."))?;
        let pruning = store.plan_pruning(&limits, unix_seconds())?;
        // Nothing is removed that the user has not seen.
        if steps(&pruning) != fields.first(STEPS) {
            let changed = html! {
                p class="problem" { "The steps have changed since they were shown. Nothing was removed." }
                (plan(&fields, &pruning, shared))
            };
            return Ok(retention_page(&fields, &changed));
        }
        Ok(retention_page(&fields, &result(store, &pruning)?))
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

fn retention_page(fields: &Fields, content: &Markup) -> Html<String> {
    let content = html! {
        h1 { "Retention" }
        p { "Old event logs become digests, so that reports still work. Old or many runs and experiments are removed. Pinned \
             items, baselines and active runs stay." }
        form class="filter" action="/retention" method="get" {
            @for (name, title, example) in LIMITS {
                label { (title) " " input class="short" name=(name) value=(fields.first(name)) placeholder=(example); }
            }
            button { "List the steps" }
        }
        (content)
    };
    page("Retention", &strip(&html! {}), &content)
}

/// The steps, and a form that carries them out.
fn plan(fields: &Fields, pruning: &Pruning, shared: &Shared) -> Markup {
    let freed = bytes(pruning.bytes_before.saturating_sub(pruning.bytes_after) as f64);
    let before = bytes(pruning.bytes_before as f64);
    html! {
        div class="scroll" { table {
            thead { tr { @for title in HEAD { th { (title) } } } }
            tbody { @for row in rows(pruning) { tr { @for cell in row { td { (cell) } } } } }
        } }
        @if pruning.steps.is_empty() { p { "Nothing to remove; the store has " (before) "." } } @else {
            (post_form("/retention", shared.guard.form_token().text(), &html! {
                @for (name, _, _) in LIMITS { input type="hidden" name=(name) value=(fields.first(name)); }
                input type="hidden" name=(STEPS) value=(steps(pruning));
                p { "These steps free " (freed) " of " (before) ". They cannot be undone." }
                button { "Carry out these steps" }
            }))
        }
    }
}

fn result(store: &Store, pruning: &Pruning) -> Result<Markup, Problem> {
    let result = store.prune(pruning)?;
    Ok(html! {
        p { "Freed " (bytes(result.bytes_freed as f64)) " of " (bytes(pruning.bytes_before as f64)) "." }
        @for (id, reason) in &result.skipped { p class="problem" { "Skipped " (id) ": " (reason) } }
    })
}

/// The steps as a text.
fn steps(pruning: &Pruning) -> String {
    let steps = pruning.steps.iter().map(|step| format!("{:?} {}", step.action, step.item.id()));
    steps.collect::<Vec<_>>().join(", ")
}
