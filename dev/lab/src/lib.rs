//! The lab: a server (HTTP/1.x, HTTP/2, HTTP/3 and WebSocket) whose response times are known, against which load generators are tested.
//!
//! What it is: one thread that draws each request's service time, computes by queueing recursion when the reply must
//! leave, lets it leave then, and in the end tells both what was computed and what was really done. Where the two
//! disagree, it says that its truth must not be used.
//!
//! Out of scope: a web server, a model of any real server's code, or anything that another machine could reach. It
//! shares nothing with the load generator, so that no mistake can hide by being made at both ends.
//!
//! | module | holds |
//! |---|---|
//! | [`args`], [`units`] | the command line |
//! | [`service`], [`fail`] | what is drawn: service times and failures |
//! | [`truth`], [`freeze`], [`planned`] | the recursion, stalls and stops, quantiles; arrivals that were only planned |
//! | [`request`], [`body`] | bytes to requests |
//! | [`reply`], [`outbox`] | replies to bytes |
//! | [`desk`], [`ledger`] | what is decided about a request, and what has happened |
//! | [`conn`], [`deliver`] | one connection, and what a plan puts on it |
//! | [`h2`] | HTTP/2, by the crate `h2` |
//! | `h3` | HTTP/3: QUIC, frames and streams |
//! | [`websocket`] | WebSocket: frames, and messages as requests |
//! | [`hostile`] | bytes that break rules on request |
//! | [`server`], `serve`, [`agenda`] | the event loop, and what is due when |
//! | [`socket`], [`tls`], [`clock`] | the world |
//! | [`report`], [`program`] | the JSON; the program around it all |

pub mod agenda;
pub mod args;
pub mod body;
pub mod clock;
pub mod conn;
pub mod deliver;
pub mod desk;
pub mod fail;
pub mod freeze;
pub mod h2;
#[cfg(feature = "http3")]
pub mod h3;
pub mod hostile;
pub mod ledger;
pub mod outbox;
pub mod planned;
pub mod program;
pub mod reply;
pub mod report;
pub mod request;
mod serve;
pub mod server;
pub mod service;
pub mod socket;
pub mod tls;
pub mod truth;
pub mod units;
pub mod websocket;
