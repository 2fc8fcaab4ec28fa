//! Stored and active runs: list, result, changes, orders, and their transfer between stores.

use super::types::{ItemChange, MarkRequest, PushReply, RunList};
use super::{read_json, visitor};
use crate::layout::{Problem, json};
use crate::pages::{item, list};
use crate::shared::{Shared, query, with_store};
use crate::transfer::{self, UnnamedFile};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use brunt_report::ReportSubject;
use brunt_report::view::View;
use brunt_runner::control_socket::{RunOrder, give};
use brunt_runner::decide;
use brunt_store::archive::ArchiveLimits;
use brunt_store::{Store, StoredItem};
use std::sync::Arc;

/// Lists runs and experiments, with the filters of the page.
pub async fn list(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Problem> {
    let fields = query(&uri);
    let list = with_store(&shared, move |store, _| {
        let items = list::read_items(store)?;
        let selected = list::selected(&items, &fields);
        let shown = list::rows_of_page(&fields, &selected);
        let entries = shown.map(|item| item.entry.clone()).collect();
        Ok(RunList { items: entries, selected: selected.len(), total: items.len() })
    })
    .await?;
    json(&list)
}

/// Returns the index entry of an item.
pub async fn entry(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
) -> Result<Response, Problem> {
    let entry = with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        Ok(store.entry(item.id())?)
    })
    .await?;
    json(&entry)
}

/// Returns the result of a run, or of an experiment.
///
/// # Errors
///
/// There is no such item, or it cannot be read.
pub async fn result(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
) -> Result<Response, Problem> {
    let text = with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        result_of(store, &item)
    })
    .await?;
    let media_type = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}

fn result_of(store: &Store, item: &StoredItem) -> Result<Vec<u8>, Problem> {
    let format = brunt_report::format("json");
    let format = format.ok_or_else(|| Problem::not_found("There is no JSON report."))?;
    let mut text = Vec::new();
    let written = match item {
        StoredItem::Run(id) => {
            let run = store.run(id)?;
            let judgement = brunt_judge::judge(&run);
            format.write(ReportSubject::Run(&run, &judgement), &View::default(), &mut text)
        }
        StoredItem::Experiment(id) => {
            let study = store.study(id)?;
            let analysis = decide::analysis(&study);
            format.write(ReportSubject::Study(&study, &analysis), &View::default(), &mut text)
        }
    };
    written.map_err(|error| Problem::internal(&error))?;
    Ok(text)
}

/// Stores a run or an experiment of another machine.
///
/// # Errors
///
/// The archive is too large, too slow or damaged, or another item has its id.
pub async fn push(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let visitor = visitor()?;
    let limits = ArchiveLimits::default();
    // Before the content is read: it stays in the socket of the sender until then.
    let _place = transfer::place(&shared).await?;
    let file = transfer::receive(&shared, &headers, body, limits.bytes).await?;
    let reply = with_store(&shared, move |store, _| {
        let received = store.receive(file.path(), &limits)?;
        let id = received.item.id().to_owned();
        // The store has no other place for the name of the sender.
        if received.is_new && store.entry(&id)?.note.is_none() {
            store.set_note(&received.item, &format!("pushed by {}", visitor.holder()))?;
        }
        Ok(PushReply { id, is_new: received.is_new })
    })
    .await?;
    let status = if reply.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, json(&reply)?).into_response())
}

/// Returns a run or an experiment for another store.
///
/// # Errors
///
/// There is no such item, or it is still being written.
pub async fn pull(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
) -> Result<Response, Problem> {
    let place = transfer::place(&shared).await?;
    let file = with_store(&shared, move |store, shared| {
        let item = store.find(&word)?;
        let file = transfer::temporary_file(shared)?;
        store.export(&item, file.path())?;
        UnnamedFile::of(&file).map_err(|error| Problem::internal(&error))
    })
    .await?;
    Ok(transfer::send(file, place))
}

/// Changes tags, note or pin. Returns the new index entry.
///
/// # Errors
///
/// There is no such item, or the change is wrong.
pub async fn change(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let change: ItemChange = read_json(body).await?;
    let entry = with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        make_change(store, &item, &change)?;
        Ok(store.entry(item.id())?)
    })
    .await?;
    json(&entry)
}

fn make_change(store: &Store, item: &StoredItem, change: &ItemChange) -> Result<(), Problem> {
    let ItemChange { tag, untag, note, pinned } = change;
    if let Some(tag) = tag {
        store.tag(item, tag.trim())?;
    }
    if let Some(tag) = untag {
        item::remove_tag(store, item, tag)?;
    }
    if let Some(note) = note {
        store.set_note(item, note)?;
    }
    match pinned {
        Some(true) => store.pin(item)?,
        Some(false) => store.unpin(item)?,
        None => {}
    }
    Ok(())
}

/// Stops an active run.
///
/// # Errors
///
/// The run is over.
pub async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
) -> Result<StatusCode, Problem> {
    order(&shared, word, RunOrder::Stop).await
}

/// Marks this instant of an active run.
///
/// # Errors
///
/// The run is over, or the text is too long.
pub async fn mark(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
    body: Body,
) -> Result<StatusCode, Problem> {
    let MarkRequest { text } = read_json(body).await?;
    order(&shared, word, RunOrder::Mark(text)).await
}

async fn order(shared: &Arc<Shared>, word: String, order: RunOrder) -> Result<StatusCode, Problem> {
    with_store(shared, move |store, _| {
        let item = store.find(&word)?;
        give(&store.control_socket(item.id()), &order).map_err(Problem::bad_request)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
