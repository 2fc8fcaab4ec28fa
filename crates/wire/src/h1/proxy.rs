//! Opens a tunnel through an HTTP proxy with CONNECT (RFC 9110 section 9.3.6).

use super::exchange::{H1Exchanges, OutgoingRequest, PipelineState};
use crate::origin::Origin;
use crate::request::RequestKind;
use crate::stream::ByteStream;
use crate::{Stamps, Timer};
use brunt_model::Failure;

/// Asks the proxy at the other end of `stream` to connect to `origin`.
pub(crate) async fn tunnel<T: Timer>(
    exchanges: &H1Exchanges<T>,
    stream: &mut ByteStream,
    origin: &Origin,
) -> Result<(), (Failure, String)> {
    // An IPv6 address needs brackets before a port (RFC 3986 section 3.2.2).
    let host =
        if origin.host.contains(':') { format!("[{}]", origin.host) } else { origin.host.clone() };
    let request = format!(
        "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n",
        port = origin.port
    );
    let request = OutgoingRequest {
        bytes: request.as_bytes().into(),
        kind: RequestKind::Connect,
        is_reused: false,
    };
    let reply = exchanges
        .exchange(stream, &mut PipelineState::default(), request, None, &mut Stamps::default())
        .await;
    match reply {
        // Bytes of the server cannot arrive yet, since it was sent nothing.
        Ok(reply) if reply.unsolicited => {
            Err((Failure::Proxy, "the proxy sent unsolicited bytes".to_owned()))
        }
        Ok(reply) if (200..300).contains(&reply.status) => Ok(()),
        Ok(reply) => Err((
            Failure::Proxy,
            format!("the proxy answered CONNECT with status {}", reply.status),
        )),
        Err(failure) => {
            Err((Failure::Proxy, format!("the proxy did not answer CONNECT: {failure}")))
        }
    }
}
