//! Functions for the encoding, case and parts of texts.

use super::{Call, Function};
use crate::texts::encoding::form_encoded;
use crate::texts::hexadecimal::hexadecimal;
use crate::texts::limits;
use crate::texts::pattern::{GroupTemplate, Pattern};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use percent_encoding::percent_decode_str;
use rand::RngExt;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

/// Functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["urlencode"],
        arguments: 1..=1,
        about: "encoded for a form or query",
        call: |call| form_encoded(call.text(0)),
    },
    Function {
        names: &["urldecode"],
        arguments: 1..=1,
        about: "decoded from a form or query",
        call: urldecode,
    },
    Function {
        names: &["lowercase", "toLowerCase"],
        arguments: 1..=2,
        about: "in lower case",
        call: |call| call.into_variable(1, call.text(0).to_lowercase()),
    },
    Function {
        names: &["uppercase", "toUpperCase"],
        arguments: 1..=2,
        about: "in upper case",
        call: |call| call.into_variable(1, call.text(0).to_uppercase()),
    },
    Function {
        names: &["changeCase"],
        arguments: 1..=3,
        about: "in another case: text, UPPER (default), LOWER or CAPITALIZE, variable",
        call: change_case,
    },
    Function {
        names: &["trim"],
        arguments: 1..=2,
        about: "without space around it; variable",
        call: |call| call.into_variable(1, call.text(0).trim().to_owned()),
    },
    Function {
        names: &["strLen"],
        arguments: 1..=2,
        about: "how many characters a text has; variable",
        // Java counts the units of UTF-16.
        call: |call| call.into_variable(1, call.text(0).encode_utf16().count().to_string()),
    },
    Function {
        names: &["substring"],
        arguments: 3..=4,
        about: "a part of a text: text, its first character from 0, the one after its last, variable",
        call: substring,
    },
    Function {
        names: &["strReplace"],
        arguments: 3..=4,
        about: "a text with another in place of each part: text, part, other, variable",
        call: |call| {
            let text = limits::replace(call.text(0), call.text(1), call.text(2));
            call.limited_into_variable(3, text)
        },
    },
    Function {
        names: &["strReplaceRegex"],
        arguments: 3..=4,
        about: "the same with a regular expression: text, expression, other, variable",
        call: |call| {
            let text = match regex::Regex::new(call.text(1)) {
                Ok(regex) => limits::replace_regex(&regex, call.text(0), 0, call.text(2)),
                Err(_) => Some(call.text(0).to_owned()),
            };
            call.limited_into_variable(3, text)
        },
    },
    Function {
        names: &["if"],
        arguments: 4..=5,
        about: "one of two texts: text, the text that it must be, then, otherwise, variable",
        call: |call| {
            call.into_variable(
                4,
                call.text(if call.text(0) == call.text(1) { 2 } else { 3 }).to_owned(),
            )
        },
    },
    Function {
        names: &["base64", "base64Encode"],
        arguments: 1..=2,
        about: "in base64; variable",
        call: |call| call.into_variable(1, STANDARD.encode(call.text(0))),
    },
    Function {
        names: &["base64Decode"],
        arguments: 1..=2,
        about: "decoded from base64; variable",
        call: |call| {
            let bytes = STANDARD.decode(call.text(0).trim()).unwrap_or_default();
            call.into_variable(1, String::from_utf8_lossy(&bytes).into_owned())
        },
    },
    Function {
        names: &["digest"],
        arguments: 2..=5,
        about: "a digest in hexadecimal: MD5, SHA-1, SHA-224, SHA-256, SHA-384 or SHA-512, text, salt, TRUE for upper case, variable",
        call: |call| digest(call).map_or_else(String::new, |text| call.into_variable(4, text)),
    },
    Function {
        names: &["MD5"],
        arguments: 1..=2,
        about: "the MD5 digest in hexadecimal; variable",
        call: |call| call.into_variable(1, hexadecimal(&Md5::digest(call.text(0)))),
    },
    Function {
        names: &["regexFunction"],
        arguments: 2..=7,
        about: "a match of a regular expression in a variable: expression, template such as $1$, number (or ALL, RAND), text between, default, variable, input variable",
        call: regex_function,
    },
    Function {
        names: &["split"],
        arguments: 1..=3,
        about: "sets NAME_1, NAME_2, … to the parts of a text: text, NAME, delimiter",
        call: split,
    },
];

