//! Functions for variables, properties, counters and random values.

use super::{Call, Function};
use crate::texts::machine::{PLAN_FILE, environment};
use brunt_java::number;
use rand::RngExt;
use std::fmt::Write;

/// Functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["P"],
        arguments: 1..=2,
        about: "a property: name, and the default (1)",
        call: p,
    },
    Function {
        names: &["property"],
        arguments: 1..=3,
        about: "a property: name, variable, and the default",
        call: property,
    },
    Function {
        names: &["setProperty"],
        arguments: 2..=3,
        about: "gives a property a value: name, value",
        call: set_property,
    },
    Function {
        names: &["isPropDefined"],
        arguments: 1..=1,
        about: "whether a property has a value",
        call: is_property_defined,
    },
    Function {
        names: &["env"],
        arguments: 1..=3,
        about: "an environment variable: name, variable, and the default (its name)",
        call: env,
    },
    Function {
        names: &["TestPlanName"],
        arguments: 0..=0,
        about: "the name of the JMeter plan's file",
        call: |call| call.user.worker.shared_state.property(PLAN_FILE).unwrap_or_default(),
    },
    Function {
        names: &["V"],
        arguments: 1..=2,
        about: "a variable with a computed name: name, and the default",
        call: v,
    },
    Function {
        names: &["isVarDefined"],
        arguments: 1..=1,
        about: "whether a variable has a value",
        call: is_variable_defined,
    },
    Function {
        names: &["isDefined"],
        arguments: 1..=1,
        about: "1 if a variable has a value, else 0",
        call: |call| {
            u8::from(call.user.variables.borrow().get(call.text(0).trim()).is_some()).to_string()
        },
    },
    Function {
        names: &["counter"],
        arguments: 0..=2,
        about: "counts from 1: TRUE for each user by itself, variable",
        call: counter,
    },
    Function {
        names: &["threadNum", "user"],
        arguments: 0..=0,
        about: "the user's number in its population, from 1",
        call: |call| (call.user.number + 1).to_string(),
    },
    Function {
        names: &["threadGroupName"],
        arguments: 0..=0,
        about: "the name of the population",
        call: |call| call.user.worker.population.clone(),
    },
    Function {
        names: &["samplerName"],
        arguments: 0..=1,
        about: "the label of the last request",
        call: |call| {
            let label = call.user.label.borrow().clone();
            call.into_variable(0, label)
        },
    },
    Function {
        names: &["iteration", "iterationNum"],
        arguments: 0..=0,
        about: "the number of the user's iteration, from 1",
        call: |call| (call.user.iteration.get() + 1).to_string(),
    },
    Function {
        names: &["Random", "random"],
        arguments: 2..=3,
        about: "a whole number from the first to the second, both included",
        call: random,
    },
    Function {
        names: &["RandomString"],
        arguments: 1..=3,
        about: "random characters: how many, of which, variable",
        call: random_string,
    },
    Function {
        names: &["UUID", "uuid"],
        arguments: 0..=0,
        about: "a random UUID (version 4)",
        call: uuid,
    },
    Function {
        names: &["chooseRandom"],
        arguments: 2..=usize::MAX,
        about: "one of its arguments but the last, which is a variable",
        call: choose_random,
    },
    Function {
        names: &["RandomFromMultipleVars"],
        arguments: 1..=2,
        about: "one of the values of variables, with names separated by |; variable",
        call: random_from_variables,
    },
    Function {
        names: &["machineName"],
        arguments: 0..=1,
        about: "the name of this machine; variable",
        call: |call| call.into_variable(0, machine_name()),
    },
    Function {
        names: &["machineIP"],
        arguments: 0..=1,
        about: "the address of this machine, by its name; variable",
        call: |call| call.into_variable(0, call.user.worker.shared_state.address(&machine_name())),
    },
    Function {
        names: &["uniform"],
        arguments: 1..=2,
        about: "a number from 0 up to the first, and the second added",
        call: uniform,
    },
    Function {
        names: &["gaussian"],
        arguments: 1..=2,
        about: "a normal number: deviation and mean, without its sign",
        call: gaussian,
    },
    Function {
        names: &["exponential"],
        arguments: 1..=2,
        about: "an exponential number: mean, and the second added",
        call: exponential,
    },
    Function {
        names: &["intSum", "longSum"],
        arguments: 2..=usize::MAX,
        about: "a sum; a last argument that is no number is a variable",
        call: sum,
    },
    Function {
        names: &["doubleSum"],
        arguments: 2..=usize::MAX,
        about: "a sum of numbers with fractions; a last argument that is no number is a variable",
        call: double_sum,
    },
];

fn p(call: &Call<'_>) -> String {
    let value = call.user.worker.shared_state.property(call.text(0).trim());
    value
        .unwrap_or_else(|| call.arguments.get(1).map_or("1", String::as_str).to_owned())
        .trim()
        .to_owned()
}

fn property(call: &Call<'_>) -> String {
    let name = call.text(0).trim();
    let value = call.user.worker.shared_state.property(name);
    let value =
        value.unwrap_or_else(|| call.arguments.get(2).map_or(name, String::as_str).to_owned());
    // JMeter trims the value and the default.
    call.into_variable(1, value.trim().to_owned())
}

fn set_property(call: &Call<'_>) -> String {
    let before =
        call.user.worker.shared_state.set_property(call.text(0).trim(), Some(call.text(1)));
    if call.text(2).trim().eq_ignore_ascii_case("true") {
        before.unwrap_or_default()
    } else {
        String::new()
    }
}

