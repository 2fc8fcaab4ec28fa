//! What stands for HTTP/3 in a program that was built without it (the cargo feature `http3`).

use crate::collect::ReplyCollector;
use crate::origin::OriginId;
use crate::quic::TransportSettings;
use crate::request::{BadRequest, Prepared, RequestParts, Tags};
use crate::stream::Idle;
use crate::tls::{Handshake, Refusal, TlsClients};
use crate::{Reply, Stamps};
use brunt_model::plan::Connection as Settings;
use brunt_model::{Failure, Flow, Tick};
use std::future::Ready;
use std::io;
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll};

/// Whether this program has HTTP/3.
pub const IS_BUILT: bool = false;

/// Makes a request ready that is never sent.
///
/// # Errors
///
/// A header field has a character that none may have.
pub fn prepare(parts: Rc<RequestParts>, origin: OriginId, tags: Tags) -> Result<Prepared, BadRequest> {
    Prepared::with_fields(parts, origin, tags)
}

/// None.
pub struct Endpoints<T>(PhantomData<T>);

/// Why no connection was opened.
pub struct NotOpened {
    /// The failure.
    pub failure: Failure,
    /// Why, in words.
    pub why: String,
    /// Why the handshake failed, where the certificate is the cause.
    pub refusal: Option<Refusal>,
}

/// Never made.
pub enum Connection {}

impl<T> Endpoints<T> {
    /// None.
    pub fn new(_: T) -> Self {
        Self(PhantomData)
    }

    /// None.
    #[expect(clippy::unused_self, reason = "called as where HTTP/3 is built")]
    pub fn take_counts(&self) -> Flow {
        Flow::default()
    }

    /// Refuses.
    ///
    /// # Errors
    ///
    /// Always.
    #[expect(clippy::unused_self, reason = "called as where HTTP/3 is built")]
    pub fn connect(
        &self,
        _: &Settings,
        _: (&TlsClients, u64),
        _: (&str, SocketAddr, Option<IpAddr>),
    ) -> Result<Connection, NotOpened> {
        Err(NotOpened { failure: Failure::System, why: "built without HTTP/3".to_owned(), refusal: None })
    }
}

impl Connection {
    /// Nothing.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn known(&self) -> Ready<Result<Option<Tick>, NotOpened>> {
        match *self {}
    }

    /// Nothing.
    pub fn handshake(&self) -> Handshake {
        match *self {}
    }

    /// Nothing.
    pub fn peer(&self) -> SocketAddr {
        match *self {}
    }

    /// Nothing.
    pub fn most_streams(&self) -> u32 {
        match *self {}
    }

    /// Nothing.
    pub fn settings(&self) -> Option<TransportSettings> {
        match *self {}
    }

    /// Nothing.
    pub fn accepts(&self) -> bool {
        match *self {}
    }

    /// Nothing.
    pub fn poll_closed(&self, _: &mut Context<'_>) -> Poll<Idle> {
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

/// Refuses.
///
/// # Errors
///
/// Always.
pub fn offered_versions(_: SocketAddr, _: Option<IpAddr>) -> Ready<io::Result<Vec<u32>>> {
    std::future::ready(Err(io::ErrorKind::Unsupported.into()))
}
