//! What a virtual user does: scenarios compiled, their texts filled in, what is made of replies.
//!
//! It sends no bytes itself, has no defaults, and prints nothing. The only files it reads are data files and those
//! that a placeholder or function names. Words of the command line and plan files are read in `spec`.
//!
//! * [`error`]: what is said about a word or file that cannot be read.
//! * [`user`]: the virtual user of a scenario. `program`: its steps, compiled. `replies`: what follows from replies.
//! * `reactions`: extractors, assertions and scripts of a policy in order, each over a `searched` reply. `extract`, `assertion`,
//!   `script_call`, `scripts`, [`pattern`] (regular expressions), `markup` (CSS, XPath), `json` (`JSONPath`): one of these.
//!   `texts`: those whose texts change with each use.
//! * `records`: samples of result files. `trace`, `tracing`: actions of a user around a sample. [`body`]: bodies of requests.
//!   [`decoded`]: the parts of a form or query. `encoding`: forms and UUIDs.
//! * `dialect`: the differences between plans of brunt and of JMeter.
//! * [`template`], [`feed`]: placeholders, and the files behind `{csv:FILE:column}`. `expression`, [`functions`]: `${…}`.
//! * `modifier`: requests that the last reply changes before they are sent; `pending`: such a request.
//! * [`grpc`]: messages from JSON, and JSON from replies.
//! * `java_uri`: URLs that JMeter refuses. [`check`]: whether parts of a plan make sense.
//! * [`BeforeRun`]: texts that are filled in before there are users.
//! * `variables`, `cookies`: state of a user. `context`: that state, and the state that users share. `data`: files with rows of values.
//!   `files`, `machine`: files, environment variables and the time zone.

mod assertion;
mod awaited;
mod before_run;
pub mod body;
pub mod check;
mod context;
mod cookies;
mod data;
pub mod decoded;
mod dialect;
mod encoding;
pub mod error;
pub mod expression;
mod extract;
pub mod feed;
mod files;
pub mod functions;
pub mod grpc;
mod hexadecimal;
mod java_uri;
mod jmes;
mod json;
mod machine;
mod markup;
mod modifier;
pub mod pattern;
mod pending;
mod program;
mod reactions;
mod records;
mod replies;
mod script_call;
mod scripts;
mod searched;
pub mod template;
#[cfg(test)]
mod testing;
mod texts;
mod trace;
mod tracing;
pub mod user;
mod variables;
#[cfg(feature = "scripts")]
mod zones;

pub use before_run::BeforeRun;
pub use error::{ScriptError, WordError};
pub use feed::Feeds;
pub use files::{is_below, read_text, writable_path};
pub use script_call::sample_message;
pub use template::{Place, RenderContext, Template};
pub use user::CompiledScript;
