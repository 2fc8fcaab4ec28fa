//! Traces the actions of a user around each sample, for `--trace`: pauses, changed
//! variables, extractors and checks.
//!
//! Users that are not traced pay one branch per sample. Out of scope: the presentation of a trace,
//! which is in `report`.

use crate::replies::extract::description_of;
use crate::texts::context::UserContext;
use crate::texts::reply_view::ReplyView;
use brunt_model::extract::{Extractor, MatchChoice};
use brunt_model::outcome::{DETAILS_FIELD, details, status_text};
use brunt_model::plan::ReplyChecks;
use brunt_model::record::{EvaluationKind, SampleTrace, TracedEvaluation};
use brunt_model::reply_policy::statuses;
use brunt_model::{Failure, Sample, Tick};

pub use crate::texts::tracing::shown;

/// Returns the trace of the time before a sample, if the user is traced.
pub fn trace_before(user: &UserContext) -> Option<SampleTrace> {
    let before = user.tracing.as_ref()?.borrow_mut().take_before(&user.variables.borrow());
    Some(SampleTrace {
        population: user.worker.population.clone(),
        user: user.number,
        iteration: user.iteration.get(),
        ..before
    })
}

/// Returns the bytes of a sent request and its clocks, if its user is traced.
pub fn of_exchange(reply_view: &ReplyView<'_>, sample: &Sample) -> Option<Box<SampleTrace>> {
    reply_view.user.tracing.as_ref()?;
    let opening = sample.opening;
    let opened: u64 = [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum();
    let has_first_byte = sample.first_byte != Tick::ZERO;
    Some(Box::new(SampleTrace {
        request: reply_view.request_text(),
        body: reply_view.raw_body().to_vec(),
        error_details: reply_view
            .field(DETAILS_FIELD)
            .and_then(|value| details(value.as_bytes()))
            .unwrap_or_default(),
        opening_micros: sample.opened.then_some(opened / 1_000),
        first_byte_micros: has_first_byte
            .then(|| sample.first_byte.nanos_since(sample.begun) / 1_000),
        micros: sample.last_byte.nanos_since(sample.begun) / 1_000,
        failure: sample
            .outcome
            .failure
            .filter(|failure| !matches!(failure, Failure::Check | Failure::DeadlineExceeded))
            .map(|kind| failure_text(kind, sample)),
        ..SampleTrace::default()
    }))
}

/// Returns the name of a failure, with its cause if that is known.
fn failure_text(failure: Failure, sample: &Sample) -> String {
    let name = failure.row().name.to_string();
    match sample.malformed.filter(|cause| cause.failure() == failure) {
        Some(cause) => format!("{name}: {cause}"),
        None => name,
    }
}

/// Completes the trace of a sample with the actions before and after its exchange. `looks` precede
/// those in the user's trace.
pub fn complete(
    exchange: SampleTrace,
    before: SampleTrace,
    mut looks: Vec<TracedEvaluation>,
    user: &UserContext,
) -> SampleTrace {
    let SampleTrace {
        population,
        user: number,
        iteration,
        paused_millis,
        notes,
        changed_before,
        ..
    } = before;
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
        evaluations: looks,
        changed,
        ..exchange
    }
}

/// Returns the trace of a sample without a request, or of a request that could not be prepared.
pub fn without_exchange(user: &UserContext, failure: Option<&str>) -> Option<Box<SampleTrace>> {
    let before = trace_before(user)?;
    let failure = failure.map(str::to_owned);
    Some(Box::new(complete(
        SampleTrace { failure, ..SampleTrace::default() },
        before,
        Vec::new(),
        user,
    )))
}

/// Describes the checks of the policy: the status, and the body.
pub fn checks(checks: &ReplyChecks, reply_view: &ReplyView<'_>) -> Vec<TracedEvaluation> {
    let Some(reply) = reply_view.reply else { return Vec::new() };
    let expects = checks.expects(reply.status);
    let mut all = vec![check_look(
        "status",
        statuses(&checks.status).into(),
        status_text(reply.status),
        expects,
    )];
    if let Some(pattern) = &checks.body {
        let matches = reply.details.as_ref().is_some_and(|kept| kept.matches);
        all.push(check_look(
            "body",
            format!("matches `{}`", shown(pattern)),
            shown(reply_view.body()),
            matches,
        ));
    }
    all
}

fn check_look(name: &str, wanted: String, found: String, is_good: bool) -> TracedEvaluation {
    TracedEvaluation { by: EvaluationKind::Check, name: name.to_owned(), wanted, found, is_good }
}

/// Describes the result of an extractor that has just set the variables of a user from
/// this number of matches.
pub fn extractor(extractor: &Extractor, user: &UserContext, matches: usize) -> TracedEvaluation {
    let name = extractor.variable.clone();
    let result = match (extractor.take, matches, &extractor.default) {
        (MatchChoice::All, ..) => format!("{matches} matches"),
        (_, 0, None) => "no match; the variable keeps its value".into(),
        (_, 0, Some(default)) => format!("no match; default `{}`", shown(default)),
        (..) => shown(user.variables.borrow().get(&name).unwrap_or_default()),
    };
    TracedEvaluation {
        by: EvaluationKind::Extractor,
        name,
        wanted: description_of(extractor),
        found: result,
        is_good: matches > 0,
    }
}
