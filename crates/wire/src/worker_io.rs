//! The clock and the read buffer that all connections of a worker thread share.

use std::cell::RefCell;

/// Size of the read buffer. Where bodies are dropped in the kernel, little of it is ever written to, so that the rest of its pages
/// never become real.
pub(crate) const BUFFER: usize = 1 << 20;

/// The clock and the read buffer of a worker thread.
pub(crate) struct WorkerIo<T> {
    pub time: T,
    pub buffer: RefCell<Box<[u8]>>,
}

impl<T> WorkerIo<T> {
    /// A buffer of the usual size.
    pub fn new(time: T) -> Self {
        Self { time, buffer: RefCell::new(vec![0; BUFFER].into_boxed_slice()) }
    }
}
