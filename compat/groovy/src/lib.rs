//! Runs the Groovy, `BeanShell` and simple Java scripts of `JMeter` plans.
//!
//! A tree-walking interpreter: call [`Script::parse`] once, and [`Script::run`] as often as needed,
//! from any number of threads. A script accesses the load test only through [`Host`]. The `JMeter`
//! objects (`vars`, `props`, `prev`, `ctx`, `sampler`, `log` …) are built on top of it. A
//! [`Budget`] ends endless loops and huge strings with an error.
//!
//! Out of scope: loading Java libraries, processes, sockets, threads.
//! Values are single-threaded (`Rc`).
//!
//! * `syntax`: text → tokens → tree. `check`: unknown classes.
//! * [`value`], `decimal`, `map`: values of scripts.
//! * `vm`: evaluates the tree. `methods`: methods of strings, collections, numbers. `classes`: the
//!   Java and Groovy library.
//! * `jmeter`: the objects that `JMeter` provides to scripts, on top of [`host`].

// The method tables list each name once, next to its implementation; merged
// arms would scatter them.
#![allow(clippy::match_same_arms)]
// All functions of a table have the same signature, even if one cannot fail or does
// not read its object.
#![allow(clippy::unnecessary_wraps, clippy::unused_self)]
// A fault is boxed where it is created, to keep results small.
#![allow(clippy::unnecessary_box_returns)]
// `to_long` and similar methods convert an argument, not the interpreter.
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
