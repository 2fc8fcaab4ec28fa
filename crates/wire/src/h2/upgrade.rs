//! Upgrades a cleartext connection that begins as HTTP/1.1, by `Upgrade: h2c`
//! (RFC 7540 section 3.2).
//!
//! Each connection begins with one request `OPTIONS /` that requests the upgrade. Its reply arrives
//! on stream 1 and is ignored. `OPTIONS *` is not used because Go's `http.Server` answers it
//! itself, so its h2c handler would never see the request.

use super::frame;
use crate::contract::Reply;
use crate::origin::Origin;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use brunt_model::Failure;

/// Status of a server that switches to HTTP/2.
const SWITCHING: u16 = 101;

/// Returns the HTTP/1.1 request that asks a server to switch to HTTP/2.
pub(crate) fn upgrade_request(origin: &Origin) -> String {
    let host =
        if origin.host.contains(':') { format!("[{}]", origin.host) } else { origin.host.clone() };
    let mut settings = Vec::new();
    frame::put_settings(&mut settings);
    let settings = URL_SAFE_NO_PAD.encode(&settings[frame::HEAD..]);
    format!(
        "OPTIONS / HTTP/1.1\r\nHost: {host}:{}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\
         HTTP2-Settings: {settings}\r\n\r\n",
        origin.port
    )
}

/// Checks that the server has switched to HTTP/2. Returns the HTTP/2 bytes that followed its reply.
///
/// # Errors
///
/// If it has not switched, with the reason in words.
pub(crate) fn upgraded(
    switched: Result<(Reply, Vec<u8>), Failure>,
) -> Result<Vec<u8>, (Failure, String)> {
    match switched {
        Ok((reply, received)) if reply.status == SWITCHING => Ok(received),
        Ok((reply, _)) => {
            let answer = format!(
                "the server does not take `Upgrade: h2c`: it answered with status {}",
                reply.status
            );
            Err((
                Failure::Protocol,
                format!("{answer}; leave out --h2c-upgrade (prior knowledge), or write --http 1.1"),
            ))
        }
        Err(failure) => Err((failure, "no answer to `Upgrade: h2c`".to_owned())),
    }
}
