//! WebSocket (RFC 6455): messages over a connection that began as HTTP/1.1, or over a stream
//! of HTTP/2 (RFC 8441).
//!
//! The method of a request selects its action
//! ([`WebSocketAction`](crate::request::WebSocketAction)). An exchange opens the WebSocket, sends
//! a ping, or closes it. Otherwise it sends one message and waits for the next one received;
//! without a message it only waits. If the plan sets a pattern for bodies, messages that do not
//! match it are skipped, because a server may send messages without a request. Pings are answered.
//! If the plan requests compressed replies, messages are compressed in both directions, provided
//! that the server agrees (`permessage-deflate`).
//!
//! A message that arrives before a request awaits it is a push. It is counted, and kept only
//! for requests that send nothing. A close frame of the server ends the request with its
//! code as the status.
//!
//! * `opening`: the request that opens a WebSocket. `agreement`: checks the
//!   answer and negotiates compression.
//! * `connection`: an open WebSocket. `exchange`: the exchange of a request on it. `inbox`:
//!   messages that arrived early.
//! * `carrier`: carries the frames. `frames`: writes and parses frames. `deflate`: compresses
//!   messages. `inflate`: decompresses those that refer to earlier ones. `utf8`: validates text.

mod agreement;
mod carrier;
mod connection;
mod deflate;
mod exchange;
mod frames;
mod inbox;
mod inflate;
mod opening;
mod utf8;

pub(crate) use agreement::{MessageCompression, offer};
pub(crate) use carrier::{Carrier, SocketCarrier};
pub(crate) use connection::WebSocket;
pub(crate) use exchange::{MessageExchange, SkippedMessages, closes, prepare};
pub(crate) use frames::{FrameReader, WebSocketEvent};
pub(crate) use inbox::InboxRules;
pub(crate) use opening::OpeningRequest;

/// Status of a reply that is a message: that of the switch of protocols.
pub(crate) const STATUS: u16 = 101;
/// Close code of a normal closure (RFC 6455 section 7.4.1).
const NORMAL_CLOSURE: u16 = 1000;
