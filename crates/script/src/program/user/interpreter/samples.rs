//! Judges replies, and records samples.

use super::Interpreter;
use crate::program::user::is_jmeter_redirect;
use crate::replies::reactions::ReplyVerdict;
use crate::replies::records;
use crate::replies::trace;
use crate::texts::context::UserContext;
use crate::texts::reply_view::{ReplyView, failures};
use crate::texts::variables::LAST_SAMPLE_OK;
use brunt_engine::{RequestAttempt, UserStep, UserTurn, UserVerdict};
use brunt_model::record::SampleTrace;
use brunt_model::reply_policy::{RedirectRules, Redirects};
use brunt_model::{CheckFailure, DataType, Failure, Outcome, ReplyPolicy, Sample, SampleRecord};
use brunt_wire::{Prepared, Transport};
use std::rc::Rc;

impl<T: Transport> Interpreter<T> {
    /// Judges the reply to the last request, and records it if the plan requests records.
    pub(super) fn judge_exchange(&mut self, exchange: RequestAttempt<'_>) -> Option<UserVerdict> {
        let Self { script, context, memory, recording, was_together, .. } = self;
        let user = context.as_deref()?;
        let RequestAttempt { first, request, reply, sample, last_hop, mut hops, skipped } =
            exchange;
        let was_element = memory.as_ref().is_some_and(|memory| memory.was_element());
        let is_repeated = !*was_together
            && memory.as_ref().is_some_and(|memory| memory.will_repeat(script, reply));
        let mut reply_view = ReplyView::new(request, reply, sample, user);
        if reply.is_none() {
            reply_view.addresses = script.transport().addresses(request);
            if script.compiled.dialect().describes_failures() {
                reply_view.changes.body = Some(failures::body(&reply_view).into_bytes());
            }
        }
        // The user's label is that of the last request that was sent together with this one.
        if *was_together
            && let Some(label) = recording.as_ref().and_then(|recording| recording.label_of(first))
        {
            reply_view.changes.label = Some(label.to_owned());
        }
        let redirect =
            refused_redirect(script.policy(request.tags.reply_policy), &reply_view, hops.len());
        let before = trace::trace_before(user);
        let mut verdict = ReplyVerdict::new(sample.outcome, recording.is_some());
        if let Some((code, message)) = &redirect {
            verdict.outcome.failure = Some(Failure::Check);
            verdict.failures.push(CheckFailure::new("redirect", "", format!("{code} {message}")));
        }
        // Page elements and challenged requests are parts of another sample.
        if !was_element && !is_repeated {
            let reactions = &script.compiled.reactions[request.tags.reply_policy as usize];
            let iteration = sample.iteration;
            if reactions.reads_hops
                && let Some(last_hop) = last_hop
            {
                reply_view.hops = records::hops(&reply_view, last_hop, &hops);
                records::keep_wanted_details(user, &mut hops);
            }
            reactions.keep(&reply_view, verdict.outcome.is_good());
            if !*was_together {
                reactions.act(&mut reply_view, &mut verdict, |text| {
                    script.text(text, iteration, Some(user))
                });
            }
            reactions.judge(&mut reply_view, &mut verdict, |text| {
                script.text(text, iteration, Some(user))
            });
            if let Some(why) = user.worker.text_limit.take() {
                verdict.outcome.failure = Some(Failure::Check);
                verdict.failures.push(CheckFailure::new("text", "", why));
            }
            reactions.keep(&reply_view, verdict.outcome.is_good());
        }
        let outcome = verdict.outcome;
        if !was_element && !is_repeated {
            set_last_success(user, outcome.is_good());
        }
        if let Some(recording) = recording {
            if reply_view.changes.is_ignored {
                recording.ignore();
                return Some(UserVerdict { outcome, failures: verdict.failures });
            }
            let last_sample = last_hop.unwrap_or(sample);
            let whole = records::of_request(&reply_view, sample);
            let mut record = match script.policy(request.tags.reply_policy).redirects.rules {
                RedirectRules::JmeterAuto => {
                    records::of_last(whole, &records::of_request(&reply_view, last_sample))
                }
                RedirectRules::Rfc9110 | RedirectRules::Jmeter | RedirectRules::Siege => {
                    records::of_chain(whole, || records::of_request(&reply_view, last_sample), hops)
                }
            };
            if let Some((code, message)) = redirect {
                records::refuse_redirect(&mut record, code, &message);
            }
            records::judge(
                &mut record,
                &reply_view,
                outcome.is_good(),
                verdict.results.unwrap_or_default(),
            );
            if let (Some(before), Some(exchange)) = (before, record.trace.take()) {
                let checks =
                    trace::checks(&script.policy(request.tags.reply_policy).checks, &reply_view);
                let exchange = SampleTrace { skipped, ..*exchange };
                record.trace = Some(Box::new(trace::complete(exchange, before, checks, user)));
            }
            let is_page =
                script.policy(request.tags.reply_policy).elements.is_some() && !*was_together;
            if is_repeated {
                recording.add_challenged(record);
            } else if was_element {
                recording.add_element(record, first);
            } else if is_page {
                recording.add_page(record);
            } else {
                recording.add(record);
            }
        }
        (!was_element && !is_repeated)
            .then_some(UserVerdict { outcome, failures: verdict.failures })
    }

