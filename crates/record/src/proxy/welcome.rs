//! The page with the certificate, for phones and other programs.

use super::authority::{CERTIFICATE_FILE, CertificateAuthority};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Method, Response, StatusCode};
use maud::{DOCTYPE, html};

/// Host of the page for clients of the proxy. The domain `record` does not exist in the DNS.
pub const WELCOME_HOST: &str = "brunt.record";

/// Other name of the certificate: Android accepts this ending.
const ANDROID_PATH: &str = "/brunt-ca.crt";

/// Answers a request to the proxy itself.
pub(super) fn reply(
    method: &Method,
    path: &str,
    authority: &CertificateAuthority,
) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(method) {
        return typed(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "The method must be GET.\n");
    }
    if path.strip_prefix('/') == Some(CERTIFICATE_FILE) || path == ANDROID_PATH {
        return typed(StatusCode::OK, "application/x-x509-ca-cert", authority.pem());
    }
    if path != "/" {
        return typed(StatusCode::NOT_FOUND, "text/plain", "There is no such page.\n");
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "brunt record" }
            }
            body {
                h1 { "brunt record" }
                p { "This proxy records the requests of its clients. For HTTPS, a client must trust its certificate:" }
                p { a href=(format!("/{CERTIFICATE_FILE}")) { "Certificate (PEM)" } " · "
                    a href=(ANDROID_PATH) { "Certificate for Android (CRT)" } }
                ul {
                    li { "iOS: open the first link, install the profile in Settings, and switch it on in Settings, General, \
                          About, Certificate Trust Settings." }
                    li { "Android: open the second link, and install it in Settings, Security, as a CA certificate. \
                          Apps trust it only if their developer permits user certificates." }
                    li { "Firefox: import it in Settings, Certificates, Authorities, for websites." }
                }
                p { "SHA-256: " code { (authority.fingerprint()) } }
                p { "Remove the certificate from the client after the recording." }
            }
        }
    };
    typed(StatusCode::OK, "text/html; charset=utf-8", &page.into_string())
}

/// A reply of the proxy.
pub(super) fn typed(
    status: StatusCode,
    media_type: &'static str,
    text: &str,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-store"));
    response
}
