//! What a user does with a reply by the policy of its request, compiled: extractors in order, then assertions.

use crate::replies::assertion::CompiledAssertion;
use crate::replies::extract::CompiledExtractor;
use crate::replies::extract::description_of;
use crate::replies::records;
use crate::replies::script_call::ScriptCall;
use crate::replies::trace;
use crate::texts::compiled::Compiled;
use crate::texts::pattern::Pattern;
use crate::texts::script::{ScriptOutcome, ScriptView};
use crate::texts::searched::Searched;
use crate::texts::template::{Place, Template};
use crate::{Feeds, ScriptError};
use brunt_model::extract::Extractor;
use brunt_model::numbers::plural;
use brunt_model::record::{Looker, TracedLook};
use brunt_model::reply_policy::{Assertion, AssertionTest, ReplyAction};
use brunt_model::scenario::Scope;
use brunt_model::{AssertionRecord, CheckFailure, Failure, Outcome, ReplyPolicy, SampleRecord};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What is done with a reply.
#[derive(Debug, Default)]
pub struct Reactions {
    actions: Vec<Action>,
    /// With their names.
    assertions: Vec<(String, Asserts)>,
    /// A script or an extractor may look at each request of a chain of redirects.
    pub reads_hops: bool,
    /// Later steps look at the sample.
    keeps: bool,
    /// Which elements of a page are asked for, by their whole URLs.
    only: Option<Pattern>,
    never: Option<Pattern>,
}

/// Whether the policy has a script, which may read the samples of a chain of redirects, or an extractor that searches them.
fn reads_hops(policy: &ReplyPolicy) -> bool {
    let of_action = |action: &ReplyAction| match action {
        ReplyAction::Script(_) => true,
        ReplyAction::Extract(extractor) => !extractor.samples.is_main(),
        ReplyAction::Set { .. } | ReplyAction::Keep => false,
    };
    let is_script = |test: &AssertionTest| matches!(test, AssertionTest::Script(_));
    policy.actions.iter().any(of_action) || policy.assertions.iter().any(|assertion| is_script(&assertion.test))
}

#[derive(Debug)]
enum Asserts {
    Test(Box<Compiled<Assertion, CompiledAssertion>>),
    Script(Box<ScriptCall>),
}

impl Asserts {
    fn new(assertion: &Assertion, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        Ok(match &assertion.test {
            AssertionTest::Script(script) => Self::Script(Box::new(ScriptCall::new(script, feeds)?)),
            AssertionTest::Text(_)
            | AssertionTest::Duration(_)
            | AssertionTest::Size { .. }
            | AssertionTest::Json { .. }
            | AssertionTest::JmesPath { .. }
            | AssertionTest::Xpath { .. }
            | AssertionTest::QualifiedXpath { .. }
            | AssertionTest::Xml
            | AssertionTest::Md5(_) => Self::Test(Box::new(Compiled::new(assertion, feeds, CompiledAssertion::new)?)),
        })
    }
}

/// What is said of a reply.
#[derive(Debug)]
pub struct Verdict {
    /// What became of the request.
    pub outcome: Outcome,
    /// What each assertion says, and what went wrong with extractors and scripts; None: nobody wants to know.
    pub results: Option<Vec<AssertionRecord>>,
    /// Assertions and scripts that the reply failed.
    pub failures: Vec<CheckFailure>,
}

impl Verdict {
    /// Nothing was looked at.
    pub fn new(outcome: Outcome, wants_results: bool) -> Self {
        Self { outcome, results: wants_results.then(Vec::new), failures: Vec::new() }
    }

    fn add(&mut self, name: &str, said: Result<(), String>, is_error: bool) {
        if let Some(results) = &mut self.results {
            let failed = said.is_err();
            let (failure, error) = (failed && !is_error, failed && is_error);
            results.push(AssertionRecord { name: name.to_owned(), failure, error, message: said.err() });
        }
    }
}

#[derive(Debug)]
enum Action {
    Extract(Box<Compiled<Extractor, CompiledExtractor>>, Matches),
    Script(Box<ScriptCall>),
    /// A variable, and its text.
    Set(String, Template),
}

/// Whether an extractor has ever matched, over all users of a process.
#[derive(Debug, Default)]
struct Matches {
    has_matched: AtomicBool,
    /// Replies without a match, as long as none had one.
    without: AtomicU64,
}

