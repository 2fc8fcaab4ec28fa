//! Carrying out a plan on its stream: the frames of a reply, or of a failure.
//!
//! What [`crate::deliver`] is for HTTP/1: it only fills the session, and marks the connection.

use h2::Reason;
use http::Response;

use super::frame::{self, flag};
use super::hpack::block;
use super::reply::{Replies, Reply};
use super::session::Session;
use super::stream::End;
use crate::conn::{Conn, Phase, Speaks, Verdict};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::outbox::Settled;
use crate::socket::reset_on_close;

/// What `garbage` sends: its first three bytes are a length that no frame may have.
const GARBAGE: &[u8] = b"\xff\xfe\x01\x00This is not HTTP.\x07\r\n\x80\x81\r\n";

/// Puts the reply of `plan`, or what stands for it, on its stream. A stream that is gone gets none.
pub fn deliver(conn: &mut Conn, plan: &Plan, id: u32, replies: &mut Replies<Response<()>>) -> Verdict {
    let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
    if session.stream(id).is_none() {
        return Verdict::Keep;
    }
    if session.is_hostile() {
        let settled = Settled { status: 200, ticket: plan.ticket };
        if session.perform(id, Some(settled)) {
            conn.phase = Phase::Ending;
        }
        return Verdict::Keep;
    }
    let status = if let Some(FailKind::Status(status)) = plan.failing { Some(status) } else { None };
    let reply = replies.to(&plan.request, status);
    let whole = End { settled: Some(Settled { status: reply.status, ticket: plan.ticket }), ..End::default() };
    match plan.failing {
        None | Some(FailKind::Status(_)) => session.answer(id, &reply, whole),
        Some(FailKind::Extra) => session.answer(id, &reply, End { has_extra: true, ..whole }),
        Some(FailKind::Slow) => session.start_drip(id, &reply, whole, plan.due),
        Some(FailKind::CloseEarly) => half_of_body(session, id, reply),
        Some(FailKind::Reset) => session.reset(id, Reason::INTERNAL_ERROR),
        Some(FailKind::Refused) => session.reset(id, Reason::REFUSED_STREAM),
        Some(FailKind::Goaway) => session.cut(id),
        Some(FailKind::Never) => {}
        Some(FailKind::TruncateHead) => {
            half_of_head(session, id);
            conn.phase = Phase::Ending;
        }
        Some(FailKind::Garbage) => {
            session.transport.put_raw(|out| out.extend_from_slice(GARBAGE));
            conn.phase = Phase::Ending;
        }
        Some(FailKind::Close) => return Verdict::Drop,
        Some(FailKind::ResetConnection) => {
            // If the socket is gone already, there is nobody left to reset.
            let _ = reset_on_close(&conn.socket);
            return Verdict::Drop;
        }
    }
    Verdict::Keep
}

fn half_of_body(session: &mut Session, id: u32, reply: Reply<Response<()>>) {
    let body = reply.body.slice(..reply.body.len() / 2);
    let half = Reply { body, trailers: None, ..reply };
    session.answer(id, &half, End { reset: Some(Reason::INTERNAL_ERROR), ..End::default() });
}

fn half_of_head(session: &mut Session, id: u32) {
    let mut bytes = Vec::new();
    let fields = block(&[(":status", "200"), ("server", "brunt-lab")]);
    frame::put_headers(&mut bytes, id, flag::END_STREAM, &fields, frame::LARGEST_FRAME);
    session.transport.put_raw(|out| out.extend_from_slice(&bytes[..bytes.len() / 2]));
}
