//! WebSocket (RFC 6455): messages over a connection that began as HTTP/1.1, or over a stream of HTTP/2 (RFC 8441).
//!
//! By the method of its request ([`WebSocketAction`](crate::request::WebSocketAction)) an exchange opens the WebSocket, sends a ping, or
//! closes it. Otherwise it sends one message and waits for the next that comes; without a message it only waits. Where a pattern is
//! looked for in bodies, messages that do not match it are passed over: a server may send of its own accord. Pings are
//! answered. Where compressed replies are asked for, messages are compressed in both directions if the server agrees
//! (`permessage-deflate`).
//!
//! A message that comes before a request awaits it is a push: it is counted, and kept only for requests that send nothing.
//! A close frame of the server ends the request with its code as the status.
//!
//! * `opening`: the request that opens one. `agreement`: what its answer agrees on.
//! * `connection`: an open WebSocket. `exchange`: what a request asks of it. `inbox`: messages that came early.
//! * `carrier`: what frames are written to and read from. `frames`: frames, written and read. `deflate`: messages compressed.
//!   `utf8`: whether text is.

mod agreement;
mod carrier;
mod connection;
mod deflate;
mod exchange;
mod frames;
mod inbox;
mod opening;
mod utf8;

pub(crate) use agreement::offer;
pub(crate) use carrier::{Carrier, SocketCarrier};
pub(crate) use connection::WebSocket;
pub(crate) use exchange::{MessageExchange, closes, prepare};
pub(crate) use frames::{Event, Incoming};
pub(crate) use inbox::InboxRules;
pub(crate) use opening::OpeningRequest;

/// The status of a reply that is a message: that of the switch of protocols.
pub(crate) const STATUS: u16 = 101;
/// The code of a WebSocket that is closed with all done (RFC 6455 section 7.4.1).
const DONE: u16 = 1000;
