//! Reads collections of Postman, 2.0 and 2.1.

mod auth;
mod dynamic;
mod script;
mod variables;

use crate::ImportOptions;
use crate::urls::in_folder;
use brunt_har::body::{self, FORM, JSON};
use brunt_har::error::ImportError;
use brunt_har::json::{JsonNode, parse};
use brunt_har::plan::{
    ImportedBody, ImportedPlan, ImportedRequest, ImportedRequests, MultipartPart,
};
use brunt_har::text::{self, variable};
use brunt_har::{request, server};
use brunt_model::scenario::ScenarioStep;
use serde_json::{Value, json};
use variables::Variables;

/// Methods whose bodies Postman leaves out, unless `disableBodyPruning` is true.
const METHODS_WITHOUT_BODY: [&str; 5] = ["GET", "HEAD", "COPY", "PURGE", "UNLOCK"];

/// Maximum depth of groups. The requests of deeper folders become part of the group around them;
/// such a folder's name and its comment on left-out scripts are dropped.
const MAX_GROUP_DEPTH: usize = 5;

/// Reads a collection of Postman.
///
/// # Errors
///
/// [`ImportError`], with the place in the text, if it is no JSON or no collection, or if folders
/// are nested too deeply.
pub fn read(text: &str, options: &ImportOptions) -> Result<ImportedPlan, ImportError> {
    let document = parse(text, &options.file)?;
    let mut root = JsonNode::root(&options.file, &document);
    // Postman's API wraps the collection.
    if let Some(inner) = root.get("collection") {
        root = inner;
    }
    let items = root.need("item", "a collection of Postman, 2.0 or 2.1,")?;
    let environment = match &options.environment {
        Some(environment) => environment_of(&environment.text, &environment.file)?,
        None => Value::Null,
    };
    let name = root.get("info").map(|info| info.text("name").to_owned()).unwrap_or_default();
    let mut reader = Reader {
        options,
        variables: Variables::new(&root, &environment),
        requests: ImportedRequests::default(),
        left_out: Vec::new(),
        keeps_bodies: keeps_bodies(&root),
    };
    let steps = reader.items(&items, &root, 0)?;
    let mut plan = ImportedPlan {
        about: format!("Imported from the Postman collection {name} in {}.", options.file),
        ..ImportedPlan::default()
    };
    plan.steps = steps;
    plan.requests = reader.requests;
    plan.left_out.append(&mut reader.left_out);
    if script::has_code(&root, "prerequest") || script::has_code(&root, "test") {
        plan.left_out.push("the scripts of the collection".to_owned());
    }
    let mut names = reader.variables.finish(&mut plan);
    request::finish(&mut plan, &mut names, options.base.as_deref());
    Ok(plan)
}

/// Reads an environment: an object whose `values` are variables.
fn environment_of(text: &str, file: &str) -> Result<Value, ImportError> {
    let document = parse(text, file)?;
    JsonNode::root(file, &document).need("values", "an environment of Postman")?;
    Ok(document)
}

/// State of the conversion of a collection.
struct Reader<'a> {
    options: &'a ImportOptions,
    variables: Variables<'a>,
    requests: ImportedRequests,
    /// Items that are left out, with reasons.
    left_out: Vec<String>,
    /// True if the collection sends bodies even with methods such as GET.
    keeps_bodies: bool,
}

