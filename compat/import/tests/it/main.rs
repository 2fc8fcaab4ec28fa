//! Tests of the importers, with files of other tools and random input.

mod any_bytes;
mod curl;
mod editor;
mod edits;
mod formats;
mod jmx_plans;
mod openapi;
