//! Scripts of a plan: parsed once, run with the variables of a user, its last reply, and nothing else of the machine.
//!
//! A script has a bounded number of operations, and neither files nor processes nor the network. What it does is time of the user:
//! a request behind it begins later, and that is its lag.

use crate::ScriptError;
use crate::context::UserContext;
use crate::searched::Searched;
use brunt_groovy::{Budget, Dialect, Host, LogLevel, Sample, Stop};
use brunt_model::scenario::{Scope, Script, ScriptLanguage};
use rand::Rng;
use std::borrow::Cow;

/// A script, parsed.
#[derive(Clone)]
pub struct ParsedScript {
    name: String,
    script: brunt_groovy::Script,
}

impl std::fmt::Debug for ParsedScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// What a script came to.
#[derive(Debug, Default)]
pub struct ScriptOutcome {
    /// What is over: nothing, most often.
    pub stop: Scope,
    /// Milliseconds for which the user pauses.
    pub pause: u64,
    /// Of an assertion: why it does not hold.
    pub failure: Option<String>,
    /// Of an assertion: whether the reply was called good or bad.
    pub success: Option<bool>,
}

impl ParsedScript {
    /// Parses a script.
    ///
    /// # Errors
    ///
    /// It cannot be read, is in a language that is not known, or names classes that are not.
    pub fn new(script: &Script, source: &str) -> Result<Self, ScriptError> {
        let refuse = |why: String| ScriptError::Scenario(format!("script `{}`: {why}", script.name));
        let dialect = match script.language {
            ScriptLanguage::Groovy => Dialect::Groovy,
            ScriptLanguage::Beanshell => Dialect::BeanShell,
            ScriptLanguage::Javascript | ScriptLanguage::Jexl => {
                return Err(refuse("this language is not known; write it in Groovy".into()));
            }
        };
        let parsed = brunt_groovy::Script::parse(source, dialect).map_err(|error| refuse(error.to_string()))?;
        if let Some((line, class)) = parsed.unsupported().first() {
            return Err(refuse(format!("line {line}: {class} is not known; write it without this class")));
        }
        Ok(Self { name: script.name.clone(), script: parsed })
    }

    /// Runs it; `reply` is what `prev` is.
    ///
    /// # Errors
    ///
    /// An exception that nothing caught, or too many operations: one sentence.
    pub fn run(
        &self,
        user: &UserContext,
        reply: Option<(&Searched<'_>, bool)>,
        parameters: &str,
    ) -> Result<ScriptOutcome, String> {
        let sample =
            reply.map(|(searched, success)| ReplySample { searched, label: user.label.borrow().clone(), success });
        let mut host = ScriptHost { user, sample, parameters, name: &self.name, outcome: ScriptOutcome::default() };
        let result = self.script.run(&mut host, &mut Budget::default());
        let changed = host.sample.as_ref().map(|sample| sample.success);
        let mut outcome = host.outcome;
        if changed != reply.map(|(_, success)| success) {
            outcome.success = changed;
        }
        result.map(|_| outcome).map_err(|error| format!("script `{}`: {error}", self.name))
    }
}

/// A reply as scripts see it.
struct ReplySample<'s, 'a> {
    searched: &'s Searched<'a>,
    label: String,
    success: bool,
}

impl Sample for ReplySample<'_, '_> {
    fn label(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.label)
    }

    fn code(&self) -> Cow<'_, str> {
        self.searched.status().into()
    }

    fn message(&self) -> Cow<'_, str> {
        self.searched.message()
    }

    fn body(&self) -> Cow<'_, [u8]> {
        let kept = self.searched.reply.and_then(|reply| reply.kept.as_ref());
        Cow::Borrowed(kept.map_or(&[], |kept| &kept.body))
    }

    fn response_headers(&self) -> Cow<'_, str> {
        self.searched.headers().into()
    }

    fn request_headers(&self) -> Cow<'_, str> {
        self.searched.request_headers().into()
    }

    fn request_data(&self) -> Cow<'_, str> {
        self.searched.request_body()
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.searched.request.url())
    }

    fn content_type(&self) -> Cow<'_, str> {
        let mut fields = self.searched.fields().iter();
        let found = fields.find(|field| field.0.eq_ignore_ascii_case("content-type"));
        found.map_or(Cow::Borrowed(""), |field| Cow::Borrowed(&field.1))
    }

    fn elapsed_ms(&self) -> i64 {
        self.searched.elapsed_millis as i64
    }

    fn start_ms(&self) -> i64 {
        self.end_ms() - self.elapsed_ms()
    }

    fn end_ms(&self) -> i64 {
        self.searched.user.worker.surroundings.unix_millis() as i64
    }

    fn received_bytes(&self) -> i64 {
        self.searched.bytes as i64
    }

    fn success(&self) -> bool {
        self.success
    }

    fn set_success(&mut self, success: bool) {
        self.success = success;
    }
}

/// What a script reaches of the run.
struct ScriptHost<'h, 's, 'a> {
    user: &'h UserContext,
    sample: Option<ReplySample<'s, 'a>>,
    parameters: &'h str,
    name: &'h str,
    outcome: ScriptOutcome,
}

