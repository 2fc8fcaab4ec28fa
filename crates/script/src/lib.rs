//! Implements virtual users: compiles scenarios, fills in their texts, and evaluates replies.
//!
//! The crate sends no bytes, has no defaults, and prints nothing. It reads only data files,
//! and files that a placeholder or a function names. `spec` reads the words of the command
//! line and of plan files.
//!
//! Each module imports only earlier ones:
//!
//! * [`error`]: errors about a word or file that cannot be read.
//! * [`driver`]: users whose steps come from a program in another language.
//! * `texts`: templates, expressions, functions, patterns, encodings and files; the state of
//!   users, which texts use.
//! * `replies`: extractors, assertions and scripts for a reply, and its record.
//! * `program`: a compiled scenario, and its [`user`].
//! * `languages`: JavaScript.
//! * [`check`]: checks parts of a plan.
//!
//! Programs and texts call scripts through the interface `texts::script`, which `languages`
//! implements. It is in `texts`, with the sample that scripts read, because a worker's state is
//! there and caches parsed scripts. [`scripting`] shows it to crates with further languages, which
//! callers pass in as [`Languages`].

pub mod check;
pub mod driver;
pub mod error;
mod languages;
mod program;
mod replies;
pub mod scripting;
#[cfg(test)]
mod testing;
mod texts;

pub use error::{ScriptError, WordError};
pub use program::user::{self, CompiledScript};
pub use replies::proposals;
pub use replies::script_call::sample_message;
pub use texts::before_run::BeforeRun;
pub use texts::feed::Feeds;
pub use texts::files::{is_below, read_text, writable_path};
pub use texts::reply_view::unescaped;
pub use texts::script::Languages;
pub use texts::template::{RenderContext, Template, TextPosition};
pub use texts::{body, decoded, exceeded, expression, feed, functions, grpc, pattern, template};
