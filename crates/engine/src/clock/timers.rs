//! Timers of one worker, ordered by their instants.

use super::Inner;
use brunt_model::Tick;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The timers of one worker, earliest first. If a timer was set to a later instant meanwhile, its
/// entry is queued again when it is popped. So setting a timer to a later instant is one store.
#[derive(Default)]
pub(super) struct Timers {
    heap: RefCell<BinaryHeap<Node>>,
}

struct Node {
    due: Tick,
    entry: Rc<Entry>,
}

struct Entry {
    due: Cell<Tick>,
    /// The instant of this entry's earliest node in the heap; `NEVER`: it has none.
    queued: Cell<Tick>,
    /// The instant of a later node, from before the timer was set to an earlier instant. The node
    /// is used again, so that a timer that is set earlier and later in turn has only two nodes.
    /// Nodes with other instants are obsolete.
    spare: Cell<Tick>,
    fired: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Timers {
    pub(super) fn earliest(&self) -> Option<Tick> {
        self.heap.borrow().peek().map(|node| node.due)
    }

    fn push(&self, entry: &Rc<Entry>) {
        let due = entry.due.get();
        let before = entry.queued.replace(due);
        if before < entry.spare.get() {
            entry.spare.set(before);
        }
        self.heap.borrow_mut().push(Node { due, entry: Rc::clone(entry) });
    }

    /// Wakes the tasks of all timers due by `now`. True if any task waited.
    pub(super) fn fire(&self, now: Tick) -> bool {
        let mut has_woken = false;
        while let Some(node) = self.pop(now) {
            let entry = node.entry;
            // Not the current node of its timer: it is obsolete, or the spare one.
            if entry.queued.get() != node.due {
                if entry.spare.get() == node.due {
                    entry.spare.set(Tick::NEVER);
                }
                continue;
            }
            entry.queued.set(entry.spare.replace(Tick::NEVER));
            if entry.due.get() <= now {
                entry.fired.set(true);
                if let Some(waker) = entry.waker.take() {
                    waker.wake();
                    has_woken = true;
                }
            // The timer was set to a later instant meanwhile.
            } else if entry.due.get() < entry.queued.get() {
                self.push(&entry);
            }
        }
        has_woken
    }

    fn pop(&self, now: Tick) -> Option<Node> {
        let mut heap = self.heap.borrow_mut();
        if heap.peek()?.due > now { None } else { heap.pop() }
    }
}

/// A timer: resolves at its instant, and can be set again at any time.
pub struct Sleep {
    inner: Rc<Inner>,
    entry: Rc<Entry>,
}

impl Sleep {
    pub(super) fn new(inner: Rc<Inner>) -> Self {
        let entry = Entry {
            due: Cell::new(Tick::NEVER),
            queued: Cell::new(Tick::NEVER),
            spare: Cell::new(Tick::NEVER),
            fired: Cell::new(false),
            waker: RefCell::default(),
        };
        Self { inner, entry: Rc::new(entry) }
    }

    /// Sets the instant.
    #[inline]
    pub fn set(&self, due: Tick) {
        self.entry.due.set(due);
        self.entry.fired.set(false);
        // A later instant needs no node: the current one is queued again when it is popped.
        if due < self.entry.queued.get() {
            self.inner.timers.push(&self.entry);
        }
    }

    /// Returns the instant that was set last.
    pub fn due(&self) -> Tick {
        self.entry.due.get()
    }

    /// Wakes the waiting task now.
    pub fn fire(&self) {
        self.entry.fired.set(true);
        if let Some(waker) = self.entry.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Sleep {
    /// Makes the nodes that remain in the heap obsolete.
    fn drop(&mut self) {
        self.entry.due.set(Tick::NEVER);
        self.entry.waker.take();
    }
}

impl Future for &Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.entry.fired.get() {
            return Poll::Ready(());
        }
        let mut waker = self.entry.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut &*self).poll(cx)
    }
}

// `BinaryHeap` pops its greatest element, so the earliest node must compare as the greatest.
impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.cmp(&self.due)
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Node {}