impl<'a> Reader<'a> {
    /// Converts the items of a folder. `auth_holder` is the innermost folder around them that has
    /// authentication, or the collection. Empty folders, and requests that cannot be converted, are
    /// left out.
    fn items(
        &mut self,
        items: &JsonNode<'a>,
        auth_holder: &JsonNode<'a>,
        depth: usize,
    ) -> Result<Vec<ScenarioStep>, ImportError> {
        let mut steps = Vec::new();
        for item in items.items() {
            let Some(inner) = item.get("item") else {
                match self.request_step(&item, auth_holder) {
                    Ok(step) => steps.push(step),
                    Err(reason) => {
                        self.left_out.push(format!(
                            "{} ({}): {reason}",
                            item.text("name"),
                            item.path
                        ));
                    }
                }
                continue;
            };
            // The reader is recursive, so the depth must have a limit.
            if depth > 100 {
                return Err(
                    item.error("too many folders within each other", "100 at most are expected")
                );
            }
            let inner_holder = if item.get("auth").is_some() { &item } else { auth_holder };
            let inner = self.items(&inner, inner_holder, depth + 1)?;
            if depth >= MAX_GROUP_DEPTH {
                steps.extend(inner);
            } else if !inner.is_empty() {
                if script::has_code(&item, "prerequest") || script::has_code(&item, "test") {
                    let comment = "left out: the scripts of this folder".to_owned();
                    steps.push(self.requests.add_comments(vec![comment]));
                }
                let name = item.text("name").to_owned();
                steps.push(ScenarioStep::Group { name, steps: inner });
            }
        }
        Ok(steps)
    }

    /// Converts a request to a step. The error is the reason why it is left out.
    fn request_step(
        &mut self,
        item: &JsonNode<'a>,
        auth_holder: &JsonNode<'a>,
    ) -> Result<ScenarioStep, String> {
        let node = item.get("request").ok_or("it is neither a request nor a folder")?;
        let mut comments = Vec::new();
        let mut request = self.request_of_url(&node)?;
        let method = node.value.get("method").and_then(Value::as_str);
        request.method =
            method.filter(|method| !method.is_empty()).unwrap_or("GET").to_ascii_uppercase();
        let name = item.text("name");
        request.name = (!name.is_empty()).then(|| name.to_owned());
        for (name, value) in header_fields(&node) {
            let name = self.variables.fill_in(&name);
            // Postman writes `<calculated when request is sent>` into computed fields.
            let is_computed =
                name.eq_ignore_ascii_case("content-length") || value.starts_with("<calculated ");
            if !name.is_empty() && !is_computed {
                request.headers.push((name, self.variables.fill_in(&value)));
            }
        }
        let auth =
            node.get("auth").or_else(|| item.get("auth")).or_else(|| auth_holder.get("auth"));
        if let Some(auth) = auth {
            auth::add(&auth, &mut self.variables, &mut request, &mut comments);
        }
        if let Some(body) = node.get("body").filter(is_on) {
            // A copy, because a pruned body must not leave its Content-Type behind.
            let mut with_body = request.clone();
            self.body(&body, &mut with_body, &mut comments);
            let is_pruned = METHODS_WITHOUT_BODY.contains(&request.method.as_str())
                && !self.keeps_bodies
                && !keeps_bodies(item)
                && ![ImportedBody::None, ImportedBody::Form(Vec::new(), None)]
                    .contains(&with_body.body);
            if is_pruned {
                comments.push(format!(
                    "left out: the body, which Postman does not send with {}",
                    request.method
                ));
            } else {
                request = with_body;
            }
        }
        script::translate(item, &mut self.variables, &mut request, &mut comments);
        Ok(self.requests.add(comments, request))
    }

    /// Creates a request with the server, path, query and basic credentials of its URL. The list of
    /// query parameters takes precedence over the query in the URL. The error is the reason why
    /// there is none.
    fn request_of_url(&mut self, node: &JsonNode<'a>) -> Result<ImportedRequest, String> {
        // A request may consist of a URL only.
        let only_url = Value::as_str(node.value).map(str::to_owned);
        let url = node.get("url");
        let raw =
            only_url.or_else(|| url.as_ref().and_then(|url| url.value.as_str().map(str::to_owned)));
        let raw = raw.or_else(|| url.as_ref().map(url_of_parts));
        let raw = raw.filter(|raw| !raw.trim().is_empty()).ok_or("it has no URL")?;
        let url_text = self.variables.fill_in(&raw);
        let address = server::parse(&url_text)?;
        let path_variables = url.as_ref().map(|url| url.list("variable")).unwrap_or_default();
        let path: Vec<String> =
            address.path.split('/').map(|segment| self.segment(segment, &path_variables)).collect();
        let list = url.as_ref().map(|url| url.list("query")).unwrap_or_default();
        let raw_query = if list.is_empty() { address.query } else { self.variables.query(&list) };
        Ok(ImportedRequest {
            server: address.server,
            path: path.join("/"),
            query: raw_query.as_deref().map(body::pairs).unwrap_or_default(),
            raw_query,
            basic: address.basic,
            ..ImportedRequest::default()
        })
    }

