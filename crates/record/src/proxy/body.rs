//! A body that is recorded while it is forwarded.

use super::traffic::{BodyPart, SharedExchange};
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A body of a client or server, which is forwarded as it arrives.
pub(super) struct RecordedBody {
    body: Incoming,
    exchange: SharedExchange,
    part: BodyPart,
}

impl RecordedBody {
    pub(super) fn new(body: Incoming, exchange: SharedExchange, part: BodyPart) -> Self {
        Self { body, exchange, part }
    }
}

impl Body for RecordedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.exchange.push_data(self.part, data);
                }
            }
            Some(Err(_)) => self.exchange.cut("bodies that ended early"),
            None => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