fn is_property_defined(call: &Call<'_>) -> String {
    call.user.worker.shared_state.property(call.text(0).trim()).is_some().to_string()
}

fn env(call: &Call<'_>) -> String {
    let name = call.text(0).trim();
    let value = environment(name)
        .unwrap_or_else(|| call.arguments.get(2).map_or(name, String::as_str).to_owned());
    // JMeter trims the value and the default.
    call.into_variable(1, value.trim().to_owned())
}

fn v(call: &Call<'_>) -> String {
    let name = call.text(0).trim();
    let value = call.user.variables.borrow().get(name).map(str::to_owned);
    value.unwrap_or_else(|| call.arguments.get(1).map_or(name, String::as_str).to_owned())
}

fn is_variable_defined(call: &Call<'_>) -> String {
    call.user.variables.borrow().get(call.text(0).trim()).is_some().to_string()
}

fn counter(call: &Call<'_>) -> String {
    let is_per_user = call.text(0).trim().eq_ignore_ascii_case("true");
    let before =
        if is_per_user { call.user.count(call.site) } else { call.user.worker.count(call.site) };
    call.into_variable(1, (before + 1).to_string())
}

fn random(call: &Call<'_>) -> String {
    let (Some(least), Some(most)) = (call.number(0), call.number(1)) else { return String::new() };
    // An empty range would panic.
    let most = most.max(least);
    let number = call.user.worker.random.borrow_mut().random_range(least..=most);
    call.into_variable(2, number.to_string())
}

fn random_string(call: &Call<'_>) -> String {
    /// Maximum number of characters.
    const MAX_LENGTH: i64 = 10_000_000;
    let length = call.number(0).unwrap_or(0).clamp(0, MAX_LENGTH);
    let characters: Vec<char> = match call.text(1) {
        // JMeter draws from all characters; letters and digits are valid everywhere.
        "" => ('a'..='z').chain('A'..='Z').chain('0'..='9').collect(),
        some => some.chars().collect(),
    };
    let mut random = call.user.worker.random.borrow_mut();
    let text = (0..length).map(|_| characters[random.random_range(0..characters.len())]).collect();
    drop(random);
    call.into_variable(2, text)
}

fn uuid(call: &Call<'_>) -> String {
    let mut text = String::new();
    crate::texts::encoding::push_uuid(&mut text, &mut *call.user.worker.random.borrow_mut());
    text
}

fn choose_random(call: &Call<'_>) -> String {
    let last = call.arguments.len() - 1;
    let chosen = call.user.worker.random.borrow_mut().random_range(0..last.max(1));
    call.into_variable(last, call.text(chosen).to_owned())
}

fn random_from_variables(call: &Call<'_>) -> String {
    let variables = call.user.variables.borrow();
    let mut values: Vec<String> = Vec::new();
    for name in call.text(0).trim().split('|').filter(|name| !name.is_empty()) {
        let count = variables
            .get(&format!("{name}_matchNr"))
            .and_then(|count| count.parse().ok())
            .unwrap_or(0);
        if count > 0 {
            let all =
                (1..=count).map_while(|number: u64| variables.get(&format!("{name}_{number}")));
            values.extend(all.map(str::to_owned));
        } else {
            values.extend(variables.get(name).filter(|value| !value.is_empty()).map(str::to_owned));
        }
    }
    drop(variables);
    // An empty range would panic. Without values, the result is empty.
    let number = call.user.worker.random.borrow_mut().random_range(0..values.len().max(1));
    call.into_variable(1, values.into_iter().nth(number).unwrap_or_default())
}

fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn uniform(call: &Call<'_>) -> String {
    let range = call.decimal(0).unwrap_or(0.0);
    let offset = call.user.worker.random.borrow_mut().random::<f64>() * range;
    format_number(offset + call.decimal(1).unwrap_or(0.0))
}

fn gaussian(call: &Call<'_>) -> String {
    let deviation = call.decimal(0).unwrap_or(0.0);
    let mean = call.decimal(1).unwrap_or(0.0);
    let mut random = call.user.worker.random.borrow_mut();
    // Box and Muller, 1958. 1 − u is in (0, 1], so its logarithm is finite.
    let u = 1.0 - random.random::<f64>();
    let v: f64 = random.random();
    let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    format_number((normal * deviation + mean).abs())
}

fn exponential(call: &Call<'_>) -> String {
    // 1 − u is in (0, 1], so its logarithm is finite.
    let u: f64 = 1.0 - call.user.worker.random.borrow_mut().random::<f64>();
    format_number(-u.ln() * call.decimal(0).unwrap_or(0.0) + call.decimal(1).unwrap_or(0.0))
}

fn format_number(number: f64) -> String {
    let mut text = String::new();
    let _ = write!(text, "{number:.3}"); // a String takes anything
    text
}

fn double_sum(call: &Call<'_>) -> String {
    let last = call.arguments.len() - 1;
    let sum = number::double((0..=last).filter_map(|number| call.decimal(number)).sum());
    if call.decimal(last).is_some() { sum } else { call.into_variable(last, sum) }
}

fn sum(call: &Call<'_>) -> String {
    let last = call.arguments.len() - 1;
    let terms = (0..=last).filter_map(|number| call.number(number));
    let sum = terms.fold(0_i64, i64::wrapping_add).to_string();
    if call.number(last).is_some() { sum } else { call.into_variable(last, sum) }
}
