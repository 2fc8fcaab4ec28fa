//! Carrying out a plan: the bytes that a reply, or a failure, puts on its connection.
//!
//! Only fills the outbox and marks the connection; sending and closing are the server's.

use std::rc::Rc;

use crate::conn::{Conn, Drip, Phase, Speaks, Verdict};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::outbox::Settled;
use crate::reply::{Replies, Reply, head_length};
use crate::request::Shape;
use crate::socket::reset_on_close;
use crate::websocket::{STATUS, code};

/// What `garbage` sends.
pub(crate) const GARBAGE: &[u8] = b"\x00\x01\xff\xfeThis is not HTTP.\x07\r\n\x80\x81\r\n";

/// What `extra` sends after the right reply.
pub(crate) const EXTRA: &[u8] = b"leftover bytes that belong to no reply\r\n";

/// Puts the reply of `plan`, or what stands for it, on its connection.
pub fn deliver(conn: &mut Conn, mut plan: Plan, replies: &mut Replies, most_requests: u64) -> Verdict {
    conn.served += 1;
    plan.request.shape.keep_alive &= conn.served < most_requests;
    let shape = plan.request.shape;
    if let Speaks::WebSocket(websocket) = &conn.speaks
        && let Some(stage) = websocket.perform()
    {
        let settled = stage.replied.then_some(Settled { status: STATUS, ticket: plan.ticket });
        conn.outbox.push(stage.out.into(), settled);
        if stage.closing {
            conn.phase = Phase::Ending;
        }
        return Verdict::Keep;
    }
    match plan.failing {
        // A message has no status; this is how a server tells that it failed.
        Some(FailKind::Status(_)) if shape.message.is_some() => conn.finish(code::INTERNAL_ERROR),
        None => push_reply(conn, &plan, replies.to(&plan.request, None)),
        Some(FailKind::Status(status)) => push_reply(conn, &plan, replies.to(&plan.request, Some(status))),
        Some(FailKind::Extra) => {
            push_reply(conn, &plan, replies.to(&plan.request, None));
            conn.outbox.push(EXTRA.into(), None);
        }
        Some(FailKind::Slow) => start_drip(conn, &plan, replies.to(&plan.request, None)),
        Some(FailKind::CloseEarly) => push_last(conn, half_of_body(shape, &replies.to(&plan.request, None).bytes)),
        Some(FailKind::TruncateHead) => push_last(conn, half_of_head(shape, &replies.to(&plan.request, None).bytes)),
        Some(FailKind::Garbage) => push_last(conn, GARBAGE.into()),
        Some(FailKind::Close | FailKind::Refused | FailKind::Goaway) => return Verdict::Drop,
        Some(FailKind::Reset | FailKind::ResetConnection) => {
            // If the socket is gone already, there is nobody left to reset.
            let _ = reset_on_close(&conn.socket);
            return Verdict::Drop;
        }
        Some(FailKind::Never) => {}
    }
    Verdict::Keep
}

/// Sends the next byte of a dripping reply; true while more are to come.
pub fn drip(conn: &mut Conn) -> bool {
    let Some(dripping) = &mut conn.drip else { return false };
    let byte = &dripping.bytes[dripping.sent..=dripping.sent];
    dripping.sent += 1;
    let last = dripping.sent == dripping.bytes.len();
    conn.outbox.push(byte.into(), last.then_some(dripping.settled));
    if last {
        conn.drip = None;
    }
    !last
}

fn push_reply(conn: &mut Conn, plan: &Plan, reply: Reply) {
    let settled = Settled { status: reply.status, ticket: plan.ticket };
    conn.outbox.push(reply.bytes, Some(settled));
    end_unless_kept(conn, plan);
}

fn start_drip(conn: &mut Conn, plan: &Plan, reply: Reply) {
    let settled = Settled { status: reply.status, ticket: plan.ticket };
    conn.drip = Some(Drip { bytes: reply.bytes, sent: 0, due: plan.due, settled });
    end_unless_kept(conn, plan);
}

fn end_unless_kept(conn: &mut Conn, plan: &Plan) {
    if !plan.request.shape.keep_alive {
        conn.finish(code::NORMAL);
    }
}

fn push_last(conn: &mut Conn, bytes: Rc<[u8]>) {
    conn.outbox.push(bytes, None);
    conn.phase = Phase::Ending;
}

/// The head and half of the body; without a body, the head without its end.
pub(crate) fn half_of_body(shape: Shape, reply: &[u8]) -> Rc<[u8]> {
    let head = head_length(shape, reply);
    let body = reply.len() - head;
    if body == 0 { reply[..head.saturating_sub(2).max(1)].into() } else { reply[..head + body / 2].into() }
}

pub(crate) fn half_of_head(shape: Shape, reply: &[u8]) -> Rc<[u8]> {
    reply[..head_length(shape, reply) / 2].into()
}