impl Matches {
    /// So many were found in a reply. Behind the first match nothing is written any more.
    fn found(&self, matches: usize) {
        if !self.has_matched.load(Relaxed) {
            if matches > 0 {
                self.has_matched.store(true, Relaxed);
            } else {
                self.without.fetch_add(1, Relaxed);
            }
        }
    }

    /// In how many replies nothing was found; None: there was a match, or no reply.
    fn in_vain(&self) -> Option<u64> {
        let without = self.without.load(Relaxed);
        (without > 0 && !self.has_matched.load(Relaxed)).then_some(without)
    }
}

impl Action {
    /// None: there is nothing to do in its place.
    fn new(action: &ReplyAction, feeds: &mut Feeds) -> Result<Option<Self>, ScriptError> {
        Ok(Some(match action {
            ReplyAction::Extract(extractor) => {
                let compiled = Compiled::new(extractor, feeds, CompiledExtractor::new)?;
                Self::Extract(Box::new(compiled), Matches::default())
            }
            ReplyAction::Script(script) => Self::Script(Box::new(ScriptCall::new(script, feeds)?)),
            ReplyAction::Set { variable, value } => {
                Self::Set(variable.clone(), Template::compile_expressions(value, Place::Text, feeds)?)
            }
            ReplyAction::Keep => return Ok(None),
        }))
    }
}

impl Reactions {
    /// Compiles the actions and assertions of a policy.
    ///
    /// # Errors
    ///
    /// One of them makes no sense.
    pub fn new(policy: &ReplyPolicy, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let actions = policy.actions.iter().filter_map(|action| Action::new(action, feeds).transpose());
        let actions = actions.collect::<Result<_, _>>()?;
        let compile =
            |assertion: &Assertion| Ok::<_, ScriptError>((assertion.name.clone(), Asserts::new(assertion, feeds)?));
        let assertions = policy.assertions.iter().map(compile).collect::<Result<_, _>>()?;
        let keeps = policy.actions.contains(&ReplyAction::Keep);
        let filter = |pattern: Option<&String>| {
            pattern.map(|pattern| Pattern::whole(pattern).map_err(ScriptError::Scenario)).transpose()
        };
        let elements = policy.elements.as_ref();
        Ok(Self {
            actions,
            assertions,
            reads_hops: reads_hops(policy),
            keeps,
            only: filter(elements.and_then(|elements| elements.only.as_ref()))?,
            never: filter(elements.and_then(|elements| elements.never.as_ref()))?,
        })
    }

    /// Extractors that never matched, of replies with this label.
    pub fn remarks(&self, label: &str) -> Vec<String> {
        let remark = |action: &Action| {
            let Action::Extract(extractor, matches) = action else { return None };
            let (without, extractor) = (matches.in_vain()?, extractor.part());
            let (wanted, variable) = (description_of(extractor), &extractor.variable);
            let replies = plural(without, "sample");
            Some(format!(
                "`{label}`: the extractor of `{variable}` ({wanted}) matched nothing in {replies}; --trace shows what it looked at"
            ))
        };
        self.actions.iter().filter_map(remark).collect()
    }

