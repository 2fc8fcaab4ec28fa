//! Texts that are read while the load runs.

use super::{Call, Function, find};
use crate::texts::context::UserContext;
use crate::texts::expression::{Stretch, as_variable, parse};

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["eval"],
        arguments: 1..=1,
        about: "a text in which ${…} is filled in",
        call: |call| evaluated(call.text(0), call),
    },
    Function {
        names: &["evalVar"],
        arguments: 1..=1,
        about: "the value of a variable, in which ${…} is filled in",
        call: |call| {
            let value = call.user.variables.borrow().get(call.text(0).trim()).map(str::to_owned);
            evaluated(&value.unwrap_or_default(), call)
        },
    },
    Function { names: &["log"], arguments: 1..=4, about: "its first argument, which a trace shows", call: logged },
    Function {
        names: &["logn"],
        arguments: 1..=3,
        about: "empty; a trace shows its first argument",
        call: |call| {
            logged(call);
            String::new()
        },
    },
];

fn logged(call: &Call<'_>) -> String {
    call.user.trace(|tracing| tracing.note(&format!("log: {}", call.text(0))));
    call.text(0).to_owned()
}

/// A text within a text within a text is read no deeper: it may be its own value.
const DEEPEST: u32 = 16;

fn evaluated(text: &str, call: &Call<'_>) -> String {
    let depth = &call.user.worker.nesting;
    if depth.get() == DEEPEST {
        return String::new();
    }
    depth.set(depth.get() + 1);
    let filled = filled(&parse(text), call.site, call.user);
    depth.set(depth.get() - 1);
    filled
}

fn filled(stretches: &[Stretch], site: &str, user: &UserContext) -> String {
    let mut text = String::new();
    for stretch in stretches {
        match stretch {
            Stretch::Literal(literal) => text.push_str(literal),
            Stretch::Variable { name, written } => {
                text.push_str(user.variables.borrow().get(name).unwrap_or(written));
            }
            Stretch::Call { name, arguments, written } => {
                let function = find(name).filter(|function| function.arguments.contains(&arguments.len()));
                let Some(function) = function else {
                    let variables = user.variables.borrow();
                    text.push_str(as_variable(written).and_then(|name| variables.get(name)).unwrap_or(written));
                    continue;
                };
                let arguments: Vec<String> = arguments.iter().map(|one| filled(one, site, user)).collect();
                text.push_str(&(function.call)(&Call { arguments: &arguments, site, user }));
            }
        }
    }
    text
}
