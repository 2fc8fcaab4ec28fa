//! The YAML of a plan.

mod body;

use crate::body::MULTIPART;
use crate::error::ImportError;
use crate::plan::{Constant, Extractor, ImportedPlan, Request, Step, StepKind};
use crate::text::{self, Piece, Place, in_plan};
use body::BodyLines;
use brunt_script::template::form_encoded;
use brunt_spec::plan::write::scalar;
use scalar::{double_quoted, flow, flow as key, plain};
use std::collections::HashSet;
use std::time::Duration;

/// The most bytes of a plan file, as `spec` reads it.
const MOST_BYTES: usize = 1 << 20;

/// Methods with a step of the same name.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The most characters of a line that is written in one piece.
const WIDE: usize = 100;

/// Writes a plan.
///
/// # Errors
///
/// [`ImportError`] if it has no request, or is longer than a plan file may be.
pub fn yaml(plan: &ImportedPlan, file: &str) -> Result<String, ImportError> {
    let mut has_request = false;
    crate::plan::each_request(&mut plan.steps.clone(), &mut |_| has_request = true);
    if !has_request {
        let reasons = plan.left_out.join(", ");
        let wrong =
            if reasons.is_empty() { "no request".to_owned() } else { format!("all requests are left out: {reasons}") };
        return Err(ImportError::new(file, wrong, "at least one is expected"));
    }
    let lines = Writer { fixed: plan.vars.iter().map(|variable| variable.name.clone()).collect() }.plan(plan);
    let text = lines.join("\n") + "\n";
    if text.len() > MOST_BYTES {
        let wrong = format!(
            "the plan has {:.1} MB, and a plan file has {:.1} MB at most",
            text.len() as f64 / 1e6,
            MOST_BYTES as f64 / 1e6
        );
        let instead = "import a part of it, with --only, --tag or --host where `brunt import FORMAT --help` has them";
        return Err(ImportError::new(file, wrong, instead));
    }
    Ok(text)
}

/// Writes parts as lines, without the indentation of what is around them.
struct Writer {
    /// The variables of the plan, which are filled in before those of the user.
    fixed: HashSet<String>,
}

impl Writer {
    fn plan(&self, plan: &ImportedPlan) -> Vec<String> {
        let mut out = comment(&plan.about);
        plan.left_out.iter().for_each(|part| out.extend(comment(&format!("Left out: {part}."))));
        plan.notes.iter().for_each(|note| out.extend(comment(note)));
        out.push(String::new());
        if !plan.vars.is_empty() {
            out.push("vars:".to_owned());
            out.extend(indented(plan.vars.iter().flat_map(|variable| {
                let value = match &variable.value {
                    Constant::Text(value) => self.text(value, Place::Encoded),
                    Constant::Environment(name) => format!("${{env.{name}}}"),
                };
                with_comment(pair(&variable.name, &value), &variable.comment)
            })));
            out.push(String::new());
        }
        out.push("load:".to_owned());
        out.push("  users: 1        # --set load.users=50, or load.rate=20 for 20 iterations per second".to_owned());
        out.push("  duration: 10s".to_owned());
        out.push("repetitions: 1".to_owned());
        out.push(String::new());
        if !plan.connection.is_empty() {
            out.push("connection:".to_owned());
            out.extend(indented(plan.connection.iter().flat_map(|(name, values)| match &values[..] {
                [value] if *name != "resolve" => pair(name, &self.text(value, Place::Encoded)),
                values => vec![format!(
                    "{name}: [{}]",
                    joined(values.iter().map(|value| flow(&self.text(value, Place::Encoded))))
                )],
            })));
            out.push(String::new());
        }
        out.push("scenario:".to_owned());
        out.extend(indented(self.scenario(plan)));
        out
    }

    fn scenario(&self, plan: &ImportedPlan) -> Vec<String> {
        let mut out = Vec::new();
        if !plan.base.is_empty() {
            out.extend(pair("base", &self.text(&plan.base, Place::Encoded)));
        }
        if let Some(follow) = plan.follow {
            out.push(format!("follow: {follow}"));
        }
        out.extend(self.map("variables", &plan.user_vars, Place::Encoded));
        out.extend(self.map("headers", &plan.headers, Place::Plain));
        out.push("steps:".to_owned());
        out.extend(self.steps(&plan.steps));
        out
    }

