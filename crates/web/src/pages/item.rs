//! A run or an experiment: its report page, with its tags, note and pin above.

mod watch;

use super::history::address_like;
use super::{study_file, translate};
use crate::fields::Fields;
use crate::layout::{Problem, post_form, strip};
use crate::shared::{Shared, form, query, with_store};
use crate::study_html::StudyHtml;
use crate::texts::{ELEMENT, Viewer, message};
use crate::visitor::Visitor;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use brunt_model::run_history::HistoryMeasure;
use brunt_model::{Analysis, Judgement, Question, Run, Study};
use brunt_report::breakdown::{LabelChoice, LabelOrder};
use brunt_report::html::{LABEL_ORDER, LABEL_SEARCH, LabelTable, StudyPage};
use brunt_report::selection::select;
use brunt_report::single;
use brunt_report::subset::RunSubset;
use brunt_runner::control_socket::{RunOrder, give};
use brunt_runner::decide;
use brunt_store::{EntryFilter, IndexEntry, ItemKind, ItemState, Store, StoredItem};
use maud::{Markup, html};
use std::sync::Arc;

/// Field of the URL with the subset of the run that the charts show.
const ONLY: &str = "only";

/// A page of a run or an experiment.
struct ItemPage<'a> {
    store: &'a Store,
    shared: &'a Shared,
    viewer: &'a Viewer,
    entry: IndexEntry,
    /// Fields of the URL.
    fields: Fields,
    /// Subset of the run that the charts show; None for the whole run.
    only: Option<RunSubset>,
    labels: LabelTable,
}

/// Shows a run or an experiment. Another name of it leads to the address with its id.
///
/// # Errors
///
/// There is no such item, or it cannot be read.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    Path(word): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, shared| {
        let item = store.find(&word)?;
        if item.id() != word {
            // Tags move, and `last` changes: a bookmark of the id does not.
            let address = query(&uri).at(&format!("/runs/{}", item.id()));
            return Ok(Redirect::to(&address).into_response());
        }
        ItemPage::new(store, shared, &viewer, item.id(), &uri)?.reply(&item)
    })
    .await
}

/// Returns the elements of the page that change while it is shown.
///
/// # Errors
///
/// There is no such item, or it cannot be read.
pub async fn live(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, shared| {
        let item = store.find(&id)?;
        ItemPage::new(store, shared, &viewer, item.id(), &uri)?.changing(&item)
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
    viewer: Viewer,
    Path(word): Path<String>,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        let (study, analysis) = read(store, &item, &viewer)?;
        study_file(&study, &analysis, item.id(), &viewer)
    })
    .await
}

/// Reads the study of an item, analyses it, and translates its findings.
fn read(store: &Store, item: &StoredItem, viewer: &Viewer) -> Result<(Study, Analysis), Problem> {
    let (mut study, mut analysis) = match item {
        StoredItem::Run(id) => {
            let run = store.run(id)?;
            study_of(&run, &brunt_judge::judge(&run), id)
        }
        StoredItem::Experiment(id) => {
            let study = store.study(id)?;
            let analysis = decide::analysis(&study);
            (study, analysis)
        }
    };
    translate(&mut study, &mut analysis, viewer);
    Ok((study, analysis))
}

fn study_of(run: &Run, judgement: &Judgement, id: &str) -> (Study, Analysis) {
    let (mut study, analysis) = single::study_of(run, judgement);
    study.id = Some(id.to_owned());
    (study, analysis)
}

impl<'a> ItemPage<'a> {
    fn new(
        store: &'a Store,
        shared: &'a Shared,
        viewer: &'a Viewer,
        id: &str,
        uri: &Uri,
    ) -> Result<Self, Problem> {
        let fields = query(uri);
        let only = fields.all(ONLY).next().map(str::parse).transpose();
        let only = only.map_err(|error| Problem::bad_request(format!("{ONLY}={error}")))?;
        let order = fields.first(LABEL_ORDER);
        let order = if order.is_empty() {
            Some(LabelOrder::default())
        } else {
            LabelOrder::from_word(order)
        };
        let order = order.ok_or_else(|| {
            let all = LabelOrder::ALL.map(LabelOrder::word).join(", ");
            Problem::bad_request(format!(
                "{LABEL_ORDER}={}: write one of {all}",
                fields.first(LABEL_ORDER)
            ))
        })?;
        let others = fields.clone().without(LABEL_ORDER).without(LABEL_SEARCH);
        let labels = LabelTable {
            choice: LabelChoice { order, search: fields.first(LABEL_SEARCH).to_owned() },
            action: format!("/runs/{id}"),
            fields: others
                .all_pairs()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        };
        Ok(Self { store, shared, viewer, entry: store.entry(id)?, fields, only, labels })
    }
}

