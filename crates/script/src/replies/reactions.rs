//! Compiles a policy's actions on replies, and applies them: extractors in order, then assertions.

use crate::replies::assertion::CompiledAssertion;
use crate::replies::extract::CompiledExtractor;
use crate::replies::extract::description_of;
use crate::replies::records;
use crate::replies::script_call::ScriptCall;
use crate::replies::trace;
use crate::texts::compiled::Compiled;
use crate::texts::pattern::Pattern;
use crate::texts::reply_view::ReplyView;
use crate::texts::script::{ScriptOutcome, ScriptView};
use crate::texts::template::{Template, TextPosition};
use crate::{Feeds, ScriptError};
use brunt_model::extract::Extractor;
use brunt_model::record::{EvaluationKind, TracedEvaluation};
use brunt_model::reply_policy::{Assertion, AssertionTest, ReplyAction};
use brunt_model::scenario::EndScope;
use brunt_model::{
    AssertionRecord, CheckFailure, Failure, Outcome, ReplyPolicy, SampleRecord, Text, text,
};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Compiled actions and assertions of a policy.
#[derive(Debug, Default)]
pub struct Reactions {
    actions: Vec<Action>,
    /// Assertions with their names, in order.
    assertions: Vec<(String, AssertionKind)>,
    /// True if a script or an extractor may read each request of a redirect chain.
    pub reads_hops: bool,
    /// True if later steps read the sample.
    keeps_sample: bool,
    /// Required pattern of the URLs of page elements.
    only: Option<Pattern>,
    /// Pattern of the URLs of page elements that are not requested.
    never: Option<Pattern>,
}

/// True if the policy has a script, which may read the samples of a redirect chain, or an
/// extractor that searches them.
fn reads_hops(policy: &ReplyPolicy) -> bool {
    let is_read_by_action = policy.actions.iter().any(|action| match action {
        ReplyAction::Script(_) => true,
        ReplyAction::Extract(extractor) => !extractor.samples.is_main(),
        ReplyAction::Set { .. } | ReplyAction::Keep => false,
    });
    let mut tests = policy.assertions.iter().map(|assertion| &assertion.test);
    is_read_by_action || tests.any(|test| matches!(test, AssertionTest::Script(_)))
}

#[derive(Debug)]
enum AssertionKind {
    Test(Box<Compiled<Assertion, CompiledAssertion>>),
    Script(Box<ScriptCall>),
}

impl AssertionKind {
    fn new(assertion: &Assertion, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        Ok(match &assertion.test {
            AssertionTest::Script(script) => {
                Self::Script(Box::new(ScriptCall::new(script, feeds)?))
            }
            AssertionTest::Text(_)
            | AssertionTest::Duration(_)
            | AssertionTest::Size { .. }
            | AssertionTest::Json { .. }
            | AssertionTest::JmesPath { .. }
            | AssertionTest::Xpath { .. }
            | AssertionTest::QualifiedXpath { .. }
            | AssertionTest::Xml
            | AssertionTest::Md5(_) => {
                Self::Test(Box::new(Compiled::new(assertion, feeds, CompiledAssertion::new)?))
            }
        })
    }
}

/// Verdict on a reply.
#[derive(Debug)]
pub struct ReplyVerdict {
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Result of each assertion, and errors of extractors and scripts. None: the
    /// plan requests no records.
    pub results: Option<Vec<AssertionRecord>>,
    /// Assertions and scripts that the reply failed.
    pub failures: Vec<CheckFailure>,
}

impl ReplyVerdict {
    /// Creates the verdict before any check.
    pub fn new(outcome: Outcome, wants_results: bool) -> Self {
        Self { outcome, results: wants_results.then(Vec::new), failures: Vec::new() }
    }

    fn add(&mut self, name: &str, result: Result<(), String>, is_error: bool) {
        if let Some(results) = &mut self.results {
            let failed = result.is_err();
            results.push(AssertionRecord {
                name: name.to_owned(),
                failure: failed && !is_error,
                error: failed && is_error,
                message: result.err(),
            });
        }
    }
}

#[derive(Debug)]
enum Action {
    Extract(Box<Compiled<Extractor, CompiledExtractor>>, MatchStatistics),
    Script(Box<ScriptCall>),
    /// A variable, and its text.
    Set(String, Template),
}

/// Notes whether an extractor has ever matched, over all users of a process.
#[derive(Debug, Default)]
struct MatchStatistics {
    has_matched: AtomicBool,
    /// Number of replies without a match, before the first match.
    unmatched: AtomicU64,
}

impl MatchStatistics {
    /// Counts the matches in a reply. Writes nothing after the first match, so that users do not
    /// contend for the cache line.
    fn count(&self, matches: usize) {
        if !self.has_matched.load(Relaxed) {
            if matches > 0 {
                self.has_matched.store(true, Relaxed);
            } else {
                self.unmatched.fetch_add(1, Relaxed);
            }
        }
    }

