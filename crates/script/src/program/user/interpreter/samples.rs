//! Judges replies, and records samples.

use super::Interpreter;
use crate::program::user::is_jmeter_redirect;
use crate::replies::reactions::Verdict;
use crate::replies::records;
use crate::replies::trace;
use crate::texts::context::UserContext;
use crate::texts::searched::{Searched, failures};
use crate::texts::template::Template;
use crate::texts::variables::LAST_SAMPLE_OK;
use brunt_engine::{Exchange, Step, Turn, UserVerdict};
use brunt_model::reply_policy::{RedirectRules, Redirects};
use brunt_model::{CheckFailure, DataType, Failure, Outcome, ReplyPolicy, Sample, SampleRecord};
use brunt_wire::{Prepared, Transport};
use std::rc::Rc;

impl<T: Transport> Interpreter<T> {
    /// What is said of the reply to the last request; it is recorded where records are wanted.
    pub(super) fn judge_exchange(&mut self, exchange: Exchange<'_>) -> Option<UserVerdict> {
        let Self { script, context, memory, recording, was_together, .. } = self;
        let user = context.as_deref()?;
        let Exchange { first, request, reply, sample, last_hop, mut hops } = exchange;
        let was_element = memory.as_ref().is_some_and(|memory| memory.was_element());
        let is_repeated = !*was_together && memory.as_ref().is_some_and(|memory| memory.repeats(script, reply));
        let mut searched = Searched::new(request, reply, sample, user);
        if reply.is_none() {
            searched.addresses = script.transport().addresses(request);
            if script.compiled.dialect().describes_failures() {
                searched.changes.body = Some(failures::body(&searched).into_bytes());
            }
        }
        if *was_together && let Some(label) = recording.as_ref().and_then(|recording| recording.label_of(first)) {
            searched.changes.label = Some(label.to_owned());
        }
        let redirect = refused_redirect(script.policy(request.tags.reply_policy), &searched, hops.len());
        let before = trace::before(user);
        let mut verdict = Verdict::new(sample.outcome, recording.is_some());
        if let Some((code, message)) = &redirect {
            verdict.outcome.failure = Some(Failure::Check);
            verdict.failures.push(CheckFailure::new("redirect", "", format!("{code} {message}")));
        }
        if !was_element && !is_repeated {
            let reactions = &script.compiled.reactions[request.tags.reply_policy as usize];
            let fill = |template: &Template| script.text(template, sample.iteration, Some(user));
            if reactions.reads_hops
                && let Some(last_hop) = last_hop
            {
                searched.hops = records::hops(&searched, last_hop, &hops);
                records::keep_wanted_details(user, &mut hops);
            }
            reactions.keep(&searched, verdict.outcome.is_good());
            if !*was_together {
                reactions.act(&mut searched, &mut verdict, fill);
            }
            reactions.judge(&mut searched, &mut verdict, fill);
            reactions.keep(&searched, verdict.outcome.is_good());
        }
        let outcome = verdict.outcome;
        if !was_element && !is_repeated {
            set_last_success(user, outcome.is_good());
        }
        if let Some(recording) = recording {
            if searched.changes.is_ignored {
                recording.ignore();
                return Some(UserVerdict { outcome, failures: verdict.failures });
            }
            let last = || records::of_request(&searched, last_hop.unwrap_or(sample));
            let whole = records::of_request(&searched, sample);
            let mut record = match script.policy(request.tags.reply_policy).redirects.rules {
                RedirectRules::JmeterAuto => records::of_last(whole, &last()),
                RedirectRules::Rfc9110 | RedirectRules::Jmeter | RedirectRules::Siege => {
                    records::of_chain(whole, last, hops)
                }
            };
            if let Some((code, message)) = redirect {
                records::refuse_redirect(&mut record, code, &message);
            }
            records::judge(&mut record, &searched, outcome.is_good(), verdict.results.unwrap_or_default());
            if let (Some(before), Some(exchange)) = (before, record.trace.take()) {
                let checks = trace::checks(&script.policy(request.tags.reply_policy).checks, &searched);
                record.trace = Some(Box::new(trace::complete(*exchange, before, checks, user)));
            }
            let is_page = script.policy(request.tags.reply_policy).elements.is_some() && !*was_together;
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
        (!was_element && !is_repeated).then_some(UserVerdict { outcome, failures: verdict.failures })
    }

    /// The label of the last request.
    pub fn label(&self) -> String {
        self.context.as_ref().map(|user| user.label.borrow().clone()).unwrap_or_default()
    }

    /// Judges and records a request that could not be sent, as one without a reply.
    pub(super) fn judge_unsent(&mut self, why: &str, turn: &Turn<'_>) {
        let Some(user) = self.context.as_deref() else { return };
        let request = Prepared::default();
        let sample = Sample { outcome: UNSENT, ..Sample::default() };
        let mut view = Searched::new(&request, None, &sample, user);
        view.changes.code = Some(failures::BAD_REQUEST.into());
        view.changes.message = Some(failures::told(why));
        view.changes.body = Some(failures::body(&view).into_bytes());
        let mut verdict = Verdict::new(UNSENT, self.recording.is_some());
        let reactions = &self.script.compiled.reactions[self.policy as usize];
        reactions.keep(&view, false);
        reactions.act(&mut view, &mut verdict, |text| self.script.text(text, turn.number, Some(user)));
        reactions.judge(&mut view, &mut verdict, |text| self.script.text(text, turn.number, Some(user)));
        reactions.keep(&view, false);
        set_last_success(user, false);
        let Some(recording) = &mut self.recording else { return };
        let mut record = SampleRecord {
            start_unix_millis: self.script.context.surroundings.unix_millis(),
            data_type: DataType::Text,
            is_http: true,
            trace: trace::without_exchange(user, Some(why)),
            ..records::of_user(&view)
        };
        records::judge(&mut record, &view, false, verdict.results.unwrap_or_default());
        recording.add(record);
    }

    /// The records of what is over with a step.
    pub(super) fn record_end(&mut self, step: &Step, turn: &Turn<'_>) {
        if matches!(step, Step::Leave | Step::EndRun) {
            self.pass_ends(turn);
        }
        let (Some(recording), Some(user)) = (&mut self.recording, &self.context) else { return };
        match step {
            Step::Done | Step::Broken(_) => recording.end_transactions(),
            Step::Leave | Step::EndRun => recording.leave_transactions(),
            Step::Request(_)
            | Step::Last(_)
            | Step::Together(_)
            | Step::Parallel(..)
            | Step::Think(_)
            | Step::Sample
            | Step::Wait(_)
            | Step::BeginTransaction(..)
            | Step::EndTransaction
            | Step::SuspendTransactions(..)
            | Step::ResumeTransactions(_)
            | Step::Failing(..) => return,
        }
        recording.add_rest(user);
    }

    /// Carries out the ends of transactions after which JMeter's users find no further sampler.
    fn pass_ends(&mut self, turn: &Turn<'_>) {
        let script = Rc::clone(&self.script);
        let ops = &script.compiled.program.ops;
        for _ in 0..ops.len() {
            let Some(op) = ops.get(self.next) else { return };
            self.next += 1;
            if !op.run_after_stop(self, turn) {
                return;
            }
        }
    }
}

/// What JMeter says of a redirect that it does not follow though it should: code, and message. Its own rules alone.
fn refused_redirect(policy: &ReplyPolicy, searched: &Searched<'_>, hops: usize) -> Option<(&'static str, String)> {
    let Redirects { most, rules } = policy.redirects;
    let (reply, parts) = (searched.reply?, searched.request.parts()?);
    if rules != RedirectRules::Jmeter || !is_jmeter_redirect(&parts.method, reply.status) {
        return None;
    }
    if most > 0 && reply.kept.as_ref()?.location.is_none() {
        let line = format!("{} {} HTTP/1.1", parts.method, searched.request.url());
        return Some((failures::ILLEGAL_ARGUMENT, format!("Missing location header in redirect for {line}")));
    }
    let is_over = most > 0 && hops >= most as usize;
    is_over.then(|| (failures::IO, format!("Exceeded maximum number of redirects: {most}")))
}

/// Sets the variable with the success of the last sample.
pub fn set_last_success(user: &UserContext, success: bool) {
    user.variables.borrow_mut().set_known(LAST_SAMPLE_OK, if success { "true" } else { "false" });
}

/// That of a request that could not be made.
const UNSENT: Outcome = Outcome { status: None, failure: Some(Failure::System), expected: false };
