//! Reads descriptions of interfaces: `OpenAPI` 3.0 and 3.1, Swagger 2.0; JSON or YAML.
//!
//! Each operation becomes a request with example values.

mod acceptance;
mod body;
mod demands;
mod document;
mod examples;
mod parameters;
mod pattern;
mod range;
mod security;
mod texts;
mod xml;

use crate::ImportOptions;
use brunt_har::error::ImportError;
use brunt_har::json::JsonNode;
use brunt_har::plan::{ImportedPlan, ImportedRequest, ImportedRequests};
use brunt_har::secrets::Names;
use brunt_har::{request, server};
use brunt_model::scenario::ScenarioStep;
use document::Document;
use examples::Examples;
use security::Security;
use serde_json::Value;

/// Methods of operations, in the order of the plan's requests.
const METHODS: [&str; 8] = ["get", "head", "options", "post", "put", "patch", "delete", "trace"];

/// Reads the description of an interface.
///
/// # Errors
///
/// [`ImportError`] with its line or JSON path if it is no description, or refers to other files.
pub fn read(text: &str, options: &ImportOptions) -> Result<ImportedPlan, ImportError> {
    let document = Document::read(text, options)?;
    let description = document.root();
    let root = JsonNode::root(&options.file, description);
    let version =
        description["openapi"].as_str().or(description["swagger"].as_str()).unwrap_or_default();
    // In YAML, `swagger: 2.0` is a number.
    if !version.starts_with("3.")
        && !version.starts_with("2.")
        && description["swagger"].as_f64() != Some(2.0)
    {
        let shown =
            if version.is_empty() { "no version".to_owned() } else { format!("version {version}") };
        return Err(root.error(
            format!("the description has {shown}"),
            "`openapi: 3.…` or `swagger: \"2.0\"` is expected",
        ));
    }
    let paths = paths_of(&root)?;
    let mut plan = ImportedPlan {
        about: format!(
            "Imported from the description {} in {}.",
            description["info"]["title"].as_str().unwrap_or_default(),
            options.file
        ),
        ..ImportedPlan::default()
    };
    let mut reader = Reader {
        document: &document,
        examples: Examples::new(&document),
        security: Security::default(),
        names: Names::default(),
        options,
        requests: ImportedRequests::default(),
    };
    let mut groups: Vec<(String, Vec<ScenarioStep>)> = Vec::new();
    let mut changes = false;
    for (path, item) in paths.entries() {
        let item = JsonNode { value: document.need(&item)?, ..item };
        for (method, operation) in
            METHODS.iter().filter_map(|method| Some((*method, item.get(method)?)))
        {
            if !reader.is_selected(method, path, &operation) {
                continue;
            }
            changes |= ["post", "put", "patch", "delete"].contains(&method);
            let step = reader.operation(method, path, &item, &operation)?;
            // An operation may have several tags, but it becomes one request.
            let tag = operation.value["tags"][0].as_str().unwrap_or_default().to_owned();
            match groups.iter_mut().find(|(known, _)| *known == tag) {
                Some((_, steps)) => steps.push(step),
                None => groups.push((tag, vec![step])),
            }
        }
    }
    if groups.is_empty() {
        return Err(no_operation(&paths, options));
    }
    if changes {
        plan.notes.push(
            "Requests that change data are among these. --only GET leaves them out.".to_owned(),
        );
    }
    plan.notes.push(
        "Values are examples of the description, or made up from its schemas: put yours in their place.".to_owned(),
    );
    let is_one = groups.len() < 2;
    plan.steps = groups
        .into_iter()
        .flat_map(|(tag, steps)| {
            if tag.is_empty() || is_one {
                steps
            } else {
                vec![ScenarioStep::Group { name: tag, steps }]
            }
        })
        .collect();
    plan.vars = reader.security.vars;
    plan.requests = reader.requests;
    request::finish_public(&mut plan, &mut reader.names, options.base.as_deref());
    Ok(plan)
}

/// The map of operations.
fn paths_of<'a>(root: &JsonNode<'a>) -> Result<JsonNode<'a>, ImportError> {
    if root.get("paths").is_none() && root.get("webhooks").is_some() {
        let wrong = "the description has only `webhooks`, which the server sends itself";
        return Err(root.error(wrong, "a description with `paths` is expected"));
    }
    root.need("paths", "a map of operations")
}

fn no_operation(paths: &JsonNode<'_>, options: &ImportOptions) -> ImportError {
    let is_chosen = !options.tags.is_empty() || !options.only.is_empty();
    let wrong =
        if is_chosen { "no operation has this --tag or --only" } else { "there is no operation" };
    paths.error(wrong, "at least one is expected")
}

struct Reader<'a> {
    document: &'a Document,
    examples: Examples<'a>,
    security: Security,
    names: Names,
    options: &'a ImportOptions,
    requests: ImportedRequests,
}