    fn steps(&self, steps: &[Step]) -> Vec<String> {
        let mut out = Vec::new();
        for step in steps {
            step.comments.iter().for_each(|text| out.extend(comment(text)));
            out.extend(item(&match &step.kind {
                None => Vec::new(),
                Some(StepKind::Request(request)) => self.request(request),
                Some(StepKind::Think(time)) => vec![format!("think: {}", plan_time(*time))],
                Some(StepKind::Transaction { name, steps }) => self.steps_of("transaction", name, steps),
                Some(StepKind::Group { name, steps }) => {
                    let mut lines = pair("name", &self.label(name));
                    lines.push("group:".to_owned());
                    lines.extend(self.steps(steps));
                    lines
                }
                Some(StepKind::Parallel(steps)) => {
                    let mut lines = vec!["parallel: 6".to_owned(), "steps:".to_owned()];
                    lines.extend(self.steps(steps));
                    lines
                }
                Some(StepKind::Choose(branches)) => {
                    let mut lines = vec!["choose:".to_owned()];
                    for (weight, steps) in branches {
                        let mut branch = vec![format!("weight: {weight}"), "steps:".to_owned()];
                        branch.extend(self.steps(steps));
                        lines.extend(item(&branch));
                    }
                    lines
                }
            }));
        }
        out
    }

    fn steps_of(&self, kind: &str, name: &str, steps: &[Step]) -> Vec<String> {
        let mut lines = pair(kind, &self.label(name));
        lines.push("steps:".to_owned());
        lines.extend(self.steps(steps));
        lines
    }

    fn request(&self, request: &Request) -> Vec<String> {
        let mut out = Vec::new();
        let mut url = text::encode_url(&format!("{}{}", request.server, request.path));
        let mut in_map = false;
        match &request.raw_query {
            Some(raw) if crate::body::pairs(raw) == request.query => {
                url = format!("{url}?{}", text::encode_url(raw));
                url = in_plan(&url, Place::Encoded, &|name| self.fixed.contains(name));
            }
            raw => {
                url = in_plan(&url, Place::Encoded, &|name| self.fixed.contains(name));
                out.extend(encoded_again("query", raw.as_deref()));
                in_map = is_map(&request.query) && !request.query.is_empty();
                if !in_map && !request.query.is_empty() {
                    url = format!("{url}?{}", self.encoded(&request.query));
                }
            }
        }
        let has_step = METHODS.contains(&request.method.as_str());
        out.extend(pair(if has_step { &request.method } else { "request" }.to_ascii_lowercase().as_str(), &url));
        if !has_step {
            out.extend(pair("method", &request.method));
        }
        if let Some(name) = &request.name {
            out.extend(pair("name", &self.label(name)));
        }
        if in_map {
            out.extend(self.map("query", &request.query, Place::Encoded));
        }
        let body = self.body(&request.body);
        out.extend(self.authentication(request, &body));
        out.extend(body.lines);
        if !request.extract.is_empty() {
            out.push("extract:".to_owned());
            out.extend(indented(
                request.extract.iter().map(|(name, from)| format!("{}: {}", key(name), extractor(from))),
            ));
        }
        if let Some(status) = &request.status {
            out.push(format!("check: {{status: {}}}", flow(status)));
        }
        if let Some(timeout) = request.timeout {
            out.push(format!("timeout: {}", plan_time(timeout)));
        }
        out
    }

    /// Header fields and credentials.
    fn authentication(&self, request: &Request, body: &BodyLines) -> Vec<String> {
        let mut out = Vec::new();
        let mut headers = request.headers.clone();
        let is_type = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
        headers.retain(|header| {
            !is_type(header) || body.sets.is_empty() || header.1 != body.sets && !header.1.starts_with(MULTIPART)
        });
        if !body.wants.is_empty() && !headers.iter().any(is_type) {
            headers.push(("Content-Type".to_owned(), body.wants.to_owned()));
        }
        let credentials = [("basic", &request.basic), ("digest", &request.digest)];
        for (key, pair_of_texts) in credentials {
            out.extend(pair_of_texts.iter().flat_map(|text| pair(key, &self.text(text, Place::Plain))));
        }
        let bearer = headers.iter().position(|(name, value)| name == "Authorization" && value.starts_with("Bearer "));
        if let Some(at) = bearer {
            let (_, value) = headers.remove(at);
            out.extend(pair("bearer", &self.text(value.trim_start_matches("Bearer ").trim(), Place::Plain)));
        }
        out.extend(self.headers(&headers));
        out
    }

