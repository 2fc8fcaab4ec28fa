//! What scripts in JavaScript reach of the run.

use crate::languages::ScriptVerdict;
use crate::texts::context::{Commons, UserContext};
use crate::texts::script::ScriptOutcome;
use crate::texts::searched::Searched;
use crate::texts::variables::Variables;
use brunt_engine::Surroundings;
use brunt_model::SampleRecord;
use brunt_model::scenario::Scope;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rquickjs::{Ctx, Function, Object};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// What the functions of an engine share; the user of a run lends it its variables.
pub struct Host {
    commons: Arc<Commons>,
    surroundings: Rc<dyn Surroundings>,
    random: RefCell<Pcg64Mcg>,
    variables: RefCell<Variables>,
    call: RefCell<Call>,
    /// Counts of the engine that are left; it counts each 10,000 loops and calls.
    ticks: Cell<u32>,
    /// Work of native functions that is not a whole count yet.
    work: Cell<f64>,
    /// When the script began, in milliseconds.
    began: Cell<u64>,
}

/// One run of a script.
#[derive(Default)]
struct Call {
    user: u64,
    name: String,
    parameters: String,
    label: String,
    reply: Option<Reply>,
    success: bool,
    outcome: ScriptOutcome,
    verdict: ScriptVerdict,
    /// Lines for the trace.
    log: Vec<String>,
}

/// What is copied of a reply: of long parts, what the script names.
#[derive(Default)]
struct Reply {
    status: u16,
    message: String,
    url: String,
    elapsed: f64,
    body: String,
    headers: String,
    fields: Vec<(String, String)>,
}

/// 20 million loops and calls, as scripts in Groovy have operations.
const TICKS: u32 = 2_000;

/// Loops and calls, or elements that a native function visits, of one count.
const WORK_OF_TICK: f64 = 10_000.0;

/// Milliseconds that a script may take, whatever it does: some native operations, such as those of large whole numbers, are long.
const LONGEST_RUN: u64 = 10_000;

/// Further lines that one run of a script logs are lost.
const MOST_LOGGED: usize = 100;

impl Host {
    /// That of the worker of a user.
    pub fn new(user: &UserContext) -> Self {
        let worker = &user.worker;
        let seed = worker.random.borrow_mut().random();
        Self {
            commons: Arc::clone(&worker.commons),
            surroundings: Rc::clone(&worker.surroundings),
            random: RefCell::new(Pcg64Mcg::seed_from_u64(seed)),
            variables: RefCell::new(Variables::new(&Arc::default())),
            call: RefCell::default(),
            ticks: Cell::new(TICKS),
            work: Cell::new(0.0),
            began: Cell::new(worker.surroundings.unix_millis()),
        }
    }

