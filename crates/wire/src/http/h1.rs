//! Registers HTTP/1: a lane is a connection.

use super::Http;
use super::protocols::ProtocolLane;
use crate::collect::ReplyCollector;
use crate::contract::{Reply, Stamps, Timer, WantedDetails};
use crate::h1::{self, OutgoingRequest, PipelineState};
use crate::origin::Origin;
use crate::request::Prepared;
use crate::sources::OpenConnection;
use crate::stream::{ByteStream, IdleEnd};
use crate::tls::Handshake;
use brunt_model::Failure;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

pub(super) use crate::h1::{H1Exchanges, Style, prepare};

/// An open connection of HTTP/1.
pub struct H1Lane {
    stream: ByteStream,
    is_reused: bool,
    /// Requests that were sent ahead, and bytes that were read ahead.
    pipeline: PipelineState,
    #[allow(dead_code)] // counts the connection as open until it is dropped
    open: OpenConnection,
}

impl H1Lane {
    /// Creates the lane of a connection that was just opened.
    pub(super) fn new(stream: ByteStream, open: OpenConnection) -> Self {
        Self { stream, is_reused: false, pipeline: PipelineState::default(), open }
    }

    /// True if requests were sent ahead that have no exchange yet.
    pub(super) fn owes_replies(&self) -> bool {
        self.pipeline.is_owed()
    }
}

impl ProtocolLane for H1Lane {
    fn handshake(&self) -> Option<Handshake> {
        self.stream.handshake()
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.stream.peer()
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<IdleEnd> {
        self.stream.poll_idle(cx)
    }
}

impl<T: Timer + 'static> Http<T> {
    /// Exchanges a request for a reply.
    #[inline]
    pub(super) fn exchange_h1(
        &self,
        lane: &mut H1Lane,
        request: &Prepared,
        collector: Option<Box<ReplyCollector>>,
        stamps: &mut Stamps,
    ) -> impl Future<Output = Result<Reply, Failure>> {
        let is_reused = std::mem::replace(&mut lane.is_reused, true);
        let request = OutgoingRequest { bytes: request.h1_bytes(), kind: request.kind, is_reused };
        self.h1.exchange(&mut lane.stream, &mut lane.pipeline, request, collector, stamps)
    }

    /// Sends requests ahead of their exchanges.
    pub(super) async fn send_ahead_h1(&self, lane: &mut H1Lane, requests: &[Rc<Prepared>]) {
        for request in requests {
            self.h1.send_ahead(&mut lane.stream, &mut lane.pipeline, request.h1_bytes()).await;
        }
    }

    /// Asks the server to switch to another protocol; see [`H1Exchanges::switch`].
    pub(super) async fn switch(
        &self,
        stream: &mut ByteStream,
        request: &[u8],
        wants: WantedDetails,
    ) -> Result<(Reply, Vec<u8>), Failure> {
        self.h1.switch(stream, request, wants).await
    }

    /// Makes the proxy at the other end of `stream` connect to `origin`.
    pub(super) async fn pass_proxy(
        &self,
        stream: &mut ByteStream,
        origin: &Origin,
    ) -> Result<(), Failure> {
        let connected = h1::tunnel(&self.h1, stream, origin).await;
        connected.map_err(|(failure, why)| self.note_failure(failure, &why))
    }
}
