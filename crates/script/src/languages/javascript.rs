//! Runs scripts in JavaScript with `QuickJS`: one engine per worker.
//!
//! A script has the objects of `prelude.js`, but no modules, files, processes or network. Its
//! variables end with it. The engine counts loops, calls, and the elements that native functions
//! visit. Memory is limited. Time and random values come from the run.

mod host;

use crate::texts::context::UserContext;
use crate::texts::reply_view::ReplyView;
use crate::texts::script::{
    LanguageRow, ParseResult, ScriptCode, ScriptOutcome, ScriptView, SourceKind,
};
use brunt_model::scenario::ScriptLanguage;
use host::JavaScriptHost;
use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Persistent, Runtime};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// JavaScript as a language of scripts.
pub const ROW: LanguageRow = LanguageRow { language: ScriptLanguage::Javascript, parse };

fn parse(source: &str, kind: SourceKind) -> ParseResult {
    Ok(Arc::new(match kind {
        SourceKind::Statements => JavaScriptScript::statements(source)?,
        SourceKind::Expression => JavaScriptScript::expression(source)?,
    }))
}

/// A script with valid syntax.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JavaScriptScript {
    /// A function with the parameters of `BINDINGS`, which `prelude.js` calls.
    function: Arc<str>,
}

/// Parameters of a script, as `prelude.js` passes them.
const BINDINGS: &str = "vars, props, prev, SampleResult, sampleResult, ctx, log, fail, stop, AssertionResult, Label, Parameters, args";

const PRELUDE: &str = include_str!("javascript/prelude.js");

/// Memory limit of an engine, in bytes.
const MEMORY: usize = 64 << 20;

/// Stack limit of a script, in bytes.
const STACK: usize = 512 << 10;

/// Maximum number of pending promise jobs of one script.
const MAX_JOBS: usize = 10_000;

impl JavaScriptScript {
    /// Parses a script of statements.
    pub fn statements(source: &str) -> Result<Self, String> {
        Self::parse(format!("(function ({BINDINGS}) {{{source}\n}})"))
    }

    /// Parses a script that has the value of its last statement.
    pub fn expression(source: &str) -> Result<Self, String> {
        let plain = Self::parse(format!("(function ({BINDINGS}) {{return (\n{source}\n)}})"));
        plain.or_else(|_| {
            // Not an expression: `eval` returns the value of the last statement.
            Self::parse(format!("(function () {{\n{source}\n}})"))?;
            let source = serde_json::Value::from(source);
            Self::parse(format!("(function ({BINDINGS}) {{return eval({source})}})"))
        })
    }

    fn parse(function: String) -> Result<Self, String> {
        let parsed = Self { function: function.into() };
        let runtime = runtime().map_err(|error| error.to_string())?;
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        context.with(|ctx| parsed.compile(&ctx).map(|_| ()))?;
        Ok(parsed)
    }

    fn compile<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>, String> {
        let mut options = EvalOptions::default();
        // `eval` is strict by default; JMeter's engines are not.
        options.strict = false;
        options.filename = Some(FILE.into());
        ctx.eval_with_options(&*self.function, options)
            .catch(ctx)
            .map_err(|error| exception_text(&error))
    }
}

impl ScriptCode for JavaScriptScript {
    fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        name: &str,
        parameters: &str,
    ) -> Result<ScriptOutcome, String> {
        let (outcome, value) =
            engine(user)?.run(self, user, view.sample, ScriptArguments { name, parameters })?;
        Ok(ScriptOutcome { value, ..outcome })
    }

    fn text(&self, user: &UserContext) -> Result<Option<String>, String> {
        engine(user)?.run(self, user, None, ScriptArguments::default()).map(|(_, text)| text)
    }
}

fn engine(user: &UserContext) -> Result<&JavaScriptEngine, String> {
    user.worker
        .expressions
        .engine()
        .ok_or_else(|| "another language has the engine of the worker".into())
}

/// Name of scripts in stack traces.
const FILE: &str = "script";

fn runtime() -> Result<Runtime, rquickjs::Error> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    Ok(runtime)
}