    /// Number of replies without a match. None: there was a match, or no reply.
    fn unmatched_replies(&self) -> Option<u64> {
        let unmatched = self.unmatched.load(Relaxed);
        (unmatched > 0 && !self.has_matched.load(Relaxed)).then_some(unmatched)
    }
}

impl Action {
    /// Compiles an action. None: it needs no operation.
    fn new(action: &ReplyAction, feeds: &mut Feeds) -> Result<Option<Self>, ScriptError> {
        Ok(Some(match action {
            ReplyAction::Extract(extractor) => {
                let compiled = Compiled::new(extractor, feeds, CompiledExtractor::new)?;
                Self::Extract(Box::new(compiled), MatchStatistics::default())
            }
            ReplyAction::Script(script) => Self::Script(Box::new(ScriptCall::new(script, feeds)?)),
            ReplyAction::Set { variable, value } => Self::Set(
                variable.clone(),
                Template::compile_expressions(value, TextPosition::Text, feeds)?,
            ),
            ReplyAction::Keep => return Ok(None),
        }))
    }
}

impl Reactions {
    /// Compiles the actions and assertions of a policy.
    pub fn new(policy: &ReplyPolicy, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let actions =
            policy.actions.iter().filter_map(|action| Action::new(action, feeds).transpose());
        let actions = actions.collect::<Result<_, _>>()?;
        let assertions = policy.assertions.iter().map(|assertion| {
            let kind = AssertionKind::new(assertion, feeds)?;
            Ok::<_, ScriptError>((assertion.name.clone(), kind))
        });
        let assertions = assertions.collect::<Result<_, _>>()?;
        let keeps_sample = policy.actions.contains(&ReplyAction::Keep);
        let elements = policy.elements.as_ref();
        Ok(Self {
            actions,
            assertions,
            reads_hops: reads_hops(policy),
            keeps_sample,
            only: url_pattern(elements.and_then(|elements| elements.only.as_ref()))?,
            never: url_pattern(elements.and_then(|elements| elements.never.as_ref()))?,
        })
    }

    /// Returns the extractors that never matched, for replies with this label.
    pub fn remarks(&self, label: &str) -> Vec<Text> {
        self.actions.iter().filter_map(|action| action.remark(label)).collect()
    }

    /// True if an element of a page is requested.
    pub fn wants_element(&self, url: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.is_found(url))
            && !self.never.as_ref().is_some_and(|never| never.is_found(url))
    }

    /// Stores the sample for later steps, if one of them reads it.
    pub fn keep(&self, reply_view: &ReplyView<'_>, is_good: bool) {
        if self.keeps_sample {
            let details = records::all_details(reply_view);
            let record = records::of_request(reply_view, reply_view.sample);
            let sample = SampleRecord {
                details,
                success: is_good,
                elapsed_millis: reply_view.elapsed_millis,
                ..record
            };
            *reply_view.user.last.borrow_mut() = Some(Rc::new(sample));
        }
    }

    /// Sets variables from a reply and runs scripts, in order. A script may change the outcome.
    /// `fill` fills in texts. An extractor or script that is malformed with its values is a
    /// failure of the request.
    pub fn act(
        &self,
        reply_view: &mut ReplyView<'_>,
        verdict: &mut ReplyVerdict,
        fill: impl Fn(&Template) -> String,
    ) {
        for action in &self.actions {
            let (name, result) = match action {
                Action::Extract(extractor, statistics) => {
                    let has_reply = reply_view.is_completed();
                    let set = extractor.with(&fill, CompiledExtractor::new, |source, extractor| {
                        let matches = extractor
                            .set(reply_view, &mut *reply_view.user.worker.random.borrow_mut());
                        // Without a reply there is nothing to search, so it does not count as
                        // unmatched.
                        if has_reply {
                            statistics.count(matches);
                        }
                        reply_view.user.trace(|tracing| {
                            tracing.add_look(trace::extractor(source, reply_view.user, matches));
                        });
                    });
                    ("extractor", set.map_err(|error| error.to_string()))
                }
                Action::Script(script) => {
                    let view = ScriptView::of_sample(reply_view, verdict.outcome.is_good());
                    let script_result = script.run(reply_view.user, view, &fill);
                    reply_view.user.trace(|tracing| {
                        tracing.add_look(script_look(script, script_result.as_ref().err()));
                    });
                    let result = script_result.map(|script_outcome| {
                        apply_outcome(script_outcome, reply_view, &mut verdict.outcome);
                    });
                    // JMeter ignores some scripts' errors; the trace above still shows them.
                    (script.name(), if script.is_forgiving { Ok(()) } else { result })
                }
                Action::Set(variable, value) => {
                    let value = fill(value);
                    reply_view.user.variables.borrow_mut().set(variable, &value);
                    ("variable", Ok(()))
                }
            };
            // Without a reply, the request has failed already.
            if reply_view.is_completed() && result.is_err() {
                verdict.outcome.failure = Some(Failure::Check);
                let failure = result
                    .as_ref()
                    .err()
                    .map(|error| CheckFailure::new(name, "", trace::shown(error)));
                verdict.failures.extend(failure);
                verdict.add(name, result, true);
            }
        }
    }

    /// Checks the assertions. The verdict contains the outcome before them.
    pub fn judge(
        &self,
        reply_view: &mut ReplyView<'_>,
        verdict: &mut ReplyVerdict,
        fill: impl Fn(&Template) -> String,
    ) {
        let has_reply = reply_view.is_completed();
        // Without a reply, assertions only matter for records.
        if !has_reply && verdict.results.is_none() {
            return;
        }
        for (name, assertion) in &self.assertions {
            let (result, is_error) = match assertion {
                AssertionKind::Test(test) => {
                    let tested = test.with(&fill, CompiledAssertion::new, |source, assertion| {
                        check_by_test(source, assertion, reply_view, verdict)
                    });
                    match tested {
                        Ok(result) => (result, false),
                        Err(error) => {
                            verdict.failures.push(CheckFailure::new(
                                name.clone(),
                                "",
                                error.to_string(),
                            ));
                            (Err(error.to_string()), true)
                        }
                    }
                }
                AssertionKind::Script(script) => {
                    let result = check_by_script(script, reply_view, &mut verdict.outcome, &fill);
                    reply_view.user.trace(|tracing| {
                        tracing.add_look(script_look(script, result.as_ref().err()));
                    });
                    let error = result.as_ref().err();
                    let failure =
                        error.map(|error| CheckFailure::new(name.clone(), "", trace::shown(error)));
                    verdict.failures.extend(failure);
                    (result, false)
                }
            };
            if has_reply && result.is_err() {
                verdict.outcome.failure = Some(Failure::Check);
            }
            verdict.add(name, result, is_error);
        }
    }
}

