//! Samples: what a user says of replies, samples that scripts make, and the records of both.

use super::Interpreter;
use crate::context::UserContext;
use crate::program::{CompiledMaker, CompiledSample, Op};
use crate::reactions::Verdict;
use crate::records::{self, failures};
use crate::script_call::sample_message;
use crate::scripts::ScriptView;
use crate::searched::{SampleChanges, Searched};
use crate::template::Template;
use crate::trace;
use crate::user::is_jmeter_redirect;
use crate::variables::LAST_SAMPLE_OK;
use brunt_engine::{Exchange, Step, Turn, UserVerdict};
use brunt_model::reply_policy::{RedirectRules, Redirects};
use brunt_model::scenario::{Counted, Pauses, Scope};
use brunt_model::{CheckFailure, DataType, Failure, Outcome, ReplyPolicy, Sample, SampleRecord};
use brunt_wire::{Prepared, Reply, Transport};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A pause of a script within a sample is no longer.
const LONGEST_PAUSE_MILLIS: u64 = 1 << 40;

/// What a sample that is no request came to before anybody looked at it.
struct Made {
    changes: SampleChanges,
    stop: Scope,
    /// Milliseconds for which the script slept.
    slept: u64,
}

impl<T: Transport> Interpreter<T> {
    /// What is said of the reply to the last request; it is recorded where records are wanted.
    pub(super) fn judge_exchange(&mut self, exchange: Exchange<'_>) -> Option<UserVerdict> {
        let Self { script, user, memory, recording, was_together, .. } = self;
        let user = user.as_deref()?;
        let Exchange { first, request, reply, sample, last_hop, mut hops } = exchange;
        let was_element = memory.as_ref().is_some_and(|memory| memory.was_element());
        let is_repeated = !*was_together && memory.as_ref().is_some_and(|memory| memory.repeats(script, reply));
        let mut searched = Searched::new(request, reply, sample, user);
        if reply.is_none() {
            searched.addresses = script.transport().addresses(request);
            if script.compiled.is_jmeter() {
                searched.changes.body = Some(failures::body(&searched).into_bytes());
            }
        }
        if *was_together && let Some(label) = recording.as_ref().and_then(|recording| recording.label_of(first)) {
            searched.changes.label = Some(label.to_owned());
        }
        let redirect = refused_redirect(script.policy(request.tags.reply_policy), &searched, hops.len());
        let before = user.tracing.as_ref().map(|tracing| tracing.borrow_mut().before(user));
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
            tell_success(user, outcome.is_good());
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
                _ => records::of_chain(whole, last, hops),
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
    pub(super) fn label(&self) -> String {
        self.user.as_ref().map(|user| user.label.borrow().clone()).unwrap_or_default()
    }

    /// Judges and records a request that could not be sent, as one without a reply.
    pub(super) fn judge_unsent(&mut self, why: &str, turn: &Turn<'_>) {
        let Some(user) = self.user.as_deref() else { return };
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
        tell_success(user, false);
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
        let (Some(recording), Some(user)) = (&mut self.recording, &self.user) else { return };
        match step {
            Step::Done | Step::Broken(_) => recording.end_transactions(),
            Step::Leave | Step::EndRun => recording.leave_transactions(),
            _ => return,
        }
        recording.add_rest(user);
    }

    /// A transaction begins, in the records; its name, whose text is made now if it has one.
    pub(super) fn begin_transaction(
        &mut self,
        (name, text): (&Arc<str>, Option<&Template>),
        pauses: Pauses,
        is_parent: bool,
        turn: &Turn<'_>,
    ) -> Arc<str> {
        let name = text.map_or_else(|| Arc::clone(name), |text| self.text(text, turn).into());
        if let Some(recording) = &mut self.recording {
            let variables = self.user.as_deref().map(records::values).unwrap_or_default();
            recording.begin_transaction(&name, pauses, is_parent, variables);
        }
        name
    }

    /// A user that stops goes on up to the next sampler, as in JMeter: transactions end that had no further one.
    fn pass_ends(&mut self, turn: &Turn<'_>) {
        let script = Rc::clone(&self.script);
        let ops = script.compiled.program.ops.iter();
        for _ in 0..ops.len() {
            let Some(op) = script.compiled.program.ops.get(self.next) else { return };
            self.next += 1;
            match op {
                Op::BeginTransaction(name, text, pauses, false) => {
                    self.begin_transaction((name, text.as_deref()), *pauses, false, turn);
                }
                Op::EndTransaction => self.recording.iter_mut().for_each(|recording| recording.end_transaction()),
                Op::CountInTransactions(counted @ Counted::ControllerEnd) => {
                    self.recording.iter_mut().for_each(|recording| recording.count(*counted));
                }
                op if self.jump(op, turn) => {}
                _ => return,
            }
        }
    }

    /// Makes a sample that is no request; the step that it comes to.
    pub(super) fn make_sample(&mut self, sample: &CompiledSample, turn: &Turn<'_>) -> Step {
        let label = self.text(&sample.label, turn);
        let Some(user) = self.user.as_deref() else { return Step::Sample };
        label.clone_into(&mut user.label.borrow_mut());
        let (request, clocks) = (Prepared::default(), Sample { outcome: GOOD, ..Sample::default() });
        let reply = Reply { status: 200, kept: Some(Box::default()), ..Reply::default() };
        let surroundings = &self.script.context.surroundings;
        let start = surroundings.unix_millis();
        let mut searched = Searched::new(&request, Some(&reply), &clocks, user);
        let made = match &sample.maker {
            CompiledMaker::Script(script) => {
                let made = by_script(|| script.run(user, ScriptView::making(&searched), |text| self.text(text, turn)));
                if script.is_forgiving { as_jmeter_says(made, script.name()) } else { made }
            }
            CompiledMaker::Variables => listing(user),
            CompiledMaker::Failure { code, message } => failure(self.text(code, turn), self.text(message, turn)),
        };
        let elapsed = surroundings.unix_millis().saturating_sub(start) + made.slept;
        (searched.elapsed_millis, searched.bytes) =
            (elapsed, made.changes.body.as_ref().map_or(0, |body| body.len() as u64));
        let is_bad = made.changes.success == Some(false);
        searched.change(made.changes);
        let times = searched.changes.times.take().unwrap_or((start as i64, (start + elapsed) as i64));
        searched.changes.times = Some(times);
        let outcome = if is_bad { Outcome { failure: Some(Failure::Check), ..GOOD } } else { GOOD };
        let mut verdict = Verdict::new(outcome, self.recording.is_some());
        let reactions = &self.script.compiled.reactions[sample.policy as usize];
        let fill = |template: &Template| self.script.text(template, turn.number, Some(user));
        reactions.keep(&searched, !is_bad);
        reactions.act(&mut searched, &mut verdict, fill);
        reactions.judge(&mut searched, &mut verdict, fill);
        reactions.keep(&searched, verdict.outcome.is_good());
        let failed = !verdict.outcome.is_good();
        self.failed_sample = Some(failed);
        tell_success(user, !failed);
        if let Some(recording) = &mut self.recording {
            if searched.changes.is_ignored {
                recording.ignore();
            } else {
                let bytes = searched.body_bytes().len() as u64;
                let mut record = SampleRecord { bytes, data_type: DataType::Text, ..records::of_user(&searched) };
                record.details = records::details(&searched);
                record.trace = trace::without_exchange(user, None);
                records::judge(&mut record, &searched, !failed, verdict.results.unwrap_or_default());
                recording.add(record);
            }
        }
        let ends = if failed { self.script.policy(sample.policy).failure_ends } else { Scope::Nothing };
        let asked = user.stop.take();
        let scope = [made.stop, asked, ends].into_iter().find(|scope| *scope != Scope::Nothing);
        let slept = Duration::from_millis(made.slept.min(LONGEST_PAUSE_MILLIS));
        let step = if slept.is_zero() { Step::Sample } else { Step::Think(slept) };
        scope.and_then(|scope| self.end(scope)).unwrap_or(step)
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

/// Sets the variable that says whether the last sample was a success.
fn tell_success(user: &UserContext, success: bool) {
    user.variables.borrow_mut().set_known(LAST_SAMPLE_OK, if success { "true" } else { "false" });
}

/// That of a request that could not be made.
const UNSENT: Outcome = Outcome { status: None, failure: Some(Failure::System), expected: false };

const GOOD: Outcome = Outcome { status: Some(200), failure: None, expected: true };

fn by_script(run: impl FnOnce() -> Result<crate::scripts::ScriptOutcome, String>) -> Made {
    match run() {
        Ok(ran) => {
            let mut changes = ran.changes;
            changes.body = changes.body.or(ran.value.map(String::into_bytes));
            Made { changes, stop: ran.stop, slept: ran.pause }
        }
        Err(why) => failure("500".into(), why),
    }
}

/// A sample that fails.
fn failure(code: String, message: String) -> Made {
    let changes =
        SampleChanges { code: Some(code), message: Some(message), success: Some(false), ..SampleChanges::default() };
    Made { changes, stop: Scope::Nothing, slept: 0 }
}

/// The message of a script that threw, in JMeter's words.
fn as_jmeter_says(mut made: Made, script: &str) -> Made {
    if let Some(message) = &mut made.changes.message
        && let Some(thrown) = message.strip_prefix(&format!("script `{script}`: "))
    {
        let thrown = thrown.rsplit_once(" (line ").map_or(thrown, |(thrown, _)| thrown);
        *message = sample_message(thrown);
    }
    made
}

/// The user's variables as JMeter's Debug Sampler lists them.
fn listing(user: &UserContext) -> Made {
    let mut text = String::from("JMeterVariables:\n");
    for (name, value) in user.variables.borrow().all() {
        let _ = writeln!(text, "{name}={value}"); // a String takes anything
    }
    text.push('\n');
    let changes = SampleChanges { body: Some(text.into_bytes()), ..SampleChanges::default() };
    Made { changes, stop: Scope::Nothing, slept: 0 }
}
