//! Runs scripts in Groovy and `BeanShell`, and implements their host.

mod hop;
mod sampler;

use brunt_groovy::{Budget, Cookie, Dialect, Host, LogLevel, Request, Sample, Stop, Value};
use brunt_java::date::offset_text;
use brunt_model::Tick;
use brunt_model::scenario::{EndScope, ScriptLanguage};
use brunt_script::scripting::machine::{self, PLAN_FILE, local_offset};
use brunt_script::scripting::{
    CompiledPath, Jar, LanguageRow, PendingRequest, ReplyView, SampleChanges, ScriptCode,
    ScriptOutcome, ScriptVerdict, ScriptView, ScriptedRequest, UserContext, UserCookie,
};
use hop::Hop;
use rand::Rng;
use sampler::ScriptSampler;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// Groovy as a language of scripts.
pub const GROOVY: LanguageRow = LanguageRow {
    language: ScriptLanguage::Groovy,
    parse: |source, _| Ok(Arc::new(GroovyScript::new(source, Dialect::Groovy)?)),
};

/// `BeanShell` as a language of scripts.
pub const BEANSHELL: LanguageRow = LanguageRow {
    language: ScriptLanguage::Beanshell,
    parse: |source, _| Ok(Arc::new(GroovyScript::new(source, Dialect::BeanShell)?)),
};

/// A script after parsing, ready to run.
#[derive(Clone)]
pub struct GroovyScript(brunt_groovy::Script);

impl GroovyScript {
    /// Parses the source of a script.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, or the script needs unknown classes.
    pub fn new(source: &str, dialect: Dialect) -> Result<Self, String> {
        let parsed =
            brunt_groovy::Script::parse(source, dialect).map_err(|error| error.to_string())?;
        // An unused import of an unknown class does no harm.
        match parsed.unsupported().into_iter().find(|(_, class)| is_used(class, source)) {
            Some((line, class)) => {
                Err(format!("line {line}: {class} is not known; write it without this class"))
            }
            None => Ok(Self(parsed)),
        }
    }
}

impl ScriptCode for GroovyScript {
    fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        name: &str,
        parameters: &str,
    ) -> Result<ScriptOutcome, String> {
        let ScriptView { sample, makes_sample, sampler } = view;
        let last = user.last.borrow().clone();
        let mut sent_request = PendingRequest::default();
        // After a request, `sampler` is the request that was sent.
        let sampler = match (sampler, sample) {
            (None, Some((reply_view, _))) => {
                Some(ScriptedRequest { pending: &mut sent_request, texts: reply_view })
            }
            (sampler, _) => sampler,
        };
        let mut host = ScriptHost {
            user,
            sample: sample.map(|(reply_view, success)| ReplySample::new(reply_view, success)),
            last: last.as_deref().map(Hop),
            makes_sample,
            sampler: sampler.map(ScriptSampler),
            parameters,
            name,
            verdict: ScriptVerdict::default(),
            outcome: ScriptOutcome::default(),
        };
        let mut budget = Budget::default();
        let value = if makes_sample {
            // The value of the script is the body of the sample.
            self.0.run_to_text(&mut host, &mut budget)
        } else {
            self.0
                .run(&mut host, &mut budget)
                .map(|value| value.to_text().filter(|_| !value.is_null()))
        };
        let value = value.map_err(|error| error.to_string())?;
        let changes = host.sample.map(|sample| sample.changes).unwrap_or_default();
        Ok(ScriptOutcome { changes, value, failure: host.verdict.failure(), ..host.outcome })
    }

    fn text(&self, user: &UserContext) -> Result<Option<String>, String> {
        let last = user.last.borrow().clone();
        let mut host = ScriptHost {
            user,
            sample: None,
            last: last.as_deref().map(Hop),
            makes_sample: false,
            sampler: None,
            parameters: "",
            name: "",
            verdict: ScriptVerdict::default(),
            outcome: ScriptOutcome::default(),
        };
        self.0.run_to_text(&mut host, &mut Budget::default()).map_err(|error| error.to_string())
    }
}