    /// Whether an element of a page is asked for.
    pub fn wants_element(&self, url: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.is_found(url))
            && !self.never.as_ref().is_some_and(|never| never.is_found(url))
    }

    /// Keeps the sample for later steps, where one of them looks at it.
    pub fn keep(&self, searched: &Searched<'_>, is_good: bool) {
        if self.keeps {
            let details = records::all_details(searched);
            let made = records::of_request(searched, searched.sample);
            let kept = SampleRecord { details, success: is_good, elapsed_millis: searched.elapsed_millis, ..made };
            *searched.user.last.borrow_mut() = Some(Rc::new(kept));
        }
    }

    /// Sets variables from a reply and runs scripts, in order; what became of the request, which a script may say. `fill` makes
    /// texts. An extractor or script that makes no sense only now is a failure of the request.
    pub fn act(&self, searched: &mut Searched<'_>, verdict: &mut Verdict, fill: impl Fn(&Template) -> String) {
        for action in &self.actions {
            let (name, went) = match action {
                Action::Extract(extractor, all) => {
                    let has_reply = searched.reply.is_some();
                    let set = |written: &Extractor, extractor: &CompiledExtractor| {
                        let matches = extractor.set(searched, &mut *searched.user.worker.random.borrow_mut());
                        if has_reply {
                            all.found(matches);
                        }
                        searched.user.trace(|tracing| tracing.look(trace::extractor(written, searched.user, matches)));
                    };
                    let set = extractor.with(&fill, CompiledExtractor::new, set);
                    ("extractor", set.map_err(|error| error.to_string()))
                }
                Action::Script(script) => {
                    let view = ScriptView::of(searched, verdict.outcome.is_good());
                    let ran = script.run(searched.user, view, &fill);
                    searched.user.trace(|tracing| tracing.look(script_look(script, ran.as_ref().err())));
                    let went = ran.map(|ran| obey(ran, searched, &mut verdict.outcome));
                    (script.name(), if script.is_forgiving { Ok(()) } else { went })
                }
                Action::Set(variable, value) => {
                    let value = fill(value);
                    searched.user.variables.borrow_mut().set(variable, &value);
                    ("variable", Ok(()))
                }
            };
            if searched.reply.is_some() && went.is_err() {
                verdict.outcome.failure = Some(Failure::Check);
                let failure = went.as_ref().err().map(|error| CheckFailure::new(name, "", trace::shown(error)));
                verdict.failures.extend(failure);
                verdict.add(name, went, true);
            }
        }
    }

    /// What became of a request, whose outcome without assertions the verdict has.
    pub fn judge(&self, searched: &mut Searched<'_>, verdict: &mut Verdict, fill: impl Fn(&Template) -> String) {
        let has_reply = searched.reply.is_some();
        if !has_reply && verdict.results.is_none() {
            return;
        }
        for (name, assertion) in &self.assertions {
            let look = |written: &Assertion, assertion: &CompiledAssertion| {
                let is_checked = matches!(verdict.outcome.failure, None | Some(Failure::Check));
                if assertion.ignores_status() && has_reply && is_checked {
                    (verdict.outcome.expected, verdict.outcome.failure) = (true, None);
                }
                let said = assertion.check(searched);
                searched.user.trace(|tracing| tracing.look(assertion.look(written, searched, said.is_ok())));
                if said.is_err() && has_reply {
                    let TracedLook { name, wanted, found, .. } = assertion.look(written, searched, false);
                    verdict.failures.push(CheckFailure::new(name, wanted, found));
                }
                said
            };
            let (said, is_error) = match assertion {
                Asserts::Test(test) => match test.with(&fill, CompiledAssertion::new, look) {
                    Ok(said) => (said, false),
                    Err(error) => {
                        verdict.failures.push(CheckFailure::new(name.clone(), "", error.to_string()));
                        (Err(error.to_string()), true)
                    }
                },
                Asserts::Script(script) => {
                    let said = check_by_script(script, searched, &mut verdict.outcome, &fill);
                    searched.user.trace(|tracing| tracing.look(script_look(script, said.as_ref().err())));
                    let failure =
                        said.as_ref().err().map(|error| CheckFailure::new(name.clone(), "", trace::shown(error)));
                    verdict.failures.extend(failure);
                    (said, false)
                }
            };
            if has_reply && said.is_err() {
                verdict.outcome.failure = Some(Failure::Check);
            }
            verdict.add(name, said, is_error);
        }
    }
}

/// What a trace says of a script that looked at a reply, and of its error where it had one.
fn script_look(script: &ScriptCall, error: Option<&String>) -> TracedLook {
    TracedLook {
        by: Looker::Script,
        name: script.name().to_owned(),
        wanted: String::new(),
        found: error.cloned().unwrap_or_default(),
        is_good: error.is_none(),
    }
}

fn check_by_script(
    script: &ScriptCall,
    searched: &mut Searched<'_>,
    outcome: &mut Outcome,
    fill: impl Fn(&Template) -> String,
) -> Result<(), String> {
    let mut ran = script.run(searched.user, ScriptView::of(searched, outcome.is_good()), fill)?;
    let failure = ran.failure.take();
    obey(ran, searched, outcome);
    failure.map_or(Ok(()), Err)
}

/// What a script says of the reply and of its user.
fn obey(ran: ScriptOutcome, searched: &mut Searched<'_>, outcome: &mut Outcome) {
    if ran.stop != Scope::Nothing {
        searched.user.stop.set(ran.stop);
    }
    if searched.reply.is_some() {
        match ran.changes.success {
            Some(true) => {
                outcome.expected = true;
                outcome.failure = None;
            }
            Some(false) => outcome.failure = Some(Failure::Check),
            None => {}
        }
    }
    searched.change(ran.changes);
}
