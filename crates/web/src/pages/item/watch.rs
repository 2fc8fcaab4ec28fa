//! The page of a run up to an instant: of an active one up to now, or the replay of another. The strip of an active experiment. The parts of
//! these that change while they are shown.

use super::{ItemPage, active_trial, read, study_of, translate};
use crate::assets::Asset;
use crate::layout::{Problem, post_form};
use crate::study_html::StudyHtml;
use crate::texts::{ELEMENT, message};
use crate::watched::{FIRST_LOOK_AGE, NEXT_LOOK_AGE, PageKey, PageView, WatchedPage};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{Html, IntoResponse, Response};
use brunt_engine::clock::unix_seconds;
use brunt_model::numbers::span;
use brunt_model::{Experiment, Finish, Run, Tick};
use brunt_store::{ItemKind, ItemState, StoredItem};
use maud::{Markup, html};
use std::time::Duration;

/// Field of the URL with the instant of a replay, in seconds since the start of the run.
const AT: &str = "at";

/// Header with the age of the newest figures of an active run, in seconds.
const AGE: HeaderName = HeaderName::from_static("brunt-age");

/// Findings on the end of a run, which it has not reached.
const RULES_ON_THE_END: [&str; 2] = ["cut_short", "too_short"];

/// Maximum number of rows of a table. The page replaces them every second.
const MOST_ROWS: usize = 100;

/// Speeds of a replay: seconds of the run per second.
const SPEEDS: [u32; 4] = [1, 5, 20, 100];

