//! A JavaScript engine for one script.

use crate::host::Host;
use crate::modules::{ModuleNames, ModuleTexts};
use crate::natives::install;
use rquickjs::object::Object;
use rquickjs::promise::MaybePromise;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Function, Module, Persistent, Runtime, Value,
};
use std::rc::Rc;

/// Maximum memory of a script, in bytes.
pub const MEMORY: usize = 256 << 20;

/// A script after its init code. Fields are dropped in order: values before their context.
pub struct Machine {
    exports: Persistent<Object<'static>>,
    natives: Persistent<Object<'static>>,
    context: Context,
}

/// Why a function of a script ended without a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown(pub String);

impl From<rquickjs::Error> for Thrown {
    fn from(error: rquickjs::Error) -> Self {
        Self(error.to_string())
    }
}

impl Machine {
    /// Evaluates the module `entry`. `stack` is the maximum size of the stack, in bytes.
    ///
    /// # Errors
    ///
    /// A module cannot be read, or its code throws.
    pub fn new(host: &Rc<Host>, entry: &str, stack: usize) -> Result<Self, Thrown> {
        let runtime = Runtime::new()?;
        // An array that grows without end must end its user, not the process.
        runtime.set_memory_limit(MEMORY);
        runtime.set_max_stack_size(stack);
        runtime.set_loader(ModuleNames, ModuleTexts(Rc::clone(host)));
        let of = Rc::clone(host);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            of.user.as_ref().is_some_and(|user| user.link.is_over() || user.run_state.must_return())
        })));
        let context = Context::full(&runtime)?;
        // Only the init code may open files and create metrics.
        host.is_init.set(true);
        let (exports, natives) = context.with(|ctx| {
            let natives = install(&ctx, host).catch(&ctx).map_err(|error| thrown(&error))?;
            let text = host.module(entry).map_err(Thrown)?;
            let evaluated = Module::declare(ctx.clone(), entry, text)
                .and_then(Module::eval)
                .and_then(|(module, promise)| promise.finish::<Value<'_>>().map(|_| module))
                .and_then(|module| module.namespace());
            let exports = evaluated.catch(&ctx).map_err(|error| thrown(&error))?;
            Ok::<_, Thrown>((Persistent::save(&ctx, exports), Persistent::save(&ctx, natives)))
        })?;
        host.is_init.set(false);
        Ok(Self { exports, natives, context })
    }

    /// Returns an export as JSON; None if it is no value that JSON has.
    ///
    /// # Errors
    ///
    /// The value contains itself.
    pub fn json(&self, name: &str) -> Result<Option<String>, Thrown> {
        self.context.with(|ctx| {
            let exports = self.exports.clone().restore(&ctx).catch(&ctx).map_err(|e| thrown(&e))?;
            let value: Value<'_> = exports.get(name).catch(&ctx).map_err(|e| thrown(&e))?;
            to_json(&ctx, value)
        })
    }

    /// True if the script exports a function of this name.
    pub fn has_function(&self, name: &str) -> bool {
        self.context.with(|ctx| {
            let exports = self.exports.clone().restore(&ctx);
            exports.and_then(|exports| exports.get::<_, Function<'_>>(name)).is_ok()
        })
    }

    /// Calls an exported function with values in JSON, and waits until its promises and timers are done. `sleep` waits
    /// for a number of milliseconds; false: the run is over.
    ///
    /// # Errors
    ///
    /// The function throws, or does not exist.
    pub fn call(
        &self,
        name: &str,
        arguments: &[&str],
        sleep: &dyn Fn(f64) -> bool,
    ) -> Result<(), Thrown> {
        self.context.with(|ctx| {
            let result = self.called(&ctx, name, arguments, sleep).catch(&ctx);
            result.map(|_| ()).map_err(|error| thrown(&error))
        })
    }

    /// The same; returns the value as JSON. None: JSON has no such value.
    ///
    /// # Errors
    ///
    /// Those of [`call`](Self::call), or the value contains itself.
    pub fn json_of_call(
        &self,
        name: &str,
        arguments: &[&str],
        sleep: &dyn Fn(f64) -> bool,
    ) -> Result<Option<String>, Thrown> {
        self.context.with(|ctx| {
            let result = self.called(&ctx, name, arguments, sleep).catch(&ctx);
            let value = result.map_err(|error| thrown(&error))?;
            to_json(&ctx, value)
        })
    }

    fn called<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        arguments: &[&str],
        sleep: &dyn Fn(f64) -> bool,
    ) -> rquickjs::Result<Value<'js>> {
        let function: Function<'js> = self.exports.clone().restore(ctx)?.get(name)?;
        let mut values = rquickjs::function::Args::new(ctx.clone(), arguments.len());
        for argument in arguments {
            values.push_arg(match *argument {
                // JSON has no undefined, which `setup` may return.
                "" => Value::new_undefined(ctx.clone()),
                json => ctx.json_parse(json)?,
            })?;
        }
        let returned: MaybePromise<'js> = function.call_arg(values)?;
        let timers: Object<'js> = self.natives.clone().restore(ctx)?.get("timers")?;
        let next: Function<'js> = timers.get("next")?;
        let fire: Function<'js> = timers.get("fire")?;
        // The event loop: an iteration lasts until nothing is left that could wake its function.
        loop {
            while ctx.execute_pending_job() {}
            let wait: f64 = next.call(())?;
            if wait < 0.0 {
                break;
            }
            if wait > 0.0 && !sleep(wait) {
                timers.get::<_, Function<'js>>("clear")?.call::<_, ()>(())?;
                break;
            }
            fire.call::<_, ()>(())?;
        }
        match returned.result::<Value<'js>>() {
            Some(value) => value,
            // Nothing can fulfill it any more.
            None => Ok(Value::new_undefined(ctx.clone())),
        }
    }
}

fn to_json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<String>, Thrown> {
    if value.is_undefined() || value.is_function() {
        return Ok(None);
    }
    let text = ctx.json_stringify(value).catch(ctx).map_err(|error| thrown(&error))?;
    text.map(|text| text.to_string()).transpose().map_err(|error| Thrown(error.to_string()))
}

/// Formats an exception with its stack.
fn thrown(error: &CaughtError<'_>) -> Thrown {
    Thrown(match error {
        CaughtError::Exception(exception) => {
            // A script may throw objects of its own classes.
            let name: Option<String> = exception.as_object().get("name").ok();
            let message = exception.message().unwrap_or_default();
            let stack = exception.stack().unwrap_or_default();
            // Users know only the files of their script.
            let lines: Vec<&str> = stack
                .lines()
                .map(str::trim)
                .filter(|line| line.contains(".js:") || line.contains('/'))
                .filter(|line| !line.contains("(k6") && !line.contains("native"))
                .collect();
            let head = format!("{}: {message}", name.unwrap_or_else(|| "Error".into()));
            std::iter::once(head.as_str()).chain(lines).collect::<Vec<_>>().join("\n    ")
        }
        CaughtError::Value(value) => value
            .as_string()
            .and_then(|text| text.to_string().ok())
            .unwrap_or_else(|| "an exception that is no Error".into()),
        CaughtError::Error(error) => error.to_string(),
    })
}
