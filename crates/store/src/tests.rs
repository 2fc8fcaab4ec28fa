//! Tests the store through its public interface.

mod archive;
pub mod digests;
mod experiments;
mod hour;
mod index;
mod kept;
mod logs;
mod processes;
mod redaction;
mod retention;
pub mod world;