/// Describes the files that scripts may access, for error messages.
const PERMITTED_FILES: &str = "files and directories below the plan's directory, or below one that the option allow-dir names";

/// Packages of the classes that Apache JMeter contains, with those of Java.
const JMETER_PACKAGES: [&str; 31] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "org.w3c.",
    "org.xml.",
    "org.ietf.",
    "org.omg.",
    "groovy.",
    "groovyx.",
    "org.codehaus.groovy.",
    "org.apache.",
    "org.slf4j.",
    "org.jsoup.",
    "com.jayway.jsonpath.",
    "net.minidev.",
    "com.fasterxml.jackson.",
    "com.thoughtworks.xstream.",
    "com.github.benmanes.caffeine.",
    "net.sf.saxon.",
    "net.sf.jtidy.",
    "org.w3c.tidy.",
    "io.burt.jmespath.",
    "jodd.",
    "bsh.",
    "org.mozilla.javascript.",
    "freemarker.",
    "kotlin.",
    "org.xbill.",
    "com.helger.",
];

/// Returns the first class of a third-party library that the script uses, if only such classes keep
/// it from being parsed.
pub fn foreign_class(source: &str, dialect: Dialect) -> Option<String> {
    let parsed = brunt_groovy::Script::parse(source, dialect).ok()?;
    let unsupported = parsed.unsupported().into_iter().map(|(_, item)| item);
    let missing: Vec<String> = unsupported.filter(|item| is_used(item, source)).collect();
    let foreign: Vec<String> = missing.iter().map_while(|item| third_party_class(item)).collect();
    if foreign.len() == missing.len() { foreign.into_iter().next() } else { None }
}

/// Returns the class of an unsupported item if neither Java nor JMeter contains it.
fn third_party_class(item: &str) -> Option<String> {
    let class = item.strip_prefix("import of ").or_else(|| item.strip_prefix("class "))?;
    let is_foreign =
        class.contains('.') && !JMETER_PACKAGES.iter().any(|package| class.starts_with(package));
    is_foreign.then(|| class.to_owned())
}

/// True if a script needs an unknown class. An import without another use of its
/// name is not needed.
fn is_used(item: &str, source: &str) -> bool {
    let Some(class) = item.strip_prefix("import of ").and_then(|path| path.rsplit('.').next())
    else {
        return true;
    };
    let words = source.split(|character: char| !character.is_alphanumeric() && character != '_');
    words.filter(|word| *word == class).count() > 1
}

/// A reply as scripts see it.
struct ReplySample<'s, 'a> {
    reply_view: &'s ReplyView<'a>,
    success: bool,
    /// Each request of a redirect chain.
    hops: Vec<Hop<'s>>,
    /// Changes by the script.
    changes: SampleChanges,
}

impl<'s, 'a> ReplySample<'s, 'a> {
    fn new(reply_view: &'s ReplyView<'a>, success: bool) -> Self {
        let hops = reply_view.hops.iter().map(Hop).collect();
        Self { reply_view, success, hops, changes: SampleChanges::default() }
    }

    fn millis_at(&self, tick: Tick) -> i64 {
        self.reply_view.user.worker.run_state.unix_millis_at(tick) as i64
    }

    fn times(&self) -> (i64, i64) {
        let sample = self.reply_view.sample;
        let changed = self.changes.times.or(self.reply_view.changes.times);
        changed.unwrap_or_else(|| (self.millis_at(sample.begun), self.millis_at(sample.last_byte)))
    }
}

/// Returns the changed text, or the original one.
fn changed<'c>(
    change: Option<&'c String>,
    original: impl FnOnce() -> Cow<'c, str>,
) -> Cow<'c, str> {
    change.map_or_else(original, |text| Cow::Borrowed(text.as_str()))
}

