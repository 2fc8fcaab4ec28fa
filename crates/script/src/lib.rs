//! What a virtual user does: scenarios compiled, their texts filled in, what is made of replies.
//!
//! It sends no bytes itself, has no defaults, and prints nothing. The only files it reads are data files and those
//! that a placeholder or function names. Words of the command line and plan files are read in `spec`.
//!
//! Each module imports only those above it:
//!
//! * [`error`]: messages about a word or file that cannot be read.
//! * `texts`: templates, expressions, functions, patterns, encodings and files; the state of users, from which texts are made.
//! * `replies`: extractors, assertions and scripts over a reply, and its record.
//! * `program`: a scenario, compiled, and its [`user`].
//! * `languages`: Groovy, JavaScript and JEXL.
//! * [`check`]: whether parts of a plan make sense.
//!
//! Programs and texts call scripts through the interface `texts::script`, which `languages` implements. It is in `texts` with the
//! sample that scripts read: a worker's state is there too, and caches parsed scripts.

pub mod check;
pub mod error;
mod languages;
mod program;
mod replies;
#[cfg(test)]
mod testing;
mod texts;

pub use error::{ScriptError, WordError};
pub use program::user::{self, CompiledScript};
pub use replies::script_call::sample_message;
pub use texts::before_run::BeforeRun;
pub use texts::feed::Feeds;
pub use texts::files::{is_below, read_text, writable_path};
pub use texts::template::{Place, RenderContext, Template};
pub use texts::{body, decoded, expression, feed, functions, grpc, pattern, template};
