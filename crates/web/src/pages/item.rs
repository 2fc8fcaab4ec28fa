//! A run or an experiment: its report page, with its tags, note and pin above.

use super::{study_file, study_page};
use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, post_form, strip};
use crate::live::age;
use crate::shared::{Shared, form, with_store};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use brunt_model::numbers::{seconds, span};
use brunt_model::{Analysis, Finish, Judgement, Run, Study};
use brunt_report::single;
use brunt_runner::control_socket::{RunOrder, give};
use brunt_runner::decide;
use brunt_store::{EntryFilter, IndexEntry, ItemKind, ItemState, Store, StoredItem};
use maud::{Markup, html};
use std::sync::Arc;

/// Findings on the end of a run, which an active one has not reached.
const RULES_ON_THE_END: [&str; 2] = ["cut_short", "too_short"];

/// Shows a run or an experiment. Another name of it leads to the address with its id.
///
/// # Errors
///
/// There is no such item, or it cannot be read.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, shared| {
        let item = store.find(&word)?;
        if item.id() != word {
            // Tags move, and `last` changes: a bookmark of the id does not.
            return Ok(Redirect::to(&format!("/runs/{}", item.id())).into_response());
        }
        let entry = store.entry(&word)?;
        let token = shared.guard.form_token().text();
        let (study, analysis, live) =
            if entry.progress == ItemState::Running && entry.kind == ItemKind::Run {
                let run = shared.live.so_far(store, &entry.id)?;
                let live = live_strip(&entry, &run, token);
                let (study, analysis) = study_so_far(run, &entry.id);
                (study, analysis, Some(live))
            } else {
                // Its log may have no end: viewers followed it until its process was killed.
                shared.live.forget(&entry.id);
                let (study, analysis) = read(store, &item)?;
                (study, analysis, None)
            };
        let above = above(store, &entry, token, live.as_ref())?;
        study_page(&study, &analysis, &above).map(Html::into_response)
    })
    .await
}

/// Returns the page as one file.
///
/// # Errors
///
/// There is no such item, or it cannot be read.
pub async fn share(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        let (study, analysis) = read(store, &item)?;
        study_file(&study, &analysis, item.id())
    })
    .await
}

fn read(store: &Store, item: &StoredItem) -> Result<(Study, Analysis), Problem> {
    match item {
        StoredItem::Run(id) => Ok(study_of(&store.run(id)?, id)),
        StoredItem::Experiment(id) => {
            let study = store.study(id)?;
            let analysis = decide::analysis(&study);
            Ok((study, analysis))
        }
    }
}

fn study_of(run: &Run, id: &str) -> (Study, Analysis) {
    judged_study(run, &brunt_judge::judge(run), id)
}

/// Returns the study of an active run.
fn study_so_far(mut run: Run, id: &str) -> (Study, Analysis) {
    let mut judgement = brunt_judge::judge(&run);
    judgement.findings.retain(|finding| !RULES_ON_THE_END.contains(&finding.rule.as_str()));
    // A log without an end would be shown as that of a run that was cut short.
    run.finish = Some(Finish { at: run.last_interval_end, interrupted: false, error: None });
    judged_study(&run, &judgement, id)
}

fn judged_study(run: &Run, judgement: &Judgement, id: &str) -> (Study, Analysis) {
    let (mut study, analysis) = single::study_of(run, judgement);
    study.id = Some(id.to_owned());
    (study, analysis)
}

/// State of an active run, and forms for orders to it.
fn live_strip(entry: &IndexEntry, run: &Run, token: &str) -> Markup {
    let action = format!("/runs/{}/order", entry.id);
    html! {
        div id="live" class="live" {
            span id="live-state" {
                "running for " (span(run.last_interval_end.seconds()))
                "; the newest figures are " (seconds(age(run))) " old"
            }
            (post_form(&action, token, &html! {
                input class="short" name="mark" aria-label="mark" placeholder="such as: deployed" required maxlength="500";
                button { "Mark this instant" }
            }))
            (post_form(&action, token, &html! {
                button name="stop" value="yes" { "Stop the run" }
            }))
            script type="module" src=(Asset::StudioScript.path()) {}
        }
    }
}

