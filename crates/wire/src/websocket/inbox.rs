//! Keeps the messages of a WebSocket that were received before a request awaited them.

use crate::SharedCounts;
use std::collections::VecDeque;
use std::rc::Rc;

/// Maximum size of an inbox, in bytes. The oldest messages are removed first.
const MAX_BYTES: usize = 1 << 20;
/// Overhead of a message, added to the size of its payload.
const BYTES_PER_MESSAGE: usize = 64;

/// Rules and counts that the WebSockets of a worker share.
#[derive(Debug, Default)]
pub struct InboxRules {
    /// True if early messages are kept, because a step of the plan awaits
    /// messages without sending one.
    pub keeps_messages: bool,
    /// Counts the messages that no request awaited.
    pub counts: SharedCounts,
}

/// A message that was received before a request awaited it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EarlyMessage {
    /// The payload, as received.
    pub payload: Vec<u8>,
    pub is_compressed: bool,
}

/// The early messages of one WebSocket, oldest first.
#[derive(Debug)]
pub struct Inbox {
    rules: Rc<InboxRules>,
    messages: VecDeque<EarlyMessage>,
    bytes: usize,
    /// The beginning of the current message.
    partial: Vec<u8>,
    /// True if the current message is larger than the inbox.
    is_partial_too_large: bool,
}

impl Inbox {
    /// Creates an empty inbox.
    pub fn new(rules: &Rc<InboxRules>) -> Self {
        Self {
            rules: Rc::clone(rules),
            messages: VecDeque::new(),
            bytes: 0,
            partial: Vec::new(),
            is_partial_too_large: false,
        }
    }

    /// Adds a piece of the current message.
    pub fn push_piece(&mut self, piece: &[u8]) {
        if !self.rules.keeps_messages || self.is_partial_too_large {
            return;
        }
        if self.partial.len() + piece.len() > MAX_BYTES {
            self.is_partial_too_large = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(piece);
        }
    }

    /// Ends the current message.
    pub fn end_message(&mut self, is_compressed: bool) {
        if !self.rules.keeps_messages || std::mem::take(&mut self.is_partial_too_large) {
            return self.count_push();
        }
        let payload = std::mem::take(&mut self.partial);
        self.bytes += payload.len() + BYTES_PER_MESSAGE;
        self.messages.push_back(EarlyMessage { payload, is_compressed });
        while self.bytes > MAX_BYTES && self.messages.len() > 1 {
            self.take_first();
            self.count_push();
        }
    }

    /// Takes the oldest message.
    pub fn take_first(&mut self) -> Option<EarlyMessage> {
        let first = self.messages.pop_front()?;
        self.bytes -= first.payload.len() + BYTES_PER_MESSAGE;
        Some(first)
    }

    /// Takes the beginning of the current message. None if it was not kept.
    pub fn take_partial(&mut self) -> Option<Vec<u8>> {
        let is_kept = !std::mem::take(&mut self.is_partial_too_large);
        is_kept.then(|| std::mem::take(&mut self.partial))
    }

    /// Discards all messages, and counts them as pushes.
    pub fn discard_all(&mut self) {
        self.rules.counts.borrow_mut().pushes += self.messages.len() as u64;
        self.messages.clear();
        self.bytes = 0;
        self.take_partial();
    }

    /// Counts a message that no request awaited.
    pub fn count_push(&self) {
        self.rules.counts.borrow_mut().pushes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(keeps_messages: bool) -> (Inbox, Rc<InboxRules>) {
        let rules = Rc::new(InboxRules { keeps_messages, counts: SharedCounts::default() });
        (Inbox::new(&rules), rules)
    }

    #[test]
    fn messages_are_taken_in_order_and_others_are_counted() {
        let (mut inbox, rules) = inbox(true);
        for text in ["a", "b", "c"] {
            inbox.push_piece(text.as_bytes());
            inbox.push_piece(b"!");
            inbox.end_message(false);
        }
        assert_eq!(
            inbox.take_first(),
            Some(EarlyMessage { payload: b"a!".to_vec(), is_compressed: false })
        );
        inbox.push_piece(b"d");
        inbox.discard_all();
        assert_eq!(
            (inbox.take_first(), inbox.take_partial(), rules.counts.borrow().pushes),
            (None, Some(Vec::new()), 2)
        );
        let (mut inbox, rules) = self::inbox(false);
        inbox.push_piece(b"a");
        inbox.end_message(false);
        assert_eq!((inbox.take_first(), rules.counts.borrow().pushes), (None, 1));
    }

    #[test]
    fn the_size_of_the_inbox_is_limited() {
        let (mut inbox, rules) = inbox(true);
        for _ in 0..5 {
            inbox.push_piece(&vec![1; MAX_BYTES / 2]);
            inbox.end_message(false);
        }
        assert_eq!((inbox.messages.len(), rules.counts.borrow().pushes), (1, 4));
        inbox.push_piece(&vec![1; MAX_BYTES]);
        inbox.push_piece(b"x");
        inbox.end_message(false);
        assert_eq!((inbox.messages.len(), rules.counts.borrow().pushes), (1, 5));
    }
}