/// Name and parameters of a script's call, as the script sees them.
#[derive(Clone, Copy, Default)]
pub struct ScriptArguments<'a> {
    pub name: &'a str,
    pub parameters: &'a str,
}

/// The engine of a worker, created at the first use.
#[derive(Default)]
pub struct JavaScriptEngine(RefCell<Option<Running>>);

/// Fields are dropped in order: values before their context, and the context before its runtime.
struct Running {
    functions: HashMap<JavaScriptScript, Persistent<Function<'static>>>,
    run: Persistent<Function<'static>>,
    context: Context,
    host: Rc<JavaScriptHost>,
}

/// Maximum number of compiled scripts. More different scripts are not stored, because their texts
/// change with each use.
const MAX_FUNCTIONS: usize = 1000;

impl JavaScriptEngine {
    /// Runs a script. Returns its outcome, and the text of its value; None if the value
    /// is null or undefined.
    ///
    /// # Errors
    ///
    /// An uncaught exception, too many operations, or too much memory, as one sentence.
    pub fn run(
        &self,
        script: &JavaScriptScript,
        user: &UserContext,
        reply: Option<(&ReplyView<'_>, bool)>,
        arguments: ScriptArguments<'_>,
    ) -> Result<(ScriptOutcome, Option<String>), String> {
        let Ok(mut engine) = self.0.try_borrow_mut() else {
            return Err("a script calls itself".into());
        };
        let running = match engine.take() {
            Some(running) => engine.insert(running),
            None => engine.insert(
                Running::new(user)
                    .map_err(|error| format!("JavaScript does not start: {error}"))?,
            ),
        };
        running.host.begin(user, reply, arguments, &script.function);
        let result = running.call(script);
        let outcome = running.host.end(user);
        let is_over = running.host.is_over();
        if is_over || result.is_err() {
            // The state that the script left in the engine is unknown.
            *engine = None;
        }
        match result {
            Err(_) if is_over => Err(
                "script stopped: it used up its operations or its time; look for an endless loop"
                    .into(),
            ),
            result => result.map(|text| (outcome, text)),
        }
    }
}

impl Running {
    fn new(user: &UserContext) -> Result<Self, rquickjs::Error> {
        let runtime = runtime()?;
        let context = Context::full(&runtime)?;
        let host = Rc::new(JavaScriptHost::new(user));
        let counting = Rc::clone(&host);
        runtime.set_interrupt_handler(Some(Box::new(move || counting.count_tick())));
        let run = context.with(|ctx| {
            let prelude: Function<'_> = ctx.eval(PRELUDE)?;
            let run: Function<'_> = prelude.call((host.object(&ctx)?,))?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, run))
        })?;
        Ok(Self { functions: HashMap::new(), run, context, host })
    }

    fn call(&mut self, script: &JavaScriptScript) -> Result<Option<String>, String> {
        let Self { functions, run, context, .. } = self;
        context.with(|ctx| {
            if !functions.contains_key(script) {
                if functions.len() == MAX_FUNCTIONS {
                    functions.clear();
                }
                functions.insert(script.clone(), Persistent::save(&ctx, script.compile(&ctx)?));
            }
            let function =
                functions[script].clone().restore(&ctx).map_err(|error| error.to_string())?;
            let run = run.clone().restore(&ctx).map_err(|error| error.to_string())?;
            let text: Option<String> =
                run.call((function,)).catch(&ctx).map_err(|error| exception_text(&error))?;
            let jobs = (0..MAX_JOBS).take_while(|_| ctx.execute_pending_job()).count();
            if jobs == MAX_JOBS { Err("promises do not complete".into()) } else { Ok(text) }
        })
    }
}

/// Formats an exception as one sentence.
fn exception_text(error: &CaughtError<'_>) -> String {
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
    // A line of the stack has `script:LINE:COLUMN`.
    let place = stack
        .split_once("script:")
        .map(|(_, place)| place.split([':', ')', '\n']).next().unwrap_or_default());
    let place =
        place.filter(|line| !line.is_empty()).map(|line| format!(" (line {line} of the script)"));
    format!("{}: {message}{}", name.unwrap_or_else(|| "Error".into()), place.unwrap_or_default())
}

#[cfg(test)]
mod tests;
