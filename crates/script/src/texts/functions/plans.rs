//! Functions for imported JMeter plans, where one text replaces several settings.

use super::{Call, Function};
use rand_distr::{Distribution, Poisson};

/// The functions of this module.
pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["requestUrl"],
        arguments: 4..=4,
        about: "a URL of protocol, host, port and path, each of which may be empty; a path that is a URL is taken as it is",
        call: |call| request_url(call.text(0), call.text(1), call.text(2), call.text(3)),
    },
    Function {
        names: &["formatted"],
        arguments: 2..=2,
        about: "a whole number by a format such as `000`",
        call: |call| {
            call.number(0)
                .map_or_else(|| call.text(0).to_owned(), |number| padded(number, call.text(1)))
        },
    },
    Function {
        names: &["joined"],
        arguments: 1..=2,
        about: "the values of NAME_1 to NAME_matchNr: NAME, text between",
        call: joined,
    },
    Function {
        names: &["tstFeedback"],
        arguments: 4..=4,
        about: "the most users that a schedule of rates may take: timer, first users, most users, spare users",
        call: |call| call.text(2).trim().to_owned(),
    },
    Function {
        names: &["poisson"],
        arguments: 1..=2,
        about: "a whole number of a Poisson distribution: mean, and the second added",
        call: poisson,
    },
    Function {
        names: &["fifoPut"],
        arguments: 2..=2,
        about: "puts a text into a queue of all users: queue, text",
        call: |call| {
            call.user.worker.shared_state.push(call.text(0).trim(), call.text(1));
            call.text(1).to_owned()
        },
    },
    Function {
        names: &["fifoPop"],
        arguments: 1..=2,
        about: "takes the first text of a queue, empty where there is none: queue, variable",
        call: |call| {
            let text = call.user.worker.shared_state.take(call.text(0).trim());
            call.into_variable(1, text.unwrap_or_default())
        },
    },
    Function {
        names: &["fifoGet"],
        arguments: 1..=2,
        about: "the first text of a queue, which stays: queue, variable",
        call: |call| {
            let (text, _) = call.user.worker.shared_state.peek(call.text(0).trim());
            call.into_variable(1, text.unwrap_or_default())
        },
    },
    Function {
        names: &["fifoSize"],
        arguments: 1..=2,
        about: "how many texts a queue holds: queue, variable",
        call: |call| {
            let (_, size) = call.user.worker.shared_state.peek(call.text(0).trim());
            call.into_variable(1, size.to_string())
        },
    },
];

/// Returns the URL of protocol, host, port and path, by JMeter's rules. Each may be empty; a path
/// that is a URL is used unchanged. An IPv6 address is put in brackets.
pub fn request_url(protocol: &str, host: &str, port: &str, path: &str) -> String {
    // JMeter does not trim the host, and refuses it with spaces.
    let [protocol, port, path] = [protocol, port, path].map(str::trim);
    // JMeter encodes spaces of the path, and nothing else. Spaces in expressions do not
    // belong to the path.
    let path = &if path.contains("${") { path.to_owned() } else { path.replace(' ', "%20") };
    if path.starts_with("http://") || path.starts_with("https://") {
        return path.to_owned();
    }
    let protocol = if protocol.is_empty() { "http" } else { protocol }.to_ascii_lowercase();
    // JMeter ignores a port that is no number.
    let port = port.parse::<i32>().unwrap_or_default();
    let is_default = matches!((protocol.as_str(), port), (_, 0) | ("http", 80) | ("https", 443));
    let port = if is_default { String::new() } else { format!(":{port}") };
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let is_ipv6 = host.contains(':') && !host.starts_with('[') && !host.contains("${");
    let (open, close) = if is_ipv6 { ("[", "]") } else { ("", "") };
    format!("{protocol}://{open}{host}{close}{port}{slash}{path}")
}

fn joined(call: &Call<'_>) -> String {
    let name = call.text(0).trim();
    let variables = call.user.variables.borrow();
    let count = variables
        .get(&format!("{name}_matchNr"))
        .and_then(|count| count.trim().parse::<u32>().ok());
    let values = (1..=count.unwrap_or_default())
        .map_while(|number| variables.get(&format!("{name}_{number}")));
    values.collect::<Vec<_>>().join(call.text(1))
}

fn poisson(call: &Call<'_>) -> String {
    let offset = call.decimal(1).unwrap_or_default();
    let mut random = call.user.worker.random.borrow_mut();
    let value = call
        .decimal(0)
        .and_then(|mean| Poisson::new(mean).ok())
        .map(|poisson| poisson.sample(&mut *random));
    format!("{:.0}", value.unwrap_or_default() + offset)
}

/// Formats a number by a format such as `000`.
pub(crate) fn padded(value: i64, format: &str) -> String {
    let digits = format.chars().filter(char::is_ascii_digit).count();
    let text = format!("{:0digits$}", value.unsigned_abs());
    let Some(first) = format.find(is_digit_place) else { return format!("{format}{value}") };
    let last = format.rfind(is_digit_place).unwrap_or(first);
    let sign = if value < 0 { "-" } else { "" };
    format!("{}{sign}{text}{}", &format[..first], &format[last + 1..])
}

fn is_digit_place(character: char) -> bool {
    character == '#' || character.is_ascii_digit()
}