    /// Converts a segment of the path. `:name` is replaced by the value of that path variable of
    /// the request, or without a value by a reference to the plan's variable.
    fn segment(&mut self, segment: &str, path_variables: &[JsonNode<'_>]) -> String {
        let Some(name) = segment.strip_prefix(':').filter(|name| !name.is_empty()) else {
            return segment.to_owned();
        };
        let value = path_variables
            .iter()
            .find(|variable| [variable.text("key"), variable.text("id")].contains(&name))
            .map_or("", |variable| variable.text("value"));
        if value.is_empty() {
            variable(&self.variables.reference(name))
        } else {
            text::encode_part(&self.variables.fill_in(value))
        }
    }

    /// Sets the body of a request, and a default Content-Type. Comments list parts that are left
    /// out.
    fn body(
        &mut self,
        body: &JsonNode<'a>,
        request: &mut ImportedRequest,
        comments: &mut Vec<String>,
    ) {
        match body.text("mode") {
            "raw" => {
                let language = body.value["options"]["raw"]["language"].as_str().unwrap_or("text");
                let raw = self.variables.fill_in(body.text("raw"));
                if raw.is_empty() {
                    return;
                }
                set_default_type(
                    request,
                    match language {
                        "json" => JSON,
                        "xml" => "application/xml",
                        "html" => "text/html",
                        "javascript" => "application/javascript",
                        _ => "text/plain",
                    },
                );
                request.body = body::of(request.header("content-type").unwrap_or_default(), &raw);
            }
            "urlencoded" => {
                let mut fields = Vec::new();
                for field in body.list("urlencoded").iter().filter(|field| is_on(field)) {
                    fields.push((
                        self.variables.fill_in(field.text("key")),
                        self.variables.fill_in(field.text("value")),
                    ));
                }
                set_default_type(request, FORM);
                request.body = ImportedBody::Form(fields, None);
            }
            "formdata" => self.parts(body, request, comments),
            "graphql" => {
                set_default_type(request, JSON);
                let value = self.graphql(body, comments);
                request.body = ImportedBody::Json(value, None);
            }
            "file" => {
                let file = body.value["file"]["src"].as_str().unwrap_or_default();
                if file.is_empty() {
                    comments.push(
                        "left out: the body, a file that the collection does not name".to_owned(),
                    );
                } else {
                    request.body = ImportedBody::File(in_folder(file, self.options));
                }
            }
            "" => {}
            other => comments.push(format!("left out: the body, of the unknown kind `{other}`")),
        }
    }

    /// Converts a GraphQL query and its variables, which must be a text with JSON; otherwise they
    /// are empty.
    fn graphql(&mut self, body: &JsonNode<'a>, comments: &mut Vec<String>) -> Value {
        let graphql = &body.value["graphql"];
        let [query, variables, operation] = ["query", "variables", "operationName"]
            .map(|name| self.variables.fill_in(graphql[name].as_str().unwrap_or_default()));
        let mut value = json!({"query": query, "variables": {}});
        match body::json(&variables) {
            ImportedBody::Json(variables, _) => value["variables"] = variables,
            _ if variables.trim().is_empty() => {}
            _ => comments.push("left out: the variables of GraphQL, which are no JSON".to_owned()),
        }
        if !operation.is_empty() {
            value["operationName"] = operation.into();
        }
        value
    }

    /// Sets a multipart body from the enabled parts. A file without a name becomes a placeholder
    /// text.
    fn parts(
        &mut self,
        body: &JsonNode<'a>,
        request: &mut ImportedRequest,
        comments: &mut Vec<String>,
    ) {
        let mut parts = Vec::new();
        for part in body.list("formdata").iter().filter(|part| is_on(part)) {
            let name = self.variables.fill_in(part.text("key"));
            if part.text("type") != "file" {
                let text = self.variables.fill_in(part.text("value"));
                let media_type = part.text("contentType");
                let is_typed = !media_type.is_empty();
                let typed =
                    MultipartPart::TypedText { text: text.clone(), kind: media_type.to_owned() };
                parts.push((name, if is_typed { typed } else { MultipartPart::Text(text) }));
                continue;
            }
            let source = &part.value["src"];
            let sources = source.as_array().map_or(std::slice::from_ref(source), Vec::as_slice);
            let files: Vec<&str> =
                sources.iter().filter_map(Value::as_str).filter(|file| !file.is_empty()).collect();
            let media_type = Some(part.text("contentType").to_owned())
                .filter(|media_type| !media_type.is_empty());
            if files.is_empty() {
                comments.push(format!(
                    "`{name}` is a file that the collection does not name; write {{file: …}} to send it"
                ));
                parts.push((name.clone(), MultipartPart::Text("content of a file".to_owned())));
            }
            for file in files {
                let file = in_folder(file, self.options);
                parts.push((
                    name.clone(),
                    MultipartPart::File { file, kind: media_type.clone(), filename: None },
                ));
            }
        }
        request.body =
            if parts.is_empty() { ImportedBody::None } else { ImportedBody::Multipart(parts) };
    }
}

/// Adds a Content-Type unless the request has one.
fn set_default_type(request: &mut ImportedRequest, media_type: &str) {
    if request.header("content-type").is_none() {
        request.headers.push(("Content-Type".to_owned(), media_type.to_owned()));
    }
}

/// True if a request or collection sends bodies even with methods such as GET.
fn keeps_bodies(node: &JsonNode<'_>) -> bool {
    node.value["protocolProfileBehavior"]["disableBodyPruning"] == true
}

/// True unless an element is disabled.
fn is_on(node: &JsonNode<'_>) -> bool {
    node.value["disabled"].as_bool() != Some(true)
}

/// The enabled header fields of a request: a list, or a text with one field per line.
fn header_fields(request: &JsonNode<'_>) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> =
        request.text("header").lines().filter_map(header_line).collect();
    for header in request.list("header").iter().filter(|header| is_on(header)) {
        match header.value.as_str() {
            Some(line) => fields.extend(header_line(line)),
            None => fields.push((header.text("key").to_owned(), header.text("value").to_owned())),
        }
    }
    fields
}

/// Splits a line `name: value`; None without a colon.
fn header_line(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

/// Returns the URL as written (`raw`), else built from its parts without the query. Empty without a
/// host.
fn url_of_parts(url: &JsonNode<'_>) -> String {
    let raw = url.text("raw");
    if !raw.is_empty() {
        return raw.to_owned();
    }

    let host = join_parts(url, "host", ".");
    if host.is_empty() {
        return String::new();
    }
    let scheme = match url.text("protocol") {
        "" => String::new(),
        scheme => format!("{scheme}://"),
    };
    let port = match url.text("port") {
        "" => String::new(),
        port => format!(":{port}"),
    };
    format!("{scheme}{host}{port}/{}", join_parts(url, "path", "/"))
}

/// A part of a URL: a text, or the joined items of a list. Empty if it is missing.
fn join_parts(url: &JsonNode<'_>, name: &str, separator: &str) -> String {
    match url.value.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let items = items
                .iter()
                .map(|item| item.as_str().or_else(|| item["value"].as_str()).unwrap_or_default());
            items.collect::<Vec<_>>().join(separator)
        }
        _ => String::new(),
    }
}