fn change_case(call: &Call<'_>) -> String {
    let text = call.text(0);
    let changed = match call.text(1).trim() {
        "" | "UPPER" => text.to_uppercase(),
        "LOWER" => text.to_lowercase(),
        "CAPITALIZE" => {
            let mut characters = text.chars();
            characters
                .next()
                .map(|first| first.to_uppercase().chain(characters).collect())
                .unwrap_or_default()
        }
        _ => text.to_owned(),
    };
    call.into_variable(2, changed)
}

fn digest(call: &Call<'_>) -> Option<String> {
    let bytes = call.text(1).to_owned() + call.text(2);
    let digest = match call.text(0).trim().to_ascii_uppercase().as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA-1" | "SHA1" | "SHA" => Sha1::digest(bytes).to_vec(),
        "SHA-224" => Sha224::digest(bytes).to_vec(),
        "SHA-256" => Sha256::digest(bytes).to_vec(),
        "SHA-384" => Sha384::digest(bytes).to_vec(),
        "SHA-512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    };
    let text = hexadecimal(&digest);
    Some(if call.text(3).trim().eq_ignore_ascii_case("true") { text.to_uppercase() } else { text })
}

fn regex_function(call: &Call<'_>) -> String {
    /// Maximum number of matches.
    const MAX_MATCHES: usize = 100_000;
    let input =
        call.user.variables.borrow().get(call.text(6).trim()).unwrap_or_default().to_owned();
    let matches = Pattern::new(call.text(0))
        .map(|pattern| pattern.find_all(&input, MAX_MATCHES))
        .unwrap_or_default();
    let name = call.text(5).trim();
    let default = call.text(4).to_owned();
    if !name.is_empty() {
        call.user
            .variables
            .borrow_mut()
            .set(&format!("{name}_matchNr"), &matches.len().to_string());
    }
    let template = GroupTemplate::new(call.text(1));
    let one = match call.text(2).trim() {
        _ if matches.is_empty() => None,
        "ALL" => {
            let all = matches.iter().map(|groups| template.text(groups));
            return call.limited_into_variable(5, limits::join(all, call.text(3)));
        }
        "RAND" => {
            Some(&matches[call.user.worker.random.borrow_mut().random_range(0..matches.len())])
        }
        "" => matches.first(),
        number => {
            number.parse::<usize>().ok().and_then(|number| matches.get(number.checked_sub(1)?))
        }
    };
    let text = one.map(|groups| template.text(groups));
    call.into_variable(5, text.unwrap_or(default))
}

fn substring(call: &Call<'_>) -> String {
    let part: String = call.text(0).chars().take(index(call, 2)).skip(index(call, 1)).collect();
    call.into_variable(3, part)
}

/// Returns an argument as an index; 0 if it is none.
fn index(call: &Call<'_>, number: usize) -> usize {
    call.number(number).and_then(|index| usize::try_from(index).ok()).unwrap_or(0)
}

fn urldecode(call: &Call<'_>) -> String {
    let text = call.text(0).replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

fn split(call: &Call<'_>) -> String {
    let text = call.text(0);
    let name = call.text(1).trim();
    let delimiter = if call.text(2).is_empty() { "," } else { call.text(2) };
    let mut variables = call.user.variables.borrow_mut();
    let mut count = 0;
    for part in text.split(delimiter) {
        count += 1;
        // JMeter replaces empty parts by a mark.
        variables.set(&format!("{name}_{count}"), if part.is_empty() { "?" } else { part });
    }
    variables.set(name, text);
    variables.set(&format!("{name}_n"), &count.to_string());
    // This ends the list: an earlier text may have had more parts.
    variables.remove(&format!("{name}_{}", count + 1));
    text.to_owned()
}
