//! Executes a plan on its stream: makes the frames of a reply, or of a failure.
//!
//! This is the counterpart of [`crate::deliver`] for HTTP/2. It only fills the session,
//! and marks the connection.

use h2::Reason;
use http::Response;

use super::frame::{self, flag};
use super::hpack::block;
use super::reply::{Http2Replies, Http2Reply};
use super::session::ServerSession;
use super::stream::LastFrame;
use crate::conn::{Conn, ConnAction, ConnectionState, WireProtocol};
use crate::fail::FailKind;
use crate::outbox::CompletedReply;
use crate::planner::ReplyPlan;
use crate::socket::reset_on_close;

/// Bytes that `garbage` sends. The first three are a length that no frame may have.
const GARBAGE: &[u8] = b"\xff\xfe\x01\x00This is not HTTP.\x07\r\n\x80\x81\r\n";

/// Puts the reply of `plan`, or the frames of its failure, on its stream. A stream that no
/// longer exists gets none.
pub fn deliver(
    conn: &mut Conn,
    plan: &ReplyPlan,
    id: u32,
    replies: &mut Http2Replies<Response<()>>,
) -> ConnAction {
    let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
    if session.stream(id).is_none() {
        return ConnAction::Keep;
    }
    if session.is_hostile() {
        let completed = CompletedReply { status: 200, ticket: plan.ticket };
        if session.send_row(id, Some(completed)) {
            conn.phase = ConnectionState::Ending;
        }
        return ConnAction::Keep;
    }
    let status =
        if let Some(FailKind::Status(status)) = plan.failure { Some(status) } else { None };
    let reply = replies.to(&plan.request, status);
    let complete = LastFrame {
        completed: Some(CompletedReply { status: reply.status, ticket: plan.ticket }),
        ..LastFrame::default()
    };
    match plan.failure {
        None | Some(FailKind::Status(_)) => session.answer(id, &reply, complete),
        Some(FailKind::Extra) => {
            session.answer(id, &reply, LastFrame { has_extra: true, ..complete });
        }
        Some(FailKind::Slow) => session.start_drip(id, &reply, complete, plan.due),
        Some(FailKind::CloseEarly) => half_of_body(session, id, reply),
        Some(FailKind::Reset) => session.reset(id, Reason::INTERNAL_ERROR),
        Some(FailKind::Refused) => session.reset(id, Reason::REFUSED_STREAM),
        Some(FailKind::Goaway) => session.cut(id),
        Some(FailKind::Never) => {}
        Some(FailKind::TruncateHead) => {
            half_of_head(session, id);
            conn.phase = ConnectionState::Ending;
        }
        Some(FailKind::Garbage) => {
            session.transport.put_raw(|out| out.extend_from_slice(GARBAGE));
            conn.phase = ConnectionState::Ending;
        }
        Some(FailKind::Close) => return ConnAction::Close,
        Some(FailKind::ResetConnection) => {
            // If the socket is already closed, no reset is needed.
            let _ = reset_on_close(&conn.socket);
            return ConnAction::Close;
        }
    }
    ConnAction::Keep
}

fn half_of_body(session: &mut ServerSession, id: u32, reply: Http2Reply<Response<()>>) {
    let body = reply.body.slice(..reply.body.len() / 2);
    let half = Http2Reply { body, trailers: None, ..reply };
    session.answer(
        id,
        &half,
        LastFrame { reset: Some(Reason::INTERNAL_ERROR), ..LastFrame::default() },
    );
}

fn half_of_head(session: &mut ServerSession, id: u32) {
    let mut bytes = Vec::new();
    let fields = block(&[(":status", "200"), ("server", "brunt-lab")]);
    frame::put_headers(&mut bytes, id, flag::END_STREAM, &fields, frame::MAX_FRAME);
    session.transport.put_raw(|out| out.extend_from_slice(&bytes[..bytes.len() / 2]));
}
