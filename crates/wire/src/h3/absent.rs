//! Replaces HTTP/3 in a program that was built without it (the cargo feature `http3`).

use crate::collect::ReplyCollector;
use crate::origin::OriginId;
use crate::quic::TransportSettings;
use crate::request::{BadRequest, Prepared, RequestParts, Tags};
use crate::stream::IdleEnd;
use crate::tls::{Handshake, HandshakeFailure, TlsClients};
use crate::{Reply, Stamps};
use brunt_model::plan::{ConnectionSettings, HttpVersion};
use brunt_model::{Failure, Flow, Tick};
use std::future::Ready;
use std::io;
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll};

/// True if this program has HTTP/3.
pub const IS_BUILT: bool = false;

/// Encodes a request that is never sent.
///
/// # Errors
///
/// If a header field contains a character that is not allowed.
pub fn prepare(
    parts: Rc<RequestParts>,
    origin: OriginId,
    tags: Tags,
) -> Result<Prepared, BadRequest> {
    Prepared::with_fields(parts, origin, tags, HttpVersion::V3)
}

/// An empty set of endpoints.
pub struct Http3Endpoints<T>(PhantomData<T>);

/// Why no connection was opened.
pub struct Http3NotOpened {
    pub failure: Failure,
    /// The reason in words.
    pub why: String,
    /// Why the handshake failed, if the certificate is the cause.
    pub refusal: Option<HandshakeFailure>,
}

/// The server and the local address of a connection.
#[allow(dead_code)] // read only where HTTP/3 is built
pub struct Http3Destination<'a> {
    pub host: &'a str,
    pub address: SocketAddr,
    /// The local address; None: the system chooses.
    pub source: Option<IpAddr>,
}

/// A connection, of which no value exists.
pub enum Http3Connection {}

impl<T> Http3Endpoints<T> {
    /// Creates the empty set.
    pub fn new(_: T) -> Self {
        Self(PhantomData)
    }

    /// Returns no counts.
    #[expect(clippy::unused_self, reason = "called as where HTTP/3 is built")]
    pub fn take_counts(&self) -> Flow {
        Flow::default()
    }

    /// Refuses to connect.
    ///
    /// # Errors
    ///
    /// Always.
    #[expect(clippy::unused_self, reason = "called as where HTTP/3 is built")]
    pub fn connect(
        &self,
        _: &ConnectionSettings,
        _: &TlsClients,
        _: u64,
        _: &Http3Destination<'_>,
    ) -> Result<Http3Connection, Http3NotOpened> {
        Err(Http3NotOpened {
            failure: Failure::System,
            why: "built without HTTP/3".to_owned(),
            refusal: None,
        })
    }
}

impl Http3Connection {
    pub fn ready(&self) -> Ready<Result<Option<Tick>, Http3NotOpened>> {
        match *self {}
    }

    pub fn handshake(&self) -> Handshake {
        match *self {}
    }

    pub fn peer(&self) -> SocketAddr {
        match *self {}
    }

    pub fn most_streams(&self) -> u32 {
        match *self {}
    }

    pub fn settings(&self) -> Option<TransportSettings> {
        match *self {}
    }

    pub fn accepts(&self) -> bool {
        match *self {}
    }

    pub fn poll_closed(&self, _: &mut Context<'_>) -> Poll<IdleEnd> {
        match *self {}
    }

    pub(crate) fn exchange(
        &self,
        _: &Prepared,
        _: Option<Box<ReplyCollector>>,
        _: &mut Stamps,
    ) -> Ready<Result<Reply, Failure>> {
        match *self {}
    }
}

/// Refuses to query a server.
///
/// # Errors
///
/// Always.
pub fn offered_versions(_: SocketAddr, _: Option<IpAddr>) -> Ready<io::Result<Vec<u32>>> {
    std::future::ready(Err(io::ErrorKind::Unsupported.into()))
}
