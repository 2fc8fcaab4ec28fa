//! Reads files that a user names, within limits of time and size.
//!
//! Out of scope: writing, and the rules on who may read which file.

mod read;

pub use read::{MAX_BYTES, open_regular, read, read_regular, read_text};
