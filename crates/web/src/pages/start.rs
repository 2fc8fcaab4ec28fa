//! The start of a run: a form for a URL or a plan file with its variables. The run is a separate process, as from a
//! terminal, and continues if the studio ends.

use super::edit;
use super::starting::address;
use crate::fields::Fields;
use crate::layout::{Problem, page, post_form, scrolled_table, strip};
use crate::leases::{LeaseEntry, LeaseRefusal};
use crate::shared::{Shared, form, on_thread, query};
use crate::texts::{Viewer, message};
use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{Html, Redirect};
use brunt_files::read_regular;
use brunt_jmx::is_jmx;
use brunt_model::numbers::span;
use brunt_spec::plan::{PlanVariable, variables};
use maud::{Markup, html};
use std::path::Path;
use std::sync::Arc;

/// Prefix of the fields with variables of a plan.
const VARIABLE: &str = "var.";

/// Options with separate fields, for a URL: name, and messages with the title and with an example.
const OPTIONS: [(&str, &str, &str); 4] = [
    ("rate", "start-rate", "start-rate-example"),
    ("connections", "start-users", "start-users-example"),
    ("duration", "start-time", "start-time-example"),
    ("requests", "start-requests", "start-requests-example"),
];

/// Messages in the head of the table of leases.
const LEASE_HEAD: [&str; 4] = ["lease-servers", "lease-holder", "lease-purpose", "lease-remaining"];

/// Shows the form. The field `target` of the URL decides which fields it has.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    on_thread(&shared, move |shared| start_page(query(&uri).first("target"), shared, &viewer)).await
}

fn start_page(target: &str, shared: &Shared, viewer: &Viewer) -> Result<Html<String>, Problem> {
    // Properties of JMeter are set in the field of options.
    let details = if target.is_empty() || is_jmx(target) {
        html! {}
    } else if is_url(target) {
        html! { @for (name, title, example) in OPTIONS { (field(name, &viewer.text(title), &viewer.text(example))) } }
    } else {
        plan_fields(&read_plan(target)?, viewer)
    };
    let content = html! {
        h1 { (viewer.text("strip-start")) }
        form class="filter" action="/start" method="get" {
            label { (viewer.text("start-target")) " " input class="wide" name="target" value=(target) required; }
            button { (viewer.text("start-next")) }
        }
        @if !target.is_empty() && !is_url(target) {
            div class="filter" {
                a href=(edit::address(target)) { (viewer.text("start-edit")) }
                (post_form("/tries", &html! {
                    input type="hidden" name="file" value=(target);
                    button { (viewer.text("start-try")) }
                    span class="hint" { (viewer.text("start-try-about")) }
                }))
            }
        }
        @if !target.is_empty() {
            (post_form("/start", &html! {
                div class="start" {
                    input type="hidden" name="target" value=(target);
                    (details)
                    (field("options", &viewer.text("start-options"), &viewer.text("start-options-example")))
                    button { (viewer.text("start-run")) }
                }
            }))
        }
        (leases(&shared.leases().entries(shared.now()), viewer))
    };
    Ok(page(viewer, &viewer.text("strip-start"), &strip(viewer, &html! {}), &content))
}

/// A table of the leases on servers.
fn leases(leases: &[LeaseEntry], viewer: &Viewer) -> Markup {
    html! {
        @if !leases.is_empty() {
            h2 { (viewer.text("leases")) }
            p class="hint" { (viewer.text("leases-about")) }
            (scrolled_table(&viewer.text("leases"), &html! {
                thead { tr {
                    @for title in LEASE_HEAD { th { (viewer.text(title)) } }
                    th { span class="sr" { (viewer.text("lease-end")) } }
                } }
                tbody { @for lease in leases { tr {
                    td { (lease.targets.join(", ")) }
                    td { (lease.holder) }
                    td { (lease.purpose) }
                    td { (span(lease.remaining_seconds.ceil())) }
                    td { (post_form("/leases/end", &html! {
                        input type="hidden" name="lease" value=(lease.number);
                        button { (viewer.text("lease-end")) }
                    })) }
                } } }
            }))
        }
    }
}

fn is_url(target: &str) -> bool {
    target.contains("://")
}

fn read_plan(path: &str) -> Result<Vec<PlanVariable>, Problem> {
    let bytes = read_regular(Path::new(path), edit::MAX_PLAN_BYTES);
    let bytes = bytes.map_err(|error| {
        Problem::bad_request(message!("start-unreadable", path, error = error.to_string()))
    })?;
    Ok(variables(&String::from_utf8_lossy(&bytes)))
}

fn plan_fields(variables: &[PlanVariable], viewer: &Viewer) -> Markup {
    let several = viewer.text("start-several-values");
    html! {
        @if variables.is_empty() { p class="hint" { (viewer.text("start-no-variables")) } }
        @for PlanVariable { name, value } in variables {
            (field(&format!("{VARIABLE}{name}"), name, value.as_deref().unwrap_or(&several)))
        }
    }
}

fn field(name: &str, title: &str, example: &str) -> Markup {
    html! { label { (title) " " input class="wide" name=(name) placeholder=(example); } }
}

/// Ends the lease of a member who cannot release it any more.
///
/// # Errors
///
/// There is no lease with the number in the form.
pub async fn end_lease(State(shared): State<Arc<Shared>>, body: Body) -> Result<Redirect, Problem> {
    let fields = form(body).await?;
    let number = fields.first("lease").parse().map_err(|_| LeaseRefusal::Unknown)?;
    shared.leases().end(number)?;
    Ok(Redirect::to("/start"))
}

/// Starts the run, and leads to the page of its start.
///
/// # Errors
///
/// The form has no target, or the process cannot be started.
pub async fn start(State(shared): State<Arc<Shared>>, body: Body) -> Result<Redirect, Problem> {
    let fields = form(body).await?;
    on_thread(&shared, move |shared| {
        let process = shared.start(&arguments(&fields)?, None)?;
        Ok(Redirect::to(&address(process)))
    })
    .await
}

/// The arguments of `brunt run` for a form.
fn arguments(fields: &Fields) -> Result<Vec<String>, Problem> {
    let target = fields.first("target");
    if target.is_empty() || target.starts_with('-') {
        return Err(Problem::bad_request(message!("start-no-target")));
    }
    let mut arguments = vec!["run".to_owned(), target.to_owned()];
    for (name, value) in fields.all_pairs() {
        if let Some(variable) = name.strip_prefix(VARIABLE) {
            arguments.extend(["--set".to_owned(), format!("{variable}={value}")]);
        } else if OPTIONS.iter().any(|(option, _, _)| *option == name) {
            arguments.push(format!("--{name}={value}"));
        }
    }
    let further = shlex::split(fields.first("options"))
        .ok_or_else(|| Problem::bad_request(message!("start-open-quote")))?;
    arguments.extend(further);
    Ok(arguments)
}
