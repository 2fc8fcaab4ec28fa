//! What a user does around each of its samples, for `--trace`: pauses, variables that change, and what extractors and checks look at.
//!
//! Users that are not traced pay one branch for each sample. Out of scope: how a trace is shown; `report` knows.

use crate::replies::extract::description_of;
use crate::texts::context::UserContext;
use crate::texts::searched::Searched;
use brunt_model::extract::{Extractor, Take};
use brunt_model::outcome::status_text;
use brunt_model::plan::Checks;
use brunt_model::record::{Looker, SampleTrace, TracedLook};
use brunt_model::reply_policy::statuses;
use brunt_model::{Failure, Sample, Tick};

pub use crate::texts::tracing::shown;

/// The trace of what happened before a sample, if the user is traced.
pub fn before(user: &UserContext) -> Option<SampleTrace> {
    let before = user.tracing.as_ref()?.borrow_mut().before(&user.variables.borrow());
    Some(SampleTrace {
        population: user.worker.population.clone(),
        user: user.number,
        iteration: user.iteration.get(),
        ..before
    })
}

/// A request in bytes as it was sent, and its clocks, where its user is traced.
pub fn of_exchange(searched: &Searched<'_>, sample: &Sample) -> Option<Box<SampleTrace>> {
    searched.user.tracing.as_ref()?;
    let opening = sample.opening;
    let opened: u64 = [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum();
    let came = sample.first_byte != Tick::ZERO;
    Some(Box::new(SampleTrace {
        request: searched.request_text(),
        body: searched.raw_body().to_vec(),
        opening_micros: sample.opened.then_some(opened / 1_000),
        first_byte_micros: came.then(|| sample.first_byte.nanos_since(sample.begun) / 1_000),
        micros: sample.last_byte.nanos_since(sample.begun) / 1_000,
        failure: sample.outcome.failure.filter(|failure| *failure != Failure::Check).map(|kind| kind.row().name.into()),
        ..SampleTrace::default()
    }))
}

/// What happened before a sample and because of it, beside its exchange; `looks` come before those that the user remembers.
pub fn complete(
    exchange: SampleTrace,
    before: SampleTrace,
    mut looks: Vec<TracedLook>,
    user: &UserContext,
) -> SampleTrace {
    let SampleTrace { population, user: number, iteration, paused_millis, notes, changed_before, .. } = before;
    let mut changed = Vec::new();
    user.trace(|tracing| {
        changed = tracing.changes(&user.variables.borrow());
        looks.append(&mut tracing.take_looks());
    });
    SampleTrace {
        population,
        user: number,
        iteration,
        paused_millis,
        notes,
        changed_before,
        looks,
        changed,
        ..exchange
    }
}

/// The trace of what is no request, or could not become one.
pub fn without_exchange(user: &UserContext, failure: Option<&str>) -> Option<Box<SampleTrace>> {
    let before = before(user)?;
    let failure = failure.map(str::to_owned);
    Some(Box::new(complete(SampleTrace { failure, ..SampleTrace::default() }, before, Vec::new(), user)))
}

/// What the checks say that need no part of a reply but its status and its length.
pub fn checks(checks: &Checks, searched: &Searched<'_>) -> Vec<TracedLook> {
    let Some(reply) = searched.reply else { return Vec::new() };
    let look = |name: &str, wanted: String, found: String, is_good| TracedLook {
        by: Looker::Check,
        name: name.to_owned(),
        wanted,
        found,
        is_good,
    };
    let expects = checks.expects(reply.status);
    let mut all = vec![look("status", statuses(&checks.status), status_text(reply.status), expects)];
    if let Some(pattern) = &checks.body {
        let matches = reply.kept.as_ref().is_some_and(|kept| kept.matches);
        all.push(look("body", format!("matches `{}`", shown(pattern)), shown(searched.body()), matches));
    }
    all
}

/// What an extractor found that has just set the variables of a user from so many matches.
pub fn extractor(extractor: &Extractor, user: &UserContext, matches: usize) -> TracedLook {
    let name = extractor.variable.clone();
    let found = match (extractor.take, matches, &extractor.default) {
        (Take::All, ..) => format!("{matches} matches"),
        (_, 0, None) => "no match; the variable keeps its value".into(),
        (_, 0, Some(default)) => format!("no match; default `{}`", shown(default)),
        (..) => shown(user.variables.borrow().get(&name).unwrap_or_default()),
    };
    TracedLook { by: Looker::Extractor, name, wanted: description_of(extractor), found, is_good: matches > 0 }
}