impl ItemPage<'_> {
    /// Returns the instant of the replay in the URL; None if it has none.
    pub(super) fn instant(&self) -> Result<Option<Tick>, Problem> {
        let Some(text) = self.fields.all(AT).next() else { return Ok(None) };
        let seconds = text.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds));
        let seconds: f64 = seconds.ok_or_else(|| {
            Problem::bad_request(message!("replay-no-time", field = AT, value = text))
        })?;
        Ok(Some(Tick((seconds * 1e9) as u64)))
    }

    /// The page of an active run.
    pub(super) fn active(&self) -> Result<Response, Problem> {
        let page = self.latest_page(FIRST_LOOK_AGE)?;
        let strip = self.strip(&self.live_strip(page.key.instant))?;
        Ok(page.html.under(&strip)?.into_response())
    }

    /// The page of a run that is over, as it was at an instant.
    pub(super) fn replay(&self, instant: Tick) -> Result<Response, Problem> {
        let (page, end) = self.page_at(instant)?;
        let strip = self.strip(&self.replay_strip(page.key.instant, end))?;
        Ok(page.html.under(&strip)?.into_response())
    }

    /// The elements of the page that change while it is shown. Without the strip, they change no more.
    pub(super) fn changing(&self, item: &StoredItem) -> Result<Response, Problem> {
        if let Some(instant) = self.instant()? {
            let (page, end) = self.page_at(instant)?;
            let strip = self.replay_strip(page.key.instant, end);
            return Ok(Html(page.html.changing() + &strip.0).into_response());
        }
        let is_active = self.entry.progress == ItemState::Running;
        match item {
            StoredItem::Experiment(id) if is_active => {
                let experiment = self.store.experiment(id)?;
                Ok(Html(self.experiment_strip(&experiment)?.0).into_response())
            }
            StoredItem::Experiment(_) => Ok(Html(String::new()).into_response()),
            StoredItem::Run(_) if is_active => {
                let page = self.latest_page(NEXT_LOOK_AGE)?;
                let strip = self.live_strip(page.key.instant);
                let age = (unix_seconds() - page.unix_seconds).max(0.0);
                let age = HeaderValue::from_str(&format!("{age:.1}"));
                let age = age.map_err(|error| Problem::internal(&error))?;
                Ok(([(AGE, age)], Html(page.html.changing() + &strip.0)).into_response())
            }
            StoredItem::Run(id) => {
                self.shared.watched.forget(id);
                let (study, analysis) = read(self.store, item, self.viewer)?;
                let page = self.study_html(&study, &analysis, None)?;
                Ok(Html(page.changing()).into_response())
            }
        }
    }

    /// Refuses a replay of an item that has none.
    fn ensure_replay(&self) -> Result<(), Problem> {
        if self.entry.kind == ItemKind::Experiment {
            return Err(Problem::bad_request(message!("item-no-replay")));
        }
        if self.entry.progress == ItemState::Running {
            return Err(Problem::bad_request(message!("item-no-replay-yet")));
        }
        Ok(())
    }

    fn latest_page(&self, max_age: Duration) -> Result<WatchedPage, Problem> {
        let Self { store, entry, only, .. } = self;
        let run = self.shared.watched.run(&entry.id);
        let language = self.viewer.language;
        let view = PageView { only: only.clone(), labels: self.labels.choice.clone(), language };
        run.latest_page(store, &entry.id, &view, max_age, |run| self.page_of(run))
    }

    /// Returns the page at an instant, and the end of the run.
    fn page_at(&self, instant: Tick) -> Result<(WatchedPage, Tick), Problem> {
        self.ensure_replay()?;
        let Self { store, entry, .. } = self;
        let run = self.shared.watched.run(&entry.id);
        let labels = self.labels.choice.clone();
        let view = PageView { only: self.only.clone(), labels, language: self.viewer.language };
        let key = PageKey { instant, view };
        run.page_at(store, &entry.id, key, |run| self.page_of(run))
    }

    /// Makes the page of a run that is not over, or not shown up to its end.
    fn page_of(&self, run: &Run) -> Result<StudyHtml, Problem> {
        let mut judgement = brunt_judge::judge(run);
        judgement.findings.retain(|finding| !RULES_ON_THE_END.contains(&finding.rule.as_str()));
        let (mut study, mut analysis) = study_of(run, &judgement, &self.entry.id);
        // A log without an end would be shown as that of a run that was cut short.
        for trial in &mut study.trials {
            let at = trial.run.last_interval_end;
            trial.run.finish = Some(Finish { at, interrupted: false, error: None });
        }
        study.interrupted = false;
        translate(&mut study, &mut analysis, self.viewer);
        self.study_html(&study, &analysis, Some(MOST_ROWS))
    }

    /// State of an active run, and forms for orders to it.
    fn live_strip(&self, newest: Tick) -> Markup {
        let action = format!("{}/order", self.address());
        let viewer = self.viewer;
        let time = span(newest.seconds());
        let state = html! { (viewer.format(&message!("live-running", time))) };
        let orders = html! {
            (post_form(&action, &html! {
                input class="short" name="mark" aria-label=(viewer.text("live-mark")) placeholder=(viewer.text("live-mark-example")) required maxlength="500";
                button { (viewer.text("live-mark-now")) }
            }))
            (post_form(&action, &html! { button name="stop" value="yes" { (viewer.text("live-stop")) } }))
        };
        self.live(&state, &orders, "live-over")
    }

    /// State of an active experiment, and a form to stop it. Its tables and charts stay those of the loaded page.
    pub(super) fn experiment_strip(&self, experiment: &Experiment) -> Result<Markup, Problem> {
        let Self { store, entry, viewer, .. } = self;
        let ended = entry.trials_made.unwrap_or(0);
        let trials = if experiment.has_search() {
            message!("live-trials-of-search", ended)
        } else {
            let planned = experiment.trials().to_string();
            message!("live-trials", ended = ended.to_string(), planned)
        };
        let active = active_trial(store, &entry.id)?;
        let state = html! {
            (viewer.format(&trials))
            @if let Some(run) = active { " " a href={ "/runs/" (run) } { (viewer.text("live-active-trial")) } }
        };
        let action = format!("{}/order", self.address());
        let orders = html! {
            a href=(self.address()) { (viewer.text("live-results")) }
            (post_form(&action, &html! { button name="stop" value="yes" { (viewer.text("live-stop-experiment")) } }))
        };
        Ok(self.live(&state, &orders, "live-experiment-over"))
    }

    /// The strip of an active run or experiment. The script of the page replaces its state.
    fn live(&self, state: &Markup, orders: &Markup, over: &'static str) -> Markup {
        let viewer = self.viewer;
        // The script of the page puts figures in place of the mark.
        let age = viewer.format(&message!("live-age", seconds = ELEMENT));
        let silent = viewer.format(&message!("live-silent", error = ELEMENT));
        html! {
            div id="live" class="live" data-age=(age) data-silent=(silent) data-over=(viewer.text(over)) data-load=(viewer.text("live-load")) {
                span { span id="live-state" { (state) } span id="live-age" {} }
                (orders)
                script type="module" src=(Asset::StudioScript.path()) {}
            }
        }
    }

    /// A slider over the time of the run. Without a script, its button loads the page.
    fn replay_strip(&self, instant: Tick, end: Tick) -> Markup {
        let seconds = instant.seconds();
        let viewer = self.viewer;
        let position = message!("replay-at", time = span(seconds), end = span(end.seconds()));
        let silent = viewer.format(&message!("live-silent", error = ELEMENT));
        html! {
            div id="live" class="live" data-silent=(silent) {
                form id="replay" class="replay" action=(self.address()) method="get" {
                    @if let Some(only) = &self.only {
                        input type="hidden" name=(super::ONLY) value=(only);
                    }
                    input type="range" name=(AT) min="0" max=(format!("{:.3}", end.seconds())) step="any"
                        value=(format!("{seconds:.3}")) aria-label=(viewer.text("replay-instant"));
                    button { (viewer.text("replay-show")) }
                }
                select id="replay-speed" aria-label=(viewer.text("replay-speed")) {
                    @for speed in SPEEDS { option value=(speed) { (speed) " ×" } }
                }
                button id="replay-play" type="button" data-play=(viewer.text("replay-play")) data-pause=(viewer.text("replay-pause")) { (viewer.text("replay-play")) }
                span id="live-state" { (viewer.format(&position)) }
                a href=(self.address()) { (viewer.text("replay-end")) }
                script type="module" src=(Asset::StudioScript.path()) {}
            }
        }
    }
}
