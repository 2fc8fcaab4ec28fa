//! Tests of the interpreter, with scripts as JMeter runs them.

mod any_text;
mod common;
mod jmeter;
mod language;
mod library;