impl<'a> Reader<'a> {
    fn is_selected(&self, method: &str, path: &str, operation: &JsonNode<'_>) -> bool {
        let tags: Vec<&str> = operation.value["tags"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let has_tag = self.options.tags.is_empty()
            || self.options.tags.iter().any(|tag| tags.contains(&tag.as_str()));
        let is_selected = self.options.only.iter().any(|(only_method, prefix)| {
            (only_method.is_empty() || only_method.eq_ignore_ascii_case(method))
                && path.starts_with(prefix.as_str())
        });
        has_tag && (self.options.only.is_empty() || is_selected)
    }

    fn operation(
        &mut self,
        method: &str,
        path: &str,
        item: &JsonNode<'a>,
        operation: &JsonNode<'a>,
    ) -> Result<ScenarioStep, ImportError> {
        if method == "trace" {
            let comment = format!("left out: TRACE {path}: plans have no such method");
            return Ok(self.requests.add_comments(vec![comment]));
        }
        let mut comments = Vec::new();
        for text in [operation.text("summary"), operation.text("description")] {
            if !text.is_empty() {
                comments.push(text.lines().next().unwrap_or_default().chars().take(120).collect());
                break;
            }
        }
        if operation.value["deprecated"] == true {
            comments.push("deprecated".to_owned());
        }
        let id = operation.text("operationId");
        let mut request = ImportedRequest {
            name: Some(if id.is_empty() {
                format!("{} {path}", method.to_ascii_uppercase())
            } else {
                id.to_owned()
            }),
            method: method.to_ascii_uppercase(),
            server: self.server(item, operation),
            path: path.to_owned(),
            ..ImportedRequest::default()
        };
        let parameters = self.parameters(item, operation)?;
        parameters::add(&self.examples, &parameters, &mut request, &mut comments);
        self.body(operation, &parameters, &mut request, &mut comments)?;
        // An empty list of the operation removes the requirements of the document.
        let root = self.document.root();
        let requirements = operation.value.get("security").unwrap_or(&root["security"]);
        self.security.add(root, requirements, &mut self.names, &mut request, &mut comments);
        parameters::keep_delimiters(&mut request);
        Ok(self.requests.add(comments, request))
    }

    /// The parameters of an operation. Its own override those of its path.
    fn parameters(
        &self,
        item: &JsonNode<'a>,
        operation: &JsonNode<'a>,
    ) -> Result<Vec<&'a Value>, ImportError> {
        let mut all: Vec<&'a Value> = Vec::new();
        for parameter in item.list("parameters").into_iter().chain(operation.list("parameters")) {
            let parameter = self.document.need(&parameter)?;
            all.retain(|known| {
                known["name"] != parameter["name"] || known["in"] != parameter["in"]
            });
            all.push(parameter);
        }
        Ok(all)
    }

    fn body(
        &self,
        operation: &JsonNode<'a>,
        parameters: &[&'a Value],
        request: &mut ImportedRequest,
        comments: &mut Vec<String>,
    ) -> Result<(), ImportError> {
        let (document, examples) = (self.document, &self.examples);
        if let Some(at) = operation.get("requestBody") {
            let content = &document.need(&at)?["content"];
            body::of_content(document, examples, content, request, comments);
        }
        let (root, operation) = (document.root(), operation.value);
        body::of_swagger(document, examples, root, operation, parameters, request, comments);
        Ok(())
    }

    /// The server of an operation: its own, that of its path, or that of the description.
    fn server(&self, item: &JsonNode<'a>, operation: &JsonNode<'a>) -> String {
        let own =
            [operation.value, item.value].into_iter().find_map(|holder| holder["servers"].get(0));
        own.map_or_else(|| server_of(self.document.root()), server_of_entry)
    }
}

/// The server of a description, with its base path; empty if there is none.
fn server_of(root: &Value) -> String {
    if let Some(host) = root["host"].as_str() {
        let schemes: Vec<&str> =
            root["schemes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let scheme =
            if schemes.is_empty() || schemes.contains(&"https") { "https" } else { "http" };
        return join_path(
            &format!("{scheme}://{host}"),
            root["basePath"].as_str().unwrap_or_default(),
        );
    }
    let entry = &root["servers"][0];
    if entry["url"].is_string() {
        return server_of_entry(entry);
    }
    join_path("", root["basePath"].as_str().unwrap_or_default())
}

/// The server of an entry of `servers`, with its base path; empty if its URL is none.
fn server_of_entry(entry: &Value) -> String {
    let mut url = entry["url"].as_str().unwrap_or_default().to_owned();
    for (name, variable) in entry["variables"].as_object().into_iter().flatten() {
        url = url.replace(&format!("{{{name}}}"), variable["default"].as_str().unwrap_or_default());
    }
    match server::parse(&url) {
        Ok(address) => join_path(&address.server, &address.path),
        Err(_) => String::new(),
    }
}

/// Appends a base path. Without a server, the path belongs to the placeholder server.
fn join_path(server: &str, path: &str) -> String {
    let path = path.trim_end_matches('/');
    if server.is_empty() && !path.is_empty() {
        format!("{}{path}", request::NO_SERVER)
    } else {
        format!("{server}{path}")
    }
}
