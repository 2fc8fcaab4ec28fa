//! A site for tests of the proxy: HTTP/1.1 and HTTP/2, with and without TLS.

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Size of the page `/large`, in bytes.
pub const LARGE_BYTES: usize = 20 << 20;

type SiteBody = BoxBody<Bytes, Infallible>;

/// A running site. Its threads end with the process of the test.
pub struct Site {
    pub http: SocketAddr,
    pub https: SocketAddr,
    /// Certificate of the site, which is its own authority.
    pub certificate: PathBuf,
    _directory: TempDir,
}

impl Site {
    pub fn start() -> Self {
        let directory = TempDir::new().unwrap();
        let certificate = directory.path().join("site.pem");
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let signed = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        std::fs::write(&certificate, signed.pem()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![signed.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let http = listen(None);
        let https = listen(Some(TlsAcceptor::from(Arc::new(config))));
        Self { http, https, certificate, _directory: directory }
    }
}

fn listen(tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let tls = tls.clone();
                tokio::spawn(async move {
                    let Some(tls) = tls else { return serve(stream, false).await };
                    let Ok(stream) = tls.accept(stream).await else { return };
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    serve(stream, is_http2).await;
                });
            }
        });
    });
    address
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, is_http2: bool) {
    let io = TokioIo::new(stream);
    if is_http2 {
        let builder = http2::Builder::new(TokioExecutor::new());
        let _ = builder.serve_connection(io, service_fn(answer)).await;
    } else {
        let _ = http1::Builder::new().serve_connection(io, service_fn(answer)).await;
    }
}

/// Data that arrives in parts; the last part is never followed by an end.
struct Parts {
    parts: Vec<&'static str>,
    has_end: bool,
}

impl futures_util::Stream for Parts {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.parts.is_empty() {
            return if self.has_end { Poll::Ready(None) } else { Poll::Pending };
        }
        let part = self.parts.remove(0);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(part.as_bytes())))))
    }
}

fn text(text: impl Into<Bytes>) -> SiteBody {
    Full::new(text.into()).boxed()
}

async fn answer(request: Request<Incoming>) -> Result<Response<SiteBody>, Infallible> {
    let mut builder = Response::builder();
    let is_http2 = request.version() == Version::HTTP_2;
    let is_head = request.method() == Method::HEAD;
    builder = builder.header("x-version", if is_http2 { "2" } else { "1" });
    let body = match request.uri().path() {
        "/page" => {
            builder = builder.header("content-type", "text/html").header("set-cookie", "a=1");
            builder = builder.header("set-cookie", "b=2");
            text("<html><head><title>Carts &amp;\n orders</title></head></html>")
        }
        "/old" => {
            builder = builder.status(302).header("location", "/page");
            text("")
        }
        "/gzip" => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(b"{\"token\":\"zipped-token-1\"}").unwrap();
            builder = builder.header("content-type", "application/json");
            builder = builder.header("content-encoding", "gzip");
            text(gzip.finish().unwrap())
        }
        "/chunked" => {
            BodyExt::boxed(StreamBody::new(Parts { parts: vec!["one,", "two"], has_end: true }))
        }
        "/events" => {
            builder = builder.header("content-type", "text/event-stream");
            BodyExt::boxed(StreamBody::new(Parts { parts: vec!["data: 1\n\n"], has_end: false }))
        }
        "/empty" => {
            builder = builder.status(204);
            text("")
        }
        "/unchanged" => {
            builder = builder.status(304).header("etag", "\"1\"");
            text("")
        }
        "/logo.png" => {
            builder = builder.header("content-type", "image/png");
            text(vec![0x89; 64])
        }
        "/large" if is_head => {
            builder = builder.header("content-length", LARGE_BYTES);
            text("")
        }
        "/large" => text(vec![b'l'; LARGE_BYTES]),
        "/headers" => {
            let fields = request.headers().iter();
            let lines =
                fields.map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()));
            text(lines.collect::<String>())
        }
        "/echo" => {
            builder = builder.header("content-type", "application/octet-stream");
            let body = request.into_body().collect().await;
            text(body.map(http_body_util::Collected::to_bytes).unwrap_or_default())
        }
        _ => {
            builder = builder.status(404);
            text("no such page")
        }
    };
    Ok(builder.body(body).unwrap())
}
