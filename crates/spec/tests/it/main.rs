//! Tests of the readers of plan files and their documentation.

mod any_bytes;
mod plan_keys;
