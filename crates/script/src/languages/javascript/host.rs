//! The host of scripts in JavaScript: the objects of the run that they can use.

use super::ScriptArguments;
use crate::texts::context::{SharedState, UserContext};
use crate::texts::reply_view::ReplyView;
use crate::texts::script::{ScriptOutcome, ScriptVerdict};
use crate::texts::variables::Variables;
use brunt_engine::RunState;
use brunt_model::SampleRecord;
use brunt_model::scenario::EndScope;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rquickjs::{Ctx, Function, Object};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// State that the functions of an engine share. The user of a script lends it its variables.
pub struct JavaScriptHost {
    shared_state: Arc<SharedState>,
    run_state: Rc<dyn RunState>,
    random: RefCell<Pcg64Mcg>,
    variables: RefCell<Variables>,
    call: RefCell<Call>,
    /// Number of ticks left. The engine counts a tick per 10,000 loops and calls.
    ticks: Cell<u32>,
    /// Work of native functions that is less than a tick.
    work: Cell<f64>,
    /// Begin of the script, in milliseconds since 1970.
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
    log: Vec<String>,
}

/// Copies of parts of a reply; long parts are copied only if the script names them.
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

/// Tick limit: 20 million loops and calls, the same as the operations of Groovy scripts.
const TICKS: u32 = 2_000;

/// Number of loops and calls, or of elements that a native function visits, per tick.
const WORK_OF_TICK: f64 = 10_000.0;

/// Time limit of a script in milliseconds. Some native operations are long, such as
/// those of large integers.
const MAX_RUN_MILLIS: u64 = 10_000;

/// Maximum number of lines that one run of a script logs; further lines are lost.
const MAX_LOG_LINES: usize = 100;

impl JavaScriptHost {
    /// Creates the host of a user's worker.
    pub fn new(user: &UserContext) -> Self {
        let worker = &user.worker;
        let seed = worker.random.borrow_mut().random();
        Self {
            shared_state: Arc::clone(&worker.shared_state),
            run_state: Rc::clone(&worker.run_state),
            random: RefCell::new(Pcg64Mcg::seed_from_u64(seed)),
            variables: RefCell::new(Variables::new(&Arc::default())),
            call: RefCell::default(),
            ticks: Cell::new(TICKS),
            work: Cell::new(0.0),
            began: Cell::new(worker.run_state.unix_millis()),
        }
    }

