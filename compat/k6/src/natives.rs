//! Native functions, which the modules in `js/` call.

/// Adds a native function to an object.
macro_rules! native {
    ($object:ident, $ctx:ident, $name:literal, $function:expr) => {
        $object.set($name, Function::new($ctx.clone(), $function)?)?;
    };
}

mod bytes;
mod user;

use crate::host::{Host, Sources};
use crate::kinds::{Declaration, MetricKind, Unit};
use crate::numbers;
use crate::paths::absolute;
use crate::summary;
use crate::values::thrown;
use rquickjs::{ArrayBuffer, Ctx, Function, IntoJs, Object, Result};
use std::rc::Rc;

/// A number, as JavaScript passes it.
type Number = f64;

/// Makes the object with the native functions, and evaluates the globals.
pub fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let env = Object::new(ctx.clone())?;
    for (name, value) in host.env.iter() {
        env.set(name.as_str(), value.as_str())?;
    }
    // One object for all, because scripts may also set variables.
    native!(natives, ctx, "env", move || env.clone());
    install_init(ctx, host, &natives)?;
    bytes::install(ctx, &natives)?;
    install_summary(ctx, &natives)?;
    user::install(ctx, host, &natives)?;
    ctx.globals().set("__brunt", natives.clone())?;
    ctx.eval::<(), _>(include_str!("../js/globals.js"))?;
    Ok(natives)
}

fn install_init<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "log", move |level: String, text: String| of.log(&level, &text));
    let of = Rc::clone(host);
    native!(natives, ctx, "requireInit", move |ctx: Ctx<'js>, name: String| {
        let wrong = format!("{name} is permitted only in init code: at the top of a module");
        if of.is_init.get() { Ok(()) } else { Err(thrown(&ctx, &wrong)) }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "requireIteration", move |ctx: Ctx<'js>, name: String| {
        let wrong = format!(
            "{name} is not permitted in init code; call it in the default function, setup or teardown"
        );
        if of.is_init.get() { Err(thrown(&ctx, &wrong)) } else { Ok(()) }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "open", move |ctx: Ctx<'js>, path: String, is_binary: bool| {
        if !of.is_init.get() {
            return Err(thrown(
                &ctx,
                "open() is permitted only in init code: at the top of a module",
            ));
        }
        // `open()` is relative to the module that calls it, not to the first one.
        let base = calling_module(&ctx);
        let bytes = of.file(&absolute(&base, &path)).map_err(|why| thrown(&ctx, &why))?;
        if is_binary {
            return ArrayBuffer::new(ctx.clone(), bytes)?.into_js(&ctx);
        }
        String::from_utf8_lossy(&bytes).into_owned().into_js(&ctx)
    });
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "declareMetric",
        move |ctx: Ctx<'js>, kind: String, name: String, is_time: bool| {
            if !of.is_init.get() {
                let wrong = format!(
                    "the metric `{name}` must be created in init code: at the top of a module"
                );
                return Err(thrown(&ctx, &wrong));
            }
            let kind = MetricKind::from_word(&kind).unwrap_or(MetricKind::Counter);
            let unit = if is_time { Unit::Time } else { Unit::Number };
            of.registry.declare(Declaration { name, kind, unit }).map_err(|why| thrown(&ctx, &why))
        }
    );
    let of = Rc::clone(host);
    native!(natives, ctx, "sharedLength", move |name: String| of
        .shared(&name, |array| array.len() as Number)
        .unwrap_or(-1.0));
    let of = Rc::clone(host);
    native!(natives, ctx, "sharedAt", move |name: String, index: usize| of
        .shared(&name, |array| array.get(index).cloned())
        .flatten());
    let of = Rc::clone(host);
    native!(natives, ctx, "share", move |name: String, elements: Vec<String>| {
        // Users find the array in their archive, and never compute it.
        if let Sources::FileSystem(archive) = &of.sources {
            archive.borrow_mut().shared.insert(name, elements);
        }
    });
    native!(natives, ctx, "duration", move |ctx: Ctx<'js>, text: String| {
        let time = crate::duration::parse(&text).map_err(|why| thrown(&ctx, &why))?;
        Ok::<_, rquickjs::Error>(time.as_secs_f64() * 1e3)
    });
    Ok(())
}

/// Returns the name of the module that called a native function, through the modules in `js/`.
fn calling_module(ctx: &Ctx<'_>) -> String {
    let names = (1..8).filter_map(|level| ctx.script_or_module_name(level));
    names
        .filter_map(|name| name.to_string().ok())
        .find(|name| name.starts_with('/'))
        .unwrap_or_else(|| "/".into())
}

fn install_summary<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    native!(
        natives,
        ctx,
        "textSummary",
        move |ctx: Ctx<'js>, data: String, indent: String, colors: bool| {
            summary::text_of_json(&data, &indent, colors).map_err(|why| thrown(&ctx, &why))
        }
    );
    native!(natives, ctx, "humanize", move |value: Number,
                                            kind: String,
                                            contains: String,
                                            unit: String| {
        numbers::metric_value(value, &kind, &contains, &unit)
    });
    Ok(())
}
