//! Native functions of a virtual user: requests, pauses, groups, checks, metrics, and its place in the run.

use crate::duration::{in_milliseconds, milliseconds};
use crate::exchange::RequestSpec;
use crate::host::Host;
use crate::registry::{ABORTED, FAILED, id};
use crate::user_side::UserSide;
use crate::values::{tags_of, thrown};
use brunt_engine::UserStep;
use brunt_model::Tick;
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::Pauses;
use brunt_script::scripting::Jar;
use rquickjs::{Array, Ctx, Function, IntoJs, Object, Result, Value};
use std::rc::Rc;
use std::time::Duration;
use url::Url;

/// The user of a script. Without one, the script may not act.
fn acting<'h>(ctx: &Ctx<'_>, host: &'h Host) -> Result<&'h UserSide> {
    let user = host.user.as_ref().filter(|_| !host.is_init.get());
    user.ok_or_else(|| {
        thrown(ctx, "requests, pauses and checks are not permitted in init code and in handleSummary(); write them in the default function, setup or teardown")
    })
}

/// The exception of a run that has ended. The runtime's interrupt ends what catches it.
fn ended(ctx: &Ctx<'_>) -> rquickjs::Error {
    thrown(ctx, "the run has ended")
}

/// Reads the tags of a value, if a threshold asks for parts of the metric: reading costs more than adding the value.
fn needed_tags(
    host: &Host,
    metric: usize,
    tags: Option<Object<'_>>,
) -> Result<Vec<(String, String)>> {
    if host.registry.has_parts(metric) { tags_of(tags) } else { Ok(Vec::new()) }
}

/// Adds the native functions of a virtual user.
pub fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    install_actions(ctx, host, natives)?;
    install_requests(ctx, host, natives)?;
    install_place(ctx, host, natives)
}

fn install_actions<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "sleep", move |ctx: Ctx<'js>, seconds: f64| {
        let user = acting(&ctx, &of)?;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        user.link.suspend(UserStep::Think(time)).map_err(|()| ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "beginGroup", move |ctx: Ctx<'js>, name: String| {
        let user = acting(&ctx, &of)?;
        if name.contains("::") {
            return Err(thrown(
                &ctx,
                &format!(
                    "the group `{name}`: `::` separates groups, and is not permitted in a name"
                ),
            ));
        }
        user.groups.borrow_mut().push((name, user.run_state.now()));
        let step = UserStep::BeginTransaction(user.group().into(), Pauses::Included);
        user.link.suspend(step).map_err(|()| ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "endGroup", move |ctx: Ctx<'js>| {
        let user = acting(&ctx, &of)?;
        let start = user.groups.borrow().last().map(|(_, start)| *start);
        if let Some(start) = start {
            let time = in_milliseconds(user.run_state.now().nanos_since(start));
            user.record(&of.registry, id::GROUP_DURATION, time, &[]);
            user.groups.borrow_mut().pop();
        }
        user.link.suspend(UserStep::EndTransaction).map_err(|()| ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "check",
        move |ctx: Ctx<'js>, name: String, passes: bool, tags: Option<Object<'js>>| {
            let user = acting(&ctx, &of)?;
            if name.contains("::") {
                return Err(thrown(
                    &ctx,
                    &format!(
                        "the check `{name}`: `::` separates groups, and is not permitted in a name"
                    ),
                ));
            }
            // By its whole path, because groups may have checks of one name.
            of.registry.count_check(&format!("{}::{name}", user.group()), passes);
            let mut tags = needed_tags(&of, id::CHECKS, tags)?;
            tags.push(("check".into(), name));
            user.record(&of.registry, id::CHECKS, f64::from(u8::from(passes)), &tags);
            Ok::<_, rquickjs::Error>(())
        }
    );
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "record",
        move |ctx: Ctx<'js>, metric: usize, value: f64, tags: Option<Object<'js>>| {
            let user = acting(&ctx, &of)?;
            let tags = needed_tags(&of, metric, tags)?;
            user.record(&of.registry, metric, value, &tags);
            Ok::<_, rquickjs::Error>(())
        }
    );
    let of = Rc::clone(host);
    native!(natives, ctx, "abort", move |ctx: Ctx<'js>, message: String| {
        let user = acting(&ctx, &of)?;
        of.registry.mark(ABORTED, &message);
        // The script ends here, whether or not the engine enters it again.
        let _ = user.link.suspend(UserStep::EndRun);
        Err::<(), _>(ended(&ctx))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "markFailed", move |message: String| of.registry.mark(FAILED, &message));
    Ok(())
}