    /// A run begins.
    pub fn begin(
        &self,
        user: &UserContext,
        reply: Option<(&Searched<'_>, bool)>,
        (name, parameters): (&str, &str),
        source: &str,
    ) {
        self.ticks.set(TICKS);
        self.began.set(self.surroundings.unix_millis());
        self.variables.swap(&user.variables);
        let last = user.last.borrow().clone();
        let is_good = || last.as_ref().is_some_and(|last| last.success);
        *self.call.borrow_mut() = Call {
            user: user.number,
            name: name.to_owned(),
            parameters: parameters.to_owned(),
            label: user.label.borrow().clone(),
            success: reply.map_or_else(is_good, |(_, success)| success),
            reply: match reply {
                Some((searched, _)) => Some(Reply::of(searched, source)),
                None => last.as_deref().map(Reply::of_last),
            },
            outcome: ScriptOutcome::default(),
            verdict: ScriptVerdict::default(),
            log: Vec::new(),
        };
    }

    /// The run is over: what it came to.
    pub fn end(&self, user: &UserContext) -> ScriptOutcome {
        self.variables.swap(&user.variables);
        let Call { outcome, verdict, log, .. } = std::mem::take(&mut *self.call.borrow_mut());
        user.trace(|tracing| log.iter().for_each(|line| tracing.note(&format!("log: {line}"))));
        ScriptOutcome { failure: verdict.failure(), ..outcome }
    }

    /// Whether all counts are used up.
    pub fn is_over(&self) -> bool {
        self.ticks.get() == 0
    }

    /// The engine counts; whether the script ends.
    pub fn tick(&self) -> bool {
        self.take(1)
    }

    /// Counts the elements that a native function is about to visit; whether the script ends.
    fn charge(&self, elements: f64) -> bool {
        let work = self.work.get() + elements;
        let ticks = (work / WORK_OF_TICK).floor();
        self.work.set(work - ticks * WORK_OF_TICK);
        // A float that is too large becomes the greatest number.
        self.take(ticks as u32)
    }

    fn take(&self, ticks: u32) -> bool {
        let is_late = self.surroundings.unix_millis().saturating_sub(self.began.get()) > LONGEST_RUN;
        self.ticks.set(if is_late { 0 } else { self.ticks.get().saturating_sub(ticks) });
        self.is_over()
    }

    fn set_success(&self, success: bool) {
        let mut call = self.call.borrow_mut();
        if call.success != success {
            call.outcome.changes.success = Some(success);
        }
        call.success = success;
    }

    fn uuid(&self) -> String {
        let mut text = String::new();
        crate::texts::encoding::push_uuid(&mut text, &mut *self.random.borrow_mut());
        text
    }

    /// Whether there is such a thing to stop.
    fn stop(&self, what: &str) -> bool {
        let scope = match what {
            "iteration" => Scope::Iteration,
            "round" => Scope::Round,
            "loop" => Scope::Loop,
            "user" => Scope::User,
            "run" => Scope::Run,
            _ => return false,
        };
        self.call.borrow_mut().outcome.stop = scope;
        true
    }

    fn log(&self, line: String) {
        let log = &mut self.call.borrow_mut().log;
        if log.len() < MOST_LOGGED {
            log.push(line);
        }
    }

    fn header(&self, name: &str) -> Option<String> {
        let call = self.call.borrow();
        let mut fields = call.reply.as_ref()?.fields.iter();
        fields.find(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.clone())
    }

    fn of_reply<T: Default>(&self, part: impl FnOnce(&Reply) -> T) -> T {
        self.call.borrow().reply.as_ref().map(part).unwrap_or_default()
    }

    /// The object that `prelude.js` is handed.
    pub fn object<'js>(self: &Rc<Self>, ctx: &Ctx<'js>) -> Result<Object<'js>, rquickjs::Error> {
        let object = Object::new(ctx.clone())?;
        /// A function of the object, over `host`.
        macro_rules! set {
            ($name:literal, |$host:ident $(, $argument:ident: $kind:ty)*| $value:expr) => {{
                let $host = Rc::clone(self);
                object.set($name, Function::new(ctx.clone(), move |$($argument: $kind),*| $value)?)?;
            }};
        }
        set!("variable", |host, name: String| host.variables.borrow().get(&name).map(str::to_owned));
        set!("setVariable", |host, name: String, value: String| host.variables.borrow_mut().set(&name, &value));
        set!("removeVariable", |host, name: String| host.variables.borrow_mut().remove(&name));
        set!("property", |host, name: String| host.commons.property(&name));
        set!("setProperty", |host, name: String, value: String| {
            host.commons.set_property(&name, Some(&value));
        });
        set!("removeProperty", |host, name: String| {
            host.commons.set_property(&name, None);
        });
        set!("hasReply", |host| host.call.borrow().reply.is_some());
        set!("status", |host| host.of_reply(|reply| reply.status));
        set!("message", |host| host.of_reply(|reply| reply.message.clone()));
        set!("url", |host| host.of_reply(|reply| reply.url.clone()));
        set!("elapsed", |host| host.of_reply(|reply| reply.elapsed));
        set!("body", |host| host.of_reply(|reply| reply.body.clone()));
        set!("headers", |host| host.of_reply(|reply| reply.headers.clone()));
        set!("header", |host, name: String| host.header(&name));
        set!("label", |host| host.call.borrow().label.clone());
        set!("name", |host| host.call.borrow().name.clone());
        set!("parameters", |host| host.call.borrow().parameters.clone());
        set!("user", |host| host.call.borrow().user as f64);
        set!("success", |host| host.call.borrow().success);
        set!("setSuccess", |host, success: bool| host.set_success(success));
        set!("setFailure", |host, failed: bool| host.call.borrow_mut().verdict.failed = failed);
        set!("setMessage", |host, message: String| host.call.borrow_mut().verdict.message = message);
        set!("stop", |host, what: String| host.stop(&what));
        set!("log", |host, line: String| host.log(line));
        set!("charge", |host, elements: f64| host.charge(elements));
        set!("now", |host| host.surroundings.unix_millis() as f64);
        set!("uuid", |host| host.uuid());
        set!("random", |host| host.random.borrow_mut().random::<f64>());
        Ok(object)
    }
}

impl Reply {
    fn of_last(last: &SampleRecord) -> Self {
        let headers = last.details.response_headers.clone().unwrap_or_default();
        let fields = headers.lines().filter_map(|line| line.split_once(':'));
        Self {
            status: last.code.parse().unwrap_or(0),
            message: last.message.clone(),
            url: last.url.clone().unwrap_or_default(),
            elapsed: last.elapsed_millis as f64,
            body: last.details.body.clone().unwrap_or_default(),
            fields: fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect(),
            headers,
        }
    }

    fn of(searched: &Searched<'_>, source: &str) -> Self {
        let names = |word: &str| source.contains(word);
        let body = if names("body") || names("ResponseData") { searched.body().to_owned() } else { String::new() };
        let headers = if names("getResponseHeaders") { searched.headers() } else { String::new() };
        let fields = if names("header") { searched.fields().to_vec() } else { Vec::new() };
        Self {
            status: searched.reply.map_or(0, |reply| reply.status),
            message: searched.message().into_owned(),
            url: searched.request.url().to_owned(),
            elapsed: searched.elapsed_millis as f64,
            body,
            headers,
            fields,
        }
    }
}
