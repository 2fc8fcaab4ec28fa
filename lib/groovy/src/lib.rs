//! Runs the Groovy, `BeanShell` and simple Java scripts of `JMeter` plans.
//!
//! A tree-walking interpreter: [`Script::parse`] once, [`Script::run`] as often as needed, from any number of threads. A script
//! reaches the load test through [`Host`] only; the `JMeter` objects (`vars`, `props`, `prev`, `ctx`, `sampler`, `log` …)
//! are built over it. A [`Budget`] ends endless loops and huge strings with an error.
//!
//! Out of scope: loading Java libraries, processes, sockets, threads. Values are single-threaded (`Rc`).
//!
//! * `syntax`: text → tokens → tree. `check`: classes that a script names and this crate lacks.
//! * [`value`], `decimal`, `map`: what a script computes with.
//! * `vm`: evaluates the tree. `methods`: methods of strings, collections, numbers. `classes`: the Java and Groovy library.
//! * `jmeter`: the objects that `JMeter` hands to scripts, over [`host`].

// The interpreter's tables of methods list each name once, beside what it does; merging equal arms would scatter them.
#![allow(clippy::match_same_arms)]
// All functions of a table have one signature, whether or not each of them can fail or reads its object.
#![allow(clippy::unnecessary_wraps, clippy::unused_self)]
// A fault stays boxed from where it is made, so that results are small.
#![allow(clippy::unnecessary_box_returns)]
// `to_long` and its like convert an argument, not the interpreter.
#![allow(clippy::wrong_self_convention)]

pub mod budget;
mod check;
mod classes;
mod decimal;
pub mod error;
pub mod host;
mod jmeter;
mod map;
mod methods;
mod script;
mod syntax;
pub mod value;
mod vm;

pub use budget::Budget;
pub use error::{RunError, SyntaxError};
pub use host::{Argument, Cookie, Header, Host, LogLevel, Request, Sample, Stop, UrlPart};
pub use script::{Dialect, Script};
pub use value::Value;
