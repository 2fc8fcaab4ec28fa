//! What a virtual user does: one request, a list of URLs, placeholders.
//!
//! It sends no bytes itself, has no defaults, and prints nothing. The only files it reads are those
//! that a placeholder names. Words of the command line and plan files are read in `spec`.
//!
//! * [`error`]: what is said about a word or file that cannot be read.
//! * [`user`]: the virtual user of a scenario. `program`: its steps, compiled. `replies`: what follows from replies.
//! * `extract`: what users take out of replies.
//! * [`body`]: what is sent with a request.
//! * [`template`], [`feed`]: placeholders, and the files behind `{csv:FILE:column}`.

mod assertion;
pub mod body;
mod context;
mod data;
pub mod error;
mod expression;
mod extract;
pub mod feed;
pub mod functions;
mod pattern;
mod program;
mod reactions;
mod replies;
mod scripts;
mod searched;
pub mod template;
#[cfg(test)]
mod testing;
mod texts;
pub mod user;
mod variables;

pub use error::{ScriptError, WordError};
pub use feed::Feeds;
pub use template::{Place, RenderContext, Template};
pub use user::CompiledScript;
