//! What a virtual user does: one request, a list of URLs, placeholders; the words in which people write loads and
//! objectives.
//!
//! Words come in from the command line and from files; values of `model` go out, or a [`WordError`] that says what to
//! write instead.
//!
//! What it is **not**: it sends no bytes itself, has no defaults, and prints nothing. The only files it reads are those
//! that a word names: a list of URLs, the body of a request, the rows of a placeholder.
//!
//! * [`error`]: what is said about a word or file that cannot be read.
//! * [`duration`], [`bytes`]: `1.5s`, `124k`.
//! * [`shape`]: a load, `500` or `0..500/30s,500/2m`, or a sweep of many; [`think`], [`arrivals`]: what goes with it.
//! * [`objective`], [`goal`], [`compare`], [`status`]: `p99 < 50ms`, `p99±5%`, `p99 worse by 5%`, `200,3xx`.
//! * [`find`]: `capacity > 3000/s`, `2s..20s`: what a search is told.
//! * [`target`]: a URL as people write it; [`urls`]: a file of them, [`body`]: what is sent with one.
//! * [`user`]: the virtual user of a scenario. `program`: its steps, compiled. `replies`: what follows from replies.
//! * [`plan`]: the plan file, by its contenders.
//! * [`template`], [`feed`]: placeholders, and the files behind `{csv:FILE:column}`.

pub mod arrivals;
pub mod body;
pub mod bytes;
pub mod compare;
pub mod duration;
pub mod error;
pub mod feed;
pub mod find;
pub mod goal;
mod number;
pub mod objective;
pub mod plan;
mod program;
mod replies;
pub mod shape;
pub mod status;
pub mod target;
pub mod template;
pub mod think;
pub mod urls;
pub mod user;

pub use error::{ScriptError, WordError};
pub use feed::Feeds;
pub use template::{Place, RenderContext, Template};
pub use user::CompiledScript;
