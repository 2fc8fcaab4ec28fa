//! Tests of edits.

mod plan_files;
mod random_edits;