impl Sample for ReplySample<'_, '_> {
    fn label(&self) -> Cow<'_, str> {
        changed(self.changes.label.as_ref(), || self.reply_view.label().into())
    }

    fn set_label(&mut self, label: &str) {
        self.changes.label = Some(label.to_owned());
    }

    fn code(&self) -> Cow<'_, str> {
        changed(self.changes.code.as_ref(), || self.reply_view.status().into())
    }

    fn set_code(&mut self, code: &str) {
        self.changes.code = Some(code.to_owned());
    }

    fn message(&self) -> Cow<'_, str> {
        changed(self.changes.message.as_ref(), || self.reply_view.message())
    }

    fn set_message(&mut self, message: &str) {
        self.changes.message = Some(message.to_owned());
    }

    fn body(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.changes.body.as_deref().unwrap_or_else(|| self.reply_view.body_bytes()))
    }

    fn body_text(&self) -> Cow<'_, str> {
        match &self.changes.body {
            Some(changed) => String::from_utf8_lossy(changed),
            None => Cow::Borrowed(self.reply_view.body()),
        }
    }

    fn set_body(&mut self, body: &[u8]) {
        self.changes.body = Some(body.to_owned());
    }

    fn response_headers(&self) -> Cow<'_, str> {
        changed(self.changes.headers.as_ref(), || self.reply_view.headers().into())
    }

    fn set_response_headers(&mut self, headers: &str) {
        self.changes.headers = Some(headers.to_owned());
    }

    fn request_headers(&self) -> Cow<'_, str> {
        self.reply_view.request_headers().into()
    }

    fn request_data(&self) -> Cow<'_, str> {
        changed(self.changes.request.as_ref(), || self.reply_view.query())
    }

    fn sampler_data(&self) -> Cow<'_, str> {
        changed(self.changes.request.as_ref(), || self.reply_view.sampler_data().into())
    }

    fn method(&self) -> Cow<'_, str> {
        self.reply_view
            .request
            .parts()
            .map(|parts| Cow::Borrowed(&*parts.method))
            .unwrap_or_default()
    }

    fn set_request_data(&mut self, data: &str) {
        self.changes.request = Some(data.to_owned());
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.reply_view.request.url())
    }

    fn content_type(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.reply_view.field("content-type").unwrap_or_default())
    }

    fn thread_name(&self) -> Cow<'_, str> {
        self.reply_view.user.worker.thread_name(self.reply_view.user.number).into()
    }

    fn elapsed_ms(&self) -> i64 {
        self.end_ms() - self.start_ms()
    }

    fn latency_ms(&self) -> i64 {
        let sample = self.reply_view.sample;
        if sample.first_byte == Tick::ZERO {
            // No byte of a reply arrived.
            0
        } else {
            self.millis_at(sample.first_byte) - self.millis_at(sample.begun)
        }
    }

    fn start_ms(&self) -> i64 {
        self.times().0
    }

    fn end_ms(&self) -> i64 {
        self.times().1
    }

    fn set_times_ms(&mut self, start: i64, end: i64) {
        self.changes.times = Some((start, end));
    }

    fn received_bytes(&self) -> i64 {
        self.reply_view.bytes as i64
    }

    fn sent_bytes(&self) -> i64 {
        self.reply_view.sample.bytes_sent as i64
    }

    fn success(&self) -> bool {
        self.changes.success.unwrap_or(self.success)
    }

    fn set_success(&mut self, success: bool) {
        self.changes.success = Some(success);
    }

    fn set_ignore(&mut self) {
        self.changes.is_ignored = true;
    }

    fn sub_samples(&self) -> usize {
        self.hops.len()
    }

    fn sub_sample(&self, index: usize) -> Option<&dyn Sample> {
        self.hops.get(index).map(|hop| -> &dyn Sample { hop })
    }
}

