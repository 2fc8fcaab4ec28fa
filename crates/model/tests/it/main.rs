//! Tests of the bytes of event logs and messages.

mod any_bytes;
mod messages;
mod schema;
