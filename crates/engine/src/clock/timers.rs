//! Who waits for which instant.

use super::Inner;
use brunt_model::Tick;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The timers of one worker, earliest first. An entry whose timer was set later in the meantime is put back when its
/// turn comes, so that setting a timer later is one store.
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
    /// That of a later one, from before the timer was set earlier: it will serve again, so that a timer set to and fro
    /// has two nodes and not one for each time. Nodes with other instants are left-overs.
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

    /// Wakes all whose instant is not after `now`; whether somebody waited for one.
    pub(super) fn fire(&self, now: Tick) -> bool {
        let mut woken = false;
        while let Some(node) = self.pop(now) {
            let entry = node.entry;
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
                    woken = true;
                }
            } else if entry.due.get() < entry.queued.get() {
                self.push(&entry);
            }
        }
        woken
    }

    fn pop(&self, now: Tick) -> Option<Node> {
        let mut heap = self.heap.borrow_mut();
        if heap.peek()?.due > now { None } else { heap.pop() }
    }
}

/// A timer: resolves when its instant has come, and can be set again and again.
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
        if due < self.entry.queued.get() {
            self.inner.timers.push(&self.entry);
        }
    }

    /// The instant that it was last set to.
    pub fn due(&self) -> Tick {
        self.entry.due.get()
    }

    /// Wakes whoever waits for it, now.
    pub fn fire(&self) {
        self.entry.fired.set(true);
        if let Some(waker) = self.entry.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Sleep {
    /// Nobody waits any more: what is left in the heap is passed over.
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

// A heap gives its greatest first: the earliest is the greatest here.
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