    /// Header fields; those of the same name are a list.
    fn headers(&self, headers: &[(String, String)]) -> Vec<String> {
        let mut fields: Vec<(&str, Vec<String>)> = Vec::new();
        let mut out = vec!["headers:".to_owned()];
        for (name, value) in headers {
            let value = self.text(value, Place::Plain);
            match fields.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((known, values)) => {
                    if known != name {
                        out.push(format!("  # the name {name} is written again as {known}"));
                    }
                    values.push(value);
                }
                None => fields.push((name, vec![value])),
            }
        }
        if fields.len() == headers.len() {
            return self.map("headers", headers, Place::Plain);
        }
        out.extend(indented(fields.into_iter().flat_map(|(name, values)| match &values[..] {
            [value] => pair(name, value),
            values => vec![format!("{}: [{}]", key(name), joined(values.iter().map(|value| flow(value))))],
        })));
        out
    }

    /// A map of texts: in one line where it is short.
    fn map(&self, name: &str, entries: &[(String, String)], place: Place) -> Vec<String> {
        let entry = |(name, value): &(String, String)| (name.clone(), self.text(value, place));
        let entries: Vec<(String, String)> = entries.iter().map(entry).collect();
        if entries.is_empty() {
            return Vec::new();
        }
        let line = format!(
            "{name}: {{{}}}",
            joined(entries.iter().map(|(name, value)| format!("{}: {}", flow(name), flow(value))))
        );
        if entries.len() <= 3 && line.len() <= 80 {
            return vec![line];
        }
        let mut out = vec![format!("{name}:")];
        out.extend(indented(entries.iter().flat_map(|(name, value)| pair(name, value))));
        out
    }

    /// The parts of a form or query as one text, encoded.
    fn encoded(&self, pairs: &[(String, String)]) -> String {
        let one = |text: &str| -> String {
            let piece = |piece: Piece<'_>| match piece {
                Piece::Literal(text) => form_encoded(text),
                Piece::Variable(name) if self.fixed.contains(name) => format!("${{{name}}}"),
                Piece::Variable(name) => format!("${{urlencode(${{{name}}})}}"),
            };
            text::pieces(text).into_iter().map(piece).collect()
        };
        pairs.iter().map(|(name, value)| format!("{}={}", one(name), one(value))).collect::<Vec<_>>().join("&")
    }

    /// A name of a request or a group: variables stand in it by their names, so that it is the same for all values.
    fn label(&self, name: &str) -> String {
        let one = |piece: Piece<'_>| match piece {
            Piece::Literal(text) => text.to_owned(),
            Piece::Variable(name) => format!("{{{name}}}"),
        };
        let name: String = text::pieces(name).into_iter().map(one).collect();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        self.text(&name.chars().take(120).collect::<String>(), Place::Encoded)
    }

    fn text(&self, text: &str, place: Place) -> String {
        in_plan(text, place, &|name| self.fixed.contains(name))
    }
}

/// Writes a comment if `raw` is encoded in another way than the plan encodes the part.
fn encoded_again(part: &str, raw: Option<&str>) -> Vec<String> {
    let is_same = raw.is_none_or(|raw| crate::body::encoded(&crate::body::pairs(raw)) == raw);
    if is_same {
        return Vec::new();
    }
    comment(&format!("the {part} is encoded again, because a variable stands in it: + for a space, %XX in capitals"))
}

fn extractor(from: &Extractor) -> String {
    let quoted = |text: &str| double_quoted(&text.replace("$$", "$$$$").replace("${", "$${"));
    match from {
        Extractor::Json(path) => plain(path),
        Extractor::Css { selector, attribute } => {
            format!("{{css: {}, attribute: {}}}", quoted(selector), flow(attribute))
        }
        Extractor::Between(left, right) => format!("{{between: [{}, {}]}}", quoted(left), quoted(right)),
        Extractor::Header(name) => format!("{{header: {}}}", flow(name)),
        Extractor::Cookie(name) => format!("{{cookie: {}}}", flow(name)),
    }
}

/// Whether texts can be a map: no name stands there twice, and none has variables, which names of plans do not have.
fn is_map<T>(pairs: &[(String, T)]) -> bool {
    let mut seen = HashSet::new();
    pairs.iter().all(|(name, _)| seen.insert(name) && !name.contains('$') && !text::has_variable(name))
}

/// A time as a plan file has it: `1500ms`, `2s`.
pub(crate) fn plan_time(time: Duration) -> String {
    let millis = time.as_millis().max(1);
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

/// `name: value`, in as many lines as the value needs.
fn pair(name: &str, value: &str) -> Vec<String> {
    let name = key(name);
    match scalar::block(value) {
        Some((style, lines)) => std::iter::once(format!("{name}: {style}")).chain(indented(lines)).collect(),
        None => vec![format!("{name}: {}", plain(value))],
    }
}

fn with_comment(mut lines: Vec<String>, text: &str) -> Vec<String> {
    match &mut lines[..] {
        [line] if !text.is_empty() && line.len() + text.len() < WIDE + 15 => {
            line.extend(["  # ", &scalar::one_line(text)]);
        }
        _ if !text.is_empty() => lines.splice(0..0, comment(text)).for_each(drop),
        _ => {}
    }
    lines
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn indented(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    lines.into_iter().map(|line| if line.is_empty() { line } else { format!("  {line}") }).collect()
}

/// The lines as an item of a list. Comments stand before it.
fn item(lines: &[String]) -> Vec<String> {
    let first = lines.iter().position(|line| !line.starts_with('#')).unwrap_or(lines.len());
    let mut out: Vec<String> = lines[..first].to_vec();
    out.extend(lines[first..].iter().enumerate().map(|(number, line)| match (number, line.is_empty()) {
        (0, _) => format!("- {line}"),
        (_, true) => String::new(),
        _ => format!("  {line}"),
    }));
    out
}

fn comment(text: &str) -> Vec<String> {
    scalar::comment(&text::shown(text))
}
