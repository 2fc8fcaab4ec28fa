//! A server (HTTP/1.x, HTTP/2, HTTP/3 and WebSocket) with known response times,
//! to test load generators.
//!
//! One thread draws each request's service time, computes by queueing recursion when the reply must
//! leave, and sends it then. At the end it reports both the computed and the real times. If they
//! disagree, it reports that the truth must not be used.
//!
//! Out of scope: a web server, a model of a real server's code, or an address that another
//! machine can reach. It shares no code with the load generator, so that a mistake cannot hide
//! by occurring in both.
//!
//! | module | contents |
//! |---|---|
//! | [`args`], [`units`] | the command line |
//! | [`service`], [`fail`] | random draws: service times and failures |
//! | [`truth`], [`freeze`], [`planned`] | the recursion, stalls and stops, quantiles; arrivals
//! of a plan |
//! | [`request`], [`body`] | bytes to requests |
//! | [`reply`], [`outbox`] | replies to bytes |
//! | [`planner`], [`ledger`] | the decision about a request, and the record of events |
//! | [`conn`], [`deliver`] | one connection, and the bytes of a plan |
//! | [`h2`] | HTTP/2, by the crate `h2` |
//! | `h3` | HTTP/3: QUIC, frames and streams |
//! | [`websocket`] | WebSocket: frames, and messages as requests |
//! | [`hostile`] | bytes that break rules on request |
//! | [`server`], `serve`, [`agenda`] | the event loop, and scheduled tasks |
//! | [`socket`], [`tls`], [`clock`] | the operating system |
//! | [`report`], [`program`] | the JSON; the program |

pub mod agenda;
pub mod args;
pub mod body;
pub mod clock;
pub mod conn;
pub mod deliver;
pub mod fail;
pub mod freeze;
pub mod h2;
#[cfg(feature = "http3")]
pub mod h3;
pub mod hostile;
pub mod ledger;
pub mod outbox;
pub mod planned;
pub mod planner;
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