impl Host for ScriptHost<'_, '_, '_> {
    fn variable(&self, name: &str) -> Option<Cow<'_, str>> {
        self.user.variables.borrow().get(name).map(|value| value.to_owned().into())
    }

    fn set_variable(&mut self, name: &str, value: &str) {
        self.user.variables.borrow_mut().set(name, value);
    }

    fn remove_variable(&mut self, name: &str) {
        self.user.variables.borrow_mut().remove(name);
    }

    fn variables(&self) -> Vec<(String, String)> {
        self.user.variables.borrow().all()
    }

    fn property(&self, name: &str) -> Option<Cow<'_, str>> {
        self.user.worker.commons.property(name).map(Cow::Owned)
    }

    fn set_property(&mut self, name: &str, value: Option<&str>) {
        self.user.worker.commons.set_property(name, value);
    }

    fn sample(&self) -> Option<&dyn Sample> {
        self.sample.as_ref().map(|sample| -> &dyn Sample { sample })
    }

    fn sample_mut(&mut self) -> Option<&mut dyn Sample> {
        self.sample.as_mut().map(|sample| -> &mut dyn Sample { sample })
    }

    fn failure(&self) -> bool {
        self.outcome.failure.is_some()
    }

    fn set_failure(&mut self, failed: bool) {
        self.outcome.failure = failed.then(|| self.outcome.failure.take().unwrap_or_default());
    }

    fn failure_message(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.outcome.failure.as_deref().unwrap_or_default())
    }

    fn set_failure_message(&mut self, message: &str) {
        if let Some(failure) = &mut self.outcome.failure {
            message.clone_into(failure);
        }
    }

    fn label(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.name)
    }

    fn parameters(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.parameters)
    }

    fn thread_number(&self) -> u32 {
        self.user.number as u32 + 1
    }

    fn thread_name(&self) -> Cow<'_, str> {
        format!("{} 1-{}", self.user.worker.population, self.user.number + 1).into()
    }

    fn group_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.user.worker.population)
    }

    fn group_threads(&self) -> u32 {
        self.user.worker.surroundings.users_there().0 as u32
    }

    fn iteration(&self) -> u64 {
        self.user.iteration.get() + 1
    }

    fn log(&mut self, _: LogLevel, _: &str) {}

    fn log_enabled(&self, _: LogLevel) -> bool {
        false
    }

    fn stop(&mut self, what: Stop) {
        self.outcome.stop = match what {
            Stop::NextIteration => Scope::Iteration,
            Stop::NextLoop => Scope::Round,
            Stop::BreakLoop => Scope::Loop,
            Stop::Thread => Scope::User,
            Stop::Test | Stop::TestNow => Scope::Run,
        };
    }

    fn pause(&mut self, milliseconds: u64) {
        self.outcome.pause = self.outcome.pause.saturating_add(milliseconds);
    }

    fn now_millis(&self) -> i64 {
        self.user.worker.surroundings.unix_millis() as i64
    }

    fn random(&mut self) -> u64 {
        self.user.worker.random.borrow_mut().next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user;
    use brunt_wire::{Kept, Prepared, Reply};

    fn script(source: &str) -> Result<ParsedScript, ScriptError> {
        let script = Script {
            name: "s".into(),
            language: ScriptLanguage::Groovy,
            source: source.into(),
            parameters: String::new(),
        };
        ParsedScript::new(&script, source)
    }

    fn run(source: &str, user: &UserContext, body: Option<&str>) -> Result<ScriptOutcome, String> {
        let request = Prepared::default();
        let kept = body.map(|body| Box::new(Kept { body: body.into(), ..Kept::default() }));
        let reply = Reply { status: 200, kept, ..Reply::default() };
        let searched = Searched::new(&request, Some(&reply), &brunt_model::Sample::default(), user);
        script(source).unwrap().run(user, body.map(|_| (&searched, true)), "")
    }

    #[test]
    fn a_script_reads_and_sets_what_its_user_has() {
        let user = user();
        user.variables.borrow_mut().set("a", "2");
        run("vars.put('b', (vars.get('a').toInteger() * 21).toString()); props.put('p', 'x')", &user, None).unwrap();
        assert_eq!(user.variables.borrow().get("b"), Some("42"));
        assert_eq!(user.worker.commons.property("p").as_deref(), Some("x"));
        let json = r"def all = new groovy.json.JsonSlurper().parseText(prev.getResponseDataAsString())
            vars.put('ids', all.items.collect { it.id }.join(','))";
        run(json, &user, Some(r#"{"items": [{"id": 3}, {"id": 5}]}"#)).unwrap();
        assert_eq!(user.variables.borrow().get("ids"), Some("3,5"));
    }

    #[test]
    fn an_assertion_says_why_it_fails() {
        let user = user();
        let failed =
            "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('no ' + prev.getResponseCode())";
        assert_eq!(run(failed, &user, Some("x")).unwrap().failure.as_deref(), Some("no 200"));
        assert_eq!(run("prev.setSuccessful(false)", &user, Some("x")).unwrap().success, Some(false));
        assert_eq!(run("ctx.getEngine().askThreadsToStop()", &user, None).unwrap().stop, Scope::Run);
    }

    #[test]
    fn what_goes_wrong_is_told() {
        let user = user();
        let told = |source| run(source, &user, None).unwrap_err();
        assert!(
            told("throw new RuntimeException('oh')").contains("script `s`: java.lang.RuntimeException: oh (line 1")
        );
        assert!(told("while (true) {}").contains("script `s`: "));
        assert!(told("new File('/etc/passwd').text").contains("scripts may not read files"));
        assert!(script("def x = (").unwrap_err().to_string().starts_with("script `s`: "));
        assert!(script("import com.example.Thing\nnew Thing()").unwrap_err().to_string().contains("is not known"));
    }
}
