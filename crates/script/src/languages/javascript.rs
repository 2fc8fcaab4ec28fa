//! Runs scripts in JavaScript, in `QuickJS`: one engine for each worker.
//!
//! A script has the objects of `prelude.js`, and neither modules, files, processes nor the network. Variables that it declares end with
//! it. Its loops and calls are counted, as are the elements that native functions visit, its memory is limited, and time and random
//! values are those of the run.

mod host;

use crate::texts::context::UserContext;
use crate::texts::script::{ScriptCode, ScriptOutcome, ScriptView};
use crate::texts::searched::Searched;
use host::Host;
use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Persistent, Runtime};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A script that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parsed {
    /// A function of the bindings, as `prelude.js` hands them over.
    function: Arc<str>,
}

/// The names of what `prelude.js` hands to a script.
const BINDINGS: &str =
    "vars, props, prev, SampleResult, sampleResult, ctx, log, fail, stop, AssertionResult, Label, Parameters, args";

const PRELUDE: &str = include_str!("javascript/prelude.js");

/// Bytes of all values of an engine.
const MEMORY: usize = 64 << 20;

/// Bytes of stack of a script.
const STACK: usize = 512 << 10;

/// Jobs that promises leave behind, of one script.
const MOST_JOBS: usize = 10_000;

impl Parsed {
    /// Reads a script of statements.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn statements(source: &str) -> Result<Self, String> {
        Self::read(format!("(function ({BINDINGS}) {{{source}\n}})"))
    }

    /// Reads a script whose value is that of its last statement.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn expression(source: &str) -> Result<Self, String> {
        let plain = Self::read(format!("(function ({BINDINGS}) {{return (\n{source}\n)}})"));
        plain.or_else(|_| {
            Self::read(format!("(function () {{\n{source}\n}})"))?;
            let source = serde_json::Value::from(source);
            Self::read(format!("(function ({BINDINGS}) {{return eval({source})}})"))
        })
    }

    fn read(function: String) -> Result<Self, String> {
        let parsed = Self { function: function.into() };
        let broken = |error: rquickjs::Error| error.to_string();
        let runtime = runtime().map_err(broken)?;
        let context = Context::full(&runtime).map_err(broken)?;
        context.with(|ctx| parsed.compile(&ctx).map(|_| ()))?;
        Ok(parsed)
    }

    fn compile<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>, String> {
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(FILE.into());
        ctx.eval_with_options(&*self.function, options).catch(ctx).map_err(|error| told(&error))
    }
}

impl ScriptCode for Parsed {
    fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        name: &str,
        parameters: &str,
    ) -> Result<ScriptOutcome, String> {
        let (outcome, value) = engine(user)?.run(self, user, view.sample, (name, parameters))?;
        Ok(ScriptOutcome { value, ..outcome })
    }

    fn text(&self, user: &UserContext) -> Result<Option<String>, String> {
        engine(user)?.run(self, user, None, ("", "")).map(|(_, text)| text)
    }
}

fn engine(user: &UserContext) -> Result<&Engine, String> {
    user.worker.expressions.engine().ok_or_else(|| "another language has the engine of the worker".into())
}

/// What places in scripts are called.
const FILE: &str = "script";

fn runtime() -> Result<Runtime, rquickjs::Error> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    Ok(runtime)
}

/// The engine of a worker, made when first used.
#[derive(Default)]
pub struct Engine(RefCell<Option<Running>>);

/// Values end before their context, and that before its runtime.
struct Running {
    functions: HashMap<Parsed, Persistent<Function<'static>>>,
    run: Persistent<Function<'static>>,
    context: Context,
    host: Rc<Host>,
}

/// More different scripts are not kept: their texts change with each use.
const MOST_FUNCTIONS: usize = 1000;

impl Engine {
    /// Runs a script; what it came to, and the text of its value, None where that is null or undefined.
    ///
    /// # Errors
    ///
    /// An exception that nothing caught, too many operations, or too much memory: one sentence.
    pub fn run(
        &self,
        script: &Parsed,
        user: &UserContext,
        reply: Option<(&Searched<'_>, bool)>,
        (name, parameters): (&str, &str),
    ) -> Result<(ScriptOutcome, Option<String>), String> {
        let Ok(mut engine) = self.0.try_borrow_mut() else { return Err("a script calls itself".into()) };
        let running = match engine.take() {
            Some(running) => engine.insert(running),
            None => engine.insert(Running::new(user).map_err(|error| format!("JavaScript does not start: {error}"))?),
        };
        running.host.begin(user, reply, (name, parameters), &script.function);
        let result = running.call(script);
        let outcome = running.host.end(user);
        let is_over = running.host.is_over();
        if is_over || result.is_err() {
            // What it left behind is not known.
            *engine = None;
        }
        match result {
            Err(_) if is_over => {
                Err("script stopped: it used up its operations or its time; look for an endless loop".into())
            }
            result => result.map(|text| (outcome, text)),
        }
    }
}

impl Running {
    fn new(user: &UserContext) -> Result<Self, rquickjs::Error> {
        let runtime = runtime()?;
        let context = Context::full(&runtime)?;
        let host = Rc::new(Host::new(user));
        let counting = Rc::clone(&host);
        runtime.set_interrupt_handler(Some(Box::new(move || counting.tick())));
        let run = context.with(|ctx| {
            let prelude: Function<'_> = ctx.eval(PRELUDE)?;
            let run: Function<'_> = prelude.call((host.object(&ctx)?,))?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, run))
        })?;
        Ok(Self { functions: HashMap::new(), run, context, host })
    }

    fn call(&mut self, script: &Parsed) -> Result<Option<String>, String> {
        let Self { functions, run, context, .. } = self;
        context.with(|ctx| {
            let broken = |error: rquickjs::Error| error.to_string();
            if !functions.contains_key(script) {
                if functions.len() == MOST_FUNCTIONS {
                    functions.clear();
                }
                functions.insert(script.clone(), Persistent::save(&ctx, script.compile(&ctx)?));
            }
            let function = functions[script].clone().restore(&ctx).map_err(broken)?;
            let run = run.clone().restore(&ctx).map_err(broken)?;
            let text: Option<String> = run.call((function,)).catch(&ctx).map_err(|error| told(&error))?;
            let jobs = (0..MOST_JOBS).take_while(|_| ctx.execute_pending_job()).count();
            if jobs == MOST_JOBS { Err("promises do not come to an end".into()) } else { Ok(text) }
        })
    }
}

/// An exception in one sentence.
fn told(error: &CaughtError<'_>) -> String {
    let exception = match error {
        CaughtError::Exception(exception) => exception,
        CaughtError::Value(value) => {
            let text = value.as_string().and_then(|text| text.to_string().ok());
            return text.unwrap_or_else(|| "an exception that is no Error".into());
        }
        CaughtError::Error(error) => return error.to_string(),
    };
    let name: Option<String> = exception.as_object().get("name").ok();
    let message = exception.message().unwrap_or_default();
    let stack = exception.stack().unwrap_or_default();
    let place = stack.split_once("script:").map(|(_, place)| place.split([':', ')', '\n']).next().unwrap_or_default());
    let place = place.filter(|line| !line.is_empty()).map(|line| format!(" (line {line} of the script)"));
    format!("{}: {message}{}", name.unwrap_or_else(|| "Error".into()), place.unwrap_or_default())
}

#[cfg(test)]
mod tests;
