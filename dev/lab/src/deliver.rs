//! Executes a plan: puts the bytes of a reply, or of a failure, on its connection.
//!
//! This module only fills the outbox and marks the connection. The server sends and closes.

use std::rc::Rc;

use crate::conn::{Conn, ConnAction, ConnectionState, DrippedReply, WireProtocol};
use crate::fail::FailKind;
use crate::outbox::CompletedReply;
use crate::planner::ReplyPlan;
use crate::reply::{EncodedReply, ReplyCache, head_length};
use crate::request::ReplyShape;
use crate::socket::reset_on_close;
use crate::websocket::{STATUS, code};

/// Bytes that `garbage` sends.
pub(crate) const GARBAGE: &[u8] = b"\x00\x01\xff\xfeThis is not HTTP.\x07\r\n\x80\x81\r\n";

/// Bytes that `extra` sends after the correct reply.
pub(crate) const EXTRA: &[u8] = b"leftover bytes that belong to no reply\r\n";

/// Puts the reply of `plan`, or the bytes of its failure, on its connection.
pub fn deliver(
    conn: &mut Conn,
    mut plan: ReplyPlan,
    replies: &mut ReplyCache,
    max_requests: u64,
) -> ConnAction {
    conn.served += 1;
    plan.request.shape.keep_alive &= conn.served < max_requests;
    let shape = plan.request.shape;
    if let WireProtocol::WebSocket(websocket) = &conn.protocol
        && let Some(output) = websocket.send_row()
    {
        let completed =
            output.is_reply.then_some(CompletedReply { status: STATUS, ticket: plan.ticket });
        conn.outbox.push(output.out.into(), completed);
        if output.closing {
            conn.phase = ConnectionState::Ending;
        }
        return ConnAction::Keep;
    }
    match plan.failure {
        // A message has no status. A server reports a failure by closing with this code.
        Some(FailKind::Status(_)) if shape.message.is_some() => conn.finish(code::INTERNAL_ERROR),
        None => push_reply(conn, &plan, replies.to(&plan.request, None)),
        Some(FailKind::Status(status)) => {
            push_reply(conn, &plan, replies.to(&plan.request, Some(status)));
        }
        Some(FailKind::Extra) => {
            push_reply(conn, &plan, replies.to(&plan.request, None));
            conn.outbox.push(EXTRA.into(), None);
        }
        Some(FailKind::Slow) => start_drip(conn, &plan, replies.to(&plan.request, None)),
        Some(FailKind::CloseEarly) => {
            push_last(conn, half_of_body(shape, &replies.to(&plan.request, None).bytes));
        }
        Some(FailKind::TruncateHead) => {
            push_last(conn, half_of_head(shape, &replies.to(&plan.request, None).bytes));
        }
        Some(FailKind::Garbage) => push_last(conn, GARBAGE.into()),
        Some(FailKind::Close | FailKind::Refused | FailKind::Goaway) => return ConnAction::Close,
        Some(FailKind::Reset | FailKind::ResetConnection) => {
            // If the socket is already closed, no reset is needed.
            let _ = reset_on_close(&conn.socket);
            return ConnAction::Close;
        }
        Some(FailKind::Never) => {}
    }
    ConnAction::Keep
}

/// Sends the next byte of a dripping reply. Returns true if more bytes follow.
pub fn drip(conn: &mut Conn) -> bool {
    let Some(dripping) = &mut conn.drip else { return false };
    let byte = &dripping.bytes[dripping.sent..=dripping.sent];
    dripping.sent += 1;
    let last = dripping.sent == dripping.bytes.len();
    conn.outbox.push(byte.into(), last.then_some(dripping.completed));
    if last {
        conn.drip = None;
    }
    !last
}

fn push_reply(conn: &mut Conn, plan: &ReplyPlan, reply: EncodedReply) {
    let completed = CompletedReply { status: reply.status, ticket: plan.ticket };
    conn.outbox.push(reply.bytes, Some(completed));
    end_unless_kept(conn, plan);
}

fn start_drip(conn: &mut Conn, plan: &ReplyPlan, reply: EncodedReply) {
    let completed = CompletedReply { status: reply.status, ticket: plan.ticket };
    conn.drip = Some(DrippedReply { bytes: reply.bytes, sent: 0, due: plan.due, completed });
    end_unless_kept(conn, plan);
}

fn end_unless_kept(conn: &mut Conn, plan: &ReplyPlan) {
    if !plan.request.shape.keep_alive {
        conn.finish(code::NORMAL);
    }
}

fn push_last(conn: &mut Conn, bytes: Rc<[u8]>) {
    conn.outbox.push(bytes, None);
    conn.phase = ConnectionState::Ending;
}

/// Returns the head and half of the body; without a body, the head without its end.
pub(crate) fn half_of_body(shape: ReplyShape, reply: &[u8]) -> Rc<[u8]> {
    let head = head_length(shape, reply);
    let body = reply.len() - head;
    if body == 0 {
        reply[..head.saturating_sub(2).max(1)].into()
    } else {
        reply[..head + body / 2].into()
    }
}

pub(crate) fn half_of_head(shape: ReplyShape, reply: &[u8]) -> Rc<[u8]> {
    reply[..head_length(shape, reply) / 2].into()
}