fn install_requests<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "request", move |ctx: Ctx<'js>, request: Array<'js>| {
        let user = acting(&ctx, &of)?;
        let spec = RequestSpec::read(&request, &user.facts)?;
        let sent = user.send(&of.registry, vec![spec]).map_err(|()| ended(&ctx))?;
        let exchange = sent.into_iter().next().ok_or_else(|| ended(&ctx))?;
        exchange.into_reply(&ctx, &user.facts)
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "batch", move |ctx: Ctx<'js>, requests: Vec<Array<'js>>| {
        let user = acting(&ctx, &of)?;
        let specs = requests.iter().map(|request| RequestSpec::read(request, &user.facts));
        let specs = specs.collect::<Result<Vec<_>>>()?;
        let sent = user.send(&of.registry, specs).map_err(|()| ended(&ctx))?;
        sent.into_iter()
            .map(|exchange| exchange.into_reply(&ctx, &user.facts))
            .collect::<Result<Vec<_>>>()
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "newJar", move || {
        let Some(user) = &of.user else { return 0 };
        let mut jars = user.jars.borrow_mut();
        jars.push(Jar::default());
        jars.len() - 1
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "cookiesFor", move |ctx: Ctx<'js>, jar: usize, address: String| {
        let list = Array::new(ctx.clone())?;
        let (Some(user), Ok(url)) = (&of.user, Url::parse(&address)) else { return Ok(list) };
        let field = user.jars.borrow().get(jar).and_then(|jar| jar.field(&url, Cookies::Kept));
        let text = field.map(|(_, text)| text).unwrap_or_default();
        for (i, pair) in text.split("; ").filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            list.set(i, vec![name, value])?;
        }
        Ok::<_, rquickjs::Error>(list)
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "setCookie", move |ctx: Ctx<'js>,
                                             jar: usize,
                                             address: String,
                                             text: String| {
        let user = acting(&ctx, &of)?;
        let url = Url::parse(&address)
            .map_err(|error| thrown(&ctx, &format!("the address `{address}`: {error}")))?;
        user.take_cookies(jar, &url, &[("Set-Cookie".into(), text)]);
        Ok::<_, rquickjs::Error>(true)
    });
    let of = Rc::clone(host);
    native!(
        natives,
        ctx,
        "clearCookies",
        move |jar: usize, address: String, name: Option<String>| {
            let (Some(user), Ok(url)) = (&of.user, Url::parse(&address)) else { return };
            let mut jars = user.jars.borrow_mut();
            let Some(jar) = jars.get_mut(jar) else { return };
            let host_name = url.host_str().unwrap_or_default();
            let removed: Vec<_> = jar
                .all()
                .into_iter()
                .filter(|cookie| name.as_ref().is_none_or(|name| cookie.name == *name))
                .filter(|cookie| {
                    let domain = cookie.domain.trim_start_matches('.');
                    host_name == domain || host_name.ends_with(&format!(".{domain}"))
                })
                .collect();
            for cookie in &removed {
                jar.remove(cookie);
            }
        }
    );
    Ok(())
}

fn install_place<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = Rc::clone(host);
    native!(natives, ctx, "now", move || of
        .user
        .as_ref()
        .map_or(0.0, |user| in_milliseconds(user.run_state.now().nanos_since(Tick::ZERO))));
    let of = Rc::clone(host);
    native!(natives, ctx, "number", move |name: String| {
        of.user.as_ref().map_or(0.0, |user| place(user, &name))
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "text", move |name: String| {
        let Some(user) = &of.user else {
            return String::from(if name == "options" { "{}" } else { "" });
        };
        match name.as_str() {
            "scenario" => user.facts.name.clone(),
            "executor" => user.facts.executor.clone(),
            _ => user.facts.options.clone(),
        }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "userTag", move |ctx: Ctx<'js>, name: String| {
        match of.user.as_ref().and_then(|user| user.tag(&name)) {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_undefined(ctx)),
        }
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "setUserTag", move |name: String, value: Option<String>| {
        let Some(user) = &of.user else { return };
        let mut tags = user.tags.borrow_mut();
        match value {
            Some(value) => tags.insert(name, value),
            None => tags.remove(&name),
        };
    });
    let of = Rc::clone(host);
    native!(natives, ctx, "userTags", move || of.user.as_ref().map_or_else(Vec::new, |user| user
        .tags
        .borrow()
        .keys()
        .cloned()
        .collect::<Vec<_>>()));
    Ok(())
}

/// Returns a number of the user's place in the run.
fn place(user: &UserSide, name: &str) -> f64 {
    let facts = &user.facts;
    let elapsed = user.run_state.unix_millis().saturating_sub(user.begun_unix) as f64;
    match name {
        "vu" | "vuInInstance" => user.number.get() as f64,
        "iteration" => user.iteration.get() as f64,
        "iterationInTest" | "iterationInInstance" | "iterationsCompleted" => {
            user.iteration_in_test.get() as f64
        }
        "activeUsers" | "users" => user.run_state.active_users().1 as f64,
        "elapsed" => elapsed,
        "startTime" => user.begun_unix as f64 + facts.start.as_secs_f64() * 1e3,
        "progress" => facts.length.map_or(0.0, |length| {
            let elapsed = milliseconds(elapsed).saturating_sub(facts.start);
            (elapsed.as_secs_f64() / length.as_secs_f64().max(1e-9)).min(1.0)
        }),
        _ => 0.0,
    }
}
