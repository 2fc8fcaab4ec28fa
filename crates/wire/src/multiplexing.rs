//! Parts that HTTP/2 and HTTP/3 share: both carry several exchanges at once on a connection.
//!
//! * `stream`: the state of one request in flight. `tunnel_input`: buffers the received bytes
//!   of a bidirectional stream.
//! * `reply_fields`: checks the header fields of a reply.
//! * `field_block`: reads and writes the integers and texts of compressed header fields. `huffman`:
//!   the code of these texts.

pub(crate) mod field_block;
mod huffman;
pub(crate) mod reply_fields;
pub(crate) mod stream;
pub(crate) mod tunnel_input;