impl Action {
    /// Describes an extractor that never matched.
    fn remark(&self, label: &str) -> Option<Text> {
        let Self::Extract(extractor, matches) = self else { return None };
        let replies = text!("warning-replies", count = matches.unmatched_replies()?);
        let extractor = extractor.part();
        let search = description_of(extractor);
        let variable = &*extractor.variable;
        Some(text!("warning-no-match", label, variable, search, replies))
    }
}

/// Compiles a pattern for the URLs of page elements.
fn url_pattern(pattern: Option<&String>) -> Result<Option<Pattern>, ScriptError> {
    pattern.map(|pattern| Pattern::whole(pattern).map_err(ScriptError::Scenario)).transpose()
}

/// Checks a reply with an assertion. `source` is the assertion before it was compiled.
fn check_by_test(
    source: &Assertion,
    assertion: &CompiledAssertion,
    reply_view: &ReplyView<'_>,
    verdict: &mut ReplyVerdict,
) -> Result<(), String> {
    let has_reply = reply_view.is_completed();
    let is_checked = matches!(verdict.outcome.failure, None | Some(Failure::Check));
    // Only a failed check is forgiven, not a failure of the connection.
    if assertion.ignores_status() && has_reply && is_checked {
        verdict.outcome.expected = true;
        verdict.outcome.failure = None;
    }
    let result = assertion.check(reply_view);
    reply_view.user.trace(|tracing| {
        tracing.add_look(assertion.trace_look(source, reply_view, result.is_ok()));
    });
    if result.is_err() && has_reply {
        verdict.failures.push(assertion.failure(source, reply_view));
    }
    result
}

/// Describes a script's check of a reply for a trace, with its error if there is one.
fn script_look(script: &ScriptCall, error: Option<&String>) -> TracedEvaluation {
    TracedEvaluation {
        by: EvaluationKind::Script,
        name: script.name().to_owned(),
        wanted: String::new(),
        found: error.cloned().unwrap_or_default(),
        is_good: error.is_none(),
    }
}

fn check_by_script(
    script: &ScriptCall,
    reply_view: &mut ReplyView<'_>,
    outcome: &mut Outcome,
    fill: impl Fn(&Template) -> String,
) -> Result<(), String> {
    let mut script_outcome =
        script.run(reply_view.user, ScriptView::of_sample(reply_view, outcome.is_good()), fill)?;
    // The failure is the result of the assertion, not a change of the reply.
    let failure = script_outcome.failure.take();
    apply_outcome(script_outcome, reply_view, outcome);
    failure.map_or(Ok(()), Err)
}

/// Applies the changes of a script to the reply, its outcome, and the user.
fn apply_outcome(
    script_outcome: ScriptOutcome,
    reply_view: &mut ReplyView<'_>,
    outcome: &mut Outcome,
) {
    if script_outcome.stop != EndScope::Nothing {
        reply_view.user.stop.set(script_outcome.stop);
    }
    if reply_view.is_completed() {
        match script_outcome.changes.success {
            Some(true) => {
                outcome.expected = true;
                outcome.failure = None;
            }
            Some(false) => outcome.failure = Some(Failure::Check),
            None => {}
        }
    }
    reply_view.change(script_outcome.changes);
}
