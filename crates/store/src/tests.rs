//! The store as others use it.

mod archive;
mod experiments;
mod index;
mod kept;
mod logs;
mod processes;
mod redaction;
pub mod world;
