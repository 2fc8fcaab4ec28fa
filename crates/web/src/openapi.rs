//! The `OpenAPI` document of the studio, made from the route table.

use crate::api::types::ErrorReply;
use crate::routes::{ROUTES, Route, RouteBody, RouteReply};
use crate::visitor::Permission;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Version of the document's format.
const OPENAPI: &str = "3.1.0";

/// Media type of archives.
const ARCHIVE: &str = "application/octet-stream";

/// Meanings of the parameters in paths.
const PATH_PARAMETERS: [(&str, &str); 4] = [
    (
        "id",
        "Id of a run or experiment, the beginning of an id, a tag, the name of an experiment, or `last`.",
    ),
    ("key", "Key of a lease, or of a link; to end the lease of another member, its number."),
    ("number", "Number of a try or a recording."),
    ("process", "Number of a process that the studio has started."),
];

/// Returns the document.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        // OpenAPI 3.1 is based on draft 2020-12, so its parts need no `$schema`.
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let error = generator.subschema_for::<ErrorReply>();
    let mut paths = Map::new();
    for route in ROUTES {
        let operations = paths.entry(route.path).or_insert_with(|| json!({}));
        operations[route.method.word()] = operation(route, &error, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": OPENAPI,
        "info": {
            "title": "brunt studio",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Pages for browsers, and below /api/ JSON for programs. \
                            Programs send `Authorization: Bearer TOKEN`.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "cookie": {
                    "type": "apiKey", "in": "cookie", "name": "brunt-studio-PORT",
                    "description": "With TLS, the name begins with `__Host-`.",
                },
            },
        },
    })
}

fn operation(route: &Route, error: &Schema, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "summary": route.summary,
        "tags": [if route.is_api() { "api" } else { "pages" }],
        "parameters": parameters(route),
        "responses": responses(route, error, generator),
    });
    operation["security"] = security(route);
    if let Some(permission) = route.permission {
        operation["x-permission"] = json!(permission.word());
    }
    if let Some(content) = request_content(route, generator) {
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation
}

fn parameters(route: &Route) -> Value {
    let of_path = route.path_parameters().map(|name| {
        let about = PATH_PARAMETERS.iter().find(|(known, _)| *known == name);
        json!({
            "name": name, "in": "path", "required": true, "schema": { "type": "string" },
            "description": about.map_or("", |(_, about)| *about),
        })
    });
    let of_query = route.query.iter().map(|parameter| {
        json!({
            "name": parameter.name, "in": "query", "schema": { "type": "string" },
            "description": parameter.about,
        })
    });
    of_path.chain(of_query).collect()
}

/// Ways to send the token. Changes through the API take a program's header only, and forms of pages a cookie only.
fn security(route: &Route) -> Value {
    match route.permission {
        None => json!([]),
        Some(_) if route.is_api() && route.is_change() => json!([{ "bearer": [] }]),
        Some(_) if route.is_change() => json!([{ "cookie": [] }]),
        Some(_) => json!([{ "bearer": [] }, { "cookie": [] }]),
    }
}

fn request_content(route: &Route, generator: &mut SchemaGenerator) -> Option<Value> {
    match route.body {
        RouteBody::None => None,
        RouteBody::Form => Some(json!({ "application/x-www-form-urlencoded": {} })),
        RouteBody::Json(schema) => {
            Some(json!({ "application/json": { "schema": schema(generator) } }))
        }
        RouteBody::Archive => Some(json!({ ARCHIVE: {} })),
    }
}

fn responses(route: &Route, error: &Schema, generator: &mut SchemaGenerator) -> Value {
    let success = match route.reply {
        RouteReply::Page => json!({ "description": "A page.", "content": { "text/html": {} } }),
        RouteReply::Redirect => json!({ "description": "Leads to a page." }),
        RouteReply::Json(schema) => json!({
            "description": "The reply.",
            "content": { "application/json": { "schema": schema(generator) } },
        }),
        RouteReply::Document(about) => json!({
            "description": about, "content": { "application/json": { "schema": {} } },
        }),
        RouteReply::Archive => json!({
            "description": "A file as of `brunt runs export`.", "content": { ARCHIVE: {} },
        }),
        RouteReply::File(media_type) => {
            json!({ "description": "A file.", "content": { media_type: {} } })
        }
        RouteReply::Nothing => json!({ "description": "Done." }),
    };
    let status = match route.reply {
        // With this status, a browser loads the page with GET (RFC 9110, 15.4.4).
        RouteReply::Redirect => "303",
        RouteReply::Nothing => "204",
        _ => "2XX",
    };
    let mut responses = json!({ status: success });
    let problem = json!({
        "description": "The problem and its remedy.",
        "content": if route.is_api() {
            json!({ "application/json": { "schema": error } })
        } else {
            json!({ "text/html": {} })
        },
    });
    responses["default"] = problem;
    if route.permission == Some(Permission::Run) {
        responses["403"] = json!({ "description": "The token has the permission `read` only." });
    }
    responses
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const FILE: &str = "../../docs/studio.openapi.json";

    #[test]
    fn the_committed_document_is_current() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
        let text = format!("{:#}\n", document());
        if std::env::var_os("BRUNT_WRITE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "renew it: BRUNT_WRITE=1 cargo test -p brunt-web openapi");
    }

    #[test]
    fn each_route_is_in_the_document() {
        let document = document();
        for route in ROUTES {
            let operation = &document["paths"][route.path][route.method.word()];
            assert_eq!(operation["summary"], route.summary, "{}", route.path);
            let same = |other: &&Route| other.method == route.method && other.path == route.path;
            assert_eq!(ROUTES.iter().filter(same).count(), 1, "{}", route.path);
            for name in route.path_parameters() {
                assert!(PATH_PARAMETERS.iter().any(|(known, _)| *known == name), "{name}");
            }
        }
        let operations = document["paths"].as_object().unwrap().values();
        let count: usize = operations.map(|path| path.as_object().unwrap().len()).sum();
        assert_eq!(count, ROUTES.len());
    }

    #[test]
    fn the_router_has_the_routes_of_the_table_only() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![source];
        let mut places = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let count = text.matches(concat!(".rou", "te(")).count();
                    places.extend(std::iter::repeat_n(path.display().to_string(), count));
                }
            }
        }
        assert_eq!(places.len(), 1, "{places:?}");
        assert!(places[0].ends_with("src/routes.rs"), "{places:?}");
    }

    #[test]
    fn each_reference_leads_to_a_schema() {
        let document = document();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
    }
}