    /// Begins a call of a script, and borrows the variables of the user.
    pub fn begin(
        &self,
        user: &UserContext,
        reply: Option<(&ReplyView<'_>, bool)>,
        arguments: ScriptArguments<'_>,
        source: &str,
    ) {
        // The limits apply to each call, and not to the lifetime of the engine.
        self.ticks.set(TICKS);
        self.began.set(self.run_state.unix_millis());
        self.variables.swap(&user.variables);
        let last = user.last.borrow().clone();
        *self.call.borrow_mut() = Call {
            user: user.number,
            name: arguments.name.to_owned(),
            parameters: arguments.parameters.to_owned(),
            label: user.label.borrow().clone(),
            success: match reply {
                Some((_, success)) => success,
                None => last.as_ref().is_some_and(|last| last.success),
            },
            reply: match reply {
                Some((reply_view, _)) => Some(Reply::from_view(reply_view, source)),
                None => last.as_deref().map(Reply::from_record),
            },
            outcome: ScriptOutcome::default(),
            verdict: ScriptVerdict::default(),
            log: Vec::new(),
        };
    }

    /// Ends the call, and returns its outcome.
    pub fn end(&self, user: &UserContext) -> ScriptOutcome {
        self.variables.swap(&user.variables);
        let Call { outcome, verdict, log, .. } = std::mem::take(&mut *self.call.borrow_mut());
        user.trace(|tracing| log.iter().for_each(|line| tracing.note(&format!("log: {line}"))));
        ScriptOutcome { failure: verdict.failure(), ..outcome }
    }

    /// True if all ticks are used up.
    pub fn is_over(&self) -> bool {
        self.ticks.get() == 0
    }

    /// Counts one tick. True if the script must end.
    pub fn count_tick(&self) -> bool {
        self.count_ticks(1)
    }

    /// Counts the elements that a native function is about to visit. True if the script must end.
    fn charge(&self, elements: f64) -> bool {
        let work = self.work.get() + elements;
        let ticks = (work / WORK_OF_TICK).floor();
        self.work.set(work - ticks * WORK_OF_TICK);
        // A float that is too large converts to the greatest number.
        self.count_ticks(ticks as u32)
    }

    fn count_ticks(&self, ticks: u32) -> bool {
        // Ticks do not interrupt native functions, so the time is limited, too.
        let is_late = self.run_state.must_return()
            || self.run_state.unix_millis().saturating_sub(self.began.get()) > MAX_RUN_MILLIS;
        self.ticks.set(if is_late { 0 } else { self.ticks.get().saturating_sub(ticks) });
        self.is_over()
    }

    fn set_success(&self, success: bool) {
        let mut call = self.call.borrow_mut();
        // Only a change is an outcome of the script.
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

    /// Sets the scope to stop. False if it is unknown.
    fn stop(&self, name: &str) -> bool {
        let scope = match name {
            "iteration" => EndScope::Iteration,
            "round" => EndScope::Round,
            "loop" => EndScope::Loop,
            "user" => EndScope::User,
            "run" => EndScope::Run,
            _ => return false,
        };
        self.call.borrow_mut().outcome.stop = scope;
        true
    }

    fn log(&self, line: String) {
        let log = &mut self.call.borrow_mut().log;
        if log.len() < MAX_LOG_LINES {
            log.push(line);
        }
    }

    fn header(&self, name: &str) -> Option<String> {
        let call = self.call.borrow();
        let mut fields = call.reply.as_ref()?.fields.iter();
        fields.find(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1.clone())
    }

    fn reply_part<T: Default>(&self, part: impl FnOnce(&Reply) -> T) -> T {
        self.call.borrow().reply.as_ref().map(part).unwrap_or_default()
    }

    /// Creates the object that `prelude.js` receives.
    pub fn object<'js>(self: &Rc<Self>, ctx: &Ctx<'js>) -> Result<Object<'js>, rquickjs::Error> {
        let object = Object::new(ctx.clone())?;
        /// Sets a function of the object; its body uses `$host`.
        macro_rules! set {
            ($name:literal, |$host:ident $(, $argument:ident: $kind:ty)*| $value:expr) => {{
                let $host = Rc::clone(self);
                object.set($name, Function::new(ctx.clone(), move |$($argument: $kind),*| $value)?)?;
            }};
        }
        set!("variable", |host, name: String| host
            .variables
            .borrow()
            .get(&name)
            .map(str::to_owned));
        set!("setVariable", |host, name: String, value: String| host
            .variables
            .borrow_mut()
            .set(&name, &value));
        set!("removeVariable", |host, name: String| host.variables.borrow_mut().remove(&name));
        set!("property", |host, name: String| host.shared_state.property(&name));
        set!("setProperty", |host, name: String, value: String| {
            host.shared_state.set_property(&name, Some(&value));
        });
        set!("removeProperty", |host, name: String| {
            host.shared_state.set_property(&name, None);
        });
        set!("hasReply", |host| host.call.borrow().reply.is_some());
        set!("status", |host| host.reply_part(|reply| reply.status));
        set!("message", |host| host.reply_part(|reply| reply.message.clone()));
        set!("url", |host| host.reply_part(|reply| reply.url.clone()));
        set!("elapsed", |host| host.reply_part(|reply| reply.elapsed));
        set!("body", |host| host.reply_part(|reply| reply.body.clone()));
        set!("headers", |host| host.reply_part(|reply| reply.headers.clone()));
        set!("header", |host, name: String| host.header(&name));
        set!("label", |host| host.call.borrow().label.clone());
        set!("name", |host| host.call.borrow().name.clone());
        set!("parameters", |host| host.call.borrow().parameters.clone());
        set!("user", |host| host.call.borrow().user as f64);
        set!("success", |host| host.call.borrow().success);
        set!("setSuccess", |host, success: bool| host.set_success(success));
        set!("setFailure", |host, failed: bool| host.call.borrow_mut().verdict.failed = failed);
        set!("setMessage", |host, message: String| host.call.borrow_mut().verdict.message =
            message);
        set!("stop", |host, name: String| host.stop(&name));
        set!("log", |host, line: String| host.log(line));
        set!("charge", |host, elements: f64| host.charge(elements));
        set!("now", |host| host.run_state.unix_millis() as f64);
        set!("uuid", |host| host.uuid());
        set!("random", |host| host.random.borrow_mut().random::<f64>());
        Ok(object)
    }
}

impl Reply {
    fn from_record(last: &SampleRecord) -> Self {
        let headers = last.details.response_headers.clone().unwrap_or_default();
        let fields = headers.lines().filter_map(|line| line.split_once(':'));
        Self {
            status: last.code.parse().unwrap_or(0),
            message: last.message.clone(),
            url: last.url.clone().unwrap_or_default(),
            elapsed: last.elapsed_millis as f64,
            body: last.details.body.clone().unwrap_or_default(),
            fields: fields
                .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
                .collect(),
            headers,
        }
    }

    fn from_view(reply_view: &ReplyView<'_>, source: &str) -> Self {
        let body = if source.contains("body") || source.contains("ResponseData") {
            reply_view.body().to_owned()
        } else {
            String::new()
        };
        let headers = if source.contains("getResponseHeaders") {
            reply_view.headers()
        } else {
            String::new()
        };
        let fields =
            if source.contains("header") { reply_view.fields().to_vec() } else { Vec::new() };
        Self {
            status: reply_view.reply.map_or(0, |reply| reply.status),
            message: reply_view.message().into_owned(),
            url: reply_view.request.url().to_owned(),
            elapsed: reply_view.elapsed_millis as f64,
            body,
            headers,
            fields,
        }
    }
}