/// The host of a script: the objects of the run that it can use.
struct ScriptHost<'h, 's, 'a> {
    user: &'h UserContext,
    sample: Option<ReplySample<'s, 'a>>,
    /// The previous sample.
    last: Option<Hop<'h>>,
    makes_sample: bool,
    sampler: Option<ScriptSampler<'s>>,
    parameters: &'h str,
    name: &'h str,
    verdict: ScriptVerdict,
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

    fn object(&self, name: &str) -> Option<Value> {
        self.user.objects.borrow().get(name)?.downcast_ref::<Value>().cloned()
    }

    fn set_object(&mut self, name: &str, value: Option<Value>) {
        let mut objects = self.user.objects.borrow_mut();
        match value {
            Some(value) => _ = objects.insert(name.to_owned(), Rc::new(value)),
            None => _ = objects.remove(name),
        }
    }

    fn property(&self, name: &str) -> Option<Cow<'_, str>> {
        self.user.worker.shared_state.property(name).map(Cow::Owned)
    }

    fn set_property(&mut self, name: &str, value: Option<&str>) {
        self.user.worker.shared_state.set_property(name, value);
    }

    fn sample(&self) -> Option<&dyn Sample> {
        let current = self.sample.as_ref().map(|sample| -> &dyn Sample { sample });
        current.or_else(|| self.previous())
    }

    fn previous(&self) -> Option<&dyn Sample> {
        self.last.as_ref().map(|last| -> &dyn Sample { last })
    }

    fn makes_sample(&self) -> bool {
        self.makes_sample
    }

    fn request(&self) -> Option<&dyn Request> {
        self.sampler.as_ref().map(|sampler| -> &dyn Request { sampler })
    }

    fn request_mut(&mut self) -> Option<&mut dyn Request> {
        self.sampler.as_mut().map(|sampler| -> &mut dyn Request { sampler })
    }

    fn sample_mut(&mut self) -> Option<&mut dyn Sample> {
        self.sample.as_mut().map(|sample| -> &mut dyn Sample { sample })
    }

    fn failure(&self) -> bool {
        self.verdict.failed
    }

    fn set_failure(&mut self, failed: bool) {
        self.verdict.failed = failed;
    }

    fn failure_message(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.verdict.message)
    }

    fn set_failure_message(&mut self, message: &str) {
        message.clone_into(&mut self.verdict.message);
    }

    fn label(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.name)
    }

    fn parameters(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.parameters)
    }

    fn thread_number(&self) -> u32 {
        // JMeter numbers threads from 1.
        self.user.number as u32 + 1
    }

    fn thread_name(&self) -> Cow<'_, str> {
        self.user.worker.thread_name(self.user.number).into()
    }

    fn group_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.user.worker.population)
    }

    fn group_threads(&self) -> u32 {
        self.user.worker.run_state.active_users().0 as u32
    }

    fn iteration(&self) -> u64 {
        // JMeter numbers iterations from 1.
        self.user.iteration.get() + 1
    }

    fn environment(&self, name: &str) -> Option<String> {
        machine::environment(name)
    }

    fn log(&mut self, _: LogLevel, text: &str) {
        // Only a trace shows log messages.
        self.user.trace(|tracing| tracing.note(&format!("log: {text}")));
    }

    fn log_enabled(&self, _: LogLevel) -> bool {
        self.user.tracing.is_some()
    }

    fn stop(&mut self, stop: Stop) {
        self.outcome.stop = match stop {
            Stop::NextIteration => EndScope::Iteration,
            Stop::NextLoop => EndScope::Round,
            Stop::BreakLoop => EndScope::Loop,
            Stop::Thread => EndScope::User,
            Stop::Test | Stop::TestNow => EndScope::Run,
        };
    }

    fn pause(&mut self, milliseconds: u64) {
        self.outcome.pause = self.outcome.pause.saturating_add(milliseconds);
    }

    fn now_millis(&self) -> i64 {
        self.user.worker.run_state.unix_millis() as i64
    }

    fn default_zone(&self) -> Cow<'_, str> {
        match local_offset(self.now_millis()) {
            0 => "UTC".into(),
            offset => format!("GMT{}", offset_text(offset, ":")).into(),
        }
    }

    fn base_directory(&self) -> Cow<'_, str> {
        let base = self.user.worker.shared_state.files.base();
        base.map_or_else(|| ".".into(), |base| base.to_string_lossy().into_owned().into())
    }

    fn plan_file(&self) -> Cow<'_, str> {
        self.user.worker.shared_state.property(PLAN_FILE).unwrap_or_default().into()
    }

    fn zone_offset(&self, zone: &str, millis: i64) -> Option<i32> {
        machine::zone_offset(zone, millis)
    }

    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        let bytes = self.user.worker.shared_state.files.bytes(path);
        bytes.ok_or_else(|| format!("{path}: not found; scripts read {PERMITTED_FILES}"))
    }

    fn append_file(&mut self, path: &str, bytes: &[u8], truncate: bool) -> Result<(), String> {
        let files = &self.user.worker.shared_state.files;
        let text = String::from_utf8_lossy(bytes);
        let result = if truncate { files.replace(path, &text) } else { files.append(path, &text) };
        result.map_err(|error| format!("{path}: {error}; scripts write {PERMITTED_FILES}"))
    }

    fn delete_file(&mut self, path: &str) -> Result<bool, String> {
        let deleted = self.user.worker.shared_state.files.delete(path);
        deleted.map_err(|error| format!("{path}: {error}; scripts delete {PERMITTED_FILES}"))
    }

    fn make_directory(&mut self, path: &str) -> Result<bool, String> {
        let result = self.user.worker.shared_state.files.make_directory(path);
        result.map_err(|error| format!("{path}: {error}; scripts make {PERMITTED_FILES}"))
    }

    fn list_directory(&mut self, path: &str) -> Option<Vec<String>> {
        self.user.worker.shared_state.files.list(path)
    }

    fn json_path(&self, json: &str, path: &str) -> Result<Option<String>, String> {
        let compiled = CompiledPath::new(path)?;
        let json: serde_json::Value =
            serde_json::from_str(json).map_err(|error| format!("no JSON: {error}"))?;
        let values = compiled.all(&json);
        // JMeter returns a list for a path that may match several values, even if
        // it matches only one.
        let is_list = ["..", "*", "?", ":", ","].iter().any(|operator| path.contains(operator));
        let text = if is_list {
            serde_json::to_string(&values)
        } else {
            serde_json::to_string(&values.first())
        };
        Ok(text.ok().filter(|_| is_list || !values.is_empty()))
    }

    fn cookies(&self) -> Vec<Cookie> {
        let mut jar = self.user.cookies.borrow().clone();
        // The user's jar takes the cookies of the current reply only after the script.
        let reply = self.sample.as_ref().map(|sample| sample.reply_view);
        if let Some((reply_view, parts)) =
            reply.and_then(|reply_view| Some((reply_view, reply_view.request.parts()?)))
        {
            jar.take(&parts.url, reply_view.fields());
        }
        jar.all().into_iter().map(cookie).collect()
    }

    fn add_cookie(&mut self, cookie: &Cookie) {
        self.user.cookies.borrow_mut().add(&user_cookie(cookie));
    }

    fn remove_cookie(&mut self, cookie: &Cookie) {
        self.user.cookies.borrow_mut().remove(&user_cookie(cookie));
    }

    fn clear_cookies(&mut self) {
        self.user.cookies.replace(Jar::default());
    }

    fn random(&mut self) -> u64 {
        self.user.worker.random.borrow_mut().next_u64()
    }
}

fn cookie(cookie: UserCookie) -> Cookie {
    let UserCookie { name, value, domain, path, is_secure } = cookie;
    Cookie { name, value, domain, path, is_secure }
}

fn user_cookie(cookie: &Cookie) -> UserCookie {
    let Cookie { name, value, domain, path, is_secure } = cookie.clone();
    UserCookie { name, value, domain, path, is_secure }
}
