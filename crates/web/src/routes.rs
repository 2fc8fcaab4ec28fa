//! The route table: each row is a route of the studio. The router, the check of permissions and the `OpenAPI`
//! document are made from it.

mod table;

use crate::shared::Shared;
use crate::visitor::Permission;
use axum::Router;
use axum::http::Method;
use axum::routing::MethodRouter;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::sync::Arc;
pub use table::ROUTES;

/// Beginning of the paths for programs.
pub const API_PATH: &str = "/api/";

/// A route.
#[derive(Clone, Copy)]
pub struct Route {
    /// Method of its requests.
    pub method: RouteMethod,
    /// Path, with parameters in braces.
    pub path: &'static str,
    /// Permission of the visitor; None for everyone who reaches the studio.
    pub permission: Option<Permission>,
    /// What the route does, as a sentence.
    pub summary: &'static str,
    /// Parameters in the query of the URL.
    pub query: &'static [QueryParameter],
    /// Content of a request.
    pub body: RouteBody,
    /// Content of a reply without an error.
    pub reply: RouteReply,
    /// Returns the function that answers.
    pub handler: fn() -> MethodRouter<Arc<Shared>>,
}

/// Method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteMethod {
    /// Reads.
    Get,
    /// Changes something.
    Post,
    /// Removes something.
    Delete,
}

impl RouteMethod {
    /// Word of the method, as in an `OpenAPI` document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }

    fn of(method: &Method) -> Option<Self> {
        match *method {
            // axum answers HEAD with the handler of GET (RFC 9110, 9.3.2).
            Method::GET | Method::HEAD => Some(Self::Get),
            Method::POST => Some(Self::Post),
            Method::DELETE => Some(Self::Delete),
            _ => None,
        }
    }
}

/// A parameter in the query of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryParameter {
    /// Name of the parameter.
    pub name: &'static str,
    /// Meaning of the parameter.
    pub about: &'static str,
}

/// Returns the schema of a type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Content of a request.
#[derive(Clone, Copy)]
pub enum RouteBody {
    /// No content.
    None,
    /// Fields of a form, with the token of the form.
    Form,
    /// JSON of a type.
    Json(SchemaOf),
    /// A run or an experiment, as `brunt runs export` writes it.
    Archive,
}

/// Content of a reply without an error.
#[derive(Clone, Copy)]
pub enum RouteReply {
    /// A page.
    Page,
    /// Leads to a page.
    Redirect,
    /// JSON of a type.
    Json(SchemaOf),
    /// A JSON document with a published schema: its description.
    Document(&'static str),
    /// A run or an experiment, as `brunt runs export` writes it.
    Archive,
    /// A file of this media type.
    File(&'static str),
    /// No content.
    Nothing,
}

impl Route {
    const fn new(
        method: RouteMethod,
        path: &'static str,
        permission: Option<Permission>,
        summary: &'static str,
        handler: fn() -> MethodRouter<Arc<Shared>>,
    ) -> Self {
        let reply = RouteReply::Page;
        Self {
            method,
            path,
            permission,
            summary,
            query: &[],
            body: RouteBody::None,
            reply,
            handler,
        }
    }

    /// A page.
    const fn page(
        path: &'static str,
        permission: Permission,
        summary: &'static str,
        handler: fn() -> MethodRouter<Arc<Shared>>,
    ) -> Self {
        Self::new(RouteMethod::Get, path, Some(permission), summary, handler)
    }

    /// A form of a page that changes something.
    const fn form(
        path: &'static str,
        permission: Permission,
        summary: &'static str,
        handler: fn() -> MethodRouter<Arc<Shared>>,
    ) -> Self {
        let route = Self::new(RouteMethod::Post, path, Some(permission), summary, handler);
        Self { body: RouteBody::Form, ..route }
    }

    /// A route for everyone who reaches the studio.
    const fn open(self) -> Self {
        Self { permission: None, ..self }
    }

    const fn query(self, query: &'static [QueryParameter]) -> Self {
        Self { query, ..self }
    }

    const fn body(self, body: RouteBody) -> Self {
        Self { body, ..self }
    }

    const fn reply(self, reply: RouteReply) -> Self {
        Self { reply, ..self }
    }

    /// True for a route for programs.
    pub fn is_api(&self) -> bool {
        self.path.starts_with(API_PATH)
    }

    /// True if the route changes something.
    pub fn is_change(&self) -> bool {
        self.method != RouteMethod::Get
    }

    /// Names of the parameters in the path.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
    }
}

/// Returns the schema of a type, as a part of the document.
fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Returns the route of a request, by the path of the router that it matches.
pub fn find(method: &Method, path: &str) -> Option<&'static Route> {
    let method = RouteMethod::of(method)?;
    ROUTES.iter().find(|route| route.method == method && route.path == path)
}

/// Returns a router with all routes.
pub fn router() -> Router<Arc<Shared>> {
    ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, (route.handler)()))
}