impl ItemPage<'_> {
    fn reply(&self, item: &StoredItem) -> Result<Response, Problem> {
        if let Some(instant) = self.instant()? {
            return self.replay(instant);
        }
        if self.entry.kind == ItemKind::Run {
            if self.entry.progress == ItemState::Running {
                return self.active();
            }
            // Its log may have no end: viewers followed it until its process was killed.
            self.shared.watched.forget(&self.entry.id);
        }
        if let Some(run) = self.active_only_run()? {
            let address = self.fields.at(&format!("/runs/{run}"));
            return Ok(Redirect::to(&address).into_response());
        }
        let (mut study, analysis) = read(self.store, item, self.viewer)?;
        if self.entry.progress == ItemState::Running {
            // It has not been cut short.
            study.interrupted = false;
            let page = self.study_html(&study, &analysis, None)?;
            let strip = self.strip(&self.experiment_strip(&study.experiment)?)?;
            return Ok(page.under(&strip)?.into_response());
        }
        let run = study.only_run().and_then(|trial| trial.id.as_deref());
        let replay = html! {
            @if let Some(run) = run.or((self.entry.kind == ItemKind::Run).then_some(&self.entry.id)) {
                a href={ "/runs/" (run) "?at=0" } { (self.viewer.text("item-replay")) }
            }
            @if let Some(measure) = history_measure(&self.entry, &study) {
                a href=(address_like(&self.entry.id, measure)) { (self.viewer.text("item-history")) }
            }
        };
        let page = self.study_html(&study, &analysis, None)?;
        Ok(page.under(&self.strip(&replay)?)?.into_response())
    }

    /// Returns the active run of an experiment that has no other one: a plan with one load.
    fn active_only_run(&self) -> Result<Option<String>, Problem> {
        let Self { store, entry, .. } = self;
        if entry.kind == ItemKind::Run || entry.progress != ItemState::Running {
            return Ok(None);
        }
        let experiment = store.experiment(&entry.id)?;
        let has_one_trial =
            matches!(experiment.question, Question::Sweep) && experiment.trials() == 1;
        if has_one_trial { active_trial(store, &entry.id) } else { Ok(None) }
    }

    /// Makes the page of a study, without its strip.
    fn study_html(
        &self,
        study: &Study,
        analysis: &Analysis,
        most_rows: Option<usize>,
    ) -> Result<StudyHtml, Problem> {
        let run = study.only_run().map(|trial| &trial.run);
        let shown = self.only.as_ref().map(|only| {
            run.and_then(|run| select(run, only)).ok_or_else(|| {
                let id = &self.entry.id;
                let only = only.to_string();
                Problem::not_found(message!("item-no-subset", id = id.as_str(), only))
            })
        });
        let shown = shown.transpose()?;
        let address = |only: &RunSubset| self.address_with(Some(only));
        StudyHtml::of(&StudyPage {
            language: self.viewer.language,
            study,
            analysis,
            address: Some(&address),
            labels: Some(&self.labels),
            shown: shown.as_ref(),
            most_rows,
        })
    }

    /// Path of the page.
    fn address(&self) -> String {
        format!("/runs/{}", self.entry.id)
    }

    /// Address of the page at the same instant, with the charts of a subset or of the whole run.
    fn address_with(&self, only: Option<&RunSubset>) -> String {
        let mut fields = self.fields.clone().without(ONLY);
        if let Some(only) = only {
            fields = fields.with(ONLY, &only.to_string());
        }
        fields.at(&self.address())
    }

    /// Returns the strip above the content. `state` is about the time that the page shows.
    fn strip(&self, state: &Markup) -> Result<Markup, Problem> {
        let Self { entry, store, viewer, .. } = self;
        let runs = store.list(&EntryFilter::RunsOf(entry.id.clone()))?;
        let content = html! {
            code { (entry.id) }
            @if let Some(experiment) = &entry.experiment {
                a href={ "/runs/" (experiment) } { (viewer.text("item-experiment")) }
            }
            (state)
            @if let Some(only) = &self.only {
                span class="only" {
                    (viewer.with_element(&message!("item-charts", kind = only.kind.word(), name = ELEMENT), &html! { b { (only.name) } })) " "
                    a href=(self.address_with(None)) { (viewer.text("item-whole-run")) }
                }
            }
            (self.notes())
            a href={ (self.address()) "/share" } download { (viewer.text("share")) }
            @if !runs.is_empty() { (trials(&runs, viewer)) }
        };
        Ok(strip(viewer, &content))
    }

    /// Forms for tags, pin and note.
    fn notes(&self) -> Markup {
        let entry = &self.entry;
        let action = format!("{}/change", self.address());
        let pin = if entry.pinned { ("unpin", "item-unpin") } else { ("pin", "item-pin") };
        let viewer = self.viewer;
        if !Visitor::can_run() {
            return html! {
                @for tag in &entry.tags { span class="tag" { (tag) } }
                @if let Some(note) = &entry.note { span class="hint" { (note) } }
            };
        }
        html! {
            @for tag in &entry.tags {
                (post_form(&action, &html! {
                    span class="tag" {
                        (tag)
                        button name="untag" value=(tag) aria-label=(viewer.format(&message!("item-remove-tag", tag = tag.as_str()))) { "×" }
                    }
                }))
            }
            (post_form(&action, &html! {
                input class="short" name="tag" aria-label=(viewer.text("item-new-tag")) placeholder=(viewer.text("item-tag-example")) required maxlength="64";
                button { (viewer.text("item-tag")) }
            }))
            (post_form(&action, &html! { button name=(pin.0) value="yes" { (viewer.text(pin.1)) } }))
            (post_form(&action, &html! {
                input class="wide" name="note" aria-label=(viewer.text("item-note")) placeholder=(viewer.text("item-note"))
                    value=(entry.note.as_deref().unwrap_or_default());
                button { (viewer.text("item-save-note")) }
            }))
        }
    }
}

