//! Converts test scripts: checks of the status, and variables set from JSON replies. Other lines
//! are left out, with a comment.

use super::variables::Variables;
use brunt_har::json::JsonNode;
use brunt_har::plan::ImportedRequest;
use brunt_model::extract::{ExtractFrom, Extractor};
use serde_json::Value;
use std::collections::HashSet;

/// Calls that set a variable.
const SETTERS: [&str; 8] = [
    "pm.environment.set(",
    "pm.collectionVariables.set(",
    "pm.globals.set(",
    "pm.variables.set(",
    "postman.setEnvironmentVariable(",
    "postman.setGlobalVariable(",
    "pm.environment.unset(",
    "pm.collectionVariables.unset(",
];

/// Expressions for the whole reply as JSON.
const REPLIES: [&str; 3] =
    ["pm.response.json()", "JSON.parse(responseBody)", "JSON.parse(pm.response.text())"];

/// The lines of an item's scripts for an event.
fn lines(item: &Value, event: &str) -> Vec<String> {
    let events = item["event"].as_array().map_or(&[][..], Vec::as_slice);
    let of_event = events.iter().filter(|one| one["listen"] == event && one["disabled"] != true);
    let code = of_event.flat_map(|one| match &one["script"]["exec"] {
        Value::Array(lines) => {
            lines.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        }
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    });
    let code = code.collect::<Vec<_>>().join("\n");
    code.lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect()
}

/// True if the item has a script for the event.
pub(super) fn has_code(item: &JsonNode<'_>, event: &str) -> bool {
    !lines(item.value, event).is_empty()
}

/// Collects the variables that scripts set from replies, in the whole collection.
pub(super) fn set_anywhere(item: &Value, depth: usize, names: &mut HashSet<String>) {
    let code = lines(item, "test");
    let replies = replies(&code);
    names.extend(code.iter().filter_map(|line| setter(line, &replies)).map(|(name, _)| name));
    if depth < 100 {
        let items = item["item"].as_array().map_or(&[][..], Vec::as_slice);
        for item in items {
            set_anywhere(item, depth + 1, names);
        }
    }
}

/// Converts the scripts of a request.
pub(super) fn translate(
    item: &JsonNode<'_>,
    variables: &mut Variables<'_>,
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    if has_code(item, "prerequest") {
        comments.push("left out: its pre-request script".to_owned());
    }
    let code = lines(item.value, "test");
    let replies = replies(&code);
    let mut left_out = Vec::new();
    for line in &code {
        if let Some(status) = status(line) {
            request.status = Some(status);
        } else if let Some((name, path)) = setter(line, &replies) {
            let name = variables.reference(&name);
            if !request.extract.iter().any(|known| known.variable == name) {
                request.extract.push(Extractor::new(&name, ExtractFrom::JsonPath(path)));
            }
        } else if !is_frame(line) && reply_name(line).is_none() {
            left_out.push(line);
        }
    }
    if let Some(first) = left_out.first() {
        let first: String = first.chars().take(60).collect();
        let number = left_out.len();
        let lines = if number == 1 { "line" } else { "lines" };
        comments.push(format!("left out: {number} {lines} of its test script, the first: {first}"));
    }
}

/// True for lines that only enclose others.
fn is_frame(line: &str) -> bool {
    let is_begin = line.starts_with("pm.test(") && line.ends_with('{');
    is_begin || line.chars().all(|c| "(){};,".contains(c))
}

/// Names of variables that hold the reply as JSON.
fn replies(code: &[String]) -> Vec<String> {
    code.iter().filter_map(|line| reply_name(line)).collect()
}

/// The name in `var name = pm.response.json();`.
fn reply_name(line: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    let name = ["var ", "let ", "const "]
        .iter()
        .fold(name.trim(), |name, word| name.strip_prefix(word).unwrap_or(name))
        .trim();
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && REPLIES.contains(&value.trim().trim_end_matches(';'))).then(|| name.to_owned())
}

/// The statuses that a line requires.
fn status(line: &str) -> Option<String> {
    let heads = [
        "pm.response.to.have.status(",
        "pm.expect(pm.response.code).to.equal(",
        "pm.expect(pm.response.code).to.eql(",
        "pm.expect(pm.response.code).to.be.oneOf(",
        "pm.expect(pm.response.status).to.equal(",
    ];
    let arguments = heads.iter().find_map(|head| line.split_once(head))?.1;
    let (inner, _) = arguments.split_once(')')?;
    let numbers: Vec<&str> = inner.trim_matches(['[', ']']).split(',').map(str::trim).collect();
    numbers.iter().all(|number| is_status(number)).then(|| numbers.join(","))
}

fn is_status(number: &str) -> bool {
    number.len() == 3 && number.parse().is_ok_and(|status: u16| (100..600).contains(&status))
}

/// The variable that a line sets from the reply, and the `JSONPath` of its value.
fn setter(line: &str, replies: &[String]) -> Option<(String, String)> {
    let (_, arguments) = SETTERS.iter().find_map(|head| line.split_once(head))?;
    let quote = arguments.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    let (name, arguments) = arguments[1..].split_once(quote)?;
    let value = arguments.trim_start().strip_prefix(',')?.trim();
    let value = value.trim_end_matches(';').trim_end().strip_suffix(')')?.trim();
    let names = replies.iter().map(String::as_str).chain(REPLIES);
    let path = names.filter_map(|name| value.strip_prefix(name)).find(|path| is_path(path))?;
    Some((name.to_owned(), format!("${path}")))
}

/// True for a path such as `.a.b[0].c`.
fn is_path(path: &str) -> bool {
    let mut rest = path;
    while !rest.is_empty() {
        let length = if let Some(name) = rest.strip_prefix('.') {
            let word =
                name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
            if word == 0 || name.starts_with(|c: char| c.is_ascii_digit()) {
                return false;
            }
            word + 1
        } else {
            let Some((index, _)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'))
            else {
                return false;
            };
            if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
                return false;
            }
            index.len() + 2
        };
        rest = &rest[length..];
    }
    !path.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_lines_are_converted() {
        assert_eq!(status("pm.response.to.have.status(201);").as_deref(), Some("201"));
        assert_eq!(
            status("pm.expect(pm.response.code).to.be.oneOf([200, 204]);").as_deref(),
            Some("200,204")
        );
        assert_eq!(status("pm.response.to.have.status(\"OK\");"), None);
        let replies = vec!["data".to_owned()];
        let set = |line: &str| setter(line, &replies);
        let expected = Some(("id".to_owned(), "$.items[0].id".to_owned()));
        assert_eq!(set("pm.environment.set(\"id\", data.items[0].id);"), expected);
        assert_eq!(
            set("pm.collectionVariables.set('id', pm.response.json().items[0].id)"),
            expected
        );
        assert_eq!(set("pm.environment.set(\"id\", data.items.map(x => x.id));"), None);
        assert_eq!(reply_name("const data = pm.response.json();").as_deref(), Some("data"));
        // A method call is not a path.
        assert!(!is_path(".a()") && !is_path("") && !is_path("[x]"));
    }
}
