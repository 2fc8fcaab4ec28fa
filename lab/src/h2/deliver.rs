//! Carrying out a plan on its stream: the frames of a reply, or of a failure.
//!
//! What [`crate::deliver`] is for HTTP/1: it only fills the session, and marks the connection.

use std::rc::Rc;

use super::frame::{self, Code, flag};
use super::reply::{Replies, Reply};
use super::session::Session;
use super::stream::{Ending, Sending};
use crate::conn::{Conn, Phase, Speaks, Verdict};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::outbox::Settled;
use crate::socket::reset_on_close;

/// What `garbage` sends: its first three bytes are a length that no frame may have.
const GARBAGE: &[u8] = b"\xff\xfe\x01\x00This is not HTTP.\x07\r\n\x80\x81\r\n";

/// Puts the reply of `plan`, or what stands for it, on its stream. A stream that is gone gets none.
pub fn deliver(conn: &mut Conn, plan: &Plan, id: u32, replies: &mut Replies) -> Verdict {
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
    let whole = |ending| {
        move |session: &mut Session, reply: &Reply| {
            session.answer(id, reply, Sending::whole(reply, plan.ticket, ending));
        }
    };
    match plan.failing {
        None => whole(Ending::Whole)(session, &replies.to(&plan.request, None)),
        Some(FailKind::Status(status)) => whole(Ending::Whole)(session, &replies.to(&plan.request, Some(status))),
        Some(FailKind::Extra) => whole(Ending::Extra)(session, &replies.to(&plan.request, None)),
        Some(FailKind::Slow) => start_drip(session, plan, id, &replies.to(&plan.request, None)),
        Some(FailKind::CloseEarly) => half_of_body(session, id, &replies.to(&plan.request, None)),
        Some(FailKind::Reset) => session.reset(id, Code::InternalError),
        Some(FailKind::Refused) => session.reset(id, Code::RefusedStream),
        Some(FailKind::Goaway) => session.cut(id),
        Some(FailKind::Never) => {}
        Some(FailKind::TruncateHead) => {
            half_of_head(session, id, &replies.to(&plan.request, None));
            conn.phase = Phase::Ending;
        }
        Some(FailKind::Garbage) => {
            session.out.bytes.extend_from_slice(GARBAGE);
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

/// HEADERS and the first byte of the body; each other byte waits for its instant.
fn start_drip(session: &mut Session, plan: &Plan, id: u32, reply: &Reply) {
    let sending = Sending::whole(reply, plan.ticket, Ending::Whole);
    session.answer(id, reply, Sending { released: reply.body.len().min(1), due: plan.due, ..sending });
}

fn half_of_body(session: &mut Session, id: u32, reply: &Reply) {
    let body: Rc<[u8]> = reply.body[..reply.body.len() / 2].into();
    let half = Reply { body, ..reply.clone() };
    let sending = Sending::whole(&half, None, Ending::Reset(Code::InternalError));
    session.answer(id, &half, Sending { settled: None, ..sending });
}

fn half_of_head(session: &mut Session, id: u32, reply: &Reply) {
    let mut bytes = Vec::new();
    frame::put_headers(&mut bytes, id, flag::END_STREAM, &reply.block, frame::LARGEST_FRAME);
    session.out.bytes.extend_from_slice(&bytes[..bytes.len() / 2]);
}