/// Measure of the history of an item; None for an item without one.
fn history_measure(entry: &IndexEntry, study: &Study) -> Option<HistoryMeasure> {
    match (entry.kind, &study.experiment.question) {
        // A run of an experiment is no value of a history: its experiment is.
        (ItemKind::Run, _) => entry.experiment.is_none().then_some(HistoryMeasure::P99),
        (ItemKind::Experiment, Question::Find(_)) => Some(HistoryMeasure::Capacity),
        (ItemKind::Experiment, _) => None,
    }
}

/// Links to the pages of an experiment's runs.
fn trials(runs: &[IndexEntry], viewer: &Viewer) -> Markup {
    html! {
        details {
            summary { (viewer.text("item-runs")) }
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
    let fields = form(body).await?;
    with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        make_change(store, &item, &fields)?;
        Ok(Redirect::to(&format!("/runs/{}", item.id())))
    })
    .await
}

/// Gives an order to an active run, or to the active trial of an experiment, and leads back to its page.
///
/// # Errors
///
/// The run is over, or refuses the order.
pub async fn give_order(
    State(shared): State<Arc<Shared>>,
    Path(word): Path<String>,
    body: Body,
) -> Result<Redirect, Problem> {
    let fields = form(body).await?;
    let order = match fields.all("mark").next() {
        Some(text) => RunOrder::Mark(text.to_owned()),
        None if fields.has("stop") => RunOrder::Stop,
        None => return Err(Problem::bad_request(message!("item-no-order"))),
    };
    with_store(&shared, move |store, _| {
        let item = store.find(&word)?;
        let run = match &item {
            StoredItem::Run(id) => Some(id.clone()),
            // The end of a trial by an order is that of its experiment.
            StoredItem::Experiment(id) => active_trial(store, id)?,
        };
        let run = run.ok_or_else(|| Problem::bad_request(message!("item-no-active-trial")))?;
        give(&store.control_socket(&run), &order).map_err(Problem::bad_request)?;
        Ok(Redirect::to(&format!("/runs/{}", item.id())))
    })
    .await
}

/// Id of the active trial of an experiment; None between two trials.
fn active_trial(store: &Store, experiment: &str) -> Result<Option<String>, Problem> {
    let trials = store.list(&EntryFilter::RunsOf(experiment.to_owned()))?;
    Ok(trials.into_iter().find(|run| run.progress == ItemState::Running).map(|run| run.id))
}

/// Removes a tag of this item, not that of another one.
///
/// # Errors
///
/// The item does not have this tag.
pub fn remove_tag(store: &Store, item: &StoredItem, tag: &str) -> Result<(), Problem> {
    if !store.entry(item.id())?.tags.iter().any(|own| own == tag) {
        return Err(Problem::bad_request(format!("{} does not have the tag `{tag}`.", item.id())));
    }
    Ok(store.untag(tag)?)
}

fn make_change(store: &Store, item: &StoredItem, fields: &Fields) -> Result<(), Problem> {
    if let Some(tag) = fields.all("tag").next() {
        store.tag(item, tag.trim())?;
    } else if let Some(tag) = fields.all("untag").next() {
        remove_tag(store, item, tag)?;
    } else if fields.has("pin") {
        store.pin(item)?;
    } else if fields.has("unpin") {
        store.unpin(item)?;
    } else if fields.has("note") {
        store.set_note(item, fields.first("note"))?;
    } else {
        return Err(Problem::bad_request(message!("item-no-change")));
    }
    Ok(())
}