    /// Returns the label of the last request.
    pub fn label(&self) -> String {
        self.context.as_ref().map(|user| user.label.borrow().clone()).unwrap_or_default()
    }

    /// Judges and records a request that could not be sent, as one without a reply.
    pub(super) fn judge_unsent(&mut self, why: &str, turn: &UserTurn<'_>) {
        let Some(user) = self.context.as_deref() else { return };
        let request = Prepared::default();
        let sample = Sample { outcome: UNSENT, ..Sample::default() };
        let mut view = ReplyView::new(&request, None, &sample, user);
        view.changes.code = Some(failures::BAD_REQUEST.into());
        view.changes.message = Some(failures::client_message(why));
        // The body contains the code and the message, so it is set after them.
        view.changes.body = Some(failures::body(&view).into_bytes());
        let mut verdict = ReplyVerdict::new(UNSENT, self.recording.is_some());
        let reactions = &self.script.compiled.reactions[self.policy as usize];
        reactions.keep(&view, false);
        reactions
            .act(&mut view, &mut verdict, |text| self.script.text(text, turn.number, Some(user)));
        reactions
            .judge(&mut view, &mut verdict, |text| self.script.text(text, turn.number, Some(user)));
        reactions.keep(&view, false);
        set_last_success(user, false);
        let Some(recording) = &mut self.recording else { return };
        let mut record = SampleRecord {
            start_unix_millis: self.script.context.run_state.unix_millis(),
            data_type: DataType::Text,
            is_http: true,
            trace: trace::without_exchange(user, Some(why)),
            ..records::of_user(&view)
        };
        records::judge(&mut record, &view, false, verdict.results.unwrap_or_default());
        recording.add(record);
    }

    /// Records the transactions and samples that end with a step.
    pub(super) fn record_end(&mut self, step: &UserStep, turn: &UserTurn<'_>) {
        if matches!(step, UserStep::Leave | UserStep::EndRun) {
            self.run_to_end(turn);
        }
        let (Some(recording), Some(user)) = (&mut self.recording, &self.context) else { return };
        match step {
            UserStep::Done | UserStep::Broken(_) => recording.end_transactions(),
            UserStep::Leave | UserStep::EndRun => recording.leave_transactions(),
            UserStep::Request(_)
            | UserStep::Last(_)
            | UserStep::Together(_)
            | UserStep::Parallel(..)
            | UserStep::Think(_)
            | UserStep::Sample
            | UserStep::Wait(_)
            | UserStep::BeginTransaction(..)
            | UserStep::EndTransaction
            | UserStep::SuspendTransactions(..)
            | UserStep::ResumeTransactions(_)
            | UserStep::Failing(..) => return,
        }
        recording.add_rest(user);
    }

    /// Runs the operations after the user's end, up to the next sampler: JMeter's users
    /// end their transactions there.
    fn run_to_end(&mut self, turn: &UserTurn<'_>) {
        let script = Rc::clone(&self.script);
        let ops = &script.compiled.program.ops;
        // Operations may jump back, so their number is limited.
        for _ in 0..ops.len() {
            let Some(op) = ops.get(self.next) else { return };
            self.next += 1;
            if !op.run_after_stop(self, turn) {
                return;
            }
        }
    }
}

/// Returns the code and message of a redirect that JMeter does not follow although it should.
/// Applies only to its own redirect rules.
fn refused_redirect(
    policy: &ReplyPolicy,
    reply_view: &ReplyView<'_>,
    hops: usize,
) -> Option<(&'static str, String)> {
    let Redirects { most, rules } = policy.redirects;
    let reply = reply_view.reply?;
    let parts = reply_view.request.parts()?;
    if rules != RedirectRules::Jmeter || !is_jmeter_redirect(&parts.method, reply.status) {
        return None;
    }
    if most > 0 && reply.details.as_ref()?.location.is_none() {
        let line = format!("{} {} HTTP/1.1", parts.method, reply_view.request.url());
        return Some((
            failures::ILLEGAL_ARGUMENT,
            format!("Missing location header in redirect for {line}"),
        ));
    }
    let is_over = most > 0 && hops >= most as usize;
    is_over.then(|| (failures::IO, format!("Exceeded maximum number of redirects: {most}")))
}

/// Sets the variable with the success of the last sample.
pub fn set_last_success(user: &UserContext, success: bool) {
    user.variables.borrow_mut().set_known(LAST_SAMPLE_OK, if success { "true" } else { "false" });
}

/// Outcome of a request that could not be prepared.
const UNSENT: Outcome = Outcome { status: None, failure: Some(Failure::System), expected: false };
