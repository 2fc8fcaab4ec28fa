//! Completes the requests of every format: servers, secrets, names, and shared header fields.

use crate::plan::{Constant, ImportedPlan, ImportedRequest, Variable};
use crate::secrets::{Names, Secrets};
use crate::text::{self, TextPiece, variable};
use brunt_model::secret::is_secret_field;
use brunt_spec::words::values;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Placeholder server, if the input names none.
pub const NO_SERVER: &str = "http://127.0.0.1:8080";

/// Header fields that are not shared, since they depend on the request.
const UNSHARED_FIELDS: [&str; 3] = ["content-type", "referer", "origin"];

/// Maximum length of a path that serves as a name, in characters.
const MAX_NAME_LENGTH: usize = 60;

/// Completes a plan: removes invalid header fields, introduces variables for servers and secrets,
/// names requests and shares header fields. `names` are the names that its variables already use;
/// new ones are added. `given_base` replaces the server of the input.
pub fn finish(plan: &mut ImportedPlan, names: &mut Names, given_base: Option<&str>) {
    remove_invalid_fields(plan);
    assign_servers(plan, names, given_base);
    let mut secrets = Secrets::default();
    for request in plan.requests.iter_mut() {
        secrets.hide_in(names, request);
    }
    for (name, values) in plan.connection.iter_mut().filter(|(name, _)| is_secret_field(name)) {
        for value in values {
            *value = secrets.hide(names, name, value);
        }
    }
    plan.vars.append(&mut secrets.vars);
    finish_requests(plan);
}

/// Completes a plan like [`finish`], from an input that is public, so that none of its values is a secret.
pub fn finish_public(plan: &mut ImportedPlan, names: &mut Names, given_base: Option<&str>) {
    remove_invalid_fields(plan);
    assign_servers(plan, names, given_base);
    finish_requests(plan);
}

fn finish_requests(plan: &mut ImportedPlan) {
    plan.requests.iter_mut().for_each(set_name);
    share_headers(plan);
    note_environment(plan);
}

/// Adds a note with one command that sets all variables that the plan takes from the environment.
fn note_environment(plan: &mut ImportedPlan) {
    let needed: Vec<String> = plan
        .vars
        .iter()
        .filter_map(|variable| match &variable.value {
            Constant::Environment(name) => Some(format!("{name}=…")),
            Constant::Text(_) => None,
        })
        .collect();
    if needed.len() > 1 {
        plan.notes.push(format!("Before a run: export {}", needed.join(" ")));
    }
}

/// Removes header fields that HTTP does not allow (RFC 9110 sections 5.1 and
/// 5.5). Their names and counts are added to `left_out`.
fn remove_invalid_fields(plan: &mut ImportedPlan) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for request in plan.requests.iter_mut() {
        request.headers.retain(|(name, value)| {
            let is_allowed = values::header_field(name, value).is_ok();
            if !is_allowed {
                *counts.entry(name.clone()).or_default() += 1;
            }
            is_allowed
        });
    }
    let fields = counts.iter().map(|(name, count)| {
        format!("the header field `{name}` ({count}), whose name or value HTTP does not allow")
    });
    plan.left_out.extend(fields);
}

/// Replaces the servers of requests, and of the fields Referer and Origin, by variables.
///
/// The base is the plan's, else the most frequent server if no request is relative, else a
/// placeholder with a note. `given_base` is used as its value instead. Requests to the base have
/// an empty server afterwards. No effect on a plan without servers and relative requests.
///
/// A server whose variable [cannot precede a path](can_precede_path), such as one from the
/// environment, stays in its URLs, because its value may end with a slash or contain a query.
fn assign_servers(plan: &mut ImportedPlan, names: &mut Names, given_base: Option<&str>) {
    let mut servers: Vec<String> = Vec::new();
    let mut websockets: Vec<String> = Vec::new();
    let prefixes: HashSet<String> = plan
        .vars
        .iter()
        .filter(|variable| can_precede_path(variable))
        .map(|variable| variable.name.clone())
        .collect();
    let is_fixed = |server: &str| {
        text::pieces(server)
            .iter()
            .all(|piece| !matches!(piece, TextPiece::Variable(name) if !prefixes.contains(*name)))
    };
    let mut has_relative = false;
    for request in plan.requests.iter_mut() {
        has_relative |= request.server.is_empty();
        if request.server.is_empty() || request.path.is_empty() || !is_fixed(&request.server) {
            continue;
        }
        let list = if request.is_websocket { &mut websockets } else { &mut servers };
        list.push(request.server.clone());
    }
    if servers.is_empty() && websockets.is_empty() && !has_relative {
        return;
    }
    let base = if plan.base.is_empty() && !has_relative {
        most_frequent(servers.iter()).or(websockets.first()).cloned().unwrap_or_default()
    } else {
        plan.base.clone()
    };
    let base = if base.is_empty() && given_base.is_none() {
        plan.notes.push(format!(
            "The input names no server: put yours into `base`, or run with --set base={NO_SERVER}"
        ));
        NO_SERVER.to_owned()
    } else {
        base
    };
    let mut variables = Vec::new();
    // A variable of the plan can be the base itself.
    let base_variable = match text::pieces(&base)[..] {
        [TextPiece::Variable(name)] => plan.vars.iter_mut().find(|variable| variable.name == name),
        [TextPiece::Literal(url)] => {
            plan.vars.iter_mut().find(|variable| variable.value == Constant::Text(url.to_owned()))
        }
        _ => None,
    };
    let base_name = match (base_variable, given_base) {
        (Some(base_variable), given) => {
            if let Some(given) = given {
                base_variable.value = Constant::Text(given.trim_end_matches('/').to_owned());
            }
            base_variable.name.clone()
        }
        (None, given) => {
            let name = names.take("base");
            let value = given.unwrap_or(&base).trim_end_matches('/').to_owned();
            let comment = "the server; --set base=… measures another".to_owned();
            variables.push(Variable { name: name.clone(), value: Constant::Text(value), comment });
            name
        }
    };
    plan.base = variable(&base_name);
    let mut by_server = HashMap::from([(base, String::new())]);
    for server in servers.iter().chain(&websockets) {
        if by_server.contains_key(server) {
            continue;
        }
        let same =
            plan.vars.iter().find(|variable| variable.value == Constant::Text(server.clone()));
        if let Some(same) = same {
            let server_name =
                if same.name == base_name { String::new() } else { variable(&same.name) };
            by_server.insert(server.clone(), server_name);
        } else if !text::has_variable(server) {
            let host = server.split("://").last().unwrap_or_default();
            let is_websocket = server.starts_with("ws");
            let word = host.split(['.', ':']).next().unwrap_or_default();
            let name = names.take(if is_websocket { "websocket" } else { word });
            by_server.insert(server.clone(), variable(&name));
            variables.push(Variable::constant(name, server.clone()));
        }
    }
    variables.append(&mut plan.vars);
    plan.vars = variables;
    let base = &plan.base;
    for request in plan.requests.iter_mut() {
        for (name, value) in &mut request.headers {
            if ["referer", "origin"].iter().any(|known| name.eq_ignore_ascii_case(known)) {
                *value = with_server_variable(value, base, &by_server);
            }
        }
        if let Some(server) = by_server.get(&request.server).filter(|_| !request.path.is_empty()) {
            request.server.clone_from(server);
        }
    }
}

