//! `Upgrade: h2c` (RFC 7540 section 3.2): a connection in cleartext that begins as HTTP/1.1.
//!
//! Each connection begins with one request `OPTIONS /` that asks for it. Its reply comes on stream 1 and is ignored.
//! Go's `http.Server` answers `OPTIONS *` itself, so that its handler of h2c would never see that request.

use super::frame;
use crate::collect::ReplyCollector;
use crate::h1::exchange::{PipelineState, Shared};
use crate::h1::parse::RequestKind;
use crate::origin::Origin;
use crate::stream::Stream;
use crate::{Stamps, Timer, Wants};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use brunt_model::Failure;

/// The status of a server that goes on in HTTP/2.
const SWITCHING: u16 = 101;

/// Asks the server to go on in HTTP/2; what came of that already.
///
/// # Errors
///
/// It does not, with the reason in words.
pub(crate) async fn upgrade<T: Timer>(
    shared: &Shared<T>,
    stream: &mut Stream,
    origin: &Origin,
) -> Result<Vec<u8>, (Failure, String)> {
    let host = if origin.host.contains(':') { format!("[{}]", origin.host) } else { origin.host.clone() };
    let mut settings = Vec::new();
    frame::put_settings(&mut settings);
    let settings = URL_SAFE_NO_PAD.encode(&settings[frame::HEAD..]);
    let request = format!(
        "OPTIONS / HTTP/1.1\r\nHost: {host}:{}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\
         HTTP2-Settings: {settings}\r\n\r\n",
        origin.port
    );
    let mut ahead = PipelineState::default();
    shared.send_ahead((stream, &mut ahead), request.as_bytes()).await;
    // What comes behind the reply is HTTP/2.
    ahead.expect_more(shared.time.now());
    let keep = ReplyCollector::new(Wants::default(), None, None);
    let asked = (request.as_bytes(), RequestKind::Ordinary);
    let reply = shared.exchange((stream, &mut ahead), asked, (false, keep), &mut Stamps::default()).await;
    match reply {
        Ok(reply) if reply.status == SWITCHING => Ok(ahead.take_came()),
        Ok(reply) => {
            let answer = format!("the server does not take `Upgrade: h2c`: it answered with status {}", reply.status);
            Err((
                Failure::Protocol,
                format!("{answer}; leave out --h2c-upgrade (prior knowledge), or write --http 1.1"),
            ))
        }
        Err(failure) => Err((failure, "no answer to `Upgrade: h2c`".to_owned())),
    }
}
