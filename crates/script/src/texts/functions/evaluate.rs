//! Evaluates texts during the load.

use super::{Call, Function, find};
use crate::texts::context::UserContext;
use crate::texts::expression::{TextPart, as_variable, parse};

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["eval"],
        arguments: 1..=1,
        about: "a text in which ${…} is filled in",
        call: |call| evaluate(call.text(0), call),
    },
    Function {
        names: &["evalVar"],
        arguments: 1..=1,
        about: "the value of a variable, in which ${…} is filled in",
        call: |call| {
            let value = call.user.variables.borrow().get(call.text(0).trim()).map(str::to_owned);
            evaluate(&value.unwrap_or_default(), call)
        },
    },
    Function {
        names: &["log"],
        arguments: 1..=4,
        about: "its first argument, which a trace shows",
        call: log,
    },
    Function {
        names: &["logn"],
        arguments: 1..=3,
        about: "empty; a trace shows its first argument",
        call: |call| {
            log(call);
            String::new()
        },
    },
];

fn log(call: &Call<'_>) -> String {
    call.user.trace(|tracing| tracing.note(&format!("log: {}", call.text(0))));
    call.text(0).to_owned()
}

/// Maximum depth of texts within texts: a text may contain itself.
const MAX_DEPTH: u32 = 16;

fn evaluate(text: &str, call: &Call<'_>) -> String {
    let depth = &call.user.worker.nesting;
    if depth.get() == MAX_DEPTH {
        return String::new();
    }
    depth.set(depth.get() + 1);
    let filled = fill_in(&parse(text), call.site, call.user);
    depth.set(depth.get() - 1);
    filled
}

fn fill_in(stretches: &[TextPart], site: &str, user: &UserContext) -> String {
    let mut text = String::new();
    for stretch in stretches {
        match stretch {
            TextPart::Literal(literal) => text.push_str(literal),
            TextPart::Variable { name, written } => {
                text.push_str(user.variables.borrow().get(name).unwrap_or(written));
            }
            TextPart::Call { name, arguments, written } => {
                let function =
                    find(name).filter(|function| function.arguments.contains(&arguments.len()));
                let Some(function) = function else {
                    // A call without arguments may name a variable.
                    let variables = user.variables.borrow();
                    text.push_str(
                        as_variable(written)
                            .and_then(|name| variables.get(name))
                            .unwrap_or(written),
                    );
                    continue;
                };
                let arguments: Vec<String> =
                    arguments.iter().map(|one| fill_in(one, site, user)).collect();
                text.push_str(&(function.call)(&Call { arguments: &arguments, site, user }));
            }
        }
    }
    text
}