fn above(
    store: &Store,
    entry: &IndexEntry,
    token: &str,
    live: Option<&Markup>,
) -> Result<Markup, Problem> {
    let runs = store.list(&EntryFilter::RunsOf(entry.id.clone()))?;
    let content = html! {
        code { (entry.id) }
        @if let Some(experiment) = &entry.experiment {
            a href={ "/runs/" (experiment) } { "its experiment" }
        }
        @if let Some(live) = live { (live) }
        (marks(entry, token))
        a href={ "/runs/" (entry.id) "/share" } download { "Share as a file" }
        @if !runs.is_empty() { (trials(&runs)) }
    };
    Ok(strip(&content))
}

/// Forms for tags, pin and note.
fn marks(entry: &IndexEntry, token: &str) -> Markup {
    let action = format!("/runs/{}/change", entry.id);
    let pin = if entry.pinned { ("unpin", "Unpin") } else { ("pin", "Pin") };
    html! {
        @for tag in &entry.tags {
            (post_form(&action, token, &html! {
                span class="tag" {
                    (tag)
                    button name="untag" value=(tag) aria-label={ "remove the tag " (tag) } { "×" }
                }
            }))
        }
        (post_form(&action, token, &html! {
            input class="short" name="tag" aria-label="new tag" placeholder="tag" required maxlength="64";
            button { "Tag" }
        }))
        (post_form(&action, token, &html! { button name=(pin.0) value="yes" { (pin.1) } }))
        (post_form(&action, token, &html! {
            input class="wide" name="note" aria-label="note" placeholder="note"
                value=(entry.note.as_deref().unwrap_or_default());
            button { "Save the note" }
        }))
    }
}

/// Links to the pages of an experiment's runs.
fn trials(runs: &[IndexEntry]) -> Markup {
    html! {
        details {
            summary { "Its runs" }
            ul { @for run in runs {
                li { a href={ "/runs/" (run.id) } { (run.id) } " " (run.contenders.join(", ")) }
            } }
        }
    }
}

/// Changes tags, pin or note, and leads back to the page.
///
/// # Errors
///
/// There is no such item, or the change is wrong.
pub async fn change(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
    body: Body,
) -> Result<Redirect, Problem> {
    let fields = form(&shared, body).await?;
    with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        make_change(store, &item, &fields)?;
        Ok(Redirect::to(&format!("/runs/{}", item.id())))
    })
    .await
}

/// Gives an order to an active run, and leads back to its page.
///
/// # Errors
///
/// The run is over, or refuses the order.
pub async fn give_order(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
    body: Body,
) -> Result<Redirect, Problem> {
    let fields = form(&shared, body).await?;
    let order = match fields.all("mark").next() {
        Some(text) => RunOrder::Mark(text.to_owned()),
        None if fields.has("stop") => RunOrder::Stop,
        None => return Err(Problem::bad_request("This form has no order: mark or stop.")),
    };
    with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        give(&store.control_socket(item.id()), &order).map_err(Problem::bad_request)?;
        Ok(Redirect::to(&format!("/runs/{}", item.id())))
    })
    .await
}

fn make_change(store: &Store, item: &StoredItem, fields: &Fields) -> Result<(), Problem> {
    if let Some(tag) = fields.all("tag").next() {
        store.tag(item, tag.trim())?;
    } else if let Some(tag) = fields.all("untag").next() {
        store.untag(tag)?;
    } else if fields.has("pin") {
        store.pin(item)?;
    } else if fields.has("unpin") {
        store.unpin(item)?;
    } else if fields.has("note") {
        store.set_note(item, fields.first("note"))?;
    } else {
        return Err(Problem::bad_request(
            "This form has no change: tag, untag, pin, unpin or note.",
        ));
    }
    Ok(())
}
