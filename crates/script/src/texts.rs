//! Generates and parses texts: templates, expressions and functions, patterns, encodings, files.
//!
//! * [`template`], [`feed`]: placeholders, and the files of `{csv:FILE:column}`. `expression`,
//!   [`functions`]: `${…}`. `compiled`: parts of a plan with texts that change with each use.
//!   [`before_run`]: texts that are filled in before there are users.
//! * `dialect`: the differences between plans of brunt and of JMeter. `java_uri`: URLs that JMeter refuses.
//! * [`pattern`] (regular expressions), `markup` (CSS, XPath), `json` (`JSONPath`), `encoding`
//!   (forms and UUIDs), `hexadecimal`. [`body`]: bodies of requests. [`decoded`]: parts of a form
//!   or query. [`grpc`]: messages from JSON, and JSON from replies.
//! * `variables`, `cookies`: state of a user. `context`: that state, and the state that users
//!   share. `tracing`: actions of a user around a sample. `data`: files with rows of values.
//!   `limits`: maximum lengths of texts. `files`, `machine`: files, environment variables and the time zone.
//! * `script`: the interface of script languages. `reply_view`: parts of a reply as texts.
//!   `pending`: a request that is changed before it is sent.

pub mod before_run;
pub mod body;
pub mod compiled;
pub mod context;
pub mod cookies;
pub mod data;
pub mod decoded;
pub mod dialect;
pub mod encoding;
pub mod exceeded;
pub mod expression;
pub mod feed;
pub mod files;
pub mod functions;
pub mod grpc;
pub mod hexadecimal;
pub mod java_uri;
pub mod json;
pub mod limits;
pub mod machine;
pub mod markup;
pub mod pattern;
pub mod pending;
pub mod reply_view;
pub mod script;
pub mod template;
pub mod tracing;
pub mod variables;