/// True if a path can be appended to the value of a variable: a text without `/` at its end and
/// without a query. False for the value of an environment variable, which is unknown.
fn can_precede_path(variable: &Variable) -> bool {
    match &variable.value {
        Constant::Text(value) => {
            !value.is_empty() && !value.ends_with('/') && !value.contains(['?', '#'])
        }
        Constant::Environment(_) => false,
    }
}

/// The most frequent value; of equally frequent ones, the first. None without values.
pub fn most_frequent<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    // Of equal counts `max_by_key` returns the last.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

/// Replaces the server of a URL in a header field by its variable: `base` if `by_server` has an
/// empty text. An unknown server stays.
fn with_server_variable(url: &str, base: &str, by_server: &HashMap<String, String>) -> String {
    let end =
        url.find("://").and_then(|at| url[at + 3..].find(['/', '?', '#']).map(|end| at + 3 + end));
    let end = end.unwrap_or(url.len());
    let (server, path) = url.split_at(end);
    match by_server.get(server) {
        Some(name) if name.is_empty() => format!("{base}{path}"),
        Some(name) => format!("{name}{path}"),
        None => url.to_owned(),
    }
}

/// Names a request that has no name, and has a query or a long path: by method (unless GET),
/// variable of the server, and the beginning of the path.
fn set_name(request: &mut ImportedRequest) {
    let has_query = request.raw_query.is_some();
    // The figures of requests that differ in their query are summed under one name.
    if request.name.is_none() && (has_query || request.path.len() > MAX_NAME_LENGTH) {
        let path: String = request.path.chars().take(MAX_NAME_LENGTH).collect();
        let server = text::pieces(&request.server);
        let server = match server[..] {
            [TextPiece::Variable(name)] => format!("{name} "),
            _ => String::new(),
        };
        request.name = Some(match request.method.as_str() {
            "GET" => format!("{server}{path}"),
            method => format!("{method} {server}{path}"),
        });
    }
}

/// Moves header fields to the plan that every request has exactly once, more than half of them with
/// the same value. Requests with a different value keep their own.
fn share_headers(plan: &mut ImportedPlan) {
    let mut total = 0;
    let mut names: Vec<String> = Vec::new();
    let mut repeated: HashSet<String> = HashSet::new();
    let mut counts: HashMap<String, (usize, HashMap<String, usize>)> = HashMap::new();
    // The handshake of a WebSocket has other fields.
    for request in plan.requests.iter_mut().filter(|request| !request.is_websocket) {
        total += 1;
        let mut names_of_request = HashSet::new();
        for (name, value) in &request.headers {
            let lower = name.to_ascii_lowercase();
            if !names_of_request.insert(lower.clone()) {
                repeated.insert(lower);
                continue;
            }
            if UNSHARED_FIELDS.contains(&lower.as_str()) {
                continue;
            }
            if !counts.contains_key(&lower) {
                names.push(name.clone());
            }
            let (count, values) = counts.entry(lower).or_default();
            *count += 1;
            *values.entry(value.clone()).or_default() += 1;
        }
    }
    if total < 2 {
        return;
    }
    for name in names {
        let Some((count, values)) = counts.get(&name.to_ascii_lowercase()) else { continue };
        // Of equally frequent values, the first by name, so that the result is reproducible.
        let Some((value, times)) =
            values.iter().max_by_key(|(value, times)| (**times, std::cmp::Reverse(*value)))
        else {
            continue;
        };
        // A request that lacks a field must not get it. A repeated field cannot be shared.
        let is_shared =
            *count == total && *times * 2 > total && !repeated.contains(&name.to_ascii_lowercase());
        if is_shared {
            plan.headers.push((name.clone(), value.clone()));
        }
    }
    let shared = &plan.headers;
    for request in plan.requests.iter_mut() {
        request.headers.retain(|(name, value)| {
            !shared.iter().any(|(other, same)| other.eq_ignore_ascii_case(name) && same == value)
        });
    }
}
