//! Tests the store through its public interface.

mod archive;
mod experiments;
mod index;
mod kept;
mod logs;
mod processes;
mod redaction;
pub mod world;
