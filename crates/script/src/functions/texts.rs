//! Encoding, case and parts of texts.

use super::{Call, Function};
use crate::template::form_encoded;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["urlencode"],
        arguments: 1..=1,
        about: "encoded for a form or query",
        call: |call| form_encoded(call.text(0)),
    },
    Function { names: &["urldecode"], arguments: 1..=1, about: "decoded from a form or query", call: urldecode },
    Function {
        names: &["lowercase"],
        arguments: 1..=2,
        about: "in lower case",
        call: |call| call.into_variable(1, call.text(0).to_lowercase()),
    },
    Function {
        names: &["uppercase"],
        arguments: 1..=2,
        about: "in upper case",
        call: |call| call.into_variable(1, call.text(0).to_uppercase()),
    },
    Function { names: &["base64"], arguments: 1..=1, about: "in base64", call: |call| STANDARD.encode(call.text(0)) },
    Function {
        names: &["split"],
        arguments: 1..=3,
        about: "sets NAME_1, NAME_2, … to the parts of a text: text, NAME, delimiter",
        call: split,
    },
];

fn urldecode(call: &Call<'_>) -> String {
    let text = call.text(0).replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

fn split(call: &Call<'_>) -> String {
    let (text, name) = (call.text(0), call.text(1).trim());
    let delimiter = if call.text(2).is_empty() { "," } else { call.text(2) };
    let mut variables = call.user.variables.borrow_mut();
    let mut count = 0;
    for part in text.split(delimiter) {
        count += 1;
        // JMeter gives empty parts a mark.
        variables.set(&format!("{name}_{count}"), if part.is_empty() { "?" } else { part });
    }
    variables.set(name, text);
    variables.set(&format!("{name}_n"), &count.to_string());
    variables.remove(&format!("{name}_{}", count + 1));
    text.to_owned()
}
